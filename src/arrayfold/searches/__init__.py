"""Searches of `auto` itself, beside the published methods. Adding one is one file and one line here."""

from __future__ import annotations

from arrayfold.searches.small_rows import search_small_rows

SEARCHES = (search_small_rows,)

__all__ = ["SEARCHES"]
