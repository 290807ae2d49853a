"""Names in the written code: new ones clash with nothing, old ones stay where they mean one thing only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from arrayfold.c.tree import Declare, FunctionTree, Reference, Variable, walk


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
        """The variable's own name, unless another variable in its function is called the same."""
        if names_in(function)[variable.name] == 1:
            return variable.name
        return self.fresh(f"{variable.name}_2")


def names_in(function: FunctionTree) -> Counter[str]:
    """How many variables of each name a function declares or uses."""
    found: dict[Variable, None] = dict.fromkeys(function.parameters)
    for node in walk(function.body):
        if isinstance(node, Declare):
            found |= dict.fromkeys(node.variables)
        elif isinstance(node, Reference):
            found[node.variable] = None
    return Counter(variable.name for variable in found)
