"""The fuzzer's random C programs: a few with fixed seeds, and faults that it must find."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz import c_check
from fuzz.c_check import CCase, CPrograms, Folded
from fuzz.c_program import Block, CProgram, Function, Parameter
from fuzz.c_run import has_compiler
from fuzz.driver import smallest
from fuzz.isolation import random_for
from fuzz.kind import Failure, Refused

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs gcc")

SEED = 7
SIZE = Parameter("size", "int", "n", "int n")
IN = Parameter("array", "int", "in", "const int in[restrict n + 2]", ("n + 2",))
OUT = Parameter("array", "int", "out", "int out[restrict n + 2]", ("n + 2",))
LOOP = Block(
    "for (int i = 0; i < n; i++) {",
    (
        "tmp[i] = 2 * in[i];",
        Block("if (i >= 2) {", ("out[i] = tmp[i] + tmp[i - 1] + tmp[i - 2];",)),
    ),
)
PROGRAM = CProgram(
    (),
    (
        Function(
            "kernel", "void", (SIZE, IN, OUT), ("int tmp[n + 2];", "#pragma scop", LOOP, "#pragma endscop")
        ),
    ),
    ("n",),
    ((1,), (3,), (7,)),
)
FOLDED = PROGRAM.text.replace("tmp[n + 2]", "tmp[3]").replace("[i]", "[i % 3]").replace("in[i % 3]", "in[i]")
FOLDED = (
    FOLDED.replace("out[i % 3]", "out[i]")
    .replace("[i - 1]", "[(i - 1) % 3]")
    .replace("[i - 2]", "[(i - 2) % 3]")
)


def outcome_of(text: str, monkeypatch: pytest.MonkeyPatch, *, program: CProgram = PROGRAM) -> object:
    """What is said about a program of which the tool gave this text."""
    monkeypatch.setattr(c_check, "fold_in_process", lambda *_: Folded(0, text, ""))
    return CPrograms().check(CCase(program, ((),)))


def test_a_right_fold_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome_of(FOLDED, monkeypatch) is None


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ("% 3]", "% 2]", "results differ"),
        ("int tmp[3]", "int tmp[2]", "folded program fails: index"),
        ("int tmp[3]", "int tmp[n + 99]", "more bytes"),
        ("out[i] = ", "if (i > 2) out[i] = ", "results differ"),
        ("out[i] = ", "out[i + 6] = ", "folded program fails: heap-buffer-overflow"),
        ("int tmp[3];", "int *tmp = malloc(3 * sizeof *tmp);", "memory is not freed"),
        ("int tmp[3];", "int tmp[3], *more = malloc(999); free(more);", "more bytes"),
        ("out[i] = ", "int q; out[i] = q + ", "results differ"),
        ("i < n", "i < n + 1", "results differ"),
        ("2 * in", "2 * of", "does not compile"),
    ],
)
def test_planted_faults_are_found(right: str, wrong: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "#include <stdlib.h>\n" + FOLDED.replace(right, wrong)
    assert text != FOLDED
    found = outcome_of(text, monkeypatch)
    assert isinstance(found, Failure)
    assert found.what.startswith(what)


def test_a_program_that_is_undefined_everywhere_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    beyond = PROGRAM.text.replace("i < n", "i < n + 9")
    assert "i < n + 9" in beyond
    function = PROGRAM.functions[0]
    head = Block(LOOP.head.replace("i < n", "i < n + 9"), LOOP.body)
    body = tuple(head if node is LOOP else node for node in function.body)
    program = replace(PROGRAM, functions=(replace(function, body=body),))
    assert outcome_of(FOLDED, monkeypatch, program=program) == Refused(
        "the original is undefined at every point"
    )


def test_a_failure_is_shrunk_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fold_badly(program: CProgram, *_: object) -> Folded:
        return Folded(0, program.text.replace("+ tmp[i - 2]", "+ 7"), "")

    monkeypatch.setattr(c_check, "fold_in_process", fold_badly)
    kind = CPrograms()
    case = CCase(PROGRAM, (("--fuse",), ("--style", "readable")))
    failure = kind.check(case)
    assert isinstance(failure, Failure)
    small, found, _ = smallest(kind, case, failure, time.monotonic() + 1000)
    assert len(small.options) == 1
    assert not small.options[0]
    assert len(small.program.points) == 1
    assert len(small.program.text) < len(PROGRAM.text)
    assert found.what == "results differ"
    command = kind.write(small, found, tmp_path, "c-1-2")
    assert "--replay" in command
    assert kind.read(tmp_path / "c-1-2.c") == small


@pytest.mark.parametrize("number", range(7))
def test_random_programs(number: int) -> None:
    kind = CPrograms()
    outcome = kind.check(kind.generate(random_for(SEED, "c", number)))
    assert not isinstance(outcome, Failure), str(outcome)
