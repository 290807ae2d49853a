"""Random parallel programs, run in every way their order allows: conflicts, Theorem 1 of DIY16, monotonicity.

An analysed conflict is a pair of which one cell is written while the other holds a needed value in some
interleaving, or a pair of cells with writes in no order. These are exactly the triangles of DIY16 Eq. (5):
three events can be put into the order write x, write y, read x as soon as no two of them are in the opposite
order, because the order is transitive, and every read of x that surely comes before one write of x has an
earlier one or makes x live-in. The second kind adds dead values (footnote 5): two stores in no order to one
address are a data race, whether or not anybody reads. A relation whose closure isl does not find exactly is
used as it is given; only then may there be more conflicts than interleavings show.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.choices import Construction
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample
from arrayfold.judge.witness import find_clobber
from support.effort import examples
from support.interleavings import Parallel, loops, related
from support.random_programs import Linear, RandomStatement
from support.reference import Cell, Instance, Trace, partial_conflicts
from test_paper_programs import pairs_at

MOST_EVENTS = 8
MOST_INTERLEAVINGS = 3000
SHAPES = [(1,), (1,), (2,), (2,), (3,), (1, 2), (2, 1), (2, 2)]


@dataclass(frozen=True)
class ParallelProgram:
    """Statements, and their order: the meaning of each schedule dimension, or pairs of instances."""

    statements: tuple[RandomStatement, ...]
    meanings: tuple[str, ...]
    relation: tuple[tuple[int, int], ...] | None
    live_out: frozenset[Cell] = frozenset()
    live_in: frozenset[Cell] = frozenset()

    @property
    def places(self) -> list[tuple[RandomStatement, Cell]]:
        return [(s, i) for s in self.statements for i in s.iterations(0)]

    @property
    def instances(self) -> list[Instance]:
        return [s.instance(0, i) for s, i in self.places]

    def run(self, *, close: bool = True) -> Parallel:
        if self.relation is not None:
            order = related(self.relation, close=close)
        else:
            times = [[form.value(0, i) for form in s.schedule] for s, i in self.places]
            order = loops(times, self.meanings)
        return Parallel(self.instances, order, self.live_out, self.live_in)

    def text(self) -> str:
        parts = {
            "domain": [s.domain_text for s in self.statements],
            "write": [t for s in self.statements for t in s.access_texts(s.writes)],
            "read": [t for s in self.statements for t in s.access_texts(s.reads)],
            "live_out": [f"A{list(cell)}" for cell in sorted(self.live_out)],
            "live_in": [f"A{list(cell)}" for cell in sorted(self.live_in)],
        }
        if self.relation is None:
            parts["schedule"] = [
                f"{s.instance_text} -> [{', '.join(map(str, s.schedule))}]" for s in self.statements
            ]
        lines = [f'{key} = "[N] -> {{ {"; ".join(texts)} }}"' for key, texts in parts.items() if texts]
        if self.relation is None:
            loops = [f'{d} = "{kind}"' for d, kind in enumerate(self.meanings) if kind != "sequential"]
            lines.append(f"parallel = {{ {', '.join(loops)} }}")
        else:
            names = [f"{s.name}{list(i)}" for s, i in self.places]
            pairs = "; ".join(f"{names[a]} -> {names[b]}" for a, b in self.relation)
            lines.append(f'happens_before = "{{ {pairs} }}"')
        return "\n".join(['context = "[N] -> { : N = 0 }"', *lines, 'temporary = ["A"]'])

    def analysis(self) -> Analysis:
        return Analysis.of(read_problem("parallel.toml", self.text()))

    def conflicts(self, construction: Construction = "values") -> Conflicts:
        return self.analysis().conflicts("A", construction=construction)


@st.composite
def statements(draw: st.DrawFn, number: int, rank: int, depth: int, *, ties: bool) -> RandomStatement:
    shape = draw(st.sampled_from([shape for shape in SHAPES if len(shape) <= depth]))
    unit = [tuple(int(j == k) for j in range(len(shape))) for k in range(len(shape))]
    forms = [Linear(c, 0, i) for c in (0, 1) for i in [(), *unit]]
    forms += [Linear(1, 0, tuple(-a for a in i)) for i in unit]
    accesses = st.tuples(st.just("A"), st.tuples(*[st.sampled_from(forms)] * rank))
    if ties:
        schedule = draw(st.tuples(*[st.sampled_from(forms)] * depth))
    else:
        order = draw(st.permutations([*unit, *[()] * (depth - len(shape))]))
        schedule = (*(Linear(0, 0, i) for i in order), Linear(number))
    return RandomStatement(
        name=f"S{number}",
        ranges=tuple((Linear(0), Linear(length - 1)) for length in shape),
        reads=tuple(draw(st.lists(accesses, max_size=2))),
        writes=tuple(draw(st.lists(accesses, max_size=2))),
        schedule=tuple(schedule),
    )


@st.composite
def programs(draw: st.DrawFn, *, related_too: bool = True) -> ParallelProgram:
    """Two or three statements on one array, with few events and few interleavings."""
    rank, depth, count = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(2, 3))
    ties = draw(st.booleans())
    chosen = tuple(draw(statements(number, rank, depth, ties=ties)) for number in range(count))
    depth += not ties
    kinds = draw(st.tuples(*[st.sampled_from(["sequential", "doall"])] * depth))
    front = draw(st.sampled_from([0, 0, 1, 2]))
    meanings = tuple("forall" if depth - d <= front else kind for d, kind in enumerate(kinds))
    program = ParallelProgram(chosen, meanings, None)
    assume(any(s.writes for s in chosen))
    if related_too and draw(st.booleans()):
        order = draw(st.permutations(range(len(program.instances))))
        pairs = list(itertools.combinations(order, 2))
        program = replace(program, relation=tuple(p for p in pairs if draw(st.booleans())))
    touched = sorted({cell for i in program.instances for _, cell in (*i.reads, *i.writes)})
    live_out, live_in = (
        frozenset(cell for cell in touched if draw(st.sampled_from([False, False, True]))) for _ in range(2)
    )
    return replace(program, live_out=live_out, live_in=live_in if draw(st.booleans()) else frozenset())


def small(program: ParallelProgram) -> Parallel:
    """The program, if all its interleavings can be walked through."""
    run = program.run()
    assume(len(run.events) <= MOST_EVENTS)
    count = sum(1 for _ in itertools.islice(run.interleavings(), MOST_INTERLEAVINGS + 1))
    assume(count <= MOST_INTERLEAVINGS)
    return run


@given(programs())
@settings(max_examples=examples(150))
def test_conflicts_are_what_interleavings_show(program: ParallelProgram) -> None:
    run = small(program)
    expected = run.needed_together(run.interleavings()) | run.racing()
    assert run.conflicts() == expected
    conflicts = program.conflicts()
    found = pairs_at(conflicts, {"N": 0})
    if not any("no exact closure" in note for note in conflicts.notes):
        assert found == expected
        return
    assert found >= expected
    order = related(program.relation or (), close=False)
    trace = Trace(program.instances, frozenset(("A", cell) for cell in program.live_out))
    for_written = {pair for pair in found if not run.live_in & set(pair)}
    assert for_written <= partial_conflicts(trace, "A", order)


@given(programs())
@settings(max_examples=examples(40))
def test_cells_without_conflict_may_share_an_address(program: ParallelProgram) -> None:
    run = small(program)
    found = pairs_at(program.conflicts(), {"N": 0})
    for x, y in itertools.combinations(held(run), 2):
        if (x, y) not in found:
            assert not run.shows_wrong_values(lambda cell, x=x, y=y: x if cell == y else cell)


@given(programs())
@settings(max_examples=examples(40))
def test_clobbers_are_told_in_an_order_that_can_happen(program: ParallelProgram) -> None:
    analysis = program.analysis()
    assert analysis.liveness is not None
    run = small(program)
    number = {f"{s.name}{list(i)}": k for k, (s, i) in enumerate(program.places)}
    for x, y in sorted(pairs_at(analysis.conflicts("A"), {"N": 0})):
        clobber = find_clobber(analysis.liveness, Counterexample("A", {"N": 0}, (x, y), (0,)))
        if clobber is None:
            assert (x, y) in run.racing() or {x, y} <= run.live_in
            continue
        story = [(clobber.writer, True), (clobber.overwriter, True), (clobber.reader, False)]
        steps = [(number[name], is_write) for name, is_write in story if name is not None]
        for earlier, later in itertools.combinations(steps, 2):
            assert not run.before(later, earlier), str(clobber)


def held(run: Parallel) -> list[Cell]:
    """The cells that ever hold a value."""
    return sorted({cell for event in run.events for cell in event.cells if event.is_write} | run.live_in)


# ---------------------------------------------------------------- Theorem 1


def comes_first(run: Parallel, x: Cell, y: Cell) -> bool:
    """All events of x come before all writes of y; outside, the program writes live-in and reads live-out."""
    ours = [event for event in run.events if x in event.cells]
    theirs = [event for event in run.events if event.is_write and y in event.cells]
    if x in run.live_out or y in run.live_in:
        return False
    return all(run.is_before(a, b) for a, b in itertools.product(ours, theirs))


def without_dead_writes(program: ParallelProgram) -> ParallelProgram:
    """The program in which every cell with a write that no read surely follows is live-out."""
    run = program.run()
    reads = [event for event in run.events if not event.is_write]
    dead = {
        event.cells[0]
        for event in run.events
        if event.is_write and not any(event.cells[0] in r.cells and run.is_before(event, r) for r in reads)
    }
    return replace(program, live_out=program.live_out | dead)


@given(programs())
@settings(max_examples=examples(150))
def test_reuse_is_a_partial_order(program: ParallelProgram) -> None:
    """DIY16 Theorem 1: of two cells that do not conflict one comes first, and that is a partial order.

    It speaks of cells that are live from their first write to their last read.
    """
    program = without_dead_writes(program)
    run = program.run()
    assume(len(run.events) <= MOST_EVENTS)
    conflicts = program.conflicts("live-write")
    assume(not any("no exact closure" in note for note in conflicts.notes))
    found = pairs_at(conflicts, {"N": 0})
    first = {(x, y) for x, y in itertools.permutations(held(run), 2) if comes_first(run, x, y)}
    for x, y in itertools.permutations(held(run), 2):
        assert ((x, y) in found) == ((x, y) not in first and (y, x) not in first)
        assert (x, y) not in first or (y, x) not in first
    assert {(x, z) for x, y in first for other, z in first if y == other} <= first


def test_theorem_1_is_not_one_of_values() -> None:
    """x, y, x written and the first two read: no conflict, and yet neither cell comes first."""
    instances = [
        Instance("S", (t,), reads, writes)
        for t, (reads, writes) in enumerate([((), X), (X, ()), ((), Y), (Y, ()), ((), X)])
    ]
    run = Parallel(instances, loops([(t,) for t in range(5)], ["sequential"]))
    assert not run.conflicts()
    assert not comes_first(run, (0,), (1,))
    assert not comes_first(run, (1,), (0,))


X, Y = (("A", (0,)),), (("A", (1,)),)


# ---------------------------------------------------------------- monotonicity


def all_meanings(depth: int) -> list[tuple[str, ...]]:
    """Every loop sequential or doall, and the innermost ones forall."""
    return [
        (*outer, *["forall"] * front)
        for front in range(depth + 1)
        for outer in itertools.product(["sequential", "doall"], repeat=depth - front)
    ]


@given(programs(related_too=False))
@settings(max_examples=examples(25))
def test_more_parallel_programs_have_more_conflicts(program: ParallelProgram) -> None:
    orders: dict[tuple[str, ...], set[tuple[int, int]]] = {}
    conflicts: dict[tuple[str, ...], set[tuple[Cell, Cell]]] = {}
    for meanings in all_meanings(len(program.meanings)):
        variant = replace(program, meanings=meanings)
        run = variant.run()
        numbered = list(enumerate(run.events))
        orders[meanings] = {(a, b) for a, e in numbered for b, f in numbered if run.is_before(e, f)}
        conflicts[meanings] = pairs_at(variant.conflicts(), {"N": 0})
    comparable = [(a, b) for a, b in itertools.permutations(orders, 2) if orders[a] <= orders[b]]
    assert comparable
    for looser, stricter in comparable:
        assert conflicts[looser] >= conflicts[stricter]
