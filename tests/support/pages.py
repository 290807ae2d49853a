"""The pages of the documentation, their blocks of code, and a place in which their commands may write."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import arrayfold

ROOT = Path(__file__).resolve().parents[2]
PAGES = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))]
FENCE = re.compile(r"^([ ]*)(`{3,}|~{3,})([^\n`]*)\n(.*?)^[ ]*\2[ ]*$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, the language it says it is in, and its text.

    file  where a reader saves it, if its title says so
    """

    page: Path
    line: int
    language: str
    text: str
    file: str | None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def fenced_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = (ROOT / page).read_text()
    return [block_of(page, found) for found in FENCE.finditer(text)]


def block_of(page: Path, found: re.Match[str]) -> Block:
    """The block at a match of FENCE."""
    language, _, rest = found[3].strip().partition(" ")
    title = re.search(r'title="([^"]*)"', rest)
    line = found.string.count("\n", 0, found.start()) + 1
    return Block(page, line, language, found[4], title[1] if title else None)


def indented_lines(page: Path) -> list[str]:
    """The lines of indented blocks, outside of fences."""
    return _INDENTED.findall(FENCE.sub("", (ROOT / page).read_text()))


def save(block: Block, directory: Path) -> None:
    """Saves a block where its title says, as a reader does."""
    if block.file is not None:
        file = directory / block.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text)


def scratch(directory: Path) -> None:
    """Makes a directory look like the top of the tree to commands, which then write there and not here."""
    for name in ("examples", "tests"):
        (directory / name).symlink_to(ROOT / name, target_is_directory=True)


def shell(line: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of a page in a directory, by bash, with this arrayfold as the command."""
    commands = directory / ".bin"
    commands.mkdir(exist_ok=True)
    command = commands / "arrayfold"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m arrayfold "$@"\n')
    command.chmod(0o755)
    source = str(Path(arrayfold.__file__).parent.parent)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(
            [str(commands), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        ),
        "PYTHONPATH": source,
    }
    return subprocess.run(
        ["bash", "-c", line], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
