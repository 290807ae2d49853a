"""Docstrings as Markdown for the reference: columns become tables, doctests become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"(?P<name>\S+(?: \S+)*?) {2,}(?P<rest>\S.*)")
# What is code already stays; relations in running text become code.
RELATION = re.compile(r"`[^`]*`|(\{ [^{}`]* \})")
SHAPE = re.compile(r"([^{]*\{.*?\})(?: {2,}|$)(.*)", re.DOTALL)


class Columns(griffe.Extension):
    """Rewrites every docstring that mkdocstrings shows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """The docstring with its aligned columns as tables and its doctests as fenced code.

    >>> columns = "cells  { A[x] }  touched by the program,\\n                 or declared"
    >>> print(as_markdown("An array.\\n\\n" + columns))
    An array.
    <BLANKLINE>
    | | |
    | --- | --- |
    | `cells` | `{ A[x] }` touched by the program, or declared |
    """
    return "\n\n".join(map(_paragraph, re.split(r"\n[ ]*\n", docstring.strip("\n"))))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines and lines[0].startswith(">>>"):
        return "\n".join(["```pycon", *lines, "```"])
    entries: list[list[str]] = []
    for line in lines:
        found = ENTRY.fullmatch(line)
        if found:
            entries.append([found["name"], found["rest"]])
        elif entries and line.startswith("  "):
            entries[-1][1] += f" {line.strip()}"
        else:
            return RELATION.sub(lambda found: f"`{found[1]}`" if found[1] else found[0], text)
    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| `{name}` | {_meaning(rest)} |" for name, rest in entries)]
    )


def _meaning(rest: str) -> str:
    """What an entry says, the shape of a relation in front of it as code."""
    shape = SHAPE.fullmatch(rest)
    words = f"`{shape[1]}` {shape[2]}".strip() if shape else rest
    return words.replace("|", "\\|")
