"""`arrayfold check` on folds that are right sequentially and wrong in parallel: the race in instances."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import run

Capture = pytest.CaptureFixture[str]

TOML_MAPPING = "A[i, j] -> [(j - i) mod (n + 1)]"
C_MAPPING = "A[t, i] -> [(i - t) mod (N + 1)]"
JACOBI_C = Path("examples/jacobi-openmp.c")


def test_problem_file(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "check", "examples/jacobi-1d.toml", "--mapping", TOML_MAPPING) == 0
    assert "MINIMAL" in capsys.readouterr().out
    assert run(monkeypatch, "check", "examples/jacobi-1d-doall.toml", "--mapping", TOML_MAPPING) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "INVALID: At n = 3, A[0, 0] and A[1, 1] conflict and share address [0]." in output
    assert "S[0, 0] writes A[0, 0]; S[1, 1] may overwrite it by writing A[1, 1]; then S[1, 0] reads" in output


def test_openmp_file(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    sequential = tmp_path / "jacobi.c"
    sequential.write_text(JACOBI_C.read_text().replace("#pragma omp parallel for\n", ""))
    assert run(monkeypatch, "check", str(sequential), "--mapping", C_MAPPING) == 0
    capsys.readouterr()
    assert run(monkeypatch, "check", str(JACOBI_C), "--mapping", C_MAPPING) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "INVALID: At N = 2, T = 1, A[0, 0] and A[1, 1] conflict and share address [0]." in output
    assert "S_0[0] writes A[0, 0]; S_2[1, 1] may overwrite it by writing A[1, 1]; then S_2[1, 0]" in output


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    arguments = ["check", "examples/jacobi-1d-doall.toml", "--mapping", TOML_MAPPING, "--json"]
    assert run(monkeypatch, *arguments) == 1
    (checked,) = json.loads(capsys.readouterr().out)["mappings"]
    told = json.dumps(checked["counterexample"])
    assert "S[1, 1]" in told
    assert "S[1, 0]" in told


def test_the_story_can_happen(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    """A cell that is written again after it was read: the write told of is not the one after the read."""
    file = tmp_path / "again.toml"
    file.write_text(
        'domain = "{ P[]; C[]; Q[] }"\n'
        'write = "{ P[] -> A[0]; C[] -> A[0]; Q[] -> A[1] }"\n'
        'read = "{ C[] -> A[0] }"\n'
        'happens_before = "{ P[] -> C[] }"\n'
        'temporary = ["A"]\n'
    )
    assert run(monkeypatch, "check", str(file), "--mapping", "A[i] -> [0]") == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "P[] writes A[0]; Q[] may overwrite it by writing A[1]; then C[] reads A[0]" in output
