"""The command line of the fuzzer: python -m tests.fuzz --seconds 600."""

from __future__ import annotations

import argparse
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz.driver import Run
from fuzz.isolation import checked
from fuzz.kind import Kind
from fuzz.kinds import all_kinds


def run(arguments: Sequence[str], since: float | None = None) -> int:
    """Exit status 1 if something was found.

    since  when the command was started: loading the tool counts, too
    """
    options = _parser().parse_args(arguments)
    kinds = all_kinds()
    if options.replay:
        return _replay(Path(options.replay), options.kind, kinds)
    if options.kind:
        kinds = [_named(name, kinds) for name in options.kind.split(",")]
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    only = {} if options.case is None else {"first": options.case, "most": 1}
    if options.cases is not None:
        only["most"] = options.cases
    print(f"seed {seed}, {options.seconds:g} s, {', '.join(kind.name for kind in kinds)}", flush=True)
    say = lambda text: print(text, flush=True)  # noqa: E731
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    whole = Run(kinds, seed, options.seconds, options.jobs, Path(options.found), say, **only)
    whole.since = whole.since if since is None else since
    return 0 if whole.go() else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="wall time of the run")
    parser.add_argument("--seed", type=int, help="repeats a run; otherwise a fresh one is taken and printed")
    parser.add_argument("--kind", help="kinds of cases, separated by commas; all of them by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--case", type=int, help="one case of the seed alone")
    parser.add_argument("--cases", type=int, help="how many cases of each kind at most")
    parser.add_argument("--found", default="fuzz-found", help="the folder for what is found")
    parser.add_argument("--replay", metavar="FILE", help="check a case that was found")
    return parser


def _replay(file: Path, name: str | None, kinds: Sequence[Kind[Any]]) -> int:
    kind = _named(name or file.name.split("-")[0], kinds)
    result = checked(kind, kind.read(file))
    print(result.failure or result.verdict)
    return 0 if result.failure is None else 1


def _named(name: str, kinds: Sequence[Kind[Any]]) -> Kind[Any]:
    for kind in kinds:
        if kind.name == name:
            return kind
    raise SystemExit(f"there is no kind {name!r}; the kinds are: {', '.join(kind.name for kind in kinds)}")
