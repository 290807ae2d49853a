"""Suggestions for names that are misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A suggestion for a misspelt name.

    >>> did_you_mean("blurX", ["blurx", "out"]), did_you_mean("zz", ["blurx"])
    ("Did you mean 'blurx'?", None)
    """
    names = list(known)
    close = [other for other in names if other.casefold() == name.casefold()]
    close = close or difflib.get_close_matches(name, names, 1)
    return f"Did you mean {close[0]!r}?" if close else None
