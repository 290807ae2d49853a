"""Every printed row of the papers' tables: proved, or refuted and its correction proved; ours no larger."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.bounds.moments import find_lower_bound
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.explore import papers
from arrayfold.explore.papers import (
    PUBLISHED_TABLES,
    RECOMPUTATIONS,
    PublishedRow,
    PublishedTable,
    RecomputedTable,
    ReproducedTable,
    find_example,
    recompute_all,
    reproduce,
)
from arrayfold.explore.papers.measured import BENCHMARKS, versions_of
from arrayfold.explore.papers.recomputed import Recomputation
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends import read
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.parse import read_mappings
from arrayfold.methods import METHODS, Request
from arrayfold.program.model import Problem
from arrayfold.report.papers import papers_data, recomputed
from arrayfold.run.timing import time_together
from arrayfold.select.choose import ask
from support.command import run

# The tables are computed once.
pytestmark = pytest.mark.xdist_group("papers")

PAGE = Path("docs/papers.md")
FORMULAS = {
    "printed mapping",
    "cells",
    "our method",
    "auto",
    "lower bound",
    "mapping by §2.3.1",
    "printed cells",
    "printed schedule",
    "our cells",
    "our schedule",
}
Capture = pytest.CaptureFixture[str]

ROWS = [
    pytest.param(row, id=f"{t.paper}-{row.program}-{row.algorithm}")
    for t in PUBLISHED_TABLES
    for row in t.rows
]
MISPRINTS = {
    ("LBM-D3Q19", "Lattice"),
    ("stencil-1d-pllgm-tile", "SMO"),
    ("diagonal, parallel (Fig. 4)", "mapping"),
}


def opened(row: PublishedRow) -> tuple[Problem, Conflicts]:
    problem = read(find_example(row.example))
    return problem, Analysis.of(problem).conflicts(row.array)


def mapping_of(text: str, problem: Problem) -> ModularMapping:
    (mapping,) = read_mappings(text, problem)
    assert isinstance(mapping, ModularMapping)
    return mapping


# ---------------------------------------------------------------- what is printed


def test_no_row_is_missing() -> None:
    diy15, bbc16, diy16 = PUBLISHED_TABLES
    assert (diy15.title, bbc16.title) == ("DIY15 Table 1", "BBC16 Table I")
    assert diy16.title == "DIY16 examples"
    assert Counter(row.program for row in diy15.rows) == dict.fromkeys(
        (
            "stencil-2d-5x5",
            "blur-interleaved",
            "blur-tiled",
            "LBM-D2Q9",
            "LBM-D3Q19",
            "LBM-D3Q27",
            "diamond-tile",
            "heat-2d-tiled",
        ),
        3,
    )
    assert Counter(row.program for row in bbc16.rows) == dict.fromkeys(
        (
            "produce-consume",
            "blur-interleaved",
            "blur-tiled",
            "harris-corner-tiled",
            "unsharp-mask-tiled",
            "LBM-D2Q9",
            "LBM-D3Q19",
            "LBM-D3Q27",
            "diamond-tile",
            "stencil-1d-pllgm-tile",
            "stencil-1d-hex-tile",
        ),
        2,
    )


def test_rows_that_are_not_as_printed_say_so() -> None:
    rows = [row for table in PUBLISHED_TABLES for row in table.rows]
    assert all(row.remark for row in rows if row.program == "harris-corner-tiled" or row.corrected)
    assert {(row.program, row.algorithm) for row in rows if row.corrected} == MISPRINTS


@pytest.mark.parametrize("row", ROWS)
def test_printed_mappings_are_proved_or_refuted(row: PublishedRow) -> None:
    problem, conflicts = opened(row)
    printed = mapping_of(row.mapping, problem)
    assert printed.size == read_formula(row.size)
    verdict = verify(conflicts, printed)
    if row.corrected is None:
        assert isinstance(verdict, Proof)
        return
    assert isinstance(verdict, Counterexample)
    corrected = mapping_of(row.corrected, problem)
    assert corrected.size == read_formula(row.size)
    assert isinstance(verify(conflicts, corrected), Proof)


@pytest.mark.parametrize("row", ROWS)
def test_no_printed_mapping_is_below_the_bound(row: PublishedRow) -> None:
    problem, conflicts = opened(row)
    bound = find_lower_bound(conflicts)
    assert bound.formula is not None
    size = mapping_of(row.corrected or row.mapping, problem).size
    for value in (5, 6, 7, 50):
        (name,) = problem.parameters
        assert bound.formula.at({name: value}) <= size.at({name: value})


@pytest.mark.parametrize("row", ROWS)
def test_our_methods_need_no_more_cells(row: PublishedRow) -> None:
    """Far out, where sizes are compared; one of several methods of the same idea is enough."""
    _, conflicts = opened(row)
    known = [method for method in row.methods if method in METHODS]
    assert known
    request = Request.of(conflicts, {}, Budget(60))
    found = [ask(method, conflicts, request).mapping for method in known]
    far = large_parameters(conflicts.context)
    best = min(mapping.size.evaluate(far) for mapping in found if mapping is not None)
    assert best <= read_formula(row.size).evaluate(far)


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def tables() -> list[ReproducedTable]:
    return reproduce(PUBLISHED_TABLES, budget=Budget(600))


def test_reproduced_tables(tables: list[ReproducedTable]) -> None:
    assert [table.published for table in tables] == list(PUBLISHED_TABLES)
    for table in tables:
        assert tuple(row.published for row in table.rows) == table.published.rows
        for row in table.rows:
            printed = row.published
            assert row.is_proved
            assert isinstance(row.printed, Counterexample) == (
                (printed.program, printed.algorithm) in MISPRINTS
            )
            assert not row.reason
            assert row.auto is not None
            assert row.auto.mapping is not None
            assert row.lower_bound is not None
            far = dict.fromkeys(row.auto.mapping.size.names(), 10**6)
            sizes = [found.mapping.size for _, found in row.ours if found and found.mapping]
            assert row.auto.mapping.size.evaluate(far) <= min(size.evaluate(far) for size in sizes)
            assert row.is_minimal == (row.lower_bound.formula == row.auto.mapping.size)


def test_minimal_where_the_papers_are_not(tables: list[ReproducedTable]) -> None:
    """The hexagon's smallest lattice has 6B - 6 cells, more than are live at once; all others are minimal."""
    rows = [row for table in tables for row in table.rows if row.published.example]
    open_ones = {row.published.example for row in rows if not (row.is_minimal or row.is_minimal_by_cases)}
    assert open_ones == {"hexagon-tile"}
    by_cases = {row.published.example for row in rows if row.is_minimal_by_cases}
    assert by_cases == {"reverse-l", "heat-2d-tiled"}


@pytest.fixture(scope="module")
def others() -> list[RecomputedTable]:
    return recompute_all(RECOMPUTATIONS, budget=Budget(300))


def test_the_page_shows_the_tables(
    tables: list[ReproducedTable], others: list[RecomputedTable], update_golden: bool
) -> None:
    text = renewed = PAGE.read_text()
    for table in [*map(recomputed, tables), *others]:
        title = table.title
        block = re.compile(rf"(<!-- {title} -->\n).*?(<!-- end -->)", re.DOTALL)
        assert block.search(text), f"{PAGE} has no place for {title}"
        renewed = block.sub(lambda found, table=table: found[1] + markdown(table) + found[2], renewed)
    if update_golden:
        PAGE.write_text(renewed)
    assert PAGE.read_text() == renewed


def test_the_modules_and_tests_of_the_sections_exist() -> None:
    listed = PAGE.read_text().partition("## Sections and where they are")[2]
    rows = [line.split(" | ") for line in listed.splitlines() if line.startswith("| §")]
    assert len(rows) > 40
    for *_, modules, tests in rows:
        for folder, names in (("src/arrayfold", modules), ("tests", tests)):
            found = re.findall(r"`([\w/]+\.py)`", names)
            assert found, names
            for name in found:
                assert (Path(folder) / name).is_file(), name


def markdown(table: RecomputedTable) -> str:
    lines = [table.columns, ("---",) * len(table.columns)]
    for cells in table.rows:
        pairs = zip(table.columns, cells, strict=True)
        lines.append(tuple(f"`{cell}`" if cell and title in FORMULAS else cell for title, cell in pairs))
    notes = "".join(f"\n{note}\n" for note in table.notes)
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + notes + "\n"


def test_every_algorithm_runs_and_gives_what_is_printed(tables: list[ReproducedTable]) -> None:
    """But for the tiling of heat-2d, which DIY15 does not give, and the misprint of DIY16."""
    other: set[tuple[str, str]] = set()
    for row in (row for table in tables for row in table.rows):
        assert row.run is not None
        assert row.run.mapping is not None, row.run.reason
        if row.run.mapping.size != read_formula(row.published.size):
            other.add((row.published.program, row.published.algorithm))
    assert other == {("heat-2d-tiled", "BBA"), ("diagonal, parallel (Fig. 4)", "mapping")}


def test_all_executions_show_the_same_conflicts(tables: list[ReproducedTable]) -> None:
    (table,) = (table for table in tables if table.published.enumerate_at)
    found = [row.enumerated for row in table.rows]
    assert all(one is not None and one.is_equal for one in found)


def test_examples_of_the_other_papers(others: list[RecomputedTable]) -> None:
    tva07, mor14 = others
    assert tva07.is_proved
    assert mor14.is_proved
    judged = {(row[0], row[2]): row[7].partition(" [")[0] for row in tva07.rows}
    assert {key for key, words in judged.items() if words != "as printed"} == {
        ("Example 2, Fig. 15", "A"),
        ("Example 2, Fig. 15", "B"),
    }
    assert [row[4] for row in mor14.rows] == ["4", "", "2*N + 2", "3*N + 3"]


def test_a_table_that_is_not_computed_says_why() -> None:
    def fail(_: Budget) -> RecomputedTable:
        raise InputError("there is no such program")

    (table,) = recompute_all([Recomputation("Mor14 programs", fail)], budget=Budget(10))
    assert (table.title, table.is_proved) == ("Mor14 programs", False)
    assert table.rows == (("there is no such program",),)


def test_data_for_programs(tables: list[ReproducedTable]) -> None:
    data = json.loads(json.dumps(papers_data(tables)))
    rows = {(r["program"], r["algorithm"]): r for table in data["tables"] for r in table["rows"]}
    wrong = rows["LBM-D3Q19", "Lattice"]
    assert wrong["printed"]["verdict"] == "refuted"
    assert "conflict and share address" in wrong["printed"]["reason"]
    assert wrong["corrected"]["verdict"] == "proved"
    right = rows["produce-consume", "SMO"]
    assert (right["auto"]["size"], right["lower_bound"], right["optimal"]) == ("2*N - 1", "2*N - 1", True)
    assert right["corrected"] is None
    assert right["methods"][0]["mapping"]


def only(monkeypatch: pytest.MonkeyPatch, **changes: str | tuple[str, ...]) -> None:
    """Leave one row in the tables, with these changes."""
    row = next(row for row in PUBLISHED_TABLES[1].rows if row.program == "produce-consume")
    table = PublishedTable("BBC16", "Table I", (replace(row, **changes),))
    monkeypatch.setattr(papers, "PUBLISHED_TABLES", (table,))
    monkeypatch.setattr(papers, "RECOMPUTATIONS", ())


def test_the_command_works_in_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    only(monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "papers") == 0
    output, errors = capsys.readouterr()
    assert errors == ""
    assert "BBC16 Table I" in output
    assert "successive-modulo: N^2" in output
    assert run(monkeypatch, "papers", "--json") == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert table["rows"][0]["printed"]["verdict"] == "proved"


def test_a_row_that_is_not_proved_fails(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    only(monkeypatch, mapping="A[t, i] -> [t mod 2, i mod 2]", size="4")
    assert run(monkeypatch, "papers") == 1
    output = capsys.readouterr().out
    assert "refuted [1]" in output
    assert "[1] At N = 3, " in output


def test_a_method_that_is_not_there_is_shown_as_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    only(monkeypatch, methods=("not-yet", "successive-modulo"))
    assert run(monkeypatch, "papers") == 0
    assert "not-yet: missing, successive-modulo: N^2" in capsys.readouterr().out


def test_out_of_time_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    only(monkeypatch)
    assert run(monkeypatch, "papers", "--budget", "0.001") == 1
    assert "raise it with --budget" in capsys.readouterr().out


def test_an_example_that_is_nowhere() -> None:
    with pytest.raises(InputError, match=r"no-such-program\.toml is neither in"):
        find_example("no-such-program")


def test_a_wheel_carries_the_examples(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    code = "from arrayfold.explore.papers import find_example; print(find_example('blur-tiled'))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = Path(done.stdout.strip())
    assert found.is_relative_to(tmp_path / "installed" / "arrayfold" / "examples")
    assert found.read_text() == Path("examples/blur-tiled.toml").read_text()


def test_measured_programs_have_both_mappings_and_their_cells() -> None:
    blur, d2q9, *_ = BENCHMARKS
    assert {name: str(size) for name, size in versions_of(blur, Budget(60)).cells.items()} == {
        "baseline": "3*N",
        "smo": "2*N + 1",
    }
    found = versions_of(d2q9, Budget(60))
    assert {name: str(size) for name, size in found.cells.items()} == {
        "baseline": "2*N^2",
        "smo": "N^2 + 2*N",
    }
    took = time_together(found.program, found.codes, {"N": 8, "T": 2}, [2])
    assert took.keys() == {("baseline", 2), ("smo", 2)}
