"""Which files are C++, by their names."""

from __future__ import annotations

from pathlib import PurePath

CPLUSPLUS_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx")
C_SUFFIXES = (".c", *CPLUSPLUS_SUFFIXES)


def is_cplusplus(file: str) -> bool:
    """Whether a file is C++.

    >>> is_cplusplus("blur.cc"), is_cplusplus("blur.c")
    (True, False)
    """
    return PurePath(file).suffix in CPLUSPLUS_SUFFIXES
