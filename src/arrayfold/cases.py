"""Smaller mappings for parts of the context: residue classes of the parameter with rows of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import islpy as isl

from arrayfold._isl import fresh_names, parameter_minima
from arrayfold.bounds import LowerBound
from arrayfold.conflicts import Conflicts
from arrayfold.errors import ArrayfoldError
from arrayfold.formula import Formula
from arrayfold.mapping import Mapping
from arrayfold.methods import Request
from arrayfold.searches.fitted_lattice import AffineBasis, class_of, fit_bases
from arrayfold.verify import Proof, verify

_CLASSES = (2, 3)


@dataclass(frozen=True, eq=False)
class Case:
    """A mapping for some parameter values.

    when   { : }  the parameter values
    proof  of the mapping with the parameter replaced by its class, such as N = 2*m + 1
    """

    when: isl.Set
    mapping: Mapping
    proof: Proof

    @property
    def size(self) -> Formula:
        """Cells after folding."""
        return self.mapping.size


def find_cases(conflicts: Conflicts, request: Request, best: Formula, bound: LowerBound) -> tuple[Case, ...]:
    """Proved mappings for residue classes of the parameter that are smaller than the best one for all sizes.

    The classes belong to one fitted lattice; an empty result means that none is smaller, or none proved.
    """
    if bound.formula == best:
        return ()
    found: tuple[Case, ...] = ()
    try:
        with request.budget.limit(f"cases of {conflicts.name}"):
            for basis in fit_bases(conflicts, request, best):
                for modulus in _CLASSES:
                    cases = tuple(_cases_of(conflicts, request, basis, modulus, best))
                    if len(cases) == modulus:
                        return cases
                    found = max(found, cases, key=len)
    except ArrayfoldError:
        pass
    return found


def _cases_of(
    conflicts: Conflicts, request: Request, basis: AffineBasis, modulus: int, best: Formula
) -> Iterator[Case]:
    (name,) = parameter_minima(conflicts.context) or {}
    (new_name,) = fresh_names("m", 1, [name, *conflicts.array.dimensions])
    for residue in range(modulus):
        here, mappings = class_of(conflicts, basis, modulus, residue, new_name)
        back = Formula.name(name) * Fraction(1, modulus) - Fraction(residue, modulus)
        for mapping in mappings:
            verdict = verify(here, mapping)
            original = _in_terms_of(mapping, new_name, back)
            if isinstance(verdict, Proof) and request.rank(original.size) < request.rank(best):
                when = isl.Set(f"[{name}] -> {{ : {name} mod {modulus} = {residue} }}")
                yield Case(conflicts.context.intersect(when), original, verdict)
                break


def _in_terms_of(mapping: Mapping, name: str, value: Formula) -> Mapping:
    """The mapping with one parameter replaced."""

    def new(formula: Formula) -> Formula:
        return formula.replace_names({name: value})

    return replace(
        mapping,
        matrix=tuple(tuple(map(new, row)) for row in mapping.matrix),
        offset=tuple(map(new, mapping.offset)),
        moduli=tuple(map(new, mapping.moduli)),
    )
