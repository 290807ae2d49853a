"""Random programs: values in arrays of statements, and all arrays in one memory, agree with enumeration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import assume, given, settings

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.liveness import analyse
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold_shared
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.mapping.modular import ModularMapping
from arrayfold.order.movable import find_obstacle
from arrayfold.passes.merge import Merge
from arrayfold.passes.reallocation import reallocate
from arrayfold.program.model import Program
from arrayfold.sharing.interference import find_interference
from support.effort import examples
from support.random_programs import RandomProgram, all_sizes, has_writes, programs
from support.reference import Access, Instance, Trace, is_valid, modular_address
from support.traces import trace_of, values_seen
from test_paper_programs import pairs_at


def program_of(random_program: RandomProgram) -> Program:
    assume(has_writes(random_program))
    problem = read_problem("random.toml", random_program.text())
    assert isinstance(problem, Program)
    return problem


def expandable(program: Program) -> list[str]:
    names = analyse(program).temporaries
    return [name for name in names if find_obstacle(program, name) is None]


@given(programs())
@settings(max_examples=examples(30))
def test_values_are_where_they_are_read(random_program: RandomProgram) -> None:
    program = program_of(random_program)
    names = expandable(program)
    assume(names)
    expanded = reallocate(program, names)
    for n in all_sizes():
        assert values_seen(trace_of(expanded, {"N": n})) == values_seen(trace_of(program, {"N": n}))


def assert_merged(program: Program, arrays: Sequence[str], *, one_number: bool = True) -> None:
    """Conflicts and bound of the common array are those of enumeration."""
    merge = Merge(tuple(arrays), one_number)
    merged = merge.apply(program)
    conflicts = Analysis.of(merged).conflicts(merge.embedding(program).name)
    bound = find_lower_bound(conflicts)
    for n in all_sizes():
        trace = trace_of(merged, {"N": n})
        assert pairs_at(conflicts, {"N": n}) == trace.conflicts(conflicts.name)
        assert bound.at({"N": n}) == trace.most_live(conflicts.name)
        assert trace.most_live(conflicts.name) == most_live(trace_of(program, {"N": n}), arrays)


def most_live(trace: Trace, arrays: Sequence[str]) -> int:
    """The most cells of some arrays in memory at one moment, counted under one name."""

    def renamed(accesses: Iterable[Access]) -> tuple[Access, ...]:
        return tuple(
            ("all", (arrays.index(name), *cell)) if name in arrays else (name, cell)
            for name, cell in accesses
        )

    instances = [
        Instance(one.name, one.iteration, renamed(one.reads), renamed(one.writes)) for one in trace.instances
    ]
    return Trace(instances, frozenset(renamed(trace.live_out))).most_live("all")


@given(programs())
@settings(max_examples=examples(8))
def test_one_memory_for_two_arrays(random_program: RandomProgram) -> None:
    program = program_of(random_program)
    names = analyse(program).temporaries
    assume(len(names) == 2)
    for one_number in (True, False):
        assert_merged(program, names, one_number=one_number)


@given(programs())
@settings(max_examples=examples(8))
def test_one_memory_for_the_values_of_statements(random_program: RandomProgram) -> None:
    program = program_of(random_program)
    names = expandable(program)
    assume(names)
    expanded = reallocate(program, names)
    arrays = [name for name in analyse(expanded).temporaries if name in expanded.relocation.origins]
    assume(len(arrays) > 1)
    assert_merged(expanded, arrays)


@given(programs())
@settings(max_examples=examples(5))
def test_shared_folds_are_valid(random_program: RandomProgram) -> None:
    program = program_of(random_program)
    try:
        result = fold_shared(program, "cells", budget=Budget(4.0))
    except ArrayfoldError:
        assume(False)
        raise
    assert isinstance(result.problem, Program)
    for n in all_sizes():
        trace = trace_of(result.problem, {"N": n})
        for array in result:
            assert isinstance(array.mapping, ModularMapping)
            mapping = array.mapping.at({"N": n})
            matrix = [[int(entry.as_number()) for entry in row] for row in mapping.matrix]
            offset, moduli = (
                [int(one.as_number()) for one in row] for row in (mapping.offset, mapping.moduli)
            )
            # Where an array has no cells its moduli may be anything.
            conflicts = trace.conflicts(array.name)
            divisors = mapping.divisors or None
            assert not conflicts or is_valid(conflicts, modular_address(matrix, offset, moduli, divisors))


def whole_arrays(accesses: Iterable[Access], names: Sequence[str]) -> tuple[Access, ...]:
    """Each array as one cell."""
    return tuple(("all", (names.index(name),)) for name, _ in accesses if name in names)


@given(programs())
@settings(max_examples=examples(25))
def test_interference(random_program: RandomProgram) -> None:
    program = program_of(random_program)
    names = analyse(program).temporaries
    assume(len(names) == 2)
    found = bool(find_interference(program, names).pairs)
    expected = False
    for n in all_sizes():
        trace = trace_of(program, {"N": n})
        whole = [
            Instance(one.name, one.iteration, whole_arrays(one.reads, names), whole_arrays(one.writes, names))
            for one in trace.instances
        ]
        live_out, live_in = (
            frozenset(whole_arrays(cells, names)) for cells in (trace.live_out, trace.all_live_in())
        )
        expected |= bool(Trace(whole, live_out, live_in).conflicts("all"))
    assert found == expected
