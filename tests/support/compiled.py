"""Programs that tests compile and run: quickly, and the same text with the same options once.

Compilers are told not to optimise, unless a test is about code as users compile it, and what all drivers
share is compiled once. Programs are started without copying the memory of the test process.
"""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arrayfold.run import compare, process
from arrayfold.run.process import ProcessEnd

Start = Callable[..., ProcessEnd]

_OPTIMISATION = ("-O1", "-O2", "-g")
_SHARED = "support.c"
_are_optimised = False


@contextmanager
def optimised() -> Generator[None]:
    """While this lasts, programs are compiled with the options that users get."""
    global _are_optimised
    before, _are_optimised = _are_optimised, True
    try:
        yield
    finally:
        _are_optimised = before


@contextmanager
def compiled_once(folder: Path) -> Generator[None]:
    """While this lasts, comparisons compile programs into a folder, from which they are taken again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "start", CompiledOnce(compare.start, folder))
        yield


@dataclass(frozen=True)
class CompiledOnce:
    """Starts programs, but copies what a compiler made before from the same files and options."""

    start: Start
    folder: Path
    _shared: dict[str, str] = field(default_factory=dict[str, str])

    def __call__(
        self,
        command: Sequence[str],
        folder: Path,
        seconds: float,
        environment: Mapping[str, str] | None = None,
    ) -> ProcessEnd:
        with _without_copies():
            if "-o" not in command or not any(part.endswith((".c", ".cpp")) for part in command):
                return self.start(command, folder, seconds, environment)
            return self._compile(_quick(command), folder, seconds, environment)

    def _compile(self, command: list[str], folder: Path, *limits: object) -> ProcessEnd:
        made = Path(command[command.index("-o") + 1])
        kept = self.folder / _key(command, made.parent)
        if kept.exists():
            shutil.copy(kept, made)
            return ProcessEnd(0, b"", "")
        done = self.start([self._object(part, command, folder) for part in command], folder, *limits)
        if done.status == 0 and made.exists():
            shutil.copy(made, kept)
        return done

    def _object(self, part: str, command: Sequence[str], folder: Path) -> str:
        """The part of the compiler's command, or the object file of what all programs share."""
        if Path(part).name != _SHARED:
            return part
        flags = [one for one in command[1:] if one.startswith(("-f", "-O", "-w"))]
        key = "\0".join([command[0], os.environ.get("PATH", ""), *flags, Path(part).read_text()])
        if key not in self._shared:
            made = self.folder / f"support-{len(self._shared)}.o"
            done = self.start(
                [command[0], *flags, "-c", part, "-o", str(made)], folder, compare._COMPILE_SECONDS
            )
            if done.status:
                return part
            self._shared[key] = str(made)
        return self._shared[key]


def _quick(command: Sequence[str]) -> list[str]:
    """The command without optimisation, which takes longer than anything that these programs do."""
    if _are_optimised:
        return list(command)
    return [command[0], "-O0", *(part for part in command[1:] if part not in _OPTIMISATION)]


@contextmanager
def _without_copies() -> Generator[None]:
    """While this lasts, a program is started by vfork: with all the stack there is, without other limits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_limits", lambda _: None)
        resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def _key(command: Sequence[str], where: Path) -> str:
    """The same for the same compiler, options and files, wherever these are."""
    parts = [os.environ.get("PATH", ""), str(Path.cwd()), *command]
    parts += [file.read_bytes().decode("latin-1") for file in sorted(where.glob("*.c*"))]
    text = "\0".join(part.replace(str(where), "") for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
