"""Orders that are measured: what is measured, kept and said. How fast they are is not asserted."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from arrayfold.base.errors import InputError
from arrayfold.cli.fold import without_tuning
from arrayfold.fold.arrays import fold
from arrayfold.fold.options import FoldOptions
from arrayfold.fold.result import FoldResult
from arrayfold.fold.tune import _best, _Version
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import ChosenOrder, Program
from arrayfold.run.compiler import CannotRun
from arrayfold.run.timing import Timing, time_versions
from support.command import run

Capture = pytest.CaptureFixture[str]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

STAGES = """
void f(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
  float a[h][w];
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) a[y][x] = in[y][x] + in[y][x];
  for (int y = 1; y < h - 1; y++) for (int x = 0; x < w; x++) out[y][x] = a[y - 1][x] + a[y + 1][x];
#pragma endscop
}
"""
SIZES = ("--param", "h=40", "--param", "w=30")


def stages() -> Program:
    (program,) = read_c("f.c", STAGES.encode())
    return program


def chosen_of(result: FoldResult) -> ChosenOrder:
    assert isinstance(result.problem, Program)
    assert result.problem.chosen is not None
    return result.problem.chosen


@needs_compiler
def test_the_printed_command_gives_the_same_code_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file, tuned, again = (tmp_path / name for name in ("stages.c", "tuned.c", "again.c"))
    file.write_text(STAGES)
    assert run(monkeypatch, "fold", str(file), "--tune", *SIZES, "-o", str(tuned)) == 0
    printed, said = capsys.readouterr()
    assert "versions of " in said
    assert "at w = 30, h = 40, which takes about" in said.replace("at h = 40, w = 30", "at w = 30, h = 40")
    assert "the original" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("the same order without measuring")]
    program, *arguments = shlex.split(line.partition(": ")[2])
    assert program == "arrayfold"
    assert "--tune" not in arguments
    arguments[arguments.index(str(tuned))] = str(again)
    assert run(monkeypatch, *arguments) == 0
    if "cut short" in printed + capsys.readouterr().out:
        pytest.skip("the machine was too busy for whole answers")
    assert again.read_text() == tuned.read_text()


@needs_compiler
def test_all_versions_stand_in_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "stages.c"
    file.write_text(STAGES)
    assert run(monkeypatch, "fold", str(file), "--order", "auto", "--tune", *SIZES, "--json") == 0
    (order,) = json.loads(capsys.readouterr().out)["orders"]
    names = [one["order"] for one in order["measured"]]
    assert {"the original", "as written", "stages fused by rows"} <= set(names)
    assert [one["order"] for one in order["measured"] if one["original"]] == ["the original"]
    times = [one["seconds"] for one in order["measured"]]
    assert times == sorted(times)
    least = min(one["bytes"] for one in order["measured"] if one["seconds"] <= 1.02 * times[0])
    assert least <= 40 * 30 * 4


@needs_compiler
def test_from_python() -> None:
    result = fold(stages(), params={"h": 40, "w": 30}, order="auto", tune=True)
    chosen = chosen_of(result)
    assert len(chosen.measured) >= 3
    fastest = min(one.seconds for one in chosen.measured if one.seconds is not None)
    (mine,) = [one for one in chosen.measured if one.options == chosen.options]
    assert mine.seconds is not None
    assert mine.seconds <= 1.02 * fastest


@needs_compiler
@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["examples/blur.c"], "none is given for N", "--param N=2000"),
        (["examples/blur.toml", "--param", "N=9"], "needs a C file", "cost model"),
        (["examples/blur.c", "--fuse"], "chooses the order itself", "Leave out"),
        (["examples/blur.c", "--order", "tilings"], "--order tilings asks for none", "Leave one"),
        (["examples"], "is a directory", "--tune needs one file"),
    ],
)
def test_what_cannot_be_measured_is_said(
    arguments: list[str], message: str, hint: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, "fold", *arguments, "--tune") == 2
    said = capsys.readouterr().err
    assert message in said
    assert hint in said


def test_a_region_in_main_and_a_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    body = STAGES[STAGES.index("{") :].replace(
        "float a[h][w];", "int h = 9, w = 9; float a[h][w], in[9][9], out[9][9];"
    )
    (program,) = read_c("f.c", f"int main(void)\n{body}".encode())
    sizes = dict.fromkeys(program.parameters, 9)
    with pytest.raises(InputError, match="stands in main"):
        fold(program, params=sizes, tune=True)
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError, match="needs a C compiler"):
        fold(stages(), params={"h": 9, "w": 9}, tune=True)


def best_of(seconds: dict[str, float]) -> str:
    """What is kept if versions take so long; later ones have fewer bytes, the original the most."""
    result = fold(stages(), params={"h": 9, "w": 9})
    versions = [
        _Version(name, ("--some", name), result, b"", 1000 - 10 * number)
        for number, name in enumerate(seconds)
    ]
    original, *others = versions
    return chosen_of(_best(original, others, Timing(seconds), FoldOptions({"h": 9, "w": 9}), "")).options[-1]


def test_the_fastest_is_kept_and_of_close_ones_the_smallest() -> None:
    assert best_of({"the original": 1.0, "as written": 0.9, "a": 0.5, "b": 0.7}) == "a"
    assert best_of({"the original": 1.0, "as written": 0.9, "a": 0.5, "b": 0.505}) == "b"
    assert best_of({"the original": 1.0, "as written": 1.0, "a": 1.1}) == "as written"
    assert best_of({"the original": 1.0, "as written": 1.0, "a": 1.01}) == "as written"
    assert best_of({"the original": 1.0, "as written": 1.2, "a": 1.1}) == "the original"


@needs_compiler
def test_versions_that_fail_are_left_out_where_they_may() -> None:
    versions = {"good": STAGES.encode(), "bad": b"int"}
    timing = time_versions(stages(), versions, {"h": 9, "w": 9}, rounds=1, least=0.0, may_fail=["bad"])
    assert set(timing.seconds) == {"good"}
    assert "refuses" in timing.failures["bad"]
    with pytest.raises(CannotRun, match="refuses"):
        time_versions(stages(), versions, {"h": 9, "w": 9}, rounds=1, least=0.0)


def test_the_command_without_measuring() -> None:
    given = ["fold", "a.c", "--tune", "--parallel", "--order=auto", "--", "-DN=3"]
    assert without_tuning(given, ["--schedule", "S[i] -> [i]", "--parallel"]) == [
        *("arrayfold", "fold", "a.c", "--schedule", "S[i] -> [i]", "--parallel", "--", "-DN=3")
    ]
