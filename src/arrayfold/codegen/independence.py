"""Whether an innermost loop may run several iterations at once, with its arrays where they are stored.

In a vector loop each statement runs for several iterations before the next statement does, and loads its
operands before it stores. So a value that one iteration writes must not be read or overwritten by a later
one; and what an iteration reads may be overwritten by a later one only if the read comes first in the body.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.c.source import variables_with_address
from arrayfold.c.tree import Variable
from arrayfold.conflicts.conflicts import conflicts_from_pairs
from arrayfold.exact.isl import coalesced, maps_by_domain, maps_of
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.program.model import Program

STRIPS = (None, 256, 64, 16)
_OPERATIONS = 6_000_000
_OPERATIONS_AN_ARRAY = 1_500_000


@dataclass(eq=False)
class Independence:
    """What is known of the innermost loops of a program.

    schedule  { S[i] -> [t] }  the order of the code, of which loops are dimensions
    mappings  array -> where its cells are
    blocks    arrays of which a single cell is no variable: it lies in memory that is allocated or shared
    """

    program: Program
    schedule: isl.UnionMap
    mappings: Mapping[str, EmittableMapping]
    blocks: Collection[str] = ()
    _known: dict[tuple[int, frozenset[str]], tuple[bool, int | None]] = field(
        default_factory=dict[tuple[int, frozenset[str]], tuple[bool, "int | None"]]
    )
    _pairs: dict[tuple[str, int, frozenset[str], int | None], list[isl.Map]] = field(
        default_factory=dict[tuple[str, int, frozenset[str], "int | None"], list[isl.Map]]
    )

    @cached_property
    def _budget(self) -> Budget:
        return Budget.of_work(max(_OPERATIONS, _OPERATIONS_AN_ARRAY * len(self.mappings)))

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
        for length in STRIPS:
            harmful = self.harmful(dimension, statements, length)
            if harmful is None:
                break
            if not harmful:
                return True, length
        return False, None

    def harmful(
        self, dimension: int, statements: frozenset[str], length: int | None, *, first_only: bool = True
    ) -> list[str] | None:
        """The arrays that make iterations of a loop depend on each other; None if that is not known.

        first_only  one of them is enough
        """
        source = self.program.source
        if source is None or source.impure is not None or source.may_alias is not None:
            return None
        found: list[str] = []
        try:
            with self._budget.limit("the independence of iterations"):
                for name in self._in_memory(statements):
                    mapping = self.mappings.get(name)
                    if not self._is_harmless(name, mapping, dimension, statements, length):
                        found.append(name)
                        if first_only:
                            break
        except (ArrayfoldError, isl.Error):
            return None
        return found

    def is_harmless(
        self, mapping: EmittableMapping, dimension: int, statements: frozenset[str], length: int | None
    ) -> bool:
        """Whether an array would not make iterations depend on each other if that were its mapping."""
        try:
            with self._budget.limit("the independence of iterations"):
                return self._is_harmless(mapping.array, mapping, dimension, statements, length)
        except (ArrayfoldError, isl.Error):
            return False

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
            is_single = isinstance(mapping, ModularMapping) and not mapping.moduli
            is_scalar = _is_local_scalar(variable) and name not in self.program.relocation.origins
            is_register = is_scalar and variable not in self._seen
            if not (is_register or (is_single and name not in self.blocks)):
                yield name

    def _is_harmless(
        self,
        name: str,
        mapping: EmittableMapping | None,
        dimension: int,
        statements: frozenset[str],
        length: int | None,
    ) -> bool:
        key = name, dimension, statements, length
        if key not in self._pairs:
            self._pairs[key] = list(self._dangers(name, dimension, statements, length))
        return all(self._is_apart(name, mapping, pairs) for pairs in self._pairs[key])

    def _dangers(
        self, name: str, dimension: int, statements: frozenset[str], length: int | None
    ) -> Iterator[isl.Map]:
        """{ A[x] -> A[y] }: x in one iteration and y in a later one must not be one address."""
        together = _later_iterations(self._depth, dimension, length)
        backwards = _later_iterations(self._depth, dimension, length, self._body_order(statements))
        writes, reads = (self._times_of_cells(name, statements, writes=writes) for writes in (True, False))
        for first, second, order in (
            (writes, reads, together),
            (writes, writes, together),
            (reads, writes, backwards),
        ):
            pairs = first.apply_range(order).apply_range(second.reverse())
            yield from maps_of(pairs.intersect_params(self.program.context))

    @cached_property
    def _depth(self) -> int:
        return max(part.dim(isl.dim_type.out) for part in maps_of(self.schedule))

    @cached_property
    def _times(self) -> Mapping[str, isl.Map]:
        return maps_by_domain(self.schedule)

    def _times_of_cells(self, name: str, statements: frozenset[str], *, writes: bool) -> isl.UnionMap:
        """{ A[x] -> [t] }: when some statements write the cells of an array, or read them."""
        found = isl.UnionMap.empty(self.schedule.get_space())
        for item in self.program.statements:
            for access in item.accesses:
                if item.name in statements and access.array == name and access.is_write == writes:
                    times = access.relation.reverse().apply_range(self._times[item.name])
                    found = found.union(isl.UnionMap.from_map(times))
        return coalesced(found)

    def _is_apart(self, name: str, mapping: EmittableMapping | None, pairs: isl.Map) -> bool:
        """Whether the cells of all pairs { A[x] -> A[y] } have different addresses."""
        if pairs.is_empty():
            return True
        if not pairs.intersect(isl.Map.identity(pairs.get_space())).is_empty():
            return False
        if mapping is None:
            return True
        cells = pairs.domain().union(pairs.range())
        array = self.program.array(name)
        conflicts = conflicts_from_pairs(array, self.program.context, cells, pairs, None)
        return isinstance(verify(conflicts, mapping), Proof)


def _is_local_scalar(variable: Variable | None) -> bool:
    return variable is not None and not variable.is_array and variable.storage == "local"


def _later_iterations(
    depth: int, dimension: int, length: int | None, place: Literal["<", "<="] | None = None
) -> isl.UnionMap:
    """{ [s] -> [t] }: t is in a later iteration of the same loop.

    length  only if it is fewer iterations later
    place   only where t stands before s in the body, or before it or at the same place
    """
    outer, inner = (
        isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, count) for count in (dimension, depth - dimension - 1)
    )
    most = "" if length is None else f" and t < s + {length}"
    here = isl.Map(f"{{ [s] -> [t] : s < t{most} }}")
    body = isl.Map.universe(inner.map_from_set())
    if place is not None:
        body = isl.Map.lex_gt(inner) if place == "<" else isl.Map.lex_ge(inner)
    same = isl.Map.identity(outer.map_from_set())
    return isl.UnionMap.from_map(same.flat_product(here).flat_product(body))
