"""What work may cost, counted: isl's operations, and the steps of searches of our own.

An answer must not depend on how busy a machine is, so a budget in seconds is an allowance of work at a fixed
rate that machines reach easily. Wall time is the last resort. A fork of the process counts on from where it
was; see `deadline`.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import islpy as isl

from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, IslFailure, WrongType, WrongValue

DEFAULT_SECONDS = 60.0
MOST_SECONDS = 1e6
_OPERATIONS_PER_SECOND = 500_000
STEP = 25
_READING = 32
_SECONDS_TO_GIVE_UP = 0.5
_SECONDS_TO_ANSWER = 0.3


class Budget:
    """Work that may be done, in isl operations: so many for each second, and no second more than that.

    seconds  what the user was told; None for no limit
    cuts     what was given up because it would have taken more
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.cuts: list[str] = []
        self._end: int | None = None
        self.deadline = float("inf")
        if seconds is not None:
            self._end = _METER.now() + int(seconds * _OPERATIONS_PER_SECOND)
            self.deadline = time.monotonic() + seconds - min(_SECONDS_TO_ANSWER, 0.1 * seconds)

    @staticmethod
    def of_work(operations: int, share: float = 1.0) -> Budget:
        """So many operations, and no more than a share of what is left to the work around it."""
        now = _METER.now()
        left = _METER.end - now
        budget = Budget(None)
        budget._end = now + int(max(0, min(operations, share * left)))
        budget.deadline = _METER.deadline
        if _METER.blocks:
            budget.seconds = _METER.blocks[-1].budget.seconds
            if share * left < operations:
                budget.cuts = _METER.blocks[-1].budget.cuts
        return budget

    @property
    def operations(self) -> float:
        """Operations that are left; infinite without a limit."""
        return float("inf") if self._end is None else min(self._end, _METER.end) - _METER.now()

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """A budget for a share of what is left, and for no more than so many operations."""
        part = Budget(None)
        part.seconds, part.cuts, part.deadline = self.seconds, self.cuts, self.deadline
        left = min(most, share * self.operations)
        if left != float("inf"):
            part._end = _METER.now() + int(max(0.0, left))
        return part

    def first_part(self, share: float) -> Budget:
        """A budget for a share of what is left, of work and of time; the rest is for other work."""
        part = self.part(share)
        if self.deadline != float("inf"):
            now = time.monotonic()
            part.deadline = now + share * max(0.0, self.deadline - now)
        return part

    def check(self, work: str, steps: int = 1) -> None:
        """Count steps of a search, and raise if nothing is left."""
        _METER.spend(steps * STEP)
        if self._is_late():
            raise self.exceeded(work, "cut short by wall time")
        if _METER.is_past(self._end):
            raise self.exceeded(work)

    @contextmanager
    def limit(self, work: str, share: float = 1.0) -> Generator[None]:
        """Stop isl inside the block once its share of what is left of the budget is spent."""
        self.check(work, 0)
        end = self._end if share == 1.0 else self.part(share)._end
        with _METER.block(self, end):
            try:
                yield
            except ArrayfoldError:
                raise
            except Exception as error:
                # Past its limit islpy raises its own error most of the time and hands out None at others.
                if _METER.is_past(end):
                    raise self.exceeded(work) from error
                if isinstance(error, isl.Error):
                    raise IslFailure(f"{work}: isl failed: {error}") from error
                raise

    def _is_late(self) -> bool:
        """Whether the deadline is near: there must be time left to give up in an orderly way."""
        deadline = min(self.deadline, _METER.deadline)
        return time.monotonic() > deadline - min(_SECONDS_TO_GIVE_UP, 0.1 * (self.seconds or 0.0))

    def cut_words(self, before: int = 0) -> str:
        """What was given up since a number of others, in words; nothing if nothing was."""
        cuts = list(dict.fromkeys(self.cuts[before:]))
        if not cuts:
            return ""
        others = f" and {len(cuts) - 1} more" if len(cuts) > 1 else ""
        return f"{cuts[0]}{others} cut short by the budget of {self.seconds:g} s"

    def exceeded(self, work: str, what: str = "cut short") -> BudgetExceeded:
        """The error for work that would cost more, which is remembered."""
        self.cuts.append(work)
        message = f"{work}: {what}"
        if self.seconds is not None:
            message += f"; a budget of {self.seconds:g} s allows no more; raise it with --budget"
        return BudgetExceeded(message)


def as_budget(budget: Budget | float | None) -> Budget:
    """The budget that a user gave, as seconds or as it is; a minute if nothing was said."""
    if isinstance(budget, Budget):
        return budget
    seconds = DEFAULT_SECONDS if budget is None else budget
    if isinstance(seconds, bool) or not hasattr(seconds, "__float__"):
        raise WrongType(f"a budget is a number of seconds, but {str(seconds)[:60]!r} was given")
    if not seconds > 0:
        raise WrongValue(f"a budget is a positive number of seconds, but {seconds} was given")
    return Budget(float(seconds) if seconds <= MOST_SECONDS else None)


def work_done() -> int:
    """Operations and steps of this process so far."""
    return _METER.now()


def add_work(operations: int) -> None:
    """Count what another process did for this one."""
    _METER.spend(operations)


def is_limited() -> bool:
    """Whether the work of the moment is part of a block with a limit."""
    return bool(_METER.blocks)


class _TimeLimit(NamedTuple):
    """The work of the moment, and where it and all around it must end."""

    budget: Budget
    end: float
    deadline: float


class _Meter:
    """A clock that goes by work. isl has one counter for the whole process, which can be tried, not read."""

    def __init__(self) -> None:
        self.blocks: list[_TimeLimit] = []
        self._before = 0

    @property
    def end(self) -> float:
        """Where the work of the moment must end."""
        return self.blocks[-1].end if self.blocks else float("inf")

    @property
    def deadline(self) -> float:
        """When it must, at last."""
        return self.blocks[-1].deadline if self.blocks else float("inf")

    def now(self) -> int:
        """Work so far: isl's counter is halved into until it is known well enough, and set back."""
        least, most = 0, _READING
        while not self._counts_less_than(most):
            least, most = most, 2 * most
        while most - least > max(_READING, least >> 7):
            middle = (least + most) // 2
            least, most = (least, middle) if self._counts_less_than(middle) else (middle, most)
        isl.DEFAULT_CONTEXT.reset_operations()
        self._before += most
        self._arm()
        return self._before

    def is_past(self, end: float | None) -> bool:
        """Whether that much work is done, here or in the block of the moment."""
        end = self.end if end is None else min(end, self.end)
        if end == float("inf"):
            return False
        is_past = end <= self._before or not self._counts_less_than(int(end) - self._before)
        self._arm()
        return is_past

    def spend(self, work: int) -> None:
        """Count work that isl does not."""
        self._before += work
        self._arm()

    @contextmanager
    def block(self, budget: Budget, end: float | None) -> Generator[None]:
        """Work that must end there, and where all around it must."""
        end = self.end if end is None else min(end, self.end)
        self.blocks.append(_TimeLimit(budget, end, min(budget.deadline, self.deadline)))
        self._arm()
        try:
            yield
        finally:
            self.blocks.pop()
            self._arm()

    def _arm(self) -> None:
        """Let isl go on to the end of the block of the moment; zero would mean for ever."""
        end = self.end
        most = 0 if end == float("inf") else max(1, int(end) - self._before)
        isl.DEFAULT_CONTEXT.set_max_operations(most)

    @staticmethod
    def _counts_less_than(operations: int) -> bool:
        """Whether isl's counter is below a number: then it does one more operation, otherwise it refuses."""
        isl.DEFAULT_CONTEXT.set_max_operations(max(1, operations))
        try:
            isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)
        except isl.Error:
            return False
        return True


_METER = _Meter()
