"""C++ files: what is read, written back and checked, and what is refused with its place."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from arrayfold import fold
from arrayfold.base.errors import InputError
from arrayfold.frontends.c.cplusplus_headers import HEADERS
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.files import read
from arrayfold.program.model import Program
from arrayfold.run.compiler import CannotRun, find_cplusplus_compiler
from arrayfold.validation.subjects import validate_code
from support.runs import run_both

KERNELS = sorted((Path(__file__).resolve().parent / "c_kernels").glob("*.cpp"))
needs_compiler = pytest.mark.skipif(find_cplusplus_compiler() is None, reason="needs a C++ compiler")


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
        (
            "for (int i = 0; i < n; i++) { float &x = i ? t[i] : t[0]; x = 1; }",
            "x, a reference, inside a region",
        ),
        ("for (int i = 0; i < n; i++) out[i] = [&](int k) { return in[k]; }(i);", "lambda|operator\\(\\)"),
        ("for (int i = 0; i < n; i++) t.push_back(in[i]);", "push_back"),
        ("for (std::size_t i = 0; i < in.capacity(); i++) out[i] = in[i];", "capacity"),
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


def test_a_size_that_the_region_may_change_is_refused() -> None:
    text = (
        "#include <vector>\nvoid f(const int &n, std::vector<{}> &a)\n{{\nstd::vector<int> t(n);\n{}\n"
        "#pragma scop\nfor (int i = 0; i < n; i++) {{ t[i] = a[i]; a[i] = t[i] + 1; }}\n#pragma endscop\n}}\n"
    )
    with pytest.raises(InputError, match="n is a reference, and may refer to what the region writes into a"):
        read_c("f.cpp", text.format("int", "").encode())
    assert read_c("f.cpp", text.format("float", "").encode())
    assert read_c("f.cpp", text.format("int", "#pragma arrayfold no_alias").encode())


STEPS = """{
    std::vector<%s> t(4 * n), u(n);
#pragma scop
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) t[k * n + i] = in[i] * k;
        for (int i = 0; i < n; i++) { u[i] = t[k * n + n - 1 - i]; out[k * n + i] = u[i]; }
    }
#pragma endscop
}
"""
INCLUDES = "#include <vector>\n"
METHOD = INCLUDES + "class A {\nint n;\npublic:\nvoid f(const float *in, float *out);\n%s};\n"
TEMPLATE = f"{INCLUDES}template <class T> void f(int n, const T *in, T *out)\n{STEPS % 'T'}"
CALL = "void g(float *a, float *b) { f(3, a, b); }\n"


def function_of(text: str, file: str = "f.cpp") -> Program:
    """The only region of a file."""
    (program,) = read_c(file, text.encode())
    return program


def test_a_static_member_is_a_function() -> None:
    text = f"{INCLUDES}struct A {{ static void f(int n, const float *in, float *out)\n{STEPS % 'float'} }};"
    code = folded(function_of(text))
    assert "std::vector<float> t(n);" in code
    assert "float u;" in code


@pytest.mark.parametrize("field", ["n", "this->n"])
def test_sizes_of_a_member_function_may_be_fields_of_its_object(field: str) -> None:
    body = STEPS.replace("i < n", f"i < {field}") % "float"
    program = function_of(METHOD % "" + f"void A::f(const float *in, float *out)\n{body}")
    assert program.source is not None
    assert program.source.region.function.name == "A::f"
    assert "std::vector<float> t(this->n);" in folded(program)


def test_fields_of_an_object_are_arrays_that_stay() -> None:
    body = STEPS.replace("out[k * n + i]", "last[i]") % "float"
    members = f"void h(const float *in)\n{body}std::vector<float> last;"
    program = function_of(METHOD % members)
    assert "this_last" in program.kept
    assert "u = " in folded(program)


def test_a_field_may_be_what_the_region_writes() -> None:
    text = METHOD % "" + f"void A::f(const float *in, float *out)\n{STEPS % 'float'}"
    said = "writes to out change none of this->n"
    assert said not in str(function_of(text).assumptions)
    assert said in str(function_of(text.replace("float *out", "int *out")).assumptions)


def test_a_wrong_member_function_is_found() -> None:
    text = METHOD % "" + f"void A::f(const float *in, float *out)\n{STEPS % 'float'}"
    result = fold(function_of(text))
    code = result.to_c().replace("u = t[i]", "u = t[0]")
    assert code != result.to_c()
    assert not validate_code([result.region()], code.encode(), "f.cpp").is_equal


def test_a_template_is_read_as_its_only_instance() -> None:
    code = folded(function_of(TEMPLATE + CALL))
    assert "std::vector<T> t(n);" in code
    assert "T u;" in code
    members = (
        f"{INCLUDES}template <class T> struct A {{ void f(int n, const T *in, T *out)\n{STEPS % 'T'} }};"
    )
    call = "void g(float *a, float *b) { A<float> c; c.f(3, a, b); }"
    assert "T u;" in folded(function_of(members + call))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEMPLATE, "f is a template of which no call in this file makes an instance"),
        (
            TEMPLATE + CALL + CALL.replace("float", "double"),
            "f is a template with several instances: f<double>, f<float>",
        ),
        (
            TEMPLATE + CALL + "template void f<int>(int n, const int *in, int *out);",
            "f may have other instances by this explicit instantiation",
        ),
        (
            TEMPLATE.replace("class T", "class T, int K").replace("k < 4", "k < K")
            + CALL.replace("f(3", "f<float, 4>(3"),
            "K, a number given to a template,",
        ),
        (
            TEMPLATE.replace("template <class T>", "").replace("T", "float") + "void f(int n) { }",
            "there are several functions f",
        ),
        (
            (METHOD % "").replace("int n;", "").replace("class A", "struct B { int n; };\nclass A : B")
            + f"void A::f(const float *in, float *out)\n{STEPS % 'float'}",
            "n, a member of another class,",
        ),
    ],
)
def test_functions_that_are_not_certain_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as found:
        read_c("f.cpp", text.encode())
    assert found.value.place is not None


def test_a_template_in_a_header_is_refused() -> None:
    with pytest.raises(InputError, match="other files may make other instances"):
        function_of(TEMPLATE + CALL, "f.hpp")


def test_members_and_templates_are_found_by_their_names() -> None:
    text = re.sub(r"#pragma \w+\n", "", TEMPLATE + CALL)
    (program,) = read_c("f.cpp", text.encode(), functions=["f"])
    assert "T u;" in folded(program)
    text = re.sub(
        r"#pragma \w+\n", "", METHOD % "" + f"void A::f(const float *in, float *out)\n{STEPS % 'float'}"
    )
    for name in ("f", "A::f"):
        (program,) = read_c("f.cpp", text.encode(), functions=[name])
        assert "float u;" in folded(program)


@needs_compiler
def test_runs_call_members_and_instances() -> None:
    text = f"{INCLUDES}class A {{ static void f(int n, const float *in, float *out)\n{STEPS % 'float'} }};"
    for one in (text, TEMPLATE + CALL):
        result = fold(function_of(one))
        assert run_both(result, result.to_c().encode(), params={"n": 9}).is_equal
    result = fold(function_of(METHOD % "" + f"void A::f(const float *in, float *out)\n{STEPS % 'float'}"))
    with pytest.raises(CannotRun, match="A::f is a member function"):
        run_both(result, result.to_c().encode())


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_every_header_can_be_read(name: str) -> None:
    text = f"#include <{name}>\nvoid f(int n)\n{{\nint t[9];\n#pragma scop\nt[0] = n;\n#pragma endscop\n}}\n"
    assert len(read_c("f.hpp", text.encode())) == 1


@needs_compiler
@pytest.mark.parametrize("file", [*KERNELS, Path("examples/blur.cpp")], ids=lambda file: file.stem)
def test_compilers_accept_what_is_written(file: Path, tmp_path: Path) -> None:
    compiler = find_cplusplus_compiler()
    assert compiler is not None
    target = tmp_path / "folded.cpp"
    program = read(file)
    assert isinstance(program, Program)
    target.write_text(fold(program).to_c())
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only"]
    done = subprocess.run([compiler, *flags, str(target)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_runs_compare_vectors_and_references() -> None:
    result = fold(read("tests/c_kernels/cpp-values.cpp"))
    code = result.to_c()
    sizes = {"n": 9, "last": 8, "twice": 1}
    assert run_both(result, code.encode(), params=sizes).is_equal
    assert not run_both(
        result, code.replace("sum += std::min", "sum -= std::min").encode(), params=sizes
    ).is_equal
    result = fold(read("examples/blur.cpp"))
    code = result.to_c()
    assert run_both(result, code.encode()).is_equal
    assert not run_both(result, code.replace(") * third;", ") * 2 * third;").encode()).is_equal


def test_without_a_compiler_a_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fold(read("examples/blur.cpp"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(CannotRun, match="no C\\+\\+ compiler"):
        run_both(result, result.to_c().encode())
