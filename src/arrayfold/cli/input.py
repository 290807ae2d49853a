"""What every command takes: a file, and how to look at it. Heavy imports happen when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from arrayfold.base.choices import Fuse, OrderChoice
from arrayfold.base.errors import InputError
from arrayfold.cli.console import Console
from arrayfold.cli.options import Quiet, Verbose

if TYPE_CHECKING:
    from arrayfold.base.budget import Budget
    from arrayfold.explore import Source
    from arrayfold.passes import OneTile, Pass, Reorder
    from arrayfold.program.model import Problem, Program


class _Reading(TypedDict):
    arguments: Sequence[str]
    context: str | None
    function: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Input:
    """The file of a command, and the options that say how to read it, as the command line has them."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="C with #pragma scop (.c), Python (.py), a problem (.toml, .json), MLIR, pet or SMO.",
            show_default=False,
        ),
    ]
    c_options: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- C-OPTION...]",
            help="For the C parser, after --: -I dir -DX=1 -std=c11.",
            show_default=False,
        ),
    ] = None
    region: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this region or kernel: its name, or its number from 1."),
    ] = None
    function: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this function of a C file, with pragmas or without (repeatable)."
        ),
    ] = None
    context: Annotated[
        str | None,
        typer.Option(metavar='"N >= 3"', help="What else is known of the parameters."),
    ] = None
    live_out: Annotated[
        str | None,
        typer.Option(metavar="SET", help="Further cells needed after the program."),
    ] = None
    temporary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Fold this array too (repeatable)."),
    ] = None
    no_alias: Annotated[
        bool,
        typer.Option("--no-alias", help="Arrays from outside never overlap."),
    ] = False
    schedule: Annotated[
        str | None,
        typer.Option(metavar="MAP", help="Run in this order: S[i] -> [i, 0]; ..."),
    ] = None
    fuse: Annotated[
        Fuse | None,
        typer.Option(
            metavar="[rows|cells]", help="Producers and consumers together: row by row, or cell by cell."
        ),
    ] = None
    tile: Annotated[
        str | None,
        typer.Option(
            metavar="32x32|SHAPE:SIZES|MAP",
            help="Tile the outermost loops: boxes; diamond:32, hexagon:16, parallelogram:8x64 on time steps; "
            "S[t, i] -> [floor((t + i)/32)], ...",
        ),
    ] = None
    one_tile: Annotated[
        bool,
        typer.Option("--one-tile", help="One whole tile alone; its sizes may be names: --tile diamond:B."),
    ] = False
    parallel: Annotated[
        bool,
        typer.Option("--parallel", help="Run the outermost loops that allow it in parallel."),
    ] = False
    order: Annotated[
        OrderChoice | None,
        typer.Option(
            metavar="auto|dependences|tilings",
            help="The order predicted to be fastest; or a fold that is valid for all legal schedules, "
            "or all tilings.",
        ),
    ] = None
    quiet: Quiet = False
    verbose: Verbose = False

    def __post_init__(self) -> None:
        if self.arguments and not self.arguments[0].startswith("-"):
            raise InputError(
                f"unexpected argument {self.arguments[0]!r}",
                hint="One file at a time; options for the C parser come after --, as in -- -DN=64.",
            )
        if self.order == "auto" and (self.schedule is not None or self.fuse is not None or self.tile):
            raise InputError(
                "--order auto chooses the order itself", hint="Leave out --schedule, --fuse and --tile."
            )
        # Whatever is wrong with the order is said before any work is done.
        _ = self.reorder, self._tile_alone

    @property
    def arguments(self) -> tuple[str, ...]:
        """What is for the C parser."""
        return tuple(self.c_options or ())

    @cached_property
    def reorder(self) -> Reorder:
        """The one order that is asked for."""
        from arrayfold.passes import Reorder

        tile = () if self.one_tile else _tile_of(self.tile)
        return Reorder(self.schedule, self.fuse, tile, self.parallel)

    @cached_property
    def _tile_alone(self) -> OneTile | None:
        """The one tile that is asked for, if there is one."""
        from arrayfold.passes import OneTile

        if not self.one_tile:
            return None
        if self.tile is None:
            raise InputError("--one-tile needs a tile", hint="Add --tile diamond:B, or --tile BxB.")
        if self.parallel or self.order is not None:
            raise InputError(
                "inside of one tile the order is sequential", hint="Leave out --parallel and --order."
            )
        return OneTile(self.tile)

    def talk(self, as_json: bool = False) -> Console:
        """How much the command says."""
        return Console(as_json, self.quiet, self.verbose)

    def as_written(self) -> Input:
        """The same without another order."""
        return replace(self, schedule=None, fuse=None, tile=None, one_tile=False, parallel=False, order=None)

    def read(self, budget: Budget | None = None, params: Mapping[str, int] | None = None) -> Problem:
        """The one problem of the file, or the one that --region names.

        params  sizes at which orders are compared
        """
        from arrayfold.frontends import read

        return self._prepared(read(self.file, region=self.region, **self._reading), budget, params or {})

    @property
    def _reading(self) -> _Reading:
        """What tells the front ends how to read the file."""
        return {
            "arguments": self.arguments,
            "context": self.context,
            "function": tuple(self.function or ()),
        }

    def of_any_order(self) -> Source:
        """The same for a command that tries orders itself, so that none may be given."""
        from arrayfold.explore import Source

        if not self.reorder.is_as_written or self.one_tile or self.order is not None:
            raise InputError(
                "this command tries orders itself", hint="Leave out --schedule, --fuse, --tile and the like."
            )
        named = self.context, self.live_out, tuple(self.temporary or ())
        return Source(
            self.file, self.region, self.arguments, *named, self.no_alias, tuple(self.function or ())
        )

    def read_all(
        self,
        budget: Budget | None = None,
        params: Mapping[str, int] | None = None,
        *,
        reallocated: Sequence[str] | None = None,
        chooses_order: bool = True,
    ) -> list[Problem]:
        """Every problem of the file, or the one that --region names.

        params       sizes at which orders are compared
        chooses_order whether an order is chosen, if that is asked for
        reallocated  arrays whose values get places of their own before the order changes, none for all that
                     can; without it arrays stay
        """
        from arrayfold.frontends import read, read_all

        if self.region is not None:
            problem = read(self.file, region=self.region, **self._reading)
            return [self._prepared(problem, budget, params or {}, reallocated, chooses_order=chooses_order)]
        problems = read_all(self.file, **self._reading)
        if len(problems) > 1 and (self.temporary or self.live_out or self.reorder.schedule):
            names = ", ".join(problem.name for problem in problems)
            raise InputError(
                f"{self.file} has {len(problems)} regions: {names}",
                hint="--temporary, --live-out and --schedule speak of one of them: add --region NAME.",
            )
        return [
            self._prepared(problem, budget, params or {}, reallocated, chooses_order=chooses_order)
            for problem in problems
        ]

    def _prepared(
        self,
        problem: Problem,
        budget: Budget | None,
        params: Mapping[str, int],
        reallocated: Sequence[str] | None = None,
        *,
        chooses_order: bool = True,
    ) -> Problem:
        from arrayfold.frontends import apply_options
        from arrayfold.program.model import Program

        named = self.temporary or ()
        problem = apply_options(problem, context=self.context, live_out=self.live_out, temporary=named)
        if self.no_alias and isinstance(problem, Program):
            problem = problem.without_aliases()
        changes = [*self._passes(problem, reallocated)]
        if len(changes) > 1:
            from arrayfold.passes import in_order

            changes = in_order(changes)
        if self.order == "auto" and chooses_order:
            from arrayfold.ordering.auto import ChooseOrder

            changes.append(ChooseOrder(params, self.parallel))
        for change in changes:
            problem = change.apply(problem, budget)
            if (missing := _what_is_missing(change, problem)) is not None:
                typer.echo(f"arrayfold: note: {missing}", err=True)
        return problem

    def _passes(self, problem: Problem, reallocated: Sequence[str] | None) -> Iterator[Pass]:
        """What the options ask for before a problem is folded."""
        from arrayfold.passes import AllOrders, Reallocate

        if reallocated is not None:
            names = [array.name for array in problem.arrays]
            chosen = tuple(name for name in reallocated if name in names)
            # For another order also what is no temporary gets other places, if it can have any.
            is_moved = not self.reorder.is_as_written or self.one_tile or self.order == "auto"
            yield Reallocate(chosen, everything=is_moved)
        if self.order == "auto":
            return
        if not self.reorder.is_as_written:
            yield self.reorder
        if self._tile_alone is not None:
            yield self._tile_alone
        if self.order is not None:
            yield AllOrders(self.order)


def _what_is_missing(change: Pass, program: Program) -> str | None:
    """What a pass did not find although it was asked for."""
    from arrayfold.passes import Reallocate, Reorder

    if isinstance(change, Reallocate) and not program.relocation.origins:
        return "no value can have another place; arrays stay as they are"
    if isinstance(change, Reorder) and change.parallel and not program.parallel:
        return f"{program.name}: no loop can run in parallel"
    return None


def _tile_of(text: str | None) -> tuple[int, ...] | str:
    """Sizes of boxes, or the text that says another shape."""
    if text is None:
        return ()
    from arrayfold.order.tile_shapes import numbers_of

    return numbers_of(text) or text
