"""The parts of random C functions: linear forms, loops, arrays, statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

INTEGERS = ("int", "long", "unsigned", "size_t")


@dataclass(frozen=True)
class Form:
    """A sum of multiples of iterators and sizes, and a constant."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(terms: Mapping[str, int], constant: int = 0) -> Form:
        return Form(tuple(sorted((name, a) for name, a in terms.items() if a)), constant)

    @property
    def factors(self) -> dict[str, int]:
        return dict(self.terms)

    def plus(self, other: Form | int, times: int = 1) -> Form:
        if isinstance(other, int):
            return Form(self.terms, self.constant + times * other)
        terms = self.factors
        for name, a in other.terms:
            terms[name] = terms.get(name, 0) + times * a
        return Form.of(terms, self.constant + times * other.constant)

    def put(self, values: Mapping[str, Form]) -> Form:
        """The form with iterators replaced."""
        result = Form((), self.constant)
        for name, a in self.terms:
            result = result.plus(values.get(name, Form(((name, 1),))), a)
        return result

    def text(self, names: Mapping[str, str] | None = None) -> str:
        text = ""
        for name, a in sorted(self.terms, key=lambda term: term[1] < 0):
            name = (names or {}).get(name, name)
            factor = name if abs(a) == 1 else f"{abs(a)} * {name}"
            text += (" - " if a < 0 else " + ") + factor if text else ("-" if a < 0 else "") + factor
        if not text:
            return str(self.constant)
        return text + (f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}" if self.constant else "")


def variable(name: str) -> Form:
    return Form(((name, 1),))


@dataclass(frozen=True)
class Constraint:
    """`form >= 0`, or divisible by `modulus` if there is one (after `form >= 0`)."""

    form: Form
    modulus: int = 0

    def put(self, values: Mapping[str, Form]) -> Constraint:
        return Constraint(self.form.put(values), self.modulus)

    def text(self, names: Mapping[str, str]) -> str:
        if self.modulus:
            return f"({self.form.text(names)}) % {self.modulus} == 0"
        left = Form.of({n: a for n, a in self.form.terms if a > 0}, max(0, self.form.constant))
        right = Form.of({n: -a for n, a in self.form.terms if a < 0}, max(0, -self.form.constant))
        return f"{left.text(names)} >= {right.text(names)}"


@dataclass(eq=False)
class Loop:
    """lowers <= name <= uppers (all of them), up or down; `box` holds for every iteration."""

    name: str
    type: str
    is_inside: bool
    lowers: tuple[Form, ...]
    uppers: tuple[Form, ...]
    step: int
    box: tuple[Form, Form]
    body: list[Node] = field(default_factory=list)

    def constraints(self) -> list[Constraint]:
        here = variable(self.name)
        found = [Constraint(here.plus(low, -1)) for low in self.lowers]
        found += [Constraint(high.plus(here, -1)) for high in self.uppers]
        if abs(self.step) > 1:
            start = self.lowers[0] if self.step > 0 else self.uppers[0]
            distance = here.plus(start, -1) if self.step > 0 else start.plus(here, -1)
            found.append(Constraint(distance, abs(self.step)))
        return found


@dataclass(eq=False)
class Array:
    name: str
    type: str
    rank: int
    lengths: list[Form] = field(default_factory=list)

    def reach(self, index: Sequence[tuple[Form, Form]]) -> tuple[Form, ...]:
        """Make room for subscripts within boxes; what must be added to each so that it is never negative."""
        shifts: list[Form] = []
        for k, (low, high) in enumerate(index):
            shift = Form.of({name: -a for name, a in low.terms if a < 0})
            rest = low.plus(shift)
            shift = shift.plus(max(0, -(rest.constant + sum(rest.factors.values()))))
            shifts.append(shift)
            needed = high.plus(shift).plus(1)
            old = self.lengths[k]
            names = {*old.factors, *needed.factors}
            most = {n: max(0, old.factors.get(n, 0), needed.factors.get(n, 0)) for n in names}
            self.lengths[k] = Form.of(most, max(1, old.constant, needed.constant))
        return tuple(shifts)


@dataclass(eq=False)
class Target:
    """An element that is assigned to."""

    array: Array
    index: tuple[Form, ...]


@dataclass(eq=False)
class Statement:
    """`targets = value`; without targets the statement changes elements that were written before.

    kind  "assign", "modify" (an element of a temporary that has a value), "scalar", "declare"
    """

    kind: str
    loops: tuple[Loop, ...]
    constraints: tuple[Constraint, ...]
    number: int
    is_sure: bool
    targets: tuple[Target, ...] = ()
    scalar: str = ""
    scalars: tuple[str, ...] = ()
    text: str = ""


@dataclass(eq=False)
class If:
    condition: Constraint | None
    then: list[Node]
    otherwise: list[Node]
    place: Statement
    text: str = ""


@dataclass(frozen=True)
class Features:
    """What may occur; all of it unless a search for further defects leaves something out."""

    outside_iterators: bool = True
    iterators_after: bool = True
    data_conditions: bool = True
    inner_scalars: bool = True
    hidden_names: bool = True
    types: tuple[str, ...] = INTEGERS
    macros: bool = True
    line_comments: bool = True
    unsigned_constants: bool = True
    most_nodes: int = 3
    most_statements: int = 6


@dataclass(frozen=True)
class RandomC:
    """A C file, the sizes to run it at, and what its function is called with: type, name, brackets.

    is_fixed  whether the file itself says what N and M are
    """

    text: str
    sizes: Mapping[str, int]
    is_fixed: bool
    parameters: tuple[tuple[str, str, str], ...]
    returns: str


Node = Loop | Statement | If
