"""Sets of small numbers as the bits of one integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def to_bits(numbers: Iterable[int]) -> int:
    """The integer with these bits set.

    >>> to_bits([0, 3])
    9
    """
    total = 0
    for number in numbers:
        total |= 1 << number
    return total


def numbers_in(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, ascending.

    >>> list(numbers_in(9))
    [0, 3]
    """
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def first_in(bits: int) -> int:
    """The number of the lowest bit that is set; there must be one."""
    return (bits & -bits).bit_length() - 1
