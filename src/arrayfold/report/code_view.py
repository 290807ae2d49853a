"""Source text as HTML: syntax in colours, numbered lines, and two versions side by side."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from arrayfold.c.lexer import blank, closing_bracket
from arrayfold.report.markup import Markup, element, escaped

_LINES_AROUND = 3
_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_NUMBER = r"(?<![\w.])(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)[uUlLfF]*"
_C_WORDS = (
    "break case continue default do else for goto if return sizeof switch while static const restrict inline "
    "extern volatile register typedef struct union enum using namespace template typename constexpr auto"
)
_C_TYPES = "void char short int long float double signed unsigned bool size_t ptrdiff_t FILE \\w+_t"
_PYTHON_WORDS = (
    "def return for while if elif else in import from as and or not None True False with lambda assert"
)


def _words(text: str) -> str:
    return rf"\b(?:{'|'.join(text.split())})\b"


# Language -> kind of token -> how it is written; the first that matches wins.
_C = {
    "comment": r"//[^\n]*|/\*.*?\*/",
    "directive": r"^[ \t]*#(?:[^\n\\]|\\.)*",
    "string": _STRING,
    "number": _NUMBER,
    "keyword": _words(_C_WORDS),
    "type": _words(_C_TYPES),
}
_PYTHON = {
    "comment": r"#[^\n]*",
    "string": rf'"""(?:.*?)"""|{_STRING}',
    "directive": r"^[ \t]*@[\w.]+",
    "number": _NUMBER,
    "keyword": _words(_PYTHON_WORDS),
}
_TEXT = {
    "comment": r"#[^\n]*",
    "directive": r"^[ \t]*[\w-]+(?=\s*[=:])",
    "keyword": _words("and or not exists mod"),
}
_LANGUAGES = {
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"), _C),
    ".py": _PYTHON,
}

Spans = Sequence[tuple[int, int, str]]


def listing(text: str, file: str, statements: Collection[str]) -> Markup:
    """The lines of an input with their numbers; of problem files also where statements are named."""
    language = _LANGUAGES.get(Path(file).suffix.lower(), _TEXT)
    tokens = _tokens(text, language)
    if language is _TEXT and statements:
        names = "|".join(map(re.escape, sorted(statements, key=len, reverse=True)))
        found = re.finditer(rf"(?<![\w.])(?:{names})(?=\s*\[)", text)
        marks = [(one.start(), one.end(), one.group()) for one in found]
    else:
        marks = []
    lines = [
        element(
            "span", _colored(text, start, end, tokens, marks, "statement"), class_="line", data_line=f"{k}"
        )
        for k, (start, end) in enumerate(_lines(text), start=1)
    ]
    return element("pre", Markup("\n".join(lines)), class_="listing", tabindex="0", aria_label="Source")


def side_by_side(before: str, after: str, file: str, arrays: Collection[str]) -> tuple[Markup, Markup] | None:
    """Two versions of a text: what differs with a few lines around it, changed lines and subscripts marked.

    None where nothing differs.
    """
    old, new = before.splitlines(), after.splitlines()
    changes = [
        one for one in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if one[0] != "equal"
    ]
    if not changes:
        return None
    olds = [number for one in changes for number in range(one[1], one[2])]
    news = [number for one in changes for number in range(one[3], one[4])]
    return (
        _changed(before, file, arrays, olds, changes[0][1], changes[-1][2], "gone"),
        _changed(after, file, arrays, news, changes[0][3], changes[-1][4], "new"),
    )


def _changed(
    text: str, file: str, arrays: Collection[str], changed: Collection[int], start: int, end: int, kind: str
) -> Markup:
    """The lines from one to another with a few around them; changed ones are of this kind."""
    tokens = _tokens(text, _LANGUAGES.get(Path(file).suffix.lower(), _C))
    marks = [(*span, "") for span in _subscripts(text, arrays)]
    spans = _lines(text)
    shown = range(max(start - _LINES_AROUND, 0), min(end + _LINES_AROUND, len(spans)))
    lines = [
        element(
            "span",
            _colored(text, *spans[k], tokens, marks, "subscript"),
            class_=f"line {kind}" if k in changed else "line",
        )
        for k in shown
    ]
    return element("pre", Markup("\n".join(lines)), tabindex="0")


def _lines(text: str) -> list[tuple[int, int]]:
    """Where lines begin and end, without their line breaks."""
    found: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        found.append((start, start + len(line.rstrip("\r\n"))))
        start += len(line)
    return found


def _tokens(text: str, language: dict[str, str]) -> Spans:
    pattern = "|".join(f"(?P<{kind}>{one})" for kind, one in language.items())
    found = re.finditer(pattern, text, re.MULTILINE | re.DOTALL)
    return [(one.start(), one.end(), one.lastgroup or "") for one in found if one.end() > one.start()]


def _within(spans: Spans, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The parts of spans in order between two positions, with what is between them, which has no name."""
    position = start
    for first, last, kind in spans[max(bisect_right(spans, (start, start, "")) - 1, 0) :]:
        if first >= end:
            break
        if last <= position:
            continue
        if first > position:
            yield position, first, ""
        yield max(first, position), min(last, end), kind or "mark"
        position = min(last, end)
    if position < end:
        yield position, end, ""


def _colored(text: str, start: int, end: int, tokens: Spans, marks: Spans, use: str) -> Markup:
    """A piece of text in colours; subscripts are marked, and names of statements can be found."""
    parts: list[Markup] = []
    for first, last, name in _within(marks, start, end):
        colored = (
            element("span", text[a:b], class_=kind) if kind else escaped(text[a:b])
            for a, b, kind in _within(tokens, first, last)
        )
        inside = Markup("".join(colored))
        if not name:
            parts.append(inside)
        elif use == "statement":
            parts.append(element("span", inside, data_statement=name))
        else:
            parts.append(element("mark", inside))
    return Markup("".join(parts))


def _subscripts(text: str, arrays: Collection[str]) -> list[tuple[int, int]]:
    """Where the subscripts stand that follow the names of these arrays; comments and strings have none.

    >>> text = "x = A[i % 2][j] < B[i];"
    >>> [text[start:end] for start, end in _subscripts(text, ["A"])]
    ['[i % 2][j]']
    """
    plain = blank(text)
    names = "|".join(map(re.escape, sorted(arrays, key=len, reverse=True)))
    found: list[tuple[int, int]] = []
    for name in re.finditer(rf"(?<![\w.])(?:{names})(?!\w)", plain) if names else ():
        end = _end_of_subscripts(plain, name.end())
        if end > name.end() and (not found or name.start() >= found[-1][1]):
            found.append((name.end(), end))
    return found


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
