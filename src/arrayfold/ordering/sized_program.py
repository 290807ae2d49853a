"""A program with what all candidates need to know of it: its dependences, its flows, and sizes to look at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.isl import fix_parameters, maps_of
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.exact.relations import union_of_maps
from arrayfold.order.dataflow import find_dataflow
from arrayfold.order.dependences import Dependence, union_of
from arrayfold.order.events import order_of, sweep
from arrayfold.order.nests import Times
from arrayfold.order.reductions import reorderable_dependences
from arrayfold.program.model import Program

# How many iterations loops are taken to have where nobody says it, by how deep they are nested.
_TYPICAL = {0: 1000, 1: 1_000_000, 2: 2000, 3: 500}
_TYPICAL_OTHERWISE = 100
_BYTES = 8


@dataclass(frozen=True, eq=False)
class SizedProgram:
    """A program in its own order, all loops sequential.

    sizes  the values of its parameters at which orders are compared
    """

    program: Program
    sizes: Mapping[str, int]

    @staticmethod
    def of(program: Program, params: Mapping[str, int]) -> SizedProgram:
        """A program at these sizes, and at typical ones of parameters without a value."""
        sequential = replace(program, parallel={})
        depth = max((item.domain.dim(isl.dim_type.set) for item in program.statements), default=0)
        typical = _TYPICAL.get(depth, _TYPICAL_OTHERWISE)
        known = {name: value for name, value in params.items() if name in program.parameters}
        return SizedProgram(sequential, comfortable_parameters(program.running_sizes(), known, typical))

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """The memory dependences that an order has to keep; those of exact reductions need not be."""
        return reorderable_dependences(self.program)

    @cached_property
    def must_keep(self) -> isl.UnionMap:
        """{ S[i] -> T[j] }: S[i] runs before T[j] in every legal order."""
        return union_of(self.program, self.dependences)

    @cached_property
    def carried(self) -> isl.UnionMap:
        """{ S[i] -> T[j] }: T[j] reads or overwrites what S[i] writes, so that no vector holds both."""
        return union_of(self.program, [one for one in self.dependences if one.kind != "anti"])

    @cached_property
    def values(self) -> isl.UnionMap:
        """{ S[i] -> [T[j] -> A[x]] }: T[j] reads what S[i] writes, the same in every legal order."""
        return find_dataflow(self.program, sweep(order_of(self.program))).flows

    @cached_property
    def flows(self) -> isl.UnionMap:
        """{ S[i] -> T[j] }: T[j] reads what S[i] writes."""
        return self.values.range_factor_domain()

    @cached_property
    def temporaries(self) -> frozenset[str]:
        """The arrays that would be folded."""
        return frozenset(analyse(self.program).temporaries)

    def bytes_of(self, array: str) -> int:
        """How many bytes a cell takes."""
        source = self.program.source
        if source is None or array not in source.variables:
            return _BYTES
        return max(1, source.variables[array].element.bits // 8)

    def at_sizes(self, relation: isl.UnionMap) -> isl.UnionMap:
        """The relation at the sizes, without parameters."""
        here = relation.intersect_params(fix_parameters(self.sizes))
        parts = [_without_parameters(part) for part in maps_of(here)]
        return union_of_maps(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0), parts)

    def times(self, schedule: isl.UnionMap) -> Times:
        """The times { S[i] -> [t] } at the sizes."""
        parts = maps_of(self.at_sizes(schedule.intersect_params(self.program.context)))
        return Times(
            {str(part.get_tuple_name(isl.dim_type.in_)): part for part in parts if not part.is_empty()}
        )

    @cached_property
    def instances(self) -> Mapping[str, float]:
        """Statement -> how often it runs at the sizes, if it does."""
        assert self.program.schedule is not None
        domains = {name: part.domain() for name, part in self.times(self.program.schedule).parts.items()}
        return {name: _count(domain) for name, domain in domains.items()}

    @cached_property
    def accesses(self) -> Mapping[str, Sequence[tuple[str, isl.Map, bool]]]:
        """Statement -> array, { S[i] -> A[x] } at the sizes, and whether it is written, for each access."""
        here = fix_parameters(self.sizes)
        found: dict[str, list[tuple[str, isl.Map, bool]]] = {}
        for statement in self.program.statements:
            mine = found.setdefault(statement.name, [])
            for access in statement.accesses:
                relation = _without_parameters(access.relation.intersect_params(here))
                if not relation.is_empty():
                    mine.append((access.array, relation, access.is_write))
        return found


def _count(domain: isl.Set) -> float:
    """The number of points of { S[i] }; those of a box are not counted one by one."""
    if not domain.is_box():
        return float(str(domain.count_val()))
    ends = ((domain.dim_min_val(d), domain.dim_max_val(d)) for d in range(domain.dim(isl.dim_type.set)))
    return math.prod(float(last.to_python() - first.to_python() + 1) for first, last in ends)


def _without_parameters(relation: isl.Map) -> isl.Map:
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))
