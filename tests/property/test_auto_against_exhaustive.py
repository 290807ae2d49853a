"""`auto` on random differences and programs: never larger than a method, never smaller than what exists.

How often it reaches the smallest lattice is counted and recorded with the test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import fix_parameters
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import METHODS, Request
from arrayfold.methods.exhaustive import differences_at, mapping_of_lattice, smallest_lattices
from arrayfold.select.cases import find_cases
from arrayfold.select.choose import ask, choose
from arrayfold.select.strides import Strides
from support.random_programs import RandomProgram, has_writes, programs

Record = Callable[[str, object], None]

SIZE = 4
SECONDS = 60
MOST_WORK = 1_000_000


@dataclass
class Tally:
    """How often `auto` reached the smallest lattice at the size where sizes were compared."""

    compared: int = 0
    reached: int = 0
    reached_by_cases: int = 0
    missed: list[str] = field(default_factory=list)

    def compare(self, conflicts: Conflicts, size: int, text: str) -> None:
        params = {"N": size}
        request = Request.of(conflicts, params, Budget(SECONDS))
        best = choose("auto", conflicts, request)
        assert best.is_proved
        assert best.mapping is not None
        found = best.mapping.size.at(params)
        for method in (name for name, method in METHODS.items() if method.is_general):
            single = ask(method, conflicts, Request.of(conflicts, params, Budget(SECONDS)))
            assert single.mapping is None or found <= single.mapping.size.at(params)
        smallest = self._smallest(conflicts, size)
        if smallest is None:
            return
        assert found >= smallest, "smaller than the smallest lattice"
        here = conflicts.at(params)
        fixed = choose("auto", here, Request.of(here, params, Budget(SECONDS)))
        assert fixed.mapping is not None
        assert fixed.mapping.size.at(params) == smallest
        by_cases = self._by_cases(conflicts, best.mapping, params)
        assert smallest <= by_cases <= found
        self.compared += 1
        self.reached += found == smallest
        self.reached_by_cases += by_cases == smallest
        if by_cases > smallest:
            self.missed.append(f"{best.mapping} has {found} cells, {smallest} are enough: {text}")

    def _by_cases(self, conflicts: Conflicts, best: ModularMapping, params: dict[str, int]) -> int:
        """Cells of the case that the sizes belong to, if there is one."""
        request = Request.of(conflicts, params, Budget(SECONDS))
        cases = find_cases(conflicts, request, best.size, find_lower_bound(conflicts, Budget(SECONDS)))
        here = fix_parameters(params)
        matching = [case for case in cases if not case.when.is_disjoint(here)]
        return min(case.size.at(params) for case in matching) if matching else best.size.at(params)

    def _smallest(self, conflicts: Conflicts, size: int) -> int | None:
        """Cells of the smallest lattice among the differences, within the lattice that these generate."""
        here = conflicts.at({"N": size})
        strides = Strides.of(here)
        divided = here if strides is None else strides.divided
        rank = conflicts.array.rank
        try:
            basis = next(smallest_lattices(differences_at(divided, {"N": size}), rank, most_work=MOST_WORK))
        except BudgetExceeded:
            return None
        mapping = mapping_of_lattice(conflicts.name, conflicts.array.dimensions, basis)
        return int(mapping.size.as_number())

    def assert_reached(self, record: Record, least_share: float) -> None:
        """At least this share by one mapping for all sizes; every one with the cases."""
        record("compared", self.compared)
        record("reached", self.reached)
        record("reached by cases", self.reached_by_cases)
        record("missed", "\n".join(self.missed))
        assert self.compared > 0
        assert self.reached >= least_share * self.compared
        assert self.reached_by_cases == self.compared, "\n".join(self.missed)


# ---------------------------------------------------------------- random differences

NAMES = ("i", "j", "k")


@st.composite
def bounds(draw: st.DrawFn, form: str) -> str:
    """Both sides of a linear form, by numbers or near N."""
    ends = st.sampled_from(["0", "1", "2", "N - 2", "N - 1", "N"])
    sign = draw(st.sampled_from(["-", "-", ""]))
    return f"{sign}({draw(ends)}) <= {form} <= {draw(ends)}"


@st.composite
def pieces(draw: st.DrawFn, rank: int) -> str:
    """A box, perhaps cut by a skewed strip, thinned out by a stride, or with a hole."""
    names = NAMES[:rank]
    constraints = [draw(bounds(name)) for name in names]
    if rank > 1 and draw(st.booleans()):
        first, second = draw(st.permutations(names))[:2]
        constraints.append(draw(bounds(f"{first} + {draw(st.sampled_from([-2, -1, 1, 2]))}*{second}")))
    if draw(st.integers(0, 3)) == 0:
        constraints.append(f"({' + '.join(names)}) mod {draw(st.integers(2, 3))} = 0")
    if draw(st.integers(0, 3)) == 0:
        inside = " and ".join(f"-1 <= {name} <= 1" for name in names)
        constraints.append(f"not ({inside})")
    return f"A[{', '.join(names)}] : {' and '.join(constraints)}"


@st.composite
def difference_problems(draw: st.DrawFn, rank: int) -> str:
    union = "; ".join(draw(st.lists(pieces(rank), min_size=1, max_size=3)))
    cells = " and ".join(f"0 <= {name} <= 2*N" for name in NAMES[:rank])
    return (
        'context = "[N] -> { : N >= 3 }"\n'
        f'array = "[N] -> {{ A[{", ".join(NAMES[:rank])}] : {cells} }}"\n'
        f'differences = "[N] -> {{ {union} }}"'
    )


def run_on_differences(rank: int, examples: int) -> Tally:
    tally = Tally()

    @settings(max_examples=examples)
    @given(difference_problems(rank))
    def compare(text: str) -> None:
        conflicts = Analysis.of(read_problem("random.toml", text)).conflicts("A")
        tally.compare(conflicts, SIZE, text.splitlines()[-1])

    compare()
    return tally


def test_random_differences_in_one_dimension(record_property: Record) -> None:
    run_on_differences(1, 30).assert_reached(record_property, 0.8)


def test_random_differences_in_two_dimensions(record_property: Record) -> None:
    run_on_differences(2, 30).assert_reached(record_property, 0.7)


def test_random_differences_in_three_dimensions(record_property: Record) -> None:
    run_on_differences(3, 12).assert_reached(record_property, 0.6)


# ---------------------------------------------------------------- random programs


def test_random_programs(record_property: Record) -> None:
    tally = Tally()

    @settings(max_examples=25)
    @given(programs())
    def compare(program: RandomProgram) -> None:
        assume(has_writes(program))
        analysis = Analysis.of(read_problem("random.toml", program.text()))
        for name in analysis.foldable():
            tally.compare(analysis.conflicts(name), SIZE, program.text())

    compare()
    tally.assert_reached(record_property, 0.6)
