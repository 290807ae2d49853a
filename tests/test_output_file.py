"""Files that commands write: never through a link, never over something else unasked, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from arrayfold.base import output_file
from arrayfold.base.errors import InputError
from arrayfold.base.output_file import check_output, write_output
from support.command import run

BLUR = "examples/blur-interleaved.c"
ROWS = "S_0[x, y] -> [2*x]; S_1[x, y] -> [2*x + 1]"
COMMANDS = {
    "fold": (["fold", BLUR, "-o"], "out.c"),
    "placement": (["fold", BLUR, "--param", "N=9", "--placement"], "out.csv"),
    "occupancy": (["occupancy", "examples/blur.c", "--schedule", ROWS, "-o"], "out.c"),
    "report": (["report", "examples/scalar-chain.toml", "-o"], "out.html"),
    "plot": (["plot", "examples/scalar-chain.toml", "--param", "n=4", "-o"], "out.svg"),
    "tradeoff": (["tradeoff", "examples/jacobi-1d.toml", "--param", "n=4", "-o"], "out.svg"),
}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    words, name = COMMANDS[request.param]
    return [*words, str(tmp_path / name)]


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("is_dangling", [False, True])
def test_no_command_writes_through_a_link(
    command: list[str],
    force: list[str],
    is_dangling: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "precious"
    if not is_dangling:
        target.write_text("precious")
    Path(command[-1]).symlink_to(target)
    assert run(monkeypatch, *command, *force) == 2
    assert "is a link" in capsys.readouterr().err
    assert target.exists() != is_dangling
    assert is_dangling or target.read_text() == "precious"


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_no_command_writes_to_a_pipe(
    command: list[str],
    force: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    os.mkfifo(command[-1])
    assert run(monkeypatch, *command, *force) == 2
    assert "is a device, a pipe or a socket" in capsys.readouterr().err
    assert stat.S_ISFIFO(Path(command[-1]).lstat().st_mode)


def test_no_command_overwrites_unasked(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(command[-1]).write_text("precious")
    assert run(monkeypatch, *command) == 2
    assert "exists" in capsys.readouterr().err
    assert Path(command[-1]).read_text() == "precious"


def test_every_command_replaces_a_file_when_told(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(command[-1])
    if command[0] == "tradeoff":
        command = [*command, "--largest", "0", "--tile-size", "0", "--store", str(tmp_path / "store")]
    out.write_text("old")
    out.chmod(0o640)
    other = tmp_path / "other-name"
    other.hardlink_to(out)
    assert run(monkeypatch, *command, "--force") == 0
    assert out.read_bytes() != b"old"
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert other.read_text() == "old", "the other name of the old file keeps what it had"
    assert not list(tmp_path.glob(".arrayfold-*"))


@pytest.mark.parametrize("file", ["/dev/null", "/dev/full"])
def test_devices(file: str) -> None:
    with pytest.raises(InputError, match="is a device"):
        check_output(file, force=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "expected the name of a file"),
        (".", "expected the name of a file"),
        ("folder", "is a directory"),
        ("new/", "is the name of a directory"),
        ("missing/out.c", "there is no directory"),
        ("file/out.c", "Not a directory"),
        ("n" * 300, "File name too long"),
        ("a\0b", "null"),
    ],
)
def test_names_that_cannot_be_written(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    for action in (check_output, lambda file, force: write_output(file, b"", force=force)):
        with pytest.raises(InputError, match=message):
            action(name, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("other_name", ["copy.c", "./kernel.c", "link-to-folder/kernel.c"])
def test_the_input_is_not_overwritten(
    other_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "kernel.c"
    text = Path(BLUR).read_text()
    kernel.write_text(text)
    (tmp_path / "copy.c").hardlink_to(kernel)
    (tmp_path / "link-to-folder").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "fold", "kernel.c", "-o", other_name, "--force") == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert kernel.read_text() == text


def test_two_outputs_of_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    for one, other in ((out, out), ("-", "-"), ("-", "/dev/stdout")):
        assert run(monkeypatch, "fold", BLUR, "--param", "N=9", "-o", one, "--placement", other) == 2
        assert "both write" in capsys.readouterr().err
    assert not Path(out).exists()


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_output(str(tmp_path / "out"), b"text", force=False)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    assert (tmp_path / "out").read_bytes() == b"text"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"

    def checked(*_: object, **__: object) -> None:
        out.write_text("precious")

    monkeypatch.setattr(output_file, "check_output", checked)
    with pytest.raises(InputError, match="exists"):
        write_output(str(out), b"text", force=False)
    assert out.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write_output(str(tmp_path / "out"), b"text", force=False)
    assert (tmp_path / "out").read_bytes() == b"text"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_takes_any_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    kernel = tmp_path / "latin.c"
    kernel.write_bytes(b"/* caf\xe9 */\n" + Path(BLUR).read_bytes())
    assert run(monkeypatch, "fold", str(kernel), "-o", name) == 0
    output = capfdbinary.readouterr().out
    assert output.startswith(b"/* caf\xe9 */\n")
    assert b"proved" in output
    assert not output.startswith(b"array"), "nothing else is printed"
