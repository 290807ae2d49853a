"""Front ends: a file -> Program or ConflictProblem."""

from __future__ import annotations

from arrayfold.frontends.files import read
from arrayfold.frontends.problem_text import write_problem

__all__ = ["read", "write_problem"]
