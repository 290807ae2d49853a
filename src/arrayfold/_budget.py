"""Wall time for work that may explode, kept inside isl by its own operation counter."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

import islpy as isl

from arrayfold.errors import ArrayfoldError, BudgetExceeded, IslFailure

_OPERATIONS_PER_SECOND = 1_500_000


class Budget:
    """Wall time that a piece of work may take, kept by isl's own operation counter inside isl calls."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left; infinite without a limit."""
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()

    def part(self, share: float) -> Budget:
        """A budget for a share of the time that is left."""
        return Budget(None if self._deadline is None else max(0.0, share * self.remaining()))

    def check(self, work: str) -> None:
        """Raise if the time is over."""
        if self.remaining() <= 0:
            raise BudgetExceeded(
                f"{work}: the budget of {self.seconds:g} s is used up; raise it with --budget"
            )

    @contextmanager
    def limit(self, work: str, share: float = 1.0) -> Generator[None]:
        """Stop isl inside the block once its share of what is left of the budget is spent."""
        self.check(work)
        context = isl.DEFAULT_CONTEXT
        outer = context.get_max_operations()
        context.reset_operations()
        if self._deadline is not None:
            context.set_max_operations(max(1, int(self.remaining() * share * _OPERATIONS_PER_SECOND)))
        try:
            yield
        except ArrayfoldError:
            raise
        except Exception as error:
            # Past its limit islpy raises its own error most of the time and hands out None at others.
            if self._deadline is not None and _is_exhausted():
                message = f"{work} needs more isl operations than the budget of {self.seconds:g} s allows"
                raise BudgetExceeded(f"{message}; raise it with --budget") from error
            if isinstance(error, isl.Error):
                raise IslFailure(f"{work}: isl failed: {error}") from error
            raise
        finally:
            context.set_max_operations(outer)
            context.reset_operations()


def _is_exhausted() -> bool:
    """Past its operation limit isl refuses even the smallest thing."""
    try:
        isl.Set("{ [] }")
    except isl.Error:
        return True
    return False
