"""Accesses whose cells are not where the text says: which array holds them, at which cell, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import islpy as isl

from arrayfold.c.source import StatementSource
from arrayfold.c.tree import Expression, Variable
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff, to_pw_aff
from arrayfold.exact.isl import coalesced, fresh_names, maps_of, parameter_names
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.program.model import Program

# Array and cell -> what tells whether two cells are one address: the same key, then formulas that are equal.
Address = Callable[[str, Sequence[Formula]], tuple[str, tuple[Formula, ...]]]


@dataclass(frozen=True, eq=False)
class Alternative:
    """One place of what an access means.

    when   { : } over iterators and parameters; the last alternative is for all iterations that are left
    array  in the model; None for the one that the text names
    cell   formulas of iterators and parameters
    """

    when: isl.Set
    array: str | None
    cell: tuple[Formula, ...]


@dataclass(eq=False)
class Relocations:
    """The places of the accesses of a program, found when they are asked for."""

    program: Program
    mappings: Mapping[str, EmittableMapping]
    _known: dict[tuple[str, Expression | Variable, bool], list[Alternative] | None] = field(
        default_factory=dict[tuple[str, Expression | Variable, bool], "list[Alternative] | None"]
    )

    def of(
        self, statement: str, text: StatementSource, node: Expression | Variable, *, is_write: bool
    ) -> list[Alternative] | None:
        """Where a statement finds what an element or a variable in its text means; None if that stayed."""
        relation = text.cells.get(node)
        if self.program.relocation.moved is None or relation is None:
            return None
        key = (statement, node, is_write)
        if key not in self._known:
            self._known[key] = find_alternatives(self.program, relation, self._address, is_write=is_write)
        return self._known[key]

    def _address(self, array: str, cell: Sequence[Formula]) -> tuple[str, tuple[Formula, ...]]:
        mapping = self.mappings[array]
        if not isinstance(mapping, ModularMapping):
            return array, tuple(cell)
        values = dict(zip(mapping.dimensions, cell, strict=True))
        rows = (mapping.row(k) * Fraction(1, mapping.divisor(k)) for k in range(len(mapping.moduli)))
        return array, tuple(row.replace_names(values) for row in rows)


def iterator_names(program: Program, count: int) -> list[str]:
    """Names for iterators in formulas of cells; no parameter is called like that."""
    return fresh_names("it", count, program.parameters)


def find_alternatives(
    program: Program, relation: isl.Map, address: Address, *, is_write: bool
) -> list[Alternative] | None:
    """The places of an access { S[i] -> A[x] } of the text, as few as there can be; None if none moved."""
    assert program.relocation.moved is not None
    moved = program.relocation.moved.writes if is_write else program.relocation.moved.reads
    names = iterator_names(program, relation.dim(isl.dim_type.in_))
    relation = relation.intersect_params(program.context)
    left = _over_parameters(relation.domain(), names)
    everywhere = left
    pieces: list[Alternative] = []
    for part in maps_of(moved):
        old = part.domain().unwrap()
        if not old.get_space().has_equal_tuples(relation.get_space()):
            continue
        here = part.intersect_domain(relation.wrap()).domain_factor_domain()
        for piece in _pieces(here, names):
            pieces.append(piece)
            left = left.subtract(piece.when)
    if not pieces:
        return None
    array = relation.get_tuple_name(isl.dim_type.out)
    if not left.is_empty() and array not in program.relocation.replaced:
        pieces.append(Alternative(coalesced(left), None, ()))
    return _in_order(_merged(pieces, address), everywhere)


def cell_alternatives(relation: isl.Map, names: Sequence[str]) -> list[Alternative]:
    """The cells that accesses { S[i] -> A[x] } of one element mean, as few formulas as there can be.

    The relation says one cell for an iteration, and is not empty.
    """
    merged = _merged(_pieces(relation, names), lambda array, cell: (array, tuple(cell)))
    return _in_order(merged, _over_parameters(relation.domain(), names))


def _in_order(merged: list[Alternative], everywhere: isl.Set) -> list[Alternative]:
    """Alternatives with conditions as simple as they can be on { : }, the one with the worst at the end."""
    merged.sort(key=lambda piece: piece.when.n_basic_set())
    found = [replace(one, when=coalesced(one.when.gist(everywhere))) for one in merged[:-1]]
    return [*found, merged[-1]]


def _over_parameters(instances: isl.Set, names: Sequence[str]) -> isl.Set:
    """{ S[i] } with the iterators as parameters of these names."""
    for k, name in enumerate(names):
        instances = instances.set_dim_name(isl.dim_type.set, k, name)
    known = len(parameter_names(instances))
    return instances.move_dims(isl.dim_type.param, known, isl.dim_type.set, 0, len(names)).params()


def _pieces(places: isl.Map, names: Sequence[str]) -> list[Alternative]:
    """{ S[i] -> B[y] } as formulas, piece by piece."""
    for k, name in enumerate(names):
        places = places.set_dim_name(isl.dim_type.in_, k, name)
    known = places.dim(isl.dim_type.param)
    cells = places.move_dims(isl.dim_type.param, known, isl.dim_type.in_, 0, len(names)).range()
    array = cells.get_tuple_name()
    found: list[Alternative] = []

    def keep(where: isl.Set, cell: isl.MultiAff) -> None:
        formulas = tuple(from_aff(cell.get_at(k)) for k in range(cell.dim(isl.dim_type.out)))
        found.append(Alternative(where.params(), array, formulas))

    if not cells.is_empty():
        coalesced(isl.PwMultiAff.from_set(cells)).foreach_piece(keep)
    return found


def _merged(pieces: Sequence[Alternative], address: Address) -> list[Alternative]:
    """The pieces, those joined that one formula can say."""
    found: list[Alternative] = []
    for piece in pieces:
        for k, other in enumerate(found):
            for formulas, where in ((other, piece.when), (piece, other.when)):
                if _is_same(piece, other, where, address):
                    found[k] = replace(formulas, when=coalesced(piece.when.union(other.when)))
                    break
            else:
                continue
            break
        else:
            found.append(piece)
    return found


def _is_same(one: Alternative, other: Alternative, where: isl.Set, address: Address) -> bool:
    """Whether both say the same address in these iterations."""
    if one.array is None or other.array is None:
        return one.array is other.array
    first, second = address(one.array, one.cell), address(other.array, other.cell)
    return first[0] == second[0] and all(
        _is_equal_on(where, a, b) for a, b in zip(first[1], second[1], strict=True)
    )


def _is_equal_on(where: isl.Set, first: Formula, second: Formula) -> bool:
    difference = first - second
    if difference == Formula.constant(0):
        return True
    if difference.is_affine:
        zero = to_pw_aff(difference).eq_set(to_pw_aff(Formula.constant(0)))
        return bool(where.is_subset(zero))
    return difference.replace_names(_fixed_values(where)) == Formula.constant(0)


def _fixed_values(where: isl.Set) -> dict[str, Formula]:
    """Names that the equalities of a set { : } fix, with what they are."""
    found: dict[str, Formula] = {}
    for name in parameter_names(where):
        place = where.find_dim_by_name(isl.dim_type.param, name)
        for equality in where.affine_hull().get_constraints():
            if not equality.is_equality():
                continue
            factor = equality.get_coefficient_val(isl.dim_type.param, place)
            if factor.is_one() or factor.is_negone():
                bound = equality.get_bound(isl.dim_type.param, place)
                found[name] = from_aff(bound).replace_names(found)
                break
    return found
