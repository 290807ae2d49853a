"""OpenMP pragmas in a region: which loops run in parallel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from arrayfold.c.lexer import Pragma
from arrayfold.c.source import CText, Region
from arrayfold.c.tree import Block, CStatement, For, Label, walk

_LOOPS = ("parallel for", "parallel for simd", "simd")
_HARMLESS = ("critical", "atomic")
_CLAUSES = (
    *("collapse", "private", "firstprivate", "lastprivate", "shared", "default", "reduction", "schedule"),
    *("num_threads", "if", "proc_bind", "linear", "aligned", "safelen", "simdlen"),
)


def parallel_loops(text: CText, region: Region, pragmas: Sequence[Pragma]) -> set[For]:
    """The loops whose iterations run in any order; directives that are not understood are refused."""
    found: set[For] = set()
    for pragma in _inside(text, region, pragmas):
        directive, clauses = _parse(text, pragma)
        if directive.split()[0] in _HARMLESS:
            continue
        if directive not in _LOOPS:
            raise text.error(
                f"OpenMP directive {directive!r} cannot be analysed",
                pragma.at,
                "Understood are parallel for and simd, with collapse and data clauses.",
            )
        loop: CStatement = _loop_after(text, region, pragma)
        for _ in range(_collapse(text, pragma, clauses)):
            if not isinstance(loop, For):
                raise text.error(f"there are not {clauses['collapse']} nested loops to collapse", pragma.at)
            found.add(loop)
            loop = _only_statement(loop.body)
    return found


def parallel_around(text: CText, region: Region, pragmas: Sequence[Pragma]) -> int | None:
    """Where the outermost OpenMP construct begins whose statement holds the region; None without one."""
    for pragma in pragmas:
        is_earlier = region.function.span.start < pragma.at < region.before
        if not is_earlier or not re.match(r"omp\b", pragma.words) or pragma in _inside(text, region, pragmas):
            continue
        after = [node for node in walk(region.function.body) if node.span.start >= pragma.end]
        follower = min(after, key=lambda node: (node.span.start, -node.span.end), default=None)
        if follower is not None and follower.span.start < region.before < follower.span.end:
            return pragma.start
    return None


def private_names(text: CText, region: Region, pragmas: Sequence[Pragma]) -> dict[str, int]:
    """Variables of which each thread has its own, and where that is said."""
    found: dict[str, int] = {}
    for pragma in _inside(text, region, pragmas):
        _, clauses = _parse(text, pragma)
        for clause in ("private", "firstprivate", "lastprivate", "reduction"):
            for name in re.findall(r"\w+", clauses.get(clause, "")):
                found[name] = pragma.at
    return found


def _inside(text: CText, region: Region, pragmas: Sequence[Pragma]) -> list[Pragma]:
    """The OpenMP pragmas in the region, or directly before it."""
    found: list[Pragma] = []
    for pragma in pragmas:
        gap = text.plain[pragma.end : max(pragma.end, region.before)]
        only_directives = not re.sub(r"^[ \t]*#[^\n]*$", "", gap, flags=re.MULTILINE).strip()
        is_near = region.holds(pragma.at) or (pragma.at < region.before and only_directives)
        if is_near and re.match(r"omp\b", pragma.words):
            found.append(pragma)
    return found


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
