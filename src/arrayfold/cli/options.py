"""Options that several commands take, and what their values mean."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from arrayfold.base.errors import InputError

if TYPE_CHECKING:
    from arrayfold.base.budget import Budget

DEFAULT_BUDGET = 60.0
_SECONDS_FOR_RUNS = 1800.0


def _methods(incomplete: str) -> list[str]:
    """The names of methods that begin like this, for shells that complete them."""
    from arrayfold.methods import METHODS

    return [name for name in ("auto", *METHODS) if name.startswith(incomplete)]


Arrays = Annotated[
    list[str] | None, typer.Option("--array", metavar="NAME", help="Only this array (repeatable).")
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="N=64", help="Size at which numbers are shown and compared (repeatable)."
    ),
]
Method = Annotated[
    str, typer.Option(metavar="NAME", help="How to look for mappings.", autocompletion=_methods)
]
AsPublished = Annotated[
    bool,
    typer.Option("--as-published", help="Run the method's algorithm as its paper prints it, no further."),
]
LinearForm = Annotated[bool, typer.Option("--linear-form", help="Mappings with one row.")]
BudgetSeconds = Annotated[
    float,
    typer.Option("--budget", metavar="SECONDS", min=0.001, max=1e6, help="Time that the work may take."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
PowerOfTwo = Annotated[
    bool, typer.Option("--power-of-two", help="Round constant moduli up to powers of two.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=4096,
        help="Processes at work at a time; by default as many as there are processors.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:8786", help="Do the work on a Dask cluster (arrayfold[cluster])."),
]
StoreDirectory = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="DIR", help="Where results are kept for the next run; by default in ~/.cache."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
NoCheck = Annotated[
    bool, typer.Option("--no-check", help="Write code without executing it beside the original before.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no result, only errors and JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say what is being done, and when.")]


def parameter_values(given: list[str] | None) -> dict[str, int]:
    """The sizes that --param gives."""
    values: dict[str, int] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        try:
            number = int(value)
        except ValueError:
            equals, number = "", 0
        if not equals or not name.strip():
            raise InputError(f"--param {text}: expected a name and a whole number, as in N=64")
        if values.setdefault(name.strip(), number) != number:
            raise InputError(f"--param {text}: {name.strip()} was given another value before")
    return values


def started_budget(seconds: float) -> Budget:
    """The time that the work may take from now on."""
    from arrayfold.base.budget import Budget
    from arrayfold.base.watchdog import announce

    if not seconds > 0:
        raise InputError(f"--budget takes a positive number of seconds, but {seconds} was given")
    announce(seconds)
    return Budget(seconds)


@contextmanager
def measuring(*budgets: Budget) -> Generator[None]:
    """What is done inside is no work of the budgets: programs run."""
    import time

    from arrayfold.base.watchdog import announce

    announce(_SECONDS_FOR_RUNS)
    began = time.monotonic()
    yield
    for budget in budgets:
        budget.deadline += time.monotonic() - began
    announce(max(1.0, budgets[0].deadline - time.monotonic()))
