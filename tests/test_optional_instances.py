"""Instances that need not run: conflicts against all executions of all sets of instances that may run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import with_temporaries
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem, write_problem
from arrayfold.judge.verify import Proof
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Program
from support.equal import are_equal
from support.interleavings import Event, Parallel, related
from support.reference import Cell, Instance
from test_paper_programs import pairs_at


@dataclass(frozen=True)
class OptionalProgram:
    """Instances by number, pairs in order, those that need not run, and pairs that never run together."""

    instances: tuple[Instance, ...]
    before: tuple[tuple[int, int], ...]
    optional: tuple[int, ...]
    exclusive: tuple[tuple[int, int], ...]
    live_out: frozenset[Cell]

    def text(self) -> str:
        names = [f"{one.name}[]" for one in self.instances]
        parts = {
            "domain": names,
            "write": [f"{one.name}[] -> A[{c[0]}]" for one in self.instances for _, c in one.writes],
            "read": [f"{one.name}[] -> A[{c[0]}]" for one in self.instances for _, c in one.reads],
            "happens_before": [f"{names[a]} -> {names[b]}" for a, b in self.before],
            "optional": [names[k] for k in self.optional],
            "exclusive": [f"{names[a]} -> {names[b]}" for a, b in self.exclusive],
            "live_out": [f"A[{cell[0]}]" for cell in sorted(self.live_out)],
        }
        lines = [f'{key} = "{{ {"; ".join(texts)} }}"' for key, texts in parts.items()]
        return "\n".join([*lines, 'temporary = ["A"]'])

    def executions(self) -> Iterator[list[int]]:
        """The sets of instances that may run together."""
        free = {*self.optional, *itertools.chain(*self.exclusive)}
        sure = [k for k in range(len(self.instances)) if k not in free]
        for count in range(len(free) + 1):
            for chosen in itertools.combinations(sorted(free), count):
                if not any(a in chosen and b in chosen for a, b in self.exclusive):
                    yield sorted([*sure, *chosen])

    def runs(self) -> Iterator[Parallel]:
        """The executions; none has instances of which each comes before the other."""
        for execution in self.executions():
            place = {k: number for number, k in enumerate(execution)}
            pairs = [(place[a], place[b]) for a, b in self.before if a in place and b in place]
            before = related(pairs)
            ends = itertools.combinations(((k, False) for k in range(len(execution))), 2)
            if not any(before(one, other) and before(other, one) for one, other in ends):
                yield Parallel([self.instances[k] for k in execution], before, self.live_out)


def draw(seed: int) -> OptionalProgram:
    """Mostly chains: a cell is written and read, perhaps nothing happens, another one is written and read."""
    choose = random.Random(seed)
    count = choose.randint(4, 7)
    cell, actions = 0, list[tuple[str, int]]()
    while len(actions) < count:
        actions += [("write", cell), ("read", cell), ("pass", 0)][: choose.randint(2, 3)]
        cell = choose.randrange(3)
    instances = tuple(
        Instance(
            f"S{k}",
            (),
            (("A", (where,)),) if what == "read" else (),
            (("A", (where,)),) if what == "write" else (),
        )
        for k, (what, where) in enumerate(actions[:count])
    )
    everything = list(itertools.combinations(range(count), 2))
    before = tuple((a, b) for a, b in everything if choose.random() < (0.9 if b == a + 1 else 0.1))
    exclusive = tuple(pair for pair in everything if choose.random() < choose.choice((0, 0, 0.15)))
    optional = tuple(k for k in range(count) if choose.random() < choose.choice((0, 0.3)))
    live_out = frozenset((c,) for c in range(3) if choose.random() < 0.15)
    return OptionalProgram(instances, before, optional, exclusive, live_out)


def shows_wrong_values(run: Parallel, live_in: frozenset[Cell], address: Callable[[Cell], Cell]) -> bool:
    """Whether a read that finds a value finds another one where cells share addresses."""

    def step(done: tuple[Event, ...], own: dict[Cell, object], common: dict[Cell, object]) -> bool:
        ahead = run.next_events(done)
        seen = {c for c in run.live_out if not ahead} & own.keys()
        if any(own[c] != common.get(address(c)) for c in seen):
            return True
        for event in ahead:
            if not event.is_write:
                if any(c in own and own[c] != common.get(address(c)) for c in event.cells):
                    return True
                if step((*done, event), own, common):
                    return True
            else:
                (cell,) = event.cells
                if step((*done, event), {**own, cell: event}, {**common, address(cell): event}):
                    return True
        return False

    before: dict[Cell, object] = {cell: ("before", cell) for cell in live_in}
    return step((), before, {address(cell): value for cell, value in before.items()})


@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed: int) -> None:
    """No conflict is missed, nothing is live-in unnoticed, and the fold is right in every execution."""
    check_in_all_executions(draw(seed))


@pytest.mark.parametrize("seed", range(60))
def test_cycles_through_instances_that_need_not_run(seed: int) -> None:
    """Pairs against the order of the text: executions in which they would close a cycle do not exist."""
    drawn = draw(seed)
    choose = random.Random(-seed)
    free = sorted({*drawn.optional, *itertools.chain(*drawn.exclusive)}) or [1]
    drawn = replace(drawn, optional=tuple(free))
    others = range(len(drawn.instances))
    turned = {(max(pair), min(pair)) for pair in itertools.product(free, others) if choose.random() < 0.3}
    pairs = tuple((b, a) for b, a in turned if a != b)
    check_in_all_executions(replace(drawn, before=drawn.before + pairs))


def check_in_all_executions(drawn: OptionalProgram) -> None:
    problem = read_problem("random.toml", drawn.text())
    assert isinstance(problem, Program)
    analysis = Analysis.of(problem)
    assert analysis.liveness is not None
    accesses = analysis.liveness.accesses(problem.array("A"))
    live_in = frozenset(points(accesses.live_in))
    found = pairs_at(analysis.conflicts("A"), {})
    folded = fold(problem)["A"]
    for run in drawn.runs():
        if not drawn.exclusive:
            assert run.live_in <= live_in
        known = Parallel(run.instances, run.before, run.live_out, live_in)
        assert known.racing() <= found
        for interleaving in known.interleavings():
            trace = known.as_trace(interleaving)
            assert all(
                pair in found
                for pair in trace.conflicts("A")
                if all(cell in live_in or ("A", cell) not in trace.all_live_in() for cell in pair)
            )
        mapping = folded.mapping
        assert isinstance(mapping, ModularMapping)
        assert not shows_wrong_values(run, live_in, lambda cell, to=mapping: to.address(cell, {}))
    again = read_problem("again.toml", write_problem(problem))
    assert isinstance(again, Program)
    assert are_equal(again, problem)


CHAIN = """
domain = "{ Wx[]; Rx[]; M[k] : 0 <= k < 3; D[]; Wy[]; Ry[] }"
write = "{ Wx[] -> v[0]; Wy[] -> v[1]; Rx[] -> o[0]; Ry[] -> o[1] }"
read = "{ Rx[] -> v[0]; Ry[] -> v[1] }"
happens_before = "{ Wx[] -> Rx[]; Rx[] -> M[0]; M[k] -> M[k + 1]; M[2] -> Wy[]; Wy[] -> Ry[] }"
live_out = "{ o[i] : 0 <= i <= 1 }"
"""


@pytest.mark.parametrize(
    ("extra", "size"),
    [
        ("", "1"),
        ('optional = "{ D[] }"', "1"),
        ('optional = "{ M[1] }"', "2"),
        ('optional = "{ M[k] }"', "2"),
        ('exclusive = "{ D[] -> M[2] }"', "2"),
        ('exclusive = "{ M[k] -> D[] }"', "2"),
    ],
)
def test_a_chain_of_instances_orders_its_ends_only_if_all_of_it_runs(extra: str, size: str) -> None:
    folded = fold(read_problem("chain.toml", CHAIN + extra))["v"]
    assert str(folded.size) == size
    assert isinstance(folded.proof, Proof)


def test_a_relation_that_is_not_transitive_is_used_as_it_is_given() -> None:
    """Every instance may be missing, so that no pair follows from two others."""
    every = 'optional = "{ Wx[]; Rx[]; M[k]; D[]; Wy[]; Ry[] }"'
    program = read_problem("as-given.toml", CHAIN + every)
    assert isinstance(program, Program)
    assert program.happens_before is not None
    liveness = Analysis.of(program).liveness
    assert liveness is not None
    order = liveness.order
    ordered = order.write_times.apply_range(isl.UnionMap.from_map(order.before))
    assert ordered.apply_range(order.write_times.reverse()).is_equal(program.happens_before)


def test_what_need_not_run_writes_nothing_for_sure() -> None:
    sure, unsure = (
        Analysis.of(read_problem("w.toml", CHAIN + extra)).live_in_arrays()
        for extra in ("", 'optional = "{ Wx[] }"')
    )
    assert "v" not in sure
    assert "v" in unsure


def test_instances_that_never_run_together_may_be_in_any_order() -> None:
    both = CHAIN.replace("Wx[] -> Rx[];", "Wx[] -> Rx[]; M[0] -> D[]; D[] -> M[0];")
    with pytest.raises(InputError, match="cycle"):
        Analysis.of(read_problem("cycle.toml", both))
    assert fold(read_problem("apart.toml", both + 'exclusive = "{ M[0] -> D[] }"'))["v"].size is not None


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('optional = "{ Q[] }"', "does not occur in the domain"),
        ('optional = "{ M[] }"', "has 1 iterator"),
        ("optional = 3", "must be a string"),
    ],
)
def test_complaints(extra: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_problem("optional.toml", CHAIN + extra)


# ---------------------------------------------------------------- tasks of OpenMP under conditions

TASKS = """void f(int N, const int c[restrict N], const double in[restrict N], double out[restrict N],
       double z[restrict N])
{{
    double a[N];
    double q[N + 1], r[N];
#pragma scop
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < N; i++) {{
{body}
    }}
#pragma endscop
}}
"""
PRODUCE = "#pragma omp task depend(out: q[i])\n a[i] = in[i];\n"
CONSUME = "#pragma omp task depend(in: q[i]) depend(out: r[i])\n out[i] = a[i];\n"
PASS_ON = "#pragma omp task depend(in: r[i]) depend(out: q[i+1])\n z[i] = 1.0;\n"


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (PRODUCE + CONSUME + PASS_ON, "1"),
        (PRODUCE + CONSUME + f"if (c[i] > 0) {{\n{PASS_ON}}}", "N"),
        (PRODUCE + CONSUME + f"if (c[i] > 0) {{\n{PASS_ON}}} else {{\n{PASS_ON}}}", "N"),
        (PRODUCE + CONSUME + f"if (i < N) {{\n{PASS_ON}}}", "1"),
        (PRODUCE + CONSUME + "if (c[i] > 0) {\n#pragma omp taskwait\n z[i] = 2; }", "N"),
        (PRODUCE + CONSUME + "\n#pragma omp taskwait\n z[i] = 2;", "1"),
        (f"if (c[i] > 0) {{\n{PRODUCE}{CONSUME}{PASS_ON}}}", "N"),
    ],
)
def test_tasks_under_conditions(body: str, size: str, tmp_path: Path) -> None:
    """Tasks order others only if they surely run; the model says the same again."""
    file = tmp_path / "tasks.c"
    file.write_text(TASKS.format(body=body))
    program = read(file)
    assert isinstance(program, Program)
    assert str(fold(program)["a"].size) == size
    again = read_problem("again.toml", write_problem(with_temporaries(program)))
    assert str(fold(again)["a"].size) == size


def test_an_instance_that_can_never_run_is_said() -> None:
    problem = read_problem(
        "never.toml",
        'domain = "{ S[i] : 0 <= i <= 2; T[] }"\nwrite = "{ S[i] -> A[i] }"\nread = "{ S[i] -> A[i] }"\n'
        'happens_before = "{ S[i] -> T[]; T[] -> S[2] }"\nexclusive = "{ S[i] -> S[j] : i != j }"\n'
        'temporary = ["A"]\n',
    )
    assert isinstance(problem, Program)
    liveness = Analysis.of(problem).liveness
    assert liveness is not None
    assert any("S[2]" in note and "never does" in note for note in liveness.order.notes)
