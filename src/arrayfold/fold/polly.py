"""A compiler with Polly, run twice: what it exports is folded where it is local memory, and imported."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.fold.arrays import fold
from arrayfold.fold.jscop import folded_jscop
from arrayfold.fold.result import FoldResult
from arrayfold.frontends import apply_options, read
from arrayfold.frontends.jscop.local_memory import functions_of, local_arrays
from arrayfold.frontends.jscop.read import NAMES_ARE_LLVM
from arrayfold.program.model import Program

TESTED = (22,)
_OLDEST = 15
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C")
_FLAGS = (
    "-polly",
    "-polly-position=early",
    "-polly-process-unprofitable",
    NAMES_ARE_LLVM,
    "-polly-optimizer=none",
    "-polly-enable-optree=0",
    "-polly-enable-delicm=0",
    "-polly-enable-simplify=0",
)


@dataclass(frozen=True, eq=False)
class Compiled:
    """What came of a compilation.

    results  the folds of its regions, with the names of the functions that they are in
    notes    what is to be said of it, one sentence each
    """

    results: tuple[FoldResult, ...]
    notes: tuple[str, ...]


def compile_folded(command: Sequence[str], budget: Budget) -> Compiled:
    """Compile a file of C or C++ by clang with Polly, with local arrays folded.

    command  as it is without arrayfold: clang -O3 file.c -o prog
    """
    notes = _checked_compiler(command)
    sources = [word for word in command[1:] if word.endswith(_SOURCES)]
    if len(sources) != 1:
        found = "no file" if not sources else f"{len(sources)} files"
        raise InputError(
            f"one file of C or C++ is compiled at a time, here are {found}", hint="Compile with -c."
        )
    if not any(re.fullmatch(r"-O[123s]|-Ofast", word) for word in command):
        notes.append("without -O2 or -O3 Polly does nothing")
    with tempfile.TemporaryDirectory(prefix="arrayfold") as folder:
        exported = _options(folder, "-polly-export", f"-polly-dump-before-file={folder}/before.ll")
        _run([*_elsewhere(command, f"{folder}/object"), *exported])
        results = _fold_regions(Path(folder), budget, notes)
        if not results:
            _run(command)
            return Compiled((), (*notes, "nothing is provably local and folds, so it is compiled as it is"))
        _run([*command, *_options(folder, "-polly-import")])
    return Compiled(tuple(results), tuple(notes))


def _checked_compiler(command: Sequence[str]) -> list[str]:
    """What is to be said of the compiler; an error if it is none that can do it."""
    if not command or which(command[0]) is None:
        name = command[0] if command else "nothing"
        raise InputError(
            f"there is no compiler {name!r}", hint="As in arrayfold cc -- clang -O3 file.c -o prog"
        )
    version = subprocess.run(  # noqa: S603
        [command[0], "--version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(r"clang version (\d+)", version)
    if found is None:
        raise InputError(
            f"{command[0]} is not clang, which has Polly", hint="On Debian: apt-get install clang-22"
        )
    number = int(found[1])
    if number < _OLDEST:
        hint = "On Debian: apt-get install clang-22; older ones fold by hand, see docs/howto/llvm.md."
        raise InputError(f"clang {number} runs Polly by opt only", hint=hint)
    if number in TESTED:
        return []
    tested = " and ".join(map(str, TESTED))
    return [f"this is clang {number}; it was tested with {tested}"]


def _options(folder: str, *more: str) -> list[str]:
    flags = (*_FLAGS, f"-polly-import-jscop-dir={folder}", *more)
    return ["-fno-discard-value-names", *(word for flag in flags for word in ("-mllvm", flag))]


def _elsewhere(command: Sequence[str], output: str) -> list[str]:
    """The command, as one that writes an object file to another place."""
    words = list(command)
    if "-o" in words[:-1]:
        del words[words.index("-o") : words.index("-o") + 2]
    words = [word for word in words if word not in ("-c", "-S") and not word.startswith(("-l", "-Wl,"))]
    return [*words, "-c", "-o", output]


def _run(command: Sequence[str]) -> None:
    """Run a compiler; an error if it fails."""
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        lines = [
            line
            for line in done.stderr.splitlines()
            if not line.startswith(("Reading JScop", "Writing JScop"))
        ]
        if any("Unknown command line argument '-polly" in line for line in lines):
            hint = "Debian's clang-22 has it."
            raise InputError(f"{command[0]} is built without Polly", hint=hint)
        raise InputError(f"{command[0]} fails:\n" + "\n".join(lines))


def _fold_regions(folder: Path, budget: Budget, notes: list[str]) -> list[FoldResult]:
    """Fold what is local in each region that was exported, and write that in its place."""
    dumped = folder / "before.ll"
    functions = functions_of(dumped.read_text("utf-8", "replace")) if dumped.exists() else {}
    results: list[FoldResult] = []
    for file in sorted(folder.glob("*.jscop")):
        try:
            program = read(file, arguments=[NAMES_ARE_LLVM])
        except ArrayfoldError as error:
            notes.append(f"{file.name} is left as it is: {str(error).splitlines()[0]}")
            continue
        assert isinstance(program, Program)
        function = file.name.removesuffix(f"___{program.name}.jscop")
        if function not in functions:
            continue
        uses = Counter(one.array for statement in program.statements for one in statement.accesses)
        names = local_arrays(functions[function], program.name, uses)
        try:
            result = _folded(program, [name for name in names if name in uses], budget)
            if result is None:
                continue
            text = folded_jscop(str(file), file.read_text(), result, [NAMES_ARE_LLVM])
        except ArrayfoldError as error:
            notes.append(f"{function} is left as it is: {str(error).splitlines()[0]}")
            continue
        file.write_text(text)
        results.append(replace(result, problem=replace(program, name=function)))
    return results


def _folded(program: Program, names: Sequence[str], budget: Budget) -> FoldResult | None:
    """The fold of some arrays; dimension by dimension where there are parameters. None if nothing shrinks."""
    if not names:
        return None
    problem = apply_options(program, temporary=names)
    assert isinstance(problem, Program)
    method = "successive-modulo" if problem.parameters else "auto"
    result = fold(problem, arrays=list(names), method=method, budget=budget)
    kept = tuple(one for one in result.arrays if one.shrinks and one.name not in result.live_in)
    return replace(result, arrays=kept) if kept else None
