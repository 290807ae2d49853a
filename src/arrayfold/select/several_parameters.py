"""Cases in several parameters: lattices that are the smallest ones from some sizes on.

The first sizes need not belong to the pattern. A lattice that is fitted at a point is proved for all
parameters from that point on, and then for smaller values of one parameter after the other, as far as the
judge agrees.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.auto.several_parameters import fit_several_parameters
from arrayfold.select.mapping_case import MappingCase, proved_on


def cases_of_several_parameters(
    conflicts: Conflicts, request: Request, best: Formula, least: Mapping[str, int]
) -> tuple[MappingCase, ...]:
    """A fitted mapping for the parameters from some values on, if one is proved there; or nothing.

    least  the least value of each parameter
    """
    fitted = fit_several_parameters(conflicts, request, best)
    if fitted is None:
        return ()
    for mapping in fitted.mappings:
        case = _proved_from(conflicts, fitted.point, mapping)
        if case is not None:
            return (_extended(conflicts, case, fitted.point, least),)
    return ()


def _extended(
    conflicts: Conflicts, case: MappingCase, point: Mapping[str, int], least: Mapping[str, int]
) -> MappingCase:
    """The case from smaller values of the parameters on."""
    lows = dict(point)
    for name, low in least.items():
        starts = range(low, lows[name])
        tried = ((start, _proved_from(conflicts, {**lows, name: start}, case.mapping)) for start in starts)
        start, case = next(((start, one) for start, one in tried if one is not None), (lows[name], case))
        lows[name] = start
    return case


def _proved_from(
    conflicts: Conflicts, lows: Mapping[str, int], mapping: ModularMapping
) -> MappingCase | None:
    bounds = " and ".join(f"{name} >= {low}" for name, low in lows.items())
    where = isl.Set(f"[{', '.join(lows)}] -> {{ : {bounds} }}")
    return proved_on(conflicts, conflicts.context.intersect(where), mapping)
