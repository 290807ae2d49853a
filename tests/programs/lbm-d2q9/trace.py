"""BBC16 Fig. 6, as a list of instances."""

from __future__ import annotations

import itertools

from support.reference import Trace
from support.shapes import lattice_boltzmann


def trace(N: int) -> Trace:
    return lattice_boltzmann(N, list(itertools.product((-1, 0, 1), repeat=2)))
