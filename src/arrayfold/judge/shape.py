"""Whether a mapping makes sense at all: shapes, whole numbers, positive moduli."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula, Remainder
from arrayfold.exact.isl import fix_parameters, parameter_names
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.exact.signs import below, is_at_least, is_whole_on
from arrayfold.mapping.modular import ModularMapping, TableMapping


def check_well_formed(conflicts: Conflicts, mapping: ModularMapping) -> None:
    """Raise unless all numbers are whole for every size, affine moduli positive, and shapes fit."""
    if len(mapping.dimensions) != conflicts.array.rank:
        found, expected = len(mapping.dimensions), conflicts.array.rank
        raise InputError(f"the mapping takes {found} indices, but {conflicts.name} has {expected}")
    if not len(mapping.matrix) == len(mapping.offset) == len(mapping.moduli):
        raise InputError("a mapping has one row and one offset for each modulus")
    if mapping.divisors and not (len(mapping.divisors) == len(mapping.moduli) and min(mapping.divisors) > 0):
        raise InputError("a mapping has one positive divisor for each modulus, or none at all")
    if any(len(row) != len(mapping.dimensions) for row in mapping.matrix):
        raise InputError(f"each row of the mapping needs {len(mapping.dimensions)} coefficients")
    known = set(parameter_names(conflicts.context))
    for formula in (*itertools.chain(*mapping.matrix), *mapping.offset, *mapping.moduli):
        if formula.names() - known:
            raise InputError(f"{formula}: unknown parameter {min(formula.names() - known)}")
        _check_defined(formula, conflicts.context)
        if not is_whole_on(formula, conflicts.context):
            hint = "Integer division is written floor(.../2)."
            raise InputError(f"{formula} is not shown to be a whole number for every size", hint=hint)
    for modulus in mapping.moduli:
        if modulus.is_affine:
            where = conflicts.context.intersect(below(modulus, 1))
            if not where.is_empty():
                values = _print_values(smallest_parameters(where))
                raise InputError(f"modulus {modulus} is not positive at {values or 'any size'}")


def check_table(conflicts: Conflicts, mapping: TableMapping) -> None:
    """Raise unless a table fixes all sizes, within the context, and gives cells one address each."""
    names = parameter_names(conflicts.context)
    missing = [name for name in names if name not in mapping.params]
    if missing:
        raise InputError(f"the table of {conflicts.name} does not say at which {missing[0]} it holds")
    if conflicts.context.intersect(fix_parameters(mapping.params)).is_empty():
        where = _print_values(mapping.params)
        raise InputError(f"the table of {conflicts.name} is for {where}, where there is nothing to fold")
    seen: set[tuple[int, ...]] = set()
    for cell, address in mapping.table:
        text = f"{conflicts.name}[{', '.join(map(str, cell))}]"
        if len(cell) != conflicts.array.rank:
            found, expected = len(cell), conflicts.array.rank
            raise InputError(
                f"the table names {text} with {found} indices, but {conflicts.name} has {expected}"
            )
        if address < 0:
            raise InputError(f"the table gives {text} the negative address {address}")
        if cell in seen:
            raise InputError(f"the table gives {text} two addresses")
        seen.add(cell)


def _check_defined(formula: Formula, context: isl.Set) -> None:
    """Raise unless every remainder inside of a formula is one of a positive modulus."""
    for atom in formula.inner_atoms():
        if isinstance(atom, Remainder) and not is_at_least(atom.modulus, 1, context):
            raise InputError(
                f"{formula}: the modulus {atom.modulus} is not shown to be positive for every size"
            )


def _print_values(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
