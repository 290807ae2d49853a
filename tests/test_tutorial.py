"""The tutorial begins where `make demo` ends; tests/test_docs.py follows it from the top to the bottom."""

from __future__ import annotations

from pathlib import Path

from support.pages import ROOT, fenced_blocks

TUTORIAL = Path("docs/tutorial.md")


def test_the_tutorial_has_commands_to_follow() -> None:
    """tests/test_docs.py runs them, and none may fail."""
    blocks = [block for block in fenced_blocks(TUTORIAL) if block.language == "console"]
    assert sum(line.startswith("$ ") for block in blocks for line in block.text.splitlines()) >= 10


def test_the_tutorial_begins_with_the_demo_of_the_makefile() -> None:
    """What the first console block shows is what `make demo` runs."""
    recipe = (ROOT / "Makefile").read_text().split("\ndemo:")[1].splitlines()[1]
    first = next(block for block in fenced_blocks(TUTORIAL) if block.language == "console")
    shown = first.text.splitlines()[0].removeprefix("$ ")
    assert recipe.strip().replace("$(BIN)/", "") == shown
