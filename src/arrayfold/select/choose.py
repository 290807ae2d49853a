"""The portfolio behind `auto`: every method is asked, and the smallest proved mapping wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError, NothingProved
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.judge.verify import Proof, Verdict, verify
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.methods import METHODS, Request, method_named
from arrayfold.select.residues import Residue
from arrayfold.select.strides import Strides

Search: TypeAlias = Callable[[Conflicts, Request, Formula | None], Sequence[EmittableMapping]]

_OPERATIONS_FOR_IDENTITY = 200_000

# How many times as large as the smallest mapping one may be that makes better loops.
MOST_FOR_SIZE = Fraction(101, 100)

# The method that finds the smallest lattice of all or nothing, and fast ones whose rows are simpler.
_EXACT = "exhaustive"
_SIMPLE = ("identity", "successive-modulo", "linear", "basis")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mapping that a method proposed, with the judge's verdict, or why there is none.

    is_cut  there is none because the budget ended
    """

    method: str
    mapping: EmittableMapping | None
    verdict: Verdict | None
    seconds: float
    reason: str = ""
    is_cut: bool = False

    @property
    def is_proved(self) -> bool:
        """Whether the mapping may be used."""
        return isinstance(self.verdict, Proof)


def ask(method: str, conflicts: Conflicts, request: Request, largest: Formula | None = None) -> Candidate:
    """The smallest proved mapping that one method finds, or the reason why it finds none.

    largest  a size beyond which no mapping is wanted, so that none needs to be proved

    The identity is asked even if the time is over: there is always an answer.
    """
    if method == "identity" and request.budget.operations < _OPERATIONS_FOR_IDENTITY:
        request = replace(request, budget=Budget.of_work(_OPERATIONS_FOR_IDENTITY))
    return _smallest_proved(method, method_named(method).find, conflicts, request, largest)


def _smallest_proved(
    method: str,
    find: Callable[[Conflicts, Request], Sequence[EmittableMapping]],
    conflicts: Conflicts,
    request: Request,
    largest: Formula | None = None,
) -> Candidate:
    start = time.perf_counter()
    best: tuple[EmittableMapping, Verdict] | None = None
    reason, is_cut = "the method proposed nothing", False
    try:
        with request.budget.limit(f"method {method} on {conflicts.name}"):
            for proposed in find(conflicts, request):
                mapping = _rounded(proposed) if request.power_of_two else proposed
                if largest is not None and request.rank(mapping.size)[:2] > request.rank(largest)[:2]:
                    reason = f"what it finds has more than {largest} cells"
                    continue
                if best is not None and request.rank(mapping.size) >= request.rank(best[0].size):
                    continue
                try:
                    verdict = verify(conflicts, mapping)
                except InputError as error:
                    reason = str(error)
                    continue
                if not isinstance(verdict, Proof):
                    reason = str(verdict)
                else:
                    best = mapping, verdict
    except BudgetExceeded as error:
        reason, is_cut = str(error), True
    except ArrayfoldError as error:
        reason = str(error)
    seconds = time.perf_counter() - start
    if best is None:
        return Candidate(method, None, None, seconds, reason, is_cut)
    return Candidate(method, *best, seconds)


def _rounded(mapping: EmittableMapping) -> EmittableMapping:
    """Moduli as powers of two; a table has none."""
    return mapping.with_powers_of_two() if isinstance(mapping, ModularMapping) else mapping


def is_proved(conflicts: Conflicts, mapping: EmittableMapping) -> bool:
    """Whether the judge proves a mapping; an error is no proof."""
    try:
        return isinstance(verify(conflicts, mapping), Proof)
    except ArrayfoldError:
        return False


def ask_all(
    conflicts: Conflicts,
    request: Request,
    is_enough: Callable[[Formula], bool] = lambda _size: False,
    most: Fraction | None = MOST_FOR_SIZE,
) -> Iterator[Candidate]:
    """What every method for all sizes finds, in the order of the table, and then the searches of `auto`.

    is_enough  whether no mapping is smaller than that, so that nobody else needs to be asked
    most       how many times as large as the smallest mapping one may be that is of use; None for any
    """
    from arrayfold.methods.auto import SEARCHES

    def largest() -> Formula | None:
        return None if best is None or most is None else best * most

    best: Formula | None = None
    for method in METHODS:
        if not METHODS[method].is_general:
            continue
        candidate = ask(method, conflicts, request, largest())
        best = _smaller(best, candidate, request)
        yield candidate
        if best is not None and is_enough(best):
            return
    residue = Residue.of(conflicts)
    for search in SEARCHES:
        find = partial(search, best=best) if residue is None else partial(_in_class, search, residue, best)
        candidate = _smallest_proved("auto", find, conflicts, request, largest())
        best = _smaller(best, candidate, request)
        yield candidate
    strides = Strides.of(conflicts)
    if strides is not None and not (best is not None and is_enough(best)):
        for candidate in ask_all(strides.divided, request, is_enough, most):
            yield _undivided(candidate, strides, conflicts, request)


def _in_class(
    search: Search, residue: Residue, best: Formula | None, conflicts: Conflicts, request: Request
) -> Sequence[EmittableMapping]:
    """What a search finds where a parameter has one residue, with the quotient in place of the parameter."""
    del conflicts
    size = None if best is None else residue.formula(best)
    found = search(residue.divided, residue.request(request), size)
    return [residue.undone(mapping) for mapping in found]


def _smaller(best: Formula | None, candidate: Candidate, request: Request) -> Formula | None:
    if candidate.mapping is None:
        return best
    sizes = [candidate.mapping.size, *([] if best is None else [best])]
    return min(sizes, key=request.rank)


def choose(method: str, conflicts: Conflicts, request: Request) -> Candidate:
    """The mapping to use: that of the named method, or for `auto` the smallest of those for all sizes.

    The first method of the table wins a tie, so an array that cannot shrink keeps the identity.
    """
    if checked_method(method) != "auto":
        candidate = ask(method, conflicts, request)
        if candidate.is_cut:
            raise BudgetExceeded(candidate.reason)
        if candidate.mapping is None:
            raise NothingProved(f"{conflicts.name}: {method}: {candidate.reason}")
        return candidate
    return best_of(candidates_of_auto(conflicts, request), conflicts, request)


def checked_method(method: str) -> str:
    """The method, if there is one of that name."""
    return method if method == "auto" else method_named(method).name


def candidates_of_auto(
    conflicts: Conflicts, request: Request, is_enough: Callable[[Formula], bool] = lambda _size: False
) -> list[Candidate]:
    """What `auto` chooses from."""
    smallest = ask(_EXACT, conflicts, request)
    if smallest.mapping is None:
        return list(ask_all(conflicts, request, is_enough))
    simple = [ask(name, conflicts, request) for name in _SIMPLE]
    strides = Strides.of(conflicts)
    if strides is not None:
        divided = ask(_EXACT, strides.divided, request)
        smallest = min(smallest, _undivided(divided, strides, conflicts, request), key=_cells_of)
    return [*simple, smallest]


def _cells_of(candidate: Candidate) -> tuple[bool, Fraction]:
    """What orders candidates at fixed sizes."""
    mapping = candidate.mapping
    return mapping is None, Fraction(0) if mapping is None else mapping.size.as_number()


def _undivided(candidate: Candidate, strides: Strides, conflicts: Conflicts, request: Request) -> Candidate:
    """A mapping of coordinates as one of cells, proved once more."""
    method = candidate.method if candidate.method == _EXACT else "auto"
    if not isinstance(candidate.mapping, ModularMapping):
        return replace(candidate, method=method)
    mapping = strides.undivided(candidate.mapping)
    again = _smallest_proved(method, lambda _conflicts, _request: [mapping], conflicts, request)
    return replace(again, seconds=candidate.seconds + again.seconds)


def best_of(candidates: Sequence[Candidate], conflicts: Conflicts, request: Request) -> Candidate:
    """The candidate with the smallest proved mapping; the first one wins a tie.

    Where the smallest lattice of all is known, only methods with simpler rows compete with it.
    """
    if any(candidate.method == _EXACT and candidate.is_proved for candidate in candidates):
        candidates = [candidate for candidate in candidates if candidate.method in (*_SIMPLE, _EXACT)]
    proved = [(candidate.mapping, candidate) for candidate in candidates if candidate.mapping is not None]
    cut = [candidate.reason for candidate in candidates if candidate.is_cut]
    if not proved and cut:
        raise BudgetExceeded(cut[0])
    if not proved:
        reasons = "; ".join(f"{candidate.method}: {candidate.reason}" for candidate in candidates)
        raise NothingProved(f"{conflicts.name}: no mapping could be proved ({reasons})")
    return min(proved, key=lambda pair: request.rank(pair[0].size)[:2])[1]
