"""Whether an innermost loop may run several iterations at once, with its arrays where they are stored.

In a vector loop each statement runs for several iterations before the next statement does, and loads its
operands before it stores. So a value that one iteration writes must not be read or overwritten by a later
one; and what an iteration reads may be overwritten by a later one only if the read comes first in the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import islpy as isl

from arrayfold._budget import Budget
from arrayfold._isl import maps_of
from arrayfold.c.source import variables_with_address
from arrayfold.c.tree import Variable
from arrayfold.conflicts import conflicts_from_pairs
from arrayfold.errors import ArrayfoldError
from arrayfold.mapping import FoldMapping
from arrayfold.mapping import Mapping as StorageMapping
from arrayfold.program import Program
from arrayfold.verify import Proof, verify

_STRIPS = (None, 64, 16)
_SECONDS = 4.0


@dataclass(eq=False)
class Independence:
    """What is known of the innermost loops of a program.

    schedule  { S[i] -> [t] }  the order of the code, of which loops are dimensions
    mappings  array -> where its cells are
    """

    program: Program
    schedule: isl.UnionMap
    mappings: Mapping[str, FoldMapping]
    _budget: Budget = field(default_factory=lambda: Budget(_SECONDS))
    _known: dict[tuple[int, frozenset[str]], tuple[bool, int | None]] = field(
        default_factory=dict[tuple[int, frozenset[str]], tuple[bool, "int | None"]]
    )

    @cached_property
    def _seen(self) -> set[Variable]:
        """Variables that are in memory because their address is taken."""
        source = self.program.source
        return set() if source is None else variables_with_address(source.region.function)

    def strip(self, dimension: int, statements: frozenset[str]) -> tuple[bool, int | None]:
        """Whether iterations of a loop are independent, and of how many in a row; None is for any number."""
        key = dimension, statements
        if key not in self._known:
            self._known[key] = self._find(dimension, statements)
        return self._known[key]

    def _find(self, dimension: int, statements: frozenset[str]) -> tuple[bool, int | None]:
        source = self.program.source
        if source is None or source.impure is not None or source.may_alias is not None:
            return False, None
        try:
            with self._budget.limit("the independence of iterations"):
                for length in _STRIPS:
                    if self._is_independent(dimension, statements, length):
                        return True, length
        except (ArrayfoldError, isl.Error):
            pass
        return False, None

    def _is_independent(self, dimension: int, statements: frozenset[str], length: int | None) -> bool:
        times = self._times(statements)
        together = _later_iterations(times, dimension, length)
        backwards = _later_iterations(times, dimension, length, self._body_order(statements))
        return all(
            self._is_harmless(name, pairs)
            for name in self._in_memory(statements)
            for pairs in self._dangers(name, statements, together, backwards)
        )

    def _body_order(self, statements: frozenset[str]) -> Literal["<", "<="]:
        """Which places in the body a write must not have, seen from a read: before, or before or the same.

        A statement with one write loads its operands before; one with several may not.
        """
        several = any(
            sum(access.is_write for access in item.accesses) > 1
            for item in self.program.statements
            if item.name in statements
        )
        return "<=" if several else "<"

    def _times(self, statements: frozenset[str]) -> isl.UnionMap:
        found = isl.UnionMap.empty(self.schedule.get_space())
        for part in maps_of(self.schedule):
            if part.get_tuple_name(isl.dim_type.in_) in statements:
                found = found.union(isl.UnionMap.from_map(part))
        return found

    def _in_memory(self, statements: frozenset[str]) -> Iterator[str]:
        """The arrays that statements write in memory; local scalars are registers."""
        source = self.program.source
        assert source is not None
        for name in dict.fromkeys(
            access.array
            for item in self.program.statements
            if item.name in statements
            for access in item.accesses
            if access.is_write
        ):
            variable = source.variables.get(name)
            mapping = self.mappings.get(name)
            one_cell = isinstance(mapping, StorageMapping) and not mapping.moduli
            is_scalar = _is_local_scalar(variable) and name not in self.program.origins
            is_register = is_scalar and variable not in self._seen
            if not (is_register or one_cell):
                yield name

    def _dangers(
        self, name: str, statements: frozenset[str], together: isl.UnionMap, backwards: isl.UnionMap
    ) -> Iterator[isl.UnionMap]:
        """{ A[x] -> A[y] }: x in one iteration and y in a later one must not be one address."""
        writes, reads = (self._accesses(name, statements, writes=writes) for writes in (True, False))
        for first, second, order in (
            (writes, reads, together),
            (writes, writes, together),
            (reads, writes, backwards),
        ):
            yield order.apply_domain(first).apply_range(second)

    def _accesses(self, name: str, statements: frozenset[str], *, writes: bool) -> isl.UnionMap:
        found = isl.UnionMap.empty(self.schedule.get_space())
        for item in self.program.statements:
            for access in item.accesses:
                if item.name in statements and access.array == name and access.is_write == writes:
                    found = found.union(isl.UnionMap.from_map(access.relation))
        return found

    def _is_harmless(self, name: str, pairs: isl.UnionMap) -> bool:
        pairs = pairs.intersect_params(self.program.context)
        if pairs.is_empty():
            return True
        (relation,) = maps_of(pairs)
        if not relation.intersect(isl.Map.identity(relation.get_space())).is_empty():
            return False
        mapping = self.mappings.get(name)
        if mapping is None:
            return True
        cells = relation.domain().union(relation.range())
        array = self.program.array(name)
        conflicts = conflicts_from_pairs(array, self.program.context, cells, relation, None)
        return isinstance(verify(conflicts, mapping), Proof)


def _is_local_scalar(variable: Variable | None) -> bool:
    return variable is not None and not variable.is_array and variable.storage == "local"


def _later_iterations(
    times: isl.UnionMap, dimension: int, length: int | None, place: Literal["<", "<="] | None = None
) -> isl.UnionMap:
    """{ S[i] -> T[j] }: T runs in a later iteration of the same loop.

    place  only where T stands before S in the body, or before it or at the same place
    """
    depth = max(part.dim(isl.dim_type.out) for part in maps_of(times))
    first, second = ([f"{letter}{k}" for k in range(depth)] for letter in "st")
    outside = [f"{first[k]} = {second[k]}" for k in range(dimension)]
    least, most = f"{first[dimension]} < {second[dimension]}", ""
    if length is not None:
        most = f"{second[dimension]} < {first[dimension]} + {length}"
    conditions = [*outside, least, *filter(None, [most])]
    if place is not None:
        conditions.append(_precedes(second[dimension + 1 :], first[dimension + 1 :], place))
    where = " and ".join(conditions)
    later = isl.UnionMap(f"{{ [{', '.join(first)}] -> [{', '.join(second)}] : {where} }}")
    return times.apply_range(later).apply_range(times.reverse())


def _precedes(first: Sequence[str], second: Sequence[str], relation: Literal["<", "<="]) -> str:
    """The first tuple is lexicographically smaller, or equal."""
    cases = [
        " and ".join([*(f"{first[j]} = {second[j]}" for j in range(k)), f"{first[k]} < {second[k]}"])
        for k in range(len(first))
    ]
    if relation == "<=":
        cases.append(" and ".join(f"{a} = {b}" for a, b in zip(first, second, strict=True)) or "true")
    return f"({' or '.join(cases)})" if cases else "false"
