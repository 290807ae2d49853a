"""Files of Polly: read, folded, judged, written; and clang with Polly, compiled twice."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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
from support.command import run
from support.pages import fenced_blocks, save, shell

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


def peak(program: Path) -> tuple[str, int]:
    """What a program prints, and how many kilobytes it takes at most."""
    # A process has at least what the Python had that started it, some 15 MB.
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stdout)"
    )
    done = subprocess.run(["python3", "-c", script, str(program)], capture_output=True, text=True, check=True)
    kilobytes, output = done.stdout.split(None, 1)
    return output, int(kilobytes)


@NEEDS_CLANG
@pytest.mark.parametrize(
    ("name", "cells", "saved"),
    [
        ("blur.c", {"2049"}, 1024 * 1024 * 8),
        ("unsharp.c", {"5400", "1800"}, 2 * 1400 * 1800 * 4),
        ("two_products.c", {"2000"}, 2000 * 2000 * 8),
        ("jacobi.cpp", {"8000"}, 1500 * 4000 * 8),
    ],
)
def test_clang_compiles_programs_that_need_less_memory(
    name: str,
    cells: set[str],
    saved: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert CLANG is not None
    compiler = CLANG.replace("clang", "clang++") if name.endswith(".cpp") else CLANG
    source = str(Path("tests/compilers") / name)
    original, folded = tmp_path / "original", tmp_path / "folded"
    subprocess.run([compiler, "-O3", source, "-o", str(original)], check=True)
    assert run(monkeypatch, "cc", "--json", "--", compiler, "-O3", source, "-o", str(folded)) == 0
    data = json.loads(capsys.readouterr().out)
    assert {array["size"] for array in data["arrays"]} == cells
    (before, large), (after, small) = peak(original), peak(folded)
    assert before == after
    assert (large - small) * 1024 > 0.6 * saved


@NEEDS_CLANG
def test_odd_functions_give_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Conditional writes, zeros of calloc, reads after the loops and through an index keep their arrays."""
    assert CLANG is not None
    source, original, folded = "tests/compilers/odd.c", tmp_path / "original", tmp_path / "folded"
    subprocess.run([CLANG, "-O3", source, "-o", str(original)], check=True)
    assert run(monkeypatch, "cc", "--json", "--", CLANG, "-O3", source, "-o", str(folded)) == 0
    regions = {array["region"]: array["moduli"] for array in json.loads(capsys.readouterr().out)["arrays"]}
    assert regions == {
        "para": ["4", "n"],
        "rev": ["3"],
        "same": ["2"],
        "stack": ["151"],
        "twice": ["301"],
    }
    assert peak(original)[0] == peak(folded)[0]


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
def test_the_page_about_clang_does_what_it_says(tmp_path: Path) -> None:
    blocks = fenced_blocks(Path("docs/howto/llvm.md"))
    for block in blocks:
        save(block, tmp_path)
    by_hand = [line for block in blocks if block.language == "bash" for line in block.text.splitlines()]
    done = shell("set -e; " + "; ".join([*by_hand, "./folded"]), tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = [line for line in done.stdout.splitlines() if re.fullmatch(r"\d+\.\d+", line)]
    assert len(numbers) == 3
    assert len(set(numbers)) == 1
    assert "MemRef_call_folded" in "".join(file.read_text() for file in tmp_path.glob("main___*.jscop"))


def test_compilers_that_cannot_do_it_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "cc", "--", "gcc", "-O3", "a.c") == 2
    assert "gcc is not clang, which has Polly" in capsys.readouterr().err
    assert run(monkeypatch, "cc", "--", "no-such-compiler", "a.c") == 2
    assert "there is no compiler 'no-such-compiler'" in capsys.readouterr().err
