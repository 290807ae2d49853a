"""Mappings as affine maps of MLIR, or as index arithmetic where sizes are multiplied or divided by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import islpy as isl
from xdsl.dialects import arith, builtin
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.rewriter import InsertPoint, Rewriter

from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Remainder
from arrayfold.exact.isl import integer
from arrayfold.frontends.mlir.module import Value
from arrayfold.mapping.modular import ModularMapping

_Binary: TypeAlias = type[
    arith.AddiOp | arith.MuliOp | arith.FloorDivSIOp | arith.RemSIOp | arith.MaxSIOp | arith.MinSIOp
]


def can_be_affine(mapping: ModularMapping) -> bool:
    """Whether every row is an affine expression of MLIR, modulo a number if it needs a modulo."""
    numbers = all(one.is_constant for row in mapping.matrix for one in row)
    return (
        numbers
        and all(map(is_expressible, mapping.offset))
        and all(one.is_constant for one in mapping.moduli)
    )


def is_expressible(formula: Formula) -> bool:
    """Whether it is an affine expression of MLIR."""
    return all(
        sum(power for _, power in monomial) <= 1 and all(_is_affine(atom) for atom, _ in monomial)
        for monomial, _ in formula.terms
    )


def _is_affine(atom: Atom) -> bool:
    match atom:
        case str():
            return True
        case Floor(argument=argument):
            return is_expressible(argument)
        case Remainder(argument=argument, modulus=modulus):
            return is_expressible(argument) and modulus.is_constant
        case Extreme():
            return False


def affine_layout(mapping: ModularMapping, names: Sequence[str], cells: isl.Set) -> AffineMap:
    """(cell)[parameters] -> (address), without the modulo where an address is in its place anyway.

    cells  { A[x] }  for which it is asked
    """
    dimensions = {name: AffineExpr.dimension(k) for k, name in enumerate(mapping.dimensions)}
    rows: list[AffineExpr] = []
    for k, modulus in enumerate(mapping.moduli):
        row = expression(mapping.offset[k], {}, names)
        for entry, name in zip(reversed(mapping.matrix[k]), reversed(mapping.dimensions), strict=True):
            row = dimensions[name] * int(entry.as_number()) + row if entry != Formula.constant(0) else row
        divided = row if mapping.divisor(k) == 1 else row // mapping.divisor(k)
        low = low_without_modulo(mapping, k, cells)
        rows.append(divided % int(modulus.as_number()) if low is None else divided - low)
    return AffineMap(len(dimensions), len(names), tuple(rows or [AffineExpr.constant(0)]))


def in_order_of_use(of: AffineMap, operands: Sequence[Value]) -> tuple[AffineMap, list[Value]]:
    """The same map with its operands in the order in which its expressions name them, all as symbols."""
    order: list[Value] = []
    for part in (part for result in of.results for part in result.dfs()):
        if isinstance(part, AffineDimExpr | AffineSymExpr):
            offset = 0 if isinstance(part, AffineDimExpr) else of.num_dims
            if operands[part.position + offset] not in order:
                order.append(operands[part.position + offset])
    new = [AffineExpr.symbol(order.index(one) if one in order else 0) for one in operands]
    dims, symbols = new[: of.num_dims], new[of.num_dims :]
    return of.replace_dims_and_symbols(dims, symbols, 0, len(order)), order


def low_without_modulo(mapping: ModularMapping, k: int, cells: isl.Set) -> int | None:
    """The least value of a row, if all its values are less than one modulus above."""
    coefficients, offset, modulus = mapping.matrix[k], mapping.offset[k], mapping.moduli[k]
    is_affine = all(one.is_constant for one in coefficients) and offset.is_affine and modulus.is_affine
    if not is_affine or cells.is_empty():
        return None
    terms = [f"{one}*{name}" for one, name in zip(coefficients, mapping.dimensions, strict=True)]
    names = sorted({*offset.names(), *modulus.names()})
    cell = f"[{', '.join(names)}] -> {{ {mapping.array}[{', '.join(mapping.dimensions)}]"
    value = f"floor(({' + '.join([*terms, str(offset)])})/{mapping.divisor(k)})"
    least = cells.apply(isl.Map(f"{cell} -> [{value}] }}")).dim_min_val(0)
    if not least.is_int():
        return None
    low = least.to_python()
    inside = isl.Set(f"{cell} : {low} <= {value} < {low} + {modulus} }}")
    return low if cells.is_subset(inside) else None


def expression(formula: Formula, dimensions: Mapping[str, AffineExpr], names: Sequence[str]) -> AffineExpr:
    """A formula of dimensions and parameters as an affine expression of MLIR."""

    def inner(atom: Atom) -> AffineExpr:
        match atom:
            case str():
                return dimensions[atom] if atom in dimensions else AffineExpr.symbol(names.index(atom))
            case Floor(argument=argument, divisor=divisor):
                return expression(argument, dimensions, names) // divisor
            case Remainder(argument=argument, modulus=modulus):
                return expression(argument, dimensions, names) % int(modulus.as_number())
            case Extreme():
                raise AssertionError(f"{atom} is not affine")

    denominator = formula.denominator
    total: AffineExpr = AffineExpr.constant(0)
    for monomial, number in formula.terms:
        factor = int(number * denominator)
        total = total + (inner(monomial[0][0]) * factor if monomial else factor)
    return total if denominator == 1 else total // denominator


class Arithmetic:
    """Operations that compute formulas before another operation.

    values  of dimensions and parameters
    """

    def __init__(self, before: Operation, values: Mapping[str, Value]) -> None:
        self._before = before
        self._values = values

    def address(self, mapping: ModularMapping, moduli: Mapping[int, Value], cells: isl.Set) -> list[Value]:
        """The address of the cell whose coordinates are the values of the mapping's dimensions.

        moduli  those that are no numbers
        """
        found: list[Value] = []
        for k, modulus in enumerate(mapping.moduli):
            low = low_without_modulo(mapping, k, cells) if mapping.divisor(k) == 1 else None
            if low is not None:
                found.append(self.formula(mapping.row(k) - low))
                continue
            row = self.formula(mapping.row(k))
            if mapping.divisor(k) > 1:
                row = self._binary(arith.FloorDivSIOp, row, self._number(mapping.divisor(k)))
            by = moduli[k] if k in moduli else self.formula(modulus)
            remainder = self._binary(arith.RemSIOp, row, by)
            if not _is_nonnegative(mapping.row(k), cells):
                shifted = self._binary(arith.AddiOp, remainder, by)
                remainder = self._binary(arith.RemSIOp, shifted, by)
            found.append(remainder)
        return found or [self._number(0)]

    def formula(self, formula: Formula) -> Value:
        """The value of a formula."""
        denominator = formula.denominator
        terms: list[Value] = []
        for monomial, number in formula.terms:
            factors = [self._atom(atom) for atom, power in monomial for _ in range(power)]
            scale = int(number * denominator)
            if scale != 1 or not factors:
                factors.append(self._number(scale))
            terms.append(reduce(lambda left, right: self._binary(arith.MuliOp, left, right), factors))
        total = reduce(
            lambda left, right: self._binary(arith.AddiOp, left, right), terms or [self._number(0)]
        )
        if denominator == 1:
            return total
        return self._binary(arith.FloorDivSIOp, total, self._number(denominator))

    def _atom(self, atom: Atom) -> Value:
        match atom:
            case str():
                return self._values[atom]
            case Floor(argument=argument, divisor=divisor):
                return self._binary(arith.FloorDivSIOp, self.formula(argument), self._number(divisor))
            case Extreme(kind=kind, arguments=arguments):
                pick = arith.MaxSIOp if kind == "max" else arith.MinSIOp
                values = [self.formula(one) for one in arguments]
                return reduce(lambda left, right: self._binary(pick, left, right), values)
            case Remainder(argument=argument, modulus=modulus):
                by = self.formula(modulus)
                first = self._binary(arith.RemSIOp, self.formula(argument), by)
                return self._binary(arith.RemSIOp, self._binary(arith.AddiOp, first, by), by)

    def _number(self, value: int) -> Value:
        number = arith.ConstantOp.from_int_and_width(value, builtin.IndexType())
        Rewriter.insert_op(number, InsertPoint.before(self._before))
        return number.result

    def _binary(self, kind: _Binary, left: Value, right: Value) -> Value:
        operation = kind(left, right)
        Rewriter.insert_op(operation, InsertPoint.before(self._before))
        return operation.result


def _is_nonnegative(row: Formula, cells: isl.Set) -> bool:
    """Whether a sum of positive multiples of coordinates and parameters is one of nothing negative."""
    if any(number < 0 for _, number in row.terms):
        return False
    if any(not isinstance(atom, str) for monomial, _ in row.terms for atom, _ in monomial):
        return False
    low = isl.Set.universe(cells.get_space())
    for kind in (isl.dim_type.set, isl.dim_type.param):
        for k in range(cells.dim(kind)):
            low = low.lower_bound_val(kind, k, integer(0))
    return cells.is_subset(low)
