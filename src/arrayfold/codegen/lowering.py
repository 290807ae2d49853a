"""The form of a mapping that makes fast code: the same cells share addresses, but in another order.

Renumbering: a row may be multiplied by a unit of its modulus, which permutes the addresses. If the innermost
loop moves a row by a, the inverse of a makes it move by 1, and the loop walks through memory.

Slack: a modulus that is exact may put a write right behind a read, so that the iterations of the innermost
loop depend on each other. A strip of further cells keeps them apart, and the strip runs as a vector loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.codegen.address import Row, lay_out, wraps
from arrayfold.codegen.independence import STRIPS, Independence
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced, coordinate, maps_by_domain
from arrayfold.exact.lattice import Vector
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.order.code_order import CodeOrder, next_iteration
from arrayfold.program.guards import with_guard_reads
from arrayfold.program.model import Program

STRIP = 256
_LARGEST_UNIT = 64
_OPERATIONS = 6_000_000
_OPERATIONS_AN_ARRAY = 1_500_000
_MOST_RELAXED = 3


@dataclass(frozen=True, eq=False)
class Lowered:
    """A mapping for code, and how many cells more than the smallest it has; None for none.

    tight  the same without these
    """

    mapping: EmittableMapping
    slack: Formula | None = None
    tight: EmittableMapping | None = None

    def without_slack(self) -> Lowered:
        """The same with the smallest number of cells."""
        return self if self.tight is None else Lowered(self.tight)

    @property
    def remark(self) -> str:
        """What was traded, in words."""
        return f"; {self.slack} more so that loops vectorise" if self.slack is not None else ""


def lower(
    program: Program,
    order: CodeOrder,
    conflicts: Mapping[str, Conflicts],
    mappings: Mapping[str, EmittableMapping],
    slack: int,
) -> dict[str, Lowered]:
    """Mappings for fast loops; each one that changes is proved again, and left as it is otherwise.

    slack      cells that a modulus may grow by
    """
    lowered = {name: Lowered(mapping) for name, mapping in mappings.items()}
    program = with_guard_reads(program)
    budget = Budget.of_work(max(_OPERATIONS, _OPERATIONS_AN_ARRAY * len(mappings)))
    with suppress(ArrayfoldError), budget.limit("the form of mappings"):
        loops = InnermostLoops.of(program, order)
        for name, mapping in mappings.items():
            if isinstance(mapping, ModularMapping):
                lowered[name] = Lowered(_renumbered(mapping, loops.steps(name), conflicts[name]))
        _add_slack(program, order.schedule, conflicts, lowered, loops, slack)
    return lowered


# ---------------------------------------------------------------- loops


@dataclass(frozen=True, eq=False)
class InnermostLoops:
    """For each statement the dimension of its innermost loop, and how that moves the cells it accesses.

    moves  statement -> array -> how a cell of the array moves in one iteration, for every access
    """

    dimension: Mapping[str, int]
    moves: Mapping[str, Mapping[str, tuple[Vector, ...]]]
    times: Mapping[str, isl.Map]

    @staticmethod
    def of(program: Program, order: CodeOrder) -> InnermostLoops:
        """The innermost loops of an order."""
        times = maps_by_domain(order.schedule)
        short = order.unrolled
        dimension: dict[str, int] = {}
        moves: dict[str, dict[str, tuple[Vector, ...]]] = {}
        for item in program.statements:
            if item.name not in times:
                continue
            innermost = _last_loop(times[item.name], short[item.name])
            if innermost is None:
                continue
            dimension[item.name], move = innermost
            found: dict[str, tuple[Vector, ...]] = {}
            for access in item.accesses:
                step = _moved(access.relation, move)
                if step is not None:
                    found[access.array] = (*found.get(access.array, ()), step)
            moves[item.name] = found
        return InnermostLoops(dimension, moves, times)

    def steps(self, array: str) -> list[Vector]:
        """How innermost loops move the cells of an array, the most frequent way first."""
        found = [step for moved in self.moves.values() for step in moved.get(array, ())]
        return sorted(set(found), key=lambda step: (-found.count(step), step))

    def groups(self) -> Iterator[tuple[int, frozenset[str]]]:
        """Statements that are together in an innermost loop, with its dimension."""
        waiting = list(self.dimension)
        iterations = {name: self._iterations(name) for name in waiting}
        while waiting:
            group = [waiting.pop(0)]
            for name in group:
                near = [
                    other
                    for other in waiting
                    if self.dimension[other] == self.dimension[name]
                    and not iterations[name].is_disjoint(iterations[other])
                ]
                group += near
                waiting = [other for other in waiting if other not in near]
            yield self.dimension[group[0]], frozenset(group)

    def _iterations(self, name: str) -> isl.Set:
        """{ [t] }: the iterations of the innermost loop of a statement, without what is inside of it."""
        times = self.times[name].range().reset_tuple_id()
        first = self.dimension[name] + 1
        return coalesced(times.project_out(isl.dim_type.set, first, times.dim(isl.dim_type.set) - first))


def _last_loop(times: isl.Map, unrolled: frozenset[int]) -> tuple[int, Vector] | None:
    """The innermost loop of a statement and how its iterators move in it, if that is one vector.

    It is the last dimension that takes several values for fixed values of the others, and is not unrolled.
    """
    for dimension in reversed([d for d in range(times.dim(isl.dim_type.out)) if d not in unrolled]):
        if times.plain_get_val_if_fixed(isl.dim_type.out, dimension).is_int():
            continue
        steps = next_iteration(times, dimension).deltas()
        if not steps.is_empty():
            step = steps.sample_point()
            only = isl.Set.from_point(step).reset_tuple_id()
            only = only.project_out(isl.dim_type.param, 0, only.dim(isl.dim_type.param))
            if not steps.reset_tuple_id().is_subset(only):
                return None
            count = steps.dim(isl.dim_type.set)
            return dimension, tuple(coordinate(step, isl.dim_type.set, k) for k in range(count))
    return None


def _moved(access: isl.Map, step: Vector) -> Vector | None:
    """How the accessed cell moves if the iterators move by a step, if that is one vector."""
    if not access.is_single_valued():
        return None
    form = access.as_pw_multi_aff()
    entries: list[int] = []
    for k in range(access.dim(isl.dim_type.out)):
        slopes = {_slope_along(aff, step) for _, aff in form.get_at(k).get_pieces()}
        slope = slopes.pop() if len(slopes) == 1 else None
        if slope is None:
            return None
        entries.append(slope)
    return tuple(entries)


def _slope_along(form: isl.Aff, step: Vector) -> int | None:
    if form.dim(isl.dim_type.div):
        return None
    slopes = [form.get_coefficient_val(isl.dim_type.in_, k).to_python() for k in range(len(step))]
    return sum(by * slope for by, slope in zip(step, slopes, strict=True))


# ---------------------------------------------------------------- renumbering


def _renumbered(mapping: ModularMapping, steps: Sequence[Vector], conflicts: Conflicts) -> ModularMapping:
    """The mapping with rows that move by one in the innermost loops, as far as that can be had."""
    found = mapping
    for k in range(len(mapping.moduli)):
        for step in steps:
            slope = _slope(found.matrix[k], step)
            if slope == Formula.constant(0):
                continue
            found = _with_unit_slope(found, k, slope)
            break
    if found == mapping:
        return mapping
    try:
        is_proved = isinstance(verify(conflicts, found), Proof)
    except ArrayfoldError:
        is_proved = False
    return found if is_proved else mapping


def _slope(row: Sequence[Formula], step: Vector) -> Formula:
    """How far a step moves a row."""
    terms = (entry * by for entry, by in zip(row, step, strict=True))
    return sum(terms, start=Formula.constant(0))


def _with_unit_slope(mapping: ModularMapping, k: int, slope: Formula) -> ModularMapping:
    """Row k times the inverse of its slope modulo its modulus, where there is one for all sizes."""
    modulus = mapping.moduli[k]
    if not slope.is_constant or abs(int(slope.as_number())) > _LARGEST_UNIT:
        return mapping
    number = int(slope.as_number())
    if number == 1:
        return mapping
    for turns in range(abs(number)):
        unit = (modulus * turns + 1) * Fraction(1, number)
        if unit.is_whole:
            row = tuple(_reduced(entry * unit, modulus) for entry in mapping.matrix[k])
            offset = _reduced(mapping.offset[k] * unit, modulus)
            return replace(
                mapping,
                matrix=(*mapping.matrix[:k], row, *mapping.matrix[k + 1 :]),
                offset=(*mapping.offset[:k], offset, *mapping.offset[k + 1 :]),
            )
    return mapping


def _reduced(entry: Formula, modulus: Formula) -> Formula:
    """The simplest of the formulas that differ by a few multiples of the modulus."""
    leading = max((sum(power for _, power in monomial) for monomial, _ in modulus.terms), default=0)
    top = [(m, c) for m, c in modulus.terms if sum(power for _, power in m) == leading]
    guess = 0
    if top:
        monomial, coefficient = top[0]
        guess = round(dict(entry.terms).get(monomial, Fraction(0)) / coefficient)
    candidates = [entry - modulus * turns for turns in (guess - 1, guess, guess + 1)]
    return min(candidates, key=lambda one: (_weight(one), str(one)))


def _weight(formula: Formula) -> tuple[Fraction, Fraction]:
    """The sizes of coefficients, those of parameters first."""
    grown = sum((abs(c) for monomial, c in formula.terms if monomial), start=Fraction(0))
    return grown, sum((abs(c) for monomial, c in formula.terms if not monomial), start=Fraction(0))


# ---------------------------------------------------------------- slack


def _add_slack(
    program: Program,
    schedule: isl.UnionMap,
    conflicts: Mapping[str, Conflicts],
    lowered: dict[str, Lowered],
    loops: InnermostLoops,
    slack: int,
) -> None:
    """Let moduli grow until the iterations of innermost loops are independent, where that helps."""
    for dimension, statements in loops.groups() if slack else ():
        known = Independence(program, schedule, {name: one.mapping for name, one in lowered.items()})
        if known.strip(dimension, statements)[0]:
            continue
        relaxed: dict[str, Lowered | None] = {}
        changes: list[dict[str, Lowered]] = []
        for length in STRIPS:
            harmful = known.harmful(dimension, statements, length, first_only=False)
            if harmful is None or len(harmful) > _MOST_RELAXED:
                continue
            for name in harmful:
                if name not in relaxed and name in lowered:
                    steps = [step for item in statements for step in loops.moves[item].get(name, ())]
                    relaxed[name] = _with_slack(lowered[name], steps, slack, conflicts[name])
            change = {name: one for name in harmful if (one := relaxed.get(name)) is not None}
            if len(change) == len(harmful) and all(
                known.is_harmless(one.mapping, dimension, statements, length) for one in change.values()
            ):
                changes.append(change)
        if changes:
            lowered.update(min(changes, key=len))


def _with_slack(one: Lowered, steps: Sequence[Vector], slack: int, conflicts: Conflicts) -> Lowered | None:
    """The mapping with a larger modulus, if there is one and it is proved."""
    if not steps or one.slack is not None:
        return None
    relaxed = _relaxed(one.mapping, steps, slack, conflicts)
    if relaxed is None or not isinstance(verify(conflicts, relaxed), Proof):
        return None
    return Lowered(relaxed, relaxed.size - one.mapping.size, one.mapping)


def _relaxed(
    mapping: EmittableMapping, steps: Sequence[Vector], slack: int, conflicts: Conflicts
) -> ModularMapping | None:
    """The mapping with a larger modulus in the row that the innermost loop moves, if sizes grow anyway.

    Where no address wraps, a larger modulus changes none. And nothing may become larger than it was.
    """
    if not isinstance(mapping, ModularMapping) or not wraps(mapping, conflicts.cells):
        return None
    far = large_parameters(conflicts.context)
    for k, modulus in enumerate(mapping.moduli):
        moves = any(_slope(mapping.matrix[k], step) != Formula.constant(0) for step in steps)
        if moves and not modulus.is_constant:
            moduli = (*mapping.moduli[:k], modulus + slack, *mapping.moduli[k + 1 :])
            relaxed = replace(mapping, moduli=moduli)
            is_smaller = relaxed.size.evaluate(far) < conflicts.original_size.evaluate(far)
            return relaxed if is_smaller else None
    return None


# ---------------------------------------------------------------- speed


def loop_cost(mapping: ModularMapping, steps: Sequence[Vector], conflicts: Conflicts) -> int:
    """How much a mapping is in the way of fast innermost loops; 0 if it is not.

    Each row counts by what the innermost loops do to it: 0 if it never wraps or stays the same, 1 if it wraps
    but moves by one cell, so that loops are split, 3 if it jumps, and 2 if it moves but is not the last.

    steps  how innermost loops move the cells of the array
    """
    found = _renumbered(mapping, steps, conflicts)
    layout = lay_out(found, conflicts.cells, conflicts.context)
    total = 0
    for position, row in enumerate(layout.rows):
        assert isinstance(row, Row)
        slopes = [_slope(row.coefficients, step) for step in steps]
        moving = [slope for slope in slopes if slope != Formula.constant(0)]
        if moving and position < len(layout.rows) - 1:
            total += 2
        if any(slope not in (Formula.constant(1), Formula.constant(-1)) for slope in moving):
            total += 3
        if moving and row.wrap != "none":
            total += 1
    return total
