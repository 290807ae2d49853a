"""The command line on every shipped example: exit status, JSON to the letter, and what people read."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arrayfold.exact.formula_parse import read_formula
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods import METHODS
from arrayfold.program.model import Program
from support.command import run
from support.equal import are_equal

EXAMPLES = sorted(Path("examples").glob("*.toml"))
Capture = pytest.CaptureFixture[str]

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def test_a_dozen_examples() -> None:
    assert len(EXAMPLES) >= 12


def sizes(path: Path) -> list[str]:
    return [f"--param={name}={8 + k}" for k, name in enumerate(read(path).parameters)]


def run_json(monkeypatch: pytest.MonkeyPatch, capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(monkeypatch, *arguments, "--json") == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    return json.loads(output)


@every_example
def test_fold_json(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    data = run_json(monkeypatch, capsys, "fold", str(path), *sizes(path))
    assert set(data) == {"arrays", "version", "file", "regions", "kept", "assumptions"}
    assert data["arrays"]
    for array in data["arrays"]:
        optional = {"at", "lower_bound_when", "cells_when", "optimal_when", "divisors", "smallest_lattice"}
        assert set(array) - optional == {
            "name",
            "region",
            "method",
            "mapping",
            "notes",
            "matrix",
            "offset",
            "moduli",
            "size",
            "original_size",
            "lower_bound",
            "proved",
            "optimal",
            "seconds",
            "cases",
        }
        assert array["proved"] is True
        assert len(array["matrix"]) == len(array["offset"]) == len(array["moduli"])
        params = {name: value for name, value in array["at"].items() if name in read(path).parameters}
        product = 1
        for modulus in array["moduli"]:
            product *= read_formula(modulus).at(params)
        assert product == read_formula(array["size"]).at(params) == array["at"]["size"]
        assert read_formula(array["original_size"]).at(params) == array["at"]["original_size"]
        assert array["at"]["size"] <= array["at"]["original_size"]
        if array["at"]["lower_bound"] is not None:
            assert array["at"]["lower_bound"] <= array["at"]["size"]
        if array["lower_bound"] == array["size"]:
            assert array["optimal"]
        elif array["optimal"]:
            assert array["at"]["lower_bound"] == array["at"]["size"]


@every_example
def test_fold_table(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", str(path)) == 0
    output, errors = capsys.readouterr()
    assert "proved" in output
    assert errors == ""


@every_example
def test_compare(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    data = run_json(monkeypatch, capsys, "compare", str(path))
    for array in data["arrays"]:
        assert [entry["method"] for entry in array["methods"]] == [*METHODS, "auto"]
        proved = {entry["method"] for entry in array["methods"] if entry["proved"]}
        assert {"identity", "successive-modulo", "basis", "lattice", "combined", "auto"} <= proved


@pytest.mark.parametrize("name", ["blur-interleaved", "diamond-tile", "jacobi-1d", "reverse-l"])
def test_compare_prints_a_table(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    path = Path(f"examples/{name}.toml")
    assert run(monkeypatch, "compare", str(path), *sizes(path)) == 0
    output = capsys.readouterr().out
    assert all(method in output for method in [*METHODS, "auto"])


@every_example
def test_conflicts(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    data = run_json(monkeypatch, capsys, "conflicts", str(path))
    assert data["arrays"]
    assert all("->" in array["pairs"] for array in data["arrays"] if array["pairs"])
    assert run(monkeypatch, "conflicts", str(path)) == 0
    assert "differences" in capsys.readouterr().out


@every_example
def test_model_reads_back_as_an_equal_problem(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, "model", str(path)) == 0
    again = read_problem("model.toml", capsys.readouterr().out)
    first = read(path)
    assert type(again) is type(first)
    assert are_equal(first, again)
    assert run_json(monkeypatch, capsys, "model", str(path))["context"]


@every_example
def test_what_fold_prints_can_be_checked(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    assert run(monkeypatch, "fold", str(path), "--json") == 0
    file = tmp_path / "folded.json"
    file.write_text(capsys.readouterr().out)
    data = run_json(monkeypatch, capsys, "check", str(path), "--mapping", str(file))
    assert data["mappings"]
    assert all(mapping["valid"] for mapping in data["mappings"])


BLUR = "examples/blur-interleaved.toml"


@pytest.mark.parametrize(
    ("mapping", "verdict", "status"),
    [
        ("blurx[y, x] -> [(2*x - y) mod (2*N + 1)]", "minimal", 0),
        ("blurx[y, x] -> [(N*y + x) mod (2*N + 1)]", "minimal", 0),
        ("blurx[y % 3][x]", "loose", 0),
        ("[N] -> { blurx[y, x] -> [y mod 4, x] }", "loose", 0),
        ("blurx[y][x]", "loose", 0),
        ("blurx[y % 2][x]", "invalid", 1),
        ("blurx[y, x] -> [(2*x - y) mod (2*N)]", "invalid", 1),
        ("blurx[y, x] -> [0]", "invalid", 1),
        ("blurx[y, x] -> [y mod 3, x] : x >= 0", "valid", 0),
        ("blurx[y, x] -> [y mod 2, x] : x >= 0", "invalid", 1),
        ("blurx[y, x] -> [(2*N*y + 2*x) mod (4*N*N)]", "loose", 0),
        ("blurx[y, x] -> [(N*y + x) mod (N*N*N - 12*N*N + 48*N)]", "loose", 0),
        ("blurx[y, x] -> [(N*y + x) mod (N*N*N - 80*N*N + 1700*N)]", "undecided", 1),
    ],
)
def test_check(
    mapping: str, verdict: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, "check", BLUR, "--mapping", mapping, "--json") == status
    (data,) = json.loads(capsys.readouterr().out)["mappings"]
    assert data["verdict"] == verdict
    assert ("counterexample" in data) == (verdict == "invalid")
    assert ("proof" in data) == (status == 0)
    assert run(monkeypatch, "check", BLUR, "--mapping", mapping) == status
    assert verdict.upper() in capsys.readouterr().out


def test_a_counterexample_tells_the_story(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "check", BLUR, "--mapping", "blurx[y % 2][x]") == 1
    output = capsys.readouterr().out
    assert "At N = 3, blurx[0, 0] and blurx[2, 0] conflict and share address [0, 0]" in output
    assert "S[0, 0] writes blurx[0, 0]; S[2, 0] overwrites it by writing blurx[2, 0]" in output
    assert "then T[2, 0] reads blurx[0, 0]" in output


def test_live_out_and_temporary_options(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    options = ["--live-out", "blurx[0, 0]"]
    assert run(monkeypatch, "fold", BLUR, "--json", *options) == 0
    assert json.loads(capsys.readouterr().out)["arrays"] == []
    data = run_json(monkeypatch, capsys, "fold", BLUR, *options, "--temporary", "blurx")
    (folded,) = data["arrays"]
    assert folded["lower_bound"] == "2*N + 2"
    assert folded["proved"]


def test_power_of_two(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    data = run_json(monkeypatch, capsys, "fold", BLUR, "--power-of-two", "--method", "successive-modulo")
    assert data["arrays"][0]["moduli"] == ["4", "N"]


def test_a_case_that_explodes_ends_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    reads = "; ".join(
        f"S[i, j, k] -> A[i - {a}, j - {b}, {a} + k] : k > {b}" for a in range(4) for b in range(4)
    )
    file = tmp_path / "large.toml"
    file.write_text(
        'domain = "[N, M] -> { S[i, j, k] : 0 <= i < N and 0 <= j <= i + M and j <= k < N + M }"\n'
        'write = "{ S[i, j, k] -> A[i, j, k] }"\n'
        f'read = "{{ {reads} }}"\nschedule = "{{ S[i, j, k] -> [i + j, k, j] }}"\ntemporary = ["A"]\n'
    )
    assert run(monkeypatch, "fold", str(file), "--budget", "0.05") == 0
    shown = capsys.readouterr().out
    assert "identity" in shown
    assert "cut short" in shown
    assert "--budget" in shown
    assert run(monkeypatch, "fold", BLUR) == 0


def test_the_installed_command() -> None:
    command = Path(sys.executable).with_name("arrayfold")
    done = subprocess.run([command, "fold", BLUR, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["arrays"][0]["size"] == "2*N + 1"
    done = subprocess.run([command, "fold", "nothing.toml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "arrayfold: nothing.toml: there is no such file\n"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("arrayfold ")
    done = subprocess.run([command, "fold"], capture_output=True, text=True, check=False)
    assert done.returncode == 2


def test_the_watchdog_ends_work_that_cannot_be_interrupted() -> None:
    code = (
        "import time\nfrom arrayfold.base import watchdog\nwatchdog._GRACE_SECONDS = 0.1\n"
        "def work():\n    watchdog.announce(0.1)\n    time.sleep(60)\n    return 0\n"
        "raise SystemExit(watchdog.guarded(work))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 1
    assert "budget of 0.1 s is used up" in done.stderr


def test_python_interface() -> None:
    import arrayfold as af

    result = af.fold(af.read(BLUR), params={"N": 1024})
    assert isinstance(result.problem, Program)
    assert result["blurx"].size.at({"N": 1024}) == 2049
    assert isinstance(result["blurx"].proof, af.Proof)
    assert "blurx" in str(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(KeyError):
        result["out"]


# ---------------------------------------------------------------- how much is said


def test_quiet_says_nothing_and_verbose_says_each_step(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, "fold", BLUR, "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert run(monkeypatch, "check", BLUR, "--mapping", "blurx[y % 2][x]", "-q") == 1
    assert capsys.readouterr() == ("", "")
    assert run(monkeypatch, "fold", BLUR, "-q", "--json") == 0
    assert json.loads(capsys.readouterr().out)["arrays"][0]["size"] == "2*N + 1"
    assert run(monkeypatch, "fold", BLUR, "-v") == 0
    output, errors = capsys.readouterr()
    assert output.startswith("array ")
    assert re.search(r"^ +\d+\.\d\d s  blurx: conflicts$", errors, re.MULTILINE)
    assert run(monkeypatch, "fold", BLUR, "-q", "-v") == 2
    assert "opposites" in capsys.readouterr().err


def test_one_line_for_a_commit_message(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", BLUR, "--summary", "--param", "N=64") == 0
    assert capsys.readouterr().out == (
        "Fold blurx: 2*N + 1 cells instead of N^2 (129 instead of 4,096 at N = 64), proved minimal\n"
    )
    assert run(monkeypatch, "fold", "examples/nothing-folds.c", "--summary") == 0
    assert capsys.readouterr().out == "Fold nothing in nothing-folds.c: no array shrinks\n"
    assert run(monkeypatch, "fold", "examples/two-regions.c", "--summary") == 0
    assert re.fullmatch(r"Fold [\w, ]+: .* cells? instead of .*, proved.*\n", capsys.readouterr().out)


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What `arrayfold ARGUMENTS` prints on a terminal."""
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "arrayfold", *arguments]
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", **environment}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=settings)
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(mine, 4096)
        except OSError:
            break
        if not part:
            break
        found += part
    os.close(mine)
    assert process.wait() == 0
    return found.decode()


def test_colours_only_on_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    coloured = re.compile(r"\x1b\[[\d;]*3[1-7]m")
    assert coloured.search(on_a_terminal("fold", BLUR))
    assert not coloured.search(on_a_terminal("fold", BLUR, NO_COLOR="1"))
    assert run(monkeypatch, "fold", BLUR) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_shells_complete_commands_and_methods() -> None:
    def completions(words: str) -> str:
        environment = {
            **os.environ,
            "_ARRAYFOLD_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        code = "import sys; sys.argv = ['arrayfold']; from arrayfold.cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    assert completions("arrayfold co").split() == ["compare", "conflicts"]
    assert completions("arrayfold fold x.c --method la").split() == ["lattice"]


@pytest.mark.parametrize(("source", "is_serial"), [("a[i - 1]", True), ("i", False)])
def test_parallel_says_where_no_loop_can_run_so(
    source: str,
    is_serial: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "serial.c"
    file.write_text(
        "void k(int n, double a[restrict n + 1])\n{\n  double t[n + 1];\n#pragma scop\n"
        f"  for (int i = 1; i < n; i++) {{ t[i] = {source}; a[i] = t[i]; }}\n#pragma endscop\n}}\n"
    )
    assert run(monkeypatch, "fold", str(file), "--parallel") == 0
    assert ("note: k: no loop can run in parallel" in capsys.readouterr().err) == is_serial


def test_streams_that_cannot_be_written() -> None:
    command = f"{Path(sys.executable).with_name('arrayfold')} fold {BLUR}"
    for redirection, status in ((">&-", 0), ("2>&-", 0), ("> /dev/full", 1)):
        done = subprocess.run(
            f"{command} {redirection}", shell=True, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == status, redirection
        assert "Traceback" not in done.stderr
        assert "defect" not in done.stderr
    assert "the output cannot be written" in done.stderr


def test_code_that_takes_too_long_leaves_the_loops_as_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    import arrayfold.codegen
    from arrayfold.base.errors import BudgetExceeded

    def too_long(regions: Any) -> bytes:
        if regions[0].style == "fast":
            raise BudgetExceeded("new loops: cut short")
        return write_c(regions)

    write_c = arrayfold.codegen.write_c
    monkeypatch.setattr(arrayfold.codegen, "write_c", too_long)
    target = tmp_path / "blur.c"
    assert run(monkeypatch, "fold", "examples/blur-interleaved.c", "-o", str(target)) == 0
    printed = capsys.readouterr()
    assert "the loops stay as written: new loops: cut short" in printed.err
    assert "original and folded text agree" in printed.out
    assert "% (2LL * N + 1)" in target.read_text()
    assert run(monkeypatch, "fold", "examples/blur.c", "--fuse", "-o", str(tmp_path / "new.c")) == 1
    printed = capsys.readouterr()
    assert "no code is written: new loops: cut short" in printed.err
    assert "proved" in printed.out
    assert not (tmp_path / "new.c").exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda af, _: af.read(None), "read_all takes str or Path as file, but None was given"),
        (lambda af, _: af.read_all([1]), "read_all takes str or Path as file"),
        (
            lambda af, one: af.fold(one, params=1.5),
            "fold takes Mapping[str, int] as params, but 1.5 was given",
        ),
        (lambda af, one: af.fold(one, params={"N": 1.5}), "fold takes Mapping[str, int] as params"),
        (lambda af, one: af.fold(one, budget="(" * 5000), "a budget is a number of seconds"),
        (lambda af, one: af.fold(one, budget=float("nan")), "a budget is a positive number of seconds"),
        (lambda af, _: af.reallocate(None), "reallocate takes Program or Kernel as program"),
        (lambda af, one: af.reorder(one, schedule=1.5), "reorder takes str as schedule"),
        (lambda af, one: af.fold(one).to_c(slack="x"), "to_c takes int as slack"),
    ],
)
def test_arguments_of_other_types(call: Any, words: str) -> None:
    import arrayfold as af

    with pytest.raises((TypeError, ValueError), match=re.escape(words)) as caught:
        call(af, af.read("examples/blur-interleaved.c"))
    assert isinstance(caught.value, af.ArrayfoldError)


def test_a_budget_without_end() -> None:
    import arrayfold as af

    for budget in (float("inf"), 10**50):
        assert af.fold(af.read(BLUR), budget=budget)["blurx"].is_optimal
