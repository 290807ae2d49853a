"""Where the values of a TOML file stand, which the standard parser does not tell."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from arrayfold.base.errors import InputError
from arrayfold.base.nesting import check_nesting, too_deep
from arrayfold.base.source_text import SourceText

_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_HEADER = re.compile(r"\[+\s*([^\]\n]+?)\s*\]+")
_KEY = re.compile(r"""((?:[A-Za-z0-9_.-]|"[^"\n]*"|'[^'\n]*'|[ \t])+?)[ \t]*=[ \t]*""")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}


def read_toml(file: str, text: str) -> tuple[dict[str, Any], dict[str, SourceText]]:
    """The values of a TOML text, and the located text of each value, by dotted key.

    >>> values, places = read_toml("x.toml", 'a = 1\\nb = "{ A[i] }"')
    >>> str(places["b"].place(2))
    'x.toml:2:8'
    """
    whole = SourceText(text, file, text, range(len(text) + 1))
    check_nesting(whole, "toml")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _located(file, text, str(error)) from None
    except ValueError as error:
        raise whole.error(f"not a TOML file that can be read: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise too_deep(whole, "toml") from None
    return values, _locate_values(file, text)


def _located(file: str, text: str, message: str) -> InputError:
    whole = SourceText(text, file, text, range(len(text) + 1))
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if not found:
        return whole.error(f"not a TOML file: {message}")
    position = len(text)
    if found[1]:
        line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        position = line_starts[int(found[1]) - 1] + int(found[2]) - 1
    return whole.error(f"not a TOML file: {message[: found.start()]}", position)


def _locate_values(file: str, text: str) -> dict[str, SourceText]:
    places: dict[str, SourceText] = {}
    prefix = ""
    position = 0
    while (position := _BLANK.match(text, position).end()) < len(text):  # pyright: ignore[reportOptionalMemberAccess]
        header = _HEADER.match(text, position)
        if header:
            prefix = header[1] + "."
            position = header.end()
            continue
        key = _KEY.match(text, position)
        if not key:
            break
        name = prefix + key[1].strip().strip("\"'")
        end, places[name] = _value_at(file, text, key.end())
        position = end
    return places


def _value_at(file: str, text: str, start: int) -> tuple[int, SourceText]:
    for quote in ('"""', "'''", '"', "'"):
        if text.startswith(quote, start):
            return _string_at(file, text, start, quote)
    end, depth = start, 0
    while end < len(text) and (depth > 0 or text[end] not in "\n#"):
        if text[end] in "\"'":
            end, _ = _value_at(file, text, end)
            continue
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[end], 0)
        end += 1
    return end, SourceText(text[start:end], file, text, range(start, end + 1))


def _string_at(file: str, text: str, start: int, quote: str) -> tuple[int, SourceText]:
    position = start + len(quote)
    if len(quote) == 3 and text.startswith("\n", position):
        position += 1
    characters: list[str] = []
    offsets: list[int] = []
    while position < len(text) and not text.startswith(quote, position):
        offsets.append(position)
        if text[position] == "\\" and quote[0] == '"':
            character, length = _escape_at(text, position)
            if not character:
                offsets.pop()
            characters.append(character)
            position += length
        else:
            characters.append(text[position])
            position += 1
    return position + len(quote), SourceText("".join(characters), file, text, [*offsets, position])


def _escape_at(text: str, position: int) -> tuple[str, int]:
    after = text[position + 1 : position + 2]
    if after in ("u", "U"):
        digits = 4 if after == "u" else 8
        return chr(int(text[position + 2 : position + 2 + digits], 16)), 2 + digits
    folded = re.compile(r"\\[ \t]*\r?\n\s*").match(text, position)
    if folded:
        return "", folded.end() - position
    return _ESCAPES.get(after, after), 2
