"""How far work is: what is being done, and how much of all that is to be done is done."""

from __future__ import annotations

_FEWEST_SECONDS = 2.0


class ProgressStep(str):
    """What is being done, and the share of the work that is done, between 0 and 1.

    >>> ProgressStep("A: lower bound", 0.5).within(1, 4).share
    0.375
    """

    share: float

    def __new__(cls, words: str, share: float = 0.0) -> ProgressStep:
        """What is being done, with the share."""
        step = super().__new__(cls, words)
        step.share = share
        return step

    def within(self, before: int, everything: int) -> ProgressStep:
        """The same, as a part of so many equal parts, after some of them."""
        return ProgressStep(str(self), (before + self.share) / max(everything, 1))


def remaining(seconds: float, share: float, most: float = float("inf")) -> str:
    """How long work will go on after so many seconds that did a share of it, in words; nothing at first.

    most  seconds after which it ends at the latest

    >>> remaining(6.0, 0.25), remaining(90.0, 0.1), remaining(6.0, 0.0, 54.2), remaining(1.0, 0.1)
    ('about 18 s left', 'about 14 min left', 'at most 54 s left', '')
    """
    if seconds < _FEWEST_SECONDS:
        return ""
    left = seconds * (1 - share) / share if share > 0 else float("inf")
    if left >= most:
        return f"at most {_time(most)} left" if most != float("inf") else ""
    return f"about {_time(left)} left"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
