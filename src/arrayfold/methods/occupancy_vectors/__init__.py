"""Occupancy vectors and the schedules they go with (TVA07; DIY16 §4)."""

from __future__ import annotations

from arrayfold.methods.occupancy_vectors.solve import OccupancyResult, OccupiedArray, find_occupancy
from arrayfold.methods.occupancy_vectors.vectors import (
    mapping_along,
    occupancy_vectors,
    shortest_occupancy_vector,
)

__all__ = [
    "OccupancyResult",
    "OccupiedArray",
    "find_occupancy",
    "mapping_along",
    "occupancy_vectors",
    "shortest_occupancy_vector",
]
