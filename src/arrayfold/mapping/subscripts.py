"""Subscripts that a mapping makes of subscripts: as C, as Python, as a quasi-affine relation of isl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.c.arithmetic import formula_text, parenthesised, wrapped
from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Remainder
from arrayfold.exact.formula_isl import isl_text
from arrayfold.exact.isl import coalesced
from arrayfold.exact.relations import relation
from arrayfold.exact.signs import is_at_least, is_at_most

if TYPE_CHECKING:
    from arrayfold.mapping.modular import ModularMapping

_MOST_QUOTIENTS = 16


def c_subscripts(mapping: ModularMapping, subscripts: Sequence[str], cells: isl.Set | None = None) -> str:
    """The subscripts of the folded array in C, `[a][b]`, one a modulus; `[0]` where a single cell is left.

    subscripts  C expressions without side effects, one a dimension: they may occur several times
    cells       { A[x] } that are ever accessed; where they show that a row is not negative it takes one `%`
    """
    _check_count(mapping, subscripts)
    texts = {name: parenthesised(text) for name, text in zip(mapping.dimensions, subscripts, strict=True)}
    found: list[str] = []
    for k, modulus in enumerate(mapping.moduli):
        row = divided_row(mapping, k)
        text, bound = formula_text(row, lambda name: texts.get(name, name)), formula_text(modulus, str)
        where = None if cells is None else _named(mapping, cells)
        is_positive = where is not None and is_at_least(row, 0, where)
        if where is not None and is_positive and is_at_most(row + 1, modulus, where):
            found.append(text)
        elif is_positive:
            found.append(f"{parenthesised(text)} % {parenthesised(bound)}")
        else:
            found.append(wrapped(text, bound)[1:-1])
    return "".join(f"[{text}]" for text in found) or "[0]"


def python_subscripts(mapping: ModularMapping, subscripts: Sequence[str]) -> str:
    """The subscripts of the folded array in Python, `[a, b]`, one a modulus; `[0]` where one cell is left."""
    _check_count(mapping, subscripts)
    texts = dict(zip(mapping.dimensions, subscripts, strict=True))
    names: Mapping[str, str] = {name: parenthesised(text) for name, text in texts.items()}
    rows = (python_text(divided_row(mapping, k), names) for k in range(len(mapping.moduli)))
    found = [
        f"{parenthesised(row)} % {parenthesised(python_text(modulus))}"
        for row, modulus in zip(rows, mapping.moduli, strict=True)
    ]
    return f"[{', '.join(found) or '0'}]"


def divided_row(mapping: ModularMapping, k: int) -> Formula:
    """Row k before its modulo, divided where it has a divisor."""
    return Formula.floor(mapping.row(k), mapping.divisor(k))


def quasi_affine(mapping: ModularMapping, cells: isl.Set) -> isl.Map:
    """{ A[x] -> [address] } on some cells, quasi-affine: `x mod N` is `x` for `0 <= x < N`.

    cells  { A[x] } with the context; a row modulo a parameter is affine where it takes few multiples of that
    """
    rows: list[isl.Map] = []
    for k, modulus in enumerate(mapping.moduli):
        row = divided_row(mapping, k)
        if not (row.is_affine and modulus.is_affine):
            raise NotAffine(
                f"row {k + 1} of {mapping} is not affine for all parameter values",
                hint="Fix the parameters first: mapping.at(params).to_isl(). str(mapping) says it as it is.",
            )
        if modulus.is_constant:
            rows.append(_row_map(mapping, f"({isl_text(row)}) mod {modulus}"))
        else:
            rows.append(_on_multiples(mapping, k, cells))
    space = ", ".join(mapping.dimensions)
    whole = isl.Map(f"{{ {mapping.array}[{space}] -> [] }}")
    found = reduce(isl.Map.flat_range_product, rows, whole)
    return coalesced(found.intersect_domain(cells))


def _on_multiples(mapping: ModularMapping, k: int, cells: isl.Set) -> isl.Map:
    """{ A[x] -> [a] }: a row modulo a parameter, on as many multiples of it as the cells take."""
    row, modulus = divided_row(mapping, k), mapping.moduli[k]
    named = _named(mapping, cells)
    if not is_at_least(modulus, 1, named):
        raise NotAffine(
            f"row {k + 1} of {mapping}: {modulus} is not shown to be positive wherever there are cells",
            hint="Narrow the cells, or fix the parameters first: mapping.at(params).to_isl().",
        )
    few = range(-_MOST_QUOTIENTS, _MOST_QUOTIENTS + 1)
    first = next((q for q in reversed(few) if is_at_least(row - modulus * q, 0, named)), None)
    last = next((q for q in few if is_at_most(row + 1, modulus * (q + 1), named)), None)
    if first is None or last is None:
        raise NotAffine(
            f"row {k + 1} of {mapping} takes more multiples of {modulus} than an affine relation can list",
            hint="Fix the parameters first: mapping.at(params).to_isl(). str(mapping) says it as it is.",
        )
    rests = (isl_text(row - modulus * q) for q in range(first, last + 1))
    return reduce(
        isl.Map.union, (_row_map(mapping, rest, f"0 <= {rest} < {isl_text(modulus)}") for rest in rests)
    )


def _row_map(mapping: ModularMapping, value: str, where: str = "true") -> isl.Map:
    """{ A[x] -> [value] : where }"""
    names = {
        name
        for row in (*mapping.matrix, mapping.offset, mapping.moduli)
        for one in row
        for name in one.names()
    }
    return relation(mapping.dimensions, [value], where, names=(mapping.array, ""), parameters=sorted(names))


def _named(mapping: ModularMapping, cells: isl.Set) -> isl.Set:
    """{ : }: the cells, with their coordinates as further parameters under the names of the dimensions."""
    # Renaming the dimensions of a set of several pieces fails where pieces are shared with other sets.
    names = ", ".join(mapping.dimensions)
    there = " and ".join(f"{name}_ = {name}" for name in mapping.dimensions) or "true"
    places = ", ".join(f"{name}_" for name in mapping.dimensions)
    point = isl.Set(f"[{names}] -> {{ [{places}] : {there} }}")
    return point.intersect(cells.reset_tuple_id()).params()


def _check_count(mapping: ModularMapping, subscripts: Sequence[str]) -> None:
    if len(subscripts) != len(mapping.dimensions) or isinstance(subscripts, str):
        dimensions = ", ".join(mapping.dimensions)
        raise InputError(
            f"{mapping.array} has the dimensions [{dimensions}], but {len(subscripts)} subscripts were given"
        )


def python_text(formula: Formula, names: Mapping[str, str] | None = None) -> str:
    """A whole formula in Python; its names stand for themselves or for these texts."""
    names = names or {}
    scale = formula.denominator
    if scale > 1:
        return f"{parenthesised(python_text(formula * scale, names))} // {scale}"
    text = ""
    for monomial, coefficient in formula.terms:
        value = int(coefficient)
        factors = [_python_atom(atom, names) for atom, power in monomial for _ in range(power)]
        number = [str(abs(value))] if abs(value) != 1 or not factors else []
        sign = " - " if value < 0 else " + "
        text += (sign if text else sign.strip(" +")) + "*".join([*number, *factors])
    return text or "0"


def _python_atom(atom: Atom, names: Mapping[str, str]) -> str:
    match atom:
        case str():
            return names.get(atom, atom)
        case Floor(argument, divisor):
            return f"({parenthesised(python_text(argument, names))} // {divisor})"
        case Extreme(kind, arguments):
            return f"{kind}({', '.join(python_text(one, names) for one in arguments)})"
        case Remainder(argument, modulus):
            texts = (parenthesised(python_text(one, names)) for one in (argument, modulus))
            return f"({' % '.join(texts)})"
