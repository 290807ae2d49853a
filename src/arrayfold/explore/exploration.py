"""Many orders of one program, folded side by side; results are kept by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arrayfold.base.budget import Budget
from arrayfold.base.carried import carrying, noting
from arrayfold.base.errors import InputError, Interrupted
from arrayfold.explore.orders import NamedOrder, candidate_orders
from arrayfold.explore.point import Point, evaluate, not_tried
from arrayfold.explore.store import Store
from arrayfold.explore.workers import run_all
from arrayfold.frontends import apply_options, read, write_problem
from arrayfold.program.model import Program

Progress = Callable[[int, int], None]

DEFAULT_SECONDS = 120.0
_SHARE_OF_SEARCH = 0.15
_SHARE_OF_ORDERS = 0.8
_SECONDS_FOR_PROCESSES = 10.0


@dataclass(frozen=True)
class Source:
    """Where the program comes from, so that another process can read it again."""

    file: str
    region: str | None = None
    arguments: tuple[str, ...] = ()
    context: str | None = None
    live_out: str | None = None
    temporary: tuple[str, ...] = ()
    no_alias: bool = False
    function: tuple[str, ...] = ()

    def read(self) -> Program:
        """The program."""
        problem = read(self.file, region=self.region, arguments=self.arguments, function=self.function)
        problem = apply_options(
            problem, context=self.context, live_out=self.live_out, temporary=self.temporary
        )
        if not isinstance(problem, Program) or problem.schedule is None:
            raise InputError(f"{self.file} gives no schedule, so there are no orders to compare")
        return problem.without_aliases() if self.no_alias else problem

    def at(self, params: Mapping[str, int]) -> Source:
        """The same at these sizes only."""
        known = [] if self.context is None else [f"({self.context})"]
        fixed = [f"{name} = {value}" for name, value in params.items()]
        return replace(self, context=" and ".join([*known, *fixed]) or None)

    def options(self) -> list[str]:
        """The options on the command line."""
        named = (("--region", self.region), ("--context", self.context), ("--live-out", self.live_out))
        found = [word for option, value in named if value is not None for word in (option, value)]
        found += [word for name in self.temporary for word in ("--temporary", name)]
        found += [word for name in self.function for word in ("--function", name)]
        return found + ["--no-alias"] * self.no_alias


@dataclass(frozen=True)
class Exploration:
    """All points at given sizes: possible ones first, the fastest first.

    cut_short  what of the search for orders was given up
    """

    source: Source
    params: Mapping[str, int]
    points: tuple[Point, ...]
    cut_short: str = ""

    @property
    def possible(self) -> list[Point]:
        """The orders that keep all dependences and could be folded."""
        return [point for point in self.points if not point.reason]

    @property
    def frontier(self) -> list[Point]:
        """The points that no other one beats in both latency and storage, the fastest first."""
        best: list[Point] = []
        for point in self.possible:
            if not best or point.cells < best[-1].cells:
                best.append(point)
        return best

    def command(self, point: Point) -> list[str]:
        """The command that reproduces a point."""
        source = self.source.at(self.params)
        extra = ["--", *source.arguments] if source.arguments else []
        return ["arrayfold", "fold", source.file, *source.options(), *point.order.reorder.options(), *extra]


def explore(
    source: Source,
    params: Mapping[str, int],
    *,
    largest: int = 2,
    tile: int = 8,
    seconds: float = DEFAULT_SECONDS,
    store: Path | None = None,
    cluster: str | None = None,
    jobs: int | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Exploration:
    """Fold the program in many orders, at the given sizes only: smaller and found sooner than for all sizes.

    The parameters are the options of the command `tradeoff`.

    seconds  what all of it may take; each order has an equal part
    store    a directory where results are kept, so that an interrupted run goes on where it was
    cluster  the address of a Dask scheduler, whose workers get the files that are read; without one,
             processes of this machine do the work
    jobs     how many of them at a time
    """
    started = time.time()
    with noting() as files:
        program = source.read()
    _check_sizes(program, params)
    search = Budget(_SHARE_OF_SEARCH * seconds)
    orders = candidate_orders(program, largest, tile, search)
    each = _SHARE_OF_ORDERS * seconds / len(orders)
    kept = Store.of(store, write_problem(program), params, each)
    points = {order: point for order in orders if (point := kept.read(order)) is not None}
    here = source.at(params)
    work = [
        _Work(here, order, dict(params), each, kept, started + seconds)
        for order in orders
        if order not in points
    ]
    if cluster is not None:
        # Clocks of other machines may differ, and so do their disks.
        nowhere = replace(kept, kept=replace(kept.kept, directory=None))
        work = [replace(one, end=None, kept=nowhere, files=files) for one in work]
    known = tried = len(points)
    progress(known, len(orders))

    def tell(done: int) -> None:
        nonlocal tried
        tried = known + done
        progress(tried, len(orders))

    is_short = cluster is None and seconds < _SECONDS_FOR_PROCESSES
    try:
        for point in _one_by_one(work, program, tell) if is_short else run_all(work, tell, cluster, jobs):
            points[point.order] = point
            if cluster is not None and not point.is_cut:
                kept.write(point)
    except KeyboardInterrupt:
        words = f"{tried} of {len(orders)} orders had been tried"
        raise Interrupted(f"{words}; the next run goes on there" if store else words) from None
    found = [points[order] for order in orders]
    found.sort(key=lambda point: (bool(point.reason), point.latency, point.cells))
    return Exploration(source, dict(params), tuple(found), search.cut_words())


def _check_sizes(program: Program, params: Mapping[str, int]) -> None:
    """Raise unless all parameters, and no others, have values."""
    for name in params:
        if name not in program.parameters:
            known = ", ".join(program.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; the parameters are: {known}")
    missing = [name for name in program.parameters if name not in params]
    if missing:
        raise InputError(
            f"storage and latency are compared at fixed sizes, but {' and '.join(missing)} may be anything",
            hint="Fix them: " + " ".join(f"--param {name}=32" for name in missing),
        )


def _one_by_one(work: Sequence[_Work], program: Program, done: Callable[[int], None]) -> Iterator[Point]:
    """Points without processes that stay, which take seconds to start."""
    fixed = work[0].source.read() if work else program
    for number, item in enumerate(work, 1):
        yield item.of(fixed)
        done(number)


@dataclass(frozen=True)
class _Work:
    """What a worker needs; it keeps the result itself, so that nothing is lost if the run is interrupted.

    files  what it reads, where it may not see the disk of who asks
    """

    source: Source
    order: NamedOrder
    params: dict[str, int]
    seconds: float
    kept: Store
    end: float | None = None
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def __call__(self) -> Point:
        with carrying(self.files):
            return self.of(None)

    def of(self, program: Program | None) -> Point:
        """The point, for a program that is known or read again."""
        left = self.seconds if self.end is None else min(self.seconds, self.end - time.time())
        if left <= 0.0:
            return not_tried(self.order, "not tried: a longer --budget would be needed")
        point = evaluate(program or self.source.read(), self.order, self.params, left)
        if not point.is_cut:
            self.kept.write(point)
        return point
