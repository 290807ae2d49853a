"""A table whose cells are computed when it is asked for; some of them stand beside what a paper prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from arrayfold.base.budget import Budget
from arrayfold.base.deadline import answer_in_time
from arrayfold.base.errors import ArrayfoldError
from arrayfold.fold.options import Progress


@dataclass(frozen=True)
class RecomputedTable:
    """Rows of texts, one a column, and what is to be said below.

    is_proved  every mapping that is printed, or corrected, is proved
    """

    paper: str
    number: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    is_proved: bool = True

    @property
    def title(self) -> str:
        """The table as one cites it."""
        return f"{self.paper} {self.number}"


@dataclass(frozen=True)
class Recomputation:
    """What makes such a table, and its name while it is at work."""

    title: str
    compute: Callable[[Budget], RecomputedTable]


def recompute_all(
    recomputations: Sequence[Recomputation], *, budget: Budget, progress: Progress = lambda _: None
) -> list[RecomputedTable]:
    """All tables, each with an equal share of the time that is left; one that fails says why."""
    found: list[RecomputedTable] = []
    for k, one in enumerate(recomputations):
        progress(one.title)
        share = budget.part(1 / (len(recomputations) - k))
        try:
            found.append(answer_in_time(partial(_compute, one, share), share, one.title))
        except ArrayfoldError as error:
            paper, _, number = one.title.partition(" ")
            found.append(RecomputedTable(paper, number, ("not computed",), ((str(error),),), is_proved=False))
    return found


def _compute(recomputation: Recomputation, budget: Budget, _: Progress) -> RecomputedTable:
    return recomputation.compute(budget)
