"""Results for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arrayfold.bounds import LowerBound
from arrayfold.check import Checked
from arrayfold.compare import ComparedArray
from arrayfold.conflicts import Conflicts
from arrayfold.folded import FoldedArray, FoldResult
from arrayfold.footprint import Footprint
from arrayfold.formula import Formula
from arrayfold.mapping import TableMapping
from arrayfold.occupancy import shortest_occupancy_vector
from arrayfold.outcome import NotRun, RunReport
from arrayfold.report.text import readable_pairs, readable_set
from arrayfold.validation import Validation

_VERDICT_STYLES = {"invalid": "bold red", "undecided": "bold yellow", "loose": "yellow"}


# ---------------------------------------------------------------- fold


def fold_report(
    results: Sequence[FoldResult],
    runs: Sequence[RunReport | NotRun] = (),
    validation: Validation | None = None,
) -> RenderableType:
    """For each region a table with one line an array, and what was kept; then what running them showed.

    The last line says what was checked of the code that was written.
    """
    parts: list[RenderableType] = []
    for result in results:
        if len(results) > 1:
            parts.append(Text(f"region {result.problem.name}", style="bold"))
        parts += _fold_parts(result)
    done = [run for run in runs if isinstance(run, RunReport)]
    parts += [Text(f"run: {run}", style="green" if run.is_equal else "bold red") for run in done]
    if validation is not None:
        parts.append(Text(str(validation), style="yellow" if validation.unchecked else "green"))
    return Group(*parts)


def _fold_parts(result: FoldResult) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if result.arrays:
        parts.append(_fold_table(result))
    else:
        parts.append(Text("There is no temporary array to fold; name one with --temporary."))
    parts += [Text(line) for line in _members(result)]
    if result.footprint is not None and len(result.arrays) > 0:
        parts += [Text(line, style="bold") for line in _footprint_lines(result.footprint)]
    return [*parts, *(Text(note) for note in _notes(result))]


def _members(result: FoldResult) -> list[str]:
    """Where arrays are that share memory."""
    lines = [
        f"{array.name} holds {', '.join(map(str, array.members))}" for array in result.arrays if array.members
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
    params = footprint.params if footprint.is_sized else None

    def cells(size: Formula) -> str:
        return _cells(size) if params is None or size.is_constant else f"{_cells(size)} = {size.at(params):,}"

    least = ""
    if footprint.bound is not None:
        least = f"; at least {_bound_text(footprint.bound, params)} are live at one moment"
    if footprint.is_least:
        least = ", as few as are live at one moment"
    lines = [f"in all: {cells(footprint.after)} instead of {cells(footprint.before)}{least}"]
    return [*lines, *(f"note: {remark}" for remark in footprint.remarks)]


def _fold_table(result: FoldResult) -> Table:
    table = _table("array", "mapping", "cells", "instead of", "lower bound", "verdict", "method")
    for array in result.arrays:
        table.add_row(
            array.name,
            Text(str(array.mapping)),
            _with_value(array.size, array),
            _with_value(array.original_size, array) if array.what is None else f"({array.what})",
            _bound_text(array.lower_bound, array.params if array.is_sized else None),
            _verdict(array),
            array.method,
        )
    return table


def _verdict(array: FoldedArray) -> Text:
    limits = f", {array.limits}" if array.limits else ""
    if array.is_optimal:
        return Text(f"proved, minimal{limits}", style="bold green")
    return Text(f"proved{_gap(array)}{limits}", style="green")


def _gap(array: FoldedArray) -> str:
    least = array.lower_bound.at(array.params) if array.is_sized else None
    if not least:
        return ""
    return f", {array.size.at(array.params) / least:.2f} times the bound"


def _notes(result: FoldResult) -> list[str]:
    notes = [f"kept: {name} ({reason})" for name, reason in result.kept.items()]
    notes += [f"note: assumed: {one}" for one in result.assumptions]
    for array in result.arrays:
        notes += [f"note: {array.name}: {note}" for note in array.conflicts.notes]
        if array.cut_short:
            notes.append(f"note: {array.name}: {array.cut_short}")
        for case in array.cases:
            minimal = ", minimal" if array.lower_bound.formula == case.size else ""
            notes.append(f"case {case.when}: {case.mapping}, {_cells(case.size)} (proved{minimal})")
        if array.lower_bound.when is not None:
            notes.append(f"note: {array.name}: the lower bound was shown for {array.lower_bound.when}")
    return notes


def _with_value(formula: Formula, array: FoldedArray) -> str:
    if not array.is_sized or formula.is_constant:
        return str(formula)
    return f"{formula} = {formula.at(array.params):,}"


def _bound_text(bound: LowerBound, params: Mapping[str, int] | None) -> str:
    value = bound.at(params) if params is not None else None
    if bound.formula is None:
        return "unknown" if value is None else f"{value:,}"
    if value is None or params is None or bound.formula.is_constant:
        return str(bound.formula)
    return f"{bound.formula} = {value:,}" if bound.formula.evaluate(params) == value else f"{value:,}"


# ---------------------------------------------------------------- compare


def compare_report(arrays: list[ComparedArray]) -> RenderableType:
    """A table of methods for each array."""
    if not arrays:
        return Text("There is no temporary array to fold; name one with --temporary.")
    return Group(*(_compare_table(array) for array in arrays))


def _compare_table(array: ComparedArray) -> Table:
    table = _table("method", "mapping", "cells", "times the bound", "verdict", "time")
    bound = array.lower_bound
    sized = set(array.params) >= set(array.conflicts.original_size.names()) and bool(array.params)
    table.title = f"{array.conflicts.name}: {array.conflicts.original_size} cells, at least " + _bound_text(
        bound, array.params if sized else None
    )
    table.title_justify = "left"
    for candidate in array.candidates:
        seconds = f"{candidate.seconds * 1000:.1f} ms"
        if candidate.mapping is None:
            table.add_row(candidate.method, Text(candidate.reason, style="dim"), "", "", "none", seconds)
            continue
        size = candidate.mapping.size
        cells = f"{size} = {size.at(array.params):,}" if sized and not size.is_constant else str(size)
        least = bound.at(array.params) if sized else None
        ratio = f"{size.at(array.params) / least:.2f}" if least else ""
        minimal = ", minimal" if bound.is_reached(candidate.mapping, array.params) else ""
        limits = candidate.mapping.where if isinstance(candidate.mapping, TableMapping) else ""
        verdict = f"proved{minimal}{', ' * bool(limits)}{limits}"
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
    for note in item.conflicts.notes:
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
    if item.is_minimal:
        where = f" ({item.mapping.where})" if isinstance(item.mapping, TableMapping) else ""
        return f"{_cells(item.size)}, and no mapping has fewer{where}."
    if item.lower_bound.formula is None:
        return f"{_cells(item.size)}."
    when = "" if item.lower_bound.when is None else f" (shown for {item.lower_bound.when})"
    return f"{_cells(item.size)}; at least {item.lower_bound.formula} are needed{when}."


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


def _table(*titles: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, no_wrap=title in ("array", "method"))
    return table
