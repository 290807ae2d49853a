"""What two programs left behind, side by side."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WORD = 8


@dataclass(frozen=True)
class FinalState:
    """What a program left behind.

    output   what it printed
    failure  why it failed; empty if it ended well
    data     the values of its variables, eight bytes each
    names    where in the data, in words, the values of a variable begin
    is_data_to_blame  whether other data may help
    is_endless        whether it was ended because it took too long
    """

    output: bytes
    failure: str = ""
    data: bytes = b""
    names: tuple[tuple[int, str], ...] = ()
    peak_bytes: int | None = None
    is_data_to_blame: bool = False
    is_endless: bool = False


@dataclass(frozen=True)
class SizeComparison:
    """Both programs at one size.

    problem  what is wrong; empty if the results are equal
    is_fair  whether the folded program is to blame for the problem
    """

    sizes: Mapping[str, int]
    original: FinalState
    folded: FinalState | None
    problem: str
    is_fair: bool = True

    @property
    def is_equal(self) -> bool:
        """Whether both programs ended well and left the same behind."""
        return not self.problem

    @property
    def where(self) -> str:
        """The sizes in words."""
        return ", ".join(f"{name} = {value}" for name, value in self.sizes.items())


@dataclass(frozen=True)
class RunReport:
    """Both programs at the size that was asked for, and at further ones.

    array_bytes, folded_bytes  of the arrays that were folded, at the sizes of the first comparison
    is_as_it_is                the region is in main, so that the program chose its sizes itself
    seconds                    of one call of the original and of the folded function, where they were timed
    """

    name: str
    first: SizeComparison
    others: tuple[SizeComparison, ...]
    array_bytes: int
    folded_bytes: int
    is_sanitized: bool
    is_as_it_is: bool = False
    seconds: tuple[float, float] | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes of the first comparison."""
        return {} if self.is_as_it_is else self.first.sizes

    @property
    def compared(self) -> list[SizeComparison]:
        """The comparisons that were possible: what the original does not survive says nothing of the fold."""
        return [one for one in (self.first, *self.others) if one.is_fair]

    @property
    def is_equal(self) -> bool:
        """Whether all data were equal at the size asked for and wherever the original ends well."""
        return self.first.is_equal and all(one.is_equal for one in self.compared)

    @property
    def peaks(self) -> tuple[int | None, int | None]:
        """The peak of memory of both programs, in bytes."""
        folded = self.first.folded
        return self.first.original.peak_bytes, None if folded is None else folded.peak_bytes

    def __str__(self) -> str:
        wrong = [one for one in (self.first, *self.compared) if not one.is_equal]
        shown = wrong[0] if wrong else self.first
        where = self.name if self.is_as_it_is or not shown.sizes else f"{self.name} at {shown.where}"
        if wrong:
            return f"{where}: {shown.problem}"
        sanitized = " under sanitizers" if self.is_sanitized else ""
        parts = [f"{where}: results equal bit for bit{sanitized}"]
        if not self.is_as_it_is or not self.first.sizes:
            parts.append(f"arrays {self.array_bytes} -> {self.folded_bytes} bytes{self._memory}")
        if self.seconds is not None:
            before, after = self.seconds
            speed = before / max(after, 1e-12)
            parts.append(f"{1e3 * before:.3f} ms -> {1e3 * after:.3f} ms, {speed:.2f} times as fast")
        also = [one.sizes for one in self.others if one.is_fair]
        if also:
            parts.append(f"also equal at {_listed(also)}")
        parts += [
            f"not compared at {one.where}: {one.problem.splitlines()[0]}"
            for one in self.others
            if not one.is_fair
        ]
        return "; ".join(parts)

    @property
    def _memory(self) -> str:
        before, after = self.peaks
        if not before or not after or self.is_sanitized:
            return ""
        return f", whole program {before} -> {after} bytes at its peak"


@dataclass(frozen=True)
class NotRun:
    """Programs that could not be run, and why: nothing was compared."""

    name: str
    reason: str

    @property
    def is_equal(self) -> bool:
        """Never: what was not compared may differ."""
        return False


def _listed(sizes: Sequence[Mapping[str, int]]) -> str:
    """Several sizes of the same parameters.

    >>> _listed([{"N": 3}, {"N": 4}]), _listed([{"N": 1, "T": 0}, {"N": 2, "T": 3}])
    ('N = 3, 4', '(N, T) = (1, 0), (2, 3)')
    """
    names = list(sizes[0])
    if len(names) == 1:
        return f"{names[0]} = {', '.join(str(one[names[0]]) for one in sizes)}"
    values = (f"({', '.join(str(one[name]) for name in names)})" for one in sizes)
    return f"({', '.join(names)}) = {', '.join(values)}"


def first_difference(one: FinalState, other: FinalState) -> str:
    """The first value in which two outcomes differ, in words; nothing if there is none."""
    if one.output != other.output:
        return "they print different texts"
    if one.data == other.data:
        return ""
    if len(one.data) != len(other.data) or one.names != other.names:
        return "they leave different amounts of data behind"
    word = next(
        k // _WORD
        for k in range(0, len(one.data), _WORD)
        if one.data[k : k + _WORD] != other.data[k : k + _WORD]
    )
    starts = [start for start, _ in one.names]
    which = bisect_right(starts, word) - 1
    start, name = one.names[which] if which >= 0 else (0, "the data")
    texts = [_shown(outcome.data[_WORD * word : _WORD * word + _WORD]) for outcome in (one, other)]
    return (
        f"value {word - start} of {name} is {texts[0]} in the original and {texts[1]} in the folded program"
    )


def _shown(word: bytes) -> str:
    """A value whose type is not known: whole numbers are small, and fractions look like huge ones."""
    (number,) = struct.unpack("=q", word)
    (real,) = struct.unpack("=d", word)
    return str(number) if abs(number) < 1 << 48 else repr(real)
