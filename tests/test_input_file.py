"""Input that has no end, is far too large, or is nested too deeply: one message, status 2, and no crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.base.input_file import MOST_BYTES, read_input
from arrayfold.base.nesting import LanguageName, deepest
from arrayfold.exact.formula_parse import read_formula
from arrayfold.fold.check import check
from support.command import run

Capture = pytest.CaptureFixture[str]
DEEP = 40_000
LONG = 100_000
C = "void f(int n, double A[n], double B[n])\n{{\n#pragma scop\n{}\n#pragma endscop\n}}\n"
PYTHON = "import arrayfold as af\n\n@af.kernel\ndef f(A, B):\n    A[0] = {}\n"
PROBLEM = """
domain   = "[N] -> {{ S[i] : 0 <= i < N and {} }}"
write    = "{{ S[i] -> A[i] }}"
schedule = "{{ S[i] -> [i] }}"
"""
TEXTS = {
    "parentheses.c": C.format("A[0] = " + "(" * DEEP + "1" + ")" * DEEP + ";"),
    "subscripts.c": C.format("A[0] = " + "A[" * DEEP + "0" + "]" * DEEP + ";"),
    "braces.c": C.format("{" * DEEP + "A[0] = 1;" + "}" * DEEP),
    "loops.c": C.format("for (int i = 0; i < n; i++) " * DEEP + "A[0] = 1;"),
    "conditions.c": C.format("if (n > 1) " * DEEP + "A[0] = 1;"),
    "else.c": C.format("if (n == 0) A[0] = 1;" + "\nelse if (n == 1) A[0] = 2;" * DEEP),
    "minus.c": C.format("A[0] = " + "- " * DEEP + "1;"),
    "not.c": C.format("A[0] = " + "!" * DEEP + "n;"),
    "casts.c": C.format("A[0] = " + "(double)" * DEEP + "1;"),
    "choices.c": C.format("A[0] = " + "n ? 1 : " * DEEP + "2;"),
    "assignments.c": C.format("A[0] = " * DEEP + "2;"),
    "commas.c": C.format("A[0] = (" + "1, " * DEEP + "2);"),
    "sum.c": C.format("A[0] = " + "B[1] + " * LONG + "1;"),
    "pointers.c": f"double {'*' * DEEP}p;\n" + C.format("A[0] = 1;"),
    "dimensions.c": f"double p{'[1]' * DEEP};\n" + C.format("A[0] = 1;"),
    "initialiser.c": f"double p[] = {'{' * DEEP}1{'}' * DEEP};\n" + C.format("A[0] = 1;"),
    "parentheses.py": PYTHON.format("(" * DEEP + "1" + ")" * DEEP),
    "sum.py": PYTHON.format("1 + " * LONG + "1"),
    "minus.py": PYTHON.format("-" * DEEP + "1"),
    "not.py": PYTHON.format("not " * DEEP + "1"),
    "power.py": PYTHON.format("2 ** " * DEEP + "1"),
    "choices.py": PYTHON.format("1 if A[0] else " * DEEP + "1"),
    "members.py": PYTHON.format("B" + ".x" * DEEP),
    "lambda.py": PYTHON.format("lambda: " * DEEP + "1"),
    "arrays.toml": "x = " + "[" * DEEP + "]" * DEEP,
    "tables.toml": "x = " + "{a = " * DEEP + "1" + "}" * DEEP,
    "dotted.toml": "a" + ".b" * DEEP + " = 1",
    "parentheses.toml": PROBLEM.format("(" * DEEP + "i >= 0" + ")" * DEEP),
    "exists.toml": PROBLEM.format("exists e : " * DEEP + "e = i"),
    "not.toml": PROBLEM.format("not " * DEEP + "(i = 3)"),
    "lists.json": '{"domain": ' + "[" * DEEP + "]" * DEEP + "}",
    "objects.json": '{"a": ' * DEEP + "1" + "}" * DEEP,
    "lists.yaml": "[" * DEEP + "]" * DEEP,
    "blocks.yaml": "- " * DEEP + "a",
    "parentheses.smo.input": "{ " + "(" * DEEP + ")" * DEEP + " }",
}


@pytest.mark.parametrize("name", TEXTS)
def test_deeply_nested_texts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / name
    file.write_text(TEXTS[name])
    with pytest.raises(InputError) as raised:
        af.read(file)
    assert raised.value.place is not None, "it is told where"
    assert run(monkeypatch, "fold", str(file)) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith(f"arrayfold: {file}:")
    assert len(errors) < 1000, "a long line is not printed whole"


@pytest.mark.parametrize("name", ["sum.c", "sum.py"])
def test_what_the_lexer_lets_pass_and_python_does_not(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(
        TEXTS[name].replace("B[1] + " * LONG, "B[1] + " * 900).replace("1 + " * LONG, "1 + " * 3000)
    )
    lines = ["import arrayfold as af", "try:", f"    af.read({str(file)!r})"]
    code = "\n".join([*lines, "except af.InputError as error:", "    print(error)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "nested too deeply" in done.stdout


def test_sums_of_many_terms_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "stencil.c"
    file.write_text(C.format("for (int i = 0; i < n; i++) A[i] = " + "B[i] + " * 80 + "1;"))
    assert run(monkeypatch, "model", str(file)) == 0
    assert "S_0" in capsys.readouterr().out


def test_a_crash_of_a_parser_is_told(tmp_path: Path) -> None:
    """What no check foresees, such as what macros make: the parent process says which file it was."""
    file = tmp_path / "macros.c"
    macros = "".join(f"#define M{k} M{k - 1} M{k - 1}\n" for k in range(1, 17))
    file.write_text(f"#define M0 -\n{macros}" + C.format("A[0] = M16 1;"))
    done = subprocess.run(
        [sys.executable, "-m", "arrayfold", "model", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"arrayfold: {file}")
    assert "nested too deeply" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("suffix", [".c", ".py", ".toml", ".json", ".yaml"])
def test_what_is_no_file(suffix: str, tmp_path: Path) -> None:
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    device = tmp_path / f"device{suffix}"
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        with pytest.raises(InputError, match="is a device, a pipe or a socket; expected a file"):
            af.read(path)
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match="is a directory; expected a file"):
        af.read(folder)
    with pytest.raises(InputError, match="cannot be read"):
        af.read(f"a\0b{suffix}")
    with pytest.raises(InputError, match="cannot be read"):
        af.read("x" * 300 + suffix)


@pytest.mark.parametrize("suffix", [".c", ".py", ".toml"])
def test_huge_files(suffix: str, tmp_path: Path) -> None:
    sparse = tmp_path / f"sparse{suffix}"
    with sparse.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(InputError, match="the file is too large; at most 16 MiB are read"):
        af.read(sparse)
    assert not list(tmp_path.glob("*.part"))
    small = tmp_path / "small"
    small.write_bytes(b"x" * 10)
    assert read_input(small) == b"x" * 10
    assert MOST_BYTES == 16 << 20


@pytest.mark.parametrize("suffix", [".c", ".py", ".toml", ".json", ".yaml", ".smo.input"])
@pytest.mark.parametrize("data", [b"\0\0\0", b"int x;\0", b"\x7fELF\x00\x01"])
def test_binary_files(suffix: str, data: bytes, tmp_path: Path) -> None:
    file = tmp_path / f"binary{suffix}"
    file.write_bytes(data)
    with pytest.raises(InputError, match="not a text file"):
        af.read(file)


@pytest.mark.parametrize(
    ("name", "text"),
    [("number.toml", "x = " + "9" * 5000), ("number.json", '{"domain": ' + "9" * 5000 + "}")],
)
def test_numbers_that_are_too_long(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="that can be read: Exceeds the limit"):
        af.read(tmp_path / name)


BLUR = "examples/blur-interleaved.toml"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fold", BLUR, "--context", "(" * 2000 + "N >= 3" + ")" * 2000],
        ["fold", BLUR, "--context", "not " * 2000 + "(N = 3)"],
        ["fold", BLUR, "--live-out", "{ blurx[" + "(" * 2000 + "0" + ")" * 2000 + ", 0] }"],
        ["fold", BLUR, "--schedule", "S[i] -> [" + "(" * 2000 + "i" + ")" * 2000 + "]"],
        ["check", BLUR, "--mapping", "blurx[y, x] -> [" + "(" * 2000 + "y" + ")" * 2000 + "]"],
        ["check", BLUR, "--mapping", "blurx[y, x] -> [" + "-" * 20000 + "y]"],
        ["check", BLUR, "--mapping", "blurx[y, x] -> [y mod " + "9" * 6000 + "]"],
        ["check", BLUR, "--mapping", "blurx[y, x] -> [y mod N^999999999]"],
        ["fold", BLUR, "--tile", "9" * 5000],
        ["fold", BLUR, "--slack", "9" * 5000],
        ["fold", BLUR, "--region", "²"],
        ["fold", BLUR, "--param", "N=" + "9" * 5000],
    ],
)
def test_options(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, *arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "text", ["[" * DEEP, "9" * 5000, '{"arrays": ' + "[" * DEEP + "]" * DEEP + "}", "\0"]
)
def test_files_of_mappings(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"JSON|not a text file"):
        check(af.read(BLUR), str(file))


def test_formulas() -> None:
    for text in ("(" * 5000 + "N", "-" * 5000 + "N", "N^99", "9" * 5000, "floor(" * 5000):
        with pytest.raises(InputError):
            read_formula(text)


@pytest.mark.parametrize(
    ("text", "language", "is_too_deep"),
    [
        ("static const int t[] = {" + "1, " * 20_000 + "2};", "c", False),
        ("int x;\n" * 20_000, "c", False),
        ("#if 1\n" * 20_000, "c", False),
        ("/* " + "(" * 20_000 + " */ int x;", "c", False),
        ('char *s = "' + "(" * 20_000 + '";', "c", False),
        ("a = b - c;\n" * 5_000, "c", False),
        ("if (a) { b = 1; } else { b = 2; }\n" * 5_000, "c", False),
        ("x = 1\n" * 20_000, "python", False),
        ("x = [" + "1, " * 20_000 + "]", "python", False),
        ('x = """' + "(" * 20_000 + '"""', "python", False),
        ("x = ( # " + "(" * 20_000 + "\n1)", "python", False),
        ("[" + "p, " * 20_000 + "q] -> { : }", "isl", False),
        ("{ : " + "i >= 0 and " * 4_000 + "i = 1 }", "isl", False),
        ("((" * 200, "isl", True),
        ("a = " + "*" * 2_000 + "b;", "c", True),
    ],
)
def test_what_counts_as_deep(text: str, language: LanguageName, is_too_deep: bool) -> None:
    assert deepest(text, language).is_too_deep == is_too_deep


def test_a_long_line_is_shown_in_part() -> None:
    text = str(InputError("wrong", SourcePosition("a.c", 1, 1001, "x" * 1000 + "!" + "\0" * 1000)))
    line, caret = text.splitlines()[1:3]
    assert len(line) < 250
    assert line[caret.index("^")] == "!"
    assert "\0" not in text
