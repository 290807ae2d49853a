"""Wrong code that earlier versions wrote: the check before writing finds it, and whoever writes it again.

Each folder of `tests/wrong_code` holds a program, and as `wrong*.c` what was once written for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from arrayfold.c.arithmetic import formula_text
from arrayfold.codegen import sizes
from arrayfold.codegen.names import Names
from arrayfold.frontends.c import integers
from arrayfold.validation import Subject, validate
from support.command import run

CODE = Path(__file__).resolve().parent / "wrong_code"

WRONG = [
    (
        "local-in-subscript/wrong.c",
        "n >= 1",
        "a subscript or a size depends on a value that is not there: q was",
    ),
    ("local-in-subscript/wrong-fuse.c", "n >= 1", "depends on a value that is not there: q was never set"),
    ("unsigned-bound-not-equal/wrong.c", "", "out[0] holds in[255] instead of in[0]"),
    ("unsigned-bound-not-equal/wrong-loops-generate.c", "", "out[0] holds in[255] instead of (in[0] + 1)"),
    ("unsigned-sum/wrong.c", "", "20 - -2147483639 overflows"),
    (
        "unsigned-difference/wrong-loops-generate.c",
        "n >= 1",
        "k at n = 1, un = 0: out[0] holds out[0] instead",
    ),
    ("names-of-a-header/wrong.c", "n >= 1", "out[0][0] holds (u32)((i64)(in[0] + (0 * in[1])) + 0) instead"),
    ("size-overflows/wrong.c", "", "-2147483647 - 2147483647 overflows"),
    ("extent-grows/wrong.c", "", "2147483647 + 15 overflows"),
    ("rows-grow/wrong.c", "n >= 1", "an array takes 124 bytes where all together took 16"),
    ("calls-in-another-order/wrong-fuse.c", "n >= 1", "k at n = 2: out[1][0] holds 2 instead of 3"),
    ("calls-in-another-order/wrong-tile-2x2.c", "n >= 1", "k at n = 3: out[1][0] holds 3 instead of 4"),
    (
        "calls-in-another-order/wrong-parallel.c",
        "n >= 1",
        "rand is called in any order, where its calls had one",
    ),
    ("outside-of-the-block/wrong-share-offsets.c", "N >= 1", "a pointer leaves what is allocated in line 5"),
    (
        "outside-of-the-block/wrong-mode-reallocate-share-offsets.c",
        "N >= 1",
        "a pointer leaves what is allocated",
    ),
    ("cells-of-threads/wrong.c", "n >= 1", "a race: t[1] is"),
    ("array-of-each-thread/wrong-loops-generate.c", "n >= 1", "a race: row[0] is written here"),
    ("value-from-before/wrong-fuse.c", "n >= 1", "out[1] holds in[0] instead of 5"),
    ("task-that-may-not-run/wrong.c", "N >= 1", "a race: a is written here and written in line 11"),
]


@pytest.mark.parametrize(("wrong", "context", "fault"), WRONG, ids=[wrong for wrong, *_ in WRONG])
def test_wrong_code_of_earlier_versions_is_found(wrong: str, context: str, fault: str) -> None:
    new = CODE / wrong
    original = new.with_name("original.c")
    text = original.read_bytes()
    function = re.search(rb"void (\w+)\(", text)
    assert function is not None
    declared = re.findall(r"(?:int|unsigned) (\w+)[,)]", text.decode())
    where = isl.Set(f"[{', '.join(declared)}] -> {{ : {context} }}")
    more = 0 if "grow" in wrong else 64 * 1024
    subject = Subject(function[1].decode(), (text.index(b"#pragma scop"),), (where,), more=more)
    found = validate((str(original), text), (str(new), new.read_bytes()), [], [subject])
    assert not found.is_equal
    assert fault in str(found.difference)


def test_every_wrong_file_is_looked_at() -> None:
    assert {wrong for wrong, *_ in WRONG} == {
        path.relative_to(CODE).as_posix() for path in CODE.glob("*/wrong*.c")
    }


# ------------------------------------------------------------------- with a fix taken out again

Patch = pytest.MonkeyPatch


def any_subscript_moves(patch: Patch) -> None:
    """Subscripts are set before a loop, whatever changes in it."""
    writer = "arrayfold.codegen.statements.StatementWriter"
    patch.setattr(f"{writer}._may_move", lambda *_: True)
    patch.setattr(f"{writer}._subscript_values", lambda *_: [None, None])


def unsigned_numbers_are_endless(patch: Patch) -> None:
    real = integers.leaving

    def leaving(value: isl.PwAff, kind: Any) -> tuple[isl.Set, isl.Set]:
        below, above = real(value, kind)
        nothing = isl.Set.empty(below.get_space())
        return (nothing, nothing) if kind.kind == "unsigned" else (below, above)

    patch.setattr(integers, "leaving", leaving)


def headers_have_no_names(patch: Patch) -> None:
    theirs = {"c0", "c1", "t_0", "c1_begin"}
    patch.setattr("arrayfold.codegen.write.Names", lambda taken: Names(set(taken) - theirs))


def declarations_are_no_limit(patch: Patch) -> None:
    patch.setattr("arrayfold.codegen.region_storages.find_sizes", sizes.plain_sizes)
    there_is_always_room(patch)


def sizes_are_ints(patch: Patch) -> None:
    def narrow(*arguments: Any) -> str:
        return formula_text(*arguments).replace("(long long)", "").replace("LL", "")

    declarations_are_no_limit(patch)
    patch.setattr("arrayfold.codegen.storage.formula_text", narrow)


def there_is_always_room(patch: Patch) -> None:
    patch.setattr("arrayfold.codegen.storage.Storage._has_room", lambda *_: True)


def functions_only_compute(patch: Patch) -> None:
    patch.setattr("arrayfold.frontends.c.region_reader.hidden_state", lambda *_: None)


def sizes_may_be_negative(patch: Patch) -> None:
    def at_any_size(*arguments: Any) -> str:
        return re.sub(r"\(\((N - 5LL)\) > 0 \? \(N - 5LL\) : 0\)", r"(\1)", formula_text(*arguments))

    patch.setattr("arrayfold.codegen.storage.formula_text", at_any_size)


def everything_runs(patch: Patch) -> None:
    nothing = lambda program: isl.UnionSet.empty(program.context.get_space())  # noqa: E731
    patch.setattr("arrayfold.program.model.Program.may_not_run", nothing)


TAKEN_OUT: list[tuple[str, str, Callable[[Patch], None]]] = [
    ("local-in-subscript", "", any_subscript_moves),
    ("unsigned-bound-not-equal", "", unsigned_numbers_are_endless),
    ("unsigned-sum", "", unsigned_numbers_are_endless),
    ("unsigned-difference", "--loops generate", unsigned_numbers_are_endless),
    ("names-of-a-header", "", headers_have_no_names),
    ("size-overflows", "", sizes_are_ints),
    ("extent-grows", "", declarations_are_no_limit),
    ("rows-grow", "", there_is_always_room),
    ("calls-in-another-order", "--fuse=cells", functions_only_compute),
    ("calls-in-another-order", "--parallel", functions_only_compute),
    ("outside-of-the-block", "--share offsets", sizes_may_be_negative),
    ("task-that-may-not-run", "", everything_runs),
]


@pytest.mark.parametrize(
    ("name", "options", "take_out"),
    TAKEN_OUT,
    ids=[f"{name} {words}".strip() for name, words, _ in TAKEN_OUT],
)
def test_nothing_is_written_where_a_fix_is_taken_out(
    monkeypatch: Patch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    options: str,
    take_out: Callable[[Patch], None],
) -> None:
    out = tmp_path / "out.c"
    words = ("fold", str(CODE / name / "original.c"), "-o", str(out), *options.split())
    with monkeypatch.context() as patch:
        take_out(patch)
        assert run(patch, *words) == 3
    assert "nothing is written, because the original and the folded text differ" in capsys.readouterr().err
    assert not out.exists()


REFUSED = {
    "calls-in-another-order": "rand() has no body here",
    "unsigned-bound-not-equal": "unsigned char i wraps around in this loop",
}


@pytest.mark.parametrize(("name", "options"), [(name, words) for name, words, _ in TAKEN_OUT])
def test_what_is_written_today_is_accepted(
    monkeypatch: Patch, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, options: str
) -> None:
    original = CODE / name / "original.c"
    status = run(monkeypatch, "fold", str(original), "-o", str(tmp_path / "out.c"), *options.split())
    said = capsys.readouterr()
    if name in REFUSED:
        assert status == 2
        assert REFUSED[name] in said.err
    else:
        assert status == 0
        assert said.out.splitlines()[-1].startswith("checked: original and folded text agree at ")
