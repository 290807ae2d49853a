"""Random programs with parallel loops: cells of a moment all conflict, tables are as small as colourings."""

from __future__ import annotations

import itertools
from collections import defaultdict

import islpy as isl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods import Request
from arrayfold.select.choose import ask
from support.effort import examples
from support.random_programs import RandomProgram, all_sizes, has_writes, programs
from test_method_static import fewest_colours
from test_paper_programs import pairs_at

_MOST_CELLS = 12


@st.composite
def parallel_programs(draw: st.DrawFn) -> tuple[RandomProgram, Analysis]:
    """A program with some of its loops parallel, or with ties."""
    program = draw(programs(ties=draw(st.booleans())))
    assume(has_writes(program))
    loops = range(1, len(program.statements[0].schedule), 2)
    chosen = [d for d in loops if draw(st.booleans())]
    meanings = ", ".join(f'{d} = "doall"' for d in chosen)
    text = f"{program.text()}\nparallel = {{ {meanings} }}" if chosen else program.text()
    return program, Analysis.of(read_problem("random.toml", text))


def cliques(conflicts: Conflicts, size: int) -> list[set[tuple[int, ...]]]:
    assert conflicts.moments is not None
    depth = conflicts.moments.dim(isl.dim_type.in_)
    found: defaultdict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for point in points(conflicts.at({"N": size}).moments.wrap()):  # type: ignore[union-attr]
        found[point[:depth]].add(point[depth:])
    return list(found.values())


@given(parallel_programs())
@settings(max_examples=examples(30))
def test_all_cells_of_a_moment_conflict(drawn: tuple[RandomProgram, Analysis]) -> None:
    program, analysis = drawn
    for name in program.arrays():
        conflicts = analysis.conflicts(name)
        for size in all_sizes():
            pairs = pairs_at(conflicts, {"N": size})
            for cells in cliques(conflicts, size):
                assert all(pair in pairs for pair in itertools.permutations(cells, 2))


@given(parallel_programs())
@settings(max_examples=examples(30))
def test_tables_are_as_small_as_colourings(drawn: tuple[RandomProgram, Analysis]) -> None:
    program, analysis = drawn
    for name in program.arrays():
        conflicts = analysis.conflicts(name)
        for size in all_sizes():
            params = {"N": size}
            cells, pairs = points(conflicts.at(params).cells), pairs_at(conflicts, params)
            candidate = ask("static", conflicts, Request.of(conflicts, params))
            if candidate.mapping is None:
                assert "no cells" in candidate.reason or "cannot be" in candidate.reason
                continue
            mapping = candidate.mapping
            assert all(mapping.address(x, params) != mapping.address(y, params) for x, y in pairs)
            bound = find_lower_bound(conflicts, None, params)
            assert conflicts.moments_suffice or bound.at(params) == mapping.size.at(params)
            if len(cells) <= _MOST_CELLS:
                assert mapping.size.at(params) == fewest_colours(cells, pairs)
