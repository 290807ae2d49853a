"""The judge: is a mapping valid for every parameter value of the context? A proof or a counterexample.

It shares no code with the methods. Two cells x and y of a modular mapping share an address iff every row
of the matrix takes their difference d = y - x to a multiple of its modulus, so validity is a statement on
differences: no d other than zero is conflicting and taken to multiples by all rows.

A constant modulus is Presburger arithmetic and left to isl. For a modulus b that depends on parameters,
`row . d = k*b` is not affine because of the product; but if isl shows that |row . d| < (K + 1)*b for all
conflicting d, then k is one of -K ... K and each of these finitely many equations is affine. The same goes
for a coefficient that contains parameters, if its index takes finitely many values among the differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import islpy as isl

from arrayfold.base.errors import IncompleteMapping, NotAffine
from arrayfold.base.reported import reported
from arrayfold.conflicts.conflicts import Conflicts, in_residue_class
from arrayfold.exact.congruences import find_congruence
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.isl import (
    coalesced,
    fix_parameters,
    fresh_names,
    integer,
    linear_form,
    parameter_names,
    points,
    smallest_point,
    visit_points,
)
from arrayfold.exact.parameter_values import smallest_parameters
from arrayfold.exact.signs import is_at_least, is_whole_on
from arrayfold.judge.shape import check_table, check_well_formed
from arrayfold.mapping.modular import AddressMapping, ModularMapping, RelationMapping, TableMapping

_MOST_WRAPS = 16
_MOST_VALUES = 32
_PROBED_SIZES = 6
_PROBED_FROM = (6, 10, 16, 25)
_PROBED_APART, _PROBED_REACH = 18, 19
_FEW_PIECES = 12
_PERIODS = (2, 3, 4, 5)
_INDEX_PERIODS = (2, 3, 4)
ProofKind: TypeAlias = Literal[
    "rows", "lattice", "corners", "digits", "residues", "nothing", "pairs", "table"
]


@dataclass(frozen=True, eq=False)
class Proof:
    """No two conflicting cells share an address, for every parameter value in the context.

    kind  what the argument rests on
    """

    argument: str
    steps: tuple[str, ...]
    context: isl.Set
    kind: ProofKind = "pairs"

    def __str__(self) -> str:
        return "\n".join([f"Proved {self.argument}.", *(f"  - {step}" for step in self.steps)])


@dataclass(frozen=True)
class Counterexample:
    """Two conflicting cells that share an address."""

    array: str
    params: Mapping[str, int]
    cells: tuple[tuple[int, ...], tuple[int, ...]]
    address: tuple[int, ...]

    def __str__(self) -> str:
        first, second = (f"{self.array}[{', '.join(map(str, cell))}]" for cell in self.cells)
        where = ", ".join(f"{name} = {value}" for name, value in self.params.items())
        address = ", ".join(map(str, self.address))
        prefix = f"At {where}, " if where else ""
        return f"{prefix}{first} and {second} conflict and share address [{address}]"


@dataclass(frozen=True)
class Undecided:
    """Neither proved nor refuted."""

    reason: str

    def __str__(self) -> str:
        return f"Neither proved nor refuted: {self.reason}"


Verdict = Proof | Counterexample | Undecided


@reported
def verify(conflicts: Conflicts, mapping: AddressMapping) -> Verdict:
    """Whether no two different conflicting cells get the same address, for all of the context.

    A table is judged for its own parameter values only, and the proof says so.
    """
    if isinstance(mapping, RelationMapping):
        return _verify_relation(conflicts, mapping)
    if isinstance(mapping, TableMapping):
        return _verify_table(conflicts, mapping)
    check_well_formed(conflicts, mapping)
    return _verify_divided(conflicts, mapping) if mapping.divisors else _verify_modular(conflicts, mapping)


def _verify_modular(conflicts: Conflicts, mapping: ModularMapping) -> Verdict:
    """The verdict on rows that are not divided."""
    verdict = _verify_rows(conflicts, mapping)
    if isinstance(verdict, _Open):
        verdict = (
            _verify_polynomials(conflicts, mapping, verdict)
            or _verify_congruent(conflicts, mapping)
            or _search(conflicts, mapping, verdict)
        )
    if isinstance(verdict, Undecided):
        verdict = _verify_by_residues(conflicts, mapping) or verdict
    for modulus in mapping.moduli:
        if isinstance(verdict, Proof) and not is_at_least(modulus, 1, conflicts.context):
            return Undecided(f"modulus {modulus} is not shown to be positive for every size")
    return verdict


def _verify_polynomials(conflicts: Conflicts, mapping: ModularMapping, left: _Open) -> Verdict | None:
    """The verdict where rows cannot be made affine one by one."""
    return (
        _verify_lattice(conflicts, mapping)
        or _verify_linear(conflicts, mapping)
        or _verify_digits(conflicts, mapping, left)
        or _verify_remainders(conflicts, mapping)
    )


def _verify_remainders(conflicts: Conflicts, mapping: ModularMapping) -> Verdict | None:
    """The verdict on rows that tell as much with smaller numbers, such as -j mod N + 1 for N*j mod N + 1."""
    rows = [_smaller_row(row, by) for row, by in zip(mapping.matrix, mapping.moduli, strict=True)]
    matrix, moduli = tuple(row for row, _ in rows), tuple(modulus for _, modulus in rows)
    if (matrix, moduli) == (mapping.matrix, mapping.moduli):
        return None
    smaller = replace(mapping, matrix=matrix, moduli=moduli)
    verdict = _verify_rows(conflicts, smaller)
    if isinstance(verdict, _Open):
        verdict = _verify_polynomials(conflicts, smaller, verdict)
    if isinstance(verdict, Counterexample):
        return replace(verdict, address=mapping.address(verdict.cells[0], verdict.params))
    return verdict


def _smaller_row(row: Sequence[Formula], modulus: Formula) -> tuple[tuple[Formula, ...], Formula]:
    """Coefficients modulo the modulus where that makes them numbers, and without a common factor."""
    entries = tuple(_remainder(entry, modulus) for entry in row)
    numbers = [number for one in (*entries, modulus) for _, number in one.terms]
    if not all(one.is_polynomial for one in (*entries, modulus)) or any(n.denominator > 1 for n in numbers):
        return entries, modulus
    factor = Fraction(1, math.gcd(*(int(number) for number in numbers)))
    return tuple(entry * factor for entry in entries), modulus * factor


def _remainder(entry: Formula, modulus: Formula) -> Formula:
    """A coefficient less a multiple of the modulus, where that leaves a smaller one."""
    if entry.is_constant:
        return entry
    for other in (entry + modulus, entry - modulus):
        if other.is_constant and other.is_whole:
            return other
    if not (entry.is_polynomial and modulus.is_polynomial):
        return entry
    if modulus.is_constant:
        by = int(modulus.as_number())
        whole = all(number.denominator == 1 for _, number in entry.terms)
        terms = ((monomial, number % by) for monomial, number in entry.terms)
        return Formula(tuple((monomial, number) for monomial, number in terms if number)) if whole else entry
    quotient, rest = entry.divided(modulus)
    return rest if rest.is_whole and quotient.is_whole else entry


def find_collisions(conflicts: isl.Map, mapping: isl.Map) -> isl.Map:
    """Conflicting cells that the mapping sends to the same address.

    conflicts  { A[x] -> A[y] }  x != y, symmetric
    mapping    { A[x] -> [z] }   gives every conflicting cell an address
    result     { A[x] -> A[y] }  empty iff the mapping is valid (DSV05, Def. 2)
    """
    return conflicts.intersect(mapping.apply_range(mapping.reverse()))


# ---------------------------------------------------------------- modular mappings


@dataclass(frozen=True, eq=False)
class _Open:
    """Differences that rows have not told apart, because one at least cannot be made affine.

    colliding  { A[d] }
    rows       those that are not affine
    steps      what the others show
    """

    colliding: isl.Set
    rows: tuple[int, ...]
    steps: tuple[str, ...]


def _verify_rows(conflicts: Conflicts, mapping: ModularMapping) -> Verdict | _Open:
    """The verdict from cutting the differences row by row, as far as rows can be made affine."""
    colliding = conflicts.differences.intersect_params(conflicts.context)
    if colliding.is_empty():
        return Proof("as nothing conflicts", ("there is no conflict at all",), conflicts.context, "nothing")
    pending = list(range(len(mapping.moduli)))
    steps: list[str] = []
    progress = True
    while pending and progress:
        progress = False
        for k in list(pending):
            cut = _cut_by_row(colliding, mapping, k)
            if cut is None:
                continue
            colliding, step = cut
            steps.append(step)
            pending.remove(k)
            progress = True
            if colliding.is_empty():
                steps.append("no difference of conflicting cells is left")
                argument = "by affine emptiness checks on the differences of conflicting cells (isl)"
                return Proof(argument, tuple(steps), conflicts.context, "rows")
    return (
        _Open(colliding, tuple(pending), tuple(steps))
        if pending
        else _counterexample(conflicts, mapping, colliding)
    )


def _verify_lattice(conflicts: Conflicts, mapping: ModularMapping) -> Verdict | None:
    """The verdict from the kernel lattice of the mapping, where that has an affine basis."""
    from arrayfold.judge.polynomials import check_lattice

    found = check_lattice(conflicts, mapping)
    if found is None:
        return None
    if not found.colliding.is_empty():
        return _counterexample(conflicts, mapping, found.colliding)
    basis = ", ".join(f"({', '.join(map(str, vector))})" for vector in found.basis)
    most = max((bound for bound in found.multiples if bound is not None), default=0)
    steps = (
        f"cells share an address iff their difference is an integer combination of {basis}",
        f"conflicting cells differ by at most {most} times the vectors that contain parameters",
        "none of the combinations that are left is a difference of conflicting cells (isl)",
    )
    return Proof("by the kernel lattice of the mapping", steps, conflicts.context, "lattice")


def _verify_congruent(conflicts: Conflicts, mapping: ModularMapping) -> Verdict | None:
    """The verdict with a parameter p*m + r in terms of m, where the context leaves it one residue."""
    taken = (*mapping.dimensions, *parameter_names(conflicts.differences))
    found = find_congruence(conflicts.context, taken)
    if found is None:
        return None
    here = in_residue_class(conflicts, found.name, found.modulus, found.residue, found.quotient)
    verdict = _verify_modular(here, mapping.with_formulas(lambda one: found.of_quotient(one, here.context)))
    if isinstance(verdict, Counterexample):
        params = found.multiplied(verdict.params)
        again = _verify_rows(conflicts.at(params), mapping.at(params))
        return again if isinstance(again, Counterexample) else None
    if isinstance(verdict, Proof):
        step = f"{found.name} is {found.value} at all sizes, with a whole number {found.quotient}"
        return replace(verdict, steps=(step, *verdict.steps), context=conflicts.context)
    return None


def _verify_by_residues(conflicts: Conflicts, mapping: ModularMapping) -> Verdict | None:
    """The verdict from one residue class of a parameter after the other, if they all have one."""
    for name in sorted(
        {name for formula in (*mapping.moduli, *itertools.chain(*mapping.matrix)) for name in formula.names()}
    ):
        for period in _PERIODS:
            verdict = _verify_classes(conflicts, mapping, name, period)
            if verdict is not None:
                return verdict
    return None


def _verify_classes(conflicts: Conflicts, mapping: ModularMapping, name: str, period: int) -> Verdict | None:
    """The verdict with a parameter period*m + r in terms of m, for each residue r."""
    taken = (*mapping.dimensions, *parameter_names(conflicts.differences))
    (quotient,) = fresh_names("m", 1, taken)
    steps: list[str] = []
    for residue in range(period):
        value = Formula.name(quotient) * period + residue
        here = in_residue_class(conflicts, name, period, residue, quotient)
        moved = mapping.with_formulas(lambda one, value=value: one.replace_names({name: value}))
        verdict: Verdict | _Open | None = _verify_rows(here, moved)
        if isinstance(verdict, _Open):
            verdict = _verify_polynomials(here, moved, verdict)
        if isinstance(verdict, Counterexample):
            others = {one: number for one, number in verdict.params.items() if one != quotient}
            params = {**others, name: value.at(verdict.params)}
            again = _verify_rows(conflicts.at(params), mapping.at(params))
            return again if isinstance(again, Counterexample) else None
        if not isinstance(verdict, Proof):
            return None
        steps += [f"{name} = {value}: {step}" for step in verdict.steps]
    argument = f"for each residue of {name} modulo {period}"
    return Proof(argument, tuple(steps), conflicts.context, "residues")


def _verify_linear(conflicts: Conflicts, mapping: ModularMapping) -> Proof | None:
    """A proof from the corners of the differences, where the mapping is one row that no conflict wraps."""
    from arrayfold.judge.polynomials import check_linear

    corners = check_linear(conflicts, mapping)
    if corners is None:
        return None
    row, modulus = mapping.row(0) - mapping.offset[0], mapping.moduli[0]
    steps = (
        f"no two conflicting cells have the same {row}, and none differ by {modulus} or more in it",
        f"both were shown as polynomials at the {corners} corners of the differences, where extremes are",
    )
    return Proof(
        "by the corners of the differences of conflicting cells", steps, conflicts.context, "corners"
    )


def _verify_digits(conflicts: Conflicts, mapping: ModularMapping, left: _Open) -> Verdict | None:
    """The verdict from the rows one by one, where those that are not affine are decided digit by digit."""
    from arrayfold.judge.digits import taken_to_multiples

    colliding = left.colliding
    steps = list(left.steps)
    for k in left.rows:
        if colliding.is_empty():
            break
        found = taken_to_multiples(colliding, mapping.matrix[k], mapping.moduli[k], conflicts.context)
        if found is None:
            return None
        colliding, wraps = found
        steps.append(_describe(mapping, k, wraps))
    if not colliding.is_empty():
        return _counterexample(conflicts, mapping, colliding)
    steps.append("no difference of conflicting cells is left")
    argument = (
        "index by index from the largest coefficient on, each of which leaves few values to the next (isl)"
    )
    return Proof(argument, tuple(steps), conflicts.context, "digits")


def _cut_by_row(differences: isl.Set, mapping: ModularMapping, k: int) -> tuple[isl.Set, str] | None:
    """The differences that row k takes to a multiple of its modulus, and how that is known, in words.

    None where the row cannot be made affine.
    """
    modulus = mapping.moduli[k]
    found = _affine_pieces(differences, mapping.matrix[k], modulus)
    if found is None or not modulus.is_affine:
        return None
    pieces, scale = found
    kept = isl.Set.empty(differences.get_space())
    if modulus.is_constant:
        for piece, form in pieces:
            remainder = form.mod_val(integer(int(modulus.as_number()) * scale))
            kept = kept.union(piece.intersect(remainder.zero_set()))
        return coalesced(kept), _describe(mapping, k, None, scale)
    step = to_pw_aff(modulus * scale, differences.get_space())
    wraps = 0
    while any(not _reaches(piece, form, step, wraps + 1).is_empty() for piece, form in pieces):
        wraps += 1
        if wraps > _MOST_WRAPS:
            return None
    for piece, form in pieces:
        for multiple in range(-wraps, wraps + 1):
            kept = kept.union(piece.intersect(form.eq_set(step.scale_val(integer(multiple)))))
    return coalesced(kept), _describe(mapping, k, wraps, scale)


def _reaches(piece: isl.Set, form: isl.PwAff, step: isl.PwAff, times: int) -> isl.Set:
    """The differences that the row takes at least so many steps away from zero."""
    far = step.scale_val(integer(times))
    return piece.intersect(form.ge_set(far).union(form.neg().ge_set(far)))


def _affine_pieces(
    differences: isl.Set, row: Sequence[Formula], modulus: Formula
) -> tuple[list[tuple[isl.Set, isl.PwAff]], int] | None:
    """The differences in pieces on which the row is affine, with a multiple of the row there, and which one.

    A coefficient that contains parameters is affine wherever its index difference is one number, so
    indices with such coefficients are fixed to each of the finitely many values they take. Where they take
    many and p times the coefficient is a number c modulo the modulus, the row is affine for each residue r of
    the index modulo p: the coefficient times p*q + r is c*q and r times the coefficient.
    """
    space = differences.get_space()
    pieces = [(differences, Formula.constant(0))]
    numbers, scale = [Fraction(0) for _ in row], 1
    for k, entry in enumerate(row):
        if entry.is_constant:
            numbers[k] = entry.as_number()
            continue
        low, high = differences.dim_min_val(k), differences.dim_max_val(k)
        if low.is_int() and high.is_int() and high.to_python() - low.to_python() < _MOST_VALUES:
            values = range(low.to_python(), high.to_python() + 1)
            pieces = [
                (piece.fix_val(isl.dim_type.set, k, integer(value)), shift + entry * value)
                for piece, shift in pieces
                for value in values
            ]
            continue
        found = _number_modulo(entry, modulus)
        if found is None:
            return None
        period, number = found
        numbers[k], scale = Fraction(number, period), math.lcm(scale, period)
        pieces = [
            (piece.intersect(_residue_class(space, k, period, rest)), shift + (entry - numbers[k]) * rest)
            for piece, shift in pieces
            for rest in range(period)
        ]
    if not all(shift.is_affine for _, shift in pieces):
        return None
    form = linear_form(space, [int(number * scale) for number in numbers])
    affine = [
        (piece, form.add(to_pw_aff(shift * scale, space))) for piece, shift in pieces if not piece.is_empty()
    ]
    return affine, scale


def _number_modulo(entry: Formula, modulus: Formula) -> tuple[int, int] | None:
    """A small p > 1 and a number that is p times the coefficient, less multiples of the modulus.

    >>> n = Formula.name("N")
    >>> _number_modulo(n + 2, n * 2), _number_modulo(n * n, n + 1), _number_modulo(n, n * n)
    ((2, 4), (2, 2), None)
    """
    for period in _INDEX_PERIODS:
        quotient, rest = (entry * period).divided(modulus)
        if rest.is_constant and rest.is_whole and quotient.is_whole:
            return period, int(rest.as_number())
    return None


def _residue_class(space: isl.Space, k: int, period: int, rest: int) -> isl.Set:
    """The vectors whose entry k has a residue."""
    entry = linear_form(space, [int(j == k) for j in range(space.dim(isl.dim_type.set))])
    residue = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)))
    return entry.mod_val(integer(period)).eq_set(residue.add_constant_val(integer(rest)))


def _describe(mapping: ModularMapping, k: int, wraps: int | None, scale: int = 1) -> str:
    row = mapping.row(k) - mapping.offset[k]
    if scale > 1:
        each = f"for each residue of the indices modulo {scale} row {k + 1} is affine modulo"
        return f"{each} {mapping.moduli[k]}; all multiples that it reaches were checked"
    if wraps is None:
        return f"cells that agree in row {k + 1} differ by a multiple of {mapping.moduli[k]} in {row}"
    if wraps == 0:
        apart = f"conflicting cells differ by less than {mapping.moduli[k]} in {row}"
        return f"{apart}, so row {k + 1} wraps none together"
    return (
        f"conflicting cells differ by less than {wraps + 1} times {mapping.moduli[k]} in {row}; "
        f"all {2 * wraps + 1} multiples were checked"
    )


def _search(conflicts: Conflicts, mapping: ModularMapping, left: _Open) -> Counterexample | Undecided:
    """Try small parameter values one by one where some rows cannot be handled for all of them."""
    is_simple = left.colliding.n_basic_set() <= _FEW_PIECES
    for params in _probed_sizes(left.colliding.params(), _PROBED_APART if is_simple else 0):
        here = conflicts.with_differences_within(fix_parameters(params))
        fixed = mapping.at(params)
        check_well_formed(here, fixed)
        verdict = _verify_rows(here, fixed)
        if isinstance(verdict, Counterexample):
            return verdict
    first = left.rows[0]
    row = f"row {first + 1} of {mapping}"
    if not all(entry.is_constant for entry in mapping.matrix[first]):
        return Undecided(f"{row} has coefficients that contain parameters")
    return Undecided(f"{row} wraps a number of times that grows with the parameters")


def _probed_sizes(where: isl.Set, apart: int) -> Iterator[dict[str, int]]:
    """The smallest parameter values, and larger ones, of several parameters some that are far apart.

    apart  how many pairs of values that have nothing in common are among them
    """
    names = parameter_names(where)
    least = {} if where.is_empty() else smallest_parameters(where)
    rest = where
    for _ in range(_PROBED_SIZES):
        if rest.is_empty():
            return
        params = smallest_parameters(rest)
        yield params
        rest = rest.subtract(fix_parameters(params))
    for low in _PROBED_FROM:
        for grown in (*([name] for name in names), list(names)):
            bounds = " and ".join(f"{name} >= {low}" for name in grown)
            larger = rest.intersect(isl.Set(f"[{', '.join(grown)}] -> {{ : {bounds} }}"))
            if not larger.is_empty():
                yield smallest_parameters(larger)
    for k in range(1, apart + 1 if len(names) > 1 else 1):
        steps = ((7 * k + 5 * k * j + 3 * j) % _PROBED_REACH for j in range(len(names)))
        params = {name: least[name] + step for name, step in zip(names, steps, strict=True) if name in least}
        if not rest.is_disjoint(fix_parameters(params)):
            yield params


def _counterexample(
    conflicts: Conflicts, mapping: ModularMapping, colliding: isl.Set
) -> Counterexample | Undecided:
    params = smallest_parameters(colliding.params())
    here = colliding.intersect_params(fix_parameters(params))
    difference = smallest_point(here)
    pairs = conflicts.at(params).pairs_apart([-step for step in difference])
    if pairs.is_empty():
        # Differences may be more than those of cells, where the exact ones were too many to handle.
        return Undecided(f"{mapping} does not tell cells apart that differ by {list(difference)}")
    return _from_pairs(conflicts, pairs, params, mapping)


def _from_pairs(
    conflicts: Conflicts, pairs: isl.Map, params: Mapping[str, int], mapping: ModularMapping | RelationMapping
) -> Counterexample:
    rank = conflicts.array.rank
    numbers = smallest_point(pairs.intersect_params(fix_parameters(params)).wrap())
    first, second = numbers[:rank], numbers[rank:]
    return Counterexample(conflicts.name, params, (first, second), mapping.address(first, params))


# ---------------------------------------------------------------- rows that are divided


def _verify_divided(conflicts: Conflicts, mapping: ModularMapping) -> Verdict:
    """The verdict on rows with divisors.

    If every row takes each difference to a multiple of its divisor, then `floor(v/p) mod b` is the same for
    two conflicting cells iff their v differ by a multiple of p*b, whatever the remainders are. Otherwise isl
    looks at the pairs, at all sizes if the mapping is affine, or at a few.
    """
    uneven = [k for k in range(len(mapping.moduli)) if not _divides_differences(conflicts, mapping, k)]
    if not uneven:
        verdict = _verify_modular(conflicts, mapping.without_divisors())
        if isinstance(verdict, Counterexample):
            return replace(verdict, address=mapping.address(verdict.cells[0], verdict.params))
        if isinstance(verdict, Proof):
            steps = [
                f"conflicting cells differ by multiples of {by} in {mapping.row(k) - mapping.offset[k]}, so "
                f"dividing row {k + 1} by {by} tells as many of them apart"
                for k, by in enumerate(mapping.divisors)
                if by > 1
            ]
            return replace(verdict, steps=(*steps, *verdict.steps))
        return verdict
    with suppress(NotAffine):
        return _verify_relation(conflicts, RelationMapping(mapping.array, mapping.to_isl()))
    where = conflicts.differences.intersect_params(conflicts.context).params()
    for _ in range(_PROBED_SIZES):
        if where.is_empty():
            break
        params = smallest_parameters(where)
        here = RelationMapping(mapping.array, mapping.at(params).to_isl())
        verdict = _verify_relation(conflicts.at(params), here)
        if isinstance(verdict, Counterexample):
            return verdict
        where = where.subtract(fix_parameters(params))
    first, by = uneven[0] + 1, mapping.divisor(uneven[0])
    return Undecided(f"row {first} of {mapping} is divided by {by} with different remainders")


def _divides_differences(conflicts: Conflicts, mapping: ModularMapping, k: int) -> bool:
    """Whether a row takes all differences of conflicting cells to multiples of its divisor."""
    differences = conflicts.differences.intersect_params(conflicts.context)
    rank, known = len(mapping.dimensions), parameter_names(differences)
    names = fresh_names("d", rank, known)
    for axis, name in enumerate(names):
        differences = differences.set_dim_name(isl.dim_type.set, axis, name)
    where = differences.move_dims(isl.dim_type.param, len(known), isl.dim_type.set, 0, rank).params()
    row = Formula.sum(
        entry * Formula.name(name) for entry, name in zip(mapping.matrix[k], names, strict=True)
    )
    return is_whole_on(row * Fraction(1, mapping.divisor(k)), where)


# ---------------------------------------------------------------- any relation


def _verify_relation(conflicts: Conflicts, mapping: RelationMapping) -> Verdict:
    pairs = conflicts.pairs.intersect_params(conflicts.context)
    uncovered = pairs.domain().subtract(mapping.relation.domain())
    if not uncovered.is_empty():
        raise IncompleteMapping(
            f"the mapping gives no address to {uncovered.sample_point()}, which conflicts"
        )
    collisions = find_collisions(pairs, mapping.relation)
    if collisions.is_empty():
        step = "no pair of conflicting cells has equal images"
        return Proof("by an emptiness check on the conflicting pairs (isl)", (step,), conflicts.context)
    return _from_pairs(conflicts, collisions, smallest_parameters(collisions.params()), mapping)


# ---------------------------------------------------------------- tables


def _verify_table(conflicts: Conflicts, mapping: TableMapping) -> Verdict:
    """Every conflicting pair at the parameter values of the table is looked at."""
    check_table(conflicts, mapping)
    here = conflicts.at(mapping.params)
    addresses = dict(mapping.table)
    for cell in points(here.cells.intersect_params(here.context)):
        if cell not in addresses:
            index = ", ".join(map(str, cell))
            raise IncompleteMapping(f"the table gives no address to {conflicts.name}[{index}]")
    rank = conflicts.array.rank
    collisions: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def compare(pair: tuple[int, ...]) -> None:
        first, second = sorted((pair[:rank], pair[rank:]))
        if first != second and addresses[first] == addresses[second]:
            collisions.append((first, second))

    visit_points(here.pairs_one_way.intersect_params(here.context).wrap(), compare)
    if collisions:
        cells = min(collisions)
        return Counterexample(conflicts.name, mapping.params, cells, (addresses[cells[0]],))
    step = f"{len(addresses)} cells have {mapping.size} addresses, and no conflicting pair has equal ones"
    where = f"{mapping.where}, " if mapping.params else ""
    return Proof(f"{where}by looking at every pair of conflicting cells", (step,), here.context, "table")
