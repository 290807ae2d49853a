"""C files -> the programs of their regions, which stand between `#pragma scop` and `#pragma endscop`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.edits import Edit
from arrayfold.c.lexer import CLAUSE, Pragma, find_pragmas, without_directives
from arrayfold.c.source import CText, Region
from arrayfold.c.tree import Block, For, FunctionTree, walk
from arrayfold.frontends.c.assumptions import ContextBuilder
from arrayfold.frontends.c.chosen import RegionChooser
from arrayfold.frontends.c.clang import Unit, parse_c
from arrayfold.frontends.c.critical import read_critical_blocks, sections_of
from arrayfold.frontends.c.fields import with_fields
from arrayfold.frontends.c.normal.simplify import edited, simplified
from arrayfold.frontends.c.on_data import LoopsOnData, loops_over
from arrayfold.frontends.c.openmp import parallel_around, private_names, read_directives
from arrayfold.frontends.c.overloads import TEMPLATES, find_function, refuse_overloads
from arrayfold.frontends.c.references import (
    refuse_changed_sizes,
    refuse_other_names,
    refuse_unknown_structures,
)
from arrayfold.frontends.c.region_program import RegionProgram
from arrayfold.frontends.c.region_reader import RegionReader
from arrayfold.frontends.options import apply_options
from arrayfold.program.model import Program

_HINT = "Write #pragma scop on a line before the loops and #pragma endscop on a line after them."
_CLAUSES = ("temporary", "live_out", "context", "pure", "no_alias")


@dataclass(frozen=True)
class _PragmaClause:
    """One clause of a `#pragma arrayfold` line, such as temporary(tmp)."""

    clause: str
    argument: str
    at: int


def read_c(
    file: str,
    data: bytes,
    arguments: Sequence[str] = (),
    origin: Callable[[int], SourcePosition | None] | None = None,
    context: str | None = None,
    functions: Sequence[str] = (),
) -> list[Program]:
    """The regions of a C file as programs, in the order of the file.

    origin     where the text of a byte comes from, if the C was made from another language
    context    what the user says of the parameters, so that nothing more than needed is assumed of them
    functions  those whose regions are wanted, with pragmas or without; none for all regions with pragmas
    """
    unit = parse_c(file, data, arguments)
    text = CText(file, data, tuple(arguments), unit.macros, origin, unit.names)
    if origin is not None:
        # A loop of another language evaluates its bounds once.
        return _read_programs(text, unit, context, _regions_of(text, unit), may_be_on_data=False)
    pragmas = _active_pragmas(text, unit)
    functions = [find_function(text, unit, name).name for name in functions]
    marked = {one.name for one in unit.functions for pragma in pragmas if _opens_region(one, pragma)}
    unmarked = [name for name in dict.fromkeys(functions) if name not in marked]
    if functions and not unmarked:
        return _read_simplified(text, text, unit, context, functions)
    if functions or not any(pragma.words in ("scop", "endscop") for pragma in pragmas):
        return _read_chosen(text, unit, pragmas, context, functions, unmarked)
    return _read_simplified(text, text, unit, context)


def _opens_region(function: FunctionTree, pragma: Pragma) -> bool:
    return pragma.words == "scop" and function.span.start <= pragma.at < function.span.end


def _read_chosen(
    text: CText,
    unit: Unit,
    pragmas: Sequence[Pragma],
    context: str | None,
    functions: Sequence[str],
    unmarked: Sequence[str],
) -> list[Program]:
    """The regions of functions, of which some have no pragmas."""

    def attempt(edits: Sequence[Edit], names: Sequence[str]) -> list[Program]:
        marked, unit = edited(text, edits, text)
        return _read_simplified(text, marked, unit, context, names)

    chooser = RegionChooser(text, unit, pragmas, attempt)
    if functions:
        return attempt(chooser.edits_for(unmarked), functions)
    listed = chooser.listing()
    hint = _HINT if listed is None else f"{_HINT}\n  Or let one be chosen:\n    {listed}"
    raise text.error("there is no #pragma scop in this file", 0, hint)


def _read_simplified(
    original: CText, text: CText, unit: Unit, context: str | None, functions: Sequence[str] = ()
) -> list[Program]:
    """The regions of a file, in simpler C where they need it."""
    left_alone: set[str] = set()
    find = cache(partial(_regions_of, functions=functions))
    while True:
        found = simplified(text, unit, find, left_alone, original)
        try:
            return _read_programs(found.text, found.unit, context, find(found.text, found.unit))
        except InputError as error:
            # What cannot be understood inside of a function is no obstacle where the call is left as it is.
            calls = {original.place(offset): name for offset, name in found.inlined.items()}
            name = None if error.place is None else calls.get(error.place)
            if name is None or name in left_alone:
                raise
            left_alone.add(name)


def _regions_of(text: CText, unit: Unit, functions: Sequence[str] = ()) -> list[Region]:
    return _find_regions(text, unit, _active_pragmas(text, unit), functions)


def _read_programs(
    text: CText,
    unit: Unit,
    context: str | None,
    regions: Sequence[Region],
    *,
    may_be_on_data: bool = True,
) -> list[Program]:
    """The regions of a file as programs.

    may_be_on_data  loops of which data says how often they run are while loops
    """
    pragmas = _active_pragmas(text, unit)
    programs: list[Program] = []
    pure = _find_pure(text, unit, pragmas)
    for region in regions:
        refuse_other_names(text, region)
        directives = read_directives(text, region, pragmas, unit.skipped)
        wishes = _find_wishes(text, region.function, pragmas)
        said = [wish.argument for wish in wishes if wish.clause == "context"] + ([context] if context else [])
        make = partial(RegionReader, text, region, directives, unit.skipped, pure, said)
        reader = _read_region(make, region, may_be_on_data=may_be_on_data)
        refuse_unknown_structures(text, region, reader)
        if not any(wish.clause == "no_alias" for wish in wishes):
            refuse_changed_sizes(text, reader)
        private = private_names(text, region, pragmas)
        program = RegionProgram(reader).program(private, parallel_around(text, region, pragmas))
        if program.parallel or program.happens_before is not None:
            blocks = read_critical_blocks(text, region, pragmas, unit.skipped)
            program = replace(program, critical=sections_of(region, reader.found, blocks))
        programs.append(_apply_pragmas(program, text, wishes))
    return programs


def _read_region(make: Callable[..., RegionReader], region: Region, *, may_be_on_data: bool) -> RegionReader:
    """A region, some of its loops as loops on data where that is the only way to read it.

    make  reads it, given what is known of the parameters and the loops on data
    """
    on_data: frozenset[For] = frozenset()
    reason: InputError | None = None
    before: ContextBuilder | None = None
    while True:
        try:
            reader = make(before, on_data)
        except LoopsOnData as found:
            more = {*found.loops, *loops_over(region, found.variables)} - on_data
            reason = reason or found.reason
            if not more or not may_be_on_data:
                raise reason from None
            on_data, before = on_data | more, None
            continue
        except InputError:
            if reason is None:
                raise
            raise reason from None
        if not reader.must_read_again:
            return reader
        before = reader.context


def _apply_pragmas(program: Program, text: CText, wishes: Iterable[_PragmaClause]) -> Program:
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


# ---------------------------------------------------------------- regions


def _active_pragmas(text: CText, unit: Unit) -> list[Pragma]:
    """The pragmas of the file that the preprocessor does not leave out; those of OpenMP always count.

    They may stand behind `#ifdef _OPENMP`, and taking a loop as parallel is on the safe side.
    """
    return [
        pragma
        for pragma in find_pragmas(text.text)
        if re.match(r"omp\b", pragma.words)
        or not any(span.start <= pragma.at < span.end for span in unit.skipped)
    ]


def _find_regions(
    text: CText, unit: Unit, pragmas: Sequence[Pragma], functions: Sequence[str] = ()
) -> list[Region]:
    """The regions in the order of the file; only those of some functions, if these are named."""
    found: list[tuple[Pragma, Pragma]] = []
    opened: Pragma | None = None
    for pragma in pragmas:
        if pragma.words == "scop":
            if opened is not None:
                raise text.error("this #pragma scop stands inside another region", pragma.at, _HINT)
            opened = pragma
        elif pragma.words == "endscop":
            if opened is None:
                raise text.error("this #pragma endscop ends no region", pragma.at, _HINT)
            found.append((opened, pragma))
            opened = None
    if opened is not None:
        raise text.error("this region does not end", opened.at, _HINT)
    if not found:
        raise text.error("there is no #pragma scop in this file", 0, _HINT)
    regions = [_region(text, unit, *pair) for pair in found]
    regions = [_numbered(region, regions) for region in regions]
    return [one for one in regions if not functions or one.function.name in functions]


def _numbered(region: Region, regions: Sequence[Region]) -> Region:
    same = [other for other in regions if other.name == region.name]
    if len(same) == 1:
        return region
    return replace(region, name=f"{region.name}.{same.index(region) + 1}")


def _region(text: CText, unit: Unit, opening: Pragma, closing: Pragma) -> Region:
    for function in unit.functions:
        if function.span.start <= opening.at < function.span.end:
            break
    else:
        for span, name, why in unit.unread:
            if span.start <= opening.at < span.end:
                raise text.error(f"{name} {why}", opening.at, TEMPLATES)
        raise text.error("this #pragma scop is not inside a function", opening.at, _HINT)
    refuse_overloads(text, unit, function)
    block = _innermost(function.body, opening.at)
    if closing.at >= block.span.end or _innermost(function.body, closing.at) is not block:
        message = "the region ends in another block than it starts in"
        raise text.error(message, closing.at, "Both pragmas must stand between the same braces.")
    inside = tuple(
        statement
        for statement in block.statements
        if statement.span.start < closing.at and statement.span.end > opening.at
    )
    for statement in inside:
        if statement.span.start < opening.at or statement.span.end > closing.start:
            raise text.error("this statement lies only partly inside the region", statement.span.start, _HINT)
    included = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE).search(
        text.plain, opening.end, closing.start
    )
    if included:
        raise text.error(
            "statements from another file cannot be analysed",
            included.start(),
            "Write them into the region, or make them a macro.",
        )
    name, places = function.name, (opening.start, closing.end, opening.end, closing.start)
    return with_fields(Region(name, *places, function, inside))


def _innermost(body: Block, offset: int) -> Block:
    """The innermost braces around a byte."""
    blocks = [node for node in walk(body) if isinstance(node, Block)]
    return [body, *(block for block in blocks if block.span.start < offset < block.span.end)][-1]


# ---------------------------------------------------------------- pragmas of arrayfold


def _find_wishes(text: CText, function: FunctionTree, pragmas: Sequence[Pragma]) -> list[_PragmaClause]:
    """What `#pragma arrayfold` lines in or just before a function say, clause by clause."""
    return [
        wish
        for pragma in pragmas
        if re.match(r"arrayfold\b", pragma.words) and _belongs(text, function, pragma)
        for wish in _clauses(text, pragma)
    ]


def _find_pure(text: CText, unit: Unit, pragmas: Sequence[Pragma]) -> frozenset[str]:
    """The functions that `#pragma arrayfold pure(f, g)` names, wherever in the file it stands."""
    ours = [pragma for pragma in pragmas if re.match(r"arrayfold\b", pragma.words)]
    names: set[str] = set()
    for wish in (wish for pragma in ours for wish in _clauses(text, pragma) if wish.clause == "pure"):
        for match in re.finditer(r"[^,\s][^,]*", wish.argument):
            name = match.group().strip()
            if name not in unit.declared:
                raise text.error(f"there is no function {name}", wish.at + match.start())
            names.add(name)
    return frozenset(names)


def _clauses(text: CText, pragma: Pragma) -> list[_PragmaClause]:
    wishes: list[_PragmaClause] = []
    rest = re.sub(r"\\(?=\r?\n)", " ", text.plain[pragma.at : pragma.end])
    position = re.match(r"arrayfold\b\s*", rest)
    assert position is not None
    at = position.end()
    while rest[at:].strip():
        clause = CLAUSE.match(rest, at)
        if clause is None or clause.group(1) not in _CLAUSES:
            raise text.error(
                "unknown clause of #pragma arrayfold",
                pragma.at + at,
                "Known: temporary(A, B), live_out({ A[i] : i = 0 }), context(N >= 3), pure(f), no_alias.",
            )
        wishes.append(_PragmaClause(clause.group(1), clause.group(2) or "", pragma.at + clause.start(2)))
        at = clause.end()
    return wishes


def _belongs(text: CText, function: FunctionTree, pragma: Pragma) -> bool:
    if function.span.start <= pragma.at < function.span.end:
        return True
    between = text.plain[pragma.end : function.span.start]
    return pragma.at < function.span.start and not without_directives(between)
