"""Smaller mappings for parts of the context: residue classes of the parameter, and single sizes.

The smallest lattice may depend on the residue of the parameter, or be another one at the first sizes. For
each class a lattice is fitted and proved as for all sizes (`auto/fitted_lattice.py`), with the parameter
replaced by its class, such as N = 2*m + 1. Single sizes get what enumeration finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.bounds.minimal import is_above_somewhere
from arrayfold.bounds.moments import UNKNOWN, LowerBound
from arrayfold.conflicts.conflicts import Conflicts, in_residue_class
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters, fresh_names
from arrayfold.exact.parameter_values import few_parameter_points, parameter_minima
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.auto.affine_lattices import AffineBasis, Optima, Optimum, Sizes, in_class
from arrayfold.methods.auto.fitted_lattice import first_fitted, fitted_bases, mappings_of_bases
from arrayfold.methods.exhaustive import mapping_of_lattice
from arrayfold.select.choose import Candidate
from arrayfold.select.mapping_case import MappingCase, proved_on
from arrayfold.select.residues import Residue
from arrayfold.select.several_parameters import cases_of_several_parameters
from arrayfold.select.strides import Strides

_PERIODS = (1, 2, 3, 4, 6)
_MOST_CASES = 8
_MOST_RANK = 3
_COMPARED = 6
_SHARE = 0.5
_SUMMED = 24
_LATE = (3, 4)
_LATEST = 5
_FAR = 10**5


def find_cases(
    conflicts: Conflicts, request: Request, best: Formula, bound: LowerBound
) -> tuple[MappingCase, ...]:
    """Proved mappings for parts of the context that are smaller than the best one for all sizes.

    An empty result means that none is smaller, or none proved. With several parameters, what is fitted from
    a point on is tried from there on, and the sizes of the request are looked at.
    """
    if bound.is_as_counted(best) or not 1 <= conflicts.array.rank <= _MOST_RANK:
        return ()
    residue = Residue.of(conflicts)
    if residue is not None:
        cases = find_cases(residue.divided, residue.request(request), residue.formula(best), UNKNOWN)
        return tuple(_with_parameter(case, residue) for case in cases)
    found: tuple[MappingCase, ...] = ()
    least = parameter_minima(conflicts.context)
    array = _DividedConflicts(conflicts, Strides.of(conflicts))
    with suppress(ArrayfoldError), request.budget.limit(f"cases of {conflicts.name}"):
        if least and len(least) == 1:
            ((name, start),) = least.items()
            searched = [
                _Search(
                    one,
                    name,
                    start,
                    best,
                    Optima(one.divided, request.budget.part(_SHARE)),
                    first_fitted(request, start),
                ).cases()
                for one in (array, _DividedConflicts(conflicts, None))[: 1 if array.strides is None else 2]
            ]
            found = min(searched, key=lambda cases: (_total(cases, best, name, start), len(cases)))
            # What the other search found may be valid everywhere.
            others = (case for cases in searched if cases is not found for case in cases)
            everywhere = (proved_on(conflicts, conflicts.context, case.mapping) for case in others)
            found = (*found, *(case for case in everywhere if case is not None))
        elif least:
            found = cases_of_several_parameters(conflicts, request, best, least)
    with suppress(ArrayfoldError), request.budget.limit(f"the sizes asked for {conflicts.name}"):
        found = (*found, *_at_requested_sizes(array, request, best, found))
    return found


def settled(
    conflicts: Conflicts,
    request: Request,
    best: Candidate,
    cases: Sequence[MappingCase],
    stands_for: Callable[[ModularMapping, EmittableMapping], bool] = lambda _smaller, _best: True,
) -> tuple[Candidate, tuple[MappingCase, ...]]:
    """The mapping for all sizes and the cases, those with one mapping put together.

    A mapping that was found for a case and is proved for all sizes takes the place of a larger one that it
    stands for, and only cases that are smaller than that one somewhere remain.
    """
    assert best.mapping is not None
    joined: list[MappingCase] = []
    for case in cases:
        same = next((k for k, other in enumerate(joined) if other.mapping == case.mapping), None)
        together = (
            None if same is None else proved_on(conflicts, joined[same].when.union(case.when), case.mapping)
        )
        if same is None or together is None:
            joined.append(case)
        else:
            joined[same] = together
    size = best.mapping.size
    joined = list(_simplest(joined))
    for case in joined:
        assert best.mapping is not None
        if request.rank(case.size) < request.rank(size) and stands_for(case.mapping, best.mapping):
            proved = proved_on(conflicts, conflicts.context, case.mapping)
            if proved is not None:
                best = replace(best, mapping=proved.mapping, verdict=proved.proof, method="auto")
                size = proved.size
    return best, tuple(case for case in joined if is_above_somewhere(size, case.size, case.when))


def _simplest(cases: Sequence[MappingCase]) -> Iterator[MappingCase]:
    """Of several cases of the same sizes and as many cells the one that is the shortest to write."""
    for k, case in enumerate(cases):
        alike = [one for one in cases if one.size == case.size and one.when.is_equal(case.when)]
        if not any(one in alike for one in cases[:k]):
            yield min(alike, key=lambda one: len(str(one.mapping)))


def _with_parameter(case: MappingCase, residue: Residue) -> MappingCase:
    """A case found for a quotient as one for the parameter."""
    mapping = residue.undone(case.mapping)
    assert isinstance(mapping, ModularMapping)
    return MappingCase(residue.congruence.undone(case.when), mapping, case.proof)


def _total(cases: Sequence[MappingCase], best: Formula, name: str, start: int) -> Fraction:
    """Cells at a few sizes, all together."""
    total = Fraction(0)
    for size in range(start, start + _SUMMED):
        here = fix_parameters({name: size})
        known = (case.size.evaluate({name: size}) for case in cases if not case.when.is_disjoint(here))
        total += min(known, default=best.evaluate({name: size}))
    return total


@dataclass(frozen=True, eq=False)
class _DividedConflicts:
    """The conflicts of an array, and the strides that are divided out while lattices are searched."""

    conflicts: Conflicts
    strides: Strides | None

    @property
    def divided(self) -> Conflicts:
        """The conflicts to search with."""
        return self.conflicts if self.strides is None else self.strides.divided

    def undivided(self, mapping: ModularMapping) -> ModularMapping:
        """What was found with these, as a mapping of cells."""
        return mapping if self.strides is None else self.strides.undivided(mapping)


def _at_requested_sizes(
    array: _DividedConflicts, request: Request, best: Formula, found: Sequence[MappingCase]
) -> list[MappingCase]:
    """The smallest lattice at the sizes that the user named, where no case is as small there."""
    sizes = request.sizes
    if not sizes or any(request.given.get(name) != value for name, value in sizes.items()):
        return []
    here = fix_parameters(sizes)
    known = [case.size for case in found if not case.when.is_disjoint(here)]
    least = min(size.evaluate(sizes) for size in (best, *known))
    # These sizes may have strides that the others do not.
    array = _DividedConflicts(array.conflicts, Strides.of(array.conflicts.at(sizes)))
    optimum = Optima(array.divided, request.budget.part(_SHARE)).at(sizes)
    return [] if optimum is None or optimum.index >= least else _single_size(array, sizes, optimum)


def _single_size(array: _DividedConflicts, sizes: Sizes, optimum: Optimum) -> list[MappingCase]:
    conflicts = array.conflicts
    mapping = array.undivided(mapping_of_lattice(conflicts.name, conflicts.array.dimensions, optimum.example))
    verdict = verify(conflicts.at(sizes), mapping)
    when = conflicts.context.intersect(fix_parameters(sizes))
    return [MappingCase(when, mapping, verdict)] if isinstance(verdict, Proof) else []


@dataclass(frozen=True, eq=False)
class _Search:
    array: _DividedConflicts
    name: str
    start: int
    best: Formula
    optima: Optima
    first: int

    def cases(self) -> tuple[MappingCase, ...]:
        values = few_parameter_points(self.array.conflicts.context, _MOST_CASES)
        if values:
            return tuple(self._single_sizes([value[self.name] for value in values]))
        if not self._may_shrink(range(self.start, self.start + _COMPARED)):
            return ()
        found: tuple[MappingCase, ...] = ()
        for period in _PERIODS:
            classes = [self._class(period, residue) for residue in range(period)]
            cases = tuple(case for part in classes if part is not None for case in part)
            if None not in classes and len(cases) <= _MOST_CASES:
                return cases
            if len(cases) <= _MOST_CASES:
                found = max(found, cases, key=len)
        return found

    def _may_shrink(self, sizes: Sequence[int]) -> bool:
        """Whether a smaller lattice is known at one of the sizes."""
        optima = ((size, self.optima.at({self.name: size})) for size in sizes)
        return any(
            optimum is not None and optimum.index < self.best.evaluate({self.name: size})
            for size, optimum in optima
        )

    def _single_sizes(self, sizes: Sequence[int]) -> Iterator[MappingCase]:
        for size in sizes:
            at = {self.name: size}
            optimum = self.optima.at(at)
            if optimum is not None and optimum.index < self.best.evaluate(at):
                yield from _single_size(self.array, at, optimum)

    def _class(self, period: int, residue: int) -> list[MappingCase] | None:
        """Cases that make the class smallest at the sizes compared, none if it is; None where they fail."""
        (new_name,) = fresh_names("m", 1, [self.name, *self.array.conflicts.array.dimensions])
        here = in_residue_class(self.array.divided, self.name, period, residue, new_name)
        cells = in_residue_class(self.array.conflicts, self.name, period, residue, new_name)
        if here.context.is_empty():
            return []
        least = parameter_minima(here.context)
        if not least:
            return None
        first = least[new_name]
        general = max(first, -((residue - self.first) // period))
        if not self._may_shrink([period * m + residue for m in range(general, general + _COMPARED)]):
            return list(self._single_sizes([period * m + residue for m in range(first, general)]))
        back = Formula.name(self.name) * Fraction(1, period) - Fraction(residue, period)
        for found in mappings_of_bases(here, self._bases(period, residue, general)):
            mapping = self.array.undivided(found)
            if mapping.size.evaluate({new_name: _FAR}) > self.best.evaluate(
                {self.name: period * _FAR + residue}
            ):
                continue
            late = range(general, general + (_LATEST + 1 if period == 1 else 1))
            for start in dict.fromkeys((first, *late)):
                early = ({new_name: m, self.name: period * m + residue} for m in range(start, general))
                if any(mapping.size.evaluate(at) > self.best.evaluate(at) for at in early):
                    continue
                where = isl.Set(f"[{new_name}] -> {{ : {new_name} >= {start} }}")
                proved = proved_on(cells, where, mapping)
                if proved is not None:
                    case = MappingCase(
                        self._when(period, residue, start),
                        mapping.with_formulas(lambda formula: formula.replace_names({new_name: back})),
                        proved.proof,
                    )
                    before = [period * m + residue for m in range(first, start)]
                    return [*self._single_sizes(before), case]
        return None

    def _bases(self, period: int, residue: int, start: int) -> Iterator[AffineBasis]:
        """Lattices fitted to all sizes, which may need rows of their own here, and those of the class."""
        for basis in self._general_bases:
            yield in_class(basis, period, residue)
        if period > 1:
            yield from fitted_bases(self.optima, self.name, range(start, _FAR), period, residue)

    @cached_property
    def _general_bases(self) -> list[AffineBasis]:
        """Lattices for all sizes, where the pattern begins at once or a little later."""
        for late in (0, *_LATE):
            bases = fitted_bases(self.optima, self.name, range(self.first + late, _FAR))
            if bases:
                return bases
        return []

    def _when(self, period: int, residue: int, start: int) -> isl.Set:
        name = self.name
        residues = f"{name} mod {period} = {residue} and " if period > 1 else ""
        values = isl.Set(f"[{name}] -> {{ : {residues}{name} >= {period * start + residue} }}")
        return self.array.conflicts.context.intersect(values)
