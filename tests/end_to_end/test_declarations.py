"""Declarations of arrays that are taken apart, hidden, evaluated for their effects, or not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import run

Capture = pytest.CaptureFixture[str]

HEAD = "void k(int n, int m, const double *restrict a, double *restrict out)\n{\n"
WINDOW = "for (int i = 0; i < n; i++) { x[i] = a[i]; if (i > 0) out[i] = x[i - 1]; }"
ROWS = """for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) {
    t[y][x] = a[y]; if (y >= 2) out[x] = t[y][x] + t[y - 2][x]; }"""
ORDERS = [(), ("--loops", "generate"), ("--style", "readable"), ("--mode", "reallocate"), ("--share", "auto")]


def written(
    body: str, orders: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> tuple[str, str]:
    """What is printed of a function, and its folded text, which is executed beside the original."""
    file, new = tmp_path / "k.c", tmp_path / "k.folded.c"
    body = body.replace("{WINDOW}", f"#pragma scop\n{WINDOW}\n#pragma endscop\n")
    body = body.replace("{ROWS}", f"#pragma scop\n{ROWS}\n#pragma endscop\n")
    file.write_text(f"{HEAD}{body}}}\n")
    assert run(monkeypatch, "fold", str(file), "-o", str(new), *orders) == 0, capsys.readouterr()
    printed = capsys.readouterr().out
    assert "original and folded text agree at" in printed
    return printed, new.read_text()


@pytest.mark.parametrize("orders", ORDERS, ids=" ".join)
def test_two_regions_fold_arrays_of_one_declaration(
    orders: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    second = "#pragma scop\n" + WINDOW.replace("x[", "y[") + "\n#pragma endscop\n"
    body = "double x[n + 1], y[n + 1];\n{WINDOW}" + second
    _, text = written(body, orders, tmp_path, monkeypatch, capsys)
    assert "[n + 1]" not in text


@pytest.mark.parametrize("orders", ORDERS, ids=" ".join)
@pytest.mark.parametrize(
    "body",
    [
        "int q = n + 1; double t[q][m + 1]; q = 1;\n{ROWS} out[0] = q;\n",
        "double t[n][m];\n{ int q = n; { int n = q < 3 ? q : 3;\n{ROWS} } }\n",
        "typedef double row[4 * m + 1]; row t[n + 1];\n{ROWS}",
        "double t[n << 2 | 1][m + 1];\n{ROWS}",
    ],
    ids=["changed", "hidden", "typedef", "bits"],
)
def test_extents_that_mean_something_else_where_the_region_stands(
    body: str, orders: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    printed, _ = written(body, orders, tmp_path, monkeypatch, capsys)
    if "--mode" not in orders:
        assert "t: its declaration is not understood" in printed


@pytest.mark.parametrize("extent", ["q++", "size()"])
def test_extents_with_effects_are_evaluated(
    extent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    body = f"int q = n + 2; int size(void); double x[{extent}];\n{{WINDOW}} out[0] = q;\n"
    printed, text = written(body, (), tmp_path, monkeypatch, capsys)
    assert "kept: x (its extents do more than say a size)" in printed
    assert f"x[{extent}]" in text


@pytest.mark.parametrize("orders", [*ORDERS, ("--parallel",)], ids=" ".join)
def test_a_variable_called_like_a_type_of_the_library(
    orders: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    body = "double t[n + 1][m + 1]; int size_t = 2;\n{ROWS} out[0] = size_t;\n"
    _, text = written(body, orders, tmp_path, monkeypatch, capsys)
    assert "(size_t)" not in text
    assert "const size_t" not in text


def test_types_of_other_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    body = "double w[16]; __typeof__(w) x; n = n < 16 ? n : 16;\n{WINDOW} (void)w;\n"
    printed, _ = written(body, ("--context", "0 <= n <= 16"), tmp_path, monkeypatch, capsys)
    assert "instead of" in printed


def test_bounds_at_the_end_of_a_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    last = "(2147483647 - n)"
    loop = f"for (int i = 2147483647 - n; i < 2147483647; i++) {{ x[i - {last}] = a[0];"
    loop += f" if (i > 2147483647 - n) out[i - {last}] = x[i - {last} - 1]; }}"
    body = f"double x[n + 9];\n#pragma scop\n{loop}\n#pragma endscop\n"
    _, text = written(body, ("--fuse",), tmp_path, monkeypatch, capsys)
    assert "2147483647 + 1" not in text
