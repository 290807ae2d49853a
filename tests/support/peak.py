"""What a program prints, and how much memory it takes."""

from __future__ import annotations

import subprocess
from pathlib import Path


def peak(program: Path) -> tuple[str, int]:
    """What a program prints, and how many kilobytes it takes at most."""
    # A process has at least what the Python had that started it, some 9 MB.
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stdout)"
    )
    started = ["python3", "-SE", "-c", script, str(program)]
    done = subprocess.run(started, capture_output=True, text=True, check=True)
    kilobytes, output = done.stdout.split(None, 1)
    return output, int(kilobytes)
