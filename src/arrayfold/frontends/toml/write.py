"""Program or ConflictProblem -> the text of a problem file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import islpy as isl

from arrayfold.exact.isl import coalesced, parameter_names
from arrayfold.program.model import ConflictProblem, Problem, Program


def write_problem(problem: Problem) -> str:
    """A problem file that reads back as an equal problem."""
    lines = _program_lines(problem) if isinstance(problem, Program) else _conflict_lines(problem)
    width = max(len(key) for key, _ in lines)
    return "".join(f"{key:<{width}} = {value}\n" for key, value in lines)


def _program_lines(program: Program) -> list[tuple[str, str]]:
    known = program.context
    domains = {statement.name: statement.domain for statement in program.statements}
    lines = [("context", f'"{known}"'), ("domain", _quote(known, domains.values()))]
    for key, writes in (("write", True), ("read", False)):
        for prefix, must in (("", True), ("may_", False)):
            relations = [
                access.relation.gist_domain(statement.domain)
                for statement in program.statements
                for access in statement.accesses
                if (access.is_write, access.is_must) == (writes, must) and not access.relation.is_empty()
            ]
            if relations:
                lines.append((prefix + key, _quote(known, relations)))
    order = "schedule" if program.happens_before is None else "execution"
    for key, relation in (
        (order, program.schedule),
        ("happens_before", program.happens_before),
        ("exclusive", program.exclusive),
    ):
        if relation is not None:
            lines.append((key, f'"{relation.gist_domain(program.domain())}"'))
    if program.optional is not None and not program.optional.is_empty():
        lines.append(("optional", f'"{program.optional.gist(program.domain())}"'))
    if program.tiles:
        sizes = ", ".join(f'"{size}"' for size in program.tiles)
        lines.append(("tiles", f"[{sizes}]"))
    if program.parallel:
        meanings = ", ".join(f'{dimension} = "{meaning}"' for dimension, meaning in program.parallel.items())
        lines.append(("parallel", f"{{ {meanings} }}"))
    if program.temporaries is not None:
        names = ", ".join(f'"{name}"' for name in program.temporaries)
        lines.append(("temporary", f"[{names}]"))
    for key, cells in (("live_in", program.live_in), ("live_out", program.live_out)):
        if not cells.is_empty():
            lines.append((key, f'"{cells.gist_params(known)}"'))
    return lines


def _conflict_lines(problem: ConflictProblem) -> list[tuple[str, str]]:
    known = problem.context
    lines = [("context", f'"{known}"'), ("array", _quote(known, (array.cells for array in problem.arrays)))]
    if problem.pairs:
        return [*lines, ("conflicts", _quote(known, problem.pairs.values()))]
    return [*lines, ("differences", _quote(known, problem.differences.values()))]


_Relation = TypeVar("_Relation", isl.Set, isl.Map)


def _quote(context: isl.Set, items: Iterable[_Relation]) -> str:
    """One union of sets or relations, in the given order, which isl's own unions do not keep."""
    prefix = f"[{', '.join(parameter_names(context))}] -> " if parameter_names(context) else ""
    inside = [_inside(coalesced(item.gist_params(context))) for item in items]
    return f'"{prefix}{{ {"; ".join(inside)} }}"'


def _inside(item: isl.Set | isl.Map) -> str:
    if item.is_empty():
        space = str(item.get_space())
        return f"{space[space.index('{') + 1 : space.rindex('}')].strip()} : false"
    text = str(item)
    return text[text.index("{") + 1 : text.rindex("}")].strip()
