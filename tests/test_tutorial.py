"""The tutorial can be followed from the top to the bottom in a fresh tree, by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

from pages import ROOT, fenced_blocks, save, shell

TUTORIAL = Path("docs/tutorial.md")


def test_every_command_succeeds_in_the_order_of_the_page(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    count = 0
    for block in fenced_blocks(TUTORIAL):
        save(block, tmp_path)
        if block.language != "console":
            continue
        for line in block.text.splitlines():
            if line.startswith("$ "):
                done = shell(line.removeprefix("$ "), tmp_path)
                assert done.returncode == 0, f"{block}: {line}\n{done.stdout}{done.stderr}"
                count += 1
    assert count >= 10


def test_the_tutorial_begins_with_the_demo_of_the_makefile() -> None:
    """What the first console block shows is what `make demo` runs."""
    recipe = (ROOT / "Makefile").read_text().split("\ndemo:")[1].splitlines()[1]
    first = next(block for block in fenced_blocks(TUTORIAL) if block.language == "console")
    shown = first.text.splitlines()[0].removeprefix("$ ")
    assert recipe.strip().replace("$(BIN)/", "") == shown
