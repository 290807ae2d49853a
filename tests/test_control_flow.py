"""Loops that data ends, jumps and switches: what a turn writes and reads folds although it need not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrayfold import reallocate, reorder
from arrayfold.base.errors import InputError
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read, write_problem
from arrayfold.program.model import Program
from support.runs import run_both

HEAD = (
    "void f(int n, const int c[restrict n], const int d[restrict n], const double x[restrict n],"
    " double y[restrict n], double w[restrict 1])\n{{\n    double t[n];\n#pragma scop\n"
    "{body}\n#pragma endscop\n}}\n"
)
EACH = "    for (int i = 0; i < n; i++) {{\n{body}\n    }}"


def read_text(text: str, tmp_path: Path) -> Program:
    file = tmp_path / "flow.c"
    file.write_text(text)
    program = read(file)
    assert isinstance(program, Program)
    return program


def read_body(body: str, tmp_path: Path) -> Program:
    return read_text(HEAD.format(body=body), tmp_path)


def in_loop(body: str) -> str:
    return EACH.format(body=body)


# What runs is decided by w[0], which shrinks, so that each loop ends.
FOLDS: dict[str, tuple[str, str]] = {
    "switch with default": (
        in_loop(
            "switch (c[i] % 4) { case 0: case 1: t[i] = 1; break; case 2: t[i] = x[i]; break;"
            " default: t[i] = 2; } y[i] = t[i];"
        ),
        "1",
    ),
    "default in the middle": (
        in_loop(
            "switch (c[i] % 4) { case 0: t[i] = 1; break; default: t[i] = 2; break; case 3: t[i] = 3; }"
            " y[i] = t[i];"
        ),
        "1",
    ),
    "two equal switches": (
        in_loop(
            "switch (c[i]) { case 1: t[i] = 1; break; case 2: t[i] = 2; }"
            " switch (c[i]) { case 2: y[i] = t[i]; break; case 1: y[i] = -t[i]; }"
        ),
        "1",
    ),
    "affine switch": (
        in_loop(
            "switch (i % 3) { case 0: t[i] = 1; break; case 1: t[i] = 2; break; case 2: t[i] = 3; }"
            " y[i] = t[i];"
        ),
        "1",
    ),
    "switch of a parameter": (
        in_loop("switch (n) { case 1: t[i] = 1; break; default: t[i] = 2; } y[i] = t[i];"),
        "1",
    ),
    "only default": (in_loop("switch (c[i]) { default: t[i] = 1; } y[i] = t[i];"), "1"),
    "empty switch": (in_loop("switch (c[i]) { } t[i] = x[i]; y[i] = t[i];"), "1"),
    "break inside a case": (
        in_loop("t[i] = x[i]; switch (c[i] & 1) { case 1: if (d[i] & 1) break; t[i] = 2; } y[i] = t[i];"),
        "1",
    ),
    "continue in a switch": (
        in_loop("switch (c[i] & 1) { case 1: continue; default: t[i] = x[i]; } y[i] = t[i];"),
        "1",
    ),
    "a switch in a switch": (
        in_loop(
            "switch (c[i] & 1) { case 1: switch (d[i] & 1) { case 0: t[i] = 1; break; default: t[i] = 2; }"
            " break; default: t[i] = 3; } y[i] = t[i];"
        ),
        "1",
    ),
    "affine continue": (in_loop("if (i < 2) continue; t[i] = x[i]; y[i] = t[i] + t[i];"), "1"),
    "affine continue and a neighbour": (
        in_loop("t[i] = x[i]; if (i == 0) continue; y[i] = t[i] - t[i - 1];"),
        "2",
    ),
    "continue on data": (in_loop("if (c[i] & 1) continue; t[i] = x[i]; y[i] = t[i];"), "1"),
    "continue in a block": (in_loop("if (c[i] & 1) { y[i] = 1; continue; } t[i] = x[i]; y[i] = t[i];"), "1"),
    "continue in else": (in_loop("if (c[i] & 1) t[i] = x[i]; else continue; y[i] = t[i];"), "1"),
    "two continues": (in_loop("if (c[i] & 1) continue; if (d[i] & 1) continue; t[i] = 1; y[i] = t[i];"), "1"),
    "nested continue": (
        in_loop("if (c[i] & 1) { if (d[i] & 1) continue; y[i] = 2; } t[i] = x[i]; y[i] = t[i];"),
        "1",
    ),
    "written before a continue": (in_loop("t[i] = x[i]; if (c[i] & 1) continue; y[i] = t[i];"), "1"),
    "affine break": (in_loop("t[i] = x[i]; if (2 * i >= n) break; y[i] = t[i];"), "1"),
    "break on data": (in_loop("t[i] = x[i]; if (c[i] & 1) break; y[i] = t[i];"), "1"),
    "break first": (in_loop("if (c[i] & 1) break; t[i] = x[i]; y[i] = t[i];"), "1"),
    "break on the temporary": (in_loop("t[i] = x[i]; if (t[i] > 0.5) break; y[i] = t[i];"), "1"),
    "break in an inner loop": (
        in_loop("t[i] = 0; for (int j = 0; j < n; j++) { if (c[j] & 1) break; t[i] += x[j]; } y[i] = t[i];"),
        "1",
    ),
    "branches in a loop with break": (
        in_loop("if (c[i] & 1) t[i] = 1; else t[i] = 2; if (d[i] & 1) break; y[i] = t[i];"),
        "1",
    ),
    "break going down": (
        "for (int i = n - 1; i >= 0; i--) { t[i] = x[i]; if (i == 1) break; y[i] = t[i]; }",
        "1",
    ),
    "what earlier iterations wrote": (
        in_loop("t[i] = x[i]; if (c[i] & 1) break; if (i > 0) y[i] = t[i] + t[i - 1];"),
        "2",
    ),
    "while": (
        (
            "while (w[0] > 0.25) { for (int i = 0; i < n; i++) { t[i] = x[i] + w[0]; y[i] += t[i]; }"
            " w[0] = w[0] / 2; }"
        ),
        "1",
    ),
    "while with two sweeps": (
        (
            "while (w[0] > 0.25) { for (int i = 0; i < n; i++) t[i] = y[i] / 2;"
            " for (int i = 1; i < n; i++) y[i] = t[i] + t[i - 1]; w[0] /= 2; }"
        ),
        "n",
    ),
    "do while": (
        (
            "do { for (int i = 0; i < n; i++) { t[i] = x[i] + w[0]; y[i] += t[i]; } w[0] /= 2; }"
            " while (w[0] > 0.25);"
        ),
        "1",
    ),
    "read after a do loop": ("do { t[0] = w[0]; w[0] /= 2; } while (w[0] > 0.25); y[0] = t[0];", "1"),
    "a do loop in a branch": (
        in_loop(
            "if (c[i] & 1) do { t[i] = w[0]; w[0] /= 2; } while (w[0] > 0.25); else t[i] = 1; y[i] = t[i];"
        ),
        "1",
    ),
    "do once": (in_loop("do { t[i] = x[i]; y[i] = t[i]; } while (0);"), "1"),
    "leave a block": (
        in_loop("t[i] = 1; do { if (c[i] & 1) break; t[i] = x[i]; } while (0); y[i] = t[i];"),
        "1",
    ),
    "continue in while": (
        "while (w[0] > 0.25) { w[0] /= 2; if (c[0] & 1) continue; t[0] = w[0]; y[0] += t[0]; }",
        "1",
    ),
    "continue in do while": (
        "do { t[0] = w[0]; w[0] /= 2; if (c[0] & 1) continue; y[0] += t[0]; } while (t[0] > 0.25);",
        "1",
    ),
    "for ever": ("for (;;) { w[0] /= 2; if (w[0] < 0.25) break; t[0] = w[0]; y[0] += t[0]; }", "1"),
    "while true": ("while (1) { t[0] = w[0]; w[0] /= 2; if (t[0] < 0.25) break; y[0] += t[0]; }", "1"),
    "a counter": (
        in_loop("unsigned k = 3; while (k > 0) { k--; t[i] = x[i] * k; y[i] += t[i]; }"),
        "1",
    ),
    "nested while": (
        in_loop(
            "double u = x[i]; while (u > 0.5) { double v = u; while (v > 0.25) { t[i] = v; v = v / 2;"
            " y[i] += t[i]; } u = u - 0.25; }"
        ),
        "1",
    ),
    "empty bodies": (
        in_loop(
            "t[i] = x[i]; while (0) { } do ; while (0); switch (c[i]) { default: ; }"
            " if (c[i]) { } y[i] = t[i];"
        ),
        "1",
    ),
    "break in a switch in a loop": (
        (
            "for (;;) { w[0] /= 2; switch (w[0] < 0.25) { case 1: break;"
            " default: t[0] = w[0]; y[0] += t[0]; continue; }"
            " break; }"
        ),
        "1",
    ),
}

STAYS: dict[str, str] = {
    "carried by while": "while (w[0] > 0.25) { y[0] += t[0]; t[0] = w[0]; w[0] /= 2; }",
    "read after while": "while (w[0] > 0.25) { t[0] = w[0]; w[0] /= 2; } y[0] = t[0];",
    "break before the write": in_loop(
        "for (int j = 0; j < 2; j++) { if (c[j]) break; t[i] = 1; } y[i] = t[i];"
    ),
    "read after a break": in_loop("if (c[i]) break; t[i] = 1;") + "\n    y[0] = t[0];",
    "continue skips the write": in_loop(
        "for (int j = 0; j < 2; j++) { if (c[j]) continue; t[i] = 1; } y[i] = t[i];"
    ),
    "nested continue skips the write": in_loop(
        "for (int j = 0; j < 1; j++) { if (c[i]) { if (d[i]) continue; } t[i] = 1; } y[i] = t[i];"
    ),
    "no default": in_loop("switch (c[i]) { case 1: t[i] = 1; break; case 2: t[i] = 2; } y[i] = t[i];"),
    "a case leaves it out": in_loop("switch (c[i]) { case 1: break; default: t[i] = 2; } y[i] = t[i];"),
    "another case": in_loop(
        "switch (c[i]) { case 1: t[i] = 1; break; case 2: t[i] = 2; } if (c[i] == 3) y[i] = t[i];"
    ),
    "break in a case": in_loop(
        "switch (c[i]) { case 1: if (d[i]) break; t[i] = 1; break; default: t[i] = 2; } y[i] = t[i];"
    ),
    "break out of a block": in_loop("do { if (c[i]) break; t[i] = x[i]; } while (0); y[i] = t[i];"),
    "the condition of a do loop": "do { if (c[0]) continue; t[0] = w[0]; w[0] /= 2; } while (t[0] > 0.25);",
    "a condition on what is not written": in_loop("if (t[i] > 0) break; t[i] = 1; y[i] = t[i];"),
    "while reads it first": "while (t[0] > 0) { t[0] = w[0]; y[0] = t[0]; }",
    "the same condition in another turn": (
        "while (w[0] > 0.25) { if (c[0] > w[0]) t[0] = 1; w[0] /= 2; if (c[0] > w[0]) y[0] = t[0]; }"
    ),
    "later than the break": in_loop("if (i > 0) y[i] = t[i - 1]; if (c[i] & 1) continue; t[i] = x[i];"),
    "an unchanged condition": (
        "if (c[0] == 0) t[0] = 1; while (c[0]) { if (d[0]) break; t[0] = 2; } y[0] = t[0];"
    ),
}


@pytest.mark.parametrize("name", FOLDS)
def test_folds(name: str, tmp_path: Path) -> None:
    body, size = FOLDS[name]
    result = fold(read_body(body, tmp_path))
    assert str(result["t"].size) == size


@pytest.mark.parametrize("name", STAYS)
def test_what_may_be_read_before_it_is_written_stays(name: str, tmp_path: Path) -> None:
    analysis = Analysis.of(read_body(STAYS[name], tmp_path))
    assert "t" in analysis.live_in_arrays()
    assert "read before it is written" in analysis.kept()["t"]


@pytest.mark.parametrize("name", FOLDS)
def test_folded_code_runs_alike(name: str, tmp_path: Path) -> None:
    result = fold(read_body(FOLDS[name][0], tmp_path))
    code = result.to_c().encode()
    report = run_both(result, code, sanitize=True, seconds=20)
    assert report.is_equal, str(report)


# ---------------------------------------------------------------- what must keep the loops


UNCERTAIN = ("while", "break on data", "nested continue", "do while", "for ever")
EXACT = ("affine break", "affine continue", "continue on data", "switch with default", "continue in a switch")


@pytest.mark.parametrize("name", UNCERTAIN)
def test_no_other_order_where_data_decides_how_often_a_loop_runs(name: str, tmp_path: Path) -> None:
    program = read_body(FOLDS[name][0], tmp_path)
    changes = (
        lambda: reorder(program, fuse="cells"),
        lambda: reorder(program, parallel=True),
        lambda: reallocate(program),
        lambda: fold(program, share="cells"),
        lambda: write_problem(program),
        lambda: fold(program).to_c(loops="generate"),
    )
    for change in changes:
        with pytest.raises(InputError, match="data decides how often or how far this runs") as caught:
            change()
        assert caught.value.place is not None


@pytest.mark.parametrize("name", EXACT)
def test_new_loops_where_conditions_say_all(name: str, tmp_path: Path) -> None:
    result = fold(read_body(FOLDS[name][0], tmp_path))
    code = result.to_c(loops="generate")
    assert not any(word in code for word in ("break", "continue", "switch"))
    report = run_both(result, code.encode(), sanitize=True, seconds=20)
    assert report.is_equal, str(report)


def test_the_text_of_kept_loops_stays(tmp_path: Path) -> None:
    body = FOLDS["while"][0]
    code = fold(read_body(body, tmp_path)).to_c()
    assert body.replace("t[i]", "t") in code
