"""A Dask scheduler with workers that are processes of their own and see none of our files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import LocalCluster

TESTS = Path(__file__).resolve().parents[1]


@contextmanager
def cluster_of(workers: int, folder: Path) -> Iterator[str]:
    """The address of a scheduler with so many workers, which run in a folder."""
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        options = ["--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, *options]
        running = [
            subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(TESTS)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(workers)
        ]
        try:
            while len(cluster.scheduler_info["workers"]) < workers:
                assert all(one.poll() is None for one in running), "a worker ended at once"
                time.sleep(0.05)
            yield cluster.scheduler_address
        finally:
            for one in running:
                one.kill()
                one.wait()


@dataclass(frozen=True)
class FirstIsLost:
    """Work whose first attempt never ends; the number of its process stands in a file."""

    file: str

    def __call__(self) -> str:
        try:
            with Path(self.file).open("x") as attempt:
                attempt.write(f"{os.getpid()}\n")
        except FileExistsError:
            return "done again"
        while True:
            time.sleep(0.05)


@dataclass(frozen=True)
class Number:
    """Work that is done at once."""

    value: int

    def __call__(self) -> int:
        return self.value
