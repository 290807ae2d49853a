"""Many orders of one program, folded side by side; results are kept by content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arrayfold.engine import run_all
from arrayfold.errors import InputError
from arrayfold.frontends import apply_options, read, write_problem
from arrayfold.program import Program
from arrayfold.tradeoff.orders import Order, candidate_orders
from arrayfold.tradeoff.point import Point, evaluate
from arrayfold.tradeoff.store import Store

Progress = Callable[[int, int], None]


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

    def read(self) -> Program:
        """The program."""
        problem = read(self.file, region=self.region, arguments=self.arguments)
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
        return found + ["--no-alias"] * self.no_alias


@dataclass(frozen=True)
class Exploration:
    """All points at given sizes: possible ones first, the fastest first."""

    source: Source
    params: Mapping[str, int]
    points: tuple[Point, ...]

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
        return ["arrayfold", "fold", source.file, *source.options(), *point.order.options(), *extra]


def explore(
    source: Source,
    params: Mapping[str, int],
    *,
    largest: int = 2,
    tile: int = 8,
    seconds: float = 10.0,
    store: Path | None = None,
    cluster: str | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Exploration:
    """Fold the program in many orders, at the given sizes only: smaller and found sooner than for all sizes.

    seconds  time for each of them
    store    a directory where results are kept, so that an interrupted run goes on where it was
    cluster  the address of a Dask scheduler, whose workers see the same files; without one, processes of
             this machine do the work
    """
    program = source.read()
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
    orders = candidate_orders(program, largest, tile)
    kept = Store.of(store, write_problem(program), params, seconds)
    points = {order: point for order in orders if (point := kept.read(order)) is not None}
    here = source.at(params)
    if cluster is not None:
        here = replace(here, file=str(Path(here.file).resolve()))
    work = [_Work(here, order, dict(params), seconds, kept) for order in orders if order not in points]
    known = len(points)
    progress(known, len(orders))
    for point in run_all(work, lambda done: progress(known + done, len(orders)), cluster):
        points[point.order] = point
    found = [points[order] for order in orders]
    found.sort(key=lambda point: (bool(point.reason), point.latency, point.cells))
    return Exploration(source, dict(params), tuple(found))


@dataclass(frozen=True)
class _Work:
    """What a worker needs; it keeps the result itself, so that nothing is lost if the run is interrupted."""

    source: Source
    order: Order
    params: dict[str, int]
    seconds: float
    kept: Store

    def __call__(self) -> Point:
        point = evaluate(self.source.read(), self.order, self.params, self.seconds)
        self.kept.write(point)
        return point
