"""Random affine programs, each as a problem file and as a list of instances that no isl has seen."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from support.reference import Instance, Trace

ARRAYS = {"A": 2, "B": 1}


@dataclass(frozen=True)
class Linear:
    """constant + N * size + iterators."""

    constant: int
    size: int = 0
    iterators: tuple[int, ...] = ()

    def value(self, n: int, iteration: tuple[int, ...]) -> int:
        known = zip(self.iterators, iteration, strict=False)
        return self.constant + self.size * n + sum(a * i for a, i in known)

    def __str__(self) -> str:
        words = [f"{a}*i{k}" for k, a in enumerate(self.iterators) if a]
        return " + ".join([*words, f"{self.size}*N", str(self.constant)])


@dataclass(frozen=True)
class RandomStatement:
    """`ranges[k]` bounds iterator k by forms of the earlier ones, both ends included."""

    name: str
    ranges: tuple[tuple[Linear, Linear], ...]
    reads: tuple[tuple[str, tuple[Linear, ...]], ...]
    writes: tuple[tuple[str, tuple[Linear, ...]], ...]
    schedule: tuple[Linear, ...]

    @property
    def instance_text(self) -> str:
        return f"{self.name}[{', '.join(f'i{k}' for k in range(len(self.ranges)))}]"

    @property
    def domain_text(self) -> str:
        bounds = [f"{low} <= i{k} <= {high}" for k, (low, high) in enumerate(self.ranges)]
        return f"{self.instance_text} : {' and '.join(bounds) or 'true'}"

    def access_texts(self, accesses: tuple[tuple[str, tuple[Linear, ...]], ...]) -> list[str]:
        return [f"{self.instance_text} -> {array}[{', '.join(map(str, index))}]" for array, index in accesses]

    def iterations(self, n: int) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()]
        for low, high in self.ranges:
            found = [(*i, v) for i in found for v in range(low.value(n, i), high.value(n, i) + 1)]
        return found

    def instance(self, n: int, iteration: tuple[int, ...]) -> Instance:
        def cells(
            accesses: tuple[tuple[str, tuple[Linear, ...]], ...],
        ) -> tuple[tuple[str, tuple[int, ...]], ...]:
            return tuple((array, tuple(e.value(n, iteration) for e in index)) for array, index in accesses)

        return Instance(self.name, iteration, cells(self.reads), cells(self.writes))


@dataclass(frozen=True)
class RandomProgram:
    """Statements, and which cells of A are live-out (those with a small first index)."""

    statements: tuple[RandomStatement, ...]
    live_out_below: int

    def text(self) -> str:
        parts = {
            "context": "[N] -> { : 2 <= N <= 4 }",
            "domain": self._union(s.domain_text for s in self.statements),
            "write": self._union(t for s in self.statements for t in s.access_texts(s.writes)),
            "read": self._union(t for s in self.statements for t in s.access_texts(s.reads)),
            "schedule": self._union(
                f"{s.instance_text} -> [{', '.join(map(str, s.schedule))}]" for s in self.statements
            ),
            "live_out": f"{{ A[a, b] : a < {self.live_out_below} }}",
        }
        used = {array for s in self.statements for array, _ in (*s.reads, *s.writes)}
        if "A" not in used:
            del parts["live_out"]
        lines = [f'{key} = "{value}"' for key, value in parts.items() if value]
        names = ", ".join(f'"{name}"' for name in sorted(used))
        return "\n".join([*lines, f"temporary = [{names}]"])

    @staticmethod
    def _union(texts: object) -> str:
        items = list(texts)  # type: ignore[call-overload]
        return f"[N] -> {{ {'; '.join(items)} }}" if items else ""

    def arrays(self) -> list[str]:
        return sorted({array for s in self.statements for array, _ in (*s.reads, *s.writes)})

    def times(self, n: int) -> Mapping[Instance, tuple[int, ...]]:
        return {
            s.instance(n, i): tuple(form.value(n, i) for form in s.schedule)
            for s in self.statements
            for i in s.iterations(n)
        }

    def trace(self, n: int) -> Trace:
        times = self.times(n)
        ordered = sorted(times, key=lambda instance: times[instance])
        touched = {cell for instance in ordered for cell in (*instance.reads, *instance.writes)}
        live_out = {(name, cell) for name, cell in touched if name == "A" and cell[0] < self.live_out_below}
        return Trace(ordered, frozenset(live_out))


def linear_forms(depth: int, largest: int = 2) -> st.SearchStrategy[Linear]:
    coefficients = st.tuples(*[st.integers(-1, 2)] * depth)
    return st.builds(Linear, st.integers(-1, largest), st.sampled_from([0, 0, 0, 1]), coefficients)


def accesses(depth: int, most: int) -> st.SearchStrategy[tuple[tuple[str, tuple[Linear, ...]], ...]]:
    one = st.sampled_from(sorted(ARRAYS)).flatmap(
        lambda name: st.tuples(st.just(name), st.tuples(*[linear_forms(depth)] * ARRAYS[name]))
    )
    return st.lists(one, max_size=most).map(tuple)


@st.composite
def statements(draw: st.DrawFn, number: int, depth: int, *, ties: bool) -> RandomStatement:
    rank = draw(st.integers(1, depth))
    ranges: list[tuple[Linear, Linear]] = []
    for k in range(rank):
        low = Linear(0) if k == 0 else draw(st.sampled_from([Linear(0), Linear(0, 0, (0,) * (k - 1) + (1,))]))
        tops = [Linear(-1, 1), Linear(1)]
        if k:
            tops.append(Linear(0, 0, (0,) * (k - 1) + (1,)))
        ranges.append((low, draw(st.sampled_from(tops))))
    order = draw(st.permutations(range(rank)))
    schedule: list[Linear] = []
    for level in range(depth):
        schedule.append(Linear(draw(st.integers(0, 2))))
        unit = tuple(int(j == order[level]) for j in range(rank)) if level < rank else ()
        schedule.append(Linear(0, 0, unit))
    if not ties:
        schedule.append(Linear(number))
    return RandomStatement(
        name=f"S{number}",
        ranges=tuple(ranges),
        reads=draw(accesses(rank, 3)),
        writes=draw(accesses(rank, 2)),
        schedule=tuple(schedule),
    )


@st.composite
def programs(draw: st.DrawFn, *, ties: bool = False) -> RandomProgram:
    """One to three statements of one to three dimensions; times are distinct unless ties are asked for."""
    depth = draw(st.integers(1, 3))
    count = draw(st.integers(1, 3 if depth < 3 else 2))
    chosen = tuple(draw(statements(number, depth, ties=ties)) for number in range(count))
    return RandomProgram(chosen, draw(st.integers(-1, 1)))


def has_writes(program: RandomProgram) -> bool:
    return any(s.writes for s in program.statements)


def differences_of(pairs: set[tuple[tuple[int, ...], tuple[int, ...]]]) -> set[tuple[int, ...]]:
    return {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairs}


def all_sizes() -> list[int]:
    return [2, 3, 4]


def pairs_of(cells: set[tuple[int, ...]]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    return set(itertools.permutations(cells, 2))
