"""Modules of MLIR: read, folded, written; xDSL reads back what is written, and isl's dataflow compares."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.base.errors import CheckFailed
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
