"""What is known of the parameters, without what only their C type says."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import coalesced

_LIMITS = frozenset(limit for bits in (15, 16, 31, 32, 63, 64) for limit in (2**bits, 2**bits - 1))


def without_limits_of_types(context: isl.Set) -> isl.Set:
    """The context with bounds such as `n <= 2147483647` left out.

    They are the range of an `int`, and a proof for every larger value is a proof for these; but with them no
    parameter grows without end, and sizes could not be compared by how they grow.

    >>> without_limits_of_types(isl.Set("[n] -> { : 4 <= n <= 2147483647 }"))
    Set("[n] -> {  : n >= 4 }")
    """
    wider = isl.Set.empty(context.get_space())
    for piece in context.get_basic_sets():
        kept = isl.BasicSet.universe(piece.get_space())
        for constraint in piece.get_constraints():
            if not _is_limit(constraint):
                kept = kept.add_constraint(constraint)
        wider = wider.union(isl.Set.from_basic_set(kept))
    return coalesced(wider)


def _is_limit(constraint: isl.Constraint) -> bool:
    if constraint.is_equality() or constraint.is_div_constraint():
        return False
    count = constraint.dim(isl.dim_type.param)
    entries = [
        constraint.get_coefficient_val(isl.dim_type.param, k).to_python()
        for k in range(count)
        if not constraint.get_coefficient_val(isl.dim_type.param, k).is_zero()
    ]
    bound = constraint.get_constant_val().to_python()
    return len(entries) == 1 and abs(entries[0]) == 1 and bound in _LIMITS
