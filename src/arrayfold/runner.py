"""Compile the original and the folded program, run both on the same data, compare what they leave behind."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arrayfold.c.source import CSource
from arrayfold.codegen import FoldedRegion
from arrayfold.compiler import CannotRun, find_compiler
from arrayfold.driver import default_sizes, driver_text
from arrayfold.errors import InputError
from arrayfold.folded import FoldResult
from arrayfold.program import Program

__all__ = ["CannotRun", "Outcome", "RunReport", "find_compiler", "run_both"]

_SEED = 88172645463325252
_SECONDS = 300.0
_PLAIN = ("-O2",)
_SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@dataclass(frozen=True)
class Outcome:
    """What a program left behind: its data, its peak resident memory, and the end of its messages."""

    data: bytes
    status: int
    peak_bytes: int | None
    messages: str


@dataclass(frozen=True)
class RunReport:
    """Both runs side by side.

    array_bytes, folded_bytes  of the arrays that were folded, at the sizes of the run
    """

    name: str
    sizes: Mapping[str, int]
    original: Outcome
    folded: Outcome
    array_bytes: int
    folded_bytes: int
    is_sanitized: bool

    @property
    def is_equal(self) -> bool:
        """Whether all data are equal, bit for bit, and both programs ended well."""
        return self.original.status == 0 == self.folded.status and self.original.data == self.folded.data

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        where = f"{self.name} at {sizes}" if sizes else self.name
        if self.original.status:
            return f"{where}: the original program fails: {self.original.messages}"
        if self.folded.status:
            return f"{where}: the folded program fails: {self.folded.messages}"
        if not self.is_equal:
            return f"{where}: the results differ"
        sanitized = " under sanitizers" if self.is_sanitized else ""
        memory = f"arrays {self.array_bytes} -> {self.folded_bytes} bytes"
        if self.original.peak_bytes and self.folded.peak_bytes and not self.is_sanitized:
            before, after = self.original.peak_bytes, self.folded.peak_bytes
            memory += f", whole program {before} -> {after} bytes at its peak"
        return f"{where}: results equal bit for bit{sanitized}; {memory}"


def run_both(
    result: FoldResult,
    folded_code: bytes,
    *,
    params: Mapping[str, int] | None = None,
    sanitize: bool = False,
    seed: int = _SEED,
    region: FoldedRegion | None = None,
) -> RunReport:
    """Run the original file and the folded one, and compare.

    folded_code  the file as it was written
    region       what was written, where arrays may have a few cells more than the result says
    """
    program = result.problem
    if not isinstance(program, Program) or program.source is None:
        raise InputError("only C files can be compiled and run")
    compiler = find_compiler()
    if compiler is None:
        raise CannotRun("there is no C compiler on this machine (looked for CC, cc, gcc, clang)")
    sizes = default_sizes(program, params or {})
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        original = _run_one(
            compiler, Path(folder, "original"), program, program.source.text.data, sizes, sanitize, seed
        )
        folded = _run_one(compiler, Path(folder, "folded"), program, folded_code, sizes, sanitize, seed)
    before, after = _bytes(result, program.source, sizes, region)
    return RunReport(program.name, sizes, original, folded, before, after, sanitize)


def _bytes(
    result: FoldResult, source: CSource, sizes: Mapping[str, int], region: FoldedRegion | None
) -> tuple[int, int]:
    """Bytes of the arrays before and after."""
    program = result.problem
    assert isinstance(program, Program)
    width = {array.name: max(1, source.variables[array.name].element.bits // 8) for array in result}
    before = sum(
        max(1, source.replaced[old].element.bits // 8) * max(0, size.at(sizes))
        for old, size in program.replaced.items()
    )
    for array in result:
        if array.name not in program.origins:
            before += width[array.name] * max(0, array.original_size.at(sizes))
    written = {} if region is None else {fold.mapping.array: fold.mapping.size for fold in region.folds}
    blocks = () if result.footprint is None else result.footprint.blocks
    placed = {name for block in blocks for name in block.offsets}
    after = sum(width[next(iter(block.offsets))] * max(0, block.size.at(sizes)) for block in blocks)
    for array in result:
        if array.name not in placed:
            after += width[array.name] * max(0, written.get(array.name, array.size).at(sizes))
    return before, after


def _run_one(
    compiler: str,
    folder: Path,
    program: Program,
    code: bytes,
    sizes: Mapping[str, int],
    sanitize: bool,
    seed: int,
) -> Outcome:
    source = program.source
    assert source is not None
    folder.mkdir()
    kernel = folder / "kernel.c"
    kernel.write_bytes(code)
    main = kernel
    if source.region.function.name != "main":
        main = folder / "driver.c"
        main.write_text(driver_text(str(kernel), program, sizes, seed))
    home = str(Path(source.text.file).resolve().parent)
    flags = [*(_SANITIZE if sanitize else _PLAIN), "-w", "-ffp-contract=off", f"-iquote{home}"]
    if program.parallel:
        flags.append("-fopenmp")
    executable = str(folder / "program")
    command = [compiler, *source.text.arguments, *flags, str(main), "-o", executable, "-lm"]
    compiled = _execute(command, folder)
    if compiled.status:
        raise CannotRun(f"the compiler refuses {folder.name}: {_tail(compiled.messages)}")
    return _execute([executable], folder)


def _execute(command: Sequence[str], folder: Path) -> Outcome:
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env=environment,
            preexec_fn=_unlimited_stack,
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{Path(command[0]).name} ran for more than {_SECONDS:g} s") from None
    except OSError as error:
        raise CannotRun(f"{command[0]} cannot be started: {error.strerror}") from None
    messages = done.stderr.decode("utf-8", "replace")
    lines = messages.splitlines()
    peaks = [line.split()[1] for line in lines if line.startswith("arrayfold-peak ")]
    rest = "\n".join(line for line in lines if not line.startswith("arrayfold-peak "))
    if done.returncode < 0:
        rest = f"ended by signal {-done.returncode}. {rest}"
    return Outcome(done.stdout, done.returncode, 1024 * int(peaks[-1]) if peaks else None, _tail(rest))


def _unlimited_stack() -> None:
    """The original may keep large arrays on the stack."""
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))


def _tail(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[:lines])
