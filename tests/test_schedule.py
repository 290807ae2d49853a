"""Orders: dependences against enumeration, every reordered program against its own dependences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import fix_parameters, maps_of, points
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.order.dependences import KINDS, find_violation, memory_dependences
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Program
from support.random_programs import RandomProgram, all_sizes, has_writes, programs
from support.reference import Instance, Trace

EXAMPLES = Path("examples")
Time = tuple[int, ...]
Key = tuple[str, Time]
Pair = tuple[Key, Key]


def program_of(text: str) -> Program:
    problem = read_problem("test.toml", text)
    assert isinstance(problem, Program)
    return problem


def example(name: str) -> Program:
    problem = read(EXAMPLES / f"{name}.toml")
    assert isinstance(problem, Program)
    return problem


# ---------------------------------------------------------------- enumeration


def images(relation: isl.UnionMap, params: Mapping[str, int]) -> dict[Key, list[tuple[str, Time]]]:
    found: dict[Key, list[tuple[str, Time]]] = {}
    for part in maps_of(relation.intersect_params(fix_parameters(params))):
        rank = part.dim(isl.dim_type.in_)
        source, target = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        for point in points(part.wrap()):
            found.setdefault((str(source), point[:rank]), []).append((str(target), point[rank:]))
    return found


def times_of(program: Program, params: Mapping[str, int]) -> dict[Key, Time]:
    assert program.schedule is not None
    found = images(program.schedule, params)
    assert all(len(times) == 1 for times in found.values())
    return {instance: times[0][1] for instance, times in found.items()}


def trace_of(program: Program, params: Mapping[str, int]) -> Trace:
    """The sequential execution of a program, by its times at one size."""
    times = times_of(program, params)
    reads, writes = (images(program.accesses(writes=kind), params) for kind in (False, True))
    ordered = sorted(times, key=lambda instance: times[instance])
    return Trace([Instance(*key, tuple(reads.get(key, ())), tuple(writes.get(key, ()))) for key in ordered])


def enumerated(trace: Trace) -> dict[tuple[str, str], set[Pair]]:
    """(kind, array) -> pairs of instances, by walking through a trace."""
    found: dict[tuple[str, str], set[Pair]] = {}
    for a, b in itertools.combinations(trace.instances, 2):
        ends = ((a.name, a.iteration), (b.name, b.iteration))
        touched = {"flow": (a.writes, b.reads), "anti": (a.reads, b.writes), "output": (a.writes, b.writes)}
        for kind, (first, second) in touched.items():
            for array, _ in set(first) & set(second):
                found.setdefault((kind, array), set()).add(ends)
    return found


def all_pairs(trace: Trace) -> set[Pair]:
    return {pair for pairs in enumerated(trace).values() for pair in pairs}


def surely_before(a: Time, b: Time, parallel: Iterable[int]) -> bool:
    for d, (left, right) in enumerate(zip(a, b, strict=True)):
        if left != right:
            return left < right and d not in parallel
    return False


def assert_keeps(trace: Trace, reordered: Program, params: Mapping[str, int]) -> None:
    """Every instance runs once, and of two that depend on each other the right one surely runs first."""
    times = times_of(reordered, params)
    assert set(times) == {(instance.name, instance.iteration) for instance in trace.instances}
    assert len({len(time) for time in times.values()}) == 1
    for a, b in all_pairs(trace):
        assert surely_before(times[a], times[b], reordered.parallel), (a, b, times[a], times[b])


def kept(program: Program, reordered: Program, *sizes: Mapping[str, int]) -> Program:
    """The reordered program, after it was compared with the original one at some sizes."""
    for params in sizes:
        trace = trace_of(program, params)
        assert all_pairs(trace)
        assert_keeps(trace, reordered, params)
    return reordered


def schedules_equal(program: Program, text: str) -> bool:
    assert program.schedule is not None
    expected = isl.UnionMap(text).intersect_domain(program.schedule.domain())
    return bool(program.schedule.is_equal(expected))


# ---------------------------------------------------------------- dependences


@given(programs())
@settings(max_examples=40)
def test_dependences_equal_enumeration(program: RandomProgram) -> None:
    assume(has_writes(program))
    dependences = memory_dependences(program_of(program.text()))
    for n in all_sizes():
        found = {
            (d.kind, d.array): {(a, b) for a, ends in images(d.relation, {"N": n}).items() for b in ends}
            for d in dependences
        }
        assert {key: pairs for key, pairs in found.items() if pairs} == enumerated(program.trace(n))


def test_dependences_have_every_kind_once_per_array() -> None:
    found = memory_dependences(program_of(JACOBI_IN_PLACE))
    assert {(d.kind, d.array) for d in found} == {(kind, array) for kind in KINDS for array in "AB"}


def test_may_accesses_count() -> None:
    text = """
domain = "{ P[i] : 0 <= i < 4; Q[i] : 0 <= i < 4 }"
may_write = "{ P[i] -> A[i] }"
may_read = "{ Q[i] -> A[i] }"
schedule = "{ P[i] -> [0, i]; Q[i] -> [1, i] }"
"""
    (found,) = memory_dependences(program_of(text))
    assert found.relation.is_equal(isl.UnionMap("{ P[i] -> Q[i] : 0 <= i < 4 }"))


def test_doall_loops_are_swept() -> None:
    (parallel,), (sequential,) = map(memory_dependences, (example("jacobi-1d-doall"), example("jacobi-1d")))
    assert not sequential.relation.is_empty()
    assert parallel.relation.is_equal(sequential.relation)


FORALL = """
domain = "{{ S[t, i] : 0 <= t < 3 and 0 <= i < 6 }}"
write = "{{ S[t, i] -> A[i] }}"
read = "{{ S[t, i] -> A[{index}] }}"
schedule = "{{ S[t, i] -> [t, i] }}"
parallel = {{ 1 = "forall" }}
live_out = "{{ A[i] }}"
"""


def test_reads_of_a_forall_front_come_first() -> None:
    program = program_of(FORALL.format(index="i - 1"))
    with pytest.raises(InputError, match=r"runs S\[0, 0\] before S\[0, 1\], which reads A\[0\]"):
        reorder(program, tile=[2])
    assert reorder(program, schedule="{ S[t, i] -> [t, -i] }").parallel == {}
    fused = reorder(program, fuse="cells")
    times = times_of(fused, {})
    assert all(times["S", (t, i)] < times["S", (t, i - 1)] for t in range(3) for i in range(1, 6))


@pytest.mark.parametrize("wish", [{"fuse": "cells"}, {"tile": [2, 2]}, {"parallel": True}])
def test_a_forall_front_that_no_sequence_can_replace(wish: dict[str, object]) -> None:
    with pytest.raises(InputError, match="anti dependence") as caught:
        reorder(program_of(FORALL.format(index="5 - i")), **wish)  # type: ignore[arg-type]
    assert "forall" in str(caught.value.hint)


# ---------------------------------------------------------------- given orders

BLUR_FUSED = "{ S[x, y] -> [x, y, 0]; T[x, y] -> [x, y, 1] }"


def test_a_given_order_is_taken() -> None:
    program = example("blur")
    found = kept(program, reorder(program, schedule=BLUR_FUSED), {"N": 3}, {"N": 5})
    assert schedules_equal(found, BLUR_FUSED)
    assert fold(found)["blurx"].size == read_formula("3")


def test_parameters_and_braces_are_added() -> None:
    found = reorder(example("blur"), schedule="S[x, y] -> [x, y, 0]; T[x, y] -> [x, y + N, 1]")
    assert schedules_equal(found, "[N] -> { S[x, y] -> [x, y, 0]; T[x, y] -> [x, y + N, 1] }")


def test_a_broken_dependence_is_shown() -> None:
    with pytest.raises(InputError) as caught:
        reorder(example("blur"), schedule="{ S[x, y] -> [x, y + 2, 0]; T[x, y] -> [x, y, 1] }")
    assert caught.value.exit_status == 2
    assert caught.value.message == (
        "the order runs T[0, 2] before S[0, 1], which writes blurx[0, 1] that it reads"
        " (flow dependence, new times [0, 2, 1] and [0, 3, 0], N = 3)"
    )
    assert caught.value.place is not None
    assert caught.value.place.column == 29
    assert "shift" in str(caught.value.hint)


def test_equal_times_are_no_order() -> None:
    with pytest.raises(InputError, match=r"runs T\[0, 2\] at the same time as S\[0, 2\], which writes"):
        reorder(example("blur"), schedule="{ S[x, y] -> [x, y]; T[x, y] -> [x, y] }")


@pytest.mark.parametrize(
    ("read", "order", "message"),
    [
        (
            "A[i + 1]",
            "{ S[i] -> [-i] }",
            r"S\[1\] before S\[0\], which reads A\[1\] that it overwrites \(anti",
        ),
        ("B[i]", "{ S[i] -> [0] }", None),
    ],
)
def test_anti_dependences(read: str, order: str, message: str | None) -> None:
    text = f"""
domain = "{{ S[i] : 0 <= i < 4 }}"
write = "{{ S[i] -> A[i] }}"
read = "{{ S[i] -> {read} }}"
schedule = "{{ S[i] -> [i] }}"
"""
    program = program_of(text)
    if message is None:
        assert schedules_equal(reorder(program, schedule=order), order)
        return
    with pytest.raises(InputError, match=message):
        reorder(program, schedule=order)


def test_output_dependences() -> None:
    text = """
domain = "{ S[i] : 0 <= i < 4 }"
write = "{ S[i] -> A[0] }"
schedule = "{ S[i] -> [i] }"
"""
    with pytest.raises(InputError, match=r"S\[1\] before S\[0\], which writes A\[0\] that it overwrites"):
        reorder(program_of(text), schedule="{ S[i] -> [-i] }")


def test_a_doall_loop_that_carries_a_dependence_is_a_violation() -> None:
    program = example("jacobi-1d")
    violation = find_violation(example("jacobi-1d-doall"), memory_dependences(program))
    assert violation is None
    outer = program_of((EXAMPLES / "jacobi-1d-doall.toml").read_text().replace("{ 1 =", "{ 0 ="))
    violation = find_violation(outer, memory_dependences(program))
    assert violation is not None
    assert "in parallel with" in str(violation)


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("{ S[x, y] -> [x, y, 0] }", "does not say when T runs", 1),
        ("{ S[x, y] -> [x, y]; T[x, y] -> [x, y, 1] }", "times differ in length: 2 for S, 3 for T", 3),
        ("{ S[x, y] -> [x, y]; R[x, y] -> [x, y] }", "there is no statement R", 22),
        ("{ S[x] -> [x]; T[x, y] -> [x] }", "statement S has 2 iterators, not 1", 3),
        ("{ S[x, y] -> [x, z]; T[x, y] -> [x, y] }", "more than one time", 3),
        ("{ S[x, y] -> [x]; S[x, y] -> [x, y]; T[x, y] -> [x, y] }", "differ in length", 3),
        ("{ S[x, y] -> [x, y, 0]; T[x, y] -> [x, y, 1] : x > 0 }", "when T runs, for example", 25),
        ("{ S[x, y] -> [x, y, 0]; [x, y] -> [x, y, 1] }", "there is no statement (unnamed)", 1),
        ("{ S[x, y] -> [x, y, 0", "never closed", 1),
        ("{ S[x, y] -> [x, , 0]; T[x, y] -> [x, y, 1] }", "syntax error", 18),
        ("{ S[x, y] -> [x * y, 0]; T[x, y] -> [x, y] }", "not affine", None),
        ("{ S[x, y] -> [x, y, 0] } T", "unexpected text", 26),
        ("[M] -> { S[x, y] -> [x, y, M] }", "there is no parameter 'M'", 2),
        ("{ S[x, y] }", "expected a relation", None),
        ("", "does not say when S runs", 1),
    ],
)
def test_wrong_orders(text: str, message: str, column: int | None) -> None:
    with pytest.raises(InputError) as caught:
        reorder(example("blur"), schedule=text)
    assert message in caught.value.message
    assert caught.value.place is not None
    assert caught.value.place.file == "--schedule"
    assert column in (None, caught.value.place.column)


# ---------------------------------------------------------------- what cannot be reordered


def test_without_a_wish_the_program_is_returned() -> None:
    program = example("jacobi-1d-doall")
    assert reorder(program) is program


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"schedule": BLUR_FUSED, "fuse": "cells"}, "not both"),
        ({"tile": [4, 0]}, "must be positive, not 0"),
        ({"tile": [4, 4, 4]}, "the order has 2 loops, but 3 sizes"),
    ],
)
def test_wrong_wishes(wish: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reorder(example("blur"), **wish)  # type: ignore[arg-type]


def test_conflicts_have_no_order() -> None:
    with pytest.raises(InputError, match="reordering needs a program"):
        reorder(read(EXAMPLES / "blur-differences.toml"), fuse="cells")


def test_happens_before_has_no_schedule() -> None:
    text = 'domain = "{ P[i] : 0 <= i < 4 }"\nwrite = "{ P[i] -> A[i] }"\n'
    text += 'happens_before = "{ P[i] -> P[j] : i < j }"'
    with pytest.raises(InputError, match="reordering needs a schedule"):
        reorder(program_of(text), parallel=True)


def test_the_budget_holds() -> None:
    with pytest.raises(BudgetExceeded):
        reorder(example("lbm-d3q19"), fuse="cells", budget=Budget(0.0001))


# ---------------------------------------------------------------- fusion

THREE_STAGES = """
context = "[N] -> { : N >= 8 }"
domain = "[N] -> { S[y, x] : 1 <= y, x < N - 1; T[y, x] : 2 <= y, x < N - 2; U[y, x] : 3 <= y, x < N - 3 }"
write = "[N] -> { S[y, x] -> a[y, x]; T[y, x] -> b[y, x]; U[y, x] -> out[y, x] }"
read = \"\"\"[N] -> { T[y, x] -> a[y', x'] : y - 1 <= y' <= y + 1 and x - 1 <= x' <= x + 1;
             U[y, x] -> b[y', x'] : y - 1 <= y' <= y + 1 and x - 1 <= x' <= x + 1 }\"\"\"
schedule = "[N] -> { S[y, x] -> [0, y, x]; T[y, x] -> [1, y, x]; U[y, x] -> [2, y, x] }"
live_out = "{ out[y, x] }"
"""

JACOBI_IN_PLACE = """
context = "[T, N] -> { : T >= 2 and N >= 5 }"
domain = "[T, N] -> { S[t, i] : 0 <= t < T and 1 <= i < N - 1; U[t, i] : 0 <= t < T and 1 <= i < N - 1 }"
write = "[T, N] -> { S[t, i] -> B[i]; U[t, i] -> A[i] }"
read = "[T, N] -> { S[t, i] -> A[i'] : i - 1 <= i' <= i + 1; U[t, i] -> B[i] }"
schedule = "[T, N] -> { S[t, i] -> [t, 0, i]; U[t, i] -> [t, 1, i] }"
live_out = "{ A[i] }"
"""


def test_fused_blur_needs_three_rows() -> None:
    program = example("blur")
    assert fold(program)["blurx"].size == read_formula("N^2")
    found = kept(program, reorder(program, fuse="cells"), {"N": 3}, {"N": 5})
    for n in (3, 10, 100):
        assert fold(found)["blurx"].size.at({"N": n}) <= 3 * n


def test_fused_stages_are_shifted() -> None:
    program = program_of(THREE_STAGES)
    found = kept(program, reorder(program, fuse="cells"), {"N": 8})
    sizes = {array.name: array.size for array in fold(found)}
    assert sizes == {"a": read_formula("2*N - 1"), "b": read_formula("2*N - 5")}


TRANSPOSED_TOO = """
context = "[N] -> { : N >= 4 }"
domain = "[N] -> { A[i, j] : 0 <= i, j < N; B[i, j] : 0 <= i, j < N; C[i, j] : 0 <= i, j < N }"
write = "[N] -> { A[i, j] -> a[i, j]; B[i, j] -> b[i, j]; C[i, j] -> c[i, j] }"
read = \"\"\"[N] -> { B[i, j] -> a[i, j]; B[i, j] -> a[i - 1, j] : i >= 1;
             C[i, j] -> b[i, j]; C[i, j] -> b[j, i] }\"\"\"
schedule = "[N] -> { A[i, j] -> [0, i, j]; B[i, j] -> [1, i, j]; C[i, j] -> [2, i, j] }"
live_out = "{ c[i, j] }"
"""


def test_whole_components_are_fused() -> None:
    program = program_of(TRANSPOSED_TOO)
    found = kept(program, reorder(program, fuse="cells"), {"N": 5})
    assert fold(found)["a"].size.at({"N": 100}) <= 200
    assert fold(found)["b"].size.at({"N": 100}) <= 200


@pytest.mark.parametrize(
    ("least", "written", "read"),
    [("0", "i + 2*j + N", "j + 1"), ("i", "j - i", "2*i + j - 1")],
    ids=["a context of its own", "a loop that counts through two"],
)
def test_fusion_where_isl_gives_up_at_first(least: str, written: str, read: str) -> None:
    text = f"""
context = "[N] -> {{ : 2 <= N <= 4 }}"
domain = "[N] -> {{ S[i, j] : 0 <= i <= 1 and {least} <= j < N }}"
write = "[N] -> {{ S[i, j] -> B[{written}] }}"
read = "[N] -> {{ S[i, j] -> B[{read}] }}"
schedule = "[N] -> {{ S[i, j] -> [j, i] }}"
"""
    program = program_of(text)
    kept(program, reorder(program, fuse="cells"), {"N": 2}, {"N": 3}, {"N": 4})


def test_fused_stages_run_row_by_row_in_parallel() -> None:
    program = program_of(THREE_STAGES)
    found = kept(program, reorder(program, fuse="cells", parallel=True), {"N": 8})
    assert found.parallel == {2: "doall"}
    sizes = {array.name: array.size for array in fold(found)}
    assert sizes == {"a": read_formula("3*N - 6"), "b": read_formula("3*N - 12")}


def test_ties_are_broken_by_fusion() -> None:
    found = reorder(example("gauss"), fuse="cells")
    assert found.schedule is not None
    assert found.schedule.is_injective()


def test_a_program_without_loops() -> None:
    text = """
domain = "{ P[]; Q[] }"
write = "{ P[] -> a[]; Q[] -> b[] }"
read = "{ Q[] -> a[] }"
schedule = "{ P[] -> [0]; Q[] -> [1] }"
live_out = "{ b[] }"
"""
    program = program_of(text)
    assert times_of(kept(program, reorder(program, fuse="cells", parallel=True), {}), {}) == {
        ("P", ()): (0,),
        ("Q", ()): (1,),
    }
    with pytest.raises(InputError, match="the order has 0 loops"):
        reorder(program, tile=[4])


def test_options_of_isl_are_restored() -> None:
    context = isl.DEFAULT_CONTEXT
    before = context.get_schedule_whole_component(), context.get_schedule_maximize_band_depth()
    assert before == (0, 0)
    reorder(example("blur"), fuse="cells")
    assert (context.get_schedule_whole_component(), context.get_schedule_maximize_band_depth()) == before


# ---------------------------------------------------------------- tiles


def test_tiles_stand_outside_the_loops() -> None:
    program = example("blur-interleaved")
    found = kept(program, reorder(program, tile=[2, 3]), {"N": 3}, {"N": 5})
    expected = (
        "{ S[y, x] -> [floor(y/2), floor(x/3), y, x, 0]; T[y, x] -> [floor(y/2), floor(x/3), y, x, 1] }"
    )
    assert schedules_equal(found, expected)


def test_places_in_front_of_the_loops_stay_there() -> None:
    program = example("blur")
    found = kept(program, reorder(program, tile=[4]), {"N": 6})
    assert schedules_equal(found, "{ S[x, y] -> [0, floor(x/4), x, y]; T[x, y] -> [1, floor(x/4), x, y] }")


def test_size_one_leaves_a_loop_alone() -> None:
    program = example("jacobi-1d")
    found = kept(program, reorder(program, tile=[1, 2]), {"n": 5})
    assert schedules_equal(found, "{ S[i, j] -> [i, floor(j/2), j] }")


def test_illegal_tiles_are_refused_with_the_dependence() -> None:
    message = (
        r"runs S\[1, 3\] before S\[0, 4\], which writes A\[0, 4\] that it reads "
        r"\(flow dependence, new times \[0, 0, 1, 3\] and \[0, 1, 0, 4\], n = 5\)"
    )
    with pytest.raises(InputError, match=message) as caught:
        reorder(example("jacobi-1d"), tile=[4, 4])
    assert "--fuse" in str(caught.value.hint)


def test_fusion_skews_jacobi_for_tiles() -> None:
    program = example("jacobi-1d")
    found = kept(program, reorder(program, fuse="cells", tile=[4, 4]), {"n": 3}, {"n": 9})
    assert schedules_equal(found, "{ S[i, j] -> [floor(i/4), floor((i + j)/4), i, i + j] }")


def test_time_tiles_of_two_statements() -> None:
    program = program_of(JACOBI_IN_PLACE)
    found = kept(program, reorder(program, fuse="cells", tile=[2, 3]), {"T": 4, "N": 9})
    times = times_of(found, {"T": 4, "N": 9})
    steps_of_first_tile = {t for (_, (t, _)), time in times.items() if time[:2] == min(times.values())[:2]}
    assert len(steps_of_first_tile) == 1
    assert any(
        len({t for (_, (t, _)), time in times.items() if time[:2] == tile}) == 2
        for tile in {time[:2] for time in times.values()}
    )


# ---------------------------------------------------------------- parallel loops


@pytest.mark.parametrize(
    ("name", "wish", "parallel"),
    [
        ("blur", {"parallel": True}, {1: "doall"}),
        ("jacobi-1d", {"parallel": True}, {1: "doall"}),
        ("jacobi-1d", {"fuse": "cells", "tile": [4, 4], "parallel": True}, {3: "doall"}),
        ("jacobi-1d-forall", {"tile": [2]}, {}),
        ("jacobi-1d-doall", {"fuse": "cells"}, {}),
        ("blur-interleaved", {"tile": [2, 2], "parallel": True}, {1: "doall"}),
        ("scalar-chain", {"parallel": True}, {}),
    ],
)
def test_the_outermost_loop_that_carries_nothing(
    name: str, wish: dict[str, object], parallel: dict[int, str]
) -> None:
    program = example(name)
    found = reorder(program, **wish)  # type: ignore[arg-type]
    kept(program, found, dict.fromkeys(program.parameters, 5))
    assert found.parallel == parallel


def test_nests_with_different_parallel_loops_get_dimensions_of_their_own() -> None:
    text = """
context = "[N] -> { : N >= 3 }"
domain = "[N] -> { P[i, j] : 1 <= i, j < N; Q[i, j] : 1 <= i, j < N; R[i, j] : 1 <= i, j < N }"
write = "[N] -> { P[i, j] -> A[i, j]; Q[i, j] -> B[i, j]; R[i, j] -> C[0] }"
read = "[N] -> { P[i, j] -> A[i - 1, j]; Q[i, j] -> B[i, j - 1]; R[i, j] -> A[i, j] }"
schedule = "[N] -> { P[i, j] -> [0, i, j]; Q[i, j] -> [1, i, j]; R[i, j] -> [2, i, j] }"
"""
    program = program_of(text)
    found = kept(program, reorder(program, parallel=True), {"N": 3}, {"N": 5})
    assert found.parallel == {2: "doall", 4: "doall"}
    assert schedules_equal(
        found,
        "{ P[i, j] -> [0, i, 0, 0, j]; Q[i, j] -> [1, 0, i, j, 0]; R[i, j] -> [2, i, 0, j, 0] }",
    )


def test_statements_inside_a_sequential_loop_are_separate_nests() -> None:
    program = program_of(JACOBI_IN_PLACE)
    found = kept(program, reorder(program, parallel=True), {"T": 3, "N": 6})
    assert found.parallel == {2: "doall"}


# ---------------------------------------------------------------- random programs


WISHES = [
    {"parallel": True},
    {"fuse": "cells"},
    {"fuse": "cells", "parallel": True},
    {"fuse": "cells", "tile": [2]},
    {"fuse": "cells", "tile": [2], "parallel": True},
    {"tile": [2], "parallel": True},
]


@given(programs(), st.sampled_from(WISHES))
@settings(max_examples=60)
def test_reordered_random_programs_keep_every_dependence(
    program: RandomProgram, wish: dict[str, object]
) -> None:
    assume(has_writes(program))
    found = reorder(program_of(program.text()), **wish)  # type: ignore[arg-type]
    for n in all_sizes():
        assert_keeps(program.trace(n), found, {"N": n})


def varying_dimensions(program: RandomProgram) -> list[int]:
    """The dimensions of the schedule in which some statement runs at several times."""
    found: set[int] = set()
    for n in all_sizes():
        times = program.times(n)
        for a, b in itertools.combinations(times, 2):
            if a.name == b.name:
                found |= {d for d, (x, y) in enumerate(zip(times[a], times[b], strict=True)) if x != y}
    return sorted(found)


@given(programs())
@settings(max_examples=60)
def test_tiles_are_refused_exactly_where_enumeration_breaks(program: RandomProgram) -> None:
    assume(has_writes(program))
    loops = varying_dimensions(program)
    assume(len(loops) >= 2)
    broken: set[int] = set()
    for n in all_sizes():
        cut = {
            (instance.name, instance.iteration): (
                *time[: loops[0]],
                *(time[d] // 2 for d in loops[:2]),
                *time[loops[0] :],
            )
            for instance, time in program.times(n).items()
        }
        if any(cut[a] >= cut[b] for a, b in all_pairs(program.trace(n))):
            broken.add(n)
    if broken:
        with pytest.raises(InputError, match=rf"dependence.*N = {min(broken)}\)"):
            reorder(program_of(program.text()), tile=[2, 2])
        return
    found = reorder(program_of(program.text()), tile=[2, 2])
    for n in all_sizes():
        assert_keeps(program.trace(n), found, {"N": n})


@given(programs(), st.data())
@settings(max_examples=60)
def test_orders_are_refused_exactly_where_enumeration_breaks(
    program: RandomProgram, data: st.DataObject
) -> None:
    assume(has_writes(program))
    forms: dict[str, str] = {}
    for statement in program.statements:
        iterators = [f"i{k}" for k in range(len(statement.ranges))]
        entries = data.draw(st.permutations([*iterators, str(data.draw(st.integers(0, 1)))]))
        signs = data.draw(st.lists(st.sampled_from(["", "-"]), min_size=len(entries), max_size=len(entries)))
        padding = ["0"] * (3 - len(iterators))
        image = [sign + entry for sign, entry in zip(signs, entries, strict=True)] + padding
        forms[statement.name] = f"{statement.instance_text} -> [{', '.join(image)}]"
    original = program_of(program.text())
    text = f"{{ {'; '.join(forms.values())} }}"
    given_times = isl.UnionMap(text).intersect_domain(original.domain())
    broken = {
        n
        for n in all_sizes()
        for times in [{key: found[0][1] for key, found in images(given_times, {"N": n}).items()}]
        if any(times[a] >= times[b] for a, b in all_pairs(program.trace(n)))
    }
    if not broken:
        assert schedules_equal(reorder(original, schedule=text), text)
        return
    with pytest.raises(InputError, match=f"N = {min(broken)}") as caught:
        reorder(original, schedule=text)
    assert "dependence" in caught.value.message
