"""What a fold did, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arrayfold.exact.formula import Formula
from arrayfold.mapping.modular import TableMapping

if TYPE_CHECKING:
    from arrayfold.fold.result import FoldedArray, FoldResult

_MOST_NAMES = 3


def summary_line(results: Sequence[FoldResult], file: str) -> str:
    """A line to paste into a commit message.

    >>> import arrayfold as af
    >>> summary_line([af.fold(af.read("examples/blur-interleaved.toml"))], "blur-interleaved.toml")
    'Fold blurx: 2*N + 1 cells instead of N^2, proved minimal'
    """
    name = Path(file).name
    arrays = [array for result in results for array in result.arrays if array.shrinks]
    footprints = [result.footprint for result in results]
    if not arrays and not any(footprints):
        return f"Fold nothing in {name}: no array shrinks"
    names = [array.name for array in arrays]
    what = f"{len(names)} arrays of {name}" if len(names) > _MOST_NAMES else " and ".join(names)
    after = before = zero = Formula.constant(0)
    for result in results:
        total = result.footprint
        shrinking = [array for array in result.arrays if array.shrinks]
        after += total.after if total else sum((array.size for array in shrinking), start=zero)
        before += total.before if total else sum((array.original_size for array in shrinking), start=zero)
    said = {array.gap.words for array in arrays}
    minimal = said.pop() if len(said) == 1 and not any(footprints) else ""
    limits = ", ".join(dict.fromkeys(filter(None, (array.limits for array in arrays))))
    words = [f"proved {minimal}".strip(), *([limits] if limits else [])]
    cells = "1 cell" if after == Formula.constant(1) else f"{after} cells"
    return f"Fold {what}: {cells} instead of {before}{_numbers(arrays, after, before)}, {', '.join(words)}"


def _numbers(arrays: Sequence[FoldedArray], after: Formula, before: Formula) -> str:
    """Both as numbers, where the sizes are known."""
    params = {name: value for array in arrays for name, value in array.params.items()}
    is_sized = all(array.is_sized and not isinstance(array.mapping, TableMapping) for array in arrays)
    if not params or not is_sized:
        return ""
    where = ", ".join(f"{name} = {value}" for name, value in params.items())
    return f" ({after.at(params):,} instead of {before.at(params):,} at {where})"
