"""The sizes at which two programs are compared: the smallest of the context and a few more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from arrayfold.exact.isl import parameter_names
from arrayfold.exact.parameter_values import comfortable_parameters, smallest_parameters


def sizes_to_compare(context: isl.Set, params: Mapping[str, int], comfortable: int) -> list[dict[str, int]]:
    """What the user asks for and comfortable sizes first, then the smallest ones, unequal ones among them.

    >>> sizes_to_compare(isl.Set("[N, M] -> { : N >= 3 and M >= 1 }"), {"N": 64}, 12)
    [{'N': 64, 'M': 12}, {'N': 3, 'M': 1}, {'N': 4, 'M': 3}, {'N': 7, 'M': 3}, {'N': 12, 'M': 12}]
    """
    names = parameter_names(context)
    least = at_least(context, [0] * len(names))
    rising = at_least(context, [least[name] + 1 + k for k, name in enumerate(names)])
    falling = at_least(context, [least[name] + 2 * (len(names) - k) for k, name in enumerate(names)])
    found = [
        comfortable_parameters(context, params, comfortable),
        least,
        rising,
        falling,
        comfortable_parameters(context, {}, comfortable),
    ]
    return [sizes for k, sizes in enumerate(found) if sizes not in found[:k]]


def at_least(context: isl.Set, bounds: Sequence[int]) -> dict[str, int]:
    """The smallest sizes of the context that reach these bounds, one after the other as far as it allows."""
    names = parameter_names(context)
    where = context
    for name, bound in zip(names, bounds, strict=True):
        larger = where.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {bound} }}"))
        where = where if larger.is_empty() else larger
    found = smallest_parameters(where)
    return {name: found[name] for name in names}
