"""Contexts in which a parameter has one residue only, such as N even: what is searched for is N = 2*m.

Smallest lattices are fitted to neighbouring values of m, so that they are those of the sizes that there are,
and formulas of m become formulas of N without floors.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts, in_residue_class
from arrayfold.exact.congruences import Congruence, find_congruence
from arrayfold.exact.formula import Formula
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.methods import Request

_FIRST_SIZE = 4


@dataclass(frozen=True, eq=False)
class Residue:
    """The residue of a parameter, the same at all sizes of some conflicts."""

    conflicts: Conflicts
    congruence: Congruence

    @staticmethod
    def of(conflicts: Conflicts) -> Residue | None:
        """None where each parameter has several."""
        with suppress(ArrayfoldError, isl.Error):
            found = find_congruence(conflicts.context, conflicts.array.dimensions)
            return None if found is None else Residue(conflicts, found)
        return None

    @cached_property
    def divided(self) -> Conflicts:
        """The conflicts with the quotient as the parameter."""
        one = self.congruence
        return in_residue_class(self.conflicts, one.name, one.modulus, one.residue, one.quotient)

    def request(self, request: Request) -> Request:
        """The same sizes as values of the quotient."""
        one = self.congruence
        return replace(
            request,
            sizes=one.divided(request.sizes),
            far=one.divided(request.far),
            given=one.divided(request.given),
            first_fitted=-((one.residue - _FIRST_SIZE) // one.modulus),
        )

    def formula(self, formula: Formula) -> Formula:
        """A formula of the parameter as one of the quotient."""
        return self.congruence.of_quotient(formula, self.divided.context)

    def undone(self, mapping: EmittableMapping) -> EmittableMapping:
        """A mapping found for the quotient as one for the parameter."""
        if not isinstance(mapping, ModularMapping):
            return mapping
        return mapping.with_formulas(self.congruence.of_parameter)
