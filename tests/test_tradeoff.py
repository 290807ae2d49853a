"""Storage against parallelism, and the kernels of a directory."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from distributed import LocalCluster

from arrayfold import fold, read, reorder
from arrayfold.base.errors import InputError
from arrayfold.explore import Exploration, Point, Source, explore
from arrayfold.explore.orders import NamedOrder, candidate_orders
from arrayfold.explore.point import evaluate
from arrayfold.explore.workers import run_all
from arrayfold.passes.reorder import Reorder
from arrayfold.program.model import Program
from support.command import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def jacobi(tmp_path_factory: pytest.TempPathFactory) -> tuple[Exploration, Path]:
    store = tmp_path_factory.mktemp("store")
    seen: list[tuple[int, int]] = []
    found = explore(
        Source("examples/jacobi-1d.toml"),
        {"n": 8},
        largest=1,
        store=store,
        progress=lambda done, everything: seen.append((done, everything)),
    )
    assert seen[0][0] == 0
    assert seen[-1] == (len(found.points), len(found.points))
    return found, store


def test_corners_of_jacobi(jacobi: tuple[Exploration, Path]) -> None:
    exploration, _ = jacobi
    fastest, smallest = exploration.frontier[0], exploration.frontier[-1]
    assert (fastest.latency, fastest.cells) == (8, 16)
    assert (smallest.latency, smallest.cells) == (64, 9)
    assert smallest.order.label == "as written"
    assert fastest.parallelism == 8
    assert smallest.cycles is not None
    assert smallest.cycles > 0


def test_corners_of_blur() -> None:
    program = Source("examples/blur.c").read()
    by_rows = NamedOrder("rows", Reorder("S_0[x, y] -> [2*x]; S_1[x, y] -> [2*x + 1]"))
    rows = evaluate(program, by_rows, {"N": 8}, 20)
    fused = evaluate(program, NamedOrder("fused by cells", Reorder(fuse="cells")), {"N": 8}, 20)
    assert (rows.latency, rows.cells) == (16, 8)
    assert fused.cells == 3
    assert fused.parallelism == 1


def test_a_wavefront_of_the_alignment() -> None:
    sizes = {"I": 3, "J": 3, "K": 3}
    program = Source("examples/alignment-3d.toml").at(sizes).read()
    wave = "S1[i, j, k] -> [i + j + k]; S2[i, j, k] -> [i + j + k]"
    point = evaluate(program, NamedOrder("wavefront", Reorder(wave)), sizes, 20)
    assert point.latency == 7
    assert evaluate(program, NamedOrder("as written", Reorder()), sizes, 20).cells == 13


def test_the_frontier_is_beaten_by_none(jacobi: tuple[Exploration, Path]) -> None:
    exploration, _ = jacobi
    assert len(exploration.frontier) >= 2
    for point in exploration.possible:
        for best in exploration.frontier:
            assert not (point.latency < best.latency and point.cells < best.cells)
    for point in exploration.points:
        assert bool(point.reason) == (point not in exploration.possible)


def test_commands_reproduce_their_points(
    jacobi: tuple[Exploration, Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    exploration, _ = jacobi
    for point in exploration.frontier:
        words = exploration.command(point)
        assert run(monkeypatch, *words[1:], "--json") == 0
        arrays = json.loads(capsys.readouterr().out)["arrays"]
        assert sum(int(array["size"]) for array in arrays) == point.cells


def test_results_are_kept(jacobi: tuple[Exploration, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    exploration, store = jacobi

    def refuse(*_: object) -> list[Point]:
        raise AssertionError("everything is known")

    monkeypatch.setattr("arrayfold.explore.exploration.run_all", lambda work, *_: [refuse() for _ in work])
    again = explore(exploration.source, {"n": 8}, largest=1, store=store)
    assert again.points == exploration.points
    with pytest.raises(AssertionError, match="everything is known"):
        explore(exploration.source, {"n": 9}, largest=1, store=store)


def test_schedules_are_legal() -> None:
    program = read("examples/two-statement-stencil.toml")
    assert isinstance(program, Program)
    schedules = [one for order in candidate_orders(program, 2, 0) if (one := order.reorder.schedule)]
    assert "S1[i, j] -> [i + j]; S2[i, j] -> [i + j]" in schedules
    for text in schedules:
        assert fold(reorder(program, schedule=text)).arrays


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["examples/jacobi-1d.toml"], "--param n=32"),
        (["examples/jacobi-1d.toml", "--param", "n=8", "--param", "k=2"], "no parameter 'k'"),
        (["examples/jacobi-1d.toml", "--param", "n=8", "--fuse"], "tries orders itself"),
        (["examples/blur-differences.toml", "--param", "N=8"], "gives no schedule"),
        (["examples/jacobi-1d.toml", "--param", "n=8", "-o", "figure.gif"], "a figure ends in"),
        (["examples/jacobi-1d.toml", "--param", "n=8", "-o", "docs/figures/fold.svg"], "exists"),
    ],
)
def test_complaints(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, "tradeoff", *arguments) == 2
    assert message in capsys.readouterr().err


def test_the_command(
    jacobi: tuple[Exploration, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    _, store = jacobi
    options = ["examples/jacobi-1d.toml", "--param", "n=8", "--largest", "1", "--store", str(store)]
    figure = tmp_path / "figure.svg"
    assert run(monkeypatch, "tradeoff", *options, "-o", str(figure)) == 0
    assert "as written" in capsys.readouterr().out
    assert "<svg" in figure.read_text()
    assert run(monkeypatch, "tradeoff", *options, "--json") == 0
    points = json.loads(capsys.readouterr().out)["points"]
    best = [point for point in points if point["frontier"]]
    assert shlex.split(best[-1]["command"]) == [
        *("arrayfold", "fold", "examples/jacobi-1d.toml", "--context", "n = 8")
    ]


def test_a_cluster_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("arrayfold.base.optional.import_module", missing)
    with pytest.raises(InputError, match="needs distributed"):
        list(run_all([lambda: 1], cluster="tcp://127.0.0.1:1"))


def test_a_cluster_finds_the_same(jacobi: tuple[Exploration, Path]) -> None:
    local, _ = jacobi
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        found = explore(local.source, {"n": 8}, largest=1, cluster=cluster.scheduler_address)
    assert found.points == local.points


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    options = ["examples/jacobi-1d.toml", "--param", "n=8", "--cluster", "nonsense"]
    assert run(monkeypatch, "tradeoff", *options, "--store", "never-made") == 2
    assert "--cluster nonsense" in capsys.readouterr().err


def test_a_directory_of_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("blur-interleaved.c", "gauss.toml"):
        (inner / name).write_bytes(Path("examples", name).read_bytes())
    (tmp_path / "other.c").write_text("int main(void) { return 0; }\n")
    assert run(monkeypatch, "fold", str(tmp_path), "--json", "--param", "N=8") == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [Path(item["file"]).name for item in files] == ["blur-interleaved.c", "gauss.toml"]
    assert files[0]["arrays"][0]["size"] == "2*N + 1"
    for options in (["--array", "blurx"], ["--array", "blurx", "--mode", "reallocate"], ["--fuse"]):
        assert run(monkeypatch, "fold", str(inner), "--json", *options) == 0
        blur, gauss = json.loads(capsys.readouterr().out)["files"]
        assert blur["arrays"]
        assert bool(gauss["arrays"]) == (options == ["--fuse"])
    alone = str(inner / "blur-interleaved.c")
    assert run(monkeypatch, "fold", alone, "--json", "--array", "blurx", "--mode", "reallocate") == 0
    (array,) = json.loads(capsys.readouterr().out)["arrays"]
    assert array["size"] == "2*N + 1"
    (tmp_path / "wrong.toml").write_text('domain = "{ S[i] : 0 <= i < 3"\n')
    assert run(monkeypatch, "fold", str(tmp_path)) == 1
    assert "wrong.toml" in capsys.readouterr().out
    assert run(monkeypatch, "fold", str(tmp_path), "--run") == 2
    assert "is a directory" in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(monkeypatch, "fold", str(empty)) == 2
