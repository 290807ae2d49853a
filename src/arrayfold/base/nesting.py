"""How deeply a text is nested, told before a parser sees it: parsers recurse, and some end the process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText

LanguageName: TypeAlias = Literal["c", "python", "isl", "toml"]

_MOST_BRACKETS = 240
_MOST_PREFIXES = 1000
_MOST_OPERATORS = 5000
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class _Language:
    """What is skipped, which words begin something nested, what ends a statement.

    chained  marks after a value that begin something nested: assignments, choices, members
    """

    skipped: str
    words: frozenset[str]
    ends: str
    chained: str


_STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_LANGUAGES: dict[LanguageName, _Language] = {
    "c": _Language(
        rf"^[ \t]*#(?:\\\r?\n|[^\n])*|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|{_STRINGS}",
        frozenset({"for", "if", "while", "do", "switch", "sizeof", "case"}),
        ";{}",
        "=?.:",
    ),
    "python": _Language(
        rf"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|{_STRINGS}|#[^\n]*|\\\r?\n",
        frozenset({"not", "lambda", "if", "for", "await"}),
        "\n;",
        "=.",
    ),
    "isl": _Language(r"#[^\n]*", frozenset({"exists", "not"}), ";{}", ""),
    "toml": _Language(
        r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#[^\n]*",
        frozenset(),
        "\n,",
        ".",
    ),
}


@dataclass(frozen=True)
class Nesting:
    """The deepest place of a text.

    is_too_deep  whether a parser may not survive it
    """

    depth: int
    offset: int
    what: str
    is_too_deep: bool


def deepest(text: str, language: LanguageName) -> Nesting:
    """The deepest place of a text; the first one that is too deep if there is such.

    >>> deepest("a = ((1));", "c")
    Nesting(depth=3, offset=5, what='brackets', is_too_deep=False)
    """
    known = _LANGUAGES[language]
    tokens = re.compile(
        rf"(?P<skip>{known.skipped})|(?P<word>[A-Za-z_]\w*|\.?\d[\w.]*)|(?P<mark>[^\s\w]|\n)",
        re.DOTALL | re.MULTILINE,
    )
    levels = [_Level()]
    best = Nesting(0, 0, "brackets", is_too_deep=False)
    before = ""
    for token in tokens.finditer(text):
        if token.lastgroup == "skip":
            continue
        found = token.group()
        if found in _OPENING:
            levels[-1].prefixes += before in (")", "]")
            is_value = before in ("=", ",", "(") or (before == "{" and levels[-1].is_list)
            levels.append(_Level(found, is_list=language != "c" or (found == "{" and is_value)))
        elif found in _CLOSING:
            levels = levels[:-1] or [_Level()]
            if found == "}":
                levels[-1].end()
        else:
            levels[-1].take(found, before, known, is_word=token.lastgroup == "word")
        before = before if found == "\n" else found
        best = _deeper(best, levels, token.start())
        if best.is_too_deep:
            break
    return best


class _Level:
    """What stands between two brackets: operators since the last end of a statement.

    In a list a comma separates; elsewhere in C it is an operator.
    """

    def __init__(self, bracket: str = "", *, is_list: bool = False) -> None:
        self.bracket = bracket
        self.is_list = is_list
        self.prefixes = 0
        self.operators = 0
        self.others = 0
        self.is_ended = False

    def end(self) -> None:
        """A statement ends, but a chain of `else` may go on."""
        self.prefixes = self.operators = 0
        self.is_ended = True

    def take(self, token: str, before: str, language: _Language, *, is_word: bool) -> None:
        """Count a token."""
        if token in language.ends and self.bracket in ("", "{"):
            self.end()
        elif token == "," and self.is_list:
            self.operators = self.prefixes = 0
        elif token != "\n":
            self.others += token == "else"
            if self.is_ended and token != "else":
                self.others = 0
            self.is_ended = False
            is_after_value = before in (")", "]") or before[:1].isalnum() or before[:1] == "_"
            if is_word:
                self.prefixes += token in language.words
            elif token in language.chained or not is_after_value:
                is_comparison = token == "=" and before in ("<", ">", "=", "!")
                self.prefixes += token in "=?!~+-*&." and not is_comparison
            else:
                self.operators += 1


def _deeper(best: Nesting, levels: list[_Level], offset: int) -> Nesting:
    brackets = len(levels) - 1
    prefixes = sum(level.prefixes + level.others for level in levels)
    operators = sum(level.operators for level in levels) + prefixes
    for count, most, what in (
        (brackets, _MOST_BRACKETS, "brackets"),
        (prefixes, _MOST_PREFIXES, "statements or operators"),
        (operators, _MOST_OPERATORS, "operators"),
    ):
        if count > most:
            return Nesting(count, offset, what, is_too_deep=True)
    depth = brackets + operators
    return best if depth <= best.depth else Nesting(depth, offset, best.what, is_too_deep=False)


def check_nesting(text: SourceText, language: LanguageName) -> None:
    """Raise where a text is nested too deeply for its parser."""
    found = deepest(text.value, language)
    if found.is_too_deep:
        raise text.error(f"more than {found.depth - 1} {found.what} are nested here", found.offset)


def too_deep(text: SourceText, language: LanguageName) -> InputError:
    """The message for a text that made a parser recurse too far."""
    return text.error("this is nested too deeply to be read", deepest(text.value, language).offset)
