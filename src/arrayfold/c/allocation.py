"""Memory that a function allocates for itself: where, and what it does with the pointer."""

from __future__ import annotations

from dataclasses import dataclass

from arrayfold.c.tree import Call, Evaluate, Expression, Reference, Variable


@dataclass(frozen=True, eq=False)
class Setter:
    """What gives a pointer a value outside of a region.

    whole      the declared variable, or the assignment or call as an expression
    statement  the statement that is nothing else; None where a condition is around it
    """

    whole: Variable | Expression
    statement: Evaluate | None = None


@dataclass(frozen=True, eq=False)
class Allocation:
    """Memory that nothing but one pointer reaches, until it is freed or the function ends.

    call       of malloc, calloc, aligned_alloc, posix_memalign or alloca
    arguments  where the arguments stand in the text
    setters    the allocation, and where the pointer becomes null
    frees      calls of free() with it, as statements where they are
    tests      where it is compared with null: what is compared, and whether that holds if there is memory
    mentions   all other places that name it outside of subscripts
    """

    variable: Variable
    call: Call
    arguments: tuple[tuple[int, int], ...]
    setters: tuple[Setter, ...]
    frees: tuple[Evaluate | Call, ...]
    tests: tuple[tuple[Expression, bool], ...]
    mentions: frozenset[Reference]

    @property
    def function(self) -> str:
        """The name of the function that allocates."""
        return self.call.function.name

    @property
    def at(self) -> int:
        """Where the memory is allocated."""
        return self.call.span.start
