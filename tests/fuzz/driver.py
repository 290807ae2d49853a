"""The run: cases of all kinds until the time is over, failures shrunk and written to files."""

from __future__ import annotations

import select
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.isolation import Result, Worker, check_alone, random_for, start
from fuzz.kind import Failure, Kind

_BATCH = 25
_SECONDS_TO_SHRINK = 30.0
_SECONDS_AFTER_THE_END = 8.0
_SECONDS_BETWEEN_NEWS = 60.0
_SHOWN_ALIKE = 2


@dataclass
class Tally:
    """What became of the cases of one kind."""

    seconds: float = 0.0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    given_up: list[int] = field(default_factory=list[int])

    @property
    def tried(self) -> int:
        return sum(self.verdicts.values())

    def add(self, index: int, result: Result) -> None:
        self.verdicts[result.verdict] += 1
        if result.verdict == "failed":
            self.failures[result.what] += 1
        elif result.verdict == "refused":
            self.refusals[result.what] += 1
        elif result.verdict == "gave up":
            self.given_up.append(index)

    def __str__(self) -> str:
        words = [f"{self.verdicts[verdict]:,} {verdict}" for verdict in ("refused", "gave up", "failed")]
        return f"{self.tried:,} tried, {', '.join(words)}"


@dataclass
class Run:
    """One run of the fuzzer.

    seed     a case is decided by the seed, its kind and its number
    seconds  of wall time, counted from `since`
    jobs     processes at work at a time
    found    the folder for failures
    first    number of the first case of each kind
    most     cases of each kind after which it ends, None for no limit
    """

    kinds: Sequence[Kind[Any]]
    seed: int
    seconds: float
    jobs: int
    found: Path
    say: Callable[[str], None]
    first: int = 0
    most: int | None = None
    since: float = field(default_factory=time.monotonic)
    tallies: dict[str, Tally] = field(default_factory=dict[str, Tally])
    _next: dict[str, int] = field(default_factory=dict[str, int])
    _deadline: float = 0.0
    _news: float = 0.0

    def go(self) -> bool:
        """Whether nothing was found."""
        self._deadline = self.since + self.seconds
        self._news = time.monotonic() + _SECONDS_BETWEEN_NEWS
        self.tallies = {kind.name: Tally() for kind in self.kinds}
        self._next = {kind.name: self.first for kind in self.kinds}
        workers: list[Worker] = []
        try:
            while workers or self._has_more():
                while len(workers) < self.jobs and self._has_more():
                    workers.append(self._start())
                self._listen(workers)
        except KeyboardInterrupt:
            for worker in workers:
                worker.end(kill=True)
            self.say("\ninterrupted")
        self._report()
        return not any(tally.failures for tally in self.tallies.values())

    def _has_more(self) -> bool:
        return time.monotonic() < self._deadline and any(map(self._is_wanted, self.kinds))

    def _is_wanted(self, kind: Kind[Any]) -> bool:
        return self.most is None or self._next[kind.name] < self.first + self.most

    def _start(self) -> Worker:
        """A worker for the kind that has had the least of its share of the time."""
        wanted = [kind for kind in self.kinds if self._is_wanted(kind)]
        kind = min(wanted, key=lambda one: self.tallies[one.name].seconds / one.share)
        begin = self._next[kind.name]
        end = begin + _BATCH if self.most is None else min(begin + _BATCH, self.first + self.most)
        self._next[kind.name] = end
        self.tallies[kind.name].seconds += 0.01
        return start(kind, lambda: self._cases(kind, begin, end))

    def _cases(self, kind: Kind[Any], begin: int, end: int) -> Iterator[tuple[int, Callable[[], Any]]]:
        for index in range(begin, end):
            yield index, lambda index=index: self.case(kind, index)

    def case(self, kind: Kind[Any], index: int) -> Any:
        return kind.generate(random_for(self.seed, kind.name, index))

    def _listen(self, workers: list[Worker]) -> None:
        """Note what workers report; those that are done, or too slow, go."""
        now = time.monotonic()
        if now >= self._news:
            self._news = now + _SECONDS_BETWEEN_NEWS
            self.say("; ".join(f"{name}: {tally}" for name, tally in self.tallies.items()))
        until = min([self._deadline, *(worker.deadline for worker in workers)])
        ready, _, _ = select.select([worker.pipe for worker in workers], [], [], max(0.0, until - now))
        spent = time.monotonic() - now
        for worker in workers[:]:
            self.tallies[worker.kind.name].seconds += spent
            has_news = worker.pipe in ready
            done = worker.read() if has_news else []
            for index, result in done or []:
                self._note(worker.kind, index, result)
            is_over = time.monotonic() >= self._deadline
            # While a failure is shrunk here, a worker goes on unheard: only one without news is too slow.
            if done is None or is_over or (not has_news and now >= worker.deadline):
                workers.remove(worker)
                index = worker.index
                unfinished = worker.end(kill=done is not None)
                if unfinished is not None and index is not None and not (is_over and done is not None):
                    self._note(worker.kind, index, unfinished)
                    self._next[worker.kind.name] = max(self._next[worker.kind.name], index + 1)

    # ------------------------------------------------------------ what is found

    def _note(self, kind: Kind[Any], index: int, result: Result) -> None:
        tally = self.tallies[kind.name]
        tally.add(index, result)
        if result.verdict == "gave up":
            self.say(f"{kind.name} {index} gave up ({result.what}); --kind {kind.name} {self._one(index)}")
        if result.failure is None or tally.failures[result.what] > _SHOWN_ALIKE:
            return
        self.say(f"\n{kind.name} {index} FAILED: {_shown(result.failure)}")
        self.say(f"  again: --kind {kind.name} {self._one(index)}")
        case = self.case(kind, index)
        until = min(time.monotonic() + _SECONDS_TO_SHRINK, self._deadline + _SECONDS_AFTER_THE_END)
        case, failure, steps = smallest(kind, case, result.failure, until)
        self.found.mkdir(parents=True, exist_ok=True)
        command = kind.write(case, failure, self.found, f"{kind.name}-{self.seed}-{index}")
        self.say(f"  shrunk in {steps} steps: {_shown(failure)}\n  {command}")

    def _one(self, index: int) -> str:
        return f"--seed {self.seed} --case {index}"

    def _report(self) -> None:
        self.say(f"\nseed {self.seed}")
        for name, tally in self.tallies.items():
            self.say(f"{name}: {tally}")
            for what, count in tally.failures.most_common():
                self.say(f"  {count} x {what}")


def _shown(failure: Failure) -> str:
    """What is wrong; of a traceback the last lines."""
    lines = failure.detail.splitlines()
    return "\n    ".join([f"{failure.what}: {''.join(lines[:1])}", *lines[1:][-4:]])


def smallest(kind: Kind[Any], case: Any, failure: Failure, until: float) -> tuple[Any, Failure, int]:
    """A case that no step of `shrink` makes smaller without losing the failure, as far as there is time."""
    steps = 0
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in kind.shrink(case):
            left = until - time.monotonic()
            if left <= 0:
                return case, failure, steps
            found = check_alone(kind, smaller, left).failure
            if found is not None and found.what == failure.what:
                case, failure, shrunk = smaller, found, True
                steps += 1
                break
    return case, failure, steps
