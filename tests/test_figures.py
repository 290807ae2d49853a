"""Figures: what they show agrees with enumeration, every kind is drawn in every format, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from arrayfold import InputError, Program, fold, read
from arrayfold.base.choices import FigureKind
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions
from arrayfold.report.figures import plot_fold, save
from arrayfold.report.snapshots import differences_at, lifetimes_at, live_over_time, picture_sizes, shares
from support.command import run
from support.random_programs import differences_of
from support.traces import trace_of

EXAMPLES = Path("examples")


@pytest.mark.parametrize("what", get_args(FigureKind))
@pytest.mark.parametrize("name", ["diamond-tile.toml", "jacobi-1d.c"])
def test_every_kind_is_drawn(what: FigureKind, name: str, tmp_path: Path) -> None:
    problem = read(EXAMPLES / name)
    params = dict.fromkeys(problem.parameters, 4)
    if not isinstance(problem, Program) and what in ("lifetimes", "memory"):
        with pytest.raises(InputError, match=r"needs? a program"):
            plot_fold(problem, what, FoldOptions(params))
        return
    save(plot_fold(problem, what, FoldOptions(params)), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert text.startswith("<?xml")
    assert "at " in text


@pytest.mark.parametrize("name", ["lbm-d2q9.toml", "scalar-chain.toml"])
def test_slices_and_lines_are_drawn(name: str, tmp_path: Path) -> None:
    problem = read(EXAMPLES / name)
    params = dict.fromkeys(problem.parameters, 4)
    figure = plot_fold(problem, "lattice", FoldOptions(params, method="successive-modulo"))
    save(figure, tmp_path / "figure.svg")
    assert len(figure.axes) == (3 if "lbm" in name else 1)


def test_the_same_picture_gives_the_same_bytes(tmp_path: Path) -> None:
    for file in ("one.svg", "two.svg"):
        save(
            plot_fold(read(EXAMPLES / "diamond-tile.toml"), "lattice", FoldOptions({"B": 4})), tmp_path / file
        )
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_lifetimes_and_differences_are_those_of_enumeration() -> None:
    program = read(EXAMPLES / "jacobi-1d.c")
    assert isinstance(program, Program)
    params = {"N": 5, "T": 3}
    analysis = Analysis.of(program)
    assert analysis.liveness is not None
    trace = trace_of(program, params)
    bars = lifetimes_at(analysis.liveness, "A", params)
    steps = sorted({step for one in bars for step in (one.first, one.end)})
    live = max(sum(one.first <= s < max(one.end, one.first + 1) for one in bars) for s in steps)
    assert live == trace.most_live("A") == 6
    (folded,) = fold(program)
    found = differences_at(folded.conflicts, params)
    assert found == differences_of(trace.conflicts("A"))
    assert not any(shares(folded.mapping, difference, params) for difference in found)


def test_sizes_of_a_picture_are_small_and_legal() -> None:
    problem = read(EXAMPLES / "jacobi-1d.c")
    assert picture_sizes(problem.context, {"N": 3}) == {"N": 3, "T": 8}
    assert picture_sizes(problem.context, {}) == {"N": 8, "T": 8}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "figure.txt"], "a figure ends in"),
        (["-o", "figure.svg", "--what", "poetry"], "'poetry' is not one of 'conflicts'"),
        (["-o", "figure.svg", "--param", "B=500"], "pictures show up to"),
        (["-o", "figure.svg", "--array", "B"], "there is no array"),
    ],
)
def test_refusals(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = [str(tmp_path / one) if one.startswith("figure") else one for one in options]
    assert run(monkeypatch, "plot", "examples/diamond-tile.toml", *options) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_figure_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = tmp_path / "figure.svg"
    figure.write_text("mine")
    assert run(monkeypatch, "plot", "examples/scalar-chain.toml", "-o", str(figure)) == 2
    assert figure.read_text() == "mine"


def test_memory_over_time_is_that_of_enumeration() -> None:
    program = read(EXAMPLES / "harris.c")
    assert isinstance(program, Program)
    liveness = Analysis.of(program).liveness
    assert liveness is not None
    names = ["Ix", "Ixx", "Sxy"]
    live = live_over_time(liveness, names, {"N": 6})
    trace = trace_of(program, {"N": 6})
    assert {name: max(live[name]) for name in names} == {name: trace.most_live(name) for name in names}
    assert all(live[name][0] == live[name][-1] == 0 for name in names)
