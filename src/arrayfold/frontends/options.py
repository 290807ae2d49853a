"""What the user says beside the file: more context, more live-out cells, more temporaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, is_bounded, parameter_names, sets_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.exact.relations import union_of_sets
from arrayfold.program.model import Array, Problem, Program


def apply_options(
    problem: Problem,
    *,
    context: str | None = None,
    live_out: str | None = None,
    temporary: Sequence[str] = (),
) -> Problem:
    """The problem with the context narrowed, and for programs with more live-out cells and temporaries."""
    if context:
        problem = _narrow(problem, context)
    if not isinstance(problem, Program):
        if live_out or temporary:
            raise InputError("--live-out and --temporary need a program, but the file gives conflicts")
        return problem
    for name in temporary:
        problem = problem.with_temporary(name)
    if live_out:
        problem = _add_live_out(problem, live_out)
    return problem


def read_context(parameters: Sequence[str], text: str) -> isl.Set | None:
    """What a text says of some parameters; None if it mentions others, or is not a condition."""
    try:
        context = read_isl(isl.Set, _with_parameters(parameters, text, "{ : ", "context"))
    except InputError:
        return None
    return context if context.is_params() and {*parameter_names(context)} <= {*parameters} else None


def _with_parameters(parameters: Sequence[str], text: str, inside: str, name: str) -> SourceText:
    """The text as a whole isl set, parameters declared, places as the user typed them."""
    if "{" in text and text.lstrip().startswith("["):
        return SourceText.of(text, name)
    prefix = f"[{', '.join(parameters)}] -> " if parameters else ""
    before, after = (prefix, "") if "{" in text else (prefix + inside, " }")
    offsets = [*[0] * len(before), *range(len(text) + 1), *[len(text)] * len(after)]
    return SourceText(before + text + after, name, text, offsets)


def _narrow(problem: Problem, text: str) -> Problem:
    source = _with_parameters(problem.parameters, text, "{ : ", "--context")
    context = read_isl(isl.Set, source)
    if not context.is_params():
        raise source.error("the context may mention only parameters, as in N >= 3")
    unknown = {*parameter_names(context)} - {*problem.parameters}
    if unknown:
        raise source.error(f"there is no parameter {min(unknown)!r}")
    narrowed = problem.narrowed(context)
    if narrowed.context.is_empty():
        raise source.error("no parameter value satisfies this and the file's own context")
    if _runs(problem) and not _runs(narrowed):
        raise source.error("no statement has an instance in this context")
    return narrowed


def _runs(problem: Problem) -> bool:
    """Whether there is anything to do at all."""
    if not isinstance(problem, Program):
        return True
    return not problem.domain().intersect_params(problem.context).is_empty()


def _add_live_out(program: Program, text: str) -> Program:
    source = _with_parameters(program.parameters, text, "{ ", "--live-out")
    cells = read_isl(isl.UnionSet, source).align_params(program.context.get_space())
    arrays = {array.name: array for array in program.arrays}
    for group in sets_of(cells):
        name = group.get_tuple_name() or ""
        if name not in arrays:
            raise source.error(f"there is no array {name!r}", source.find(rf"\b{name}\s*\["))
        if group.dim(isl.dim_type.set) != arrays[name].rank:
            message = f"array {name} has {arrays[name].rank} dimensions"
            raise source.error(message, source.find(rf"\b{name}\s*\["))
        needed = group if is_bounded(group) else group.intersect(arrays[name].cells)
        arrays[name] = Array(name, arrays[name].dimensions, coalesced(arrays[name].cells.union(needed)))
    bounded = union_of_sets(program.context.get_space(), (array.cells for array in arrays.values()))
    live_out = coalesced(program.live_out.union(cells.intersect(bounded)))
    return replace(program, arrays=tuple(arrays.values()), live_out=live_out)
