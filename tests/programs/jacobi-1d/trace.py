"""DIY16 Fig. 1a, as a list of instances."""

from __future__ import annotations

from support.shapes import jacobi

trace = jacobi
