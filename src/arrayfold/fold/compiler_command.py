"""The command of a compiler: which of its words are source files, and what it is to make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

C_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C")
FORTRAN_SOURCES = (".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08", ".f", ".F", ".for")

# Options whose value is the next word.
_WITH_VALUE = frozenset(
    {
        "-o",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-B",
        "-J",
        "-T",
        "-u",
        "-z",
        "-e",
        "-x",
        "-F",
        "-A",
        "-MF",
        "-MT",
        "-MQ",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-isysroot",
        "-iprefix",
        "-iwithprefix",
        "--param",
        "--sysroot",
        "-target",
        "-arch",
        "-framework",
        "-module-dir",
        "-mllvm",
        "-mmlir",
        "-Xclang",
        "-Xflang",
        "-Xlinker",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xarch_host",
        "-fmodule-file",
        "-dependency-file",
    }
)
# With these a compiler tells something, and compiles nothing.
_QUESTIONS = ("-E", "-M", "-MM", "-fsyntax-only", "-###", "--help", "--version", "-v")
_QUESTION_PREFIXES = ("-print", "-emit", "--print", "-ast-dump", "-dump")
_ONLY_TO_LINK = ("-l", "-Wl,", "-L", "-shared", "-static", "-rdynamic", "-pie", "-no-pie")
_DEPENDENCIES = frozenset({"-MD", "-MMD", "-MP"})


@dataclass(frozen=True)
class CompilerCommand:
    """A command as it is without arrayfold.

    words    the compiler, then its options and files
    sources  positions of the source files
    """

    words: tuple[str, ...]
    sources: tuple[int, ...]

    @staticmethod
    def of(words: Sequence[str], suffixes: Sequence[str]) -> CompilerCommand:
        """The command of these words, with source files of these suffixes.

        >>> CompilerCommand.of(["clang", "-include", "a.c", "b.c", "-o", "c.c"], [".c"]).sources
        (3,)
        """
        found = tuple(k for k in _plain(words) if words[k].endswith(tuple(suffixes)))
        return CompilerCommand(tuple(words), found)

    @property
    def files(self) -> list[str]:
        """The source files."""
        return [self.words[k] for k in self.sources]

    @property
    def asks_only(self) -> bool:
        """Whether nothing is to be folded: questions, links of objects, and languages that -x says."""
        is_question = any(word in _QUESTIONS or word.startswith(_QUESTION_PREFIXES) for word in self.words)
        return is_question or not self.sources or any(word.startswith("-x") for word in self.words)

    @property
    def links(self) -> bool:
        """Whether the result is a program or a library, not objects or assembly."""
        return "-c" not in self.words and "-S" not in self.words

    @property
    def level(self) -> str:
        """The last -O, without its sign; 0 if there is none."""
        found = [word for word in self.words if word.startswith("-O")]
        return found[-1].removeprefix("-O") or "1" if found else "0"

    def only(self, position: int) -> CompilerCommand:
        """The command with one of its source files."""
        dropped = set(self.sources) - {position}
        words = tuple(word for k, word in enumerate(self.words) if k not in dropped)
        return CompilerCommand(words, (position - sum(k < position for k in dropped),))

    def with_sources(self, files: Sequence[str]) -> CompilerCommand:
        """The command with other files in the places of its sources."""
        words = list(self.words)
        for k, file in zip(self.sources, files, strict=True):
            words[k] = file
        return replace(self, words=tuple(words))

    def to(self, output: str | Path, *options: str) -> list[str]:
        """The words of a command that compiles one file, and writes nothing but one output."""
        words: list[str] = []
        k = 0
        while k < len(self.words):
            word = self.words[k]
            if word in ("-o", "-L", "-l", "-MF", "-MT", "-MQ"):
                k += 1
            elif (
                word not in ("-c", "-S") and word not in _DEPENDENCIES and not _is_for_linker_or_output(word)
            ):
                words.append(word)
            k += 1
        return [*words, *options, "-o", str(output)]


def _is_for_linker_or_output(word: str) -> bool:
    return word.startswith(("-o", *_ONLY_TO_LINK))


def _plain(words: Sequence[str]) -> Iterator[int]:
    """The positions of words that are neither the compiler, options, nor values of options."""
    k = 1
    while k < len(words):
        if words[k] in _WITH_VALUE:
            k += 1
        elif not words[k].startswith("-"):
            yield k
        k += 1
