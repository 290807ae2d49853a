"""Compile the original and the folded program, run both on the same data, compare what they leave behind."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arrayfold.base.errors import InputError
from arrayfold.c.language import is_cplusplus
from arrayfold.c.source import CSource
from arrayfold.program.model import Program
from arrayfold.run.compiler import CannotRun, find_compiler, find_cplusplus_compiler
from arrayfold.run.driver import Driver
from arrayfold.run.driver_support import MISUSE, NO_MEMORY, support_text
from arrayfold.run.outcome import FinalState, SizeComparison, first_difference
from arrayfold.run.process import TookTooLong, start

_RUN_SECONDS = 60.0
_COMPILE_SECONDS = 300.0
_SEED = 88172645463325252
_PLAIN = ("-O2",)
_SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_SANITIZER_STATUS = 86
_LEAK = "LeakSanitizer: detected memory leaks"
_KINDS_OF_DATA = 4


@dataclass(frozen=True)
class Setting:
    """How programs are run; `seconds` is how long one may take."""

    sanitize: bool = False
    seconds: float = _RUN_SECONDS


def compare_runs(
    program: Program, folded_code: bytes, sizes: Sequence[Mapping[str, int]], setting: Setting
) -> list[SizeComparison]:
    """Compile both programs and compare them at these sizes; a main program is run once, as it is."""
    source = program.source
    if source is None:
        raise InputError("only C files can be compiled and run")
    if source.region.function.has_object:
        name = source.region.function.name
        raise CannotRun(f"{name} is a member function, and there is no object to call it for")
    compiler = find_cplusplus_compiler() if is_cplusplus(source.text.file) else find_compiler()
    if compiler is None and is_cplusplus(source.text.file):
        raise CannotRun("there is no C++ compiler on this machine (looked for CXX, c++, g++, clang++)")
    if compiler is None:
        raise CannotRun("there is no C compiler on this machine (looked for CC, cc, gcc, clang)")
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        original, folded = (
            _Executable.compiled(compiler, Path(folder, name), program, code, sizes[0], setting)
            for name, code in (("original", source.text.as_written), ("folded", folded_code))
        )
        return _until_failure(original, folded, sizes[:1] if is_main(source) else sizes)


def is_main(source: CSource) -> bool:
    """Whether the region stands in a main program, which is run as it is."""
    return source.region.function.name == "main"


def _until_failure(
    original: _Executable, folded: _Executable, sizes: Sequence[Mapping[str, int]]
) -> list[SizeComparison]:
    """The comparisons at these sizes; one that fails is the last, unless a small size is to blame."""
    found: list[SizeComparison] = []
    for here in sizes:
        found.append(_at(original, folded, here))
        last = found[-1]
        if not last.is_equal and (last.is_fair or len(found) == 1 or last.original.is_endless):
            break
    return found


def _at(original: _Executable, folded: _Executable, sizes: Mapping[str, int]) -> SizeComparison:
    """Both programs at one size, on data on which the original does not fail if there are such."""
    kind, first = 0, original.run(sizes, 0)
    with_leaks = _LEAK not in first.failure
    for other in range(with_leaks, _KINDS_OF_DATA):
        if not first.failure or not first.is_data_to_blame:
            break
        attempt = original.run(sizes, other, with_leaks=with_leaks)
        if not attempt.failure:
            kind, first = other, attempt
    if first.failure:
        return SizeComparison(
            sizes, first, None, f"the original program fails: {first.failure}", is_fair=False
        )
    second = folded.run(sizes, kind, with_leaks=with_leaks)
    if second.failure:
        return SizeComparison(sizes, first, second, f"the folded program fails: {second.failure}")
    difference = first_difference(first, second)
    if difference and first_difference(first, original.run(sizes, kind, with_leaks=with_leaks)):
        difference = "the original program itself gives different results each time it runs"
        return SizeComparison(sizes, first, second, difference, is_fair=False)
    return SizeComparison(sizes, first, second, f"the results differ: {difference}" if difference else "")


@dataclass(frozen=True)
class _Executable:
    """A compiled program; every run of it is a new process, so both begin with the same state."""

    folder: Path
    driver: Driver
    setting: Setting
    is_main: bool

    @staticmethod
    def compiled(
        compiler: str,
        folder: Path,
        program: Program,
        code: bytes,
        sizes: Mapping[str, int],
        setting: Setting,
    ) -> _Executable:
        """Compile a file, with a main program around it unless it has its own."""
        source, driver = program.source, Driver(program)
        assert source is not None
        folder.mkdir()
        language = "cpp" if is_cplusplus(source.text.file) else "c"
        kernel = folder / f"kernel.{language}"
        kernel.write_bytes(code)
        files = [kernel]
        if not is_main(source):
            files = [folder / f"driver.{language}", folder / "support.c"]
            text = driver.text(str(kernel), sizes)
            files[0].write_text(text, encoding="utf-8", errors="surrogateescape")
            files[1].write_text(support_text(_SEED))
        home = str(Path(source.text.file).resolve().parent)
        flags = [*(_SANITIZE if setting.sanitize else _PLAIN), "-w", "-ffp-contract=off", f"-iquote{home}"]
        flags += ["-fopenmp"] * bool(program.parallel)
        # Memory is allocated as C does it, and a member function may be private.
        flags += ["-fpermissive", "-fno-access-control"] * (language == "cpp")
        command = [compiler, *source.text.arguments, *flags, *map(str, files), "-o", str(folder / "program")]
        try:
            # In the user's own folder, to which -I and the like refer.
            done = start([*command, "-lm"], Path.cwd(), _COMPILE_SECONDS)
        except TookTooLong as error:
            raise CannotRun(f"the compiler gives no answer on {folder.name}: {error}") from None
        if done.status:
            raise CannotRun(f"the compiler refuses {folder.name}: {done.reason}")
        return _Executable(folder, driver, setting, is_main(source))

    def run(self, sizes: Mapping[str, int], kind: int, *, with_leaks: bool = True) -> FinalState:
        """What the program leaves behind at these sizes, on data of this kind.

        with_leaks  whether memory that is not freed is a failure
        """
        result, names = self.folder / "result", self.folder / "names"
        for file in (result, names):
            file.unlink(missing_ok=True)
        command = [str(self.folder / "program")]
        if not self.is_main:
            command += [str(result), str(names), str(kind), *self.driver.numbers(sizes)]
        options = f"exitcode={_SANITIZER_STATUS}"
        environment = {
            "ASAN_OPTIONS": f"detect_leaks={int(with_leaks)}:{options}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{options}",
        }
        try:
            done = start(command, self.folder, self.setting.seconds, environment)
        except TookTooLong as error:
            return FinalState(b"", str(error), is_endless=True)
        if done.status == NO_MEMORY and not self.is_main:
            return FinalState(done.output, "its data do not fit into memory")
        if done.status == MISUSE and not self.is_main:
            return FinalState(done.output, done.messages.removeprefix("arrayfold: "))
        is_failure = done.status != 0 and (
            not self.is_main or done.status < 0 or done.status == _SANITIZER_STATUS
        )
        if is_failure:
            return FinalState(done.output, done.reason, is_data_to_blame=True)
        output = done.output + f"\nstatus {done.status}".encode() * self.is_main
        if self.is_main:
            return FinalState(output)
        return FinalState(output, "", result.read_bytes(), *_names_and_peak(names))


def _names_and_peak(file: Path) -> tuple[tuple[tuple[int, str], ...], int | None]:
    """Where the values of each variable begin, and the peak of memory in bytes."""
    names: list[tuple[int, str]] = []
    peak = None
    for line in file.read_text("utf-8", "replace").splitlines():
        first, _, rest = line.partition(" ")
        if first == "arrayfold-peak":
            peak = 1024 * int(rest.split()[0])
        else:
            names.append((int(first), rest))
    return tuple(names), peak
