"""Sizes and times of all examples: what one state of arrayfold answers, and how another one compares.

    python benchmarks/answers.py --json before.json [EXAMPLE ...]
    python benchmarks/answers.py --json after.json --than before.json [EXAMPLE ...]

Every example is folded by a command of its own, with the options of `COMMANDS` besides none. A size counts
as larger where its value far out is, or where it has no number any more; the exit status is 1 if one is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from arrayfold.exact.formula_parse import read_formula

COMMANDS: dict[str, tuple[str, ...]] = {
    "harris.c in tiles": ("examples/harris.c", "--fuse", "cells", "--tile", "32x32", "--local", "2"),
    "blur.c fused": ("examples/blur.c", "--fuse"),
    "blur.c in tiles": ("examples/blur.c", "--fuse", "cells", "--tile", "32x32", "--local", "2"),
    "jacobi-bands.c in bands": ("examples/jacobi-bands.c", "--local", "b"),
    "heat-2d.c reallocated": ("examples/heat-2d.c", "--mode", "reallocate", "--share", "cells"),
    "unsharp.c shared": ("examples/unsharp.c", "--share", "auto"),
    "lbm-d2q9-bands.c in bands": ("benchmarks/kernels/lbm-d2q9-bands.c", "--local", "b", "--budget", "300"),
    "harris-tiled.c in tiles": ("benchmarks/kernels/harris-tiled.c", "--local", "2"),
}
_FAR = 1_000_003
_SECONDS = 300


def run(arguments: tuple[str, ...]) -> dict[str, Any]:
    """What `arrayfold fold` answers: sizes of arrays, processor seconds and the largest process in MB."""
    command = [sys.executable, "-m", "arrayfold", "fold", *arguments, "--json"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    row: dict[str, Any] = {"seconds": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss / 1024}
    try:
        data = json.loads(text)
    except ValueError:
        return row | {"sizes": {}}
    row["sizes"] = {
        f"{number}. {array['name']}": [array["size"], array["optimal"], len(array["cases"])]
        for number, array in enumerate(data["arrays"], 1)
    }
    return row


def far(size: str) -> float:
    """The size where every parameter is large."""
    formula = read_formula(size)
    return float(formula.evaluate(dict.fromkeys(formula.names(), _FAR)))


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, bool]]:
    """What changed, and whether it is worse."""
    found: list[tuple[str, bool]] = []
    for name, (old, was_minimal, cases) in before["sizes"].items():
        if name not in after["sizes"]:
            found.append((f"{name}: gone", True))
            continue
        new, is_minimal, new_cases = after["sizes"][name]
        is_worse = far(new) > far(old) or (was_minimal and not is_minimal)
        if (old, was_minimal, cases) != (new, is_minimal, new_cases):
            was = f"{old}{' minimal' * was_minimal}, {cases} cases"
            now = f"{new}{' minimal' * is_minimal}, {new_cases} cases"
            words = f"{name}: {was} -> {now}"
            found.append((words, is_worse))
    return found


def main() -> None:
    """Run, print the table, write JSON, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("examples", nargs="*", help="files or names of COMMANDS; default: all")
    parser.add_argument("--json", type=Path, help="write the answers to this file")
    parser.add_argument("--than", type=Path, help="answers to compare with")
    arguments = parser.parse_args()
    files = sorted(
        str(path)
        for path in Path("examples").iterdir()
        if path.suffix in (".c", ".toml", ".cpp", ".py", ".input")
    )
    chosen: list[str] = arguments.examples or [*files, *COMMANDS]
    before: dict[str, Any] = json.loads(arguments.than.read_text()) if arguments.than else {}
    rows: dict[str, dict[str, Any]] = {}
    table = Table("example", "CPU s", "before", "MB", "before", "answers", box=None)
    is_worse = False
    for name in chosen:
        row = rows[name] = run(COMMANDS.get(name, (name,)))
        old = before.get(name)
        changes = differences(old, row) if old else []
        is_worse = is_worse or any(worse for _, worse in changes)
        words = "; ".join(f"{text}{' WORSE' * worse}" for text, worse in changes)
        was = (f"{old['seconds']:.2f}", f"{old['megabytes']:.0f}") if old else ("", "")
        table.add_row(name, f"{row['seconds']:.2f}", was[0], f"{row['megabytes']:.0f}", was[1], words)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    Console(width=160).print(table)
    raise SystemExit(int(is_worse))


if __name__ == "__main__":
    main()
