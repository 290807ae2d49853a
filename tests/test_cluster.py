"""Work beyond one machine: a real scheduler, workers that see none of the files, and one that is lost."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arrayfold.cli.fold import _FoldFile
from arrayfold.cli.input import Input
from arrayfold.explore import Source, explore
from arrayfold.explore.directory import FoldedFile, find_kernels, fold_directory
from arrayfold.explore.workers import run_all
from arrayfold.fold.options import FoldOptions
from support.cluster import FirstIsLost, Number, cluster_of

INCLUDING = """
#include "parts/factor.h"
void f(int n, const double a[restrict n], double out[restrict n])
{
    double t[n];
#pragma scop
    for (int i = 0; i < n; i++) { t[i] = FACTOR * a[i]; out[i] = t[i] + 1; }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster_of(2, tmp_path_factory.mktemp("elsewhere")) as address:
        yield address


def folded(directory: Path, store: Path, **where: object) -> list[FoldedFile]:
    fold_file = _FoldFile(Input(file=str(directory)), FoldOptions(), "contract", 60.0)
    files = find_kernels(str(directory))
    return fold_directory(files, fold_file, how=fold_file.how, store=store, **where)  # pyright: ignore


def test_sources_travel_and_answers_are_the_same(scheduler: str, tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    (kernels / "parts").mkdir(parents=True)
    (kernels / "including.c").write_text(INCLUDING)
    (kernels / "parts" / "factor.h").write_text("#define FACTOR 2\n")
    shutil.copy("examples/gauss.toml", kernels)
    (kernels / "wrong.toml").write_text('domain = "{ S[i] : 0 <= i < 3"\n')
    here = folded(kernels, tmp_path / "here", jobs=1)
    assert [len(one.arrays) for one in here] == [1, 1, 0]

    def disk_is_gone(done: int) -> None:
        if done == 0:
            kernels.rename(tmp_path / "moved")

    assert folded(kernels, tmp_path / "there", cluster=scheduler, done=disk_is_gone) == here
    (tmp_path / "moved").rename(kernels)
    # Nothing is left to be done, so that there need not even be a cluster.
    assert folded(kernels, tmp_path / "there", cluster="tcp://127.0.0.1:1") == here
    # Another text is other work.
    (kernels / "parts" / "factor.h").write_text("#define FACTOR a[i]\n")
    assert len(list((tmp_path / "here").iterdir())) == 3
    assert folded(kernels, tmp_path / "here", jobs=1) == here
    assert len(list((tmp_path / "here").iterdir())) == 4


def test_orders_of_a_program_on_a_cluster(scheduler: str, tmp_path: Path) -> None:
    shutil.copy("examples/jacobi-1d.toml", tmp_path)
    source = Source(str(tmp_path / "jacobi-1d.toml"))
    here = explore(source, {"n": 6}, largest=1, tile=0, seconds=9)
    there = explore(source, {"n": 6}, largest=1, tile=0, store=tmp_path / "store", cluster=scheduler)
    assert there.points == here.points
    again = explore(
        source, {"n": 6}, largest=1, tile=0, store=tmp_path / "store", cluster="tcp://127.0.0.1:1"
    )
    assert again.points == here.points


def test_what_a_lost_worker_had_is_done_again(tmp_path: Path) -> None:
    attempt = tmp_path / "attempt"
    found: list[object] = []
    with cluster_of(2, tmp_path) as address:
        work = [FirstIsLost(str(attempt)), *map(Number, range(5))]
        asking = threading.Thread(target=lambda: found.extend(run_all(work, cluster=address)))
        asking.start()
        while not (attempt.exists() and attempt.read_text().endswith("\n")):
            assert asking.is_alive()
            time.sleep(0.05)
        os.kill(int(attempt.read_text()), signal.SIGKILL)
        asking.join()
    assert sorted(map(str, found)) == ["0", "1", "2", "3", "4", "done again"]
