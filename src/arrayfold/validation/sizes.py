"""The sizes at which two texts are compared: the smallest of the context, also with unequal parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

import islpy as isl

from arrayfold.exact.isl import integer, parameter_names
from arrayfold.exact.parameter_values import parameter_range

_SMALL = 6
_FURTHER = (7, 9, 12, 17)
_LARGE = 17
_MIXED = ((1, 3), (3, 1), (2, 5), (5, 2), (4, 3), (3, 4), (1, 5), (2, 3), (0, 4), (4, 1))
_TRIED_LAST = 2000
_LARGEST = (1 << 31) - 1


def first_sizes(
    contexts: Sequence[isl.Set], names: Sequence[str], fixed: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Sizes to try, the smallest first: all parameters equal, then different, then a few larger ones."""
    return _inside(contexts, names, fixed, _offsets(len(names)))


def further_sizes(
    contexts: Sequence[isl.Set], names: Sequence[str], fixed: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """More sizes, where the first ones are mostly outside of the context."""
    every = product(range(9), repeat=len(names))
    return _inside(contexts, names, fixed, islice(every, _TRIED_LAST))


def extreme_sizes(
    contexts: Sequence[isl.Set], names: Sequence[str], fixed: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Sizes at the ends of integer types and below zero, where a program often does nothing at all."""
    return _inside(contexts, names, fixed, _extremes(len(names)), [0] * len(names))


def _extremes(count: int) -> Iterator[tuple[int, ...]]:
    if count == 0:
        return
    for value in (-1, -3, _LARGEST, -_LARGEST - 1, 2 * _LARGEST + 1):
        yield (value,) * count
    if count > 1:
        for first, second in ((_LARGEST, -_LARGEST), (0, _LARGEST), (1, _LARGEST), (-1, 3), (0, -_LARGEST)):
            yield _alternating(first, second, count)
            yield _alternating(second, first, count)


def _alternating(first: int, second: int, count: int) -> tuple[int, ...]:
    return ((first, second) * count)[:count]


def _inside(
    contexts: Sequence[isl.Set],
    names: Sequence[str],
    fixed: Mapping[str, int],
    offsets: Iterable[tuple[int, ...]],
    lows: Sequence[int] | None = None,
) -> Iterator[dict[str, int]]:
    """The sizes of the contexts among those that lie so far above the lowest ones, or others."""
    contexts = [_restricted(context, fixed) for context in contexts]
    lows = [_lowest(contexts, name) for name in names] if lows is None else lows
    seen: set[tuple[int, ...]] = set()
    for offset in offsets:
        values = tuple(
            fixed.get(name, low + more) for name, low, more in zip(names, lows, offset, strict=True)
        )
        if values in seen:
            continue
        seen.add(values)
        sizes = dict(zip(names, values, strict=True))
        if all(holds_at(context, sizes) for context in contexts):
            yield sizes


def _offsets(count: int) -> Iterator[tuple[int, ...]]:
    if count == 0:
        yield ()
        return
    for value in range(_SMALL if count > 1 else _LARGE + 2):
        yield (value,) * count
    if count > 1:
        for first, second in _MIXED:
            yield _alternating(first, second, count)
        for large in range(count):
            yield tuple(_LARGE if k == large else 2 for k in range(count))
    if count > 2:
        yield tuple(k + 1 for k in range(count))
        yield tuple(count - k for k in range(count))
        yield tuple(1 + (3 * k) % 5 for k in range(count))
    for value in _FURTHER:
        yield (value,) * count
        if count > 1:
            yield _alternating(value, value // 2 + 1, count)
            yield _alternating(value // 2, value, count)


def holds_at(context: isl.Set, values: Mapping[str, int]) -> bool:
    """Whether parameter values are in a context."""
    return not _restricted(context, values).is_empty()


def _restricted(context: isl.Set, values: Mapping[str, int]) -> isl.Set:
    for k, name in enumerate(parameter_names(context)):
        if name in values:
            context = context.fix_val(isl.dim_type.param, k, integer(values[name]))
    return context


def _lowest(contexts: Sequence[isl.Set], name: str) -> int:
    """The smallest value of a parameter that is not negative; 0 where it is unknown."""
    lowest = 0
    for context in contexts:
        least, most = parameter_range(context, name)
        if most is not None and most < 0:
            return most - _SMALL + 1
        lowest = lowest if least is None else max(lowest, least)
    return lowest


def is_extreme(sizes: Mapping[str, int]) -> bool:
    """Whether sizes are at an end of integer types, or below zero."""
    return any(value < 0 or value >= _LARGEST for value in sizes.values())
