"""Modules of MLIR: read, folded, written; xDSL reads back what is written, and isl's dataflow compares."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.base.budget import Budget
from arrayfold.base.errors import CheckFailed, InputError
from arrayfold.fold.against import Compared, compare_modules
from arrayfold.fold.mlir import folded_mlir
from arrayfold.frontends.mlir.read import read_mlir
from support.command import run

BLUR = "examples/blur.mlir"
HEAD = (
    "func.func @f(%in: memref<16xf32>, %out: memref<16xf32>, %c: i1, %n: index) {\n  %t = memref.alloc() : "
)
TAIL = "\n  return\n}\n"


def body(text: str, kind: str = "memref<16xf32>") -> str:
    """A function with a local memref %t, in which T stands for its type and M for memref<16xf32>."""
    return HEAD + kind + "\n" + text.replace(": T", f": {kind}").replace(": M", ": memref<16xf32>") + TAIL


def fold_text(text: str, *, as_layout: bool = False) -> tuple[af.FoldResult, str]:
    (program,) = read_mlir("a.mlir", text)
    result = af.fold(program)
    return result, folded_mlir("a.mlir", text, [result], as_layout=as_layout)


COPY = """
  affine.for %i = 0 to 16 {
    %a = affine.load %in[%i] : M
    affine.store %a, %t[%i] : T
    %b = affine.load %t[%i] : T
    affine.store %b, %out[%i] : M
  }"""


def test_a_blur_is_folded_and_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    output = tmp_path / "folded.mlir"
    assert run(monkeypatch, "fold", BLUR, "-o", str(output)) == 0
    assert "rows[y, x] -> [(1024*y + x) mod 2049]" in capsys.readouterr().out
    assert "%rows[(%y * 1024 + %x) mod 2049] : memref<2049xf32>" in output.read_text()
    (again,) = read_mlir("again.mlir", output.read_text())
    assert str(again.size_of("rows")) == "2049"
    assert run(monkeypatch, "fold", BLUR, "-o", str(output), "--force", "--layout-maps") == 0
    layout = "memref<1024x1024xf32, affine_map<(d0, d1) -> ((((d0 * 1024) + d1) mod 2049))>>"
    assert f"%rows = memref.alloc() : {layout}" in output.read_text()
    assert "%rows[%y, %x] : " + layout in output.read_text()


def test_what_is_written_is_checked_by_dataflow(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(BLUR).read_text()
    result = af.fold(af.read(BLUR))
    good = folded_mlir(BLUR, text, [result])
    monkeypatch.setattr(
        import_module("arrayfold.fold.mlir"), "write_mlir", lambda *_, **__: good.replace("2049", "2048")
    )
    with pytest.raises(CheckFailed, match="S1 reads rows differently"):
        folded_mlir(BLUR, text, [result])


def test_where_the_dataflow_of_isl_errs_both_are_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """isl misses some writes before reads whose addresses are remainders."""
    module = import_module("arrayfold.fold.mlir")
    monkeypatch.setattr(module, "differing_accesses", lambda *_, **__: ["S1 reads t"])
    assert "memref<1xf32>" in fold_text(body(COPY))[1]
    monkeypatch.setattr(module, "write_mlir", lambda *_, **__: body(COPY).replace("%b, %out", "%a, %in"))
    with pytest.raises(CheckFailed, match="S1 reads t differently"):
        fold_text(body(COPY))


def test_sizes_that_are_parameters_are_multiplied(tmp_path: Path) -> None:
    """xDSL has no maps for N*y, so that index arithmetic stands before the loads and stores."""
    text = """
func.func @f(%in: memref<?x?xf32>, %out: memref<?x?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %in, %zero : memref<?x?xf32>
  %m = memref.dim %in, %one : memref<?x?xf32>
  %t = memref.alloc(%n, %m) : memref<?x?xf32>
  %k = memref.dim %t, %one : memref<?x?xf32>
  affine.for %y = 0 to %n {
    affine.for %x = 0 to %k {
      %a = affine.load %in[%y, %x] : memref<?x?xf32>
      affine.store %a, %t[%y, %x] : memref<?x?xf32>
      "affine.if"(%y) <{condition = affine_set<(d0) : (d0 - 2 >= 0)>}> ({
        %b = affine.load %t[%y - 2, %x] : memref<?x?xf32>
        affine.store %b, %out[%y, %x] : memref<?x?xf32>
        "affine.yield"() : () -> ()
      }, {}) : (index) -> ()
    }
  }
  memref.dealloc %t : memref<?x?xf32>
  return
}
"""
    result, folded = fold_text(text)
    assert str(result["t"].size) == "2*in_1 + 1"
    assert "arith.remsi" in folded
    assert "memref.store %a, %t[" in folded
    with pytest.raises(InputError, match="Leave out --layout-maps"):
        fold_text(text, as_layout=True)
    found = compare(tmp_path, text, folded)
    assert found.verdict == "equal"
    assert found.sizes[-1]["in_1"] == 6
    assert found.cells == (36, 13)
    assert compare(tmp_path, text, folded.replace("* 2) + 1", "* 2) + 0")).verdict == "different"


def test_in_a_parallel_loop_each_iteration_keeps_its_cell() -> None:
    text = """
  "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<2xi32>, reductions = [], steps = [1, 2],
      lowerBoundsMap = affine_map<() -> (0, 0)>, upperBoundsGroups = dense<1> : tensor<2xi32>,
      upperBoundsMap = affine_map<() -> (4, 16)>}> ({
  ^body(%i: index, %j: index):
    affine.for %k = 0 to 16 {
      %a = affine.load %in[%j] : M
      affine.store %a, %t[%i, %j, %k] : T
      %b = affine.load %t[%i, %j, %k] : T
    }
    "affine.yield"() : () -> ()
  }) : () -> ()"""
    parallel = body(text, "memref<4x16x16xf32>")
    result, folded = fold_text(parallel)
    (program,) = read_mlir("a.mlir", parallel)
    assert program.parallel == {0: "doall", 1: "doall"}
    assert str(result["t"].size) == "32"
    assert "memref<4x8xf32>" in folded or "memref<32xf32>" in folded


def test_a_store_under_a_condition_on_data_need_not_happen() -> None:
    text = """
  affine.for %i = 0 to 16 {
    %a = affine.load %in[%i] : M
    affine.store %a, %t[%i] : T
    scf.if %c {
      affine.store %a, %t[%i] : T
    }
    %b = affine.load %t[%i] : T
    affine.store %b, %out[%i] : M
  }"""
    (program,) = read_mlir("a.mlir", body(text))
    stores = [access.is_must for one in program.statements for access in one.accesses if access.is_write]
    assert stores == [True, False, True]
    assert str(fold_text(body(text))[0]["t"].size) == "1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('  "test.use"(%t) : (T) -> ()', "used by test.use in line 10"),
        ('  %v = "memref.cast"(%t) : (T) -> memref<?xf32>', "used by memref.cast in line 10"),
        ("  %i = arith.index_cast %c : i1 to index\n  %a = memref.load %t[%i] : T", ""),
        (
            "affine.for %i = 0 to 4 {\n%p = arith.muli %i, %i : index\n%a = memref.load %t[%p] : T\n}",
            "a subscript in line 12 is not affine",
        ),
    ],
)
def test_a_memref_that_is_used_otherwise_stays(text: str, reason: str) -> None:
    (program,) = read_mlir("a.mlir", body(COPY + "\n" + text.replace(": (T)", ": (memref<16xf32>)")))
    assert ("t" in program.kept) == bool(reason)
    if reason:
        assert program.kept["t"].reason == reason
        assert program.kept["t"].is_final


def test_memory_that_nothing_was_stored_to_has_no_value(tmp_path: Path) -> None:
    """A contraction of mlir-opt's affine-loop-fusion that is wrong, and the right one."""
    wrong = Path("tests/compilers/private_buffer_fused.mlir").read_text()
    text = Path("tests/compilers/private_buffer.mlir").read_text()
    result, folded = fold_text(text)
    assert str(result["comm"].size) == "8"
    found = compare(tmp_path, text, folded)
    assert (found.verdict, found.cells) == ("equal", (32, 8))
    assert found.is_complete
    found = compare(tmp_path, text, wrong)
    assert found.verdict == "different"
    assert found.reason.endswith(
        "after.mlir:12: affine.load loads cell [1], which is outside of a memref of size 1, at arg2 = 1"
    )
    # Loads of cells without a value stay inside, too.
    result, folded = fold_text(text.replace("%j = 0 to 16", "%j = 0 to 32"))
    assert "[%j floordiv 2 mod 8]" in folded
    assert compare(tmp_path, text.replace("%j = 0 to 16", "%j = 0 to 32"), folded).verdict == "equal"


def compare(tmp_path: Path, before: str, after: str) -> Compared:
    names = [str(tmp_path / name) for name in ("before.mlir", "after.mlir")]
    (found,) = compare_modules((names[0], before), (names[1], after), {}, Budget(None))
    return found


def test_modules_are_compared_by_what_they_compute(tmp_path: Path) -> None:
    text = body(COPY)
    assert compare(tmp_path, text, text.replace("%b, %out[%i]", "%a, %out[%i]")).verdict == "equal"
    doubled = "%d = arith.addf %b, %b : f32\n    affine.store %d, %out"
    found = compare(tmp_path, text, text.replace("affine.store %b, %out", doubled))
    assert found.reason.startswith("out[0] has another value afterwards, with n = 1 (")
    unset = compare(tmp_path, text, text.replace("affine.store %a, %t[%i] : memref<16xf32>", ""))
    assert unset.reason.endswith(
        "affine.load loads cell [0] of a memref of size 16, where nothing was stored at i = 0"
    )
    calls = text.replace("  return", '  "test.event"(%c) : (i1) -> ()\n  return')
    assert compare(tmp_path, calls, text).reason == (
        "f calls other functions, or with other values, with n = 1"
    )
    other = text.replace("%c: i1, ", "")
    with pytest.raises(InputError, match="f takes other arguments than in"):
        compare(tmp_path, text, other)
    with pytest.raises(InputError, match="has no function of"):
        compare(tmp_path, text, text.replace("@f", "@g"))


def test_parallel_iterations_that_want_one_cell_are_found(tmp_path: Path) -> None:
    """Here the order of the text, forwards and backwards, gives the right results."""
    head = '"scf.parallel"(%z, %n, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>'
    text = body(f"""  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  {head} ({{
  ^body(%i: index):
    %a = memref.load %in[%i] : M
    memref.store %a, %t[%i] : T
    %b = memref.load %t[%i] : T
    memref.store %b, %out[%i] : M
    scf.reduce
  }}) : (index, index, index) -> ()""")
    assert compare(tmp_path, text, text).verdict == "equal"
    found = compare(tmp_path, text, text.replace("%t[%i]", "%t[%z]"))
    assert "and line 8 use cell [0] of a memref of size 16 in parallel iterations, at i = 1" in found.reason


def test_the_command_compares_two_modules(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (f"tests/compilers/private_buffer{end}.mlir" for end in ("", "_fused"))
    assert run(monkeypatch, "check", before, "--against", after) == 1
    assert "domain: DIFFERENT: tests/compilers/private_buffer_fused.mlir:12" in capsys.readouterr().out
    assert run(monkeypatch, "check", before, "--against", before, "--json") == 0
    assert json.loads(capsys.readouterr().out)["functions"][0]["verdict"] == "equal"
    assert run(monkeypatch, "check", before) == 2
    assert "check needs a mapping: --mapping MAP" in capsys.readouterr().err
    assert run(monkeypatch, "check", before, "--against", "examples/blur.toml") == 2
    assert "--against compares modules of MLIR" in capsys.readouterr().err


def test_without_xdsl_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xdsl.ir", None)
    assert run(monkeypatch, "fold", BLUR) == 2
    message = capsys.readouterr().err
    assert "this needs xdsl, which is not installed" in message
    assert "pip install 'arrayfold[mlir]'" in message


def test_other_files_need_no_xdsl() -> None:
    code = "import sys; from arrayfold.cli import main, fold, output, analysis; import arrayfold as af;"
    code += "af.read('examples/blur.toml'); print([name for name in sys.modules if 'xdsl' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
