"""What a main program around a C++ function has more than one around C: vectors, pointers of any type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError
from arrayfold.c.tree import Variable
from arrayfold.frontends.c.data import DataType, is_constant
from arrayfold.run.driver_values import type_name

ANY = """\
struct arrayfold_any {
  void *memory;
  template <class T> operator T *() const { return (T *)memory; }
  template <class T> operator T &() const { return *(T *)memory; }
};"""


@dataclass(frozen=True)
class Vector:
    """A vector around the memory that was made for a parameter: it gets its values, and gives them back."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def vectors_of(
    parameters: Sequence[Variable],
    data: Sequence[DataType],
    places: Sequence[str],
    piece: Callable[[Variable, DataType, int], tuple[list[str], DataType, int]],
) -> Mapping[int, Vector]:
    """Parameters that are vectors, by their numbers.

    piece  lengths of an array, and the type of its elements
    """
    found: dict[int, Vector] = {}
    for k, (variable, kind) in enumerate(zip(parameters, data, strict=True)):
        if variable.container not in ("vector", "unique_ptr"):
            continue
        if variable.container == "unique_ptr" or variable.rank > 1:
            raise InputError(
                f"cannot make up a value of the argument {variable.name}, which is not a plain vector",
                hint="Such functions are checked, and not run.",
            )
        lengths, element, _ = piece(variable, kind, 0)
        name, count = f"arrayfold_vector_{k}", " * ".join(lengths)
        memory = f"(({type_name(element, variable.name)} *){places[k]})"
        before = f"std::vector<{type_name(element, variable.name)}> {name}({memory}, {memory} + {count});"
        is_back = variable.is_reference and not is_constant(element)
        copy = f"for (__SIZE_TYPE__ k = 0; k < {count}; k++) {memory}[k] = {name}[k];"
        found[k] = Vector(name, (before,), (copy,) if is_back else ())
    return found
