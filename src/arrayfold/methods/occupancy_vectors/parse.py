"""What people ask of `occupancy`: schedules and vectors as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.isl import maps_of
from arrayfold.methods.occupancy_vectors.solve import OccupancyResult, find_occupancy
from arrayfold.order.parse import read_schedule, schedule_source
from arrayfold.passes.expansion import expand as expanded
from arrayfold.program.model import Problem, Program


def occupancy_of(
    problem: Problem,
    schedule: str | None,
    vectors: Sequence[str],
    is_strict: bool,
    expand: bool,
    budget: Budget,
) -> OccupancyResult:
    """Occupancy vectors of a problem, with a schedule `S[i, j] -> [i]` and vectors `A=2,0` as text."""
    if not isinstance(problem, Program):
        raise InputError("occupancy vectors need a program, but the file gives conflicts")
    program = expanded(problem, analyse(problem).temporaries) if expand else problem
    return find_occupancy(
        program,
        schedule=None if schedule is None else read_one_dimensional(program, schedule),
        vectors=read_vectors(program, vectors),
        is_strict=is_strict,
        budget=budget,
    )


def read_one_dimensional(program: Program, text: str) -> dict[str, list[int]]:
    """statement -> the coefficients of its iterators and of the parameters, and the constant."""
    source = schedule_source(program, text)
    times = read_schedule(program, source)
    found: dict[str, list[int]] = {}
    for part in maps_of(times):
        name = str(part.get_tuple_name(isl.dim_type.in_))
        if part.dim(isl.dim_type.out) != 1:
            message = "occupancy vectors need a schedule of one dimension, such as S[i, j] -> [2*i + j]"
            raise source.error(message, source.find(rf"\b{name}\s*\["))
        pieces = part.as_pw_multi_aff().get_at(0).get_pieces()
        if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
            raise source.error(f"the time of {name} is not affine", source.find(rf"\b{name}\s*\["))
        form = pieces[0][1]
        entries = [form.get_coefficient_val(isl.dim_type.in_, k) for k in range(form.dim(isl.dim_type.in_))]
        for parameter in program.parameters:
            place = form.find_dim_by_name(isl.dim_type.param, parameter)
            entries.append(isl.Val(0) if place < 0 else form.get_coefficient_val(isl.dim_type.param, place))
        entries.append(form.get_constant_val())
        if not all(entry.is_int() for entry in entries):
            raise source.error(f"the time of {name} has fractions", source.find(rf"\b{name}\s*\["))
        found[name] = [entry.to_python() for entry in entries]
    return found


def read_vectors(program: Program, texts: Sequence[str]) -> dict[str, isl.Set]:
    """array -> { [v] }: `A=2,0` is one vector, `A=1..3,0` all in a box.

    Every entry is a number or a range of numbers.
    """
    found: dict[str, isl.Set] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        entries = [re.fullmatch(r"\s*(-?\d+)(?:\.\.(-?\d+))?\s*", part) for part in listed.split(",")]
        if not equals or not all(entries):
            raise InputError(f"--vector {text}: expected an array and whole numbers, as in A=2,0 or A=1..3,0")
        rank = program.array(name.strip()).rank
        if len(entries) != rank:
            raise InputError(f"--vector {text}: {name.strip()} has {rank} dimensions")
        for entry in filter(None, entries):
            if entry.group(2) is not None and int(entry.group(2)) < int(entry.group(1)):
                raise InputError(f"--vector {text}: the range {entry.group(0).strip()} is empty")
        names = [f"v{k}" for k in range(rank)]
        bounds = [
            f"{entry.group(1)} <= {axis} <= {entry.group(2) or entry.group(1)}"
            for axis, entry in zip(names, entries, strict=True)
            if entry is not None
        ]
        found[name.strip()] = isl.Set(f"{{ [{', '.join(names)}] : {' and '.join(bounds)} }}")
    return found
