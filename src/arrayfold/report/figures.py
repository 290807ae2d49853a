"""Figures of conflicts, lattices, lifetimes, memory and methods (matplotlib)."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arrayfold.base.budget import Budget, as_budget
from arrayfold.base.choices import FigureKind
from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.base.optional import optional_module
from arrayfold.base.output_file import write_output
from arrayfold.conflicts.liveness import Liveness
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold_as
from arrayfold.fold.compare import ComparedArray, compare
from arrayfold.fold.deadline import chosen_arrays
from arrayfold.fold.options import FoldOptions
from arrayfold.fold.result import FoldedArray
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Problem
from arrayfold.report.snapshots import (
    Cell,
    cells_at,
    differences_at,
    element_bytes,
    lifetimes_at,
    live_over_time,
    picture_sizes,
    shares,
)

FORMATS = (".svg", ".png", ".pdf")

# Colours that people who see few colours can tell apart (Okabe and Ito).
_BLUE, _ORANGE, _GREY = "#0072b2", "#e69f00", "#b0b0b0"
_ARRAY_COLOURS = (_BLUE, _ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#8c8c8c")
_MOST_PANELS = 9
_MOST_LABELS = 50


def check_figure(file: str) -> Path:
    """Where a figure goes; raises if that is no format that can be drawn."""
    path = Path(file)
    if path.suffix not in FORMATS:
        raise InputError(f"{file}: a figure ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    return path


def new_figure(width: float = 7, height: float = 4.5, *, has_squares: bool = False) -> Any:
    """An empty figure; panels whose cells are squares take no more room than they need."""
    layout = "compressed" if has_squares else "constrained"
    return optional_module("matplotlib.figure", "plot").Figure(figsize=(width, height), layout=layout)


def drawn(figure: Any, suffix: str) -> bytes:
    """A figure in the format of a suffix, the same bytes for the same picture."""
    matplotlib: Any = optional_module("matplotlib", "plot")
    picture = io.BytesIO()
    kind = suffix.removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "arrayfold", "svg.fonttype": "none"}):
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(picture, format=kind, metadata=metadata, dpi=200, bbox_inches="tight")
    return picture.getvalue()


def save(figure: Any, path: Path) -> None:
    """Write a figure in place of what is there."""
    write_output(str(path), drawn(figure, path.suffix), force=True)


def plot_fold(
    problem: Problem,
    what: FigureKind,
    options: FoldOptions | None = None,
    budget: Budget | float | None = None,
) -> Any:
    """A figure of one array of a problem, or of its memory, at the sizes given or at small ones.

    The array is the first one that is named, or that may be folded; memory is that of all of them.
    """
    options = (options or FoldOptions()).for_problem(problem)
    sizes = picture_sizes(problem.context, options.params)
    limit = as_budget(budget)
    analysis = Analysis.in_time(problem, limit)
    arrays = chosen_arrays(analysis, options.arrays)
    if not arrays:
        raise InputError("there is no array to draw; name one with --array")
    if what == "memory":
        if analysis.liveness is None:
            raise InputError("memory over time needs a program, but the file gives conflicts")
        result = fold_as(problem, replace(options, arrays=arrays), limit, lambda _: None)
        return draw_memory(result.arrays, analysis.liveness, sizes)
    if what == "methods":
        asked = FoldOptions(sizes, arrays[:1])
        (compared,) = compare(problem, asked, limit, only_general=True)
        return draw_methods(compared, sizes)
    # The mapping is one for all sizes, whatever the size of the picture.
    result = fold_as(problem, replace(options, arrays=arrays[:1]), limit, lambda _: None)
    if not result.arrays:
        raise BudgetExceeded(f"{arrays[0]}: {result.kept[arrays[0]]}")
    folded = result[arrays[0]]
    if what == "conflicts":
        return draw_conflicts(folded, sizes)
    if what == "lattice":
        return draw_lattice(folded, sizes)
    if analysis.liveness is None:
        raise InputError("lifetimes need a program, but the file gives conflicts")
    return draw_lifetimes(folded, analysis.liveness, sizes)


# ---------------------------------------------------------------- differences


def draw_conflicts(array: FoldedArray, params: Mapping[str, int]) -> Any:
    """The cells that one cell conflicts with, and the differences of all conflicting cells."""
    found = differences_at(array.conflicts, params)
    title = f"{array.name}: differences of conflicting cells{_at(params)}"
    if array.conflicts.array.rank not in (1, 2):
        return _panels(found, array, title, lambda _: False)
    cells = cells_at(array.conflicts, params)
    pairs = set(points(array.conflicts.at(params).pairs.wrap().flatten()))
    rank = array.conflicts.array.rank
    partners: dict[Cell, list[Cell]] = {cell: [] for cell in cells}
    for pair in pairs:
        partners[pair[:rank]].append(pair[rank:])
    chosen = max(cells, key=lambda cell: (len(partners[cell]), [-abs(x) for x in cell]))
    figure = new_figure(9.5, 4.6, has_squares=True)
    left, right = figure.subplots(1, 2)
    _cell_panel(left, array, cells, chosen, partners[chosen])
    reach = [max((abs(cell[k]) for cell in found), default=0) + 2 for k in range(rank)]
    _difference_panel(right, found, array.conflicts.array.dimensions, reach, (), lambda _: False)
    right.set_title("differences of conflicting cells", fontsize=9)
    figure.suptitle(f"{array.name}{_at(params)}", fontsize=10)
    return figure


def _cell_panel(
    axes: Any, array: FoldedArray, cells: Sequence[Cell], chosen: Cell, partners: Sequence[Cell]
) -> None:
    """All cells, those in colour that one of them conflicts with."""
    names = array.conflicts.array.dimensions
    for chunk, look in (
        (cells, {"color": "#dddddd", "s": 14}),
        (partners, {"color": _BLUE, "s": 26}),
        ([chosen], {"color": _ORANGE, "s": 40, "marker": "s"}),
    ):
        ys = [cell[-2] if len(cell) > 1 else 0 for cell in chunk]
        axes.scatter([cell[-1] for cell in chunk], ys, **look)
    _set_grid(axes)
    axes.set_xlabel(names[-1], fontsize=8)
    axes.set_ylabel(names[-2] if len(names) > 1 else "", fontsize=8)
    cell = ", ".join(map(str, chosen))
    axes.set_title(f"{array.name}[{cell}] conflicts with {len(partners)} of {len(cells)} cells", fontsize=9)


def _set_grid(axes: Any) -> None:
    """Cells are squares with whole coordinates, the first one on top."""
    whole = optional_module("matplotlib.ticker", "plot").MaxNLocator
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(whole(integer=True))
    axes.tick_params(labelsize=8)
    axes.set_aspect("equal")
    axes.invert_yaxis()


def draw_lattice(array: FoldedArray, params: Mapping[str, int]) -> Any:
    """The differences of conflicting cells, and the lattice of those between cells that share an address."""
    if not isinstance(array.mapping, ModularMapping):
        raise InputError(f"{array.name} has a table of addresses and no lattice; leave out --method static")
    found = differences_at(array.conflicts, params)
    title = f"{array.mapping}: {array.size} cells{_at(params)}"
    return _panels(found, array, title, lambda difference: shares(array.mapping, difference, params))


def _panels(found: set[Cell], array: FoldedArray, title: str, is_shared: Callable[[Cell], bool]) -> Any:
    """One panel for two dimensions, one for each value of the first coordinate for three."""
    rank = array.conflicts.array.rank
    names = array.conflicts.array.dimensions
    if rank == 0:
        raise InputError(f"{array.name} has one cell, of which there is nothing to draw")
    slices: list[tuple[str, Cell]] = [("", ())]
    if rank > 2:
        middle = {cell[: rank - 2] for cell in found if not any(cell[: rank - 3])}
        chosen = sorted(middle | {(0,) * (rank - 2)}, key=lambda cell: (abs(cell[-1]), cell))[:_MOST_PANELS]
        slices = [
            (", ".join(f"{name} = {value}" for name, value in zip(names, cell, strict=False)), cell)
            for cell in sorted(chosen)
        ]
    columns = len(slices) if len(slices) <= 3 else math.ceil(math.sqrt(len(slices)))
    rows = math.ceil(len(slices) / columns)
    figure = new_figure(max(5, 3.2 * columns), max(4.2, 3.2 * rows) if rank > 1 else 2.4, has_squares=True)
    if len(slices) > 1:
        figure.suptitle(title, fontsize=10)
    else:
        slices = [(title, ())]
    reach = [max((abs(cell[k]) for cell in found), default=0) + 2 for k in range(rank)]
    every = figure.subplots(rows, columns, squeeze=False)
    for number, axes in enumerate(every.flat):
        if number >= len(slices):
            axes.set_visible(False)
            continue
        words, start = slices[number]
        _difference_panel(axes, found, names, reach, start, is_shared)
        if words:
            axes.set_title(words, fontsize=9)
    handles, labels = every.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)
    return figure


def _difference_panel(
    axes: Any,
    found: set[Cell],
    names: Sequence[str],
    reach: Sequence[int],
    start: Cell,
    is_shared: Callable[[Cell], bool],
) -> None:
    rest = len(names) - len(start)
    down = range(-reach[-2], reach[-2] + 1) if rest == 2 else range(1)
    across = range(-reach[-1], reach[-1] + 1)
    window = [(*start, *(((y, x)) if rest == 2 else (x,))) for y in down for x in across]
    zero = (0,) * len(names)
    kinds: tuple[tuple[str, list[Cell], dict[str, Any]], ...] = (
        ("no conflict", [c for c in window if c not in found and c != zero], {"color": "#dddddd", "s": 6}),
        ("conflict", [c for c in window if c in found], {"color": _BLUE, "s": 22}),
        (
            "one address",
            [c for c in window if c != zero and is_shared(c)],
            {"facecolors": "none", "edgecolors": _ORANGE, "s": 60, "linewidths": 1.6},
        ),
        ("the same cell", [c for c in window if c == zero], {"color": "#222222", "marker": "+", "s": 60}),
    )
    for label, cells, look in kinds:
        if cells:
            ys = [cell[-2] if rest == 2 else 0 for cell in cells]
            axes.scatter([cell[-1] for cell in cells], ys, label=label, **look)
    axes.set_xlabel(f"difference in {names[-1]}", fontsize=8)
    _set_grid(axes)
    if rest == 2:
        axes.set_ylabel(f"difference in {names[-2]}", fontsize=8)
    else:
        axes.set_yticks([])


# ---------------------------------------------------------------- lifetimes


def draw_lifetimes(array: FoldedArray, liveness: Liveness, params: Mapping[str, int]) -> Any:
    """When cells are in memory, coloured by their address; below, live cells against addresses."""
    matplotlib: Any = optional_module("matplotlib", "plot")
    bars = lifetimes_at(liveness, array.name, params)
    if not bars:
        raise InputError(f"{array.name} has no cells at these sizes")
    # One row for each cell, in the order of their first values.
    rows = {cell: row for row, cell in enumerate(dict.fromkeys(one.cell for one in bars))}
    addresses = {cell: array.mapping.address(cell, params) for cell in rows}
    numbers = {address: k for k, address in enumerate(sorted(set(addresses.values())))}
    colours = matplotlib.colormaps["viridis"]
    end = max(one.end for one in bars) + 1
    figure = new_figure(8, min(9, 3.2 + 0.08 * len(rows)))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    for one in bars:
        shade = colours((numbers[addresses[one.cell]] + 0.5) / len(numbers))
        upper.barh(rows[one.cell], one.end - one.first + 1, left=one.first, height=0.9, color=shade)
    if len(rows) <= _MOST_LABELS:
        words = [f"{array.name}[{', '.join(map(str, cell))}]" for cell in rows]
        upper.set_yticks(range(len(rows)), words, fontsize=7)
    else:
        upper.set_ylabel(f"cells of {array.name}, by first write")
    upper.invert_yaxis()
    upper.set_title(f"{array.mapping}{_at(params)}; one colour is one address", fontsize=10)
    live = [sum(one.first <= step < max(one.end, one.first + 1) for one in bars) for step in range(end)]
    lower.fill_between(range(end), live, step="post", color=_BLUE, alpha=0.5, label="cells in memory")
    size = array.size.at(params)
    lower.axhline(size, color=_ORANGE, label=f"addresses: {array.size} = {size}")
    lower.set_xlabel("step (reads and writes of the array in their order)")
    lower.set_ylim(0, size * 1.15 + 1)
    lower.legend(fontsize=8, loc="lower right")
    return figure


# ---------------------------------------------------------------- memory


def draw_memory(arrays: Sequence[FoldedArray], liveness: Liveness, params: Mapping[str, int]) -> Any:
    """What is live of all arrays at each moment, stacked, and what they take before and after the fold."""
    if not arrays:
        raise InputError("no array is folded, so there is no memory to draw")
    live = live_over_time(liveness, [array.name for array in arrays], params)
    widths = {array.name: element_bytes(liveness.program, array.name) for array in arrays}
    unit = "cells" if None in widths.values() else "bytes"
    scale = {name: 1 if unit == "cells" else width or 1 for name, width in widths.items()}
    before = sum(array.original_size_at(params) * scale[array.name] for array in arrays)
    after = sum(array.size.at(params) * scale[array.name] for array in arrays)
    stacked = [[count * scale[name] for count in live[name]] for name in live]
    total = [sum(counts) for counts in zip(*stacked, strict=True)]
    moments = range(len(total))
    figure = new_figure(8, 5)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1, 2])
    upper.axhline(before, color="#222222", linestyle="--", label=f"before: {before:,}")
    upper.axhline(after, color="#222222", label=f"after: {after:,}")
    upper.fill_between(moments, total, step="post", color=_GREY, label=f"live: at most {max(total):,}")
    upper.set_ylim(0, before * 1.1 + 1)
    colours = [_ARRAY_COLOURS[number % len(_ARRAY_COLOURS)] for number in range(len(arrays))]
    lower.stackplot(moments, stacked, step="post", labels=[*live], colors=colours)
    lower.axhline(after, color="#222222")
    lower.set_ylim(0, max(after, *total) * 1.15 + 1)
    lower.set_xlabel("step")
    for axes in (upper, lower):
        axes.set_ylabel(unit)
        axes.set_xlim(0, max(len(total) - 1, 1))
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    upper.set_title(
        f"memory of {', '.join(live)}{_at(params)}"
        if len(live) < 4
        else f"memory of {len(live)} arrays{_at(params)}",
        fontsize=10,
    )
    return figure


# ---------------------------------------------------------------- methods


def draw_methods(array: ComparedArray, params: Mapping[str, int]) -> Any:
    """The cells that every method needs, beside the lower bound."""
    found = [one for one in array.candidates if one.mapping is not None and one.is_proved]
    if not found:
        raise InputError(f"no method has a mapping for {array.conflicts.name}")
    sizes = [one.mapping.size.at(params) for one in found if one.mapping is not None]
    figure = new_figure(7, 1.6 + 0.35 * len(found))
    axes = figure.subplots()
    best = min(sizes)
    axes.barh(
        range(len(found)), sizes, color=[_BLUE if size == best else _GREY for size in sizes], height=0.7
    )
    for row, (one, size) in enumerate(zip(found, sizes, strict=True)):
        assert one.mapping is not None
        axes.annotate(
            f"{one.mapping.size} = {size:,}",
            (size, row),
            xytext=(4, -3),
            textcoords="offset points",
            fontsize=8,
        )
    axes.set_yticks(range(len(found)), [one.method for one in found], fontsize=9)
    axes.invert_yaxis()
    least = array.lower_bound.at(params)
    if least is not None:
        axes.axvline(least, color=_ORANGE, label=f"lower bound: {least:,}")
        axes.legend(fontsize=8)
    axes.set_xlim(0, max(sizes) * 1.35)
    axes.set_xlabel("cells")
    axes.set_title(f"{array.conflicts.name}{_at(params)}", fontsize=10)
    return figure


def _at(params: Mapping[str, int]) -> str:
    return f" at {', '.join(f'{name} = {value}' for name, value in params.items())}" if params else ""
