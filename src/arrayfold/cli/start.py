"""The entry point: Ctrl-C ends the command quietly, also while it is being loaded."""

from __future__ import annotations

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it."""
    try:
        from arrayfold.cli.main import main as run
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
    run()
