"""The programs that TVA07 handles: every cell is written once, at the iteration vector of its statement.

Then cell x of an array is written by the one instance S[x], all dependences are flow dependences, and what an
occupancy vector v makes cell x share an address with is written by the instance at x + v (TVA07 §4.1, §4.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.exact.isl import coalesced, maps_of, parameter_names
from arrayfold.exact.relations import union_of_maps
from arrayfold.order.dataflow import find_dataflow
from arrayfold.order.dependences import memory_dependences
from arrayfold.order.events import order_of
from arrayfold.program.model import Program


@dataclass(frozen=True, eq=False)
class Flow:
    """Values that instances of one statement read from those of another.

    array  the array that they go through
    pairs  [n] -> { T[j] -> R[i] }  R[i] reads what T[j] wrote
    """

    array: str
    source: str
    sink: str
    pairs: isl.Map

    def __str__(self) -> str:
        return f"{self.sink} reads {self.array} from {self.source}"


@dataclass(frozen=True, eq=False)
class SingleAssignment:
    """A program in that form.

    writers   array -> the statements that write its cells
    domains   statement -> { S[i] }
    flows     every flow dependence through the arrays, one convex piece each
    others    what keeps its order because of other arrays, as flows as well
    live_out  array -> { A[x] }  cells needed after the program
    """

    program: Program
    arrays: tuple[str, ...]
    writers: dict[str, tuple[str, ...]]
    domains: dict[str, isl.Set]
    flows: tuple[Flow, ...]
    live_out: dict[str, isl.Set]
    others: tuple[Flow, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return parameter_names(self.program.context)

    def rank(self, statement: str) -> int:
        """The number of loops around a statement."""
        return int(self.domains[statement].dim(isl.dim_type.set))

    def cells(self, array: str) -> isl.Set:
        """{ [x] }: the cells of an array that are written."""
        return reduce(isl.Set.union, (self.domains[one].reset_tuple_id() for one in self.writers[array]))


def single_assignment(program: Program, arrays: Sequence[str]) -> SingleAssignment:
    """The program in single-assignment form, or the condition that it does not satisfy."""
    context = program.context
    domains = {item.name: item.domain.intersect_params(context) for item in program.statements}
    writers: dict[str, tuple[str, ...]] = {}
    for array in arrays:
        writers[array] = tuple(_writers(program, array))
        _check_written_once(array, [domains[name] for name in writers[array]])
    everything = find_dataflow(program, order_of(program)).flows
    flows = tuple(
        Flow(array, *ends_of(part), piece)
        for array in arrays
        for part in maps_of(_flows(everything, program, array))
        for piece in _convex_pieces(part.intersect_params(context))
    )
    live_out = {
        array: program.live_out.extract_set(program.array(array).cells.get_space()).intersect_params(context)
        for array in arrays
    }
    others = tuple(
        Flow(dependence.array, *ends_of(part), piece)
        for dependence in memory_dependences(program)
        if dependence.array not in arrays
        for part in maps_of(dependence.relation)
        for piece in _convex_pieces(part.intersect_params(context))
    )
    return SingleAssignment(program, tuple(arrays), writers, domains, flows, live_out, others)


def ends_of(relation: isl.Map) -> tuple[str, str]:
    """The names of both sides of { S[i] -> T[j] }."""
    source, sink = (relation.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
    return str(source), str(sink)


def _writers(program: Program, array: str) -> Iterator[str]:
    for statement in program.statements:
        for access in statement.accesses:
            if not access.is_write or access.array != array:
                continue
            identity = isl.Map.identity(statement.domain.get_space().map_from_set())
            identity = identity.set_tuple_name(isl.dim_type.out, array)
            rank = program.array(array).rank
            same = statement.domain.dim(isl.dim_type.set) == rank
            if not (access.is_must and same and access.relation.is_subset(identity)):
                raise MethodNotApplicable(
                    f"occupancy vectors need cells written at the iteration vector of their statement, but "
                    f"{statement.name} writes {access.relation} (--expand gives each statement an array)"
                )
            yield statement.name


def _check_written_once(array: str, domains: Sequence[isl.Set]) -> None:
    plain = [domain.reset_tuple_id() for domain in domains]
    for k, domain in enumerate(plain):
        for other in plain[k + 1 :]:
            if not domain.is_disjoint(other):
                raise MethodNotApplicable(
                    f"occupancy vectors need cells that are written once, but two statements write {array}"
                    f" at {domain.intersect(other).sample_point()} (--expand gives each one an array)"
                )


def _flows(flows: isl.UnionMap, program: Program, array: str) -> isl.UnionMap:
    """{ T[j] -> R[i] }: through one array; the cell is that of the writer."""
    cells = program.array(array).cells
    name = cells.get_tuple_name()
    parts = (
        part for part in maps_of(flows) if part.range().unwrap().get_tuple_name(isl.dim_type.out) == name
    )
    through = union_of_maps(flows.get_space(), parts)
    return through.range_factor_domain()


def _convex_pieces(relation: isl.Map) -> list[isl.Map]:
    return [isl.Map.from_basic_map(piece) for piece in coalesced(relation.make_disjoint()).get_basic_maps()]
