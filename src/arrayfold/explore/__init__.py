"""Storage against parallelism over many orders of one program."""

from __future__ import annotations

from arrayfold.explore.exploration import Exploration, Source, explore
from arrayfold.explore.point import Point

__all__ = ["Exploration", "Point", "Source", "explore"]
