"""Verdicts on modules of MLIR, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

if TYPE_CHECKING:
    from arrayfold.fold.against import Compared

_STYLES = {"equal": "bold green", "different": "bold red", "undecided": "bold yellow"}


def against_data(compared: Sequence[Compared]) -> dict[str, Any]:
    """What `check --against --json` prints."""
    return {"functions": [_function(one) for one in compared]}


def _function(one: Compared) -> dict[str, Any]:
    return {
        "name": one.function,
        "verdict": one.verdict,
        "reason": one.reason or None,
        "sizes": [dict(sizes) for sizes in one.sizes],
        "allocated": list(one.cells) if one.verdict == "equal" else None,
    }


def against_report(compared: Sequence[Compared]) -> RenderableType:
    """A paragraph a function: the verdict, and why."""
    return Group(*map(_text, compared))


def _text(one: Compared) -> Text:
    text = Text(f"{one.function}: ")
    text.append(one.verdict.upper(), style=_STYLES[one.verdict])
    if one.verdict != "equal":
        text.append(f": {one.reason}.")
        return text
    if one.is_complete:
        text.append(". Executed as a whole: the same values, whatever its operations mean.")
    else:
        where = [f"at {len(one.sizes)} sizes, the last {_sizes(one.sizes[-1])}"] * bool(one.sizes[-1])
        where += [f"with conditions on data in {one.ways} ways"] * (one.ways > 1)
        text.append(f" {', '.join(where)}.")
    text.append(f" Cells allocated: {one.cells[0]:,} before, {one.cells[1]:,} after.")
    return text


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sizes.items())
