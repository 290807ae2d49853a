"""The arguments of a call of a folded kernel: checked, and turned into what its C function takes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from arrayfold.base.errors import WrongType, WrongValue
from arrayfold.program.signature import Argument, Signature

if TYPE_CHECKING:
    import numpy as np

_LONG = 2**63


def bound_arguments(
    signature: Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Names of the kernel's arguments -> what they are in a call."""
    names = [argument.name for argument in signature.arguments]
    call = f"{signature.name}({', '.join(names)})"
    if len(arguments) > len(names):
        raise WrongType(f"{call} takes {len(names)} arguments, but {len(arguments)} were given")
    values = dict(zip(names, arguments, strict=False))
    for name, value in keywords.items():
        if name not in names:
            raise WrongType(f"{call} has no argument {name!r}")
        if name in values:
            raise WrongType(f"{call} got two values for {name!r}")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise WrongType(f"{call} needs a value for {', '.join(missing)}")
    return values


def checked_arrays(signature: Signature, values: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a call: of the right type and rank, writable where they are written."""
    import numpy as np

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for argument in signature.arrays:
        value = values[argument.name]
        if not isinstance(value, np.ndarray):
            raise WrongType(
                f"{argument.name} must be a NumPy array of {argument.dtype}, not a {type(value).__name__}"
            )
        array = cast("np.ndarray[Any, Any]", value)
        _check_array(argument, array, np.dtype(argument.dtype))
        arrays[argument.name] = array
    for one, other in combinations(signature.arrays, 2):
        is_written = one.is_written or other.is_written
        if is_written and np.may_share_memory(arrays[one.name], arrays[other.name]):
            written = one if one.is_written else other
            raise WrongValue(
                f"{one.name} and {other.name} share memory, and the kernel writes {written.name}; "
                f"give it a copy of one of them"
            )
    return arrays


def _check_array(argument: Argument, array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> None:
    name = argument.name
    if array.dtype != dtype:
        raise WrongType(
            f"{name} must be an array of {argument.dtype}, but its elements are {array.dtype}; "
            f"convert it with {name}.astype({argument.dtype!r}), or declare the type of the kernel"
        )
    if array.ndim != len(argument.extents):
        raise WrongValue(
            f"{name} must have {len(argument.extents)} dimensions, but its shape is {array.shape}"
        )
    if not argument.is_written:
        return
    if not array.flags.writeable:
        raise WrongValue(f"{name} is read-only, but the kernel writes it")
    if array.size > 1 and any(
        stride == 0 and length > 1 for stride, length in zip(array.strides, array.shape, strict=True)
    ):
        raise WrongValue(f"elements of {name} share memory, and the kernel writes it; give it a copy")


def in_one_piece(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself if its rows follow one another in memory, or a copy of which that is true."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return array.copy(order="C")


def checked_numbers(signature: Signature, values: Mapping[str, Any]) -> dict[str, int | float]:
    """The numbers of a call, by their names in C."""
    numbers: dict[str, int | float] = {}
    for argument in signature.numbers:
        value = values[argument.name]
        kind = type(value).__name__
        if isinstance(value, bool) or kind == "bool_":
            raise WrongType(f"{argument.name} must be a number, but it is {value}")
        try:
            number = operator.index(value) if argument.kind == "int" else float(operator.pos(value))
        except TypeError:
            wanted = "a whole number" if argument.kind == "int" else "a number"
            raise WrongType(f"{argument.name} must be {wanted}, but it is a {kind}") from None
        if isinstance(number, int) and not -_LONG <= number < _LONG:
            raise WrongValue(f"{argument.name} = {number} does not fit into 64 bits")
        numbers[argument.c_name] = number
    return numbers


def checked_sizes(
    signature: Signature, arrays: Mapping[str, np.ndarray[Any, Any]], numbers: Mapping[str, int | float]
) -> dict[str, int]:
    """The parameters of the C function that are whole numbers; every shape must agree with them."""
    sizes = {name: number for name, number in numbers.items() if isinstance(number, int)}
    for size in signature.sizes:
        sizes[size.c_name] = int(arrays[size.array].shape[size.dimension])
    origin = {size.c_name: str(size) for size in signature.sizes}
    for argument in signature.arrays:
        shape = arrays[argument.name].shape
        for dimension, extent in enumerate(argument.extents):
            expected = extent.at(sizes)
            if shape[dimension] != expected:
                origins = (f"{name} = {origin.get(name, name)}" for name in sorted(extent.names()))
                known = "" if extent.is_atom or extent.is_constant else f", where {', '.join(origins)}"
                wanted = origin.get(str(extent), str(extent))
                value = "" if extent.is_constant else f" = {expected}"
                raise WrongValue(
                    f"{argument.name}.shape[{dimension}] is {shape[dimension]}, "
                    f"but {wanted}{value} is needed{known}"
                )
    return sizes
