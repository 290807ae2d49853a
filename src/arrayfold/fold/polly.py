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
from arrayfold.fold.compiler_command import C_SOURCES, FORTRAN_SOURCES, CompilerCommand
from arrayfold.fold.jscop import folded_jscop
from arrayfold.fold.result import FoldResult
from arrayfold.frontends import apply_options, read
from arrayfold.frontends.jscop.local_memory import functions_of, local_arrays
from arrayfold.frontends.jscop.names import with_names
from arrayfold.frontends.jscop.read import NAMES_ARE_LLVM
from arrayfold.program.model import Program

_OLDEST = 15
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


@dataclass(frozen=True)
class PollyCompiler:
    """A compiler that has Polly.

    tested    the versions with which the tests were run
    suffixes  of its source files
    options   that make Polly see the names of values; none if it compiles to text that gets names first
    """

    name: str
    version: str
    tested: tuple[int, ...]
    suffixes: tuple[str, ...]
    options: tuple[str, ...]
    example: str

    @property
    def newest(self) -> str:
        """The name of the newest tested version on Debian."""
        return f"{self.name}-{max(self.tested)}"


CLANG = PollyCompiler(
    "clang",
    r"clang version (\d+)",
    (19, 22),
    C_SOURCES,
    ("-fno-discard-value-names",),
    "arrayfold cc -- clang -O3 file.c -o prog",
)
FLANG = PollyCompiler(
    "flang",
    r"flang(?:-new)? version (\d+)",
    (22,),
    FORTRAN_SOURCES,
    (),
    "arrayfold fc -- flang -O3 file.f90 -o prog",
)


@dataclass(frozen=True, eq=False)
class Compiled:
    """What came of a compilation.

    results  the folds of its regions, with the names of the functions that they are in
    notes    what is to be said of it, one sentence each
    status   exit status of the compiler
    said     what the compiler had to say
    """

    results: tuple[FoldResult, ...]
    notes: tuple[str, ...]
    status: int = 0
    said: str = ""


@dataclass(frozen=True, eq=False)
class _Unit:
    """A source file, how it is compiled, and the folds in it.

    folder  where the regions are
    said    what the compiler had to say of the source
    """

    command: CompilerCommand
    folder: Path
    results: tuple[FoldResult, ...]
    said: str = ""

    def options(self, compiler: PollyCompiler) -> list[str]:
        """What makes the compiler read the regions; nothing where nothing is folded."""
        if not self.results:
            return []
        names = dict.fromkeys(one.problem.name for one in self.results)
        is_plain = all(re.fullmatch(r"[\w.$]+", name) for name in names)
        only = [f"-polly-only-func=^{re.escape(name)}$" for name in names] if is_plain else []
        return _options(compiler, self.folder, "-polly-import", *only)


def compile_folded(words: Sequence[str], budget: Budget, compiler: PollyCompiler = CLANG) -> Compiled:
    """Compile files by a compiler with Polly, with local arrays folded.

    words  the command as it is without arrayfold: clang -O3 file.c -o prog
    """
    notes = _checked_compiler(words, compiler)
    command = CompilerCommand.of(words, compiler.suffixes)
    if command.asks_only:
        return Compiled((), (), _run_as_it_is(words))
    if command.level == "0":
        return Compiled((), (*notes, "without -O2 or -O3 nothing is folded"), _run_as_it_is(words))
    with tempfile.TemporaryDirectory(prefix="arrayfold") as name:
        units: list[_Unit] = []
        for k in command.sources:
            folder = Path(name) / str(k)
            folder.mkdir()
            units.append(_folded_unit(command.only(k), folder, compiler, budget, notes))
        results = tuple(result for unit in units for result in unit.results)
        if results:
            try:
                said = _compile_units(command, units, Path(name), compiler)
                return Compiled(results, tuple(notes), said=said)
            except _CompilerFails as failure:
                notes.append(f"it is compiled as it is, because it fails with the folds: {failure.summary}")
        else:
            notes.append("nothing is provably local and folds, so it is compiled as it is")
    return Compiled((), tuple(notes), _run_as_it_is(words))


def _compile_units(
    command: CompilerCommand, units: Sequence[_Unit], folder: Path, compiler: PollyCompiler
) -> str:
    """Compile with the folds, and link if the command does; what the compiler has to say."""
    said = "".join(unit.said for unit in units)
    if len(units) == 1 or not command.links:
        return said + "".join(_run([*unit.command.words, *unit.options(compiler)]) for unit in units)
    objects = [str(folder / f"{k}.o") for k in range(len(units))]
    for unit, output in zip(units, objects, strict=True):
        said += _run(unit.command.to(output, "-c", *unit.options(compiler)))
    return said + _run(command.with_sources(objects).words)


def _checked_compiler(command: Sequence[str], compiler: PollyCompiler) -> list[str]:
    """What is to be said of the compiler; an error if it is none that can do it."""
    if not command or which(command[0]) is None:
        name = command[0] if command else "nothing"
        raise InputError(f"there is no compiler {name!r}", hint=f"As in {compiler.example}")
    version = subprocess.run(  # noqa: S603
        [command[0], "--version"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(compiler.version, version)
    install = f"On Debian: apt-get install {compiler.newest}"
    if found is None:
        raise InputError(f"{command[0]} is not {compiler.name}, which has Polly", hint=install)
    number = int(found[1])
    if number < _OLDEST:
        hint = f"{install}; older ones fold by hand, see docs/howto/llvm.md."
        raise InputError(f"{compiler.name} {number} runs Polly by opt only", hint=hint)
    if number in compiler.tested:
        return []
    tested = " and ".join(map(str, compiler.tested))
    return [f"this is {compiler.name} {number}; it was tested with {tested}"]


def _options(compiler: PollyCompiler, folder: Path, *more: str) -> list[str]:
    flags = (*_FLAGS, f"-polly-import-jscop-dir={folder}", *more)
    return [*compiler.options, *(word for flag in flags for word in ("-mllvm", flag))]


class _CompilerFails(Exception):
    """A compiler fails; the message is what it says."""

    @property
    def summary(self) -> str:
        """Its first line."""
        return (str(self).splitlines() or ["without a word"])[0]


def _run(command: Sequence[str]) -> str:
    """Run a compiler, and return what it says."""
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)  # noqa: S603
    lines = [
        line
        for line in done.stderr.splitlines()
        if line and not line.startswith(("Reading JScop", "Writing JScop"))
    ]
    if done.returncode == 0:
        return "".join(f"{line}\n" for line in lines)
    if any("Unknown command line argument '-polly" in line for line in lines):
        raise InputError(f"{command[0]} is built without Polly", hint="Debian's has it.")
    raise _CompilerFails("\n".join(lines))


def _run_as_it_is(command: Sequence[str]) -> int:
    """Run a compiler that speaks for itself, and return its exit status."""
    return subprocess.run(list(command), check=False).returncode  # noqa: S603


def _folded_unit(
    command: CompilerCommand, folder: Path, compiler: PollyCompiler, budget: Budget, notes: list[str]
) -> _Unit:
    """A source file with the folds of what is local in it."""
    said, prepared = "", command
    (file,) = command.files
    try:
        if not compiler.options:
            text = folder / f"{Path(file).stem}.ll"
            plain = ("-O1", "-S", "-emit-llvm", "-mllvm", "-disable-loop-idiom-all")
            said = _run(command.to(text, *plain))
            named = with_names(text.read_text("utf-8"))
            if named is None:
                notes.append(f"{file} is compiled as it is: types have numbers in the text of LLVM")
                return _Unit(command, folder, ())
            text.write_text(named)
            prepared = command.with_sources([str(text)])
        exported = _options(compiler, folder, "-polly-export", f"-polly-dump-before-file={folder}/before.ll")
        _run(prepared.to(folder / "object", "-c", *exported))
    except _CompilerFails as failure:
        output = folder / "plain"
        try:
            _run(command.to(output, "-c"))
        except _CompilerFails as failed:
            raise InputError(f"{command.words[0]} fails:\n{failed}") from None
        notes.append(f"{file} is compiled as it is, because Polly fails: {failure.summary}")
        return _Unit(command, folder, ())
    results = tuple(_fold_regions(folder, budget, notes))
    return _Unit(prepared, folder, results, said) if results else _Unit(command, folder, ())


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
            reason = str(error).splitlines()[0].removeprefix(f"{file}: ")
            notes.append(f"{function} is left as it is: {reason}")
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
