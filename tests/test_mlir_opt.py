"""Modules of MLIR through mlir-opt and mlir-runner: what is folded computes the same in less memory."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.frontends.mlir.read import read_mlir
from support.command import run
from support.pages import fenced_blocks, save, shell

OPT = shutil.which("mlir-opt-22")
RUNNER = shutil.which("mlir-runner-22")
pytestmark = pytest.mark.skipif(
    OPT is None or RUNNER is None,
    reason="mlir-opt-22 and mlir-runner-22 are not installed: make test-compilers",
)
LOWER = ["-lower-affine", "-convert-scf-to-cf", "-expand-strided-metadata", "-finalize-memref-to-llvm"]
LOWER += [f"-convert-{dialect}-to-llvm" for dialect in ("func", "arith", "index", "cf")]
LOWER += ["-reconcile-unrealized-casts"]
LIBRARIES = sorted(Path("/usr/lib/llvm-22/lib").glob("libmlir_*runner_utils.so*"))


def opt(text: str, *passes: str) -> str:
    assert OPT is not None
    done = subprocess.run([OPT, *passes], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def executed(text: str, directory: Path) -> tuple[str, int]:
    """What a module prints, and how many kilobytes it takes at most."""
    lowered = directory / "lowered.mlir"
    lowered.write_text(opt(text, *LOWER))
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stdout)"
    )
    command = [str(RUNNER), str(lowered), "-O2", "-e", "main", "-entry-point-result=void"]
    command.append(f"-shared-libs={','.join(map(str, LIBRARIES))}")
    done = subprocess.run(["python3", "-c", script, *command], capture_output=True, text=True, check=True)
    kilobytes, output = done.stdout.split(None, 1)
    return output, int(kilobytes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "memory", "saved"),
    [
        ("blur", {"2049xf64"}, 1024 * 1024 * 8),
        ("unsharp", {"3x1798xf64", "1798xf64"}, 2 * 1400 * 1800 * 8),
        ("two_products", {"2000xf64"}, 2000 * 2000 * 8),
        ("jacobi", {"7999xf64"}, 1500 * 4000 * 8),
    ],
)
def test_folded_programs_need_less_memory(
    name: str, memory: set[str], saved: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--normalize-memrefs leaves memrefs whose sizes are not all numbers, as those of the last one."""
    source, output = Path(f"tests/compilers/{name}.mlir"), tmp_path / "folded.mlir"
    before, large = executed(source.read_text(), tmp_path)
    for options in ([], ["--layout-maps"])[: 1 if name == "jacobi" else 2]:
        assert run(monkeypatch, "fold", str(source), "-o", str(output), "--force", *options) == 0
        folded = opt(output.read_text(), *(["-normalize-memrefs"] if options else []))
        function = folded[: folded.index("func.func @main")]
        assert set(re.findall(r"memref\.alloc\(\) : memref<(.*)>$", function, re.MULTILINE)) == memory
        after, small = executed(folded, tmp_path)
        assert before == after
        assert (large - small) * 1024 > 0.6 * saved


def test_what_mlir_contracts_wrongly_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """LLVM 22 puts a buffer of two cells into a memref of one; the right fold has eight."""
    before, after = Path("tests/compilers/private_buffer.mlir"), tmp_path / "after.mlir"
    fusion = "builtin.module(func.func(affine-loop-fusion{mode=producer maximal}))"
    after.write_text(opt(before.read_text(), f"--pass-pipeline={fusion}"))
    assert run(monkeypatch, "check", str(before), "--against", str(after)) == 1
    assert "loads cell [1], which is outside of a memref of size 1" in capsys.readouterr().out
    assert run(monkeypatch, "fold", str(before), "-o", str(after), "--force") == 0
    assert "memref<8xf64>" in opt(after.read_text())
    capsys.readouterr()
    assert run(monkeypatch, "check", str(before), "--against", str(after)) == 0
    assert "Cells allocated: 32 before, 8 after." in capsys.readouterr().out


CUSTOM = """
func.func @f(%in: memref<?xf32>, %out: memref<?xf32>, %n: index) {
  %t = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    %a = affine.load %in[%i] : memref<?xf32>
    affine.store %a, %t[symbol(%n) - 1 - %i] : memref<?xf32>
    affine.if affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 - 1 >= 0)>(%i)[%n] {
      %b = affine.load %t[symbol(%n) + 1 - %i] : memref<?xf32>
      affine.store %b, %out[%i] : memref<?xf32>
    }
  }
  affine.parallel (%i, %j) = (0, 0) to (%n, 4) {
    %b = affine.load %in[%i] : memref<?xf32>
  }
  return
}
"""


def test_the_generic_form_of_what_xdsl_does_not_know_is_read() -> None:
    (program,) = read_mlir("a.mlir", opt(CUSTOM, "--mlir-print-op-generic"))
    assert sorted(program.parallel.values()) == ["doall", "doall"]
    assert str(af.fold(program)["alloc"].size) == "3"


LINALG = """
#id = affine_map<(d0) -> (d0)>
func.func @chain(%in: memref<64xf32>, %out: memref<64xf32>) {
  %t = memref.alloc() : memref<4x64xf32>
  affine.for %k = 0 to 4 {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : memref<64xf32>) outs(%out : memref<64xf32>) {
    ^body(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
    affine.for %i = 0 to 64 {
      %a = affine.load %out[%i] : memref<64xf32>
      affine.store %a, %t[%k, %i] : memref<4x64xf32>
    }
    affine.for %i = 0 to 64 {
      %a = affine.load %t[%k, %i] : memref<4x64xf32>
      affine.store %a, %out[63 - %i] : memref<64xf32>
    }
  }
  return
}
"""


def test_linalg_is_read_as_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = tmp_path / "chain.mlir", tmp_path / "folded.mlir"
    file.write_text(opt(LINALG, "--convert-linalg-to-affine-loops"))
    assert run(monkeypatch, "fold", str(file), "-o", str(output)) == 0
    assert "memref<64xf32>" in re.findall(r"memref\.alloc.*", opt(output.read_text()))[0]
    assert run(monkeypatch, "check", str(file), "--against", str(output)) == 0


def test_the_page_about_mlir_does_what_it_says(tmp_path: Path) -> None:
    blocks = fenced_blocks(Path("docs/howto/mlir.md"))
    for block in blocks:
        save(block, tmp_path)
    commands = [line for block in blocks if block.language == "bash" for line in block.text.splitlines()]
    assert len(commands) <= 10
    done = shell("set -e; " + "; ".join(commands), tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = re.findall(r"^\d+\.?\d*$", done.stdout, re.MULTILINE)
    assert len(numbers) == 2
    assert len(set(numbers)) == 1
