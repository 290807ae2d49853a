"""Any input file -> the problem it states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arrayfold._defects import reported
from arrayfold.errors import InputError
from arrayfold.frontends.problem import read_json_problem, read_problem
from arrayfold.program import Problem


@reported
def read(
    file: str | Path,
    *,
    region: str | None = None,
    arguments: Sequence[str] = (),
    context: str | None = None,
) -> Problem:
    """The problem in a file; its suffix says how it is written.

    region     which one, if a C or Python file has several: its name, or its number counted from 1
    arguments  for the C parser, such as -I and -D
    context    what is known of the sizes of a C file, such as "N >= 3", so that less must be assumed of them
    """
    problems = read_all(file, arguments=arguments, context=context)
    names = [problem.name for problem in problems]
    if region is None:
        if len(problems) == 1:
            return problems[0]
        raise InputError(
            f"{file} has {len(problems)} regions: {', '.join(names)}", hint="Name one: --region NAME"
        )
    if region in names:
        return problems[names.index(region)]
    if region.isdigit() and 1 <= int(region) <= len(problems):
        return problems[int(region) - 1]
    raise InputError(f"{file} has no region {region!r}; its regions are: {', '.join(names)}")


@reported
def read_all(file: str | Path, *, arguments: Sequence[str] = (), context: str | None = None) -> list[Problem]:
    """The problems in a file: one, or as many as a C file has regions or a Python file kernels."""
    path = Path(file)
    data = _bytes_of(path)
    if path.suffix == ".c":
        from arrayfold.frontends.c import read_c

        return [*read_c(str(path), data, arguments, context=context)]
    if arguments:
        raise InputError(f"{path} is no C file; options after -- are for the C parser")
    if path.suffix == ".toml":
        return [read_problem(str(path), _text_of(path, data))]
    if path.suffix == ".json":
        return [read_json_problem(str(path), _text_of(path, data))]
    if path.name.endswith(".smo.input"):
        from arrayfold.frontends.smo import read_smo

        return [read_smo(str(path), _text_of(path, data))]
    if path.suffix in (".yaml", ".yml"):
        from arrayfold.frontends.pet import read_pet

        return [read_pet(str(path), _text_of(path, data))]
    if path.suffix == ".py":
        from arrayfold.frontends.python import read_python

        return [*read_python(str(path), _text_of(path, data))]
    raise InputError(
        f"{path}: expected a C file (.c), a Python file (.py) or a problem file (.toml)",
        hint="Also read: JSON of model (.json), files of pet (.yaml) and of SMO (.smo.input).",
    )


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory; expected a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _text_of(path: Path, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path}: this is not a text file (UTF-8 is expected)")
    return text
