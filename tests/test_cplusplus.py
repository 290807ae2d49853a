"""C++ files: what is read, written back and checked, and what is refused with its place."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from arrayfold import fold
from arrayfold.base.errors import InputError
from arrayfold.frontends.c.cplusplus_headers import HEADERS
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.files import read
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code

KERNELS = sorted((Path(__file__).resolve().parent / "c_kernels").glob("*.cpp"))
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def program_of(body: str, before: str = "", outside: str = "") -> Program:
    """A function on n floats, with a vector t."""
    headers = "".join(f"#include <{name}>\n" for name in ("algorithm", "array", "cmath", "memory", "vector"))
    text = (
        f"{headers}{outside}\nvoid f(int n, const std::vector<float> &in, std::vector<float> &out)\n"
        f"{{\nstd::vector<float> t(n);\n{before}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    (program,) = read_c("f.cpp", text.encode())
    return program


def folded(program: Program) -> str:
    """The code, which the check accepts."""
    result = fold(program)
    code = result.to_c()
    outcome = validate_code([result.region()], code.encode(), "f.cpp")
    assert outcome.is_equal, outcome
    assert not outcome.unchecked, outcome
    return code


LOOP = "for (int i = 0; i < n; i++) { t[i] = in[i] * 2; out[i] = t[i]; }"


def test_a_vector_becomes_a_variable() -> None:
    code = folded(program_of(LOOP))
    assert "float t;" in code
    assert "vector<float> t" not in code


def test_a_vector_becomes_a_smaller_one() -> None:
    body = (
        "for (int k = 0; k < 5; k++) { for (int i = 0; i < n; i++) u[k * n + i] = in[i] + k;"
        " for (int i = 0; i < n; i++) out[i] = u[k * n + n - 1 - i]; }"
    )
    assert "std::vector<double> u(n);" in folded(program_of(body, "std::vector<double> u(5 * n);"))
    assert "std::vector<double> u(n);" in folded(
        program_of(body, "auto u = std::make_unique<double[]>(5 * n);")
    )
    rows = body.replace("u[k * n + ", "u[k][")
    made = "std::vector<std::vector<double>> u(5, std::vector<double>(n));"
    assert "std::vector<double> u(n);" in folded(program_of(rows, made))


def test_memory_that_cplusplus_did_not_allocate_becomes_a_vector() -> None:
    text = (
        "void f(int n, int m, const float *in, float *out)\n{\n"
        "#pragma arrayfold temporary(u)\nextern float u[];\n#pragma scop\n"
        "for (int k = 0; k < m; k++) { for (int i = 0; i < n; i++) u[k * n + i] = in[i] + k;"
        " for (int i = 0; i < n; i++) out[i] = u[k * n + n - 1 - i]; }\n#pragma endscop\n}\n"
    )
    (program,) = read_c("f.cc", text.encode())
    code = fold(program).to_c()
    assert code.startswith("#include <vector>\n")
    assert "std::vector<float> u_folded(n);" in code
    assert "free" not in code


@pytest.mark.parametrize(
    "declared",
    [
        "std::vector<float> u = in;",
        "std::vector<float> u{1, 2};",
        "auto u = made(n);",
        "std::vector<float> u; u.resize(n);",
        "std::vector<float> u(n, made(n)[0]);",
        "std::array<float, 9> u = {1, 2};",
        "std::vector<float> u(n); float *p = u.data(); p[0] = 1;",
    ],
)
def test_a_container_that_begins_with_more_than_its_size_stays(declared: str) -> None:
    outside = "std::vector<float> made(int n);"
    program = program_of("for (int i = 0; i < n; i++) { u[i] = in[i]; out[i] = u[i]; }", declared, outside)
    assert not fold(program).arrays
    assert "u" in program.kept


def test_what_is_read_before_it_is_written_stays_zero() -> None:
    program = program_of("for (int i = 0; i < n; i++) { out[i] = t[i]; t[i] = in[i]; }")
    assert not any(array.shrinks for array in fold(program).arrays)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for (float x : in) out[0] = x;", "a range-based for loop"),
        ("for (int i = 0; i < n; i++) { float &x = t[i]; x = in[i]; }", "x, a reference, inside a region"),
        ("for (int i = 0; i < n; i++) out[i] = [&](int k) { return in[k]; }(i);", "lambda|operator\\(\\)"),
        ("for (int i = 0; i < n; i++) t.push_back(in[i]);", "push_back"),
        ("for (std::size_t i = 0; i < in.size(); i++) out[i] = in[i];", "size"),
        ("try { out[0] = 1; } catch (...) { }", "try inside a region"),
    ],
)
def test_what_is_beyond_is_refused_with_its_place(body: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as found:
        program_of(body)
    assert found.value.place is not None
    assert found.value.place.line == 12


def test_scalar_references_may_be_elements_of_what_is_written() -> None:
    text = (
        "void f(int n, const float *__restrict in, float *out, const float &k)\n{\n"
        "float t[n];\n#pragma scop\n"
        "for (int i = 0; i < n; i++) { t[i] = in[i] * k; out[i] = t[i]; }\n#pragma endscop\n}\n"
    )
    (program,) = read_c("f.cpp", text.encode())
    assert program.source is not None
    assert program.source.may_alias == ("out", "k")
    assert "ivdep" not in fold(program).to_c()


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_every_header_can_be_read(name: str) -> None:
    text = f"#include <{name}>\nvoid f(int n)\n{{\nint t[9];\n#pragma scop\nt[0] = n;\n#pragma endscop\n}}\n"
    assert len(read_c("f.hpp", text.encode())) == 1


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("file", [*KERNELS, Path("examples/blur.cpp")], ids=lambda file: file.stem)
def test_compilers_accept_what_is_written(file: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    target = tmp_path / "folded.cpp"
    program = read(file)
    assert isinstance(program, Program)
    target.write_text(fold(program).to_c())
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only"]
    done = subprocess.run([COMPILER, *flags, str(target)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
