"""Variables that each turn of a loop changes by a product of sizes: `*p++` in two loops, `k += w`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.c import tree as c
from arrayfold.c.source import CText
from arrayfold.c.tree import Variable
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.assumptions import Need
from arrayfold.frontends.c.changes import Change, ChangeReader, Changes
from arrayfold.frontends.c.induction import is_counted, turns_at
from arrayfold.frontends.c.integers import constant
from arrayfold.frontends.c.pointers import PointedElement
from arrayfold.frontends.c.polynomials import ONE, Polynomial


@dataclass(frozen=True, eq=False)
class Strided:
    """The variables of a loop whose values are sums of strides times affine values.

    before   their values before the loop; of a pointer, the index of the place it points to
    changes  what each turn adds
    """

    before: Mapping[Variable, Polynomial]
    changes: Mapping[Variable, Change]

    @classmethod
    def of(cls, changes: Changes, scope: Scope) -> Strided:
        """What is known before a loop and is no affine function inside of it."""
        before: dict[Variable, Polynomial] = {}
        found: dict[Variable, Change] = {}
        for one, change in changes.items():
            if change is None or not is_counted(one):
                continue
            value = _value(one, scope, is_constant=change.by.is_constant)
            if value is not None:
                before[one], found[one] = value, change
        return cls(before, found)

    def inside(self, distance: isl.PwAff, step: int, scope: Scope, around: Scope) -> Scope:
        """What is known at the start of each turn.

        distance  { [outer, i] -> [d] }  how far the iterator is from its start, in the direction of the step
        around    what is known before the loop
        """
        turns = turns_at(distance, step)
        moved = {
            one: value.mapped(scope.lifted) + Polynomial({self.changes[one].by: turns})
            for one, value in self.before.items()
        }
        return _with(scope, moved, around)

    def behind(self, count: Formula, scope: Scope, around: Scope) -> Scope:
        """What is known behind a loop with so many turns."""
        once = constant(scope.space, 1)
        moved = {
            one: value.mapped(scope.lifted) + Polynomial({self.changes[one].by * count: once})
            for one, value in self.before.items()
        }
        return _with(scope, moved, around)


def _value(variable: Variable, scope: Scope, *, is_constant: bool) -> Polynomial | None:
    """What is known of a variable, unless it is counted along as an affine value."""
    if variable in scope.sums:
        return scope.sums[variable]
    if is_constant:
        return None
    if variable in scope.values:
        return Polynomial({ONE: scope.values[variable]})
    address = scope.pointers.get(variable)
    return None if address is None else address.index


def _with(scope: Scope, moved: Mapping[Variable, Polynomial], around: Scope) -> Scope:
    pointers, sums, values = dict(scope.pointers), dict(scope.sums), dict(scope.values)
    for one, value in moved.items():
        values.pop(one, None)
        if one.is_pointer:
            pointers[one] = PointedElement(around.pointers[one].array, value)
        else:
            sums[one] = value
    return replace(scope, pointers=pointers, sums=sums, values=values)


def needs_of(
    used: Iterable[tuple[Variable, Change]],
    reader: ChangeReader,
    affine: AffineReader,
    text: CText,
    runs: isl.Set,
) -> Iterator[Need]:
    """Loops inside of which variables move run no negative number of times.

    runs  { : }  sizes for which the loop around them runs
    """
    for variable, change in used:
        add_parameters(change.by, reader, affine)
        for loop, count in change.turns:
            add_parameters(count, reader, affine)
            yield need_of(variable, loop, count, text, runs)


def add_parameters(formula: Formula, reader: ChangeReader, affine: AffineReader) -> None:
    """What is in a formula is a parameter of the region."""
    for name in formula.names():
        affine.parameters.setdefault(name, reader.parameters[name])


def need_of(variable: Variable, loop: c.For, count: Formula, text: CText, runs: isl.Set) -> Need:
    """A loop in which a variable moves runs no negative number of times."""
    space = Scope.outside().space
    negative = to_pw_aff(count, space).lt_set(constant(space, 0)).params()
    start = loop.span.start
    error = text.not_affine("this loop never runs", start)
    return Need(negative, runs, f"{variable.name} moves by the same in each turn", start, error)
