"""What commands print in 80 columns. `--update-golden` rewrites the files in tests/terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from arrayfold.report.plain_table import PlainTable
from support.command import run

COMMANDS = {
    "harris-fused": ("fold", "examples/harris.c", "--fuse"),
    "smoother": ("fold", "examples/smoother.c"),
    "blur-at-sizes": ("fold", "examples/blur.c", "--fuse", "--param", "N=1024"),
    "reverse-l": ("fold", "examples/reverse-l.toml"),
    "check": ("check", "examples/blur.toml", "--mapping", "blurx[x, y] -> [y mod 2]"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_80_columns(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    status = run(monkeypatch, *COMMANDS[name])
    shown = capsys.readouterr().out
    golden = Path(f"tests/terminal/{name}.txt")
    if update_golden:
        golden.write_text(shown)
    assert status == (1 if name == "check" else 0)
    assert shown == golden.read_text()
    assert all(len(line) <= 80 and line == line.rstrip() for line in shown.splitlines())


def shown_in(width: int, table: PlainTable) -> str:
    console = Console(width=width)
    with console.capture() as shown:
        console.print(table)
    return shown.get()


def example() -> PlainTable:
    table = PlainTable("name", "nothing", "cells", right=("cells",), heading="two arrays")
    table.add_row("a", "", "1,000")
    table.add_row("a long name", Text(), "1")
    return table


def test_columns_without_content_are_left_out() -> None:
    assert (
        shown_in(40, example()) == "two arrays\nname         cells\na            1,000\na long name      1\n"
    )


def test_rows_that_do_not_fit_are_paragraphs() -> None:
    assert shown_in(16, example()) == "two arrays\na\n  cells: 1,000\na long name\n  cells: 1\n"


def test_a_table_without_rows_has_its_heading() -> None:
    assert shown_in(40, PlainTable("name", heading="nothing")) == "nothing\n"
