"""Times of an original and of a folded program; how fast they are is not asserted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from arrayfold.frontends.c.read import read_c
from arrayfold.run.compiler import CannotRun
from arrayfold.run.timing import time_versions
from support.command import run

Capture = pytest.CaptureFixture[str]

STAGES = """
void f(int n, const float in[restrict n], float out[restrict n])
{
  float a[n];
#pragma scop
  for (int i = 0; i < n; i++) a[i] = in[i] + 1;
  for (int i = 0; i < n; i++) out[i] = a[i] * 2;
#pragma endscop
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_times_are_told_where_all_sizes_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "stages.c"
    file.write_text(STAGES)
    assert run(monkeypatch, "fold", str(file), "--fuse", "--param", "n=100000", "--run", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    assert report["original_seconds"] > 0
    assert report["folded_seconds"] > 0
    assert run(monkeypatch, "fold", str(file), "--fuse", "--param", "n=12", "--run", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    assert "folded_seconds" not in report


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_what_the_compiler_refuses_is_not_timed() -> None:
    (program,) = read_c("f.c", STAGES.encode())
    steps: list[tuple[int, int]] = []
    with pytest.raises(CannotRun, match="refuses a version"):
        time_versions(
            program,
            {"good": STAGES.encode(), "bad": b"int"},
            {"n": 10},
            rounds=1,
            done=lambda *at: steps.append(at),
        )
    assert steps == [(1, 4)]
