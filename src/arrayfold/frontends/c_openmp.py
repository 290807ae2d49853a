"""OpenMP pragmas in a region: which loops run in parallel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from arrayfold.c.lexer import Pragma
from arrayfold.c.source import CText, Region
from arrayfold.c.tree import Block, CStatement, For, Label

_LOOPS = ("parallel for", "parallel for simd", "simd")
_HARMLESS = ("critical", "atomic")
_CLAUSES = (
    *("collapse", "private", "firstprivate", "lastprivate", "shared", "default", "reduction", "schedule"),
    *("num_threads", "if", "proc_bind", "linear", "aligned", "safelen", "simdlen"),
)


def parallel_loops(text: CText, region: Region, pragmas: Sequence[Pragma]) -> set[For]:
    """The loops whose iterations run in any order; directives that are not understood are refused."""
    found: set[For] = set()
    for pragma in _inside(region, pragmas):
        directive, clauses = _parse(text, pragma)
        if directive.split()[0] in _HARMLESS:
            continue
        if directive not in _LOOPS:
            raise text.error(
                f"OpenMP directive {directive!r} cannot be analysed",
                pragma.at,
                "Understood are parallel for and simd, with collapse and data clauses.",
            )
        loop = _loop_after(text, region, pragma)
        for _ in range(_collapse(text, pragma, clauses)):
            found.add(loop)
            inner = _only_statement(loop.body)
            if isinstance(inner, For):
                loop = inner
    return found


def private_names(text: CText, region: Region, pragmas: Sequence[Pragma]) -> dict[str, int]:
    """Variables of which each thread has its own, and where that is said."""
    found: dict[str, int] = {}
    for pragma in _inside(region, pragmas):
        _, clauses = _parse(text, pragma)
        for clause in ("private", "firstprivate", "lastprivate", "reduction"):
            for name in re.findall(r"\w+", clauses.get(clause, "")):
                found[name] = pragma.at
    return found


def _inside(region: Region, pragmas: Sequence[Pragma]) -> list[Pragma]:
    return [
        pragma
        for pragma in pragmas
        if region.holds(pragma.at) and re.match(r"omp\b", pragma.words) is not None
    ]


def _parse(text: CText, pragma: Pragma) -> tuple[str, Mapping[str, str]]:
    """The directive and its clauses."""
    rest = pragma.words.removeprefix("omp").strip()
    clause = re.compile(r"(\w+)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?\s*,?\s*")
    directive: list[str] = []
    clauses: dict[str, str] = {}
    position = 0
    while position < len(rest):
        match = clause.match(rest, position)
        if match is None:
            raise text.error("this OpenMP pragma cannot be read", pragma.at)
        if match.group(1) in _CLAUSES:
            clauses[match.group(1)] = match.group(2) or ""
        else:
            directive.append(match.group(1))
        position = match.end()
    return " ".join(directive), clauses


def _collapse(text: CText, pragma: Pragma, clauses: Mapping[str, str]) -> int:
    given = clauses.get("collapse", "1").strip()
    if not given.isdigit() or int(given) < 1:
        raise text.error(f"collapse({given}) is no number of loops", pragma.at)
    return int(given)


def _loop_after(text: CText, region: Region, pragma: Pragma) -> For:
    loops = [node for node in region.nodes() if isinstance(node, For) and node.span.start >= pragma.end]
    nearest = min(loops, key=lambda loop: loop.span.start, default=None)
    between = text.plain[pragma.end : nearest.span.start] if nearest else "?"
    if nearest is None or re.sub(r"^[ \t]*#[^\n]*$", "", between, flags=re.MULTILINE).strip():
        raise text.error("no for loop follows this OpenMP pragma", pragma.at)
    return nearest


def _only_statement(statement: CStatement) -> CStatement:
    while isinstance(statement, Block | Label):
        if isinstance(statement, Label):
            statement = statement.statement
        elif len(statement.statements) == 1:
            statement = statement.statements[0]
        else:
            break
    return statement
