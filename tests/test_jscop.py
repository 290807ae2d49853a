"""Files of Polly: read, folded, judged, written; and clang with Polly, compiled twice."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

import arrayfold as af
from arrayfold.base.errors import CheckFailed
from arrayfold.codegen.jscop import JscopFold, differing_accesses, write_jscop
from arrayfold.fold.jscop import folded_jscop
from arrayfold.frontends import apply_options
from arrayfold.frontends.jscop.local_memory import functions_of, local_arrays
from arrayfold.frontends.jscop.names import with_names
from support.command import run
from support.pages import fenced_blocks, save, shell
from support.peak import peak

BLUR = "examples/blur.jscop"
CLANG = shutil.which("clang-22")
NEEDS_CLANG = pytest.mark.skipif(CLANG is None, reason="clang-22 is not installed: make test-compilers")


def scop(*statements: dict[str, Any], arrays: tuple[str, ...] = ("T", "out"), context: str = "{ : }") -> str:
    listed = [{"name": name, "sizes": ["*"], "type": "double"} for name in arrays]
    return json.dumps(
        {"arrays": listed, "context": context, "name": "%a---%b", "statements": list(statements)}
    )


def block(name: str, domain: str, time: str, *accesses: str) -> dict[str, Any]:
    """A statement with iterators i, j; accesses such as `write T[i]`."""
    kinds = (access.split(" ", 1) for access in accesses)
    return {
        "name": name,
        "domain": f"[N] -> {{ {name}[i] : {domain} }}",
        "schedule": f"[N] -> {{ {name}[i] -> [{time}] }}",
        "accesses": [{"kind": kind, "relation": f"[N] -> {{ {name}[i] -> {to} }}"} for kind, to in kinds],
    }


def read_text(tmp_path: Path, text: str, *temporaries: str, arguments: tuple[str, ...] = ()) -> af.Program:
    file = tmp_path / "a.jscop"
    file.write_text(text)
    program = apply_options(af.read(file, arguments=arguments), temporary=temporaries)
    assert isinstance(program, af.Program)
    return program


def test_an_array_is_folded_when_it_is_named(tmp_path: Path) -> None:
    program = af.read(BLUR)
    assert af.fold(program).arrays == ()
    result = af.fold(apply_options(program, temporary=["MemRef_call"]))
    assert str(result["MemRef_call"].mapping) == "MemRef_call[i0] -> [i0 mod 2049]"
    assert result["MemRef_call"].is_optimal
    text = Path(BLUR).read_text()
    folded = json.loads(folded_jscop(BLUR, text, result))
    assert folded["arrays"][-1] == {
        "allocation": "stack",
        "name": "MemRef_call_folded",
        "sizes": ["2049"],
        "type": "double",
    }
    again = read_text(tmp_path, json.dumps(folded))
    assert again.array("MemRef_call_folded").cells.is_equal(
        isl.Set("{ MemRef_call_folded[i] : 0 <= i < 2049 }")
    )
    assert [statement["schedule"] for statement in folded["statements"]] == [
        statement["schedule"] for statement in json.loads(text)["statements"]
    ]


def test_what_is_written_is_checked_by_dataflow(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(BLUR).read_text()
    result = af.fold(apply_options(af.read(BLUR), temporary=["MemRef_call"]))
    good = folded_jscop(BLUR, text, result)
    assert differing_accesses(BLUR, text, good, []) == []
    bad = good.replace("mod 2049", "mod 2048").replace("<= 2048", "<= 2047")
    assert differing_accesses(BLUR, text, bad, []) == ["Stmt_if_then reads MemRef_call"]
    missing = good.replace("<= 2048", "<= 2047")
    assert "Stmt_for_body4 writes MemRef_call" in differing_accesses(BLUR, text, missing, [])
    monkeypatch.setattr(import_module("arrayfold.fold.jscop"), "write_jscop", lambda *_: bad)
    with pytest.raises(CheckFailed, match="Stmt_if_then reads MemRef_call differently"):
        folded_jscop(BLUR, text, result)


def test_the_commands_fold_and_judge_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    output = tmp_path / "blur.folded.jscop"
    assert run(monkeypatch, "fold", BLUR, "--temporary", "MemRef_call", "-o", str(output)) == 0
    assert "MemRef_call_folded" in output.read_text()
    assert run(monkeypatch, "fold", BLUR, "--temporary", "MemRef_call", "--run") == 2
    assert run(monkeypatch, "fold", BLUR, "--temporary", "MemRef_call", "--fuse", "-o", "-") == 2
    capsys.readouterr()
    check = ["check", BLUR, "--temporary", "MemRef_call", "--mapping"]
    assert run(monkeypatch, *check, "MemRef_call[i] -> [i mod 2049]") == 0
    assert run(monkeypatch, *check, "MemRef_call[i] -> [i mod 2048]") == 1
    assert "Stmt_for_body4[2, 0] overwrites it" in capsys.readouterr().out


def test_a_read_after_a_write_of_the_same_block_keeps_the_order(tmp_path: Path) -> None:
    """In the other order the cell that is written could take the place of the one that is read."""
    reads_first = block("Stmt_a", "1 <= i < 9", "i", "read T[i - 1]", "write T[i]")
    writes_first = block("Stmt_a", "1 <= i < 9", "i", "write T[i]", "read T[i - 1]")
    start = block("Stmt_s", "i = 0", "-1", "write T[i]")
    sizes: list[str] = []
    for body in (reads_first, writes_first):
        program = read_text(tmp_path, scop(start, body, arrays=("T",)), "T")
        sizes.append(str(af.fold(program)["T"].size))
    assert sizes == ["1", "2"]
    assert [statement.name for statement in program.statements] == ["Stmt_s", "Stmt_a", "Stmt_a__2"]


def test_writes_of_regions_with_conditions_need_not_happen(tmp_path: Path) -> None:
    use = block("Stmt_use", "0 <= i < 9", "i, 1", "read T[0]", "write out[i]")
    for name, is_sure in (("Stmt_w", True), ("Stmt_w__TO__e", False), ("Stmt1", False)):
        text = scop(block(name, "0 <= i < 9", "i, 0", "write T[0]"), use)
        program = read_text(tmp_path, text, "T")
        assert program.statements[0].accesses[0].is_must == is_sure
        result = af.fold(program)
        assert ("T" in result.live_in) != is_sure
    named = read_text(tmp_path, text, "T", arguments=("-polly-use-llvm-names",))
    assert named.statements[0].accesses[0].is_must


def test_arrays_that_are_read_before_they_are_written_do_not_move(tmp_path: Path) -> None:
    text = scop(block("Stmt_a", "0 <= i < 9", "i", "read T[i]", "write out[i]", "write T[i]"))
    cells = isl.Set("{ T[i] : 0 <= i < 9 }")
    (mapping,) = af.read_mappings("T[i] -> [i mod 3]", read_text(tmp_path, text, "T"))
    assert isinstance(mapping, af.ModularMapping)
    with pytest.raises(af.InputError, match="may be read before it is written"):
        write_jscop("a.jscop", text, [JscopFold("T", mapping, cells, reads_before_writes=True)])


def parametric(tmp_path: Path) -> tuple[str, af.Program]:
    data = json.loads(
        scop(context="[N] -> { : -2147483648 <= N <= 2147483647 }").replace(
            '["*"]', '["*", "(zext i32 %N to i64)"]'
        )
    )
    square = "[N] -> { S[i, j] : 0 <= i, j < N }"
    write = {"kind": "write", "relation": "[N] -> { S[i, j] -> T[i, j] }"}
    reads = [{"kind": "read", "relation": f"[N] -> {{ U[i, j] -> T[i - {k}, j] }}"} for k in range(3)]
    data["statements"] = [
        {"name": "S", "domain": square, "schedule": "[N] -> { S[i, j] -> [i, j, 0] }", "accesses": [write]},
        {
            "name": "U",
            "domain": "[N] -> { U[i, j] : 2 <= i < N and 0 <= j < N }",
            "schedule": "[N] -> { U[i, j] -> [i, j, 1] }",
            "accesses": [*reads, {"kind": "write", "relation": "[N] -> { U[i, j] -> out[i, j] }"}],
        },
    ]
    text = json.dumps(data)
    return text, read_text(tmp_path, text, "T", arguments=("-polly-use-llvm-names",))


def test_arrays_of_parametric_size_are_folded_in_place(tmp_path: Path) -> None:
    text, program = parametric(tmp_path)
    assert str(program.context) == "[N] -> {  :  }"
    arguments = ["-polly-use-llvm-names"]
    with pytest.raises(af.InputError, match="not affine for all parameter values"):
        folded_jscop("a.jscop", text, af.fold(program), arguments)
    result = af.fold(program, method="successive-modulo")
    data = json.loads(folded_jscop("a.jscop", text, result, arguments))
    assert "arrays" not in data
    (write,) = (one["relation"] for one in data["statements"][0]["accesses"])
    inside = isl.Map("[N] -> { S[i, j] -> T[i mod 3, j] : 0 <= i, j < N }")
    domain = isl.Set("[N] -> { S[i, j] : 0 <= i, j < N }")
    assert isl.Map(write).intersect_domain(domain).is_equal(inside)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{", "("), "a.jscop:1:1: not JSON"),
        (('"statements"', '"sentences"'), "no key 'statements'"),
        (('"kind": "read"', '"kind": "reads"'), "of kind read or write, not 'reads'"),
        (("T[0]", "T[i*i]"), "a.jscop:1:"),
        (("0 <= i < 9", "0 <= i"), "is not bounded"),
        (("Stmt_w[i] -> [i, 0]", "Stmt_v[i] -> [i, 0]"), "this is of Stmt_v"),
        (('"domain"', '"demesne"'), "a 'domain' is missing"),
        (('"name": "Stmt_w"', '"name": 7'), "'name' is 7, expected a string"),
        (("Stmt_w[i] -> [i, 0]", "Stmt_w[i] -> [0, j]"), "some instance of Stmt_w more than one time"),
        (("Stmt_w[i] -> [i, 0]", "Stmt_w[i] -> [i]"), "times have 1 and 2 dimensions"),
        (('"context": "{ : }"', '"context": "[N] -> { : N < N }"'), "no parameter value satisfies"),
    ],
)
def test_what_is_no_file_of_polly_is_told(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    use = block("Stmt_use", "0 <= i < 9", "i, 1", "read T[0]", "write out[i]")
    text = scop(block("Stmt_w", "0 <= i < 9", "i, 0", "write T[0]"), use)
    assert read_text(tmp_path, text).statements
    with pytest.raises(af.InputError) as error:
        read_text(tmp_path, text.replace(*change, 1))
    assert message in str(error.value)
    assert "a.jscop:1:" in str(error.value)


MODULE = """
define dso_local void @f(ptr noundef %in, ptr noundef %out) #0 {
entry:
  %t = alloca [9 x double], align 16
  br label %body

body:                                             ; preds = %entry, %body
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %cell = getelementptr inbounds double, ptr %t, i64 %i
  store double 1.0, ptr %cell, align 8
  %value = load double, ptr %cell, align 8
  %next = add nuw nsw i64 %i, 1
  %go = icmp ne i64 %next, 9
  br i1 %go, label %body, label %end

end:                                              ; preds = %body
  ret void
}
"""


def local_in(text: str, uses: int = 2) -> list[str]:
    (function,) = functions_of(text).values()
    return local_arrays(function, "%body---%end", Counter({"MemRef_t": uses}))


def test_memory_is_local_where_all_uses_are_accesses_of_the_scop() -> None:
    assert local_in(MODULE) == ["MemRef_t"]
    malloc = "%t = tail call noalias ptr @malloc(i64 noundef 72) #3"
    allocated = MODULE.replace("%t = alloca [9 x double], align 16", malloc)
    allocated = allocated.replace("ret void", "tail call void @free(ptr noundef %t)\n  ret void")
    assert local_in(allocated) == ["MemRef_t"]


def test_static_memory_is_local_where_one_function_has_it() -> None:
    static = MODULE.replace("%t = alloca [9 x double], align 16", "").replace("ptr %t,", "ptr @t,")
    static = f"@t = internal global [9 x double] zeroinitializer, align 16\n{static}"
    assert local_in(static) == ["MemRef_t"]
    assert local_in(static.replace("internal ", "")) == []
    other = "\ndefine void @g() {\n  store double 1.0, ptr @t, align 8\n  ret void\n}\n"
    function = functions_of(static + other)["f"]
    assert local_arrays(function, "%body---%end", Counter({"MemRef_t": 2})) == []


NUMBERED = """
define void @f_(ptr noalias captures(none) %0) #0 {
  %2 = load i32, ptr %0, align 4, !tbaa !1
  %3 = tail call i32 @llvm.smax.i32(i32 %2, i32 0)
  %4 = zext nneg i32 %3 to i64
  %5 = tail call ptr @malloc(i64 %4)
  br label %.loop

.loop:                                            ; preds = %.loop, %1
  %6 = phi i64 [ 0, %1 ], [ %8, %.loop ]
  %7 = getelementptr double, ptr %5, i64 %6
  store double 1.0, ptr %7, align 8, !tbaa !3
  %8 = add nuw nsw i64 %6, 1
  %9 = icmp eq i64 %8, %4
  br i1 %9, label %10, label %.loop

10:                                               ; preds = %.loop
  %11 = icmp eq ptr %5, null
  br i1 %11, label %13, label %12

12:                                               ; preds = %10
  tail call void @free(ptr nonnull %5)
  br label %13

13:                                               ; preds = %12, %10
  ret void
}
!1 = !{!2, !2, i64 0}
!2 = !{!"dummy arg data/_QFfEn", !5, i64 0}
!3 = !{!4, !4, i64 0}
!4 = !{!"allocated data/_QFfErows", !6, i64 0}
"""


def test_values_of_fortran_get_names() -> None:
    named = with_names(NUMBERED)
    assert named is not None
    assert not re.search(r"%\d|^\d+:", named, re.MULTILINE)
    assert "%n = load i32, ptr %v0" in named
    assert "%rows = tail call ptr @malloc(i64 %v4)" in named
    assert '%v3 = call i32 asm "", "=r,0"(i32 %v3.length)' in named
    assert "\nv1:\n" in named
    assert "%v11 = icmp ne ptr %rows, %rows\n  br i1 %v11, label %v13, label %v12" in named
    used = NUMBERED.replace("ret void", "call void @g(i1 %11)\n  ret void")
    assert "%v11 = icmp eq ptr %rows, null" in str(with_names(used))
    assert with_names("%0 = type { ptr }\n" + NUMBERED) is None


def test_memory_that_the_loops_free_keeps_its_size() -> None:
    """Polly would run its loops only where there is no memory."""
    allocated = MODULE.replace("alloca [9 x double], align 16", "call ptr @malloc(i64 72)")
    assert local_in(allocated.replace("ret void", "call void @free(ptr %t)\n  ret void")) == ["MemRef_t"]
    freed = allocated.replace("  br i1 %go", "  call void @free(ptr %t)\n  br i1 %go")
    assert local_in(freed) == []
    assert local_in(freed.replace("call void @free(ptr %t)", "%is = icmp eq ptr %t, null")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ret void", "call void @g(ptr %t)\n  ret void"),
        ("ret void", "store ptr %t, ptr %out, align 8\n  ret void"),
        ("ret void", "%last = load double, ptr %t, align 8\n  ret void"),
        ("ret void", "%where = ptrtoint ptr %cell to i64\n  ret void"),
        ("store double", "store volatile double"),
        ("%t = alloca [9 x double], align 16", "%t = load ptr, ptr %in, align 8"),
        ("ptr noundef %in", "ptr noundef %t.in"),
        ("%value = load double, ptr %cell", "%value = load double, ptr %in"),
        ("  br label %body", "  %p = select i1 true, ptr %t, ptr %in\n  br label %body"),
    ],
)  # fmt: skip
def test_memory_that_may_be_seen_elsewhere_is_not_local(old: str, new: str) -> None:
    assert old in MODULE
    changed = MODULE.replace(old, new)
    if "%t.in" in new:
        changed = changed.replace("%t.in", '%"t"')
    assert local_in(changed) == []


# ---------------------------------------------------------------- with the compiler


def wrapper(source: str) -> str:
    return "fc" if source.endswith(".f90") else "cc"


def compiler_of(source: str, number: int = 22) -> str:
    kind = {"c": ["clang"], "cpp": ["clang++"], "f90": ["flang", "flang-new"]}[source.rpartition(".")[2]]
    found = next(filter(None, (shutil.which(f"{name}-{number}") for name in kind)), None)
    if found is None:
        pytest.skip(f"{kind[0]}-{number} is not installed: make test-compilers")
    return found


def measured(name: str, cells: set[str], saved: int, number: int = 22, *, is_long: bool = True) -> Any:
    return pytest.param(name, number, cells, saved, marks=[pytest.mark.long] if is_long else [])


@pytest.mark.parametrize(
    ("name", "number", "cells", "saved"),
    [
        measured("blur.c", {"2049"}, 1024 * 1024 * 8, is_long=False),
        measured("blur.c", {"2049"}, 1024 * 1024 * 8, 19),
        measured("unsharp.c", {"5400", "1800"}, 2 * 1400 * 1800 * 4),
        measured("two_products.c", {"2000"}, 2000 * 2000 * 8),
        measured("two_products.c", {"2000"}, 2000 * 2000 * 8, 19),
        measured("jacobi.cpp", {"8000"}, 1500 * 4000 * 8),
        measured("blur.f90", {"2049"}, 1024 * 1024 * 8, is_long=False),
        measured("unsharp.f90", {"3000", "1000"}, 2 * 900 * 1000 * 4),
        measured("two_products.f90", {"2000"}, 2000 * 2000 * 8),
        measured("jacobi.f90", {"8000"}, 1500 * 4000 * 8),
    ],
)
def test_programs_need_less_memory(
    name: str,
    number: int,
    cells: set[str],
    saved: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    compiler = compiler_of(name, number)
    source = str((Path("tests/compilers") / name).resolve())
    original, folded = tmp_path / "original", tmp_path / "folded"
    monkeypatch.chdir(tmp_path)  # where flang puts modules
    subprocess.run([compiler, "-O3", source, "-o", str(original)], check=True)
    assert run(monkeypatch, wrapper(name), "--json", "--", compiler, "-O3", source, "-o", str(folded)) == 0
    data = json.loads(capsys.readouterr().out)
    assert {array["size"] for array in data["arrays"]} == cells
    assert data["notes"] == []
    (before, large), (after, small) = peak(original), peak(folded)
    assert before == after
    assert (large - small) * 1024 > 0.6 * saved


C_REGIONS = {
    "para": ["4", "n"],
    "quiet": ["301"],
    "rev": ["3"],
    "same": ["2"],
    "stack": ["151"],
    "twice": ["301"],
}
FORTRAN_REGIONS = {"_QModdPbackwards": ["241"], "_QModdPsized": ["4", "n"]}


@pytest.mark.parametrize(("name", "expected"), [("odd.c", C_REGIONS), ("odd.f90", FORTRAN_REGIONS)])
def test_odd_functions_give_the_same_results(
    name: str,
    expected: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Conditional writes, zeros of calloc, reads after the loops and through an index keep their arrays."""
    compiler = compiler_of(name)
    source, original, folded = f"tests/compilers/{name}", tmp_path / "original", tmp_path / "folded"
    source = str(Path(source).resolve())
    monkeypatch.chdir(tmp_path)
    subprocess.run([compiler, "-O3", source, "-o", str(original)], check=True)
    assert run(monkeypatch, wrapper(name), "--json", "--", compiler, "-O3", source, "-o", str(folded)) == 0
    arrays = json.loads(capsys.readouterr().out)["arrays"]
    assert {one["region"]: one["moduli"] for one in arrays if one["region"] not in ("main", "_QQmain")} == (
        expected
    )
    assert peak(original)[0] == peak(folded)[0]


@pytest.mark.parametrize("language", ["c", pytest.param("f90", marks=pytest.mark.long)])
def test_make_compiles_several_files_and_links_them(language: str, tmp_path: Path) -> None:
    """With `CC="arrayfold cc -- clang"`; also all in one command, and questions to the compiler."""
    compiler = compiler_of(f"a.{language}")
    wrapped = f"{sys.executable} -m arrayfold {wrapper(f'a.{language}')} -- {compiler}"
    for file in Path("tests/compilers/several").glob(f"*.{language}"):
        shutil.copy(file, tmp_path)
    shutil.copy("tests/compilers/several/Makefile", tmp_path)
    made = shell(f'make --no-print-directory {language} COMPILER="{wrapped}" && ./several', tmp_path)
    assert made.returncode == 0, made.stderr
    assert len(re.findall(r"\[i0 mod 301\]", made.stdout)) == 1
    sources = "part.f90 main.f90" if language == "f90" else "main.c part.c"
    once = shell(f"{wrapped} -O2 {sources} -o several && ./several", tmp_path)
    plain = shell(f"{compiler} -O2 {sources} -o several && ./several", tmp_path)
    (value,) = re.findall(r"^ *\d+\.\d{6}$", plain.stdout, re.MULTILINE)
    assert made.stdout.splitlines()[-1] == once.stdout.splitlines()[-1] == value
    assert len(re.findall(r"\[i0 mod 301\]", once.stdout)) == 1
    asked = shell(f"{wrapped} --version", tmp_path)
    assert asked.stdout == shell(f"{compiler} --version", tmp_path).stdout


@NEEDS_CLANG
def test_what_cannot_be_compiled_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert CLANG is not None
    file = tmp_path / "plain.c"
    file.write_text("int main(void) { return 0; }\n")
    assert run(monkeypatch, "cc", "--", CLANG, "-O3", str(file), "-o", str(tmp_path / "plain")) == 0
    assert "compiled as it is" in capsys.readouterr().out
    assert (tmp_path / "plain").exists()
    file.write_text("int main(void) { return x; }\n")
    assert run(monkeypatch, "cc", "--", CLANG, "-O3", str(file)) == 2
    assert re.search(r"plain.c:1:25: error: use of undeclared", capsys.readouterr().err)


@NEEDS_CLANG
def test_the_page_about_compilers_does_what_it_says(tmp_path: Path) -> None:
    compiler_of("blur.f90")
    blocks = fenced_blocks(Path("docs/howto/llvm.md"))
    for block in blocks:
        save(block, tmp_path)
    by_hand = [line for block in blocks if block.language == "bash" for line in block.text.splitlines()]
    done = shell("set -e; " + "; ".join([*by_hand, "./folded"]), tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = [line for line in done.stdout.splitlines() if re.fullmatch(r"\d+\.\d+", line)]
    assert [numbers.index(number) for number in numbers] == [0, 0, 2, 2, 0]
    assert re.findall(r"^MemRef_\w+ .* (\d+) +1048576 .* proved, minimal", done.stdout, re.MULTILINE) == (
        ["2049"] * 3
    )
    assert "MemRef_call_folded" in "".join(file.read_text() for file in tmp_path.glob("main___*.jscop"))


def test_compilers_that_cannot_do_it_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "cc", "--", "gcc", "-O3", "a.c") == 2
    assert "gcc is not clang, which has Polly" in capsys.readouterr().err
    assert run(monkeypatch, "fc", "--", "gcc", "-O3", "a.f90") == 2
    assert "gcc is not flang, which has Polly" in capsys.readouterr().err
    assert run(monkeypatch, "cc", "--", "no-such-compiler", "a.c") == 2
    assert "there is no compiler 'no-such-compiler'" in capsys.readouterr().err
