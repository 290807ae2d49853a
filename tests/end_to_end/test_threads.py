"""Folded parallel programs under ThreadSanitizer: no races, and the same bits as the original program.

gcc's own OpenMP runtime is not instrumented, so that its barriers look like races. The programs are linked
with `gomp_on_pthreads.c` instead, in which ThreadSanitizer sees all synchronisation.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from arrayfold import fold, read_all, reorder
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Fuse
from arrayfold.base.errors import InputError
from arrayfold.codegen import write_c
from arrayfold.program.model import Program
from arrayfold.run.driver import Driver, default_sizes
from arrayfold.run.driver_support import support_text
from support.runs import run_both

HERE = Path("tests/end_to_end")
FLAGS = ("-O1", "-g", "-w", "-ffp-contract=off", "-fsanitize=thread")
JACOBI = Path("examples/jacobi-openmp.c")
OPENMP_EXAMPLES = sorted(p for p in Path("examples").glob("*.c") if "#pragma omp " in p.read_text())
RACE = 66
SEED = 88172645463325252


@dataclass(frozen=True)
class Outcome:
    status: int
    data: bytes
    messages: str


@dataclass(frozen=True)
class Sanitizer:
    """How programs are linked and started here."""

    runtime: Path
    starter: tuple[str, ...]

    def run(self, source: Path, *options: str) -> Outcome:
        """Compile a C file with OpenMP and ThreadSanitizer, and run it with two threads."""
        compiled, executable = source.with_suffix(".o"), source.with_suffix(".exe")
        compile_c("-fopenmp", *options, "-c", str(source), "-o", str(compiled))
        support = [str(file) for file in [source.with_name("support.c")] if file.exists()]
        compile_c(str(compiled), *support, str(self.runtime), "-o", str(executable), "-lm")
        return start([*self.starter, str(executable)])

    def run_kernel(self, code: bytes, program: Program, folder: Path) -> Outcome:
        """The same for the file of a program, called with made-up data."""
        folder.mkdir()
        kernel, driver = folder / "kernel.c", folder / "driver.c"
        kernel.write_bytes(code)
        driver.write_text(Driver(program).text(str(kernel), default_sizes(program, {})))
        (folder / "support.c").write_text(support_text(SEED))
        return self.run(driver)


def compile_c(*arguments: str) -> None:
    done = subprocess.run(["gcc", *FLAGS, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def start(command: Sequence[str]) -> Outcome:
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "TSAN_OPTIONS": f"exitcode={RACE}"}
    done = subprocess.run(command, capture_output=True, check=False, timeout=120, env=environment)
    return Outcome(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    """The runtime, compiled; skips where ThreadSanitizer cannot run even an empty program.

    It does not start where the kernel places memory too much at random, unless that is turned off.
    """
    folder = tmp_path_factory.mktemp("threads")
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    empty = folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    done = subprocess.run(
        ["gcc", *FLAGS, str(empty), "-o", str(folder / "empty")], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"gcc cannot link ThreadSanitizer: {done.stderr.strip()[:200]}")
    starters: list[tuple[str, ...]] = [("setarch", "-R")] if shutil.which("setarch") else []
    for starter in [*starters, ()]:
        if start([*starter, str(folder / "empty")]).status == 0:
            runtime = folder / "gomp_on_pthreads.o"
            compile_c("-c", str(HERE / "gomp_on_pthreads.c"), "-o", str(runtime))
            return Sanitizer(runtime, starter)
    pytest.skip(f"ThreadSanitizer does not start: {start([str(folder / 'empty')]).messages[:200]}")


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copy(HERE / name, folder))


def test_there_are_openmp_examples() -> None:
    assert {"jacobi-openmp", "jacobi-team", "pipeline-tasks", "stages-sections"} <= {
        path.stem for path in OPENMP_EXAMPLES
    }


def test_the_runtime_synchronises(sanitizer: Sanitizer, tmp_path: Path) -> None:
    outcome = sanitizer.run(copied("constructs.c", tmp_path))
    assert (outcome.status, outcome.data, outcome.messages) == (0, b"ok\n", "")


@pytest.mark.parametrize("left_out", range(1, 7))
def test_the_runtime_synchronises_no_more_than_openmp(
    left_out: int, sanitizer: Sanitizer, tmp_path: Path
) -> None:
    """Without a taskwait, barrier, common critical section or dependence the race is there, and reported."""
    outcome = sanitizer.run(copied("constructs.c", tmp_path), f"-DRACE={left_out}")
    assert outcome.status == RACE
    assert "data race" in outcome.messages


def assert_same_bits_without_races(
    original_code: bytes, code: bytes, program: object, sanitizer: Sanitizer, folder: Path
) -> None:
    assert isinstance(program, Program)
    assert b"#pragma omp " in code
    folder.mkdir(exist_ok=True)
    original = sanitizer.run_kernel(original_code, program, folder / "original")
    folded = sanitizer.run_kernel(code, program, folder / "folded")
    assert (original.status, folded.status) == (0, 0), original.messages + folded.messages
    assert original.data
    assert folded.data == original.data


# Examples whose temporaries live within an iteration of their first loops.
BUFFERS = {"rows-openmp": 1}


def loop_choices(path: Path) -> list[str]:
    """Only files whose pragmas are all `parallel for` may get new loops."""
    if path.stem in BUFFERS:
        return ["generate"]
    directives = re.findall(r"#pragma omp (.*)", path.read_text())
    return ["keep", "generate"] if all(d.startswith("parallel for") for d in directives) else ["keep"]


@pytest.mark.parametrize(
    ("path", "loops"),
    [
        pytest.param(path, loops, id=f"{path.stem}-{loops}")
        for path in OPENMP_EXAMPLES
        for loops in loop_choices(path)
    ],
)
def test_openmp_examples(path: Path, loops: str, sanitizer: Sanitizer, tmp_path: Path) -> None:
    loops_of_tiles = BUFFERS.get(path.stem, 0)
    results = [
        fold(problem, local=loops_of_tiles) if loops_of_tiles else fold(problem, budget=Budget(60))
        for problem in read_all(path)
    ]
    code = write_c([result.region(loops) for result in results])  # type: ignore[arg-type]
    assert code != path.read_bytes()
    for number, result in enumerate(results):
        folder = tmp_path / str(number)
        assert_same_bits_without_races(path.read_bytes(), code, result.problem, sanitizer, folder)


DIAGONAL = """\
void diagonal(int N, const double in[restrict N], double out[restrict N])
{
    double A[N][N];
#pragma scop
    for (int i = 0; i < N; i++) {
#pragma omp parallel for schedule(dynamic)
        for (int j = 0; j < N; j++)
            if (i >= 1 && j >= 1)
                A[i][j] = A[i - 1][j - 1] + 1.0;
            else
                A[i][j] = in[j];
    }
    for (int j = 0; j < N; j++)
        out[j] = A[N - 1][j];
#pragma endscop
}
"""

ROWS = """\
void rows(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double tmp[N][N];
#pragma scop
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            tmp[i][j] = 2.0 * in[i][j];
            if (j >= 2)
                out[i][j] = tmp[i][j - 2] + tmp[i][j];
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "array", "size"), [(DIAGONAL, "A", "N"), (ROWS, "tmp", "3*N")], ids=["diagonal", "rows"]
)
def test_reuse_inside_an_instance_and_beside_other_threads(
    text: str, array: str, size: str, sanitizer: Sanitizer, tmp_path: Path
) -> None:
    """An instance writes where it has read last (DIY16 §2.2); each row of a parallel loop has its window."""
    file = tmp_path / "kernel.c"
    file.write_text(text)
    (problem,) = read_all(file)
    result = fold(problem)
    assert str(result[array].size) == size
    code = write_c([result.region()])
    assert_same_bits_without_races(text.encode(), code, result.problem, sanitizer, tmp_path)


@pytest.mark.parametrize(
    ("name", "fuse"),
    [("blur", None), ("harris", None), ("jacobi-1d", None), ("blur", "cells"), ("three-mm", "rows")],
)
def test_loops_made_parallel(name: str, fuse: Fuse | None, sanitizer: Sanitizer, tmp_path: Path) -> None:
    """Sequential examples whose loops the tool runs in parallel, folded for that order."""
    path = Path(f"examples/{name}.c")
    (problem,) = read_all(path)
    result = fold(reorder(problem, fuse=fuse, parallel=True), budget=Budget(60))
    code = write_c([result.region()])
    assert_same_bits_without_races(path.read_bytes(), code, result.problem, sanitizer, tmp_path)


@pytest.mark.parametrize("name", ["examples/jacobi-bands.c", "benchmarks/kernels/jacobi-2d-bands.c"])
def test_bands_with_halos(name: str, sanitizer: Sanitizer, tmp_path: Path) -> None:
    """Each band folds in place as a sequential program does, beside other threads."""
    path = Path(name)
    (problem,) = read_all(path)
    result = fold(problem, local="b")
    code = write_c([result.region()])
    assert_same_bits_without_races(path.read_bytes(), code, result.problem, sanitizer, tmp_path)


OWN = """\
void own(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double tmp[N][N];
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        double sum = 0, line[N];
        for (int j = 0; j < N; j++) {
            double value = in[i][j];
            line[j] = 2.0 * value;
            tmp[i][j] = value + line[j];
            sum += value;
            if (j > 0)
                out[i][j] = tmp[i][j] + tmp[i][j - 1] + line[j - 1];
        }
        out[i][0] = sum;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("has_buffers", [False, True])
def test_new_loops_declare_variables_of_threads_inside(
    has_buffers: bool, sanitizer: Sanitizer, tmp_path: Path
) -> None:
    """Each thread has the variables of its own that the text declares in its loop."""
    file = tmp_path / "kernel.c"
    file.write_text(OWN)
    (problem,) = read_all(file)
    result = fold(problem, local=1) if has_buffers else fold(problem)
    code = write_c([result.region("generate")])
    before, after = code.split(b"#pragma omp parallel for", 1)
    for name in (b"double sum;", b"double value;", b"double line["):
        assert name in after
        assert name not in before
    assert_same_bits_without_races(OWN.encode(), code, result.problem, sanitizer, tmp_path)


ROW_BY_ROW = """\
void scaled(int N, const double in[restrict N][N], double out[restrict N][N])
{
    double tmp[N][N];
#pragma scop
    for (int i = 0; i < N; i++) {
        double first = in[i][0];
        for (int j = 0; j < N; j++)
            tmp[i][j] = first + in[i][j];
        for (int j = 1; j < N; j++)
            out[i][j] = tmp[i][j] + tmp[i][j - 1];
    }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("target", "parallel_rows"), [("out[i][j]", True), ("out[0][j]", False)], ids=["rows", "columns"]
)
def test_in_another_order_threads_share_a_variable_of_the_body_or_have_their_own(
    target: str, parallel_rows: bool, tmp_path: Path
) -> None:
    """Where rows are parallel each has a value of its own; threads inside a row all read its one value."""
    file = tmp_path / "kernel.c"
    file.write_text(ROW_BY_ROW.replace("out[i][j] =", f"{target} ="))
    (problem,) = read_all(file)
    rows = "S_0[i] -> [i, 0, 0]; S_1[i, j] -> [i, 1, j]; S_2[i, j] -> [i, 2, j]"
    ordered = reorder(problem, schedule=rows, parallel=True)
    for result in (fold(ordered, local=1, arrays=["tmp"]), fold(ordered)):
        before, after = result.to_c(loops="generate").split("#pragma omp parallel for", 1)
        assert ("double first;" in after) == parallel_rows
        assert ("double first;" in before) != parallel_rows


CUT_APART = """\
void last_rows(const long long in[restrict 8][12], long long out[restrict 8][12])
{
    long long row[6];
#pragma scop
    for (int y = 5; y >= 2; --y) {
        int q = y - 2;
        row[q + 1] = in[0][q];
        if (y <= 3)
            out[q][q + 2] = row[q + 3];
    }
#pragma endscop
}
"""


def test_a_loop_that_isl_cuts_apart_does_not_give_threads_variables_of_their_own(tmp_path: Path) -> None:
    """In tiles of two rows what reads `q` runs in the last row, and stands behind the loop that sets it."""
    file = tmp_path / "kernel.c"
    file.write_text(CUT_APART)
    (problem,) = read_all(file)
    result = fold(reorder(problem, tile=(2,), parallel=True))
    code = result.to_c()
    assert "#pragma omp" not in code
    assert run_both(result, code.encode(), params={}, sanitize=True).is_equal


def test_a_variable_of_all_threads_is_refused(tmp_path: Path) -> None:
    text = OWN.replace("    double tmp[N][N];", "    double tmp[N][N], value;").replace(
        "double value =", "value ="
    )
    file = tmp_path / "kernel.c"
    file.write_text(text)
    (problem,) = read_all(file)
    with pytest.raises(InputError, match="sets value and has parallel loops, which must stay"):
        fold(problem).to_c(loops="generate")


# ---------------------------------------------------------------- a fold that is wrong in parallel only


def folded_by_hand() -> str:
    """Jacobi with one row and one cell, `A[t, i] -> [(i - t) mod (N + 1)]`: enough for a sequential loop."""
    text = JACOBI.read_text()
    head, body = text.split("#pragma scop")
    head = head.replace("double A[T + 1][N];", "double A[N + 1];")
    assert head != text.split("#pragma scop")[0]
    body, count = re.subn(
        r"A\[([^\]]+)\]\[([^\]]+)\]", r"A[((\2) - (\1) + (T + 1) * (N + 1)) % (N + 1)]", body
    )
    assert count == 8
    return head + "#pragma scop" + body


@pytest.mark.parametrize("is_parallel", [False, True])
def test_a_fold_for_sequential_loops_is_caught_in_parallel(
    is_parallel: bool, sanitizer: Sanitizer, tmp_path: Path
) -> None:
    (program,) = read_all(JACOBI)
    assert isinstance(program, Program)
    wrong = folded_by_hand()
    if not is_parallel:
        wrong = wrong.replace("#pragma omp parallel for", "")
    original = sanitizer.run_kernel(JACOBI.read_bytes(), program, tmp_path / "original")
    folded = sanitizer.run_kernel(wrong.encode(), program, tmp_path / "folded")
    assert original.status == 0, original.messages
    if is_parallel:
        assert folded.status == RACE or folded.data != original.data
        assert "data race" in folded.messages
    else:
        assert folded.status == 0, folded.messages
        assert folded.data == original.data
