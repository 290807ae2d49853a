"""Commands that read a file: they have the options of `Input`, and some of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from arrayfold.base.errors import Interrupted
from arrayfold.cli.input import Input


@dataclass(frozen=True)
class Command:
    """A function whose parameters are the options of a command, and command lines to show in its help."""

    run: Callable[..., None]
    examples: tuple[str, ...]

    @property
    def epilog(self) -> str:
        """The end of its help."""
        title = "Example" if len(self.examples) == 1 else "Examples"
        return "\n".join(["\b", f"{title}:", *(f"  {example}" for example in self.examples)])


def command(*examples: str) -> Callable[[Callable[..., None]], Command]:
    """Makes a command of a function; it asks `input_of` for the file that it is to read."""
    return lambda run: Command(run, examples)


class InputCommand(TyperCommand):
    """A command with the options of `Input` around its own; they become an input before it runs."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        *first, quiet, verbose = _input_command().params
        self.params = [*first, *self.params, quiet, verbose]

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        reading = _input_command()
        assert reading.callback is not None
        given = {str(item.name): ctx.params.pop(item.name) for item in reading.params}
        ctx.obj = reading.callback(**given)
        try:
            return super().invoke(ctx)
        except Interrupted as interrupt:
            typer.echo(f"\narrayfold: interrupted; {interrupt}", err=True)
            raise


def input_of(context: typer.Context) -> Input:
    """The input of a command that runs."""
    assert isinstance(context.obj, Input)
    return context.obj


@cache
def _input_command() -> TyperCommand:
    """What typer makes of the fields of `Input`."""
    app = typer.Typer(add_completion=False)
    app.command()(Input)
    found = get_command(app)
    assert isinstance(found, TyperCommand)
    return found
