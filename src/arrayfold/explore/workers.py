"""Many independent pieces of work as one Dask graph, on this machine or on a cluster.

A piece of work is a picklable object that can be called. It keeps its result itself if it wants to, so that
an interrupted run can go on.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from arrayfold.base.errors import InputError
from arrayfold.base.optional import optional_module

Result = TypeVar("Result")
Done = Callable[[int], None]
Work = Callable[[], Result]


def run_all(
    work: Sequence[Work[Result]], done: Done = lambda _: None, cluster: str | None = None
) -> Iterable[Result]:
    """The results, in the order of the work or as they come in; `done` hears how many there are so far.

    cluster  the address of a Dask scheduler; without one, processes of this machine do the work
    """
    if not work:
        return []
    return _on_this_machine(work, done) if cluster is None else _on_cluster(work, done, cluster)


def _on_this_machine(work: Sequence[Work[Result]], done: Done) -> Iterable[Result]:
    dask: Any = optional_module("dask", "explore")
    callbacks: Any = optional_module("dask.callbacks", "explore")
    count = itertools.count(1)

    def hear(*_: object) -> None:
        done(next(count))

    make = dask.delayed(_call, pure=False)
    with callbacks.Callback(posttask=hear):
        return dask.compute(*map(make, work), scheduler="processes", num_workers=os.cpu_count() or 1)


def _on_cluster(work: Sequence[Work[Result]], done: Done, cluster: str) -> Iterable[Result]:
    distributed: Any = optional_module("distributed", "cluster")
    try:
        client = distributed.Client(cluster, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"--cluster {cluster}: {error}") from None
    with client:
        futures = [client.submit(_call, item, pure=False) for item in work]
        for number, future in enumerate(distributed.as_completed(futures), 1):
            done(number)
            yield future.result()


def _call(work: Work[Result]) -> Result:
    return work()
