"""Conflicts: which cells of an array must not share an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.base.late import ReadLate
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import coalesced, coalesced_if_few, coalesced_in_groups, fix_parameters, nonzero
from arrayfold.exact.relations import relation
from arrayfold.exact.signs import box_size, never_negative
from arrayfold.program.model import Array, Program

# More pieces of differences are joined in groups first, which takes seconds otherwise.
_MOST_DELTAS = 2000


@dataclass(frozen=True, eq=False)
class Conflicts(ReadLate):
    """The conflicts of one array under a context.

    some_pairs   { A[x] -> A[y] }  every conflict at least one way round, x = y may occur;
                                   None where only differences are known
    differences  { A[d] }          d = y - x of conflicting cells; symmetric, without zero
    cells        { A[x] }          the cells that need an address
    moments      { [t] -> A[x] }   sets of cells that all conflict with each other; None if unknown

    moments_suffice  no larger set of cells that all conflict needs to be looked for: the order is total, so
                     that cells conflict where they meet at a moment, or all cells conflict
    program          where they come from, for methods that look at the dependences; None if only conflicts
                     are known
    is_assumed       which cells there are is not known, and a box in which the differences occur is assumed
    everywhere       { : }  the context of the problem; the array has cells in a part of it, `context`
    advice           what else may need fewer cells, for arrays that do not become as small as can be
    """

    late_fields = ("some_pairs", "moments")

    array: Array
    context: isl.Set
    cells: isl.Set
    some_pairs: isl.Map | None
    differences: isl.Set
    moments: isl.Map | None
    notes: tuple[str, ...] = ()
    moments_suffice: bool = False
    program: Program | None = None
    everywhere: isl.Set | None = None
    is_assumed: bool = False
    advice: str = ""

    @property
    def whole_context(self) -> isl.Set:
        """{ : }: the context of the problem, also where the array has no cells."""
        return self.context if self.everywhere is None else self.everywhere

    @property
    def name(self) -> str:
        """The array's name."""
        return self.array.name

    @cached_property
    def pairs(self) -> isl.Map:
        """{ A[x] -> A[y] }: the conflicting pairs, symmetric, x != y.

        Made on demand, because methods and proofs need only the differences, which are far simpler.
        """
        if self.some_pairs is not None:
            both = self.some_pairs.union(self.some_pairs.reverse())
            return coalesced(both.subtract(isl.Map.identity(both.get_space())))
        everything = isl.Map.from_domain_and_range(self.cells, self.cells)
        apart = isl.Map.universe(everything.get_space()).deltas_map().intersect_range(self.differences)
        return coalesced(everything.intersect(apart.domain().unwrap()))

    @property
    def pairs_one_way(self) -> isl.Map:
        """{ A[x] -> A[y] }: every conflict at least one way round, x = y may occur; takes least to make."""
        return self.pairs if self.some_pairs is None else self.some_pairs

    def pairs_apart(self, difference: Sequence[int]) -> isl.Map:
        """{ A[x] -> A[x + difference] }: conflicting pairs with this difference, at least one way round."""
        names = self.array.dimensions
        ends = [f"{name} + {step}" for name, step in zip(names, difference, strict=True)]
        shift = relation(names, ends, names=(self.name, self.name))
        if self.some_pairs is not None:
            return self.some_pairs.union(self.some_pairs.reverse()).intersect(shift)
        return shift.intersect_domain(self.cells).intersect_range(self.cells)

    @cached_property
    def residue_classes(self) -> dict[tuple[str, int, int, str], Conflicts]:
        """The residue classes that have been made, see `in_residue_class`."""
        return {}

    @cached_property
    def box(self) -> list[tuple[Formula, Formula]]:
        """Lower end and length of the box the array spans where it has cells, dimension by dimension."""
        return extents(self.array.cells.intersect_params(self.context), self.context)

    @cached_property
    def original_size(self) -> Formula:
        """Cells in the box that the array spans, for every parameter value of the problem."""
        return box_size(self.array.cells, self.whole_context)

    def original_size_at(self, params: Mapping[str, int]) -> int:
        """Cells in that box at these parameter values."""
        return self.original_size.at(params) if _is_in(self.array.cells.params(), params) else 0

    def size_of(self, moduli: Sequence[Formula]) -> Formula:
        """How many addresses moduli give, a formula that is never negative, also where there are no cells."""
        if self.context.is_empty():
            return Formula.constant(0)
        return Formula.product(never_negative(modulus, self.whole_context) for modulus in moduli)

    def size_at(self, size: Formula, params: Mapping[str, int]) -> int:
        """A size of the array at these parameter values.

        Where it has no cells nothing is needed, and no more kept than there was before.
        """
        here = size.at(params)
        return here if _is_in(self.context, params) else min(here, self.original_size_at(params))

    def at(self, params: Mapping[str, int]) -> Conflicts:
        """The conflicts for these parameter values only."""
        return self.within(fix_parameters(params))

    def within(self, here: isl.Set) -> Conflicts:
        """The conflicts for the parameter values of a set { : } only."""
        return replace(
            self,
            context=self.context.intersect(here),
            everywhere=self.whole_context.intersect(here),
            cells=self.cells.intersect_params(here),
            some_pairs=None if self.some_pairs is None else self.some_pairs.intersect_params(here),
            differences=self.differences.intersect_params(here),
            moments=None if self.moments is None else self.moments.intersect_params(here),
        )

    def with_differences_within(self, here: isl.Set) -> Conflicts:
        """The differences for the parameter values of a set { : } only; pairs and moments stay as they are.

        There are far fewer differences than pairs, and whoever asks for pairs says at which values.
        """
        return self.with_values(
            context=self.context.intersect(here),
            everywhere=self.whole_context.intersect(here),
            differences=self.differences.intersect_params(here),
        )


def in_residue_class(conflicts: Conflicts, name: str, modulus: int, residue: int, new_name: str) -> Conflicts:
    """The conflicts for the values modulus * new_name + residue of one parameter, in the new parameter.

    Moments are left out: nothing that is asked of a residue class needs them. Every class is made once.
    """
    key = name, modulus, residue, new_name
    known = conflicts.residue_classes
    if key not in known:
        known[key] = _residue_class(conflicts, name, modulus, residue, new_name)
    return known[key]


def _residue_class(conflicts: Conflicts, name: str, modulus: int, residue: int, new_name: str) -> Conflicts:
    line = isl.Set(f"[{name}, {new_name}] -> {{ : {name} = {modulus} * {new_name} + {residue} }}")

    def renamed(cells: isl.Set) -> isl.Set:
        here = cells.intersect_params(line)
        return here.project_out(isl.dim_type.param, here.find_dim_by_name(isl.dim_type.param, name), 1)

    array = Array(conflicts.array.name, conflicts.array.dimensions, renamed(conflicts.array.cells))
    return Conflicts(
        array,
        coalesced(renamed(conflicts.context)),
        renamed(conflicts.cells),
        None,
        coalesced(renamed(conflicts.differences)),
        None,
        conflicts.notes,
    )


def conflicts_from_pairs(
    array: Array,
    context: isl.Set,
    cells: isl.Set,
    some_pairs: isl.Map,
    moments: isl.Map | None,
    notes: tuple[str, ...] = (),
) -> Conflicts:
    """Conflicts out of any relation that holds every conflicting pair at least one way round.

    some_pairs  { A[x] -> A[y] }  may contain x = y, need not be symmetric
    """
    everywhere, context = context, _where_needed(context, cells)
    found = coalesced_if_few(some_pairs.intersect_params(context))
    deltas = coalesced_in_groups(found.deltas().set_tuple_name(array.name), _MOST_DELTAS)
    deltas = coalesced_in_groups(deltas.intersect(nonzero(deltas.get_space())), _MOST_DELTAS)
    return Conflicts(
        array=array,
        context=context,
        cells=cells,
        some_pairs=found,
        differences=coalesced_in_groups(deltas.union(deltas.neg()), _MOST_DELTAS),
        moments=moments,
        notes=notes,
        everywhere=everywhere,
    )


def conflicts_from_differences(array: Array, context: isl.Set, differences: isl.Set) -> Conflicts:
    """Conflicts of all cells that are such a difference apart.

    differences  { A[d] }  symmetric, without zero
    """
    everywhere, context = context, _where_needed(context, array.cells)
    apart = isl.Map.from_domain_and_range(array.cells, array.cells)
    possible = apart.deltas().set_tuple_name(array.name)
    kept = coalesced(differences.intersect(possible).intersect_params(context))
    return Conflicts(array, context, array.cells, None, kept, None, everywhere=everywhere)


def _is_in(where: isl.Set, params: Mapping[str, int]) -> bool:
    return not where.is_disjoint(fix_parameters(params))


def _where_needed(context: isl.Set, cells: isl.Set) -> isl.Set:
    """The parameter values for which the array has a cell at all."""
    return coalesced(context.intersect(cells.params()))
