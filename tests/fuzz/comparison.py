"""What the tool says of one array at one size, against what can be listed there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import islpy as isl

from arrayfold.fold.result import FoldedArray
from fuzz.kind import Failure
from fuzz.membership import Membership
from fuzz.printed import PrintedMapping, value
from support.reference import Cell

MOST_CELLS = 40
_MOST_LATTICE_CELLS = 24


class Wrong(Exception):
    """Carries a failure to where it is reported."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(what)
        self.failure = Failure(what, detail)


@dataclass(frozen=True)
class Facts:
    """An array at a size, from enumeration.

    cells      all that are mentioned, sorted
    held       those that ever hold a value
    conflicts  pairs x < y that meet in memory
    allowed    pairs that the tool may say: the same, or more where it says that it is not exact; None for all
    witness    a story in which two cells that share an address show a wrong value, or nothing
    run        a story in which addresses make a wrong value, or nothing
    """

    params: dict[str, int]
    cells: Sequence[Cell]
    held: frozenset[Cell]
    conflicts: frozenset[tuple[Cell, Cell]]
    allowed: frozenset[tuple[Cell, Cell]] | None
    witness: Callable[[Cell, Cell], str | None]
    run: Callable[[Mapping[Cell, object]], str | None]


class Comparison:
    """One folded array and its entry in the JSON, for comparison at several sizes."""

    def __init__(self, folded: FoldedArray, entry: Mapping[str, Any]) -> None:
        self.folded = folded
        self.entry = entry
        self.mapping = PrintedMapping(entry)
        context = folded.conflicts.context
        space = context.get_space()
        pairs = folded.conflicts.pairs_one_way.align_params(space).intersect_params(context)
        steps = folded.conflicts.differences.align_params(space).intersect_params(context)
        self._pairs, self._steps = Membership(pairs), Membership(steps)

    def compare(self, facts: Facts) -> None:
        """Raise if anything is wrong."""
        self.compare_mapping(facts, self.compare_conflicts(facts))
        self.compare_numbers(facts)

    def _wrong(self, facts: Facts, what: str, detail: str) -> Wrong:
        return Wrong(what, f"{self.folded.name} at {facts.params}: {detail}")

    # ------------------------------------------------------------ conflicts

    def compare_conflicts(self, facts: Facts) -> set[tuple[Cell, Cell]]:
        """The conflicts to keep; those that the tool does not know must not show in any execution."""
        found = self._known(facts)
        missing = {pair for pair in facts.conflicts if pair not in found}
        for x, y in sorted(missing):
            story = facts.witness(x, y)
            if story:
                raise self._wrong(facts, "missing conflict", f"{list(x)} and {list(y)}: {story}")
        if facts.allowed is not None and (more := found - facts.allowed):
            raise self._wrong(facts, "conflict that no execution shows", str(sorted(more)[:3]))
        return set(facts.conflicts) - missing

    def _known(self, facts: Facts) -> set[tuple[Cell, Cell]]:
        pairs = list(itertools.combinations(facts.cells, 2))
        there = self._pairs.has(facts.params, [(*x, *y) for x, y in pairs])
        back = self._pairs.has(facts.params, [(*y, *x) for x, y in pairs])
        found = {pair for pair, a, b in zip(pairs, there, back, strict=True) if a or b}
        steps = [tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in sorted(found)]
        for step, is_known in zip(steps, self._steps.has(facts.params, steps), strict=True):
            if not is_known:
                raise self._wrong(facts, "difference of conflicting cells is not known", str(step))
        return found

    # ------------------------------------------------------------ mappings

    def _is_elsewhere(self, facts: Facts) -> bool:
        """Whether the mapping is for other sizes only."""
        only_at = self.mapping.only_at
        return only_at is not None and any(facts.params[name] != size for name, size in only_at.items())

    def compare_mapping(self, facts: Facts, conflicts: set[tuple[Cell, Cell]]) -> None:
        if self._is_elsewhere(facts) or not facts.held:
            return
        moduli = self.mapping.moduli(facts.params)
        if any(one.denominator != 1 or one < 1 for one in moduli) or not self.mapping.is_whole(facts.params):
            detail = f"moduli {list(map(str, moduli))}"
            raise self._wrong(facts, "numbers that are not positive and whole", detail)
        addresses = self.mapping.addresses(list(facts.cells), facts.params)
        for x, y in sorted(conflicts):
            if addresses[x] == addresses[y]:
                raise self._wrong(facts, "collision", f"{list(x)} and {list(y)} at {addresses[x]}")
        for cell in facts.cells[:2]:
            told = self.folded.mapping.address(cell, facts.params) if cell in addresses else ()
            if cell in addresses and tuple(told) != addresses[cell]:
                raise self._wrong(facts, "printed mapping", f"{list(cell)}: {told} and {addresses[cell]}")
        story = facts.run(addresses)
        if story:
            raise self._wrong(facts, "wrong value", story)

    # ------------------------------------------------------------ sizes and bounds

    def compare_numbers(self, facts: Facts) -> None:
        if self._is_elsewhere(facts):
            return
        size, original = (value(self.entry[key], facts.params) for key in ("size", "original_size"))
        if not _is_in(facts.params, self.entry.get("cells_when")):
            # There the array has no cells, and its size is 0 whatever the formula says.
            size = original = Fraction(0)
        bound = self.folded.lower_bound.at(facts.params)
        bounds = [one for one in (bound, self._told_bound(facts.params)) if one is not None]
        if size < 0 or original < 0 or any(one < 0 for one in bounds):
            raise self._wrong(facts, "negative number", f"size {size}, of {original}, bounds {bounds}")
        most = largest_clique(facts.held, facts.conflicts)
        for one in bounds:
            if one > size:
                raise self._wrong(facts, "bound above the size", f"bound {one}, size {size}")
            if facts.allowed is not None and one > most:
                raise self._wrong(facts, "bound above what is live", f"bound {one}, largest clique {most}")
        if original < len(facts.held):
            raise self._wrong(facts, "original size", f"{original} for {len(facts.held)} cells")
        is_claimed = self.entry["optimal"] and not self._is_claimed_elsewhere(facts)
        if "optimal_when" in self.entry:
            is_claimed |= _is_in(facts.params, self.entry["optimal_when"])
        if is_claimed and facts.allowed is not None and size != most:
            raise self._wrong(facts, "called minimal", f"{size} cells, largest clique {most}")
        if facts.allowed is not None and self._has_smallest_lattice(facts.params):
            smaller = smaller_lattice(facts.conflicts, min(int(size), _MOST_LATTICE_CELLS))
            if smaller is not None:
                raise self._wrong(facts, "called the smallest lattice", f"{size} cells, and {smaller}")
        sized = self.entry.get("at")
        if sized is None or any(sized[name] != size_ for name, size_ in facts.params.items()):
            return
        if [sized[key] for key in ("size", "original_size", "lower_bound")] != [size, original, bound]:
            detail = f"{sized}, size {size} of {original}, bound {bound}"
            raise self._wrong(facts, "numbers under `at`", detail)

    def _told_bound(self, params: Mapping[str, int]) -> int | None:
        """The printed bound, where it is said to hold."""
        if self.entry["lower_bound"] is None or not _is_in(params, self.entry.get("lower_bound_when")):
            return None
        found = value(self.entry["lower_bound"], params)
        if found.denominator != 1:
            raise Wrong("bound that is not whole", f"{self.entry['lower_bound']} at {params} is {found}")
        return int(found)

    def _has_smallest_lattice(self, params: Mapping[str, int]) -> bool:
        """Whether it says of these sizes that no lattice is smaller."""
        claim = self.entry.get("smallest_lattice")
        return claim is not None and (claim["everywhere"] or dict(params) in claim["at"])

    def _is_claimed_elsewhere(self, facts: Facts) -> bool:
        """Whether `optimal` speaks of other sizes: those of the request."""
        asked = self.folded.params if self.folded.is_sized else {}
        return any(facts.params.get(name, size) != size for name, size in asked.items())


def smaller_lattice(conflicts: Collection[tuple[Cell, Cell]], size: int) -> list[list[int]] | None:
    """The rows of a lattice of fewer cells without a difference of conflicting cells; None if there is none.

    >>> smaller_lattice([((0,), (2,)), ((0,), (3,))], 4), smaller_lattice([((0,), (1,)), ((0,), (2,))], 4)
    (None, [[3]])
    """
    differences = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in conflicts}
    rank = len(next(iter(differences), ()))
    for cells in range(1, size):
        for rows in _lattices(cells, rank):
            if not any(_is_on(rows, one) for one in differences):
                return rows
    return None


def _lattices(cells: int, rank: int) -> Iterator[list[list[int]]]:
    """Triangular bases of all lattices of that determinant."""
    if rank == 0:
        if cells == 1:
            yield []
        return
    for first in (number for number in range(1, cells + 1) if cells % number == 0):
        for rest in _lattices(cells // first, rank - 1):
            for beside in itertools.product(*(range(row[k]) for k, row in enumerate(rest))):
                yield [[first, *beside], *([0, *row] for row in rest)]


def _is_on(rows: Sequence[Sequence[int]], vector: Sequence[int]) -> bool:
    """Whether a vector is a sum of whole multiples of the rows of a triangular basis."""
    left = list(vector)
    for k, row in enumerate(rows):
        times, rest = divmod(left[k], row[k])
        if rest:
            return False
        left = [value - times * entry for value, entry in zip(left, row, strict=True)]
    return True


def _is_in(params: Mapping[str, int], where: str | None) -> bool:
    if where is None:
        return True
    names = list(params)
    here = " and ".join(f"{name} = {params[name]}" for name in names) or "true"
    return not isl.Set(where).intersect(isl.Set(f"[{', '.join(names)}] -> {{ : {here} }}")).is_empty()


def largest_clique(cells: frozenset[Cell], pairs: frozenset[tuple[Cell, Cell]]) -> int:
    """How many cells all conflict with each other at most, by trying."""
    order = sorted(cells)
    number = {cell: k for k, cell in enumerate(order)}
    near = [0] * len(order)
    for x, y in pairs:
        if x in number and y in number:
            near[number[x]] |= 1 << number[y]
            near[number[y]] |= 1 << number[x]
    best = 0

    def grow(size: int, left: int) -> None:
        nonlocal best
        best = max(best, size)
        while left and size + left.bit_count() > best:
            k = left.bit_length() - 1
            left &= ~(1 << k)
            grow(size + 1, left & near[k])

    grow(0, (1 << len(order)) - 1)
    return best
