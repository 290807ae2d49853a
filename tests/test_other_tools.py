"""Folds in the words of other tools: what they say is read back and proved."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.base.choices import Tool
from arrayfold.report.other_tools import in_words_of
from support.command import run

BLUR = "examples/blur-interleaved.toml"
COPY = """
context  = "[N] -> {{ : N >= 3 }}"
domain   = "[N] -> {{ S[y, x] : 0 <= y, x < N; T[y, x] : 0 <= y, x < N }}"
write    = "[N] -> {{ S[y, x] -> A[y, x]; T[y, x] -> out[y, x] }}"
read     = "[N] -> {{ {read} }}"
schedule = "[N] -> {{ S[y, x] -> [y, 0, x]; T[y, x] -> [y, 1, x] }}"
live_out = "[N] -> {{ out[y, x] : 0 <= y, x < N }}"
"""


def words(tool: Tool, problem: af.Program | str, method: str = "successive-modulo", **params: int) -> str:
    program = af.read(problem) if isinstance(problem, str) else problem
    return "\n".join(in_words_of(tool, af.fold(program, method=method, params=params).arrays[0]))


def words_of_mapping(tool: Tool, text: str, **params: int) -> str:
    program = af.read(BLUR)
    (mapping,) = af.read_mappings(text, program)
    assert isinstance(mapping, af.ModularMapping)
    (array,) = af.fold(program, params=params).arrays
    return "\n".join(in_words_of(tool, replace(array, mapping=mapping)))


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("halide", "blurx.fold_storage(y, 3);"),
        ("exo", "p = resize_dim(p, 'blurx', 0, 3, 0, fold=True)"),
        ("devito", "blurx = TimeFunction(name='blurx', grid=grid, save=Buffer(3))"),
    ],
)
def test_what_is_said_is_proved_when_it_is_read(tool: Tool, text: str) -> None:
    assert words(tool, BLUR) == text
    program = af.read(BLUR)
    (mapping,) = af.read_mappings(text.removesuffix(";"), program)
    assert isinstance(af.verify(af.Analysis.of(program).conflicts("blurx"), mapping), af.Proof)
    smaller = text.replace("3", "2")
    (mapping,) = af.read_mappings(smaller.removesuffix(";"), program)
    assert isinstance(af.verify(af.Analysis.of(program).conflicts("blurx"), mapping), af.Counterexample)


@pytest.mark.parametrize("tool", ["halide", "exo", "devito"])
def test_what_mixes_dimensions_cannot_be_said(tool: Tool) -> None:
    said = words(tool, BLUR, "auto")
    assert f"{tool} cannot say this: row 1 of blurx[y, x] -> [(N*y + x) mod (2*N + 1)] mixes y and x" in said


def test_other_reasons_why_a_fold_cannot_be_said() -> None:
    strided = words("halide", "examples/every-tenth.toml", "auto")
    assert "is more than a dimension modulo a number of steps" in strided
    column = "examples/forward-substitution.toml"
    assert "nothing is folded" in words("halide", column)
    table = words("halide", BLUR, "static", N=5)
    assert "halide has no words for a table of addresses" in table


def test_words_want_what_the_tools_take() -> None:
    """Exo takes numbers, Devito a dimension of time before those of space, and no tool has forall loops."""
    half = "blurx[y, x] -> [y mod (N - 1), x mod N]"
    assert "y keeps N - 1 steps, which is not a number" in words_of_mapping("exo", half)
    assert words_of_mapping("exo", half, N=9) == "p = resize_dim(p, 'blurx', 0, 8, 0, fold=True)"
    line = "examples/horner.c"
    assert "a TimeFunction has a dimension of time and at least one of space" in words("devito", line)
    unfolded = "blurx = TimeFunction(name='blurx', grid=grid, save=N)"
    assert words("devito", "examples/blur.toml") == unfolded
    assert words("devito", "examples/blur.toml", N=9) == unfolded.replace("N", "9")
    for tool in ("halide", "exo", "devito", "tvm", "hls", "mlir"):
        said = words(tool, "examples/jacobi-1d-forall.toml")
        assert f"{tool} cannot say this: a forall loop reads everything before it writes" in said


def test_tvm_gets_a_shape_and_subscripts() -> None:
    assert words("tvm", BLUR, "auto").splitlines() == [
        "blurx = T.alloc_buffer((2*N + 1,))",
        "blurx[y, x] -> blurx[(N*y + x) % (2*N + 1)]",
    ]
    assert "T.alloc_buffer((3, 64))" in words("tvm", BLUR, N=64)


@pytest.mark.parametrize(("method", "params"), [("auto", {}), ("auto", {"N": 64}), ("successive-modulo", {})])
def test_mlir_reads_the_layout(method: str, params: dict[str, int], tmp_path: Path) -> None:
    said = words("mlir", BLUR, method, **params)
    found = re.search(r"affine_map<.*>", said)
    assert found
    if params:
        assert found[0] == "affine_map<(d0, d1) -> ((d1 + d0 * 64) mod 129)>"
    tool = next(filter(None, map(shutil.which, ("mlir-opt", "mlir-opt-22", "mlir-opt-19"))), None)
    if tool is None:
        pytest.skip("mlir-opt is not installed")
    file = tmp_path / "layout.mlir"
    file.write_text(f"#layout = {found[0]}\nfunc.func private @f(memref<64x64xf64, #layout>)\n")
    done = subprocess.run([tool, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_values_in_order_are_a_fifo_of_the_proved_depth() -> None:
    in_order = af.read_problem("copy", COPY.format(read="T[y, x] -> A[y, x]"))
    assert words("hls", in_order).splitlines() == [
        "hls::stream<element_t> A;",
        "#pragma HLS stream variable=A depth=N",
    ]


@pytest.mark.parametrize(
    "read",
    [
        "T[y, x] -> A[y, N - 1 - x]",  # in the opposite order
        "T[y, x] -> A[y, x]; T[y, x] -> A[y, 0]",  # more than once
        "T[y, x] -> A[y, x] : x > 0",  # not every value
        "T[y, x] -> A[y', x] : 0 <= y' <= y and y' >= y - 1",  # twice
    ],
)
def test_other_values_are_no_fifo(read: str) -> None:
    said = words("hls", af.read_problem("copy", COPY.format(read=read)))
    assert "stream" not in said
    assert said.startswith("element_t A[")


def test_sizes_are_expressions_of_the_tool() -> None:
    whole = "blurx[y, x] -> [(N*y + x) mod (N^2 - 1)]"
    assert words_of_mapping("hls", whole).startswith("element_t blurx[N*N - 1];")
    assert words_of_mapping("tvm", whole).startswith("blurx = T.alloc_buffer((N*N - 1,))")


def test_rows_in_banks_are_said_with_what_they_serve() -> None:
    banks = words("hls", BLUR).splitlines()
    assert banks[0].startswith("element_t blurx[3][N];")
    assert banks[1:] == [
        "#pragma HLS array_partition variable=blurx dim=1 complete",
        "// the reads of an instance are in different banks",
    ]
    ring = words("hls", BLUR, "auto").splitlines()
    assert ring[1].startswith("// T reads several cells of one bank")


def test_the_command_says_it_beside_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["fold", BLUR, "--method", "successive-modulo", "--as", "halide"]
    assert run(monkeypatch, *options) == 0
    assert "halide: blurx.fold_storage(y, 3);" in capsys.readouterr().out
    assert run(monkeypatch, *options, "--json") == 0
    assert json.loads(capsys.readouterr().out)["arrays"][0]["as"] == ["blurx.fold_storage(y, 3);"]
    assert run(monkeypatch, "fold", BLUR, "--as", "fortran") == 2
