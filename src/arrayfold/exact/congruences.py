"""Parameters that leave one rest only: N even, or N = 4*m + 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import simplified
from arrayfold.exact.isl import coordinate, fresh_name, parameter_names
from arrayfold.exact.strides import generated_lattice

_VALUE = "value_of_parameter"


@dataclass(frozen=True)
class Congruence:
    """A parameter is modulus * quotient + residue, wherever a context holds.

    quotient  the name of another parameter
    """

    name: str
    modulus: int
    residue: int
    quotient: str

    @property
    def value(self) -> Formula:
        """The parameter in terms of the quotient."""
        return Formula.name(self.quotient) * self.modulus + self.residue

    @property
    def inverse(self) -> Formula:
        """The quotient in terms of the parameter."""
        return (Formula.name(self.name) - self.residue) * (1 / Formula.constant(self.modulus).as_number())

    def divided(self, params: Mapping[str, int]) -> dict[str, int]:
        """Parameter values with that of the quotient instead."""
        rest = {name: value for name, value in params.items() if name != self.name}
        if self.name in params:
            rest[self.quotient] = (params[self.name] - self.residue) // self.modulus
        return rest

    def multiplied(self, params: Mapping[str, int]) -> dict[str, int]:
        """Parameter values with that of the parameter instead of the quotient's."""
        rest = {name: value for name, value in params.items() if name != self.quotient}
        if self.quotient in params:
            rest[self.name] = self.modulus * params[self.quotient] + self.residue
        return rest

    def of_quotient(self, formula: Formula, context: isl.Set) -> Formula:
        """A formula of the parameter as one of the quotient, in a context { : } of that."""
        return simplified(formula.replace_names({self.name: self.value}), context)

    def of_parameter(self, formula: Formula) -> Formula:
        """A formula of the quotient as one of the parameter."""
        return formula.replace_names({self.quotient: self.inverse})

    def undone(self, where: isl.Set) -> isl.Set:
        """{ : }: a set of values of the quotient as one of values of the parameter."""
        text = f"{self.name} = {self.modulus} * {self.quotient} + {self.residue}"
        here = where.params().intersect_params(isl.Set(f"[{self.name}, {self.quotient}] -> {{ : {text} }}"))
        position = here.find_dim_by_name(isl.dim_type.param, self.quotient)
        return here.project_out(isl.dim_type.param, position, 1)


def find_congruence(context: isl.Set, taken: tuple[str, ...] = ()) -> Congruence | None:
    """A parameter of which a context leaves one residue; None if there is none.

    taken  names that the quotient must not have

    >>> find_congruence(isl.Set("[M, N] -> { : N mod 4 = 1 and M >= N }"))
    Congruence(name='N', modulus=4, residue=1, quotient='m')
    >>> find_congruence(isl.Set("[N] -> { : N >= 3 }"))
    """
    names = parameter_names(context)
    for name in names:
        values = isl.Set.from_params(context.params()).add_dims(isl.dim_type.set, 1)
        one = isl.Set(f"[{name}] -> {{ [{_VALUE}] : {_VALUE} = {name} }}")
        values = values.intersect(one.align_params(values.get_space()))
        values = values.project_out(isl.dim_type.param, 0, len(names))
        basis = generated_lattice(isl.Map.from_domain_and_range(values, values).deltas())
        if basis is None:
            continue
        ((modulus,),) = basis
        residue = coordinate(values.sample_point(), isl.dim_type.set, 0) % modulus
        return Congruence(name, modulus, residue, fresh_name("m", [*names, *taken]))
    return None
