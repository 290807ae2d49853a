"""OpenMP's critical: blocks that take turns, those of one name (DIY16 §3.2, footnote 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.lexer import Pragma
from arrayfold.c.source import Copy, CText, Region
from arrayfold.c.tree import CStatement, For, Span, Variable
from arrayfold.exact.relations import relation
from arrayfold.frontends.c.openmp import statement_after
from arrayfold.frontends.c.places import Found, Loop

_CRITICAL = re.compile(r"omp\s+critical\b\s*(?:\(\s*(\w+)\s*\))?")

_STARTS = re.compile(r"omp\s+(?!critical|atomic|flush|simd)")


@dataclass(frozen=True, eq=False)
class CriticalBlock:
    """A block under a lock, and how many loops of the region are around it."""

    lock: str
    statement: CStatement
    loops: int


def read_critical_blocks(
    text: CText, region: Region, pragmas: Sequence[Pragma], skipped: Sequence[Span]
) -> list[CriticalBlock]:
    """The blocks of a region; those that the preprocessor may leave out keep nobody out."""
    found: list[CriticalBlock] = []
    for pragma in pragmas:
        match = _CRITICAL.match(pragma.words)
        is_left_out = any(span.start <= pragma.at < span.end for span in skipped)
        if match and region.holds(pragma.at) and not is_left_out:
            statement = statement_after(text, region, pragma)
            around = _loops_around(region, statement.span)
            # What runs in other threads may outlast the block.
            if not any(_STARTS.match(one.words) and _holds(statement.span, one) for one in pragmas):
                found.append(CriticalBlock(f"critical_{match.group(1) or ''}", statement, around))
    return found


def sections_of(
    region: Region, found: Sequence[Found], blocks: Sequence[CriticalBlock]
) -> isl.UnionMap | None:
    """{ S[i] -> L[block, k] }: k are the iterations of the loops around the block; None if there are none.

    A statement of which not each loop is one of the text, such as one over a flat array, is in no section;
    neither is a declaration.
    """
    depth = max((block.loops for block in blocks), default=0)
    total = isl.UnionMap("{ }")
    for item in found:
        count = sum(isinstance(step, Loop) for step in item.path)
        node = item.source.node
        if isinstance(node, Copy | Variable) or count != _loops_around(region, node.span):
            continue
        names = [f"i{k}" for k in range(item.may.dim(isl.dim_type.set))]
        for number, block in enumerate(blocks):
            if _holds(block.statement.span, node.span):
                key = [str(number), *names[: block.loops], *["0"] * (depth - block.loops)]
                section = relation(names, key, names=(item.name, block.lock))
                total = total.union(isl.UnionMap.from_map(section))
    return None if total.is_empty() else total


def _loops_around(region: Region, place: Span) -> int:
    return sum(
        isinstance(node, For) and node.span != place and _holds(node.span, place) for node in region.nodes()
    )


def _holds(outer: Span, inner: Span | Pragma) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
