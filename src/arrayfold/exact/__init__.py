"""Exact mathematics: formulas, their signs, lattices, and what isl needs to be told with care."""
