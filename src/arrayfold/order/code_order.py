"""The order in which code runs the instances of a program: one after the other, except in parallel loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.c.source import Copy, CSource, StatementSource
from arrayfold.c.tree import Evaluate, Variable
from arrayfold.exact.isl import maps_of
from arrayfold.exact.relations import relation, union_of_maps, union_of_sets
from arrayfold.order.loops import loop_dimensions
from arrayfold.program.model import Program

_MOST_COPIES = 32
_SHORTEST_VECTOR = 4


@dataclass(frozen=True, eq=False)
class CodeOrder:
    """A schedule with a time of its own for each instance.

    schedule    { S[i] -> [t] }  of the statements that are code; conditions are evaluated where they guard
    parallel    dimensions whose loops run in parallel
    statements  in the order of the text
    writes      { S[i] -> A[x] }  of arrays
    whole       dimensions whose loops are not cut into pieces: conditions of copies stand inside
    """

    schedule: isl.UnionMap
    parallel: frozenset[int]
    statements: tuple[str, ...]
    writes: isl.UnionMap
    whole: frozenset[int] = frozenset()

    @property
    def depth(self) -> int:
        """The number of dimensions."""
        return _depth(self.schedule)

    @cached_property
    def unrolled(self) -> dict[str, frozenset[int]]:
        """Statement -> dimensions of short loops of a fixed length; those around become innermost.

        Not those that write more than a few cells in a row, which are what a vector loop should be.
        """
        found: dict[str, frozenset[int]] = {}
        for part in maps_of(self.schedule):
            times = part.range()
            lengths = [_fixed_length(times, d) for d in range(times.dim(isl.dim_type.set))]
            loops = [d for d, length in enumerate(lengths) if length != 1]
            name = str(part.get_tuple_name(isl.dim_type.in_))
            copies, short = 1, set[int]()
            for d in reversed(loops[1:]):
                copies *= lengths[d] or _MOST_COPIES + 1
                is_long = (lengths[d] or 0) > _SHORTEST_VECTOR
                if copies > _MOST_COPIES or d in self.parallel:
                    break
                if is_long and self._writes_cells_in_a_row(part, d):
                    break
                short.add(d)
            found[name] = frozenset(short)
        return found

    def _writes_cells_in_a_row(self, times: isl.Map, dimension: int) -> bool:
        both = isl.UnionMap.from_map(next_iteration(times, dimension))
        both = both.apply_domain(self.writes).apply_range(self.writes)
        for pairs in maps_of(both):
            moves = pairs.deltas()
            rank = moves.dim(isl.dim_type.set)
            row = isl.Set(f"{{ [{', '.join(['0'] * (rank - 1) + ['1'])}] }}")
            if not moves.reset_tuple_id().is_disjoint(row):
                return True
        return False

    def options(self) -> isl.UnionMap:
        """{ [t] -> unroll[d]; [t] -> atomic[d] }: the same for isl, and what is left whole."""
        options: list[isl.Map] = []
        short = self.unrolled
        for part in maps_of(self.schedule):
            times = [f"t{k}" for k in range(part.dim(isl.dim_type.out))]
            mine = short[str(part.get_tuple_name(isl.dim_type.in_))]
            kinds = [("unroll", d) for d in mine] + [("atomic", d) for d in self.whole - mine]
            for kind, d in kinds:
                option = relation(times, [str(d)], names=("", kind))
                options.append(option.intersect_domain(part.range()))
        return union_of_maps(self.schedule.get_space(), options)

    def separation(self) -> isl.UnionMap:
        """{ [t] -> separate[d] }: innermost loops are cut where other statements begin to run."""
        options: list[isl.Map] = []
        short = self.unrolled
        for part in maps_of(self.schedule):
            not_cut = short[str(part.get_tuple_name(isl.dim_type.in_))] | self.whole
            loops = [d for d in loop_dimensions(isl.UnionMap.from_map(part)) if d not in not_cut]
            if loops:
                times = [f"t{k}" for k in range(part.dim(isl.dim_type.out))]
                option = relation(times, [str(loops[-1])], names=("", "separate"))
                options.append(option.intersect_domain(part.range()))
        return union_of_maps(self.schedule.get_space(), options)

    def without(self, statements: Collection[str]) -> CodeOrder:
        """The order of the other statements."""
        kept = [
            part for part in maps_of(self.schedule) if part.get_tuple_name(isl.dim_type.in_) not in statements
        ]
        schedule = union_of_maps(self.schedule.get_space(), kept)
        names = tuple(name for name in self.statements if name not in statements)
        return replace(self, schedule=schedule, statements=names)

    @staticmethod
    def of(program: Program, source: CSource) -> CodeOrder:
        """The order of a program; where instances have equal times, they run in a parallel loop."""
        assert program.schedule is not None
        runs = [name for name, statement in source.statements.items() if not _is_condition(statement)]
        space = program.context.get_space()
        domain = union_of_sets(space, (one.domain for one in program.statements if one.name in runs))
        schedule = program.schedule.intersect_domain(domain).intersect_params(program.context)
        steps = _depth(schedule)
        # Without the domains it takes less to see that all times differ, and it is nearly always so.
        is_injective = program.schedule.is_injective() or schedule.is_injective()
        whole = schedule if is_injective else _one_at_a_time(schedule, runs)
        parallel = frozenset({*program.parallel, *range(steps + 1, _depth(whole))})
        arrays = [array.name for array in program.arrays if array.rank]
        writes = union_of_maps(space, (program.accesses(writes=True, array=name) for name in arrays))
        return CodeOrder(whole, parallel, tuple(runs), writes, _around_copies(whole, source))


def next_iteration(times: isl.Map, dimension: int) -> isl.Map:
    """{ S[i] -> S[j] }: j runs one iteration of a loop after i, for the same other dimensions."""
    depth = times.dim(isl.dim_type.out)
    first = [f"t{k}" for k in range(depth)]
    second = [f"t{k} + 1" if k == dimension else f"t{k}" for k in range(depth)]
    return times.apply_range(relation(first, second)).apply_range(times.reverse())


def _fixed_length(times: isl.Set, dimension: int) -> int | None:
    """How far it is from the first to the last value of a loop, both counted, if that is one small number.

    It is the number of iterations of a loop with step one.
    """
    if times.plain_get_val_if_fixed(isl.dim_type.set, dimension).is_int():
        return 1
    depth = times.dim(isl.dim_type.set)
    outer = times.project_out(isl.dim_type.set, dimension + 1, depth - dimension - 1)
    names = [f"t{k}" for k in range(dimension)]
    same = relation([*names, "a"], [*names, "b"], "a <= b")
    # One piece that is long makes the loop long; there are far fewer pieces than pairs of them.
    pieces = map(isl.Set.from_basic_set, outer.get_basic_sets())
    if any(_farthest(same, piece, dimension) is None for piece in pieces):
        return None
    most = _farthest(same, outer, dimension)
    if most is None:
        return None
    # Wherever the loop starts, its last value must be as far away.
    end = relation([*names, "a"], [*names, f"a + {most}"])
    after = relation([*names, "a"], [*names, "b"], "b > a")
    starts = outer.subtract(outer.apply(after))
    return most + 1 if starts.apply(end).is_subset(outer) else None


def _farthest(same: isl.Map, outer: isl.Set, dimension: int) -> int | None:
    """How far apart two iterations of a loop are at most, if that is a small number.

    same  { [t, a] -> [t, b] }  iterations of one execution of the loop
    """
    most = same.intersect_domain(outer).intersect_range(outer).deltas().dim_max_val(dimension)
    return most.to_python() if most.is_int() and most.to_python() < _MOST_COPIES else None


def _around_copies(schedule: isl.UnionMap, source: CSource) -> frozenset[int]:
    """The loops that copies stand in: those of other statements but for their innermost ones."""
    nodes = {name: statement.node for name, statement in source.statements.items()}
    if not any(isinstance(node, Copy) for node in nodes.values()):
        return frozenset()
    outer, inner = set[int](), set[int]()
    for part in maps_of(schedule):
        if not isinstance(nodes[str(part.get_tuple_name(isl.dim_type.in_))], Copy):
            *around, last = (-1, *loop_dimensions(isl.UnionMap.from_map(part)))
            outer |= {*around}
            inner.add(last)
    return frozenset(outer - inner - {-1})


def _is_condition(statement: StatementSource) -> bool:
    return not isinstance(statement.node, Evaluate | Variable | Copy)


def _depth(schedule: isl.UnionMap) -> int:
    return max((part.dim(isl.dim_type.out) for part in maps_of(schedule)), default=0)


def _one_at_a_time(schedule: isl.UnionMap, statements: Sequence[str]) -> isl.UnionMap:
    """The schedule with a time of its own for each instance.

    schedule  { S[i] -> [t] }            instances at one time are in no order
    result    { S[i] -> [t, place, i] }  the loops inside may be parallel ones
    """
    parts = maps_of(schedule)
    most = max(part.dim(isl.dim_type.in_) for part in parts)
    found: list[isl.Map] = []
    for part in parts:
        name = str(part.get_tuple_name(isl.dim_type.in_))
        rank = part.dim(isl.dim_type.in_)
        iterators = [f"i{k}" for k in range(rank)]
        inner = [str(statements.index(name)), *iterators, *["0"] * (most - rank)]
        found.append(part.flat_range_product(relation(iterators, inner, names=(name, ""))))
    return union_of_maps(schedule.get_space(), found)
