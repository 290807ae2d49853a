"""Bad input: one located paragraph, exit status 2. One file a message, its text beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import run

CASES = sorted(
    path
    for pattern in (
        "*.toml",
        "c/*.c",
        "python/*.py",
        "json/*.json",
        "pet/*.yaml",
        "smo/*.smo.input",
        "mlir/*.mlir",
    )
    for path in Path("tests/errors").glob(pattern)
)


def test_there_are_cases_and_no_orphans(update_golden: bool) -> None:
    assert CASES
    assert update_golden or {path.with_suffix("") for path in Path("tests/errors").rglob("*.txt")} == {
        path.with_suffix("") for path in CASES
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: "-".join(path.parts[2:]))
def test_message(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], update_golden: bool
) -> None:
    status = run(monkeypatch, "fold", str(path))
    output, message = capfd.readouterr()
    golden = path.with_suffix(".txt")
    if update_golden:
        golden.write_text(message)
    assert status == 2
    assert output == ""
    assert golden.exists(), "run with --update-golden"
    assert message == golden.read_text()


def test_missing_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "fold", "no/such/file.toml") == 2
    assert "there is no such file" in capsys.readouterr().err


def test_directory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "fold", str(tmp_path)) == 2
    assert "is a directory" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"\x7fELF\x00\x01", b"\xff\xfe\xfa", b"a = 1\x00"])
def test_binary_file(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "binary.toml"
    file.write_bytes(data)
    assert run(monkeypatch, "fold", str(file)) == 2
    assert "not a text file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["kernel.c", "kernel.py", "kernel.f90"])
def test_other_kinds_of_file(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_text("int x;")
    assert run(monkeypatch, "fold", str(tmp_path / name)) == 2
    assert name in capsys.readouterr().err


BLUR = "examples/blur-interleaved.toml"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fold", BLUR, "--array", "blur"], "there is no array 'blur'"),
        (["fold", BLUR, "--array", "out"], "array out is kept: live-out"),
        (["fold", BLUR, "--method", "magic"], "there is no method 'magic'"),
        (["fold", BLUR, "--param", "M=4"], "there is no parameter 'M'"),
        (["fold", BLUR, "--param", "N"], "expected a name and a whole number"),
        (["fold", BLUR, "--param", "N=x"], "expected a name and a whole number"),
        (["fold", BLUR, "--param", "N=1"], "contradicts the context"),
        (["fold", BLUR, "--context", "N <= 2"], "no parameter value satisfies this"),
        (["fold", BLUR, "--context", "N >="], "--context:1:5"),
        (["fold", BLUR, "--context", "M >= 2"], "unknown name"),
        (["fold", BLUR, "--live-out", "{ blurr[0, 0] }"], "there is no array 'blurr'"),
        (["fold", BLUR, "--live-out", "blurx[0]"], "array blurx has 2 dimensions"),
        (["fold", BLUR, "--temporary", "blurr"], "there is no array 'blurr'"),
        (["fold", BLUR, "-o", "out.c"], "no C code to rewrite"),
        (["conflicts", BLUR, "--construction", "guess"], "'guess' is not one of 'values', 'live-write'"),
        (["fold", BLUR, "--mode", "reallocate", "--local", "1"], "--mode and --local do not go together"),
        (["fold", BLUR, "--share", "cells", "--power-of-two"], "--share and --power-of-two do not go"),
        (["fold", BLUR, "--favor", "speed", "--method", "lattice"], "--favor and --method do not go"),
        (["fold", BLUR, "--local", "1", "--favor", "speed"], "--local LOOPS and --favor do not go"),
        (["fold", BLUR, "--local", "b", "--power-of-two"], "--local and --power-of-two do not go"),
        (["fold", BLUR, "--placement", "p.csv", "--share", "cells"], "--placement and --share cells do"),
        (["check", BLUR, "--mapping", "blurr[y, x] -> [y]"], "there is no array 'blurr'"),
        (["check", BLUR, "--mapping", "blurx[y, x] -> [y mod]"], "expected a number"),
        (["check", BLUR, "--mapping", "blurx[y, x] -> [y mod (N - 3), x]"], "not positive at N = 3"),
        (["check", BLUR, "--mapping", "blurx[y, x] -> [y, x] : y >= 1"], "gives no address"),
        (["check", BLUR, "--mapping", "nothing.json"], "cannot be read"),
        (["check", BLUR, "--mapping", ""], "expected a mapping"),
    ],
)
def test_wrong_options(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *arguments) == 2
    output, text = capsys.readouterr()
    assert output == ""
    assert message in text
    assert "Traceback" not in text


def test_nothing_is_written_where_output_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = tmp_path / "out.c"
    assert run(monkeypatch, "fold", BLUR, "-o", str(target)) == 2
    assert not target.exists()
