"""The integer lattices of a given index that hold no difference, in Hermite normal form (DSV05).

A sublattice of index D of the integer vectors has exactly one basis of the form

    (h1, g12, g13)
    (0,  h2,  g23)      h1*h2*h3 = D,  0 <= g_jk < h_k
    (0,  0,   h3 )

and its last rows generate all of its vectors that start with zeros. So bases are built from the last row on:
a row is added only to bases that hold no difference yet, and then only differences that do not vanish on the
new axis can be hit. Modulo the rows below it, those at distance c along that axis are a set R(c) of residues
in a group of D/h1 elements, and the new row (h1, g) is fine iff m*g is not in R(m*h1) for m = 1, 2, ...

Sets of residues are bits of one integer: a whole line of differences along the last axis is folded modulo h3,
turned and put into its place with a few operations on integers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from arrayfold.base.bits import numbers_in
from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded
from arrayfold.exact.lattice import Vector

Basis = tuple[Vector, ...]

# Differences with the same first indices: these without the last one, and the last ones as bits.
Line = tuple[Vector, int]


class HermiteForms:
    """All lattices that hold none of the differences, index by index; each lattice comes once.

    differences  symmetric, without zero
    most_work    steps after which the search gives up, whatever the machine
    """

    def __init__(
        self, differences: Collection[Vector], rank: int, budget: Budget, most_work: int | None = None
    ) -> None:
        self.differences = differences
        self.rank = rank
        self.budget = budget
        self.most_work = most_work
        self.work = 0
        self._slices = [_Slice([d[k:] for d in differences if not any(d[:k])]) for k in range(rank)]
        self._known: dict[tuple[int, int], list[Basis]] = {}

    def of_index(self, index: int) -> Iterator[Basis]:
        """The lattices of this index, as bases in Hermite normal form.

        >>> forms = HermiteForms({(0, 1), (0, -1), (1, 0), (-1, 0)}, 2, Budget(None))
        >>> [list(forms.of_index(index)) for index in (1, 2)]
        [[], [((1, 1), (0, 2))]]
        """
        return self._bases(0, index)

    def _bases(self, axis: int, index: int) -> Iterator[Basis]:
        """Bases whose vectors start with `axis` zeros, which are left out."""
        if axis == self.rank:
            if index == 1:
                yield ()
            return
        for step in _divisors(index):
            for inner in self._inner_bases(axis + 1, index // step):
                for vector in self._rows_above(axis, step, inner):
                    yield (vector, *((0, *row) for row in inner))

    def _inner_bases(self, axis: int, index: int) -> list[Basis]:
        known = self._known.get((axis, index))
        if known is None:
            known = self._known[axis, index] = list(self._bases(axis, index))
        return known

    def _rows_above(self, axis: int, step: int, inner: Basis) -> Iterator[Vector]:
        """The rows (step, g) that can stand above a basis without a difference getting into the lattice."""
        differences = self._slices[axis]
        self._spend(1 + len(inner))
        if not inner:
            if not any(multiple in differences.positive for multiple in differences.multiples(step)):
                yield (step,)
            return
        quotient = _Quotient(inner)
        numbers: Iterable[int] = range(quotient.size)
        for times, multiple in enumerate(differences.multiples(step), 1):
            lines = differences.folded(multiple, quotient.last)
            taken = quotient.residues(lines)
            if times == 1:
                numbers = list(numbers_in(~taken & quotient.everything))
            else:
                numbers = [k for k in numbers if not taken >> quotient.multiple(k, times) & 1]
            self._spend(len(lines) + len(numbers))
            if not numbers:
                return
        yield from ((step, *quotient.element(k)) for k in numbers)

    def _spend(self, steps: int) -> None:
        self.work += steps
        if self.most_work is not None and self.work > self.most_work:
            raise BudgetExceeded(f"there are too many lattices to try ({self.most_work} steps were taken)")
        self.budget.check("the search through all lattices")


class _Slice:
    """The differences whose first indices are zero, without these, by their distance along the next axis."""

    def __init__(self, differences: Sequence[Vector]) -> None:
        self.positive = frozenset(d[0] for d in differences if d[0] > 0)
        self.farthest = max(self.positive, default=0)
        self.reach = max((abs(d[-1]) for d in differences), default=0)
        self._differences = differences
        self._folded: dict[tuple[int, int], list[Line]] = {}

    def multiples(self, step: int) -> range:
        """The multiples of a step that a difference may reach."""
        return range(step, self.farthest + 1, step)

    @cached_property
    def lines(self) -> dict[int, list[Line]]:
        """By the first index, the lines along the last axis; the bit of y is number y + reach."""
        found: dict[int, dict[Vector, int]] = {}
        for d in self._differences:
            if d[0] > 0:
                line = found.setdefault(d[0], {})
                line[d[1:-1]] = line.get(d[1:-1], 0) | 1 << (d[-1] + self.reach)
        return {first: list(line.items()) for first, line in found.items()}

    def folded(self, first: int, modulus: int) -> list[Line]:
        """The lines of one first index, modulo a number along the last axis."""
        known = self._folded.get((first, modulus))
        if known is None:
            shift = -self.reach % modulus
            lines = self.lines.get(first, ())
            known = [(middle, _fold(bits << shift, modulus)) for middle, bits in lines]
            self._folded[first, modulus] = known
        return known


class _Quotient:
    """The group of integer vectors modulo a basis in Hermite normal form; elements are numbered.

    The last index of the reduced vector counts fastest, so that a line along it is a run of numbers.
    """

    def __init__(self, basis: Basis) -> None:
        self.steps = [row[k] for k, row in enumerate(basis)]
        self.last = self.steps[-1]
        self.size = math.prod(self.steps)
        self.everything = (1 << self.size) - 1
        self._basis = basis
        self._places: dict[Vector, tuple[int, int]] = {}

    def element(self, number: int) -> Vector:
        """The reduced vector with this number."""
        entries: list[int] = []
        for step in reversed(self.steps):
            number, entry = divmod(number, step)
            entries.append(entry)
        return tuple(reversed(entries))

    def multiple(self, number: int, times: int) -> int:
        """The number of so many times the element with this number."""
        if len(self.steps) == 1:
            return number * times % self.last
        return self.position([times * entry for entry in self.element(number)])

    def position(self, vector: Sequence[int]) -> int:
        """The number of a vector's residue."""
        rest = list(vector)
        number = 0
        for k, row in enumerate(self._basis):
            times, entry = divmod(rest[k], row[k])
            if times:
                for j in range(k + 1, len(rest)):
                    rest[j] -= times * row[j]
            number = number * row[k] + entry
        return number

    def residues(self, lines: Sequence[Line]) -> int:
        """The residues of all vectors of the lines, which are folded along the last axis already."""
        found = 0
        last = self.last
        whole = (1 << last) - 1
        for middle, bits in lines:
            place = self._places.get(middle)
            if place is None:
                place = self._places[middle] = divmod(self.position((*middle, 0)), last)
            number, turn = place
            turned = (bits << turn | bits >> (last - turn)) & whole
            found |= turned << number * last
        return found


def _fold(bits: int, modulus: int) -> int:
    whole = (1 << modulus) - 1
    found = 0
    while bits:
        found |= bits & whole
        bits >>= modulus
    return found


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
