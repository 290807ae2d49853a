"""Every sequential worked example of the papers: conflicts by enumeration, sizes, bounds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from arrayfold.base.choices import CONSTRUCTIONS, Construction
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.judge.verify import Proof, verify
from arrayfold.methods import METHODS, Request
from conftest import PaperProgram
from support.reference import Trace, is_valid, modular_address, successive_modulo


def pairs_at(conflicts: Conflicts, params: dict[str, int]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    rank = conflicts.array.rank
    return {(p[:rank], p[rank:]) for p in points(conflicts.at(params).pairs.wrap())}


def cases(program: PaperProgram) -> list[tuple[str, dict[str, Any], dict[str, int], Trace]]:
    return [
        (name, expected, params, program.trace(**params))
        for name, expected in program.expected["arrays"].items()
        for params in program.expected["sizes"]
    ]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_conflicts_equal_enumeration(paper_program: PaperProgram, construction: Construction) -> None:
    analysis = Analysis.of(read(paper_program.file))
    for name, _, params, trace in cases(paper_program):
        conflicts = analysis.conflicts(name, construction=construction)
        expected = trace.conflicts(name, of_cells=construction != "values")
        assert pairs_at(conflicts, params) == expected
        differences = {tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in expected}
        assert set(points(conflicts.at(params).differences)) == differences


def test_live_in_and_temporaries_equal_enumeration(paper_program: PaperProgram) -> None:
    analysis = Analysis.of(read(paper_program.file))
    assert analysis.liveness is not None
    assert set(paper_program.expected["arrays"]) == set(analysis.foldable())
    for _, _, params, trace in cases(paper_program):
        live_in = analysis.liveness.live_in
        for array in analysis.problem.arrays:
            found = live_in.extract_set(array.cells.get_space())
            at_size = found.intersect_params(fix_parameters(params))
            assert set(points(at_size)) == {cell for name, cell in trace.all_live_in() if name == array.name}


def test_lower_bound_is_the_largest_number_of_live_cells(paper_program: PaperProgram) -> None:
    analysis = Analysis.of(read(paper_program.file))
    for name, expected, params, trace in cases(paper_program):
        bound = find_lower_bound(analysis.conflicts(name))
        assert str(bound.formula) == expected["lower_bound"]
        assert bound.at(params) == trace.most_live(name)


def test_successive_modulo_sizes(paper_program: PaperProgram) -> None:
    analysis = Analysis.of(read(paper_program.file))
    for name, expected, params, trace in cases(paper_program):
        conflicts = analysis.conflicts(name)
        assert conflicts.original_size == read_formula(expected["original_size"])
        for all_orders, key in ((False, "given_order"), (True, "best_order")):
            request = Request.of(conflicts, {}, all_orders=all_orders)
            (mapping,) = METHODS["successive-modulo"].find(conflicts, request)
            assert mapping.size == read_formula(expected[key])
            assert isinstance(verify(conflicts, mapping), Proof)
            here = mapping.at(params)
            address = modular_address(
                [[int(entry.as_number()) for entry in row] for row in here.matrix],
                [int(entry.as_number()) for entry in here.offset],
                [int(entry.as_number()) for entry in here.moduli],
            )
            assert is_valid(trace.conflicts(name), address)
            assert trace.values_read(name, address) == trace.values_read(name, lambda cell: cell)


def test_successive_modulo_is_what_enumeration_gives(paper_program: PaperProgram) -> None:
    analysis = Analysis.of(read(paper_program.file))
    for name, expected, params, trace in cases(paper_program):
        rank = analysis.problem.array(name).rank
        found = trace.conflicts(name)
        given = math.prod(successive_modulo(found, range(rank)).values())
        assert given <= read_formula(expected["given_order"]).at(params)
        best = min(
            math.prod(successive_modulo(found, order).values())
            for order in itertools.permutations(range(rank))
        )
        assert best <= read_formula(expected["best_order"]).at(params)
        if params == paper_program.expected["sizes"][-1]:
            assert given == read_formula(expected["given_order"]).at(params)
