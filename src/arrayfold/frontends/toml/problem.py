"""Problem files: TOML whose values are isl notation -> Program or ConflictProblem."""

from __future__ import annotations

import islpy as isl

from arrayfold.exact.isl import parameter_space
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.toml.conflicts import build_conflict_problem
from arrayfold.frontends.toml.parts import ProblemParts, ProblemText, did_you_mean
from arrayfold.frontends.toml.program import build_program
from arrayfold.program.model import Problem

_SETS = ("domain", "optional", "live_in", "live_out", "array", "differences")
_MAPS = (
    "write",
    "may_write",
    "read",
    "may_read",
    "schedule",
    "execution",
    "happens_before",
    "exclusive",
    "conflicts",
)
_KNOWN = ("context", *_SETS, *_MAPS, "temporary", "parallel", "tasks", "tiles")
_ORDERS = ("schedule", "tasks", "happens_before")
_OF_CONFLICTS = ("context", "conflicts", "differences", "array")


def read_problem(file: str, text: str) -> Problem:
    """The problem that a problem file states; every complaint points into the text."""
    return _build(ProblemText.read(file, text))


def read_json_problem(file: str, text: str) -> Problem:
    """The problem that `model --json` prints; complaints point at keys."""
    return _build(ProblemText.read_json(file, text))


def _build(problem: ProblemText) -> Problem:
    _check_keys(problem)
    parts = _read_parts(problem)
    is_program = "domain" in parts.sets
    return build_program(parts) if is_program else build_conflict_problem(parts)


def _check_keys(problem: ProblemText) -> None:
    for key in problem.values:
        if key not in _KNOWN:
            hint = did_you_mean(key, _KNOWN) or f"Known keys: {', '.join(_KNOWN)}."
            raise problem.error(f"unknown key {key!r}", key, hint)
    given = [key for key in ("conflicts", "differences") if key in problem.values]
    if len(given) == 2:
        raise problem.error("give either conflicts or differences, not both", "differences")
    if given:
        for key in problem.values:
            if key not in _OF_CONFLICTS:
                raise problem.error(
                    f"{key!r} belongs to a program, but this file gives {given[0]} instead", key
                )
    elif "domain" not in problem.values:
        hint = "A program needs domain, write and schedule; without a program give conflicts or differences."
        raise problem.error("there is neither a domain nor conflicts nor differences", None, hint)
    elif not any(key in problem.values for key in _ORDERS):
        hint = 'For example: schedule = "{ S[i, j] -> [i, j] }".'
        raise problem.error("the order is missing: give a schedule, tasks or happens_before", None, hint)
    if "schedule" in problem.values and "happens_before" in problem.values:
        hint = "An order that the relation allows can be given as execution."
        raise problem.error("give either a schedule or happens_before, not both", "happens_before", hint)
    if "schedule" in problem.values and "tasks" in problem.values:
        raise problem.error("give either a schedule or tasks, not both", "tasks")
    if "execution" in problem.values and "happens_before" not in problem.values:
        hint = "Without happens_before the order is a schedule."
        raise problem.error("execution belongs to happens_before", "execution", hint)
    if "execution" in problem.values and "tasks" in problem.values:
        raise problem.error("tasks are an execution themselves", "execution")


def _read_parts(problem: ProblemText) -> ProblemParts:
    sets = {key: read_isl(isl.UnionSet, problem.text(key)) for key in _SETS if key in problem.values}
    maps = {key: read_isl(isl.UnionMap, problem.text(key)) for key in _MAPS if key in problem.values}
    context = isl.Set("{ : }")
    if "context" in problem.values:
        context = read_isl(isl.Set, problem.text("context"))
        if not context.is_params():
            hint = "For example [N] -> { : N >= 3 }."
            raise problem.text("context").error("the context may mention only parameters", 0, hint)
    space = parameter_space([])
    for item in (context, *sets.values(), *maps.values()):
        space = space.align_params(item.get_space().params())
    context = context.align_params(space)
    if context.is_empty():
        raise problem.text("context").error("no parameter value satisfies the context")
    aligned = {key: item.align_params(space) for key, item in sets.items()}
    in_context = {key: item.intersect_params(context) for key, item in aligned.items() if key != "domain"}
    # A statement may have no instance in the context, and a union forgets sets that become empty.
    kept = {"domain": aligned["domain"]} if "domain" in aligned else {}
    return ProblemParts(
        problem,
        context,
        {**kept, **in_context},
        {key: item.align_params(space).intersect_params(context) for key, item in maps.items()},
    )
