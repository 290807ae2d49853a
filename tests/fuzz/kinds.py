"""The kinds of random inputs that there are."""

from __future__ import annotations

from typing import Any

from fuzz.kind import Kind


def all_kinds() -> list[Kind[Any]]:
    """Every kind; imported late, because each loads the part of the tool that it is about."""
    from fuzz.c_check import CPrograms
    from fuzz.folds import Folds
    from fuzz.mappings import Mappings
    from fuzz.problems import Problems
    from fuzz.shares import Shares

    return [Problems(), Shares(), Folds(), Mappings(), CPrograms()]
