"""The methods that find mappings, by name. Adding one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping

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

__all__ = ["METHODS", "Method", "Request"]
