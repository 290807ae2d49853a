"""The calls in a region: what they may read and change behind the region's back."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from arrayfold.c.calls import changed_by, globals_of, hidden_state, may_use_any_global, returns_twice
from arrayfold.c.source import CText, Region, variables_with_address
from arrayfold.c.tree import Call, CStatement, Expression, Variable, declared_in
from arrayfold.frontends.c.arrays import extent_nodes, uses_of_arrays
from arrayfold.program.model import Kept


@dataclass(frozen=True, eq=False)
class CallsOfRegion:
    """The calls in a region, and the functions that depend on their arguments alone, as the user says."""

    region: Region
    calls: tuple[Call, ...]
    pure: frozenset[str]

    @classmethod
    def of(cls, region: Region, pure: frozenset[str]) -> CallsOfRegion:
        """The calls of a region, in the order of the text."""
        nodes = (inner for node in region.nodes() for inner in _with_extents(node))
        calls = dict.fromkeys(node for node in nodes if isinstance(node, Call))
        return cls(region, tuple(calls), pure)

    def refuse_second_returns(self, text: CText) -> None:
        """Raise at calls of setjmp and the like, after which a region runs again from its middle."""
        for call in self.calls:
            if returns_twice(call.function):
                raise text.error(
                    f"{call.function.name}() inside a region cannot be analysed",
                    call.span.start,
                    "It may return a second time. Call it before the region.",
                )

    def hidden_state(self, written: Collection[Variable]) -> tuple[int, str] | None:
        """Where a call stands that must stay in order, and why, in words; None if there is none.

        written  the variables that the region writes
        """
        seen = variables_with_address(self.region.function)
        shared = [
            one
            for one in written
            if one.storage in ("global", "static") or (one.is_pointer and not one.is_restrict) or one in seen
        ]
        found = ((call.span.start, hidden_state(call.function, shared, self.pure)) for call in self.calls)
        return next(((offset, why) for offset, why in found if why is not None), None)

    def changed(self, variables: Collection[Variable]) -> set[Variable]:
        """The scalars among some variables that calls may change."""
        changed = {one for call in self.calls for one in changed_by(call.function, self.pure)}
        if self._anything() is not None:
            seen = variables_with_address(self.region.function)
            changed |= {
                one
                for one in variables
                if not one.is_array
                and "const" not in one.type.spelling.split()
                and (one.storage == "global" or one in seen)
            }
        return {one for one in variables if one in changed}

    def used_arrays(self, arrays: Collection[Variable]) -> dict[Variable, Kept]:
        """The arrays that calls may use without being given them, which must stay where they are."""
        named = {one: call for call in self.calls for one in globals_of(call.function, self.pure)}
        kept = {
            array: Kept(f"used by {named[array].function.name}()", is_final=True)
            for array in arrays
            if array.is_array and array in named
        }
        call = self._anything()
        if call is None:
            return kept
        uses = uses_of_arrays(self.region.function)
        for array in arrays:
            has_escaped = any(use.how and "sizeof" not in use.how for use in uses.get(array, ()))
            if array.is_array and (
                array.storage == "global" or (array.storage != "parameter" and has_escaped)
            ):
                reason = Kept(f"{call.function.name}(), which has no body here, may use it", is_final=True)
                kept.setdefault(array, reason)
        return kept

    def _anything(self) -> Call | None:
        """A call that may use every variable of the file."""
        return next((call for call in self.calls if may_use_any_global(call.function, self.pure)), None)


def _with_extents(node: Expression | CStatement) -> Iterator[Expression | CStatement]:
    """A node, and if it declares arrays, all inside their extents."""
    yield node
    for variable in declared_in([node]):
        yield from extent_nodes(variable)
