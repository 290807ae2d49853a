"""OpenMP pragmas in a region: which loops run in parallel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arrayfold.c.lexer import CLAUSE, Pragma, without_directives
from arrayfold.c.source import CText, Region, loop_variable
from arrayfold.c.tree import (
    Block,
    CStatement,
    For,
    FunctionTree,
    Label,
    Node,
    Reference,
    Span,
    Variable,
    walk,
)

_Node = TypeVar("_Node", bound=Node)

TEAM = ("for", "for simd", "sections", "single", "master", "masked")
_LOOPS = ("parallel for", "parallel for simd", "simd")
_OF_LOOPS = (*_LOOPS, "for", "for simd", "taskloop")
_TASKS = (*TEAM, "parallel", "parallel sections", "section", "task", "taskgroup", "taskloop", "ordered")
_HIDING = ("private", "firstprivate")
_STANDALONE = ("barrier", "taskwait")
_HARMLESS = ("critical", "atomic", "flush", "taskyield")
_CLAUSES = (
    *("collapse", "private", "firstprivate", "lastprivate", "shared", "default", "reduction", "schedule"),
    *("num_threads", "if", "proc_bind", "linear", "aligned", "safelen", "simdlen", "nowait", "depend"),
    *("copyprivate", "final", "untied", "mergeable", "priority", "grainsize", "num_tasks", "ordered"),
)


@dataclass(frozen=True, eq=False)
class OrderDirective:
    """An OpenMP pragma that says in what order something runs.

    statement  what it stands in front of; None for barrier and taskwait
    depends    the texts of its depend clauses
    """

    name: str
    clauses: Mapping[str, str]
    depends: tuple[str, ...]
    pragma: Pragma
    statement: CStatement | None


def read_directives(
    text: CText, region: Region, pragmas: Sequence[Pragma], skipped: Sequence[Span]
) -> list[OrderDirective]:
    """The pragmas that matter for the order; those that are not understood are refused.

    skipped  what the preprocessor leaves out; a parallel loop there may be compiled with other options
    """
    _refuse_hidden_pragmas(text, region, pragmas)
    found: list[OrderDirective] = []
    for pragma in _inside(text, region, pragmas):
        name, clauses, depends = _parse(text, pragma)
        # A taskwait with conditions waits for less than one without; none at all is on the safe side.
        is_partial = name == "taskwait" and (depends or "nowait" in clauses)
        # Lanes of ordered simd keep an order that loops under simd do not need.
        if name.split()[0] in _HARMLESS or is_partial or name == "ordered simd":
            continue
        if clauses.get("ordered") or (name == "ordered" and depends):
            raise text.error(
                "ordered with a number of loops or depend cannot be analysed",
                pragma.at,
                "Use #pragma omp parallel for ordered, and one block under #pragma omp ordered.",
            )
        if name not in _LOOPS and any(span.start <= pragma.at < span.end for span in skipped):
            raise text.error(
                f"the preprocessor leaves out this omp {name}, which would change the order",
                pragma.at,
                "Say how the file is compiled, after --, as in -- -D_OPENMP.",
            )
        statement: CStatement | None = None
        if name in _OF_LOOPS:
            statement = _loop_after(text, region, pragma)
            _check_collapse(text, pragma, clauses, statement)
        elif name in _TASKS:
            statement = statement_after(text, region, pragma)
        elif name not in _STANDALONE:
            raise text.error(
                f"OpenMP directive {name!r} cannot be analysed",
                pragma.at,
                "Understood are parallel, for, sections, single, master, task, taskloop, taskgroup, "
                "taskwait, barrier, ordered, critical, atomic and simd.",
            )
        found.append(OrderDirective(name, clauses, depends, pragma, statement))
    return found


def _refuse_hidden_pragmas(text: CText, region: Region, pragmas: Sequence[Pragma]) -> None:
    """Raise where a macro in the region may stand for a pragma that was not recognised."""
    definition = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
    bodies = {match.group(1): match.group(2) for match in definition.finditer(text.plain)}
    hiding: set[str] = set()
    grown = True
    while grown:
        new = {
            name
            for name, body in bodies.items()
            if "_Pragma" in body or any(re.search(rf"\b{other}\b", body) for other in hiding)
        }
        grown = not new <= hiding
        hiding |= new
    for name in hiding:
        for match in re.finditer(rf"\b{name}\b", text.plain[region.start : region.end]):
            at = region.start + match.start()
            if not any(pragma.start <= at <= pragma.end for pragma in pragmas):
                raise text.error(
                    f"{name} may hide an OpenMP pragma", at, "Write the pragma itself, not by a macro."
                )


def hidden_values(function: FunctionTree, directives: Sequence[OrderDirective]) -> frozenset[str]:
    """Variables that keep the values they had before a construct, though threads set others of their name.

    Only those count whose values from before may be used behind it; new loops would set them.
    """
    found: set[str] = set()
    for directive in directives:
        if directive.statement is None:
            continue
        names = {name for clause in _HIDING for name in _names_in(directive.clauses, clause)}
        inside = {node.variable for node in walk(directive.statement) if isinstance(node, Reference)}
        hidden = {variable for variable in inside if variable.name in names}
        again = [one for one in directives if one.statement is not None and one is not directive]
        own = [(one.statement.span, set(_names_in(one.clauses, "private"))) for one in again if one.statement]
        own.append((directive.statement.span, names))
        for variable in hidden:
            spans = [span for span, others in own if variable.name in others]
            spans += [loop.span for loop in _loops(function) if loop_variable(loop) is variable]
            is_local = variable.storage in ("local", "parameter")
            if not is_local or _is_used_behind(function, variable, directive.statement.span, spans):
                found.add(variable.name)
    return frozenset(found)


def _loops(function: FunctionTree) -> Iterator[For]:
    return (node for node in walk(function.body) if isinstance(node, For))


def _is_used_behind(function: FunctionTree, variable: Variable, span: Span, without: Sequence[Span]) -> bool:
    """Whether a variable is named behind a construct or in a loop around it, but in some spans."""
    around = [loop.span.start for loop in _loops(function) if loop.span.start < span.start < loop.span.end]
    begin = min(around, default=span.end)
    return any(
        isinstance(node, Reference)
        and node.variable is variable
        and node.span.start >= begin
        and not any(one.start <= node.span.start < one.end for one in without)
        for node in walk(function.body)
    )


def _names_in(clauses: Mapping[str, str], clause: str) -> list[str]:
    return re.findall(r"\w+", clauses.get(clause, ""))


def needs_tasks(directives: Sequence[OrderDirective]) -> bool:
    """Whether there is more than parallel loops."""
    return any(directive.name not in _LOOPS for directive in directives)


def parallel_loops(directives: Sequence[OrderDirective]) -> set[For]:
    """The loops whose iterations run in any order, where there are no other directives."""
    found: set[For] = set()
    for directive in directives:
        loop = directive.statement
        for _ in range(int(directive.clauses.get("collapse", "1"))):
            assert isinstance(loop, For)
            found.add(loop)
            loop = only_statement(loop.body)
    return found


def parallel_around(text: CText, region: Region, pragmas: Sequence[Pragma]) -> int | None:
    """Where the outermost OpenMP construct begins whose statement holds the region; None without one."""
    for pragma in pragmas:
        is_earlier = region.function.span.start < pragma.at < region.before
        if not is_earlier or not re.match(r"omp\b", pragma.words) or pragma in _inside(text, region, pragmas):
            continue
        follower = _first_after(pragma, walk(region.function.body))
        if follower is not None and follower.span.start < region.before < follower.span.end:
            return pragma.start
    return None


def private_names(text: CText, region: Region, pragmas: Sequence[Pragma]) -> dict[str, int]:
    """Variables of which each thread has its own, and where that is said."""
    found: dict[str, int] = {}
    for pragma in _inside(text, region, pragmas):
        _, clauses, _ = _parse(text, pragma)
        for clause in ("private", "firstprivate", "lastprivate", "reduction"):
            found |= dict.fromkeys(_names_in(clauses, clause), pragma.at)
    return found


def _inside(text: CText, region: Region, pragmas: Sequence[Pragma]) -> list[Pragma]:
    """The OpenMP pragmas in the region, or directly before it."""
    found: list[Pragma] = []
    for pragma in pragmas:
        gap = text.plain[pragma.end : max(pragma.end, region.before)]
        is_near = region.holds(pragma.at) or (pragma.at < region.before and not without_directives(gap))
        if is_near and re.match(r"omp\b", pragma.words):
            found.append(pragma)
    return found


def _parse(text: CText, pragma: Pragma) -> tuple[str, Mapping[str, str], tuple[str, ...]]:
    """The directive, its clauses, and its depend clauses, of which there may be several."""
    rest = pragma.words.removeprefix("omp").strip()
    directive: list[str] = []
    clauses: dict[str, str] = {}
    depends: list[str] = []
    position = 0
    while position < len(rest):
        match = CLAUSE.match(rest, position)
        if match is None:
            raise text.error("this OpenMP pragma cannot be read", pragma.at)
        if match.group(1) == "depend":
            depends.append(match.group(2) or "")
        elif match.group(1) in _CLAUSES and (directive or match.group(1) not in ("if", "ordered")):
            # A clause may stand there several times, such as reduction(+ : s) reduction(max : t).
            before = f"{clauses[match.group(1)]}, " if match.group(1) in clauses else ""
            clauses[match.group(1)] = before + (match.group(2) or "")
        else:
            directive.append(match.group(1))
        position = match.end()
    return " ".join(directive), clauses, tuple(depends)


def _check_collapse(text: CText, pragma: Pragma, clauses: Mapping[str, str], loop: CStatement) -> None:
    given = clauses.get("collapse", "1").strip()
    if not given.isdigit() or int(given) < 1:
        raise text.error(f"collapse({given}) is not a number of loops", pragma.at)
    for _ in range(int(given)):
        if not isinstance(loop, For):
            raise text.error(f"there are not {given} nested loops to collapse", pragma.at)
        loop = only_statement(loop.body)


def statement_after(text: CText, region: Region, pragma: Pragma) -> CStatement:
    """The outermost statement that begins after a pragma, in its own block."""
    found = _first_after(pragma, (node for node in region.nodes() if isinstance(node, CStatement)))
    between = text.plain[pragma.end : found.span.start] if found else "}"
    if found is None or "}" in between:
        raise text.error("no statement follows this OpenMP pragma", pragma.at)
    return found


def _first_after(pragma: Pragma, nodes: Iterable[_Node]) -> _Node | None:
    """The outermost of those nodes that begin first after a pragma."""
    after = (node for node in nodes if node.span.start >= pragma.end)
    return min(after, key=lambda node: (node.span.start, -node.span.end), default=None)


def _loop_after(text: CText, region: Region, pragma: Pragma) -> For:
    nearest = _first_after(pragma, (node for node in region.nodes() if isinstance(node, For)))
    if nearest is None or without_directives(text.plain[pragma.end : nearest.span.start]):
        raise text.error("no for loop follows this OpenMP pragma", pragma.at)
    return nearest


def only_statement(statement: CStatement) -> CStatement:
    """The statement itself, or the only one in its braces."""
    while isinstance(statement, Block | Label):
        if isinstance(statement, Label):
            statement = statement.statement
        elif len(statement.statements) == 1:
            statement = statement.statements[0]
        else:
            break
    return statement
