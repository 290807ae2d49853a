"""Names in the written code: new ones clash with nothing, old ones stay where they mean one thing only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from arrayfold.c.lexer import identifiers
from arrayfold.c.tree import (
    Call,
    Cast,
    Declare,
    FunctionTree,
    Number,
    Opaque,
    Reference,
    Variable,
    walk,
)


class Names:
    """Hands out names for one file."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._shared: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        """A name like this one that nothing has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def shared(self, name: str) -> str:
        """A name like this one that nothing else has; the same one each time it is asked for."""
        if name not in self._shared:
            self._shared[name] = self.fresh(name)
        return self._shared[name]

    def own_or_fresh(self, variable: Variable, function: FunctionTree) -> str:
        """The variable's own name, unless its function calls something else the same."""
        if _names_in(function)[variable.name] == 1:
            return variable.name
        return self.fresh(f"{variable.name}_2")


def variables_in(function: FunctionTree) -> set[Variable]:
    """The variables that a function declares or uses."""
    found = set(function.parameters)
    for node in walk(function.body):
        if isinstance(node, Declare):
            found |= set(node.variables)
        elif isinstance(node, Reference):
            found.add(node.variable)
    return found


def _names_in(function: FunctionTree) -> Counter[str]:
    """How many variables, functions, constants and types of each name a function declares or uses."""
    variables = variables_in(function)
    others: set[str] = set()
    for variable in variables:
        others |= identifiers(variable.element.spelling)
    for node in walk(function.body):
        match node:
            case Call(function=called):
                others.add(called.name)
            case Cast(type=kind):
                others |= identifiers(kind.spelling)
            case Number(text=text) | Opaque(what=text):
                others |= identifiers(text)
            case _:
                pass
    return Counter(variable.name for variable in variables) + Counter(others)
