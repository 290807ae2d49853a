"""Text -> isl, all of it, with errors that know their place."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import TypeVar

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.base.nesting import check_nesting
from arrayfold.base.source_text import SourceText

Readable = TypeVar("Readable", isl.Set, isl.UnionSet, isl.UnionMap)

_WHAT_IS_READ = {
    isl.Set: "a set",
    isl.UnionSet: "a set such as [N] -> { A[i] : 0 <= i < N }",
    isl.UnionMap: "a relation such as [N] -> { S[i] -> A[i + 1] }",
}


def read_isl(kind: type[Readable], text: SourceText) -> Readable:
    """The isl object that the text denotes, all of it.

    isl itself stops at the closing brace and drops what follows; here that is an error.

    >>> read_isl(isl.UnionSet, SourceText.of("{ A[i] : 0 <= i < 3 }", "example"))
    UnionSet("{ A[i] : 0 <= i <= 2 }")
    """
    _refuse_text_after_the_end(text)
    check_nesting(text, "isl")
    try:
        return kind(text.value)
    except isl.Error:
        raise _located_syntax_error(kind, text) from None


def _refuse_text_after_the_end(text: SourceText) -> None:
    start = text.value.find("{")
    if start < 0:
        raise text.error("expected isl notation in braces, such as [N] -> { A[i] : 0 <= i < N }")
    depth = 0
    for position in range(start, len(text.value)):
        depth += {"{": 1, "}": -1}.get(text.value[position], 0)
        if depth == 0:
            rest = text.value[position + 1 :]
            if rest.strip():
                garbage = position + 1 + len(rest) - len(rest.lstrip())
                raise text.error(f"unexpected text after the closing brace: {rest.strip()!r}", garbage)
            return
    raise text.error("the opening brace is never closed", start)


def _located_syntax_error(kind: type[Readable], text: SourceText) -> InputError:
    messages = _what_isl_prints(lambda: kind(text.value))
    found = re.search(r"syntax error \((\d+), (\d+)\): (.*)\n(?:got (.*))?", messages)
    if not found:
        return text.error(f"expected {_WHAT_IS_READ[kind]}", text.find("{"))
    line, column, message, token = found.groups()
    line_starts = [0, *(m.end() for m in re.finditer("\n", text.value))]
    position = line_starts[min(int(line), len(line_starts)) - 1] + int(column) - 1
    token = (token or "").removeprefix("ident ")
    if message == "unknown identifier":
        return text.error(
            f"unknown name {token}", position, "Parameters are declared in front: [N] -> { ... }"
        )
    if message == "expecting constant value":
        return NotAffine("a product of two variables is not affine", text.place(position))
    message = message.replace("isl_token", "token")
    return text.error(f"syntax error: {message}" + (f", found {token}" if token else ""), position)


def _what_isl_prints(action: Callable[[], object]) -> str:
    """What isl writes to file descriptor 2 while the action fails; positions are only found there."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_on_error()
    with tempfile.TemporaryFile() as capture:
        saved = os.dup(2)
        os.dup2(capture.fileno(), 2)
        context.set_on_error(isl.on_error.WARN)
        try:
            action()
        except isl.Error:
            pass
        finally:
            context.set_on_error(before)
            os.dup2(saved, 2)
            os.close(saved)
        capture.seek(0)
        return capture.read().decode(errors="replace")
