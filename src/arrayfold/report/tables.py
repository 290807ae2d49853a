"""Results for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.parameter_words import in_words
from arrayfold.fold.result import NO_TEMPORARY, FoldedArray, FoldResult
from arrayfold.methods.occupancy_vectors import shortest_occupancy_vector
from arrayfold.program.model import Program
from arrayfold.report.other_tools import in_words_of
from arrayfold.report.plain_table import PlainTable
from arrayfold.report.words import array_notes, bound_notes, proved_words, readable_pairs, readable_set
from arrayfold.run.outcome import NotRun, RunReport

if TYPE_CHECKING:
    from arrayfold.base.choices import Tool
    from arrayfold.bounds.minimal import Gap
    from arrayfold.conflicts.conflicts import Conflicts
    from arrayfold.fold.check import Checked
    from arrayfold.fold.compare import ComparedArray
    from arrayfold.select.mapping_case import MappingCase
    from arrayfold.sharing.footprint import Footprint
    from arrayfold.validation import Validation

_VERDICT_STYLES = {"invalid": "bold red", "undecided": "bold yellow", "loose": "yellow"}


# ---------------------------------------------------------------- fold


def fold_report(
    results: Sequence[FoldResult],
    runs: Sequence[RunReport | NotRun] = (),
    validation: Validation | None = None,
    tool: Tool | None = None,
    hint: str = "",
    again: Callable[[Sequence[str]], str] = shlex.join,
) -> RenderableType:
    """For each region a table with one line an array, and what was kept; then what running them showed.

    The last line says what was checked of the code that was written, those before it what else to try.

    again  what to type for options that give an order which was chosen
    """
    parts: list[RenderableType] = []
    for result in results:
        if len(results) > 1:
            parts.append(Text(f"region {result.problem.name}", style="bold"))
        parts += _fold_parts(result, again if len(results) == 1 else shlex.join)
        if tool is not None:
            parts += [Text(f"{tool}: {line}") for array in result for line in in_words_of(tool, array)]
    if hint:
        parts.append(Text(hint))
    done = [run for run in runs if isinstance(run, RunReport)]
    parts += [Text(f"run: {run}", style="green" if run.is_equal else "bold red") for run in done]
    if validation is not None:
        parts.append(Text(str(validation), style="yellow" if validation.unchecked else "green"))
    return Group(*parts)


def _fold_parts(result: FoldResult, again: Callable[[Sequence[str]], str]) -> list[RenderableType]:
    parts: list[RenderableType] = [_fold_table(result) if result.arrays else Text(result.why_nothing)]
    parts += [Text(line) for line in _members(result)]
    parts += _measured_parts(result)
    parts += [Text(line) for line in order_lines(result, again)]
    if result.footprint is not None and len(result.arrays) > 0:
        parts += [Text(line, style="bold") for line in _footprint_lines(result.footprint)]
    return [*parts, *(Text(note) for note in _notes(result))]


def order_lines(result: FoldResult, again: Callable[[Sequence[str]], str] = shlex.join) -> list[str]:
    """Which order was chosen and why, and how to have it again without a search."""
    chosen = result.problem.chosen if isinstance(result.problem, Program) else None
    if chosen is None:
        return []
    search = "measuring" if chosen.measured else "a search"
    lines = [f"order: {chosen.name}, {chosen.why}"]
    if chosen.options or chosen.measured:
        lines.append(f"the same order without {search}: {again(chosen.options)}")
    return lines


def _measured_parts(result: FoldResult) -> list[RenderableType]:
    """The versions that were measured, the fastest one first."""
    chosen = result.problem.chosen if isinstance(result.problem, Program) else None
    if chosen is None or not chosen.measured:
        return []
    original = next(one.seconds for one in chosen.measured if one.is_original)
    assert original is not None
    table = PlainTable("measured", "seconds", "speed", "bytes")
    for one in chosen.measured:
        if one.seconds is None:
            table.add_row(one.name, one.reason, "", f"{one.size_bytes:,}")
            continue
        speed = f"{original / max(1e-12, one.seconds):.2f}"
        table.add_row(one.name, f"{one.seconds:.6f}", speed, f"{one.size_bytes:,}")
    return [table]


def _member_words(array: FoldedArray) -> list[str]:
    """The mappings of what an array holds, with the cells for which they are, where these are parts."""
    words = [*map(str, array.members)]
    return (
        [f"{one} where {cells}" for one, cells in zip(words, array.where, strict=True)]
        if array.where
        else words
    )


def _members(result: FoldResult) -> list[str]:
    """Where arrays are that share memory."""
    lines = [
        f"{array.name} holds {', '.join(_member_words(array))}" for array in result.arrays if array.members
    ]
    for block in result.footprint.blocks if result.footprint is not None else ():
        places = ", ".join(
            name if offset == Formula.constant(0) else f"{name} from {offset} on"
            for name, offset in block.offsets.items()
        )
        lines.append(f"{block.name} of {_cells(block.size)} holds {places}")
    return lines


def _footprint_lines(footprint: Footprint) -> list[str]:
    """What all arrays need together."""
    gap = footprint.gap
    least = ""
    if gap is not None and gap.is_bound_known:
        least = f"; at least {_bound_text(gap)} are live at one moment{_sizes_of_bound(gap)}"
    if gap is not None and gap.words:
        where = gap.words.removeprefix("minimal")
        least = f", as few as are live at one moment{where}"
    after = _cells_here(footprint.after, footprint.after_here, footprint.params)
    before = _cells_here(footprint.before, footprint.before_here, footprint.params)
    lines = [f"in all: {after} instead of {before}{least}"]
    doubts = [gap.bound.remark] if gap is not None and gap.bound.remark else []
    why = [f"larger than before: {footprint.why_larger}"] if footprint.why_larger else []
    return [*lines, *(f"note: {remark}" for remark in (*why, *footprint.remarks, *doubts))]


def _fold_table(result: FoldResult) -> PlainTable:
    table = PlainTable("array", "mapping", "cells", "instead of", "lower bound", "verdict", "method")
    for array in result.arrays:
        if array.is_by_cases:
            _add_cases(table, array)
            continue
        table.add_row(
            array.name,
            Text(str(array.mapping)),
            _with_value(array.size, array.size_here),
            _with_value(array.original_size, _was_here(array)) if array.role is None else f"({array.role})",
            _bound_text(array.gap),
            _verdict(array),
            array.method,
        )
    return table


def _add_cases(table: PlainTable, array: FoldedArray) -> None:
    """One line a case, where these are the answer."""
    original = str(array.original_size) if array.role is None else f"({array.role})"
    for number, case in enumerate(array.cases):
        is_least = array.is_least_case(case)
        table.add_row(
            "" if number else array.name,
            Text(f"{_when(array, case)}: {case.mapping}"),
            _with_value(case.size, _size_here(array, case)),
            "" if number else original,
            "" if number else _bound_text(array.gap),
            Text("proved, minimal" if is_least else "proved", style="bold green" if is_least else "green"),
            "auto",
        )


def _size_here(array: FoldedArray, case: MappingCase) -> int | None:
    """The size of a case at the parameter values of the request, if it holds there."""
    is_here = array.is_sized and not case.when.is_disjoint(fix_parameters(array.params))
    return case.size.at(array.params) if is_here else None


def _when(array: FoldedArray, case: MappingCase) -> str:
    return in_words(case.when, array.conflicts.whole_context)


def _verdict(array: FoldedArray) -> Text:
    limits = f", {array.limits}" if array.limits else ""
    if array.gap.words:
        return Text(f"proved, {array.gap.words}{_times(array.gap)}{limits}", style="bold green")
    lattice = array.smallest_lattice
    least = ", smallest lattice" if lattice is not None and lattice.is_everywhere else ""
    return Text(f"proved{least}{_times(array.gap)}{limits}", style="green")


def _times(gap: Gap) -> str:
    is_told = gap.times is not None and gap.size_here != gap.bound_here
    return f", {gap.times:.2f} times the bound" if is_told else ""


def _was_here(array: FoldedArray) -> int | None:
    return array.original_size_at(array.params) if array.is_sized else None


def _notes(result: FoldResult) -> list[str]:
    """What is kept and assumed, then what is to be said of arrays: once where it is the same of several."""
    lines = [f"kept: {name} ({reason})" for name, reason in result.kept.items()]
    lines += [f"note: assumed: {one}" for one in result.assumptions]
    lines += [f"note: {one}" for one in result.growth]
    arrays_of: dict[str, list[str]] = {}
    for array in result.arrays:
        for note in (*array_notes(result, array), *_told_bound_notes(array)):
            arrays_of.setdefault(note, []).append(array.name)
    lines += [f"note: {', '.join(dict.fromkeys(names))}: {note}" for note, names in arrays_of.items()]
    return [*lines, *(line for array in result.arrays for line in _case_lines(result, array))]


def _told_bound_notes(array: FoldedArray) -> list[str]:
    """Those that the verdict does not say."""
    is_said = array.gap.words == f"minimal for {array.gap.shown_for_cells}"
    return bound_notes(array.gap, with_sizes=not is_said)


def _case_lines(result: FoldResult, array: FoldedArray) -> list[str]:
    """What holds besides the answer in the table: cases, or the mapping for all sizes."""
    if array.is_by_cases:
        is_code = isinstance(result.problem, Program) and result.problem.source is not None
        code = ", which the code has" if is_code else ""
        return [f"for all sizes: {array.mapping}, {_cells(array.size)} (proved){code}"]
    lines: list[str] = []
    for case in array.cases:
        minimal = ", minimal" if array.is_least_case(case) else ""
        lines.append(f"case {_when(array, case)}: {case.mapping}, {_cells(case.size)} (proved{minimal})")
    return lines


def _with_value(formula: Formula, value: int | None) -> str:
    """Where there are no cells, the number is not the one of the formula and stands alone."""
    if value is None or not _is_told(formula, value):
        return str(formula)
    return f"{value:,}" if value == 0 else f"{formula} = {value:,}"


def _is_told(formula: Formula, value: int | None) -> bool:
    """Whether a number says more than its formula."""
    return value is not None and not (formula.is_constant and formula.as_number() == value)


def _bound_text(gap: Gap) -> str:
    formula, value = gap.bound.formula, gap.bound_here
    if formula is None:
        return "unknown" if value is None else f"{value:,}"
    if value is None or gap.params is None or formula.evaluate(gap.params) == value:
        return _with_value(formula, value)
    return f"{value:,}"


def _sizes_of_bound(gap: Gap) -> str:
    """For which sizes the formula of a bound was shown, if it is told and these are not all."""
    is_told = _bound_text(gap).startswith(str(gap.bound.formula))
    return f" (shown for {gap.shown_for})" if is_told and gap.shown_for else ""


# ---------------------------------------------------------------- compare


def compare_report(arrays: list[ComparedArray]) -> RenderableType:
    """A table of methods for each array."""
    if not arrays:
        return Text(NO_TEMPORARY)
    return Group(*(part for array in arrays for part in (_compare_table(array), *_compared_cases(array))))


def _compared_cases(array: ComparedArray) -> list[Text]:
    """The cases of `auto`, a line each."""
    context = array.conflicts.whole_context
    return [
        Text(f"auto, case {in_words(case.when, context)}: {case.mapping}, {_cells(case.size)} (proved)")
        for case in array.cases
    ]


def _compare_table(array: ComparedArray) -> PlainTable:
    title = f"{array.conflicts.name}: {array.conflicts.original_size} cells"
    gaps = [gap for gap in map(array.gap, array.candidates) if gap is not None and not gap.only_here]
    is_known = bool(gaps) and gaps[0].is_bound_known
    least = f", at least {_bound_text(gaps[0])}{_sizes_of_bound(gaps[0])}" if is_known else ""
    titles = ("method", "mapping", "cells", "times the bound", "verdict", "time")
    table = PlainTable(*titles, heading=f"{title}{least}")
    for candidate in array.candidates:
        seconds = f"{candidate.seconds * 1000:.1f} ms"
        if candidate.mapping is None:
            table.add_row(candidate.method, Text(candidate.reason, style="dim"), "", "", "none", seconds)
            continue
        gap = array.gap(candidate)
        assert gap is not None
        cells = _with_value(gap.size, gap.size_here)
        ratio = "" if gap.times is None else f"{gap.times:.2f}"
        verdict = proved_words(gap, candidate.mapping)
        table.add_row(candidate.method, Text(str(candidate.mapping)), cells, ratio, verdict, seconds)
    return table


# ---------------------------------------------------------------- check


def check_report(checked: list[Checked]) -> RenderableType:
    """A paragraph a mapping: the verdict, and why."""
    return Group(*(_check_text(item) for item in checked))


def _check_text(item: Checked) -> Text:
    text = Text(f"{item.mapping}\n")
    text.append(f"{item.summary.upper()}", style=_VERDICT_STYLES.get(item.summary, "bold green"))
    if item.is_valid:
        text.append(f": {_size_sentence(item)}\n")
        text.append(f"{item.verdict}\n")
    else:
        text.append(f": {item.verdict}.\n")
        if item.clobber:
            text.append(f"{item.clobber}.\n")
    for note in (*item.conflicts.notes, *([item.cut_short] if item.cut_short else [])):
        text.append(f"Note: {note}.\n")
    if item.smaller and item.smaller.mapping:
        smaller = item.smaller.mapping
        text.append(f"Smaller: {smaller} needs {_cells(smaller.size)} ({item.smaller.method}).\n")
    elif item.shrunk:
        text.append(f"Looser than needed: {item.shrunk} is valid too and needs {_cells(item.shrunk.size)}.\n")
    return text


def _size_sentence(item: Checked) -> str:
    if item.size is None:
        return "no two conflicting cells share an address."
    if item.gap is not None and item.gap.words:
        where = f" ({item.mapping.where})" if item.mapping.where else ""
        sizes = item.gap.words.removeprefix("minimal")
        return f"{_cells(item.size)}, and no mapping has fewer{sizes}{where}."
    if item.lower_bound.formula is None:
        return f"{_cells(item.size)}."
    shown = "" if item.gap is None else _sizes_of_bound(item.gap)
    return f"{_cells(item.size)}; at least {item.lower_bound.formula} are needed{shown}."


def _cells_here(size: Formula, value: int | None, params: Mapping[str, int]) -> str:
    """Cells and their number, which stands alone where arrays have no cells and formulas say otherwise."""
    if value is None or not _is_told(size, value):
        return _cells(size)
    return f"{_cells(size)} = {value:,}" if value == size.at(params) else _cells(Formula.constant(value))


def _cells(size: Formula) -> str:
    return "1 cell" if size == Formula.constant(1) else f"{size} cells"


# ---------------------------------------------------------------- conflicts


def conflicts_report(arrays: list[Conflicts]) -> RenderableType:
    """The conflict and difference sets."""
    text = Text()
    for conflicts in arrays:
        text.append(f"{conflicts.name}\n", style="bold")
        pairs = readable_pairs(conflicts)
        if pairs is not None:
            text.append(f"  conflicts    {pairs}\n")
        text.append(f"  differences  {readable_set(conflicts, conflicts.differences)}\n")
        vector = shortest_occupancy_vector(conflicts)
        if vector is not None:
            entries = ", ".join(map(str, vector))
            text.append(f"  reuse        ({entries}): cells so far apart may share an address\n")
        text.append(f"  context      {conflicts.context}\n")
        for note in conflicts.notes:
            text.append(f"  note         {note}\n")
    return text
