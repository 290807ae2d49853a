"""`python -m tests.fuzz`: see `command.py`."""

import sys
import time
from pathlib import Path

if __name__ == "__main__":
    since = time.monotonic()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from fuzz.command import run

    raise SystemExit(run(sys.argv[1:], since))
