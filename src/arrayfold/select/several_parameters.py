"""Cases in several parameters: lattices that are the smallest ones from some sizes on.

The first sizes need not belong to the pattern. A lattice that is fitted at a point is proved for all
parameters from that point on, and then for smaller values of one parameter after the other, as far as the
judge agrees. Where no rows have this lattice at all sizes, because the group of its classes depends on the
residues of a parameter, each residue class is a case. What it depends on are divisors of the numbers in the
basis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import islpy as isl
from flint import fmpz

from arrayfold.conflicts.conflicts import Conflicts, in_residue_class
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced, fresh_names
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.auto.lattice_rows import Matrix, rows_of_matrix
from arrayfold.methods.auto.several_parameters import fit_several_parameters
from arrayfold.select.mapping_case import MappingCase, proved_on

_MOST_CASES = 8
_MOST_MAPPINGS = 2
_LARGEST_PERIOD = 5


def cases_of_several_parameters(
    conflicts: Conflicts, request: Request, best: Formula, least: Mapping[str, int]
) -> tuple[MappingCase, ...]:
    """Fitted mappings for the parameters from some values on, as far as they are proved there.

    least  the least value of each parameter
    """
    fitted = fit_several_parameters(conflicts, request, best)
    if fitted is None:
        return ()
    everywhere = _ParameterClass(conflicts)
    for mapping in fitted.mappings:
        case = everywhere.case(fitted.point, least, mapping)
        if case is not None:
            return (case,)
    for matrix in fitted.matrices:
        found = itertools.islice(_by_residues(conflicts, matrix, fitted.point, least), _MOST_CASES)
        if cases := _disjoint(found):
            return cases
    return ()


def _disjoint(cases: Iterable[MappingCase]) -> tuple[MappingCase, ...]:
    """Each case where no earlier one holds."""
    found: list[MappingCase] = []
    for case in cases:
        rest = reduce(isl.Set.subtract, (other.when for other in found), case.when)
        if not rest.is_empty():
            found.append(replace(case, when=coalesced(rest)))
    return tuple(found)


def _by_residues(
    conflicts: Conflicts, matrix: Matrix, point: Mapping[str, int], least: Mapping[str, int]
) -> Iterator[MappingCase]:
    """A case for each residue class of one parameter in which rows for the lattice are proved."""
    for name, period in itertools.product(point, _periods(matrix)):
        for residue in range(period):
            here = _ParameterClass(conflicts, name, period, residue)
            moved = [[here.of_quotient(entry) for entry in line] for line in matrix]
            names = [here.quotient if other == name else other for other in point]
            mappings = itertools.islice(rows_of_matrix(conflicts, moved, names), _MOST_MAPPINGS)
            cases = (here.case(point, least, mapping) for mapping in mappings)
            yield from itertools.islice((case for case in cases if case is not None), 1)


def _periods(matrix: Matrix) -> Sequence[int]:
    """Primes that divide numbers of the basis."""
    numbers = {abs(int(c)) for line in matrix for entry in line for _, c in entry.terms}
    primes = {int(prime) for number in numbers if number > 1 for prime, _ in fmpz(number).factor()}
    return sorted(prime for prime in primes if prime <= _LARGEST_PERIOD)


@dataclass(frozen=True, eq=False)
class _ParameterClass:
    """The conflicts where a parameter is period * m + residue; those of all sizes for period 1."""

    conflicts: Conflicts
    name: str = ""
    period: int = 1
    residue: int = 0

    @property
    def quotient(self) -> str:
        """A name for m."""
        taken = [*self.conflicts.array.dimensions, self.name]
        return fresh_names("m", 1, taken)[0]

    def of_quotient(self, formula: Formula) -> Formula:
        """A formula of the parameter as one of the quotient."""
        return formula.replace_names({self.name: Formula.name(self.quotient) * self.period + self.residue})

    def case(
        self, point: Mapping[str, int], least: Mapping[str, int], mapping: ModularMapping
    ) -> MappingCase | None:
        """A mapping as a case from the point on, or from smaller values of the parameters on."""
        case = self._from(point, mapping)
        if case is None:
            return None
        lows = dict(point)
        for name, low in least.items():
            tried = ((start, self._from({**lows, name: start}, mapping)) for start in range(low, lows[name]))
            start, case = next(((start, one) for start, one in tried if one is not None), (lows[name], case))
            lows[name] = start
        return case

    def _from(self, lows: Mapping[str, int], mapping: ModularMapping) -> MappingCase | None:
        bounds = " and ".join(f"{name} >= {low}" for name, low in lows.items())
        if self.period > 1:
            bounds += f" and {self.name} mod {self.period} = {self.residue}"
        where = self.conflicts.context.intersect(isl.Set(f"[{', '.join(lows)}] -> {{ : {bounds} }}"))
        if self.period == 1:
            return proved_on(self.conflicts, where, mapping)
        inside = self.conflicts.within(where)
        here = in_residue_class(inside, self.name, self.period, self.residue, self.quotient)
        proved = proved_on(here, here.context, mapping)
        if proved is None:
            return None
        back = Formula.name(self.name) * Fraction(1, self.period) - Fraction(self.residue, self.period)
        undone = mapping.with_formulas(lambda formula: formula.replace_names({self.quotient: back}))
        return MappingCase(where, undone, proved.proof)
