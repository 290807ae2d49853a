"""What a method is: conflicts in, candidate mappings out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.base.budget import Budget
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.mapping.modular import EmittableMapping


@dataclass(frozen=True)
class Request:
    """What is asked of a method besides the conflicts.

    sizes         parameter values at which sizes are compared
    far           large parameter values, which decide where sizes are equal
    given         the parameter values that the user named, among them
    power_of_two  round constant moduli up to powers of two
    all_orders    try every order of the array axes, not only the given one
    first_fitted  the least value of the parameter to which lattices are fitted; None to leave out the very
                  first ones, which need not belong to the pattern
    """

    sizes: Mapping[str, int]
    far: Mapping[str, int]
    budget: Budget
    given: Mapping[str, int]
    power_of_two: bool = False
    all_orders: bool = True
    first_fitted: int | None = None

    @staticmethod
    def of(
        conflicts: Conflicts,
        params: Mapping[str, int],
        budget: Budget | None = None,
        *,
        power_of_two: bool = False,
        all_orders: bool = True,
    ) -> Request:
        """A request that compares at the given parameter values, and far out for parameters not given."""
        far = large_parameters(conflicts.context)
        sizes = {name: params.get(name, value) for name, value in far.items()}
        if conflicts.context.is_disjoint(fix_parameters(sizes)):
            # There are no cells at these, and nothing to compare.
            sizes = far
        return Request(sizes, far, budget or Budget(None), dict(params), power_of_two, all_orders)

    def rank(self, size: Formula) -> tuple[object, ...]:
        """Smaller sizes come first; the text breaks ties, so that answers never vary."""
        return (size.evaluate(self.sizes), size.evaluate(self.far), str(size))


@dataclass(frozen=True)
class Method:
    """A named way to find mappings.

    is_general  its mappings hold for all of the context, so that `auto` can choose among them
    """

    name: str
    summary: str
    citation: str
    find: Callable[[Conflicts, Request], Sequence[EmittableMapping]]
    is_general: bool = True
