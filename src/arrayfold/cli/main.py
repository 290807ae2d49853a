"""The command line. Heavy imports happen inside the commands, so that --help is instant."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from arrayfold.base.choices import FUSES
from arrayfold.base.defects import internal
from arrayfold.base.errors import ArrayfoldError
from arrayfold.cli.analysis import check, compare, conflicts, model, papers
from arrayfold.cli.command import InputCommand
from arrayfold.cli.compilers import cc, fc
from arrayfold.cli.doctor import doctor
from arrayfold.cli.fold import fold
from arrayfold.cli.orders import occupancy, tradeoff
from arrayfold.cli.pictures import plot, report

app = typer.Typer(
    name="arrayfold",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Fold the temporary arrays of affine loop programs, prove the fold, and see how far from the "
    "minimum it is.",
    epilog="Exit status: 0 proved, 1 refuted or nothing valid, 2 bad input, 3 the tool's own check of what "
    "it was about to write failed.",
)
for _command in (fold, compare, check, conflicts, model, occupancy, tradeoff, report, plot):
    app.command(cls=InputCommand, epilog=_command.epilog)(_command.run)
app.command(epilog="\b\nExample:\n  arrayfold papers --json")(papers)
app.command(epilog="\b\nExample:\n  arrayfold cc -- clang-22 -O3 file.c -o prog")(cc)
app.command(epilog="\b\nExample:\n  arrayfold fc -- flang-22 -O3 file.f90 -o prog")(fc)
app.command(epilog="\b\nExample:\n  arrayfold doctor --json")(doctor)


def main() -> None:
    """The entry point: every foreseen error is one paragraph on standard error."""
    from arrayfold.base.watchdog import guarded

    raise SystemExit(guarded(_run))


def _run() -> int:
    try:
        app(args=with_bare_options(sys.argv[1:]), standalone_mode=True)
    except ArrayfoldError as error:
        print(f"arrayfold: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_status
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"arrayfold: the output cannot be written: {error}", file=sys.stderr)  # noqa: T201
        return 1
    except Exception as error:
        print(f"arrayfold: {internal(error)}", file=sys.stderr)  # noqa: T201
        return 1
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


def with_bare_options(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a value for options that need none: `--fuse` alone is `--fuse rows`.

    >>> with_bare_options(["fold", "--fuse", "a.c"])
    ['fold', '--fuse=rows', 'a.c']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    found = list(arguments)
    for k, argument in enumerate(arguments[:end]):
        if argument == "--fuse" and not (k + 1 < end and arguments[k + 1] in FUSES):
            found[k] = f"--fuse={FUSES[0]}"
    return found


@app.command(hidden=True)
def version() -> None:
    """Print the version."""
    _show_version(True)


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version as installed

        typer.echo(f"arrayfold {installed('arrayfold')}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
