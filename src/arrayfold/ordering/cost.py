"""What an order costs: bytes through each cache, iterations of innermost loops, and how often these begin.

The model is that of docs/cost-model.md. It looks at one iteration in the middle of each loop, at fixed sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import islpy as isl

from arrayfold.base.choices import Favor
from arrayfold.c.source import Copy
from arrayfold.c.tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Evaluate,
    Expression,
    Node,
    Number,
    OtherLiteral,
    Parentheses,
    Reference,
    Subscript,
    Unary,
    Variable,
    walk,
)
from arrayfold.exact.isl import integer, smallest_point
from arrayfold.exact.relations import relation
from arrayfold.order.nests import Nest, Pairs, Times
from arrayfold.ordering.live_cells import live_cells, middle_of
from arrayfold.ordering.machine import Machine
from arrayfold.ordering.sized_program import SizedProgram
from arrayfold.select.innermost_loops import last_loop

_CYCLES_OF_A_CALL = 15.0
_CYCLES_OF_A_DIVISION = 4.0
_OPERATIONS_A_CYCLE = 5.0
_CYCLES_OF_A_CHAIN = 3.0
_CYCLES_TO_BEGIN = 12.0
_CYCLES_TO_WRAP = 40.0
_STRETCH = 256
_MOST_UNKNOWN = 0.3
_NEGLIGIBLE = 0.05
_LONGEST_PERIOD = 12
# Vectors are read in these steps with a few more instructions.
_LARGEST_STRIDE = 2
# A statement runs at a border if it does so in one of so many iterations.
_BORDER = 16
# Rows of arrays of planes are counted one by one where there are no more in the box around them.
_MOST_ROWS = 4096
# Which iteration of a loop stands for all of them: on diagonals of a square one in the middle is too long.
_PLACES = (Fraction(1, 2), Fraction(1, 4))
# The part of a cache that holds what a program needs again: others use it, too.
_USABLE = 0.75
# How much of the work that is not the slowest is hidden behind it.
_OVERLAP = 0.7


@dataclass(frozen=True)
class Cost:
    """What an order costs at some sizes.

    cycles      estimated for all of it
    work        those of the processor alone, as if all data were in its first cache
    cells       live cells of all temporaries
    bytes       how many they take
    vectorised  which part of the iterations is in loops that compilers vectorise
    """

    cycles: float
    work: float
    cells: int
    bytes: int
    vectorised: float


def cost_of(sized: SizedProgram, schedule: isl.UnionMap, machine: Machine, favor: Favor = "size") -> Cost:
    """The cost of a program in an order { S[i] -> [t] }.

    favor  which mappings go with it
    """
    times = sized.times(schedule)
    if not times.parts:
        return Cost(0.0, 0.0, 0, 0, 1.0)
    cells = live_cells(sized, times)
    folded = {name: count * sized.bytes_of(name) for name, count in cells.items()}
    carried = Pairs.of(times, sized.at_sizes(sized.carried))
    everything = {name: part.range() for name, part in times.parts.items()}
    for place in _PLACES:
        model = _Model(sized, times, machine, folded, carried, place, favor)
        root = model.node(list(times.parts), 0, everything)
        if _is_known(root, sized.instances):
            break
    else:
        return Cost(math.inf, math.inf, sum(cells.values()), sum(folded.values()), 0.0)
    work, vectorised, iterations = root.work
    # What fits into a cache as a whole is there already: programs are compared warm.
    touched, _ = root.footprint
    moved_bytes = [
        0.0 if touched <= _USABLE * room else root.traffic(level) for level, room in enumerate(machine.caches)
    ]
    parts = [work, *(a * b for a, b in zip(moved_bytes, machine.cycles_a_byte, strict=True))]
    slowest = max(parts)
    cycles = slowest + (1 - _OVERLAP) * (sum(parts) - slowest)
    share = vectorised / iterations if iterations else 1.0
    return Cost(cycles, work, sum(cells.values()), sum(folded.values()), share)


def _is_known(root: _Node, actual: Mapping[str, float]) -> bool:
    """Whether iterations in the middle of loops stand for all of them, by the number of instances."""
    total = sum(actual.values())
    return all(
        abs(root.instances.get(name, 0.0) - count) <= _MOST_UNKNOWN * max(count, _NEGLIGIBLE * total)
        for name, count in actual.items()
    )


@dataclass(frozen=True, eq=False)
class _Model:
    sized: SizedProgram
    times: Times
    machine: Machine
    folded: Mapping[str, int]
    carried: Pairs
    place: Fraction
    favor: Favor

    def node(self, names: Sequence[str], d: int, reached: Mapping[str, isl.Set]) -> _Node:
        """The part of the program from a dimension on.

        reached  statement -> { [t] }: the times with the dimensions in front of it fixed
        """
        alive = {name: reached[name] for name in names if not reached[name].is_empty()}
        return _Node(self, tuple(alive), d, alive)


@dataclass(frozen=True, eq=False)
class _Node:
    model: _Model
    names: tuple[str, ...]
    d: int
    reached: Mapping[str, isl.Set]

    # ------------------------------------------------ the tree

    @cached_property
    def _nests(self) -> list[Nest]:
        return self.model.times.nests(self.names, self.d) if self.names else []

    @cached_property
    def _parts(self) -> list[_Node]:
        """What runs one after the other; nothing if it is one loop."""
        if len(self._nests) <= 1:
            return []
        return [
            self.model.node(nest.statements, self.d if nest.loop is None else nest.loop, self.reached)
            for nest in self._nests
        ]

    @cached_property
    def _loop(self) -> int | None:
        """The dimension of its loop."""
        return self._nests[0].loop if len(self._nests) == 1 else None

    @cached_property
    def _ends(self) -> tuple[int, int]:
        assert self._loop is not None
        ends = [
            (part.dim_min_val(self._loop).to_python(), part.dim_max_val(self._loop).to_python())
            for part in self.reached.values()
        ]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @cached_property
    def _count(self) -> float:
        """How many periods its statements have on average: shifted stages do not run in all of them."""
        assert self._loop is not None
        d = self._loop
        counts = [
            part.dim_max_val(d).to_python() - part.dim_min_val(d).to_python() + 1
            for part in self.reached.values()
        ]
        return sum(counts) / len(counts) / self._period

    @cached_property
    def _period(self) -> int:
        """After how many iterations the loop does the same again: stages may run in some of them only."""
        assert self._loop is not None
        strides = (part.get_stride(self._loop).to_python() for part in self.reached.values())
        period = math.lcm(*strides)
        return period if period <= _LONGEST_PERIOD else 1

    def _iteration(self, extra: int = 0) -> _Node:
        """One period in the middle, or a few iterations more."""
        assert self._loop is not None
        low, high = self._ends
        middle = low + math.floor((high - low) * self.model.place)
        extra += self._period - 1
        fixed: dict[str, isl.Set] = {}
        for name, part in self.reached.items():
            here = part.lower_bound_val(isl.dim_type.set, self._loop, integer(middle))
            fixed[name] = here.upper_bound_val(isl.dim_type.set, self._loop, integer(middle + extra))
        return self.model.node(self.names, self._loop + 1, fixed)

    @cached_property
    def _inside(self) -> _Node:
        return self._iteration()

    @cached_property
    def _innermost(self) -> _InnermostLoop | None:
        """The loop if it is an innermost one; statements of its borders are split off."""
        if self._loop is None:
            return None
        running = [name for name, part in self.reached.items() if _several(part, self._loop)]
        groups = {name: last_loop(self.model.times.parts[name], self._short(name)) for name in running}
        if not groups or any(found is None or found[0] != self._loop for found in groups.values()):
            return None
        counts = self._counts()
        fewest = max(counts.values()) / _BORDER
        steps = {name: found[1] for name, found in groups.items() if found and counts[name] >= fewest}
        return _InnermostLoop(self.model, self._loop, steps, self.reached)

    def _short(self, name: str) -> frozenset[int]:
        times = self.model.times
        return frozenset(d for d in range(self.d + 1, times.depth) if times.is_short(name, d))

    @cached_property
    def instances(self) -> dict[str, float]:
        """Statement -> how many instances of it the loops are taken to run."""
        if self._parts:
            return {name: count for part in self._parts for name, count in part.instances.items()}
        if self._loop is None or self._innermost is not None:
            return self._counts()
        return {name: count * self._count for name, count in self._inside.instances.items()}

    # ------------------------------------------------ work

    @cached_property
    def work(self) -> tuple[float, float, float]:
        """Cycles, iterations in vectorised loops, and iterations."""
        if not self.names:
            return 0.0, 0.0, 0.0
        if self._parts:
            found = [part.work for part in self._parts]
            return sum(a for a, _, _ in found), sum(b for _, b, _ in found), sum(c for _, _, c in found)
        if self._loop is None:
            return float(len(self.names)) + self._operations(self.names) / _OPERATIONS_A_CYCLE, 0.0, 1.0
        group = self._innermost
        if group is not None:
            each = group.cycles(self._counts())
            total = self._count
            return each, total * group.is_vectorised, total
        cycles, vectorised, iterations = self._inside.work
        return cycles * self._count, vectorised * self._count, iterations * self._count

    def _operations(self, names: Sequence[str]) -> float:
        return sum(operations_of(self.model.sized, name)[0] for name in names)

    def _counts(self) -> dict[str, float]:
        """Statement -> how many instances of it the innermost loop runs."""
        return {name: float(str(part.count_val())) for name, part in self.reached.items()}

    # ------------------------------------------------ bytes

    @cached_property
    def footprint(self) -> tuple[float, float]:
        """Bytes that it touches; the same where what is written counts twice, as it moves twice."""
        touched: dict[str, list[isl.Set]] = {}
        written: set[str] = set()
        for name, part in self.reached.items():
            instances = self.model.times.parts[name].intersect_range(part).domain()
            for array, access, is_write in self.model.sized.accesses.get(name, ()):
                cells = access.intersect_domain(instances).range()
                if cells.is_empty():
                    continue
                touched.setdefault(array, []).append(cells)
                if is_write:
                    written.add(array)
        total = weighted = 0.0
        for array, cells in touched.items():
            size = self._bytes(array, cells)
            total += size
            weighted += size * (1 + (array in written))
        return total, weighted

    def _bytes(self, array: str, touched: Sequence[isl.Set]) -> float:
        """Bytes of the lines around some cells of an array, no more than those that it is folded to."""
        width = self.model.sized.bytes_of(array)
        ends = [
            [(cells.dim_min_val(k).to_python(), cells.dim_max_val(k).to_python()) for cells in touched]
            for k in range(touched[0].dim(isl.dim_type.set))
        ]
        if not ends:
            return 0.0
        extents = [max(high for _, high in one) - min(low for low, _ in one) + 1 for one in ends]
        rows = math.prod(extents[:-1])
        if 1 < rows <= _MOST_ROWS and len(extents) > 2:
            rows = min(rows, _rows_of(touched))
        size = float(rows * max(self.model.machine.line, extents[-1] * width))
        return min(size, max(64.0, self.model.folded.get(array, size)))

    def traffic(self, level: int) -> float:
        """Bytes that come from behind a cache."""
        if not self.names:
            return 0.0
        room = _USABLE * self.model.machine.caches[level]
        total, weighted = self.footprint
        if total <= room or (self._loop is None and not self._parts):
            return weighted
        if self._parts:
            return sum(part.traffic(level) for part in self._parts)
        if self._innermost is not None:
            return weighted
        once, once_weighted = self._inside.footprint
        if once > room:
            return self._count * self._inside.traffic(level)
        _, twice_weighted = self._iteration(self._period).footprint
        mean = (weighted - once_weighted) / max(1.0, self._count - 1)
        return once_weighted + (self._count - 1) * max(0.0, twice_weighted - once_weighted, mean)


# ---------------------------------------------------------------- innermost loops


@dataclass(frozen=True, eq=False)
class _InnermostLoop:
    """Statements in an innermost loop, and how their iterators move in it."""

    model: _Model
    loop: int
    steps: Mapping[str, tuple[int, ...]]
    reached: Mapping[str, isl.Set]

    def cycles(self, counts: Mapping[str, float]) -> float:
        """Cycles of all iterations of the loop, and of its beginning.

        counts  statement -> how many instances the loop runs
        """
        operations = calls = 0.0
        for name, count in counts.items():
            plain, slow = operations_of(self.model.sized, name)
            operations += plain * count
            calls += slow * count
        work = operations / _OPERATIONS_A_CYCLE / (self._lanes if self.is_vectorised else 1.0)
        longest = max(counts.values(), default=0.0)
        chain = longest * _CYCLES_OF_A_CHAIN * self._chain_length if self._is_chain else 0.0
        begin = _CYCLES_TO_BEGIN * sum(map(self._runs, counts))
        if self._wraps:
            begin += _CYCLES_TO_WRAP * (1 + longest / _STRETCH)
        return max(work + calls + begin, chain + _CYCLES_TO_BEGIN)

    def _runs(self, name: str) -> int:
        """How often the loop begins for a statement: once in each iteration around it."""
        reached = self.reached[name]
        depth = reached.dim(isl.dim_type.set)
        around = reached.project_out(isl.dim_type.set, self.loop, depth - self.loop)
        return int(str(around.count_val()))

    @cached_property
    def _lanes(self) -> float:
        """How many elements fit into a vector."""
        arrays = {array for name in self.steps for array, _, _ in self.model.sized.accesses.get(name, ())}
        widest = max((self.model.sized.bytes_of(array) for array in arrays), default=8)
        return max(1.0, self.model.machine.vector / widest)

    @cached_property
    def is_vectorised(self) -> bool:
        """Whether compilers vectorise the loop."""
        source = self.model.sized.program.source
        for name, step in self.steps.items():
            if source is not None and source.statements[name].guards and not self._is_selection(name):
                return False
            if operations_of(self.model.sized, name)[1] >= _CYCLES_OF_A_CALL:
                return False
            for array, access, is_write in self.model.sized.accesses.get(name, ()):
                move = self._move(name, access, step)
                if self.model.favor == "speed" and array in self.model.sized.temporaries:
                    # Its cells are numbered along the loop.
                    move = None if move is None or max(map(abs, move), default=0) > 1 else [0, *move[-1:]]
                if not _is_contiguous(move, is_write=is_write):
                    return False
        return not self._is_chain

    def _is_selection(self, name: str) -> bool:
        """Whether a guarded statement does no more than to choose between values of a variable."""
        return all(
            not access.dim(isl.dim_type.out)
            for _, access, is_write in self.model.sized.accesses.get(name, ())
            if is_write
        )

    def _move(self, name: str, access: isl.Map, step: Sequence[int]) -> list[int] | None:
        """How the accessed cell moves from an iteration in the middle to the next one, if it is one cell."""
        points = self.model.times.parts[name].intersect_range(middle_of(self.reached[name])).domain()
        here = access.intersect_domain(points)
        there = access.intersect_domain(_moved_by(points, step))
        if here.is_empty() or there.is_empty() or not here.is_single_valued() or not there.is_single_valued():
            return None
        first, then = smallest_point(here.range()), smallest_point(there.range())
        return [b - a for a, b in zip(first, then, strict=True)]

    @cached_property
    def _is_chain(self) -> bool:
        """Whether an iteration needs what an earlier one computes."""
        mine = [
            pairs
            for (first, then), pairs in self.model.carried.parts.items()
            if first in self.steps and then in self.steps
        ]
        return any(self._carries(pairs) for pairs in mine)

    @cached_property
    def _chain_length(self) -> int:
        """How many operations a statement needs from one of its iterations to the next, at most."""
        chained = [
            first
            for (first, then), pairs in self.model.carried.parts.items()
            if first == then and first in self.steps and self._carries(pairs)
        ]
        return max([1, *(operations_to_itself(self.model.sized, name) for name in chained)])

    def _carries(self, pairs: isl.Map) -> bool:
        for d in range(self.loop):
            pairs = pairs.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
        return not pairs.order_lt(isl.dim_type.in_, self.loop, isl.dim_type.out, self.loop).is_empty()

    @cached_property
    def _wraps(self) -> bool:
        """Whether a temporary of several rows is written and read in the loop, so that its addresses wrap."""
        read: set[str] = set()
        written: set[str] = set()
        for name in self.steps:
            for array, _, is_write in self.model.sized.accesses.get(name, ()):
                (written if is_write else read).add(array)
        both = read & written & self.model.sized.temporaries
        return any(self.model.folded.get(array, 0) > _STRETCH for array in both)


def _is_contiguous(move: Sequence[int] | None, *, is_write: bool) -> bool:
    if move is None:
        return False
    if not any(move):
        return not is_write or not move
    return not any(move[:-1]) and abs(move[-1]) <= (1 if is_write else _LARGEST_STRIDE)


def _rows_of(touched: Sequence[isl.Set]) -> int:
    """How many rows some cells are in."""
    rows: isl.Set | None = None
    for cells in touched:
        mine = cells.project_out(isl.dim_type.set, cells.dim(isl.dim_type.set) - 1, 1)
        rows = mine if rows is None else rows.union(mine)
    return 0 if rows is None else int(str(rows.count_val()))


def _several(times: isl.Set, d: int) -> bool:
    """Whether a dimension has several values."""
    return not times.dim_min_val(d).eq(times.dim_max_val(d))


def _moved_by(points: isl.Set, step: Sequence[int]) -> isl.Set:
    """The points, each moved by a vector."""
    names = [f"i{k}" for k in range(len(step))]
    moved = relation(names, [f"{name} + {by}" for name, by in zip(names, step, strict=True)])
    name = points.get_tuple_name()
    return points.reset_tuple_id().apply(moved).set_tuple_name(name)


_LITERALS = (Number, OtherLiteral)
# Functions that are one instruction, in vectors, too.
_INSTRUCTIONS = frozenset({"fabs", "fabsf", "abs", "labs"})


def operations_to_itself(sized: SizedProgram, name: str) -> int:
    """How many operations are between what a statement wrote before and what it writes, at most."""
    source = sized.program.source
    if source is None:
        return 1
    written = [source.variables[array] for array, _, is_write in sized.accesses.get(name, ()) if is_write]
    node = source.statements[name].node
    node = (
        node.initial
        if isinstance(node, Variable)
        else node.expression
        if isinstance(node, Evaluate)
        else None
    )
    return 1 if node is None else max(1, _longest_way(node, written) or 0)


def _longest_way(node: Expression, to: Sequence[Variable]) -> int | None:
    """How many operations are on the longest way from the root to one of these variables, if there is one."""
    match node:
        case Reference(variable=variable):
            return 0 if variable in to else None
        case Subscript(base=base):
            return _longest_way(base, to)
        case Assign(operator=operator, value=value):
            inside = _longest_way(value, to)
            return inside if operator == "=" else 1 + (inside or 0)
        case Parentheses(inner=inner) | Cast(operand=inner):
            return _longest_way(inner, to)
        case Unary(operand=operand):
            parts = [operand]
        case Binary(left=left, right=right):
            parts = [left, right]
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            parts = [condition, then, otherwise]
        case Call(arguments=arguments):
            parts = list(arguments)
        case _:
            return None
    ways = [way for part in parts if (way := _longest_way(part, to)) is not None]
    return 1 + max(ways) if ways else None


def operations_of(sized: SizedProgram, name: str) -> tuple[float, float]:
    """Operations and accesses of a statement, and the cycles of those that take long, such as calls."""
    accesses = float(len(sized.accesses.get(name, ())))
    source = sized.program.source
    if source is None:
        return 2 * accesses, 0.0
    operations, slow = accesses, 0.0
    for node in _nodes(source.statements[name].node):
        if isinstance(node, Call) and node.function.name in _INSTRUCTIONS:
            operations += 0.5
        elif isinstance(node, Call):
            slow += _CYCLES_OF_A_CALL
        elif (
            isinstance(node, Binary) and node.operator in ("/", "%") and not isinstance(node.right, _LITERALS)
        ):
            slow += _CYCLES_OF_A_DIVISION / 4
            operations += _CYCLES_OF_A_DIVISION
        elif isinstance(node, Binary | Unary | Conditional):
            operations += 0.5
    return operations, slow


def _nodes(node: Node | Variable | Copy | None) -> Iterator[Node]:
    if isinstance(node, Variable):
        node = node.initial
    if node is not None and not isinstance(node, Copy):
        yield from walk(node)
