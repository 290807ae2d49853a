"""What became of the kernels of a directory: the table and the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from arrayfold.explore.directory import FoldedFile
from arrayfold.report.plain_table import PlainTable


def directory_data(files: Sequence[FoldedFile]) -> dict[str, Any]:
    """What `fold DIR --json` prints."""
    return {
        "files": [
            {"file": item.file, "arrays": list(item.arrays), **({"why": item.reason} if item.reason else {})}
            for item in files
        ]
    }


def directory_report(files: Sequence[FoldedFile]) -> RenderableType:
    """A row for each array, and what went wrong below."""
    table = PlainTable("file", "array", "mapping", "cells", "instead of", "verdict")
    for item in files:
        for row in item.arrays:
            verdict = "proved, minimal" if row["optimal"] else "proved"
            cells = [item.file, row["name"], row["mapping"], row["size"], row["original_size"], verdict]
            table.add_row(*(Text(cell) for cell in cells))
    failed = [f"{item.reason}" for item in files if item.reason]
    arrays = sum(len(item.arrays) for item in files)
    shrunk = sum(row["size"] != row["original_size"] for item in files for row in item.arrays)
    summary = f"{len(files)} files, {arrays} arrays, {shrunk} of them smaller now"
    return Group(table, Text("\n".join([summary, *failed])))
