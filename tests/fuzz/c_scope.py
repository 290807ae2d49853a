"""What is known at a place of a random C function: loops around it, locals, and which cells have a value.

Subscripts are checked with numbers: at a list of samples (values of the sizes), intervals of the iterators
give the interval of a subscript, which must lie in the interval of cells that exist or were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from support.random_c_parts import Form, variable

Sample = Mapping[str, int]


def value_at(form: Form, sample: Sample) -> int:
    return form.constant + sum(factor * sample[name] for name, factor in form.terms)


@dataclass(frozen=True)
class Range:
    """low, ..., high: forms of the sizes."""

    low: Form
    high: Form


@dataclass(frozen=True)
class Loop:
    """An iterator, its type, a range that all its values lie in, and whether it goes up (1) or down (-1).

    is_plain  whether it has the simple form that OpenMP asks for
    """

    name: str
    type: str
    range: Range
    step: int = 1
    is_plain: bool = False

    @property
    def form(self) -> Form:
        return variable(self.name)


@dataclass(eq=False)
class Array:
    """An array of the function or of the file.

    written       the box of cells that surely have a value, or None if there is none yet
    is_allocated  it is a pointer to allocated memory
    is_flat       it has one subscript, whatever its rank
    is_turned     it changes places with another one
    """

    name: str
    type: str
    extents: tuple[Form, ...]
    role: str
    written: tuple[Range, ...] | None = None
    is_allocated: bool = False
    is_flat: bool = False
    is_turned: bool = False

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def box(self) -> tuple[Range, ...]:
        return tuple(Range(Form((), 0), extent.plus(-1)) for extent in self.extents)


@dataclass(frozen=True)
class Local:
    """An integer variable and the form that it holds."""

    name: str
    form: Form


@dataclass(frozen=True)
class Scope:
    """A place in a function.

    values       types and names of locals that hold data
    is_parallel  whether iterations of a loop around run side by side
    """

    samples: tuple[Sample, ...]
    loops: tuple[Loop, ...] = ()
    locals: tuple[Local, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    is_parallel: bool = False

    def inside(self, *loops: Loop) -> Scope:
        return replace(self, loops=(*self.loops, *loops))

    def knowing(self, *locals_: Local) -> Scope:
        return replace(self, locals=(*self.locals, *locals_))

    def holding(self, type_: str, name: str) -> Scope:
        return replace(self, values=(*self.values, (type_, name)))

    def interval(self, form: Form, sample: Sample) -> tuple[int, int] | None:
        """The values of a form at a sample; None if some loop around does not run."""
        low = high = form.constant
        ranges = {loop.name: loop.range for loop in self.loops}
        for one in ranges.values():
            if value_at(one.low, sample) > value_at(one.high, sample):
                return None
        for name, factor in form.terms:
            ends = [sample[name]] * 2 if name in sample else []
            if name in ranges:
                ends = [value_at(ranges[name].low, sample), value_at(ranges[name].high, sample)]
            low += min(factor * end for end in ends)
            high += max(factor * end for end in ends)
        return low, high

    def reaches_below(self, form: Form, bound: Form) -> bool:
        """Whether a form may be smaller than a bound at some sample."""
        return any(
            found is not None and found[0] < 0
            for sample in self.samples
            for found in [self.interval(form.plus(bound, -1), sample)]
        )

    def missing(self, forms: Sequence[Form], box: Sequence[Range]) -> list[tuple[Form, Form]]:
        """Pairs (small, large) with small <= large to be asked for, so that a cell lies in a box."""
        found: list[tuple[Form, Form]] = []
        for form, one in zip(forms, box, strict=True):
            if self.reaches_below(form, one.low):
                found.append((one.low, form))
            if self.reaches_below(one.high, form):
                found.append((form, one.high))
        return found


def samples_of(names: Sequence[str], fixed: Mapping[str, int]) -> tuple[Sample, ...]:
    """Values of the sizes at which subscripts are checked."""
    values = (0, 1, 2, 3, 5, 17) if len(names) < 3 else (0, 1, 3, 17)
    points: list[dict[str, int]] = [dict(fixed)]
    for name in names:
        points = [{**point, name: value} for point in points for value in values]
    return tuple(points)


@dataclass
class Names:
    """Names that are free."""

    taken: set[str] = field(default_factory=set)

    def fresh(self, wanted: Iterable[str]) -> str:
        tried = list(wanted)
        found = next((name for name in tried if name not in self.taken), None)
        number = 0
        while found is None:
            number += 1
            name = f"{tried[0]}{number}"
            found = name if name not in self.taken else None
        self.taken.add(found)
        return found
