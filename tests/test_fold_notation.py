"""Folds as users of Halide, Devito, TVM and Exo state them, and what `check` makes of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import analyse
from arrayfold.fold.check import check
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from arrayfold.passes.reorder import reorder
from support.command import run

BLUR = read("examples/blur-interleaved.toml")
WAVE = read("examples/wave-1d.toml")
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("text", "mapping"),
    [
        ("blurx.fold_storage(y, 4)", "blurx[y, x] -> [y mod 4, x mod N]"),
        ("blurx.fold_storage(y, 4);", "blurx[y, x] -> [y mod 4, x mod N]"),
        ("blurx.fold_storage(y, 4, false)", "blurx[y, x] -> [y mod 4, x mod N]"),
        ("blurx.fold_storage(y, 4, fold_forward=False)", "blurx[y, x] -> [y mod 4, x mod N]"),
        ("blurx.fold_storage(0, 3)", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("blurx.fold_storage(x, N + 1)", "blurx[y, x] -> [y mod N, x mod (N + 1)]"),
        ("blurx\n  .fold_storage(y, 4)\n  .fold_storage(x, 8)", "blurx[y, x] -> [y mod 4, x mod 8]"),
        ("blurx.fold_storage(x, 8); blurx.fold_storage(y, 4)", "blurx[y, x] -> [y mod 4, x mod 8]"),
        ("blurx.fold_storage(y, 1)", "blurx[y, x] -> [x mod N]"),
        ("resize_dim(p, 'blurx', 0, 3, 0, fold=True)", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("resize_dim(p, 'blurx', 1, 3, 7, True)", "blurx[y, x] -> [y mod N, x mod 3]"),
        (
            'p = resize_dim(p, "blurx : _", 0, "N - 1", 0, fold=True)',
            "blurx[y, x] -> [y mod (N - 1), x mod N]",
        ),
        (
            "resize_dim(fold=True, buf_cursor='blurx', dim_idx=0, size=3, offset=0, proc=p)",
            "blurx[y, x] -> [y mod 3, x mod N]",
        ),
        ("TimeFunction(name='blurx', grid=g)", "blurx[y, x] -> [y mod 2, x mod N]"),
        (
            "TimeFunction(name='blurx', grid=Grid(shape=(4, 4)), time_order=2)",
            "blurx[y, x] -> [y mod 3, x mod N]",
        ),
        ("TimeFunction(name='blurx', time_order=2, save=Buffer(5))", "blurx[y, x] -> [y mod 5, x mod N]"),
        ("TimeFunction(name='blurx', time_order=2, save=None)", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("TimeFunction(name='blurx', save=nt)", "blurx[y, x] -> [y mod N, x mod N]"),
        ("blurx = devito.TimeFunction(grid=g, time_order=0)", "blurx[y, x] -> [x mod N]"),
        ("blurx[y % 3, x]", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("blurx[a % 3, b]", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("blurx[T.floormod(y, 3), x]", "blurx[y, x] -> [y mod 3, x mod N]"),
        ("blurx[floormod(y + 1, 3), x]", "blurx[y, x] -> [(y + 1) mod 3, x mod N]"),
    ],
)
def test_what_a_statement_is_read_as(text: str, mapping: str) -> None:
    (found,) = read_mappings(text, BLUR)
    assert str(found) == mapping


def test_several_arrays_and_forms_together() -> None:
    found = read_mappings("blurx.fold_storage(y, 3); out.fold_storage(x, 2); blurx[y % 2][x]", BLUR)
    assert [str(mapping) for mapping in found] == [
        "blurx[y, x] -> [y mod 3, x mod N]",
        "out[y, x] -> [y mod (N - 2), x mod 2]",
        "blurx[y, x] -> [y mod 2, x mod N]",
    ]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("blury.fold_storage(y, 3)", 1, "there is no array 'blury'; the arrays are: blurx, out"),
        ("blurx.fold_storage(z, 3)", 20, "array blurx has no dimension 'z'; it has: y, x"),
        ("blurx.fold_storage(2, 3)", 20, "array blurx has no dimension '2'; it has: y, x"),
        ("blurx.fold_storage(y, 0)", 23, "a fold keeps a positive whole number of steps, not 0"),
        ("blurx.fold_storage(y, -N + N - 1)", 23, "a fold keeps a positive whole number of steps, not -1"),
        ("blurx.fold_storage(y, N/2)", 23, "a fold keeps a positive whole number of steps, not N/2"),
        ("blurx.fold_storage(y, 2*K)", 25, "'K' is not a parameter; the parameters are: N"),
        ("blurx.fold_storage(y, x)", 23, "'x' is not a parameter; the parameters are: N"),
        ("blurx.fold_storage(y)", 7, "fold_storage needs extent"),
        ("blurx.fold_storage(y, )", 7, "fold_storage needs extent"),
        ("blurx.fold_storage(y, 3, maybe)", 26, "expected True or False, found 'maybe'"),
        ("blurx.fold_storage(y, 3, true, 1)", 32, "fold_storage takes no argument here: '1'"),
        ("blurx.fold_storage(y, factor=3)", 23, "fold_storage has no parameter 'factor'"),
        ("blurx.fold_storage(y, 3", 19, "the opening parenthesis is never closed"),
        ("blurx.compute_at(out, y).fold_storage(y, 3)", 7, "compute_at says nothing of a fold"),
        ("blurx.fold_storage(y, 3).async()", 26, "async says nothing of a fold"),
        ("blurx.fold_storage(y, 3) + 1", 26, "expected .fold_storage(dimension, factor)"),
        (".fold_storage(y, 3)", 1, "expected the name of a Func"),
        ("blurx.fold_storage(y, 3).fold_storage(0, 3)", 39, "blurx is folded twice along y"),
        ("blurx.fold_storage(y, 3); blurx.fold_storage(y, 4)", 46, "blurx is folded twice along y"),
        ("resize_dim(p, 'blur', 0, 3, 0, fold=True)", 16, "there is no array 'blur'"),
        ("resize_dim(p, 'blurx', 5, 3, 0, fold=True)", 24, "array blurx has no dimension '5'"),
        ("resize_dim(p, 'blurx', 0, '0', 0, fold=True)", 28, "a fold keeps a positive whole number"),
        ("resize_dim(p, 'blurx', 0, 3, 0)", 1, "resize_dim without fold=True cuts the dimension"),
        ("resize_dim(p, 'blurx', 0, 3, 0, fold=False)", 1, "resize_dim without fold=True cuts the dimension"),
        ("resize_dim(p, 'blurx', 0, 3, 0, fold=True) 1", 44, "unexpected text after resize_dim(...)"),
        ("x + resize_dim(p, 'blurx', 0, 3, 0, fold=True)", 1, "expected resize_dim(...) alone"),
        ("TimeFunction(name='v', time_order=2)", 20, "there is no array 'v'"),
        ("TimeFunction(grid=g)", 1, "TimeFunction needs the name of the array"),
        ("TimeFunction('blurx')", 14, "TimeFunction takes no argument here: \"'blurx'\""),
        ("TimeFunction(name='blurx', time_order=k)", 39, "time_order is a whole number, not 'k'"),
        (
            "TimeFunction(name='blurx', save=Buffer(0))",
            40,
            "a fold keeps a positive whole number of steps, not 0",
        ),
        (
            "TimeFunction(name='blurx', shape=(3, 10))",
            34,
            "what shape does to the steps of a TimeFunction is not known",
        ),
        ("sch.rolling_buffer(blurx, 0)", 5, "rolling_buffer does not say how much is kept"),
        ("blurx.ring_buffer(2)", 7, "ring_buffer copies a Func for steps of a loop"),
        ("blurx[]", 6, "expected a subscript"),
        ("blurx[floormod(y), x]", 17, "in a formula: expected ',', found ')'"),
    ],
)
def test_complaints_point_at_the_character(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_mappings(text, BLUR)
    assert caught.value.message.startswith(message)
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.column) == ("--mapping", column)


def test_a_caret_in_the_second_line() -> None:
    with pytest.raises(InputError) as caught:
        read_mappings("blurx.fold_storage(x, 2);\nblurx.fold_storage(z, 2)", BLUR)
    assert str(caught.value).splitlines()[:3] == [
        "--mapping:2:20: array blurx has no dimension 'z'; it has: y, x",
        "    blurx.fold_storage(z, 2)",
        "    " + " " * 19 + "^",
    ]


@pytest.mark.parametrize(
    ("file", "text", "summary"),
    [
        ("examples/blur-interleaved.toml", "blurx.fold_storage(y, 2)", "invalid"),
        ("examples/blur-interleaved.toml", "blurx.fold_storage(y, 3)", "loose"),
        ("examples/wave-1d.toml", "TimeFunction(name='u', time_order=2)", "loose"),
        ("examples/wave-1d.toml", "TimeFunction(name='u', time_order=2, save=Buffer(2))", "minimal"),
        ("examples/wave-1d.toml", "TimeFunction(name='u', save=Buffer(1))", "invalid"),
        ("examples/async-rows.toml", "blurx.fold_storage(y, 3)", "invalid"),
        ("examples/async-rows.toml", "blurx.fold_storage(y, 4)", "minimal"),
        ("examples/box-rows.toml", "sums.fold_storage(y, 2*R)", "invalid"),
        ("examples/box-rows.toml", "sums.fold_storage(y, 2*R + 1)", "minimal"),
    ],
)
def test_verdicts(file: str, text: str, summary: str) -> None:
    (checked,) = check(read(file), text)
    assert checked.summary == summary


def test_a_factor_that_is_not_always_positive(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    status = run(
        monkeypatch, "check", "examples/blur-interleaved.toml", "--mapping", "blurx.fold_storage(y, N - 3)"
    )
    assert status == 2
    assert "not positive at N = 3" in capsys.readouterr().err


def test_the_answer_shows_the_mapping(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    arguments = ["check", "examples/blur-interleaved.c", "--mapping", "blurx.fold_storage(y, 2)", "--json"]
    assert run(monkeypatch, *arguments) == 1
    (mapping,) = json.loads(capsys.readouterr().out)["mappings"]
    assert mapping["mapping"] == "blurx[y, x] -> [y mod 2, x mod N]"
    assert mapping["valid"] is False


@given(rows=st.integers(1, 6), factor=st.integers(1, 8))
def test_a_window_of_rows_needs_as_many_rows(rows: int, factor: int) -> None:
    """Whole rows, read `rows` at a time, fit into a ring of that many rows and no fewer."""
    problem = read_problem(
        "rows.toml",
        f"""
        domain   = "{{ P[y] : 0 <= y < 20; C[y] : {rows - 1} <= y < 20 }}"
        write    = "{{ P[y] -> A[y] }}"
        read     = "{{ C[y] -> A[y'] : y - {rows - 1} <= y' <= y }}"
        schedule = "{{ P[y] -> [y, 0]; C[y] -> [y, 1] }}"
        """,
    )
    (checked,) = check(problem, f"A.fold_storage(y, {factor})")
    assert checked.is_valid == (factor >= rows)
    assert checked.is_minimal == (factor == rows)


@given(
    array=st.sampled_from(["u", "v"]),
    dimension=st.sampled_from(["t", "x", "0", "1", "y", "7"]),
    factor=st.sampled_from(["1", "2", "n", "m + 1", "0", "", "q", "2*"]),
)
def test_all_tools_agree(array: str, dimension: str, factor: str) -> None:
    """The same fold in the words of Halide and of Exo is the same mapping, or is refused by both."""

    def read_one(text: str) -> ModularMapping | None:
        try:
            (found,) = read_mappings(text, WAVE)
        except InputError:
            return None
        assert isinstance(found, ModularMapping)
        return found

    halide = read_one(f"{array}.fold_storage({dimension}, {factor})")
    assert halide == read_one(f"resize_dim(p, '{array}', {dimension}, {factor}, 0, fold=True)")
    is_right = array == "u" and dimension in ("t", "x", "0", "1") and factor in ("1", "2", "n", "m + 1")
    assert (halide is not None) == is_right
    if halide is not None and dimension in ("t", "0"):
        assert halide == read_one(f"TimeFunction(name='{array}', save=Buffer({factor}))")


# ---------------------------------------------------------------- the programs, run with their ring buffers

Instance = tuple[str, tuple[int, ...]]
Cell = tuple[int, ...]


def runs_right(
    order: list[Instance], reads: Callable[[Instance], list[Cell]], address: Callable[[Cell], Cell]
) -> bool:
    """Whether every read finds the value of its cell; an instance writes its own cell, named P or S.

    The memory holds, for each address, the cell whose value was written there last.
    """
    memory: dict[Cell, Cell] = {}
    for instance in order:
        if any(memory.get(address(cell)) != cell for cell in reads(instance)):
            return False
        if instance[0] in ("P", "S"):
            memory[address(instance[1])] = instance[1]
    return True


def wave_reads(instance: Instance) -> list[Cell]:
    t, x = instance[1]
    return [(t - 1, k) for k in (x - 1, x, x + 1) if t >= 1 and 0 <= k < 6] + [(t - 2, x)] * (t >= 2)


@pytest.mark.parametrize(("steps", "is_right"), [(1, False), (2, True), (3, True)])
def test_the_wave_runs_in_two_steps_of_any_cell_order(steps: int, is_right: bool) -> None:
    generator = random.Random(5)
    for _ in range(20):
        order = [("S", (t, x)) for t in range(5) for x in generator.sample(range(6), 6)]
        assert runs_right(order, wave_reads, lambda cell: (cell[0] % steps, cell[1])) == is_right
    (checked,) = check(WAVE, f"TimeFunction(name='u', save=Buffer({steps}))")
    assert checked.is_valid == is_right


def upwind_reads(instance: Instance) -> list[Cell]:
    t, x = instance[1]
    return [(t - 1, k) for k in (x - 1, x) if t >= 1 and k >= 0]


@pytest.mark.parametrize("mapping", ["t % 2, x", "(t - x) % (n + 8)"])
@pytest.mark.parametrize("tile", [1, 8])
def test_tiles_of_several_steps_break_the_upwind_scheme(mapping: str, tile: int) -> None:
    order = [("S", (t, x)) for t in range(12) for x in range(20)]
    order.sort(key=lambda instance: (*(k // tile for k in instance[1]), *instance[1]))
    if mapping == "t % 2, x":
        assert runs_right(order, upwind_reads, lambda cell: (cell[0] % 2, cell[1])) == (tile == 1)
    else:
        assert runs_right(order, upwind_reads, lambda cell: ((cell[0] - cell[1]) % 28,))
    problem = reorder(read("examples/upwind-1d.toml"), tile=(tile, tile))
    (stated,) = read_mappings(f"u[t, x] -> [{mapping.replace('%', 'mod')}]", problem)
    verdict = verify(analyse(problem).conflicts("u"), stated)
    assert isinstance(verdict, Proof) == (tile == 1 or mapping != "t % 2, x")


@pytest.mark.parametrize(("rows", "is_right"), [(3, False), (4, True)])
def test_a_producer_one_row_ahead_needs_a_fourth_row(rows: int, is_right: bool) -> None:
    ahead: list[Instance] = [("P", (0,)), ("P", (1,)), ("P", (2,))]
    for y in range(2, 8):
        ahead += [("P", (y + 1,)), ("C", (y,))]

    def reads(instance: Instance) -> list[Cell]:
        return [(instance[1][0] - k,) for k in range(3)] if instance[0] == "C" else []

    assert runs_right(ahead, reads, lambda cell: (cell[0] % rows,)) == is_right
    (checked,) = check(read("examples/async-rows.toml"), f"blurx.fold_storage(y, {rows})")
    assert checked.is_valid == is_right
