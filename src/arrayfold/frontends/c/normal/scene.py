"""What surrounds a piece of a region that is written in a simpler way: the file, the region, names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arrayfold.c import tree as c
from arrayfold.c.edits import Edit
from arrayfold.c.source import CText, Region, variables_with_address
from arrayfold.c.tree import CStatement, FunctionTree, Variable, children, declared_in, walk


@dataclass(frozen=True)
class Rewriting:
    """Edits that belong together, all between two offsets.

    inlined  the function whose call they replace, if that is what they do
    split    the iterators of new loops whose bounds must not be negative
    """

    start: int
    end: int
    edits: tuple[Edit, ...]
    inlined: str | None = None
    split: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RegionScene:
    """A region that is to be made simpler.

    functions  functions of the file with bodies, by name
    kept       statements with a pragma of their own, which stay
    """

    text: CText
    region: Region
    functions: Mapping[str, FunctionTree]
    kept: frozenset[CStatement] = frozenset()
    _taken: set[str] = field(default_factory=set[str])

    @cached_property
    def parents(self) -> Mapping[CStatement, CStatement]:
        """Statement of the region -> the one that it stands in."""
        return {
            child: node
            for node in self.statements()
            for child in children(node)
            if isinstance(child, CStatement)
        }

    @cached_property
    def escaped(self) -> frozenset[Variable]:
        """The variables whose address is taken."""
        return frozenset(variables_with_address(self.region.function))

    def statements(self) -> Iterator[CStatement]:
        """Every statement of the region, outer ones first."""
        return iter(self._statements)

    @cached_property
    def _statements(self) -> tuple[CStatement, ...]:
        return tuple(node for node in self.region.nodes() if isinstance(node, CStatement))

    def fresh(self, name: str) -> str:
        """A name that the file does not know, like another one."""
        number = 1
        while f"{name}_{number}" in self.text.identifiers | self._taken:
            number += 1
        self._taken.add(f"{name}_{number}")
        return f"{name}_{number}"

    def stands_alone(self, statement: CStatement) -> bool:
        """Whether more statements may be written beside it without braces."""
        parent = self.parents.get(statement)
        return parent is None or isinstance(parent, c.Block)

    def is_hidden(self, variables: Iterable[Variable]) -> bool:
        """Whether the name of a variable means something else somewhere in the function."""
        function = self.region.function
        declared = {*function.parameters, *declared_in(walk(function.body))}
        return any(one.name == other.name for one in variables for other in declared - {one})

    def is_own_integer(self, variable: Variable) -> bool:
        """Whether a variable is a whole number that only its own function sees and changes by name."""
        return variable.type.is_integer and not variable.type.is_boolean and self.is_own_scalar(variable)

    def is_own_scalar(self, variable: Variable) -> bool:
        """Whether a variable is a scalar that only its own function sees and changes by name."""
        return (
            not variable.is_array
            and not variable.is_pointer
            and variable.storage in ("local", "parameter")
            and not variable.is_volatile
            and variable not in self.escaped
        )

    def beside(
        self, statement: CStatement, end: int, before: str, after: str, edits: Sequence[Edit]
    ) -> Rewriting:
        """Edits inside a statement with more statements before and behind it."""
        opening, closing = ("", "") if self.stands_alone(statement) else ("{ ", " }")
        start = statement.span.start
        around = (
            Edit(start, start, opening + before + " " * bool(before)),
            Edit(end, end, " " * bool(after) + after + closing),
        )
        return Rewriting(start, end, (around[0], *edits, around[1]))
