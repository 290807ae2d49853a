"""A program in the order of a one-dimensional schedule, stored along occupancy vectors (TVA07 §3.3)."""

from __future__ import annotations

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError, MethodNotApplicable, NothingProved
from arrayfold.fold.arrays import fold_with
from arrayfold.fold.result import FoldResult
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.occupancy_vectors.solve import NO_VECTOR, OccupancyResult, vectors_of_schedule
from arrayfold.methods.occupancy_vectors.vectors import mapping_along
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Program


def fold_along_vectors(program: Program, result: OccupancyResult, budget: Budget) -> FoldResult:
    """The program in the order of the result, with the shortest vectors that its code allows.

    Code runs the instances of a step in parallel, in any order, so a value must be read before the step that
    overwrites it: the vectors are strict ones, and the judge proves them for the order of the code.
    """
    if not result.schedule:
        raise MethodNotApplicable(result.why)
    names = {item.name: item.iterators for item in program.statements}
    times = [f"{name}[{', '.join(names[name])}] -> [{time}]" for name, time in result.schedule.items()]
    ordered = reorder(program, schedule="; ".join(times), parallel=True, budget=budget)
    vectors = vectors_of_schedule(program, result.coefficients, is_strict=True, budget=budget)
    mappings: dict[str, ModularMapping] = {}
    for name, vector in vectors.items():
        if vector is None:
            raise NothingProved(f"{name}: {NO_VECTOR}")
        if any(vector):
            mappings[name] = mapping_along(program.array(name), program.context, vector)
    if not mappings:
        raise InputError("no array has an occupancy vector for this schedule, so there is nothing to write")
    return fold_with(ordered, mappings, budget=budget)
