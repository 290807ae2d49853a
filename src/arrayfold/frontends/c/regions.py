"""The regions of a C file: what stands between `#pragma scop` and `#pragma endscop`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arrayfold.c.lexer import Pragma, find_pragmas
from arrayfold.c.source import CText, Region
from arrayfold.c.tree import Block, CStatement, For, FunctionTree, If, Label, OtherStatement
from arrayfold.frontends.c.clang import Unit

_HINT = "Write #pragma scop on a line before the loops and #pragma endscop on a line after them."


_CLAUSES = ("temporary", "live_out", "context", "pure", "no_alias")


@dataclass(frozen=True)
class PragmaOption:
    """One clause of a `#pragma arrayfold` line, such as temporary(tmp)."""

    clause: str
    argument: str
    at: int


def active_pragmas(text: CText, unit: Unit) -> list[Pragma]:
    """The pragmas of the file that the preprocessor does not leave out; those of OpenMP always count.

    They may stand behind `#ifdef _OPENMP`, and taking a loop as parallel is on the safe side.
    """
    return [
        pragma
        for pragma in find_pragmas(text.text)
        if re.match(r"omp\b", pragma.words)
        or not any(span.start <= pragma.at < span.end for span in unit.skipped)
    ]


def find_regions(text: CText, unit: Unit, pragmas: Sequence[Pragma]) -> list[Region]:
    """The regions in the order of the file."""
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
    return [_numbered(region, regions) for region in regions]


def _numbered(region: Region, regions: Sequence[Region]) -> Region:
    same = [other for other in regions if other.name == region.name]
    if len(same) == 1:
        return region
    name = f"{region.name}.{same.index(region) + 1}"
    return replace(region, name=name)


def _region(text: CText, unit: Unit, opening: Pragma, closing: Pragma) -> Region:
    for function in unit.functions:
        if function.span.start <= opening.at < function.span.end:
            break
    else:
        raise text.error("this #pragma scop is not inside a function", opening.at, _HINT)
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
    return Region(function.name, opening.start, closing.end, opening.end, closing.start, function, inside)


def _innermost(block: Block, offset: int) -> Block:
    """The innermost braces around a byte."""
    for inner in _blocks(block):
        if inner.span.start < offset < inner.span.end:
            return _innermost(inner, offset)
    return block


def _blocks(statement: CStatement) -> Iterator[Block]:
    """The nearest blocks inside a statement."""
    match statement:
        case Block(statements=statements):
            parts: Sequence[object] = statements
        case For(body=body):
            parts = (body,)
        case If(then=then, otherwise=otherwise):
            parts = (then, otherwise)
        case Label(statement=inner):
            parts = (inner,)
        case OtherStatement(parts=inner):
            parts = inner
        case _:
            parts = ()
    for part in parts:
        if isinstance(part, Block):
            yield part
        elif isinstance(part, For | If | Label | OtherStatement):
            yield from _blocks(part)


def find_wishes(text: CText, function: FunctionTree, pragmas: Sequence[Pragma]) -> list[PragmaOption]:
    """What `#pragma arrayfold` lines in or just before a function say, clause by clause."""
    return [
        wish
        for pragma in pragmas
        if re.match(r"arrayfold\b", pragma.words) and _belongs(text, function, pragma)
        for wish in _clauses(text, pragma)
    ]


def find_pure(text: CText, unit: Unit, pragmas: Sequence[Pragma]) -> frozenset[str]:
    """The functions that `#pragma arrayfold pure(f, g)` names, wherever in the file it stands."""
    names: set[str] = set()
    for pragma in pragmas:
        if not re.match(r"arrayfold\b", pragma.words):
            continue
        for wish in _clauses(text, pragma):
            if wish.clause != "pure":
                continue
            for match in re.finditer(r"[^,\s][^,]*", wish.argument):
                name = match.group().strip()
                if name not in unit.declared:
                    raise text.error(f"there is no function {name}", wish.at + match.start())
                names.add(name)
    return frozenset(names)


def _clauses(text: CText, pragma: Pragma) -> list[PragmaOption]:
    wishes: list[PragmaOption] = []
    rest = re.sub(r"\\(?=\r?\n)", " ", text.plain[pragma.at : pragma.end])
    position = re.match(r"arrayfold\b\s*", rest)
    assert position is not None
    at = position.end()
    while rest[at:].strip():
        clause = re.compile(r"\s*(\w+)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?\s*,?\s*").match(rest, at)
        if clause is None or clause.group(1) not in _CLAUSES:
            raise text.error(
                "unknown clause of #pragma arrayfold",
                pragma.at + at,
                "Known: temporary(A, B), live_out({ A[i] : i = 0 }), context(N >= 3), pure(f), no_alias.",
            )
        wishes.append(PragmaOption(clause.group(1), clause.group(2) or "", pragma.at + clause.start(2)))
        at = clause.end()
    return wishes


def _belongs(text: CText, function: FunctionTree, pragma: Pragma) -> bool:
    if function.span.start <= pragma.at < function.span.end:
        return True
    return (
        pragma.at < function.span.start
        and not re.sub(
            r"^[ \t]*#[^\n]*$", "", text.plain[pragma.end : function.span.start], flags=re.MULTILINE
        ).strip()
    )
