"""Regions of C functions that no pragma marks: which statements are taken, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrayfold import fold, read, read_all
from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code
from support.command import run

TEXT = """
#include <stdio.h>
#include <stdlib.h>
void rows(int n, float a[n]) { float t[n]; for (int i = 0; i < n; i++) { t[i] = a[i]; a[i] = t[i]; } }

int blur(int n, const float in[restrict n][n], float out[restrict n][n])
{
    float t[n][n];
    if (n < 3)
        return -1;
    float s[3] = {0, 0, 0};   // stays in front
    #pragma omp parallel for
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            t[y][x] = in[y][x] * 2;
    for (int y = 2; y < n; y++)
        for (int x = 0; x < n; x++)
            out[y][x] = t[y][x] + t[y - 2][x] + s[0];
    if (out[0][0] < 0)
        return 1;
    for (int y = 0; y < n; y++)
        printf("%f\\n", out[y][0]);
    return 0;
}

void marked(int n, float a[n])
{
    for (int i = 0; i < n; i++)
        a[i] = 1;
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2;
#pragma endscop
}

void inside(int n, int steps, float a[restrict n])
{
    for (int s = 0; s < steps; s++) {
        if (a[0] > 1)
            goto done;
        float t[n];
        for (int i = 0; i < n; i++) {
            t[i] = a[i] + 1;
            a[i] = t[i] * 2;
        }
    }
done:
    return;
}

void nothing(void) {}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.c"
    path.write_text(TEXT)
    return path


def read_one(file: Path, function: str) -> Program:
    program = read(file, function=function)
    assert isinstance(program, Program)
    return program


def lines_of(program: Program) -> tuple[int, int]:
    assert program.source is not None
    statements = program.source.region.statements
    text = program.source.text
    return text.line(statements[0].span.start), text.line(statements[-1].span.end)


def test_what_folds_most_is_taken(file: Path) -> None:
    blur = read_one(file, "blur")
    assert lines_of(blur) == (13, 18)
    assert blur.name == "blur"
    assert [one.name for one in blur.arrays if one.name not in blur.kept] == ["t"]


def test_pragmas_before_the_first_loop_belong_to_it(file: Path) -> None:
    source = read_one(file, "blur").source
    assert source is not None
    assert list(source.parallel.values()) == ["doall"]


def test_pragmas_win(file: Path) -> None:
    assert lines_of(read_one(file, "marked")) == (31, 32)


def test_a_block_inside_of_what_cannot_be_read(file: Path) -> None:
    inside = read_one(file, "inside")
    assert lines_of(inside) == (42, 45)


@pytest.mark.parametrize("style", ["readable", "fast"])
def test_no_pragma_is_written(file: Path, style: str) -> None:
    programs = [one for one in read_all(file, function=["rows", "blur"]) if isinstance(one, Program)]
    assert [one.name for one in programs] == ["rows", "blur"]
    code = write_c(
        [fold(one).region(style="readable" if style == "readable" else "fast") for one in programs]
    )
    text = code.decode()
    assert text.count("scop") == TEXT.count("scop")
    assert "chosen" not in text
    assert "float t;" in text
    assert text.startswith(TEXT[:40])


def test_places_are_those_of_the_file(file: Path) -> None:
    (assumed,) = read_one(file, "rows").assumptions
    assert assumed.place is not None
    assert assumed.place.line == 4


def test_a_function_that_is_not_there(file: Path) -> None:
    with pytest.raises(InputError, match="no function nope with a body; it has: rows, blur, marked"):
        read(file, function="nope")


def test_nothing_to_read(file: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to read in nothing"):
        read(file, function="nothing")


def test_other_files_have_no_functions() -> None:
    with pytest.raises(InputError, match="not a C file"):
        read("examples/blur.toml", function="f")


def test_command_line(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", str(file), "--function", "rows", "--function", "inside") == 0
    output = capsys.readouterr().out
    assert "rows" in output
    assert "inside" in output
    assert (
        run(monkeypatch, "check", str(file), "--function", "blur", "--mapping", "t[y, x] -> [y mod 3, x]")
        == 1
    )


RESULTS = """
#include <stdlib.h>
#include <string.h>
int subsequence(int n, int m, const char a[n], const char b[m])
{
    int dp[n + 1][m + 1];
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++)
            dp[i][j] = i == 0 || j == 0 ? 0 : a[i - 1] == b[j - 1] ? dp[i - 1][j - 1] + 1
                : dp[i - 1][j] > dp[i][j - 1] ? dp[i - 1][j] : dp[i][j - 1];
    return dp[n][m];
}

double average(int n, const double *close, double *out)
{
    double *fast = malloc(n * sizeof *fast);
    if (!fast)
        return -1;
    fast[0] = close[0];
    for (int i = 1; i < n; i++)
        fast[i] = close[i] * 0.5 + fast[i - 1] * 0.5;
    double last = fast[n - 1];
    free(fast);
    return last;
}
"""


@pytest.mark.parametrize(
    ("function", "array", "declaration"),
    [("subsequence", "dp", "int result;"), ("average", "fast", "double last;")],
)
def test_elements_beside_the_loops_belong_to_the_region(function: str, array: str, declaration: str) -> None:
    (program,) = read_c("f.c", RESULTS.encode(), functions=[function])
    result = fold(program)
    assert result[array].shrinks
    code = result.to_c()
    assert declaration in code
    outcome = validate_code([result.region()], code.encode(), "f.c")
    assert outcome.is_equal
    assert not outcome.unchecked
