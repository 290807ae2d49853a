"""C files with `#pragma scop` regions -> programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.source import CText
from arrayfold.frontends.c.clang import parse_c
from arrayfold.frontends.c.openmp import parallel_around, private_names, read_directives
from arrayfold.frontends.c.region_program import RegionProgram
from arrayfold.frontends.c.region_reader import RegionReader
from arrayfold.frontends.c.regions import PragmaOption, active_pragmas, find_pure, find_regions, find_wishes
from arrayfold.frontends.options import apply_options
from arrayfold.program.model import Program


def read_c(
    file: str,
    data: bytes,
    arguments: Sequence[str] = (),
    origin: Callable[[int], SourcePosition | None] | None = None,
    context: str | None = None,
) -> list[Program]:
    """The regions of a C file as programs, in the order of the file.

    origin   where the text of a byte comes from, if the C was made from another language
    context  what the user says of the parameters, so that nothing more than needed is assumed of them
    """
    unit = parse_c(file, data, arguments)
    text = CText(file, data, tuple(arguments), unit.macros, origin, unit.names)
    pragmas = active_pragmas(text, unit)
    programs: list[Program] = []
    pure = find_pure(text, unit, pragmas)
    for region in find_regions(text, unit, pragmas):
        directives = read_directives(text, region, pragmas, unit.skipped)
        wishes = find_wishes(text, region.function, pragmas)
        said = [wish.argument for wish in wishes if wish.clause == "context"] + ([context] if context else [])
        reader = RegionReader(text, region, directives, unit.skipped, pure, said)
        while reader.must_read_again:
            reader = RegionReader(text, region, directives, unit.skipped, pure, said, reader.context)
        private = private_names(text, region, pragmas)
        program = RegionProgram(reader).program(private, parallel_around(text, region, pragmas))
        programs.append(_apply_pragmas(program, text, wishes))
    return programs


def _apply_pragmas(program: Program, text: CText, wishes: Iterable[PragmaOption]) -> Program:
    """The program with what its own pragmas say."""
    for wish in wishes:
        try:
            if wish.clause == "temporary":
                for name in filter(None, (part.strip() for part in wish.argument.split(","))):
                    program = program.with_temporary(name)
            elif wish.clause == "no_alias":
                program = program.without_aliases()
            elif wish.clause != "pure":
                said = {wish.clause: wish.argument}
                narrowed = apply_options(program, context=said.get("context"), live_out=said.get("live_out"))
                assert isinstance(narrowed, Program)
                program = narrowed
        except InputError as error:
            inside = error.place.column - 1 if error.place else 0
            raise text.error(error.message, wish.at + inside, error.hint) from None
    return program
