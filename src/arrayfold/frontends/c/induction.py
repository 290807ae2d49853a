"""Variables that each turn of a loop changes by a constant: affine functions of its iterator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.tree import Variable
from arrayfold.exact.isl import coalesced, integer, is_bounded
from arrayfold.frontends.c import integers
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.changes import Changes


@dataclass(frozen=True, eq=False)
class Induction:
    """Variables that are counted along in a loop.

    before   { [outer] -> [v] }  their values before the loop
    amounts  by how much each turn changes them
    """

    before: Mapping[Variable, isl.PwAff]
    amounts: Mapping[Variable, int]

    @classmethod
    def of(cls, changes: Changes, values: Mapping[Variable, isl.PwAff]) -> Induction:
        """The variables that are known before a loop and change by a constant in each turn."""
        amounts = {
            one: int(change.by.as_number())
            for one, change in changes.items()
            if change is not None and change.by.is_constant and one in values and is_counted(one)
        }
        return cls({one: values[one] for one in amounts}, amounts)

    def inside(self, distance: isl.PwAff, step: int, scope: Scope) -> Mapping[Variable, isl.PwAff]:
        """{ [outer, i] -> [v] } at the start of each turn, for types that do not wrap around.

        distance  { [outer, i] -> [d] }  how far the iterator is from its start, in the direction of the step
        """
        turns = turns_at(distance, step)
        return {
            one: _plus(scope.lifted(value), turns, self.amounts[one])
            for one, value in self.before.items()
            if one.type.kind == "signed" or one.is_pointer
        }

    def all_inside(
        self, distance: isl.PwAff, step: int, scope: Scope, domain: isl.Set, affine: AffineReader
    ) -> Mapping[Variable, isl.PwAff]:
        """The same, with variables of other types that do not wrap around in the turns of a domain."""
        known = dict(self.inside(distance, step, scope))
        turns = turns_at(distance, step)
        possible = affine.within_types(scope).intersect(domain)
        for one, value in self.before.items():
            if one in known:
                continue
            counted = _plus(scope.lifted(value), turns, self.amounts[one])
            later = counted.add_constant_val(integer(self.amounts[one]))
            parts = (*integers.leaving(counted, one.type), *integers.leaving(later, one.type))
            if all(part.intersect(possible).is_empty() for part in parts):
                known[one] = counted
        return known

    def behind(
        self, domain: isl.Set, inside: Mapping[Variable, isl.PwAff], sign: int
    ) -> Mapping[Variable, isl.PwAff]:
        """{ [outer] -> [v] } behind a loop that ends with its last turn.

        domain  { [outer, i] }
        inside  { [outer, i] -> [v] }
        """
        if not inside or not is_bounded(domain):
            return {}
        last = domain.dim(isl.dim_type.set) - 1
        turns = domain.project_onto_map(isl.dim_type.set, 0, last).reverse()
        ending = turns.lexmax_pw_multi_aff() if sign > 0 else turns.lexmin_pw_multi_aff()
        found: dict[Variable, isl.PwAff] = {}
        for one, value in inside.items():
            after = value.pullback_pw_multi_aff(ending).add_constant_val(integer(self.amounts[one]))
            unchanged = self.before[one].subtract_domain(turns.domain())
            found[one] = coalesced(after.union_add(unchanged))
        return found


def is_counted(variable: Variable) -> bool:
    """Whether a step of a variable is one of whole numbers; a pointer's are those of its index."""
    return variable.is_pointer or (not variable.type.is_boolean and variable.type.bits >= 32)


def turns_at(distance: isl.PwAff, step: int) -> isl.PwAff:
    """The number of a turn, the first of which is 0."""
    if abs(step) == 1:
        return distance
    return distance.scale_down_val(integer(abs(step))).floor()


def _plus(value: isl.PwAff, turns: isl.PwAff, amount: int) -> isl.PwAff:
    return value.add(turns.scale_val(integer(amount)))
