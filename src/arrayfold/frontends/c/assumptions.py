"""The context of a region: what the types of the parameters say, and what must be assumed beyond that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.source import CText
from arrayfold.c.tree import Variable
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.integers import Wrap, is_huge_only, is_narrow, limits, type_ranges
from arrayfold.program.assumptions import Assumption, without_implied

_HINT = "Use a signed type for it, or state what is known: #pragma arrayfold context(N >= 1)"


@dataclass(frozen=True, eq=False)
class Need:
    """Parameter values that must not occur.

    excluded    { : }  the values
    simpler     { : }  some more that may be excluded, too, if fewer cases are left then
    runs        { : }  the values for which the code in question runs at all
    error       what to say where they cannot be assumed away
    may_assume  whether they can, as long as some for which the code runs are left
    """

    excluded: isl.Set
    runs: isl.Set
    reason: str
    offset: int
    error: InputError
    may_assume: bool = True
    simpler: isl.Set | None = None

    @classmethod
    def of_wrap(cls, text: CText, wrap: Wrap, runs: isl.Set) -> Need:
        """A value must not wrap around."""
        what, hint = "this value may wrap around", _HINT
        if wrap.is_below_zero:
            what = "this unsigned value may wrap around below zero"
        if wrap.is_cut:
            what, hint = f"the conversion to {wrap.kind.spelling} may cut the value off", None
        reason = f"{wrap.text} must {'fit' if wrap.is_cut else 'not wrap around'}"
        error = text.not_affine(what, wrap.offset, hint)
        return cls(wrap.where.params(), runs, reason, wrap.offset, error, simpler=wrap.sizes)


class ContextBuilder:
    """Collects what is known of the parameters, and the reason for each condition that C's types do not give.

    known  { : }  what the types, the user and the conditions so far say
    found  the conditions that are part of it
    legal  { : }  the same, and what the context does not say because it would have many cases
    large  { : }  conditions that rule out nothing but sizes which no program meets; not part of the context
    beside the conditions of these two
    """

    def __init__(
        self,
        text: CText,
        parameters: Mapping[str, Variable],
        said: isl.Set,
        before: ContextBuilder | None = None,
    ) -> None:
        """Begin with the types, what the user said, and what was found when the region was read before."""
        self._text = text
        self._parameters = parameters
        self.known = isl.Set("{ : }")
        for name, variable in parameters.items():
            bound = f"{name} >= 0" if variable.type.kind == "unsigned" else ""
            if is_narrow(variable.type):
                low, high = limits(variable.type)
                bound = f"{low} <= {name} <= {high}"
            fact = isl.Set(f"[{name}] -> {{ : {bound} }}")
            self.known = self.known.align_params(fact.get_space()).intersect(fact)
        self.known = self.known.intersect(said)
        self._facts = self.known
        self.large: isl.Set = before.large if before is not None else isl.Set("{ : }")
        self.found: list[Assumption] = list(before.found) if before is not None else []
        for one in self.found:
            self.known = self.known.intersect(one.where)
        self.beside: list[Assumption] = list(before.beside) if before is not None else []
        self.legal: isl.Set = self.known if before is None else before.legal.intersect(self.known)

    def require(self, wanted: Sequence[isl.Set], reason: str, offset: int) -> None:
        """Take conditions { : } for granted."""
        new = coalesced(reduce(isl.Set.intersect, wanted, self.known))
        if not self.known.is_subset(new):
            self.found.append(self._assumption(new, self.known, reason, offset))
        self.known, self.legal = new, self.legal.intersect(new)

    def rule_out(self, outside: isl.Set, reason: str, offset: int) -> None:
        """Exclude values for which the program may do anything, from the context only if it stays simple."""
        self.legal = coalesced(self.legal.subtract(outside))
        narrowed = coalesced(self.known.subtract(outside))
        if is_huge_only(outside.intersect(self.known), self._parameters):
            self.beside.append(self._assumption(narrowed, self.known, reason, offset))
            self.large = coalesced(self.large.subtract(outside))
        elif narrowed.n_basic_set() <= self.known.n_basic_set():
            self.require([narrowed], reason, offset)
        else:
            self.beside.append(self._assumption(narrowed, self.known, reason, offset))

    def meet(self, need: Need) -> bool:
        """Rule out what must not occur, or raise its error; whether that says anything new."""
        types = type_ranges(self._parameters, ()).params()
        possible = self.known.intersect(self.large).intersect(types)
        excluded = need.excluded.intersect(possible)
        if excluded.is_empty():
            return False
        if need.simpler is not None and need.may_assume:
            more = need.simpler.intersect(possible)
            leaves_some = not need.runs.intersect(possible).is_subset(more)
            pieces = [coalesced(possible.subtract(part)).n_basic_set() for part in (excluded, more)]
            excluded = more if leaves_some and pieces[1] < pieces[0] else excluded
        if not need.may_assume or need.runs.intersect(possible).is_subset(excluded):
            raise need.error
        if is_huge_only(excluded, self._parameters):
            rest = coalesced(possible.subtract(excluded))
            self.beside.append(self._assumption(rest, possible, need.reason, need.offset))
            self.large = coalesced(self.large.intersect(rest.gist(possible)))
        else:
            # Sizes that their types exclude stay, so that the condition is a simple one.
            self.require([self.known.subtract(excluded.gist(types))], need.reason, need.offset)
        return True

    def _assumption(self, where: isl.Set, known: isl.Set, reason: str, offset: int) -> Assumption:
        return Assumption(coalesced(where.gist(known)), reason, self._text.place(offset))

    def assumptions(self) -> tuple[Assumption, ...]:
        """The conditions that neither the types, nor the user, nor the other ones imply."""
        types = type_ranges(self._parameters, ()).params()
        return without_implied([*self.found, *self.beside], self._facts.intersect(types))
