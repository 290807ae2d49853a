"""Random programs: conflicts, verdicts, methods and bounds agree with enumeration."""

from __future__ import annotations

import itertools

import islpy as isl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.budget import Budget
from arrayfold.base.choices import CONSTRUCTIONS
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters, maps_of, points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import write_problem
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, Undecided, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import METHODS, Request
from arrayfold.order.dataflow import find_dataflow
from arrayfold.program.model import Program
from arrayfold.select.choose import ask
from support.effort import examples
from support.equal import are_equal
from support.random_programs import RandomProgram, all_sizes, differences_of, has_writes, programs
from support.reference import is_valid, modular_address, partial_conflicts
from test_paper_programs import pairs_at
from test_partial_orders import doall_after


def analysed(program: RandomProgram) -> Analysis:
    assume(has_writes(program))
    return Analysis.of(read_problem("random.toml", program.text()))


@given(programs())
@settings(max_examples=examples(25))
def test_conflicts_of_all_constructions(program: RandomProgram) -> None:
    analysis = analysed(program)
    for name in program.arrays():
        found = {c: analysis.conflicts(name, construction=c) for c in CONSTRUCTIONS}
        for n in all_sizes():
            trace = program.trace(n)
            of_values, expected = trace.conflicts(name), trace.conflicts(name, of_cells=True)
            assert pairs_at(found["values"], {"N": n}) == of_values
            assert pairs_at(found["live-write"], {"N": n}) == expected
            assert pairs_at(found["live-live"], {"N": n}) == expected
            assert pairs_at(found["butterfly"], {"N": n}) >= expected
            for one, pairs in ((found["values"], of_values), (found["live-write"], expected)):
                assert set(points(one.at({"N": n}).differences)) == differences_of(pairs)


@given(programs(ties=True))
@settings(max_examples=examples(40))
def test_conflicts_with_ties(program: RandomProgram) -> None:
    analysis = analysed(program)
    assert analysis.liveness is not None
    for name in program.arrays():
        conflicts = analysis.conflicts(name)
        for n in all_sizes():
            trace, times = program.trace(n), program.times(n)
            live_in = set(points_of_live_in(analysis, name, n))
            before = doall_after(trace, lambda instance, times=times: times[instance])
            expected = partial_conflicts(trace, name, before)
            found = pairs_at(conflicts, {"N": n})
            assert {p for p in found if not live_in & set(p)} == {p for p in expected if not live_in & set(p)}
            assert expected <= found


def points_of_live_in(analysis: Analysis, name: str, n: int) -> list[tuple[int, ...]]:
    assert analysis.liveness is not None
    cells = analysis.problem.array(name).cells
    found = analysis.liveness.live_in.extract_set(cells.get_space())
    return points(found.intersect_params(analysis.conflicts(name).at({"N": n}).context))


@given(programs())
@settings(max_examples=examples(40))
def test_lower_bound(program: RandomProgram) -> None:
    analysis = analysed(program)
    for name in program.arrays():
        bound = find_lower_bound(analysis.conflicts(name))
        for n in all_sizes():
            live = program.trace(n).most_live(name)
            assert bound.at({"N": n}) == live
            if bound.formula is not None and bound.when is None:
                assert bound.formula.at({"N": n}) <= live


@given(programs())
@settings(max_examples=examples(40))
def test_dataflow(program: RandomProgram) -> None:
    assume(has_writes(program))
    problem = read_problem("random.toml", program.text())
    assert isinstance(problem, Program)
    analysis = Analysis.of(problem)
    assert analysis.liveness is not None
    flow = find_dataflow(problem, analysis.liveness.order)
    for n in all_sizes():
        trace = program.trace(n)
        last: dict[object, object] = {}
        flows, undefined, live = set(), set(), set()
        for instance in trace.instances:
            for access in instance.reads:
                if access in last:
                    source = last[access]
                    flows.add((source, (instance.name, instance.iteration), access))
                    live.add((source, access))
                else:
                    undefined.add(((instance.name, instance.iteration), access))
            for access in instance.writes:
                last[access] = (instance.name, instance.iteration)
        live |= {(last[access], access) for access in trace.live_out if access in last}
        written = {((i.name, i.iteration), a) for i in trace.instances for a in i.writes}
        assert named_pairs(flow.undefined_reads, n) == undefined
        assert named_pairs(flow.dead_writes, n) == written - live
        assert named_flows(flow.flows, n) == flows


def named_pairs(relation: isl.UnionMap, n: int) -> set[object]:
    found: set[object] = set()
    for part in maps_of(relation.intersect_params(fix_parameters({"N": n}))):
        left, right = part.domain().get_tuple_name(), part.range().get_tuple_name()
        split = part.dim(isl.dim_type.in_)
        found |= {((left, point[:split]), (right, point[split:])) for point in points(part.wrap())}
    return found


def named_flows(relation: isl.UnionMap, n: int) -> set[object]:
    found: set[object] = set()
    for part in maps_of(relation.intersect_params(fix_parameters({"N": n}))):
        source = part.domain().get_tuple_name()
        inner = part.range().unwrap()
        reader, array = inner.domain().get_tuple_name(), inner.range().get_tuple_name()
        a = part.dim(isl.dim_type.in_)
        b = a + inner.dim(isl.dim_type.in_)
        found |= {((source, p[:a]), (reader, p[a:b]), (array, p[b:])) for p in points(part.wrap())}
    return found


MAPPINGS = st.lists(
    st.tuples(st.lists(st.integers(-2, 2), min_size=2, max_size=2), st.integers(1, 4), st.integers(0, 2)),
    min_size=0,
    max_size=2,
)


@given(programs(), MAPPINGS)
@settings(max_examples=examples(100))
def test_verify_agrees_with_enumeration(
    program: RandomProgram, rows: list[tuple[list[int], int, int]]
) -> None:
    analysis = analysed(program)
    for name in program.arrays():
        conflicts = analysis.conflicts(name)
        rank = conflicts.array.rank
        moduli = [Formula.constant(b) + Formula.name("N") * c for _, b, c in rows]
        mapping = ModularMapping.of(
            name, conflicts.array.dimensions, [row[:rank] for row, _, _ in rows], moduli
        )
        verdict = verify(conflicts, mapping)
        valid = {}
        for n in all_sizes():
            here = [b + c * n for _, b, c in rows]
            address = modular_address([row[:rank] for row, _, _ in rows], [0] * len(rows), here)
            trace = program.trace(n)
            valid[n] = is_valid(trace.conflicts(name), address)
            if valid[n]:
                assert trace.values_read(name, address) == trace.values_read(name, lambda cell: cell)
        assert not isinstance(verdict, Undecided)
        assert isinstance(verdict, Proof) == all(valid.values())
        if isinstance(verdict, Counterexample):
            n = verdict.params["N"]
            x, y = verdict.cells
            assert (x, y) in program.trace(n).conflicts(name)
            assert mapping.address(x, {"N": n}) == mapping.address(y, {"N": n}) == verdict.address


@given(programs())
@settings(max_examples=examples(40))
def test_methods_find_valid_mappings(program: RandomProgram) -> None:
    analysis = analysed(program)
    for name in program.arrays():
        conflicts = analysis.conflicts(name)
        request = Request.of(conflicts, {})
        for method in ("identity", "successive-modulo"):
            for proposed in METHODS[method].find(conflicts, request):
                assert isinstance(verify(conflicts, proposed), Proof)
        for method in METHODS:
            mapping = ask(method, conflicts, request).mapping
            if mapping is None:
                assert method not in ("identity", "successive-modulo", "basis", "combined")
                continue
            for n in all_sizes():
                pairs = program.trace(n).conflicts(name)
                addresses = {x: mapping.address(x, {"N": n}) for x, _ in pairs}
                assert all(addresses[x] != addresses[y] for x, y in pairs)


@given(programs())
@settings(max_examples=examples(8))
def test_fold_is_never_below_the_bound(program: RandomProgram) -> None:
    assume(has_writes(program))
    problem = read_problem("random.toml", program.text())
    for folded, n in itertools.product(fold(problem, budget=Budget(6)), all_sizes()):
        assert program.trace(n).most_live(folded.name) <= folded.size.at({"N": n})
        if n == max(all_sizes()):
            assert folded.size.at({"N": n}) <= folded.original_size.at({"N": n})


@given(programs(ties=True))
@settings(max_examples=examples(40))
def test_model_round_trip(program: RandomProgram) -> None:
    assume(has_writes(program))
    problem = read_problem("random.toml", program.text())
    again = read_problem("model.toml", write_problem(problem))
    assert isinstance(problem, Program)
    assert isinstance(again, Program)
    assert are_equal(again, problem)
