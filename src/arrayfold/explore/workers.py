"""Many independent pieces of work as one Dask graph, on this machine or on a cluster.

A piece of work is a picklable object that can be called, with the files that it reads. On a cluster a worker
needs nothing but the same arrayfold, and what a worker had that is lost is done again by another one. Results
come in one by one, so that whoever keeps them can go on after an interruption.
"""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from typing import Any, TypeVar

from arrayfold.base.deadline import processors
from arrayfold.base.errors import ArrayfoldError, InputError
from arrayfold.base.optional import optional_module
from arrayfold.base.watchdog import die_with_parent
from arrayfold.explore.store import code_digest

Result = TypeVar("Result")
Done = Callable[[int], None]
Work = Callable[[], Result]

# isl has one context for a process, whatever threads a worker has.
_ONE_AT_A_TIME = threading.Lock()
_SECONDS_TO_CONNECT = 10


def run_all(
    work: Sequence[Work[Result]],
    done: Done = lambda _: None,
    cluster: str | None = None,
    jobs: int | None = None,
) -> Iterable[Result]:
    """The results, in the order of the work or as they come in; `done` hears how many there are so far.

    cluster  the address of a Dask scheduler; without one, processes of this machine do the work
    jobs     how many of them at a time; as many as there are processors if nothing is said
    """
    if not work:
        return []
    return _on_this_machine(work, done, jobs) if cluster is None else on_cluster(work, done, cluster)


def _on_this_machine(work: Sequence[Work[Result]], done: Done, jobs: int | None) -> Iterable[Result]:
    dask: Any = optional_module("dask", "explore")
    callbacks: Any = optional_module("dask.callbacks", "explore")
    count = itertools.count(1)

    def hear(*_: object) -> None:
        done(next(count))

    make = dask.delayed(_call, pure=False)
    pool = _pool(min(jobs or processors(), len(work)))
    try:
        with callbacks.Callback(posttask=hear):
            return dask.compute(*map(make, work), scheduler="processes", pool=pool, chunksize=1)
    except BrokenProcessPool:
        raise ArrayfoldError(
            "a process at work was ended from outside; start again, what was found is kept"
        ) from None
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes that Ctrl-C does not reach, and that end when this one does, whatever they are at."""
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), die_with_parent)
    # They begin with what is blocked here, and all of them are started at once.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        pool.submit(die_with_parent)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pool


def on_cluster(work: Sequence[Work[Result]], done: Done, cluster: str) -> Iterator[Result]:
    """The results as they come in from the workers of a Dask scheduler."""
    distributed: Any = optional_module("distributed", "cluster")
    try:
        client = distributed.Client(cluster, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster {cluster}: {error}") from None
    with client:
        # A worker that ends loses what it had, which another one does; no work is given up for that.
        client.run_on_scheduler(_forgive_lost_workers)
        digest = code_digest()
        futures = [client.submit(_call_on_worker, item, digest, pure=False) for item in work]
        for number, future in enumerate(distributed.as_completed(futures), 1):
            result = _result(future, cluster)
            done(number)
            yield result


def _result(future: Any, cluster: str) -> Any:
    try:
        return future.result()
    except ArrayfoldError:
        raise
    except Exception as error:
        raise ArrayfoldError(f"--cluster {cluster}: {type(error).__name__}: {error}") from error


def _forgive_lost_workers(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, 1000)


def _call(work: Work[Result]) -> Result:
    return work()


def _call_on_worker(work: Work[Result], digest: str) -> Result:
    """Work on a worker, which must be of the same arrayfold: another one may find something else."""
    if code_digest() != digest:
        raise InputError("a worker of the cluster has another version of arrayfold installed")
    with _ONE_AT_A_TIME:
        return work()
