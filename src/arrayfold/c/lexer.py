"""What can be said of C text without parsing it: comments, directives, brackets, identifiers.

Texts hold one character per byte of the file (latin-1), so that libclang's offsets fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT_OR_STRING = re.compile(
    r"//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_PRAGMA_OPERATOR = re.compile(r"\b_Pragma\s*\(\s*\"([^\"]*)\"\s*\)")
_PRAGMA_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+_Pragma\s*\(\s*\"([^\"]*)\"\s*\)", re.MULTILINE
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
CLAUSE = re.compile(r"\s*(\w+)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?\s*,?\s*")
"""A word of a pragma, maybe with something in parentheses, which may hold parentheses once more."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


# Around a region that no pragma marks, while it is read; they are not written.
CHOSEN_START = "#pragma scop /* arrayfold: chosen */\n"
CHOSEN_END = "#pragma endscop /* arrayfold: chosen */\n"


@dataclass(frozen=True)
class Pragma:
    """A `#pragma` line, `_Pragma("...")`, or the use of a macro that stands for such an operator.

    words  what follows `pragma`, without comments
    start  where the line begins; `end` is just after its newline
    at     where the words begin
    """

    words: str
    start: int
    end: int
    at: int


def blank(text: str) -> str:
    """The text with comments and the insides of strings replaced by spaces; offsets stay.

    >>> blank('a /* [ */ = "]"; // x')
    'a         = " ";     '
    """

    def spaces(match: re.Match[str]) -> str:
        found = match.group()
        inside = re.sub(r"[^\n]", " ", found)
        return inside if found.startswith("/") else found[0] + inside[1:-1] + found[-1]

    return _COMMENT_OR_STRING.sub(spaces, text)


def find_pragmas(text: str) -> Iterator[Pragma]:
    """The pragmas of a file, in order.

    >>> [pragma.words for pragma in find_pragmas("int x;\\n # pragma scop // here\\n")]
    ['scop']
    """
    plain = blank(text)
    code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), plain)
    found = [
        Pragma(
            _words(match.group(1)),
            match.start(),
            match.end() + (plain[match.end() : match.end() + 1] == "\n"),
            match.start(1),
        )
        for match in _PRAGMA.finditer(plain)
    ]
    found += [
        Pragma(_words(text[match.start(1) : match.end(1)]), match.start(), match.end(), match.start(1))
        for match in _PRAGMA_OPERATOR.finditer(code)
    ]
    found += [
        Pragma(_words(text[macro.start(2) : macro.end(2)]), use.start(), use.end(), use.start())
        for macro in _PRAGMA_MACRO.finditer(plain)
        for use in re.finditer(rf"\b{macro.group(1)}\b", code)
    ]
    yield from sorted(found, key=lambda pragma: pragma.start)


def _words(text: str) -> str:
    return " ".join(re.sub(r"\\\r?\n", " ", text).split())


def without_directives(plain: str) -> str:
    """What is left of a text without comments if the lines of the preprocessor go."""
    return re.sub(r"(?m)^[ \t]*#[^\n]*$", "", plain).strip()


def identifiers(text: str) -> set[str]:
    """Every identifier that occurs, keywords included.

    >>> sorted(identifiers("int a = b2 /* c */;"))
    ['a', 'b2', 'int']
    """
    return set(_IDENTIFIER.findall(blank(text)))


def closing_bracket(plain: str, start: int) -> int | None:
    """Where the bracket that opens at `start` closes, in text without comments.

    >>> closing_bracket("a[i[0]] + 1", 1)
    6
    """
    expected: list[str] = []
    for position in range(start, len(plain)):
        character = plain[position]
        if character in _CLOSING:
            expected.append(_CLOSING[character])
        elif character in ")]}":
            if not expected or expected.pop() != character:
                return None
            if not expected:
                return position
    return None


def end_of_statement(plain: str, start: int) -> int | None:
    """The position just after the semicolon that ends the statement, in text without comments.

    >>> end_of_statement("f(a; b); c;", 0)
    8
    """
    position = start
    while position < len(plain):
        if plain[position] in _CLOSING:
            closing = closing_bracket(plain, position)
            if closing is None:
                return None
            position = closing
        elif plain[position] == ";":
            return position + 1
        position += 1
    return None


def subscripts_after(plain: str, name_start: int, name: str, rank: int) -> list[tuple[int, int]] | None:
    """Where the subscripts stand in `name[..][..]`, brackets excluded; None if that is not what stands there.

    >>> subscripts_after("x = A[i] [j+1];", 4, "A", 2)
    [(6, 7), (10, 13)]
    """
    if not re.compile(re.escape(name) + r"\b").match(plain, name_start):
        return None
    position = name_start + len(name)
    found: list[tuple[int, int]] = []
    for _ in range(rank):
        while plain[position : position + 1].isspace():
            position += 1
        closing = closing_bracket(plain, position) if plain[position : position + 1] == "[" else None
        if closing is None:
            return None
        found.append((position + 1, closing))
        position = closing + 1
    return found
