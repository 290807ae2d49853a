"""The entry point: Ctrl-C ends the command quietly, also while it is being loaded."""

import signal

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it; until there is something to say, Ctrl-C just ends the process."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from arrayfold.cli.main import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
