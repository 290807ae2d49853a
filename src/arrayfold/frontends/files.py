"""Any input file -> the problem it states."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arrayfold.base.carried import noting
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.base.input_file import read_input, text_of
from arrayfold.base.nesting import check_nesting, too_deep
from arrayfold.base.reported import reported
from arrayfold.base.source_text import SourceText
from arrayfold.base.watchdog import reading
from arrayfold.c.language import C_SUFFIXES
from arrayfold.frontends.toml.problem import read_json_problem, read_problem
from arrayfold.program.model import Problem


@reported
def read(
    file: str | Path,
    *,
    region: str | None = None,
    arguments: Sequence[str] = (),
    context: str | None = None,
    function: str | Sequence[str] = (),
) -> Problem:
    """The problem in a file; its suffix says how it is written.

    region     which one, if a C or Python file has several: its name, or its number counted from 1
    function   of a C file, whose regions are wanted; without pragmas, what of it folds most is the region
    arguments  for the C parser, such as -I and -D
    context    what is known of the sizes of a C file, such as "N >= 3", so that less must be assumed of them
    """
    problems = read_all(file, arguments=arguments, context=context, function=function)
    names = [problem.name for problem in problems]
    if region is None:
        if len(problems) == 1:
            return problems[0]
        raise InputError(
            f"{file} has {len(problems)} regions: {', '.join(names)}", hint="Name one: --region NAME"
        )
    if region in names:
        return problems[names.index(region)]
    if region.isascii() and region.isdigit() and len(region) < 10 and 1 <= int(region) <= len(problems):
        return problems[int(region) - 1]
    raise InputError(f"{file} has no region {region!r}; its regions are: {', '.join(names)}")


@reported
def read_all(
    file: str | Path,
    *,
    arguments: Sequence[str] = (),
    context: str | None = None,
    function: str | Sequence[str] = (),
) -> list[Problem]:
    """The problems in a file: one, or as many as a C file has regions or a Python file kernels."""
    path = Path(file)
    data = read_input(path)
    is_c, is_python = path.suffix in C_SUFFIXES, path.suffix == ".py"
    text = data.decode("latin-1") if is_c else text_of(path, data)
    language = "c" if is_c else "python" if is_python else "toml"
    whole = SourceText.of(text, str(path))
    if is_c or is_python:
        # Its parser may not survive it.
        if "\0" in text:
            raise whole.error("this is not a text file: there is a NUL byte", text.index("\0"))
        check_nesting(whole, language)
    with reading(str(path)):
        try:
            functions = (function,) if isinstance(function, str) else tuple(function)
            return _read(path, data, text, arguments, context, functions)
        except (RecursionError, MemoryError):
            raise too_deep(whole, language) from None


def files_behind(file: str, arguments: Sequence[str] = ()) -> dict[str, bytes]:
    """The files that `read_all` would read, as far as it comes, by the names under which it reads them."""
    path = Path(file)
    with noting() as found, suppress(ArrayfoldError):
        if path.suffix in C_SUFFIXES:
            from arrayfold.frontends.c.libclang import translation_unit

            translation_unit(str(path), read_input(path), arguments)
        else:
            read_all(file, arguments=arguments)
    return found


def _read(
    path: Path,
    data: bytes,
    text: str,
    arguments: Sequence[str],
    context: str | None,
    functions: Sequence[str],
) -> list[Problem]:
    if path.suffix in C_SUFFIXES:
        from arrayfold.frontends.c.read import read_c

        return [*read_c(str(path), data, arguments, context=context, functions=functions)]
    if functions:
        raise InputError(f"{path} is not a C file; --function names a function of one")
    if path.suffix == ".jscop":
        from arrayfold.frontends.jscop.read import read_jscop

        return [read_jscop(str(path), text, arguments)]
    if arguments:
        raise InputError(f"{path} is not a C file; options after -- are for the C parser")
    if path.suffix == ".mlir":
        from arrayfold.base.optional import optional_module

        optional_module("xdsl.ir", "mlir")
        from arrayfold.frontends.mlir.read import read_mlir

        return [*read_mlir(str(path), text)]
    if path.suffix == ".toml":
        return [read_problem(str(path), text)]
    if path.suffix == ".json":
        return [read_json_problem(str(path), text)]
    if path.name.endswith(".smo.input"):
        from arrayfold.frontends.smo import read_smo

        return [read_smo(str(path), text)]
    if path.suffix in (".yaml", ".yml", ".scop"):
        from arrayfold.frontends.pet.read import read_pet

        return [read_pet(str(path), text)]
    if path.suffix == ".py":
        from arrayfold.frontends.python.read import read_python

        return [*read_python(str(path), text)]
    raise InputError(
        f"{path}: expected a C or C++ file (.c, .cpp), a Python file (.py) or a problem file (.toml)",
        hint="Also read: JSON of model (.json), MLIR (.mlir), pet (.scop), Polly (.jscop), SMO (.smo.input).",
    )
