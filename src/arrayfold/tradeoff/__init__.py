"""Storage against parallelism over many orders of one program."""

from __future__ import annotations

from arrayfold.tradeoff.exploration import Exploration, Source, explore
from arrayfold.tradeoff.point import Point

__all__ = ["Exploration", "Point", "Source", "explore"]
