"""Fast code: no modulo in innermost loops, rows that walk through memory, independent iterations."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from arrayfold import fold, read, reorder
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError
from arrayfold.codegen.independence import Independence
from arrayfold.codegen.lowering import lower
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold_with
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.mapping.modular import ModularMapping
from arrayfold.order.code_order import CodeOrder
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.program.model import Program
from arrayfold.select.innermost_loops import InnermostLoops
from arrayfold.select.renumbering import renumbered
from arrayfold.validation.subjects import validate_code
from inner_loops import dividing_loops, innermost_loops
from support.command import run
from support.runs import run_both

KERNELS = ["blur", "jacobi-1d", "harris"]
EXAMPLES = ["blur-interleaved", "jacobi-1d", "jacobi-2d", "harris", "needleman-wunsch"]
FILES = [f"benchmarks/kernels/{name}.c" for name in KERNELS] + [f"examples/{name}.c" for name in EXAMPLES]
TILED = ["examples/blur-tiled.c", "benchmarks/kernels/parallelogram-tiles.c"]
# Stage by stage nothing folds, so these run row by row.
ORDERS = {
    "benchmarks/kernels/harris.c": "; ".join(
        f"S_{k}[y, x] -> [y, 0, x, {k}]" if k < 5 else f"S_{k}[y, x] -> [y + 1, 1, x, {k}]" for k in range(9)
    )
}


def program_of(path: str) -> Program:
    program = read(path)
    assert isinstance(program, Program)
    return program


@cache
def folded(path: str) -> FoldResult:
    program = program_of(path)
    if path in ORDERS:
        program = reorder(program, schedule=ORDERS[path])
    return fold(program, budget=Budget(600), method="hyperplane" if path in TILED else "auto")


@pytest.mark.parametrize("path", [*FILES, *TILED])
def test_no_modulo_in_innermost_loops(path: str) -> None:
    result = folded(path)
    assert "%" in result.to_c(style="readable") or path.endswith(("harris.c", "parallelogram-tiles.c"))
    assert_no_modulo_in_innermost_loops(result.to_c())


@pytest.mark.parametrize("path", FILES[:3])
@pytest.mark.parametrize("size", [4, 5, 67, 200])
def test_kernels_run_as_before(path: str, size: int) -> None:
    """Rows shorter and longer than a strip."""
    result = folded(path)
    sizes = {"N": size, "T": 5} if "T" in result.problem.parameters else {"N": size}
    report = run_both(result, result.to_c().encode(), params=sizes, sanitize=size < 100)
    assert report.is_equal, str(report)


def in_small_tiles(name: str, tile: str, folder: str = "benchmarks/kernels") -> Program:
    """A kernel with tiles that a few cells fill."""
    path = Path(folder) / f"{name}.c"
    text = re.sub(r"#define (TILE|HALF) \d+", rf"#define \1 {tile}", path.read_text())
    (program,) = read_c(str(path), text.encode())
    return program


def assert_no_modulo_in_innermost_loops(code: str) -> None:
    assert innermost_loops(code)
    assert not dividing_loops(code), code


def test_tiles_of_harris_leave_rows_columns_and_corners() -> None:
    """Each side of a tile has a store of its own: nothing wraps in a loop, and the code stays short."""
    program = in_small_tiles("harris-tiled", "8")
    result = fold(program, local=2, budget=Budget(600))
    sizes = [str(result[f"Ixy_{name}"].size) for name in ("tile", "border", "border1")]
    assert sizes == ["30", "2*max(N - 2, 0)", "16"]
    code = result.to_c()
    assert_no_modulo_in_innermost_loops(code)
    assert program.source is not None
    # At small sizes the loops as written run, which are not counted.
    new = code.partition("} else { /* folded it would take")[0]
    assert new.count("\n") < 7 * program.source.text.text.count("\n")
    for size in (3, 26):
        assert run_both(result, code.encode(), params={"N": size}, sanitize=True).is_equal


def test_no_modulo_in_loops_of_bands() -> None:
    """Bands of a thousand cells: short ones go round by comparison."""
    assert_no_modulo_in_innermost_loops(
        fold(in_small_tiles("jacobi-bands", "1000", "examples"), local="b").to_c()
    )


def test_no_modulo_in_loops_of_lattice_boltzmann_on_a_plane() -> None:
    result = folded("benchmarks/kernels/lbm-d2q9.c")
    code = result.to_c()
    assert_no_modulo_in_innermost_loops(code)
    report = run_both(result, code.encode(), params={"N": 7, "T": 4}, sanitize=True)
    assert report.is_equal, str(report)


@pytest.mark.parametrize(
    ("name", "arrays"),
    [("lbm-d3q19", ("f_n", "f_e")), pytest.param("lbm-d3q27", ("f_nwd",), marks=pytest.mark.long)],
)
def test_no_modulo_in_loops_of_lattice_boltzmann_in_space(name: str, arrays: tuple[str, ...]) -> None:
    """Some of the directions, with mappings of different kinds; the benchmark looks at all of them."""
    program = program_of(f"benchmarks/kernels/{name}.c")
    result = fold(program, arrays=arrays, favor="speed", budget=Budget(600))
    assert_no_modulo_in_innermost_loops(result.to_c())


@pytest.mark.xdist_group("diamonds")
@pytest.mark.parametrize(("size", "steps"), [(3, 1), (9, 4), (30, 14), (37, 9)])
def test_diamond_tiles_need_two_cells_of_each_column(size: int, steps: int) -> None:
    result = diamonds()
    assert str(result["A"].mapping) == "A[t, i] -> [i mod N, t mod 2]"
    code = result.to_c()
    assert_no_modulo_in_innermost_loops(code)
    report = run_both(result, code.encode(), params={"N": size, "T": steps}, sanitize=True)
    assert report.is_equal, str(report)


@cache
def diamonds() -> FoldResult:
    return fold(in_small_tiles("diamond-tiles", "4"), method="successive-modulo", budget=Budget(600))


@pytest.mark.parametrize(
    ("name", "loops", "sizes"),
    [
        ("unsharp-tiled", 2, {"H": 21, "W": 30}),
        ("unsharp-rows", 1, {"H": 9, "W": 30}),
        ("blur-bands", 1, {"N": 21}),
        ("harris-bands", 1, {"N": 26}),
    ],
)
def test_kernels_with_buffers_of_tiles(name: str, loops: int, sizes: dict[str, int]) -> None:
    result = fold(in_small_tiles(name, "8"), local=loops, budget=Budget(600), method="successive-modulo")
    code = result.to_c()
    assert_no_modulo_in_innermost_loops(code)
    report = run_both(result, code.encode(), params=sizes, sanitize=True)
    assert report.is_equal, str(report)


STEPS = """
void steps(int T, int N, const double in[restrict N][N], double out[restrict N][N])
{
    double A[T + 1][N][N];
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[0][i][j] = in[i][j];
    for (int t = 1; t <= T; t++)
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                A[t][i][j] = j == 0 || j == N - 1 ? A[t - 1][i][j]
                    : A[t - 1][i][j - 1] + A[t - 1][i][j + 1] + (i > 0 ? A[t - 1][i - 1][j] : 0);
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = A[T][i][j];
#pragma endscop
}
"""


def test_of_mappings_that_grow_alike_one_without_wraps_is_taken() -> None:
    (program,) = read_c("steps.c", STEPS.encode())
    result = fold(program)
    assert str(fold(program, method="combined")["A"].size) == "2*N^2 - N"
    assert str(result["A"].mapping) == "A[t, i, j] -> [t mod 2, i mod N, j mod N]"
    code = result.to_c()
    assert code.count("#pragma omp parallel for") == 3
    assert_no_modulo_in_innermost_loops(code)
    assert run_both(result, code.encode(), params={"N": 9, "T": 4}).is_equal


def test_loops_of_threads_with_clauses_keep_their_text() -> None:
    pragma = "#pragma omp parallel for schedule(dynamic)"
    (program,) = read_c("steps.c", STEPS.replace("#pragma omp parallel for", pragma).encode())
    code = fold(program, method="successive-modulo").to_c()
    assert code.count(pragma) == 3


def test_speed_may_cost_up_to_twice_the_cells() -> None:
    program = program_of("examples/blur-interleaved.c")
    small, fast = (fold(program, favor=favor)["blurx"] for favor in ("size", "speed"))
    assert str(small.size) == "2*N + 1"
    assert str(fast.mapping) == "blurx[y, x] -> [y mod 3, x mod N]"
    assert fast.size.at({"N": 1000}) <= 2 * small.size.at({"N": 1000})
    with pytest.raises(InputError, match="size or speed"):
        fold(program, favor="beauty")  # type: ignore[arg-type]


GUARDED = """
void f(int N, const double in[restrict N], double out[restrict N])
{
    double tmp[N];
#pragma scop
    for (int i = 0; i < N; i++) {
        tmp[i] = in[i] * 2;
        if (tmp[i] > 0.5)
            out[i] = in[i];
        if (i >= 3)
            out[i] += tmp[i - 3];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("style", ["fast", "readable"])
def test_a_condition_reads_a_folded_array_that_its_statement_does_not(style: Style) -> None:
    (given,) = read_c("f.c", GUARDED.encode())
    result = fold(given)
    report = run_both(result, result.to_c(loops="generate", style=style).encode(), params={"N": 40})
    assert str(result["tmp"].size) == "4"
    assert report.is_equal


NEVER = """
void f(int N, const double in[restrict N + 1], double out[restrict N + 1])
{
    double tmp[N + 1];
#pragma scop
    for (int i = 0; i < N; i += 2) {
        tmp[i] = in[i];
        out[i] = tmp[i];
        out[i + 1] = in[i] + (i % 2 == 1 ? tmp[i - 1] : 1);
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("style", ["fast", "readable"])
def test_an_access_that_no_iteration_reaches(style: Style) -> None:
    (given,) = read_c("f.c", NEVER.encode())
    result = fold(given)
    assert run_both(result, result.to_c(loops="generate", style=style).encode(), params={"N": 9}).is_equal


# ---------------------------------------------------------------- independence

HEAD = "void f(int N, int T, const double in[restrict N], double out[restrict N])\n"


def program(body: str, declaration: str = "double A[N + 1];") -> Program:
    code = f"{HEAD}{{\n  {declaration}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    (found,) = read_c("kernel.c", code.encode())
    return found


Known = list[tuple[bool, int | None]]


def is_independent(given: Program, mappings: dict[str, ModularMapping] | None = None) -> Known:
    """What is known of each innermost loop, in the order of the text."""
    assert given.source is not None
    order = CodeOrder.of(given, given.source)
    known = Independence(given, order.schedule, mappings or {})
    loops = InnermostLoops.of(given, order)
    return [known.strip(dimension, statements) for dimension, statements in loops.groups()]


YES, NO = (True, None), (False, None)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < N; i++) A[i] = in[i];", [YES]),
        ("for (int i = 0; i < N; i++) A[i] = A[i + 1];", [YES]),
        ("for (int i = 0; i < N; i++) A[i + 1] = A[i];", [NO]),
        ("for (int i = 0; i < N; i++) { out[i] = A[i]; A[i + 1] = in[i]; }", [NO]),
        ("for (int i = 0; i < N; i++) { out[i] = A[i + 1]; A[i] = in[i]; }", [YES]),
        ("for (int i = 0; i < N; i++) { A[i] = in[i]; out[i] = A[i + 1]; }", [NO]),
        ("for (int i = 0; i < N; i++) { A[i] = in[i]; out[i] = A[i]; }", [YES]),
        ("for (int i = 0; i < N; i++) A[0] = in[i];", [NO]),
        ("for (int i = N - 1; i >= 0; i--) A[i + 1] = A[i];", [YES]),
        ("for (int i = 0; i < N; i++) out[i] = A[i] += A[i + 1] = in[i];", [NO]),
        ("for (int i = 0; i < N; i++) out[i] += A[N - i];", [YES]),
        ("for (int i = 0; i < N - 32; i++) A[i + 32] = A[i];", [(True, 16)]),
    ],
)
def test_iterations_in_place(body: str, expected: Known) -> None:
    assert is_independent(program(body)) == expected


def test_a_scalar_is_a_register() -> None:
    """Whatever a local variable carries from one iteration to the next, the compiler sees it."""
    given = program("  for (int i = 0; i < N; i++) { s = in[i]; out[i] = s; }", "double s;")
    assert is_independent(given) == [YES]


def test_folding_makes_iterations_depend() -> None:
    """The exact modulus puts the oldest row of blur one cell ahead of the newest one."""
    given = program_of("benchmarks/kernels/blur.c")
    exact = ModularMapping.of("blurx", ("y", "x"), [[f("N"), f("1")]], [f("2*N + 1")])
    assert is_independent(given, {"blurx": exact}) == [NO]
    roomy = ModularMapping.of("blurx", ("y", "x"), [[f("N"), f("1")]], [f("2*N + 65")])
    assert is_independent(given, {"blurx": roomy}) == [(True, 64)]
    rows = ModularMapping.of("blurx", ("y", "x"), [[f("1"), f("0")], [f("0"), f("1")]], [f("3"), f("N")])
    assert is_independent(given, {"blurx": rows}) == [YES]


def test_arrays_that_may_overlap_are_not_independent() -> None:
    code = "void f(int N, const double *in, double *out)\n{\n#pragma scop\n"
    code += "  for (int i = 0; i < N; i++) out[i] = in[i];\n#pragma endscop\n}\n"
    (given,) = read_c("kernel.c", code.encode())
    assert is_independent(given) == [NO]


def test_what_a_condition_reads_counts() -> None:
    """Vector code would evaluate the condition before an earlier iteration has written what it reads."""
    body = "  for (int i = 1; i < N; i++) if (out[i - 1] > 0) out[i] = in[i];"
    given = program(body, "")
    assert given.source is not None
    order = CodeOrder.of(given, given.source)
    known = Independence(with_guard_reads(given), order.schedule, {})
    assert [known.strip(*group) for group in InnermostLoops.of(given, order).groups()] == [NO]


def test_a_variable_with_an_address_is_in_memory() -> None:
    given = program("  for (int i = 0; i < N; i++) { s = in[i]; out[i] = s; }", "double s, *p = &s; *p = 0;")
    assert is_independent(given) == [NO]


# ---------------------------------------------------------------- unusual loops

# Each was once written wrongly.
UNUSUAL = {
    "a guarded access that starts below zero": """
  double A[N + 9];
#pragma scop
  for (int i = 0; i < 4; i++) A[i] = in[i];
  for (int i = 0; i < N; i++) {
    if (i >= 3) out[i] = A[i - 3];
    A[i + 4] = in[i];
  }
#pragma endscop
""",
    "unsigned subscripts that wrap where no access happens": """
  double A[N + 9];
#pragma scop
  for (unsigned i = 0; i < 5; i++) A[i] = in[i];
  for (unsigned i = 0; i < N; i++) {
    if (i >= 1) out[i] = A[i - 1];
    A[i + 5] = in[i];
  }
#pragma endscop
""",
    "a loop inside that runs once": """
  double A[2 * N + 9];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (j >= i - 40 && 41 * j <= i) {
        A[i + j] = in[i] + j; out[i] = A[i + j];
        if (i >= 2 && i <= 40) out[i] = A[i - 2];
      }
#pragma endscop
""",
    "a macro inside the region": """
  double A[N + 9];
#pragma scop
#define K 2
  for (int i = 0; i < N; i++) { A[i] = in[i]; if (i >= K) out[i] = A[i - K]; }
#pragma endscop
  out[0] += K;
""",
    "a condition that must be evaluated once": """
  double A[N + 9];
#pragma scop
  for (int i = 0; i < N; i++) {
    A[i] = in[i];
    if (i >= 2)
      if (rand() % 2) { out[i] = A[i - 2]; out[i - 1] = A[i - 1]; }
  }
#pragma endscop
""",
    "a condition on what the loop has just written": """
  double A[N + 9];
#pragma scop
  for (int i = 0; i < N; i++) { A[i] = in[i]; if (i >= 2) out[i] = A[i - 2]; }
  for (int i = 1; i < N; i++)
    if (out[i - 1] > 0) out[i] = in[i];
#pragma endscop
""",
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("size", [6, 50])
def test_unusual_loops(name: str, size: int) -> None:
    text = (
        "#include <stdlib.h>\nvoid f(int N, const double in[restrict N + 9], double out[restrict N + 9])\n{"
    )
    code = f"{text}{UNUSUAL[name]}}}\n"
    (given,) = read_c("kernel.c", code.encode())
    result = fold(given, budget=Budget(20))
    assert result.region().folds
    report = run_both(result, result.to_c().encode(), params={"N": size}, sanitize=True)
    assert report.is_equal, result.to_c()


# Values of the last few iterations are in variables, which hand them on.
RINGS = {
    "a loop that goes down": """
  double A[N + 4];
  A[N] = in[N]; A[N + 1] = in[N + 1];
  for (int i = N - 1; i >= 0; i--) { A[i] = in[i] - A[i + 2]; out[i] = A[i] * A[i + 1]; }
""",
    "two cells an iteration": """
  double A[2 * N + 4];
  A[0] = in[0]; A[1] = in[1]; A[2] = in[2];
  for (int i = 0; i < N; i++) {
    A[2 * i + 3] = A[2 * i] + in[i]; A[2 * i + 4] = A[2 * i + 1]; out[i] = A[2 * i + 3] - A[2 * i + 2];
  }
""",
    "unsigned numbers, and a condition on data": """
  unsigned char A[N + 4];
  A[0] = 1; A[1] = 2;
  for (int i = 2; i < N; i++) {
    A[i] = 200 + A[i - 1];
    if (in[i] > 0) A[i] += A[i - 2];
    out[i] = A[i];
  }
""",
    "three colours": """
  double A[N + 4][3];
  for (int c = 0; c < 3; c++) A[0][c] = in[c];
  for (int i = 1; i < N; i++) {
    for (int c = 0; c < 3; c++) A[i][c] = in[i + c] - A[i - 1][2 - c];
    out[i] = A[i][0] + A[i][1] * A[i][2];
  }
""",
    "a long array beside": """
  double A[N + 4], B[N + 4];
  A[0] = in[0]; A[1] = in[1];
  for (int i = 2; i < N; i++) {
    A[i] = in[i] + A[i - 1] * A[i - 2];
    B[i] = in[i] + i;
    if (i >= N / 2) out[i] = A[i] + B[i - N / 2 + 2];
  }
""",
}


@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("size", [3, 50])
def test_values_that_the_next_iterations_need_are_variables(name: str, size: int) -> None:
    head = "void f(int N, const double in[restrict N + 9], double out[restrict N + 9])\n{\n#pragma scop"
    (given,) = read_c("kernel.c", f"{head}{RINGS[name]}#pragma endscop\n}}\n".encode())
    result = fold(given, budget=Budget(20))
    code = result.to_c()
    assert "A_next_" in code
    assert not re.search(r"^ *if \(\(?\+", code, re.MULTILINE)
    report = run_both(result, code.encode(), params={"N": size}, sanitize=True)
    assert report.is_equal, code


def test_a_ring_of_many_cells_has_a_counter() -> None:
    body = "for (int i = 9; i < N; i++) { A[i] = in[i]; out[i] = A[i - 9] + A[i]; }"
    code = fold(program(f"for (int i = 0; i < 9; i++) A[i] = in[i];\n{body}", "double A[N + 9];")).to_c()
    assert "A_next_" not in code
    assert "if (++A_" in code


def test_threads_with_cells_of_one_ring_keep_them_in_memory() -> None:
    code = """void f(int N, const double in[restrict 2 * N],
               double out[restrict 2 * N], double last[restrict 2])
{
  double A[2 * N];
#pragma scop
#pragma omp parallel for
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < N; i++) {
      A[2 * i + j] = in[2 * i + j];
      if (i >= 1) out[2 * i + j] = A[2 * i + j] + A[2 * i - 2 + j];
    }
  for (int j = 0; j < 2; j++) last[j] = A[2 * N - 2 + j];
#pragma endscop
}
"""
    (given,) = read_c("kernel.c", code.encode())
    result = fold(given, budget=Budget(20))
    threads, after = result.to_c().split("#pragma omp parallel for")[1].split("A_next_", 1)
    assert "out[" in threads
    assert "last[" in after
    assert str(validate_code([result.region()], result.to_c().encode(), "kernel.c")).startswith("checked")


def test_a_global_iterator_keeps_its_loop() -> None:
    code = "int i;\nvoid f(int N, const double in[restrict N], double out[restrict N])\n{\n  double A[N];\n"
    code += "#pragma scop\n  for (i = 0; i < N; i++) { A[i] = in[i]; if (i >= 2) out[i] = A[i - 2]; }\n"
    code += "#pragma endscop\n}\n"
    (given,) = read_c("kernel.c", code.encode())
    assert "for (i = 0; i < N; i++)" in fold(given).to_c()


@pytest.mark.parametrize(
    ("declarations", "parameters", "loop"),
    [
        ("double g[1000];", "int N, double *out", "out[i] = g[i] * 2;"),
        ("", "int N, int *out, const unsigned *in", "out[i] = in[i] + 1;"),
        ("", "int N, char *out, const double *in", "out[i] = in[i] + 1;"),
        (
            "typedef struct { double x, y; } P;",
            "int N, P *out, const double *in",
            "out[i].y = in[2 * i] + 1;",
        ),
    ],
)
def test_aliases_that_c_allows(declarations: str, parameters: str, loop: str) -> None:
    code = f"{declarations}\nvoid f({parameters})\n{{\n#pragma scop\n  for (int i = 0; i < N; i++) {loop}\n"
    (given,) = read_c("kernel.c", f"{code}#pragma endscop\n}}\n".encode())
    assert given.source is not None
    assert given.source.may_alias is not None
    assert is_independent(given) == [NO]


# ---------------------------------------------------------------- forms of mappings


def lowered(path: str, mapping: ModularMapping, slack: int) -> ModularMapping:
    given = program_of(path)
    assert given.source is not None
    conflicts = {mapping.array: Analysis.of(given).conflicts(mapping.array)}
    order = CodeOrder.of(given, given.source)
    found = lower(given, order, conflicts, {mapping.array: mapping}, slack)[mapping.array].mapping
    assert isinstance(found, ModularMapping)
    return found


@pytest.mark.parametrize(
    ("row", "modulus", "expected"),
    [
        (["-1", "2"], "2*N + 1", "(N*y + x) mod (2*N + 1)"),
        (["1", "-2"], "2*N + 1", "(N*y + x) mod (2*N + 1)"),
        (["N", "1"], "2*N + 1", "(N*y + x) mod (2*N + 1)"),
    ],
)
def test_rows_walk_through_memory(row: list[str], modulus: str, expected: str) -> None:
    mapping = ModularMapping.of("blurx", ("y", "x"), [[f(entry) for entry in row]], [f(modulus)])
    assert expected in str(lowered("benchmarks/kernels/blur.c", mapping, 0))


def test_slack_is_said_in_the_code() -> None:
    result = folded("benchmarks/kernels/blur.c")
    assert "2*N + 257" in result.to_c()
    assert "256 more so that loops vectorise" in result.to_c()
    assert "#pragma GCC ivdep" in result.to_c()
    assert "more so that" not in result.to_c(slack=0)
    assert "2*N + 17" in result.to_c(slack=16)


def test_what_needs_no_slack_gets_none() -> None:
    for path in ("benchmarks/kernels/jacobi-1d.c", "examples/jacobi-2d.c", "benchmarks/kernels/harris.c"):
        code = folded(path).to_c()
        assert "more so that" not in code
        assert "#pragma GCC ivdep" in code


def test_a_given_mapping_must_be_right() -> None:
    given = program_of("examples/jacobi-1d.c")
    right = ModularMapping.of("A", ("t", "i"), [[f("-8"), f("1")]], [f("N + 8")])
    result: FoldResult = fold_with(given, {"A": right})
    assert run_both(result, result.to_c().encode(), params={"N": 40, "T": 7}).is_equal
    wrong = ModularMapping.of("A", ("t", "i"), [[f("0"), f("1")]], [f("N")])
    with pytest.raises(Exception, match="share address"):
        fold_with(given, {"A": wrong})


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--style", "quick"], "is not one of 'fast', 'readable'"),
        (["--slack", "some"], "expected auto, none"),
    ],
)
def test_complaints(
    options: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", "examples/jacobi-1d.c", *options) == 2
    assert message in capsys.readouterr().err


def test_slack_counts_in_what_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fold", "examples/blur-interleaved.c", "--param", "N=100", "--run"]
    for slack, cells in (("auto", 464), ("none", 208)):
        assert run(monkeypatch, *arguments, "--slack", slack) == 0
        assert f"arrays 80000 -> {8 * cells} bytes" in capsys.readouterr().out


def test_styles_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for style, has_pragma in (("fast", False), ("readable", True)):
        target = tmp_path / f"{style}.c"
        assert run(monkeypatch, "fold", "examples/jacobi-1d.c", "-o", str(target), "--style", style) == 0
        assert ("#pragma scop" in target.read_text()) == has_pragma
    with pytest.raises(InputError):
        read_c("fast.c", (tmp_path / "fast.c").read_bytes())


def test_slack_makes_nothing_larger_than_it_was() -> None:
    """Two stencils in space, one after the other: the first one's array hardly shrinks."""
    code = """\
void f(int N, const double in[restrict N][N][N], double out[restrict N][N][N])
{
  double b[N][N][N];
#pragma scop
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        b[i][j][k] = in[i][j][k] + in[i - 1][j][k] + in[i][j - 1][k] + in[i][j][k - 1];
  for (int i = 2; i < N - 1; i++)
    for (int j = 2; j < N - 1; j++)
      for (int k = 2; k < N - 1; k++)
        out[i][j][k] = b[i][j][k] + b[i - 1][j][k] + b[i][j - 1][k] + b[i][j][k - 1];
#pragma endscop
}
"""
    (program,) = read_c("stencils.c", code.encode())
    result = fold(program)
    (array,) = result.region().folds
    assert isinstance(array.mapping, ModularMapping)
    assert array.mapping.size.at({"N": 200}) <= 200**3


def test_a_row_of_which_each_second_cell_is_read_stays_as_it_is() -> None:
    text = """
    void f(int n, const float in[restrict n][2 * n + 1], float out[restrict n][n])
    {
      float c[n][2 * n + 1];
    #pragma scop
      for (int y = 0; y < n; y++) {
        for (int x = 0; x < 2 * n + 1; x++) c[y][x] = in[y][x];
        for (int x = 0; x < n; x++) out[y][x] = c[y][2 * x] + c[y][2 * x + 1] + c[y][2 * x + 2];
      }
    #pragma endscop
    }
    """
    (program,) = read_c("f.c", text.encode())
    array = fold(program)["c"]
    assert str(array.mapping) == "c[y, x] -> [x mod (2*n + 1)]"
    assert isinstance(array.mapping, ModularMapping)
    assert renumbered(array.mapping, [(0, 2), (0, 1)], array.conflicts) == array.mapping
    assert renumbered(array.mapping, [(0, 2)], array.conflicts) != array.mapping
