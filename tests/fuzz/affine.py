"""Affine forms and conditions as plain data: printed for isl, evaluated without it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

Values: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Form:
    """constant + the sum of coefficient * name."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def name(name: str, coefficient: int = 1) -> Form:
        return Form(0, ((name, coefficient),))

    def __add__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return replace(self, constant=self.constant + other)
        sums = dict(self.terms)
        for name, coefficient in other.terms:
            sums[name] = sums.get(name, 0) + coefficient
        return Form(self.constant + other.constant, tuple((n, c) for n, c in sums.items() if c))

    def __mul__(self, factor: int) -> Form:
        return Form(self.constant * factor, tuple((n, c * factor) for n, c in self.terms if factor))

    def __sub__(self, other: Form) -> Form:
        return self + other * -1

    def at(self, values: Values) -> int:
        return self.constant + sum(coefficient * values[name] for name, coefficient in self.terms)

    def names(self) -> set[str]:
        return {name for name, _ in self.terms}

    def renamed(self, names: Mapping[str, str]) -> Form:
        return Form(self.constant, tuple((names.get(n, n), c) for n, c in self.terms))

    def without(self, names: set[str]) -> Form:
        return Form(self.constant, tuple((n, c) for n, c in self.terms if n not in names))

    def __str__(self) -> str:
        words = [{1: "", -1: "-"}.get(c, str(c)) + name for name, c in self.terms]
        if self.constant or not words:
            words.append(str(self.constant))
        return " + ".join(words).replace("+ -", "- ")

    def smaller(self) -> Iterator[Form]:
        """Simpler forms: without a term, or with numbers nearer to zero."""
        for k, (name, c) in enumerate(self.terms):
            rest = (*self.terms[:k], *self.terms[k + 1 :])
            yield Form(self.constant, rest)
            if abs(c) > 1:
                yield Form(self.constant, (*self.terms[:k], (name, c // abs(c)), *self.terms[k + 1 :]))
        if self.constant:
            yield replace(self, constant=0)
            if abs(self.constant) > 1:
                yield replace(self, constant=self.constant - self.constant // abs(self.constant))


@dataclass(frozen=True)
class Condition:
    """A form compared with zero, `>=`, `=` or `!=`, or its remainder: `form mod 2 = 1`."""

    form: Form
    relation: str = ">="
    modulus: int = 0
    residue: int = 0

    def holds(self, values: Values) -> bool:
        value = self.form.at(values)
        if self.modulus:
            return value % self.modulus == self.residue
        return {">=": value >= 0, "=": value == 0, "!=": value != 0}[self.relation]

    def names(self) -> set[str]:
        return self.form.names()

    def renamed(self, names: Mapping[str, str]) -> Condition:
        return replace(self, form=self.form.renamed(names))

    def __str__(self) -> str:
        if self.modulus:
            return f"({self.form}) mod {self.modulus} = {self.residue}"
        return f"{self.form} {self.relation} 0"

    def smaller(self) -> Iterator[Condition]:
        for form in self.form.smaller():
            yield replace(self, form=form)


def between(low: Form, form: Form, high: Form) -> tuple[Condition, Condition]:
    """low <= form <= high."""
    return Condition(form - low), Condition(high - form)


def all_hold(conditions: Sequence[Condition], values: Values) -> bool:
    return all(condition.holds(values) for condition in conditions)


def conjunction(conditions: Sequence[object]) -> str:
    return " and ".join(map(str, conditions))


@dataclass(frozen=True)
class Context:
    """The parameters and what is known of them."""

    parameters: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def prefix(self) -> str:
        return f"[{', '.join(self.parameters)}] -> " if self.parameters else ""

    def text(self) -> str:
        return f"{self.prefix}{{ : {conjunction(self.conditions)} }}"

    def sizes(self, most: int) -> list[dict[str, int]]:
        """The smallest parameter values that it allows: those with the least sum first."""
        low, high = {0: (0, 0), 1: (-2, 9), 2: (-2, 6), 3: (-1, 4)}.get(len(self.parameters), (-1, 3))
        values = itertools.product(range(low, high + 1), repeat=len(self.parameters))
        found = (dict(zip(self.parameters, v, strict=True)) for v in sorted(values, key=_size))
        return list(itertools.islice((v for v in found if all_hold(self.conditions, v)), most))

    def allows(self, values: Values) -> bool:
        return all_hold(self.conditions, values)

    def smaller(self) -> Iterator[Context]:
        for k, condition in enumerate(self.conditions):
            rest = self.conditions[:k], self.conditions[k + 1 :]
            yield replace(self, conditions=(*rest[0], *rest[1]))
            for other in condition.smaller():
                yield replace(self, conditions=(*rest[0], other, *rest[1]))


def _size(values: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(map(abs, values)), values


def random_context(choose: random.Random, names: Sequence[str]) -> Context:
    """Every parameter has a least value; some have a largest one, a parity, or one is at most another."""
    conditions: list[Condition] = []
    for name in names:
        conditions.append(Condition(Form(-choose.choice([0, 1, 1, 2, 2, 3, -1]), ((name, 1),))))
        if choose.random() < 0.1:
            conditions.append(Condition(Form(choose.randint(3, 6), ((name, -1),))))
    if len(names) > 1 and choose.random() < 0.2:
        a, b = choose.sample(list(names), 2)
        conditions.append(Condition(Form(choose.choice([0, -1, 1]), ((a, 1), (b, -1)))))
    if names and choose.random() < 0.05:
        conditions.append(
            Condition(Form.name(choose.choice(list(names))), modulus=2, residue=choose.randint(0, 1))
        )
    return Context(tuple(names), tuple(conditions))
