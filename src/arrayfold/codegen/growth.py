"""The sizes at which arrays that replace others together take more memory than those had, in words."""

from __future__ import annotations

import islpy as isl

from arrayfold.codegen.alternative import can_stand_twice
from arrayfold.codegen.groups import Group
from arrayfold.exact.formula import Formula
from arrayfold.exact.parameter_values import first_parameter_points
from arrayfold.exact.parameter_words import in_words
from arrayfold.exact.signs import below, is_at_most
from arrayfold.program.model import Program
from arrayfold.sharing.footprint import farthest

_FIRST = 64


def growth_words(program: Program, group: Group) -> str:
    """At which sizes the code takes more memory for a group than before; nothing if it never does.

    Where the loops as written can stand beside the new ones, they run at such sizes.
    """
    before = group.before
    may_choose = group.pays and program.source is not None and can_stand_twice(program.source)
    if before is None or group.is_within or may_choose:
        return ""
    where = _where(group.now, before, program.running_sizes())
    return f"larger than before{where}: {group.now} cells instead of {before}" if where else ""


def _where(now: Formula, before: Formula, sizes: isl.Set) -> str:
    """The sizes { : } at which there are more cells, as far as they are found."""
    if (before - now).is_affine:
        larger = sizes.intersect(below(before - now, 0))
        words = in_words(larger, sizes)
        return "" if larger.is_empty() else f" for {words}" if words else " at all sizes"

    def is_larger(point: dict[str, int]) -> bool:
        return now.evaluate(point) > before.evaluate(point)

    larger = [point for point in first_parameter_points(sizes, _FIRST) if is_larger(point)]
    far = farthest(now, sizes)
    if not is_larger(far):
        return f" at some sizes, such as {_values(larger[-1])}" if larger else ""
    if len(far) == 1 and larger:
        ((name, least),) = larger[0].items()
        beyond = sizes.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {least} }}"))
        if is_at_most(before + 1, now, beyond):
            return f" for {name} >= {least}"
    is_far = any(value > _FIRST for value in far.values())
    return " at large sizes" if is_far else f" at some sizes, such as {_values(far)}"


def _values(point: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())
