"""Occupancy vectors and the schedules they go with (TVA07; DIY16 §4)."""

from __future__ import annotations

from arrayfold.methods.occupancy_vectors.solve import (
    OccupancyResult,
    OccupiedArray,
    affine_store,
    find_occupancy,
)
from arrayfold.methods.occupancy_vectors.vectors import shortest_occupancy_vector

__all__ = ["OccupancyResult", "OccupiedArray", "affine_store", "find_occupancy", "shortest_occupancy_vector"]
