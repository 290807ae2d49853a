"""Front ends: a file -> Program or ConflictProblem."""

from __future__ import annotations

from arrayfold.frontends.files import read, read_all
from arrayfold.frontends.options import apply_options
from arrayfold.frontends.toml.problem import write_problem

__all__ = ["apply_options", "read", "read_all", "write_problem"]
