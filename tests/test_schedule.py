"""Orders: dependences against enumeration, every reordered program against its own dependences."""

from __future__ import annotations

import itertools
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, InputError
from arrayfold.exact.formula_parse import read_formula
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.order.dependences import KINDS, find_violation, memory_dependences
from arrayfold.passes.reorder import reorder
from support.orders import (
    JACOBI_IN_PLACE,
    all_pairs,
    assert_keeps,
    enumerated,
    example,
    images,
    kept,
    program_of,
    schedules_equal,
    times_of,
)
from support.random_programs import RandomProgram, all_sizes, has_writes, programs

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
    outer = program_of(Path("examples/jacobi-1d-doall.toml").read_text().replace("{ 1 =", "{ 0 ="))
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
        reorder(read("examples/blur-differences.toml"), fuse="cells")


def test_happens_before_has_no_schedule() -> None:
    text = 'domain = "{ P[i] : 0 <= i < 4 }"\nwrite = "{ P[i] -> A[i] }"\n'
    text += 'happens_before = "{ P[i] -> P[j] : i < j }"'
    with pytest.raises(InputError, match="reordering needs a schedule"):
        reorder(program_of(text), parallel=True)


def test_the_budget_holds() -> None:
    with pytest.raises(BudgetExceeded):
        reorder(example("lbm-d3q19"), fuse="cells", budget=Budget(0.0001))


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
