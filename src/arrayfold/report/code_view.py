"""The C before and after folding as HTML, with the subscripts of folded arrays marked."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher
from html import escape

from arrayfold.c.lexer import blank, closing_bracket

_LINES_AROUND = 3


def changed_part(before: str, after: str) -> tuple[str, str]:
    """What differs between two texts, with a few lines around it; whole lines, the same ends left out.

    >>> changed_part("a\\nb\\nc\\n" * 4, "a\\nb\\nc\\n" * 4)
    ('', '')
    >>> changed_part("1\\n2\\n3\\n4\\n5\\nold\\n", "1\\n2\\n3\\n4\\n5\\nnew\\n")
    ('3\\n4\\n5\\nold\\n', '3\\n4\\n5\\nnew\\n')
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes = [
        code for code in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    if not changes:
        return "", ""

    def cut(lines: list[str], start: int, end: int) -> str:
        return "".join(lines[max(start - _LINES_AROUND, 0) : end + _LINES_AROUND])

    return cut(old, changes[0][1], changes[-1][2]), cut(new, changes[0][3], changes[-1][4])


def marked_code(text: str, arrays: Collection[str]) -> str:
    """C text as HTML; the subscripts after the names of these arrays are marked.

    >>> marked_code("x = A[i % 2][j] < B[i];", ["A"])
    'x = A<mark>[i % 2][j]</mark> &lt; B[i];'
    """
    plain = blank(text)
    parts: list[str] = []
    done = 0
    names = "|".join(map(re.escape, sorted(arrays, key=len, reverse=True)))
    for name in re.finditer(rf"(?<![\w.])(?:{names})(?!\w)", plain) if names else ():
        end = _end_of_subscripts(plain, name.end())
        if name.start() >= done and end > name.end():
            parts += [escape(text[done : name.end()]), "<mark>", escape(text[name.end() : end]), "</mark>"]
            done = end
    return "".join([*parts, escape(text[done:])])


def _end_of_subscripts(plain: str, position: int) -> int:
    end = position
    while True:
        start = end
        while plain[start : start + 1].isspace():
            start += 1
        closing = closing_bracket(plain, start) if plain[start : start + 1] == "[" else None
        if closing is None:
            return end
        end = closing + 1
