"""The fewest addresses at fixed sizes: against colourings by enumeration, through judge, JSON and C."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import IncompleteMapping, InputError, NothingProved
from arrayfold.bounds import conflict_graph
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.fold.compare import compare
from arrayfold.fold.options import FoldOptions
from arrayfold.frontends import read
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.modular import TableMapping
from arrayfold.methods import Request
from arrayfold.run.compiler import find_compiler
from arrayfold.select.choose import ask, choose
from support.command import run
from support.reference import partial_conflicts
from support.runs import run_both
from support.shapes import jacobi
from test_c_codegen import SQUARE
from test_paper_programs import pairs_at
from test_partial_orders import doall_after, forall_after, gauss, gauss_time

Cell = tuple[int, ...]
Capture = pytest.CaptureFixture[str]


def conflicts_of(file: str) -> Conflicts:
    analysis = Analysis.of(read(f"examples/{file}.toml"))
    (name,) = analysis.foldable()
    return analysis.conflicts(name)


def table_of(conflicts: Conflicts, params: dict[str, int]) -> TableMapping:
    candidate = ask("static", conflicts, Request.of(conflicts, params))
    assert candidate.is_proved, candidate.reason
    assert isinstance(candidate.mapping, TableMapping)
    return candidate.mapping


def fewest_colours(cells: list[Cell], pairs: set[tuple[Cell, Cell]]) -> int:
    """The chromatic number by trying all colourings; cells with most conflicts first."""
    degree = {x: sum((x, y) in pairs for y in cells) for x in cells}
    ordered = sorted(cells, key=lambda x: -degree[x])

    def is_colourable(count: int, colours: list[int]) -> bool:
        if len(colours) == len(ordered):
            return True
        x = ordered[len(colours)]
        used = {colour for y, colour in zip(ordered, colours, strict=False) if (x, y) in pairs}
        fresh = max(colours, default=-1) + 1
        return any(
            is_colourable(count, [*colours, colour])
            for colour in range(min(count, fresh + 1))
            if colour not in used
        )

    return next(count for count in itertools.count(1) if is_colourable(count, []))


# ---------------------------------------------------------------- the number of addresses


@pytest.mark.parametrize(
    ("file", "params", "size"),
    [
        ("jacobi-1d", {"n": 4}, 5),
        ("jacobi-1d-doall", {"n": 4}, 8),
        ("jacobi-1d-forall", {"n": 4}, 4),
        ("diagonal", {"n": 4}, 4),
        ("gauss", {"N": 4, "M": 6}, 4),
        ("blur", {"N": 4}, 16),
        ("blur-interleaved", {"N": 4}, 9),
        ("reverse-l", {"N": 4}, 12),
        ("blur-differences", {"N": 4}, 9),
        ("alignment-3d", {"I": 2, "J": 2, "K": 2}, None),
        ("diamond-tile", {"B": 3}, 8),
    ],
)
def test_no_colouring_has_fewer_colours(file: str, params: dict[str, int], size: int | None) -> None:
    conflicts = conflicts_of(file)
    table = table_of(conflicts, params)
    cells, pairs = points(conflicts.at(params).cells), pairs_at(conflicts, params)
    count = int(table.size.as_number())
    assert count == fewest_colours(cells, pairs)
    assert size is None or count == size
    assert {cell for cell, _ in table.table} == set(cells)
    assert {address for _, address in table.table} == set(range(count))
    assert all(table.address(x, params) != table.address(y, params) for x, y in pairs)
    clique = find_lower_bound(replace(conflicts, moments_suffice=False), None, params).clique
    assert clique is not None
    assert len(clique.cells) == count
    assert all(pair in pairs for pair in itertools.permutations(clique.cells, 2))


@pytest.mark.parametrize(
    ("file", "array", "params", "pairs"),
    [
        (
            "jacobi-1d-doall",
            "A",
            {"n": 4},
            partial_conflicts(jacobi(4), "A", doall_after(jacobi(4), lambda s: s.iteration[:1])),
        ),
        (
            "jacobi-1d-forall",
            "A",
            {"n": 4},
            partial_conflicts(jacobi(4), "A", forall_after(jacobi(4), lambda s: s.iteration[:1])),
        ),
        (
            "gauss",
            "tmp",
            {"N": 4, "M": 6},
            partial_conflicts(gauss(4, 6), "tmp", doall_after(gauss(4, 6), gauss_time)),
        ),
    ],
)
def test_tables_are_right_for_conflicts_by_enumeration(
    file: str, array: str, params: dict[str, int], pairs: set[tuple[Cell, Cell]]
) -> None:
    table = fold(read(f"examples/{file}.toml"), params=params, method="static")[array].mapping
    cells = sorted({x for x, _ in pairs})
    assert table.size.at(params) == fewest_colours(cells, pairs)
    assert all(table.address(x, params) != table.address(y, params) for x, y in pairs)


def test_lattices_may_need_more_than_the_optimum() -> None:
    params = {"n": 6}
    best = fold(read("examples/nonuniform.toml"), params=params)
    for array in best:
        table = table_of(array.conflicts, params)
        assert table.size.at({}) <= array.size.at(params)


CHAIN = """
domain = "{ P[i] : 0 <= i < 5; C[i] : 0 <= i < 5 }"
write = "{ P[i] -> A[i] }"
read = "{ C[i] -> A[i] }"
temporary = ["A"]
"""


def test_happens_before_relations_have_no_times_but_an_optimum() -> None:
    order = 'happens_before = "{ P[i] -> C[i]; C[i] -> P[i + 2] }"'
    folded = fold(read_problem("chain.toml", CHAIN + order), method="static")["A"]
    assert folded.size == read_formula("2")
    assert folded.is_optimal
    assert "only" not in folded.remark


def test_the_same_request_gives_the_same_table() -> None:
    conflicts = conflicts_of("jacobi-1d-doall")
    assert table_of(conflicts, {"n": 5}) == table_of(conflicts_of("jacobi-1d-doall"), {"n": 5})


def test_powers_of_two_are_about_moduli() -> None:
    conflicts = conflicts_of("jacobi-1d")
    request = Request.of(conflicts, {"n": 4}, power_of_two=True)
    assert choose("static", conflicts, request).mapping == table_of(conflicts, {"n": 4})


# ---------------------------------------------------------------- where it does not apply


def reason(conflicts: Conflicts, params: dict[str, int]) -> str:
    with pytest.raises(NothingProved) as error:
        choose("static", conflicts, Request.of(conflicts, params))
    return str(error.value)


def test_sizes_must_be_fixed() -> None:
    assert "as in --param n=3" in reason(conflicts_of("jacobi-1d"), {})
    assert "but M may take several values; fix them, as in --param N=5 --param M=4" in reason(
        conflicts_of("gauss"), {"N": 5}
    )


def test_a_context_may_fix_them_too() -> None:
    assert table_of(conflicts_of("jacobi-1d").at({"n": 4}), {}).params == {"n": 4}


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    conflicts = conflicts_of("jacobi-1d")
    assert "up to 3000 cells" in reason(conflicts, {"n": 60})
    monkeypatch.setattr(conflict_graph, "_MOST_PAIRS", 10)
    assert "up to 10 conflicts" in reason(conflicts, {"n": 6})
    monkeypatch.setattr(conflict_graph, "_MOST_UNORDERED_CELLS", 10)
    monkeypatch.setattr(conflict_graph, "_MOST_PAIRS", 10_000)
    unordered = replace(conflicts_of("blur-differences"), moments=None)
    assert "without an order of the writes up to 10 cells" in reason(unordered, {"N": 6})


def test_arrays_without_cells() -> None:
    conflicts = conflicts_of("gauss")
    assert "no cells" in reason(conflicts, {"N": 1, "M": 5})


FIVE_CYCLE = """
conflicts = "{ A[i] -> A[j] : 0 <= i < 5 and 0 <= j < 5 and (j = i + 1 or (i = 4 and j = 0)) }"
"""


def test_conflicts_that_no_order_leaves() -> None:
    conflicts = Analysis.of(read_problem("five.toml", FIVE_CYCLE)).conflicts("A")
    assert "cannot be" in reason(conflicts, {})
    assert find_lower_bound(conflicts, None, {}).clique is None


REWRITTEN = """
domain = "{ S[t] : 0 <= t < 4; R[t] : 0 <= t < 4 }"
write = "{ S[t] -> A[0] : t = 0 or t = 3; S[t] -> A[t] : 1 <= t <= 2 }"
read = "{ R[t] -> A[t] : t < 3 }"
schedule = "{ S[t] -> [t, 0]; R[t] -> [t, 1] }"
temporary = ["A"]
"""


def test_a_cell_that_is_written_again_after_its_last_read() -> None:
    """Lifetimes have a hole then: A[1] and A[2] fit into that of A[0], so one address is enough."""
    conflicts = Analysis.of(read_problem("again.toml", REWRITTEN)).conflicts("A")
    assert table_of(conflicts, {}).size == read_formula("1")


# ---------------------------------------------------------------- auto and compare


def test_auto_gives_answers_for_all_sizes() -> None:
    folded = fold(read("examples/nonuniform.toml"), params={"n": 5})
    assert all(not isinstance(array.mapping, TableMapping) for array in folded)


@pytest.mark.parametrize("params", [{}, {"n": 5}])
def test_compare_asks_it_where_sizes_are_fixed(params: dict[str, int]) -> None:
    (array,) = compare(read("examples/jacobi-1d-doall.toml"), FoldOptions(params), Budget(20))
    found = {candidate.method: candidate for candidate in array.candidates}
    assert list(found)[-2:] == ["static", "auto"]
    assert isinstance(found["static"].mapping, TableMapping) == bool(params)
    assert bool(params) or "fixed sizes" in found["static"].reason


# ---------------------------------------------------------------- the judge


def test_the_proof_is_for_these_sizes() -> None:
    conflicts = conflicts_of("jacobi-1d")
    proof = verify(conflicts, table_of(conflicts, {"n": 4}))
    assert isinstance(proof, Proof)
    assert proof.context.is_equal(conflicts.at({"n": 4}).context)
    assert "at n = 4 only" in proof.argument


def test_a_wrong_table_is_refuted() -> None:
    conflicts = conflicts_of("jacobi-1d")
    table = table_of(conflicts, {"n": 4})
    for position, ((cell, address), (other, wrong)) in enumerate(itertools.pairwise(table.table)):
        entries = (*table.table[:position], (cell, wrong), *table.table[position + 1 :])
        verdict = verify(conflicts, replace(table, table=entries))
        if address == wrong:
            continue
        assert isinstance(verdict, Counterexample)
        assert verdict.params == {"n": 4}
        assert cell in verdict.cells
        assert verdict.cells in pairs_at(conflicts, {"n": 4})
        assert verdict.address == (wrong,)
        assert other not in verdict.cells or (cell, other) in pairs_at(conflicts, {"n": 4})


def test_tables_that_make_no_sense() -> None:
    conflicts = conflicts_of("jacobi-1d")
    table = table_of(conflicts, {"n": 3})
    with pytest.raises(IncompleteMapping, match=r"no address to A\[2, 2\]"):
        verify(conflicts, replace(table, table=table.table[:-1]))
    with pytest.raises(InputError, match=r"A\[0, 0\] two addresses"):
        verify(conflicts, replace(table, table=(*table.table, ((0, 0), 1))))
    with pytest.raises(InputError, match="negative address -1"):
        verify(conflicts, replace(table, table=(*table.table[:-1], ((2, 2), -1))))
    with pytest.raises(InputError, match="1 indices, but A has 2"):
        verify(conflicts, replace(table, table=(((0,), 0),)))
    with pytest.raises(InputError, match="does not say at which n"):
        verify(conflicts, replace(table, params={}))
    with pytest.raises(InputError, match="n = 2, where there is nothing to fold"):
        verify(conflicts, replace(table, params={"n": 2}))


# ---------------------------------------------------------------- command line


def fold_json(monkeypatch: pytest.MonkeyPatch, capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert run(monkeypatch, "fold", *arguments, "--method", "static", "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("file", ["jacobi-1d", "jacobi-1d-doall"])
def test_json_comes_back_through_check(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    path = f"examples/{file}.toml"
    data = fold_json(monkeypatch, capsys, path, "--param", "n=4")
    (array,) = data["arrays"]
    assert array["matrix"] == array["offset"] == array["moduli"] == []
    assert array["only_at"] == {"n": 4}
    assert len(array["table"]) == 16
    assert array["optimal"]
    assert array["at"]["size"] == array["at"]["lower_bound"] == len(array["conflicting_cells"])
    stored = tmp_path / "table.json"
    stored.write_text(json.dumps(data))
    assert run(monkeypatch, "check", path, "--mapping", str(stored)) == 0
    text = capsys.readouterr().out
    assert "MINIMAL" in text
    assert "no mapping has fewer (at n = 4 only)" in text
    array["table"][0][1] = array["table"][1][1]
    stored.write_text(json.dumps(data))
    assert run(monkeypatch, "check", path, "--mapping", str(stored)) == 1
    text = capsys.readouterr().out
    assert "INVALID: At n = 4, A[0, 0] and A[0, 1] conflict and share address [1]" in text
    assert "writes A[0, 0]" in text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[[0, 0], 0.5]], "whole numbers"),
        ([[0, 0, 1]], "expected the JSON"),
        ([[["x", 0], 1]], "whole numbers"),
        ([], "no address to A[0, 0]"),
    ],
)
def test_json_that_is_no_table(
    table: object, message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    stored = tmp_path / "table.json"
    stored.write_text(json.dumps({"arrays": [{"name": "A", "table": table, "only_at": {"n": 4}}]}))
    assert run(monkeypatch, "check", "examples/jacobi-1d.toml", "--mapping", str(stored)) == 2
    assert message in capsys.readouterr().err


def test_a_table_larger_than_needed_is_loose(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    table = [[[i, j], 3 * i + j] for i in range(3) for j in range(3)]
    stored = tmp_path / "table.json"
    stored.write_text(json.dumps({"arrays": [{"name": "A", "table": table, "only_at": {"n": 3}}]}))
    assert run(monkeypatch, "check", "examples/jacobi-1d.toml", "--mapping", str(stored)) == 0
    assert "LOOSE: 9 cells" in capsys.readouterr().out


def test_the_terminal_says_where_it_holds(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert (
        run(
            monkeypatch,
            "fold",
            "examples/gauss.toml",
            "--method",
            "static",
            "--param",
            "N=6",
            "--param",
            "M=7",
        )
        == 0
    )
    text = capsys.readouterr().out
    assert "tmp[i, j] -> table of 28 entries" in text
    assert "proved, minimal, at N = 6, M = 7 only" in text


def test_without_sizes_the_reason_is_an_example(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "fold", "examples/jacobi-1d.toml", "--method", "static") == 1
    assert "static works at fixed sizes" in capsys.readouterr().err


# ---------------------------------------------------------------- C


needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")


@needs_compiler
@pytest.mark.parametrize("loops", ["keep", "generate"])
@pytest.mark.parametrize(
    ("file", "params"),
    [("jacobi-1d", {"T": 5, "N": 8}), ("blur-interleaved", {"N": 7}), ("unsharp", {"W": 7, "H": 9})],
)
def test_folded_c_gives_the_same_values(file: str, params: dict[str, int], loops: Any) -> None:
    (program,) = read_c(f"examples/{file}.c", Path(f"examples/{file}.c").read_bytes())
    result = fold(program, params=params, method="static")
    code = result.to_c(loops=loops)
    assert "static const unsigned char" in code
    assert "abort();" in code
    assert run_both(result, code.encode(), params=params, sanitize=True).is_equal


@needs_compiler
def test_other_sizes_end_the_program() -> None:
    (program,) = read_c("kernel.c", SQUARE.encode())
    result = fold(program, params={"N": 6}, method="static")
    code = result.to_c().encode()
    assert b"if (N != 6)" in code
    assert b"#include <stdlib.h>" in code
    assert run_both(result, code, params={"N": 6}).is_equal
    assert not run_both(result, code, params={"N": 7}).is_equal


def test_a_variable_called_abort() -> None:
    text = SQUARE.replace("double tmp[N][N];", "double tmp[N][N];\n  int abort = 0;\n  (void)abort;")
    (program,) = read_c("kernel.c", text.encode())
    result = fold(program, params={"N": 6}, method="static")
    with pytest.raises(InputError, match="abort has another meaning"):
        result.to_c()


def test_an_array_that_cannot_shrink_stays() -> None:
    (program,) = read_c("examples/blur.c", Path("examples/blur.c").read_bytes())
    result = fold(program, params={"N": 6}, method="static")
    assert result["blurx"].is_optimal
    assert not result["blurx"].shrinks
    assert result.to_c() == Path("examples/blur.c").read_text()


def test_boxes_with_too_many_gaps() -> None:
    text = SQUARE.replace("double tmp[N][N]", "double tmp[9000 * N][N]").replace("tmp[i]", "tmp[9000 * i]")
    (program,) = read_c("kernel.c", text.encode())
    result = fold(program, params={"N": 6}, method="static")
    with pytest.raises(InputError, match="box of 270006 entries"):
        result.to_c()
