"""Points of sets to be listed: how many there are, and when they are too many."""

from __future__ import annotations

import islpy as isl

from arrayfold.base.errors import InputError


def count_points(items: isl.Set) -> int | None:
    """How many points a set at fixed sizes has, also if they are pairs; None if they are infinitely many."""
    flat = items.flatten() if items.is_wrapping() else items
    flat = flat.project_out(isl.dim_type.param, 0, flat.dim(isl.dim_type.param))
    return int(str(flat.count_val())) if flat.is_bounded() else None


def check_count(items: isl.Set, most: int, what: str) -> None:
    """Raise if there are more points than can be listed."""
    count = count_points(items)
    if count is None:
        raise InputError(f"there are infinitely many {what}, which no picture shows")
    if count > most:
        raise InputError(
            f"there are {count:,} {what} at these sizes, and pictures show up to {most:,}",
            hint="Give smaller sizes, such as --param N=8.",
        )
