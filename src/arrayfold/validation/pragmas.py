"""Pragmas of a text on parallel code: libclang does not show them, so they are read from the lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from arrayfold.validation.faults import Spot, Unsupported

_LINE = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+(omp\b|GCC[ \t]+(?=ivdep\b))((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_WORD = re.compile(r"[\s,]*(\w+)\s*")
_DIRECTIVES = """
    parallel for simd sections section single master masked task taskloop taskgroup taskwait taskyield barrier
    critical atomic flush ordered ivdep
"""
_WORDS = frozenset(_DIRECTIVES.split())
INDEPENDENT = ("simd", "ivdep")
ALONE = frozenset(["barrier", "taskwait", "taskyield", "flush"])


@dataclass(frozen=True)
class Directive:
    """An OpenMP directive: its words, and its clauses with the texts in their parentheses."""

    name: str
    clauses: Mapping[str, tuple[str, ...]]
    start: int
    end: int
    spot: Spot

    def names(self, *clauses: str) -> list[str]:
        """The variables that clauses list."""
        texts = (text.rpartition(":")[2] for clause in clauses for text in self.clauses.get(clause, ()))
        return [name for text in texts for name in re.findall(r"[A-Za-z_]\w*", text)]


def read_directives(file: str, data: bytes) -> list[Directive]:
    """The directives of a text, in its order; places count in bytes."""
    text = data.decode("latin-1")
    plain = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    return [_directive(file, plain, match) for match in _LINE.finditer(plain)]


def _directive(file: str, plain: str, match: re.Match[str]) -> Directive:
    spot = Spot(file, plain.count("\n", 0, match.start()) + 1)
    rest = re.sub(r"\\\r?\n", " ", match.group(2)).strip()
    words: list[str] = []
    clauses: dict[str, tuple[str, ...]] = {}
    position = 0
    while position < len(rest):
        match_word = _WORD.match(rest, position)
        if match_word is None:
            raise Unsupported("this pragma cannot be read", spot)
        word, position = match_word.group(1), match_word.end()
        text = _in_parentheses(rest, position)
        position += 0 if text is None else len(text) + 2
        is_clause = word == "ordered" and bool(words)
        if (
            word in _WORDS
            and not is_clause
            and not clauses
            and (text is None or word in ("critical", "flush"))
        ):
            words.append(word)
            if word == "critical" and text:
                clauses[word] = (text.strip(),)
        else:
            clauses[word] = (*clauses.get(word, ()), text or "")
    return Directive(" ".join(words), clauses, match.start(), match.end(), spot)


def _in_parentheses(text: str, start: int) -> str | None:
    """What is in the parentheses that open at a place, if some do."""
    if text[start : start + 1] != "(":
        return None
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start + 1 : at]
    return text[start + 1 :]
