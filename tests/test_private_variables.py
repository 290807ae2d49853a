"""Variables that loop bodies declare: every order that is possible without them, and the same results."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.order.dependences import memory_dependences
from arrayfold.order.private_overlaps import overlapping
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Program
from support.runs import run_both

HEAD = (
    "static void fill(double *w) {{ w[0] = 1; w[1] = 2; }}\n"
    "void k(int n, const double in[restrict n][n], double out[restrict n][n])\n{{\n"
    "    double t[n][n];\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
)
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {inside} }}"
BODIES = {
    "initialised": "double v = in[i][j] * 2; t[i][j] = v + j; out[i][j] = t[i][j] + v;",
    "set later": "double v; v = in[i][j]; t[i][j] = v; v = v * 2; out[i][j] = t[i][j] + v;",
    "constants": "const double v = in[i][j]; const double w = v * v; t[i][j] = w; out[i][j] = t[i][j] - v;",
    "an array": "double w[2]; w[0] = in[i][j]; w[1] = w[0] * 2; t[i][j] = w[1]; out[i][j] = t[i][j] + w[0];",
    "given to a function": "double w[2]; fill(w); t[i][j] = w[1] * in[i][j]; out[i][j] = t[i][j] + w[0];",
    "in an inner loop": "double s = 0; for (int q = 0; q < 3; q++) s += in[i][j] * q;"
    " t[i][j] = s; out[i][j] = t[i][j] + s;",
    "set on a condition": "double v = 1; if (in[i][j] > 0) v = in[i][j]; t[i][j] = v; out[i][j] = t[i][j];",
    "a condition": "int p = in[i][j] > 0; if (p) t[i][j] = 1; else t[i][j] = 2; out[i][j] = t[i][j];",
    "in a branch": "t[i][j] = 1; if (in[i][j] > 0) {{ double v = in[i][j]; t[i][j] = v; out[i][j] = v; }}"
    " else out[i][j] = t[i][j];",
    "two of one name": "{{ double v = in[i][j]; t[i][j] = v; }} {{ double v = t[i][j]; out[i][j] = v; }}",
}
ORDERS = {
    "parallel": {"parallel": True},
    "tiles": {"tile": (4, 4)},
    "tiles in parallel": {"tile": (4, 4), "parallel": True},
    "fused": {"fuse": "cells"},
}


def program_of(body: str, tmp_path: Path) -> Program:
    file = tmp_path / "private.c"
    file.write_text(HEAD.format(body=body.replace("{{", "{").replace("}}", "}")))
    program = read(file)
    assert isinstance(program, Program)
    return program


def nest(inside: str, tmp_path: Path) -> Program:
    return program_of(LOOPS.format(inside=inside.replace("{{", "{").replace("}}", "}")), tmp_path)


def assert_equal_results(program: Program) -> None:
    result = fold(program, params={"n": 9})
    for style in ("fast", "readable"):
        report = run_both(result, write_c([result.region("generate", style)]))
        assert report.is_equal, str(report)


@pytest.mark.parametrize(("name", "order"), [*itertools.product(BODIES, ORDERS)])
def test_orders_are_those_without_variables(name: str, order: str, tmp_path: Path) -> None:
    program = nest(BODIES[name], tmp_path)
    ordered = reorder(program, **ORDERS[order])  # type: ignore[arg-type]
    assert bool(ordered.parallel) == ("parallel" in ORDERS[order])
    assert ordered.private == program.private
    assert not list(overlapping(ordered))


@pytest.mark.parametrize("name", BODIES)
def test_results_are_equal(name: str, tmp_path: Path) -> None:
    assert_equal_results(reorder(nest(BODIES[name], tmp_path), tile=(4, 4), parallel=True))


SUM = """for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++) { t[i][j] = in[i][j] * 2; s += t[i][j]; }
    for (int j = 0; j < n; j++) out[i][j] = s;
}"""


def test_each_iteration_of_an_outer_loop_has_its_own(tmp_path: Path) -> None:
    program = program_of(SUM, tmp_path)
    assert program.private == {"s": 1}
    ordered = reorder(program, parallel=True)
    assert list(ordered.parallel.values()) == ["doall"]
    assert_equal_results(ordered)


def test_one_variable_does_not_hold_the_values_of_several_iterations(tmp_path: Path) -> None:
    """Between the loops all sums would be needed at once, so the loops over i stay as they are."""
    program = program_of(SUM, tmp_path)
    apart = "S_0[i] -> [0, i, 0, 0]; S_1[i, j] -> [1, i, j, 0]; S_2[i, j] -> [1, i, j, 1]"
    apart += "; S_3[i, j] -> [2, i, j, 0]"
    with pytest.raises(InputError, match="several variables s at once"):
        reorder(program, schedule=f"{{ {apart} }}")


def test_values_that_are_set_just_before_take_turns(tmp_path: Path) -> None:
    """The variable belongs to an iteration of i, which tiles cut, but no value is used beyond one of j."""
    body = "for (int i = 0; i < n; i++) { double r; for (int j = 0; j < n; j++) "
    body += "{ r = in[i][j]; t[i][j] = r + r; out[i][j] = t[i][j]; } }"
    program = program_of(body, tmp_path)
    assert program.private == {"r": 1}
    for is_parallel in (False, True):
        ordered = reorder(program, tile=(4, 4), parallel=is_parallel)
        assert ordered.private == program.private
        assert bool(ordered.parallel) == is_parallel
        assert_equal_results(ordered)


def test_a_value_for_a_whole_row_does_not_survive_tiles(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) { double q = in[i][0]; for (int j = 0; j < n; j++) "
    body += "{ t[i][j] = q + in[i][j]; out[i][j] = t[i][j]; } }"
    program = program_of(body, tmp_path)
    with pytest.raises(InputError) as refusal:
        reorder(program, tile=(4, 4))
    words = (
        "S_0[1] sets the q of its iteration after S_0[0] set that of another one, which S_1[0, 4] reads later"
    )
    assert words in refusal.value.message
    assert "dependence" not in refusal.value.message
    assert refusal.value.place is not None
    assert "double q = in[i][0]" in refusal.value.place.line_text
    assert reorder(program, tile=(1, 4)).private == program.private


@pytest.mark.parametrize("is_set_again", [True, False])
def test_a_value_that_may_be_older_does_not_survive_tiles(is_set_again: bool, tmp_path: Path) -> None:
    """A write on a condition leaves the value of an iteration before."""
    change = "q = in[i][j];" if is_set_again else "if (in[i][j] > 0) q = in[i][j];"
    body = "for (int i = 0; i < n; i++) { double q = 1; for (int j = 0; j < n; j++) "
    body += f"{{ {change} t[i][j] = q; out[i][j] = t[i][j]; }} }}"
    program = program_of(body, tmp_path)
    if is_set_again:
        assert_equal_results(reorder(program, tile=(4, 4)))
    else:
        with pytest.raises(InputError, match="several variables q at once"):
            reorder(program, tile=(4, 4))


def test_a_parallel_loop_between_setting_and_using_is_no_order(tmp_path: Path) -> None:
    """Each thread would set a variable of its own in one loop and use it in the next."""
    body = "for (int i = 0; i < n; i++) { double v = in[i][0]; t[i][0] = v; out[i][0] = t[i][0] * v; }"
    program = program_of(body, tmp_path)
    apart = "{ S_0[i] -> [0, i]; S_1[i] -> [1, i]; S_2[i] -> [2, i] }"
    with pytest.raises(InputError, match="several variables v at once"):
        reorder(program, schedule=apart, parallel=True)


def test_fusion_does_not_tear_a_variable_apart(tmp_path: Path) -> None:
    body = (
        "double w[3], s; for (int q = 0; q < 3; q++) w[q] = in[i][j] * q;"
        " s = w[0] + w[1] + w[2]; t[i][j] = s + w[1]; out[i][j] = t[i][j] - s;"
    )
    ordered = reorder(nest(body, tmp_path), fuse="cells", parallel=True)
    assert ordered.parallel
    assert_equal_results(ordered)


@pytest.mark.parametrize("words", ["static double v; v", "volatile double v; v"])
def test_static_and_volatile_variables_are_shared(words: str, tmp_path: Path) -> None:
    program = nest(f"{words} = in[i][j]; t[i][j] = v; out[i][j] = t[i][j] + v;", tmp_path)
    assert not program.private
    assert any(one.array == "v" and one.kind == "anti" for one in memory_dependences(program))
    assert not reorder(program, parallel=True).parallel


def test_a_variable_declared_outside_is_shared(tmp_path: Path) -> None:
    body = "double v; " + LOOPS.format(inside="v = in[i][j]; t[i][j] = v; out[i][j] = t[i][j] + v;")
    assert not program_of(body, tmp_path).private
    assert not reorder(program_of(body, tmp_path), parallel=True).parallel


CLAUSE = """
void f(int n, const double in[restrict n], double out[restrict n + 1]) {{
  double {outside};
#pragma scop
#pragma omp parallel for {clause}
  for (int i = 0; i < n; i++) {{
    {inside}
    out[i] = {value};
  }}
  {behind}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("outside", "clause", "inside", "value", "behind"),
    [
        ("s = 5", "private(s)", "s = in[i];", "s", "out[n] = s;"),
        ("s[2] = {1, 2}", "firstprivate(s)", "s[0] = in[i];", "s[0] + s[1]", "out[n] = s[0];"),
    ],
)
def test_what_threads_set_does_not_change_what_was_there_before(
    outside: str, clause: str, inside: str, value: str, behind: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.c"
    parts = {"outside": outside, "clause": clause, "inside": inside, "value": value, "behind": behind}
    path.write_text(CLAUSE.format(**parts))
    with pytest.raises(InputError, match="s has a value of its own in each thread"):
        fold(reorder(read(path), fuse=True)).to_c()
    path.write_text(CLAUSE.format(**parts | {"behind": ""}))
    program = reorder(read(path), fuse=True)
    assert_equal_results(program)


def test_an_array_of_each_thread_keeps_its_loops(tmp_path: Path) -> None:
    path = tmp_path / "kernel.c"
    inside = "for (int j = 0; j < 3; j++) r[j] = in[i] * j;"
    path.write_text(
        CLAUSE.format(outside="r[3]", clause="private(r)", inside=inside, value="r[1] + r[2]", behind="")
    )
    with pytest.raises(InputError, match="sets r and has parallel loops, which must stay"):
        fold(read(path)).to_c(loops="generate")
    assert_equal_results(reorder(read(path), parallel=True))
