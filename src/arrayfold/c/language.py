"""Which files are C++, by their names."""

from __future__ import annotations

from pathlib import PurePath

CPLUSPLUS_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx")
_HEADER_SUFFIXES = (".hpp", ".hh", ".hxx")
C_SUFFIXES = (".c", *CPLUSPLUS_SUFFIXES)


def is_cplusplus(file: str) -> bool:
    """Whether a file is C++.

    >>> is_cplusplus("blur.cc"), is_cplusplus("blur.c")
    (True, False)
    """
    return PurePath(file).suffix in CPLUSPLUS_SUFFIXES


def is_header(file: str) -> bool:
    """Whether other files include a file of C++.

    >>> is_header("blur.hpp"), is_header("blur.cpp")
    (True, False)
    """
    return PurePath(file).suffix in _HEADER_SUFFIXES
