"""The algorithms of the papers as they are printed, by name; they go no further than the papers do."""

from __future__ import annotations

from collections.abc import Mapping

from arrayfold.methods.method import Method
from arrayfold.methods.published import (
    algorithm1,
    heuristic1,
    heuristic3,
    lefebvre_feautrier,
    schedule_space,
)

PUBLISHED: Mapping[str, Method] = {
    method.name: method
    for method in (
        lefebvre_feautrier.METHOD,
        heuristic1.METHOD,
        heuristic3.METHOD,
        algorithm1.METHOD,
        schedule_space.METHOD,
    )
}

__all__ = ["PUBLISHED"]
