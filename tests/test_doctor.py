"""What the machine has, and what commands say of packages that are missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from arrayfold.run import doctor
from support.command import run


def test_everything_that_tests_use_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "doctor", "--json") == 0
    found = {one["name"]: one["found"] for one in json.loads(capsys.readouterr().out)["findings"]}
    assert found["Python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert found["OpenMP"] == "-fopenmp"
    assert all(found[name] for name in ("isl", "libclang", "C compiler", "matplotlib", "dask"))


def test_what_is_missing_is_said_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    missing = {one.name: one for one in doctor.examine() if not one.found}
    assert {"C compiler", "OpenMP", "sanitizers"} <= missing.keys()
    assert all(one.without and one.cure for one in missing.values())
    assert run(monkeypatch, "doctor") == 0
    assert "no --run, no --tune" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        (
            "matplotlib",
            "plot",
            ("plot", "examples/diamond-tile.toml", "--param", "B=3", "-o", "{folder}/a.svg"),
        ),
        ("dask", "explore", ("fold", "{folder}")),
    ],
)
def test_commands_without_their_package(
    module: str,
    extra: str,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "blur.toml").write_bytes(Path("examples/blur.toml").read_bytes())
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    assert run(monkeypatch, *(word.format(folder=tmp_path) for word in command)) == 2
    message = capsys.readouterr().err
    assert f"this needs {module}, which is not installed" in message
    assert f"pip install 'arrayfold[{extra}]'" in message
