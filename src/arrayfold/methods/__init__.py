"""The methods that find mappings, by name. Adding one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from arrayfold.base.errors import InputError
from arrayfold.methods import (
    basis,
    combined,
    exhaustive,
    hyperplane,
    identity,
    lattice,
    linear,
    occupancy,
    projection,
    static,
    successive_modulo,
)
from arrayfold.methods.method import Method, Request
from arrayfold.methods.published import PUBLISHED

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        identity.METHOD,
        successive_modulo.METHOD,
        linear.METHOD,
        basis.METHOD,
        lattice.METHOD,
        combined.METHOD,
        hyperplane.METHOD,
        projection.METHOD,
        exhaustive.METHOD,
        occupancy.METHOD,
        static.METHOD,
    )
}

# What a published algorithm that has a method of ours beside it is called, behind the name of the method.
SUFFIX = "-as-published"


def method_named(name: str) -> Method:
    """The method of that name, one as published among them."""
    known = {**METHODS, **PUBLISHED}
    if name not in known:
        raise InputError(
            f"there is no method {name!r}; the methods are: {', '.join([*METHODS, 'schedule-space', 'auto'])}"
        )
    return known[name]


def citation_of(name: str) -> str:
    """What the method of that name comes from; empty if there is none."""
    known = {**METHODS, **PUBLISHED}
    return known[name].citation if name in known else ""


def as_published(name: str) -> str:
    """The name of the published algorithm behind a method; one that is published goes by its own name.

    >>> as_published("lattice")
    'lattice-as-published'
    """
    if name in PUBLISHED:
        return name
    if name + SUFFIX not in PUBLISHED:
        names = [published.removesuffix(SUFFIX) for published in PUBLISHED]
        raise InputError(
            f"--as-published: no paper prints an algorithm for method {name!r}; "
            f"there is one for {', '.join(names[:-1])} and {names[-1]}"
        )
    return name + SUFFIX


__all__ = [
    "METHODS",
    "PUBLISHED",
    "SUFFIX",
    "Method",
    "Request",
    "as_published",
    "citation_of",
    "method_named",
]
