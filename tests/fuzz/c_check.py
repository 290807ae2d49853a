"""Random C programs: folded with random options, they compute what they computed, in no more memory.

Where the original does something undefined, as the sanitizers see it, or reads what nobody wrote, nothing is
asked of the folded program.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arrayfold.cli import main
from fuzz.c_generate import random_program
from fuzz.c_options import may_take_more, random_options, without_order
from fuzz.c_program import Block, CProgram, Function, Parameter
from fuzz.c_run import OPTIMISED, SANITIZED, ZEROS, Call, DoesNotCompile, Version, run_versions
from fuzz.c_shrink import smaller_programs
from fuzz.kind import Failure, Outcome, Refused
from fuzz.text_of_cases import from_json, to_json

TYPES: list[type] = [CProgram, Function, Parameter, Block]
_MARK = "/* fuzz: "
LINE = 64


@dataclass(frozen=True)
class CCase:
    """A program, sets of options to fold it with, and whether the results are compiled to be fast, too."""

    program: CProgram
    options: tuple[tuple[str, ...], ...]
    is_optimised: bool = False


@dataclass(frozen=True)
class Folded:
    """What the command said to a program; the text is empty if it wrote none."""

    status: int
    text: str
    messages: str


def fold_in_process(program: CProgram, options: Sequence[str], folder: Path, budget: float = 2.0) -> Folded:
    """`arrayfold fold program.c -o folded.c OPTIONS`, run in this process."""
    names = f"program{program.suffix}", f"folded{program.suffix}"
    source, target = (folder / name for name in names)
    source.write_text(program.text)
    (folder / "around.h").write_text(program.header)
    target.unlink(missing_ok=True)
    words = ["arrayfold", "fold", names[0], "-o", names[1], "--budget", str(budget), "-q", *options]
    old, here = sys.argv, Path.cwd()
    output = io.StringIO()
    try:
        sys.argv = words
        os.chdir(folder)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = main._run()
    finally:
        os.chdir(here)
        sys.argv = old
    text = target.read_text() if target.exists() else ""
    return Folded(status, text, output.getvalue())


@functools.cache
def warm_up() -> None:
    """Load what every case needs before processes are forked for them: modules, libclang, the harness."""
    body = ("int a[n];", "#pragma scop", "for (int i = 0; i < n; i++) a[i] = i;", "#pragma endscop")
    size = Parameter("size", "int", "n", "int n")
    program = CProgram((), (Function("kernel", "void", (size,), body),), ("n",), ((1,),))
    with tempfile.TemporaryDirectory(prefix="arrayfold-fuzz-") as folder:
        for options in (("--mode", "reallocate", "--share", "auto"), ("--fuse=cells", "--tile", "2")):
            fold_in_process(program, options, Path(folder))
            Path(folder, "folded.c").unlink(missing_ok=True)
        run_versions(program, [Version(program.text)], Path(folder))


class CPrograms:
    """The kind of random input that the driver runs."""

    name = "c"
    share = 3.0
    seconds = 40.0
    memory = None

    def __init__(self) -> None:
        warm_up()

    def generate(self, choose: random.Random) -> CCase:
        program = random_program(choose.randrange(1 << 48))
        options = tuple(random_options(choose, program) for _ in range(choose.choice((1, 1, 1, 1, 2))))
        return CCase(program, options, choose.random() < 0.1)

    def check(self, case: CCase) -> Outcome:
        folder = Path(tempfile.mkdtemp(prefix="arrayfold-fuzz-"))
        try:
            return check_in(case, folder)
        finally:
            shutil.rmtree(folder)

    def shrink(self, case: CCase) -> Iterator[CCase]:
        if len(case.options) > 1:
            for one in case.options:
                yield replace(case, options=(one,))
        if case.is_optimised:
            yield replace(case, is_optimised=False)
        for program in smaller_programs(case.program):
            yield replace(case, program=program)
        for k, words in enumerate(case.options):
            for fewer in fewer_options(words):
                yield replace(case, options=(*case.options[:k], fewer, *case.options[k + 1 :]))

    def write(self, case: CCase, failure: Failure | None, folder: Path, stem: str) -> str:
        case_text = to_json(case).replace("*/", "*\\/")
        text = (
            f"{case.program.text}\n/* {str(failure)[:3000].replace('*/', '* /')} */\n{_MARK}{case_text} */\n"
        )
        name = folder / f"{stem}{case.program.suffix}"
        name.write_text(text)
        words = " ".join(case.options[0]) if case.options else ""
        if case.program.header:
            (folder / stem).mkdir(exist_ok=True)
            (folder / stem / "around.h").write_text(case.program.header)
            words += f" -- -I {folder / stem}"
        target = f"folded{case.program.suffix}"
        return f"arrayfold fold {name} -o {target} {words}; python -m tests.fuzz --replay {name}"

    def read(self, file: Path) -> CCase:
        line = next(line for line in file.read_text().splitlines() if line.startswith(_MARK))
        text = line.removeprefix(_MARK).removesuffix(" */").replace("*\\/", "*/")
        return from_json(text, [*TYPES, CCase])


def fewer_options(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The options with one of them left out."""
    starts = [k for k, word in enumerate(words) if word.startswith("--")]
    ends = [*starts[1:], len(words)]
    for start, end in zip(starts, ends, strict=False):
        yield (*words[:start], *words[end:])


def check_in(case: CCase, folder: Path) -> Outcome:
    """The outcome of a case, with files in a folder."""
    program = case.program
    folded: list[tuple[tuple[str, ...], str]] = []
    refusals: list[str] = []
    for wanted in case.options:
        options = wanted
        found = fold_in_process(program, options, folder)
        if (
            found.status in (1, 2)
            and failure_of(found, options) is None
            and without_order(options) != options
        ):
            options = without_order(options)
            found = fold_in_process(program, options, folder)
        if found.status == 0 and found.text:
            folded.append((options, found.text))
            continue
        failure = failure_of(found, options)
        if found.status == 3:
            return without_check(case, options, found, folder)
        if failure is not None:
            return failure
        refusals.append(reason_of(found.messages))
    if not folded:
        return Refused(refusals[0])
    versions = [Version(program.text), *(Version(text) for _, text in folded)]
    if case.is_optimised:
        versions += [Version(text, OPTIMISED) for _, text in folded]
    try:
        calls = run_versions(program, versions, folder)
    except DoesNotCompile as error:
        if error.version < 1:
            return Refused(f"no C: {str(error)[:200]}")
        options, text = folded[(error.version - 1) % len(folded)]
        return Failure("does not compile", f"{' '.join(options)}\n{error}\n{text}")
    outcome = compared(program, folded, calls)
    if not isinstance(outcome, Failure):
        return outcome
    if case.is_optimised and is_changed_by_compiler(program, folder):
        return check_in(replace(case, is_optimised=False), folder)
    defined = [point for point, call in zip(program.points, calls, strict=True) if call[0].status == 0]
    points = defined_points(replace(program, points=tuple(defined)), folder)
    again = [call for point, call in zip(program.points, calls, strict=True) if point in points]
    return compared(replace(program, points=points), folded, again)


def without_check(case: CCase, options: tuple[str, ...], found: Folded, folder: Path) -> Outcome:
    """What is wrong where the tool found its own code wrong: the code, or that it says so."""
    outcome = check_in(replace(case, options=((*options, "--no-check"),)), folder)
    if isinstance(outcome, Failure):
        return Failure(
            f"caught by the tool's own check: {outcome.what}", f"{found.messages}\n{outcome.detail}"
        )
    return Failure("the tool's own check is wrong", f"{' '.join(options)}\n{found.messages}")


def is_changed_by_compiler(program: CProgram, folder: Path) -> bool:
    """Whether the original itself leaves something else once it is compiled to be fast."""
    calls = run_versions(program, [Version(program.text), Version(program.text, OPTIMISED)], folder)
    return any(call[0].status == 0 and call[0].hash != call[1].hash for call in calls)


def defined_points(program: CProgram, folder: Path) -> tuple[tuple[int, ...], ...]:
    """Where what the original leaves does not depend on what its variables began with."""
    versions = [Version(program.text), Version(program.text, (*SANITIZED, ZEROS))]
    calls = run_versions(program, versions, folder)
    return tuple(
        point
        for point, call in zip(program.points, calls, strict=True)
        if call[0].status == 0 and call[1].status == 0 and call[0].hash == call[1].hash
    )


def failure_of(found: Folded, options: Sequence[str]) -> Failure | None:
    """What is wrong with a command that wrote nothing; a refusal with a reason is all right."""
    shown = f"{' '.join(options)}\n{found.messages}"
    if found.status == 3:
        return Failure("the tool's own check failed", shown)
    defect = re.search(r"defect of arrayfold, please report it: (\w+).*\((in .*?)\)", found.messages)
    if defect or "defect of arrayfold" in found.messages:
        return Failure(f"defect {' '.join(defect.groups()) if defect else ''}", shown)
    if found.status == 2 and found.messages:
        return None
    if found.status == 1 and "isl failed" not in found.messages and found.messages:
        return None
    return Failure(f"exit status {found.status}", shown)


def reason_of(messages: str) -> str:
    """The message of a refusal without names and places."""
    line = messages.splitlines()[0] if messages else ""
    line = re.sub(r"^arrayfold: (program\.c\w*:\d+:\d+: )?", "", line)
    return re.sub(r"\b(?:[a-z]\w{0,4}|\d+|\w+\[.*?\])(?=\W)", "_", line)[:80]


def compared(
    program: CProgram, folded: Sequence[tuple[tuple[str, ...], str]], calls: Sequence[dict[int, Call]]
) -> Outcome:
    """Whether all folded versions leave what the original leaves, wherever that is defined."""
    # A line of the cache is nothing: alignment alone may take as much.
    spare = LINE * count_of_arrays(program)
    tried = 0
    larger: Failure | None = None
    for point, found in zip(program.points, calls, strict=True):
        original = found[0]
        if original.status:
            continue
        tried += 1
        where = ", ".join(f"{name} = {value}" for name, value in zip(program.sizes, point, strict=True))
        for number in sorted(found.keys() - {0}):
            options, text = folded[(number - 1) % len(folded)]
            call = found[number]
            shown = f"{' '.join(options)}\nat {where}\n{call.messages[:1500]}\n{text}"
            if call.status:
                return Failure(f"folded program fails: {kind_of_crash(call)}", shown)
            if call.hash != original.hash:
                return Failure("results differ", shown)
            if call.left_bytes > original.left_bytes:
                return Failure("memory is not freed", shown)
            if call.most_bytes > original.most_bytes + spare and not may_take_more(options):
                text = f"{call.most_bytes} instead of {original.most_bytes}\n{shown}"
                larger = larger or Failure("more bytes", text)
    if larger is not None:
        return larger
    return None if tried else Refused("the original is undefined at every point")


def count_of_arrays(program: CProgram) -> int:
    """How many arrays the functions declare or allocate."""
    lines = (node for function in program.functions for node in function.body if isinstance(node, str))
    return sum(("[" in line and line.endswith("];")) or "alloc" in line for line in lines)


def kind_of_crash(call: Call) -> str:
    """One or two words of a sanitizer's message, or the signal."""
    found = re.search(r"runtime error: ([a-z -]+)|AddressSanitizer: ([a-zA-Z-]+)", call.messages)
    if found:
        return (found.group(1) or found.group(2)).strip()[:40]
    return f"status {call.status}"
