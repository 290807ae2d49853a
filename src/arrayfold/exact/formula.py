"""Exact formulas of the parameters: polynomials over parameters, floors, maxima and minima."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

Rational: TypeAlias = int | Fraction


@dataclass(frozen=True)
class Floor:
    """`floor(argument / divisor)`."""

    argument: Formula
    divisor: int

    def __str__(self) -> str:
        numerator = str(self.argument) if self.argument.is_atom else f"({self.argument})"
        return f"floor({numerator}/{self.divisor})"

    def number(self, values: Mapping[str, int]) -> Rational:
        """The value at these parameters."""
        return self.argument.number(values) // self.divisor


@dataclass(frozen=True)
class Extreme:
    """`max(...)` or `min(...)` of formulas."""

    kind: Literal["max", "min"]
    arguments: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.arguments))})"

    def number(self, values: Mapping[str, int]) -> Rational:
        """The value at these parameters."""
        pick = max if self.kind == "max" else min
        return pick(argument.number(values) for argument in self.arguments)


@dataclass(frozen=True)
class Remainder:
    """`argument mod modulus`, never negative."""

    argument: Formula
    modulus: Formula

    def __str__(self) -> str:
        return f"({self.argument}) mod ({self.modulus})"

    def number(self, values: Mapping[str, int]) -> Rational:
        """The value at these parameters."""
        return self.argument.number(values) % self.modulus.number(values)


Atom: TypeAlias = str | Floor | Extreme | Remainder
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]


@dataclass(frozen=True)
class Formula:
    """A polynomial with rational coefficients over atoms, in one canonical form.

    >>> n = Formula.name("N")
    >>> (n + 1) * (n - 1) + n
    N^2 + N - 1
    >>> Formula.floor(n + 1, 2) * 2
    2*floor((N + 1)/2)
    """

    terms: tuple[tuple[Monomial, Fraction], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __reduce__(self) -> tuple[type[Formula], tuple[Any]]:
        # Hashes of names differ from process to process.
        return Formula, (self.terms,)

    # ------------------------------------------------------------ making

    @staticmethod
    def constant(value: Rational) -> Formula:
        """A number."""
        return Formula((((), Fraction(value)),) if value else ())

    @staticmethod
    def name(name: str) -> Formula:
        """A parameter."""
        return Formula.atom(name)

    @staticmethod
    def atom(atom: Atom) -> Formula:
        """One atom, once."""
        return Formula(((((atom, 1),), Fraction(1)),))

    @staticmethod
    def floor(argument: Formula, divisor: int) -> Formula:
        """`floor(argument / divisor)` in lowest terms; the argument itself where nothing is divided."""
        if argument.is_constant:
            return Formula.constant(math.floor(argument.as_number() / divisor))
        scale = argument.denominator
        factor = math.gcd(divisor * scale, *(int(c * scale) for _, c in argument.terms))
        top, bottom = argument * Fraction(scale, factor), divisor * scale // factor
        return top if bottom == 1 else Formula.atom(Floor(top, bottom))

    @staticmethod
    def extreme(kind: Literal["max", "min"], arguments: Iterable[Formula]) -> Formula:
        """`max` or `min` of formulas; numbers are merged, one argument stays itself.

        Fractions stand before it: `max(N/2, 2)` is `max(N, 4)/2`.
        """
        arguments = list(arguments)
        scale = math.lcm(*(one.denominator for one in arguments))
        if scale > 1:
            return Formula.extreme(kind, [one * scale for one in arguments]) * Fraction(1, scale)
        distinct = sorted({inner for one in arguments for inner in _arguments(one, kind)}, key=str)
        numbers = [f for f in distinct if f.is_constant]
        others = [f for f in distinct if not f.is_constant]
        if numbers:
            pick = max if kind == "max" else min
            others.append(Formula.constant(pick(f.as_number() for f in numbers)))
        return others[0] if len(others) == 1 else Formula.atom(Extreme(kind, tuple(others)))

    @staticmethod
    def remainder(argument: Formula, modulus: Formula) -> Formula:
        """`argument mod modulus`; fractions stand before it."""
        scale = math.lcm(argument.denominator, modulus.denominator)
        return Formula.atom(Remainder(argument * scale, modulus * scale)) * Fraction(1, scale)

    @staticmethod
    def product(factors: Iterable[Formula]) -> Formula:
        """The product of all factors; 1 for none."""
        return math.prod(factors, start=Formula.constant(1))

    @staticmethod
    def sum(terms: Iterable[Formula]) -> Formula:
        """The sum of all terms; 0 for none."""
        sums: dict[Monomial, Fraction] = {}
        for one in terms:
            for monomial, coefficient in one.terms:
                sums[monomial] = sums.get(monomial, Fraction(0)) + coefficient
        return _canonical(sums)

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: Formula | Rational) -> Formula:
        sums = dict(self.terms)
        for monomial, coefficient in _formula(other).terms:
            sums[monomial] = sums.get(monomial, Fraction(0)) + coefficient
        return _canonical(sums)

    def __mul__(self, other: Formula | Rational) -> Formula:
        factor = _formula(other)
        for one, by in ((self, factor), (factor, self)):
            if len(by.terms) == 1 and not by.terms[0][0]:
                return one._scaled(by.terms[0][1])
        products: dict[Monomial, Fraction] = {}
        for left, a in self.terms:
            for right, b in factor.terms:
                monomial = _multiply(left, right)
                products[monomial] = products.get(monomial, Fraction(0)) + a * b
        return _canonical(products)

    def _scaled(self, factor: Fraction) -> Formula:
        """The product with a number other than zero, whose terms keep their order."""
        if factor == 1:
            return self
        return Formula(tuple((monomial, coefficient * factor) for monomial, coefficient in self.terms))

    def __neg__(self) -> Formula:
        return self._scaled(Fraction(-1))

    def __sub__(self, other: Formula | Rational) -> Formula:
        return self + -_formula(other)

    def __radd__(self, other: Rational) -> Formula:
        return self + other

    def __rmul__(self, other: Rational) -> Formula:
        return self * other

    def __pow__(self, exponent: int) -> Formula:
        return Formula.product([self] * exponent)

    # ------------------------------------------------------------ asking

    @property
    def is_constant(self) -> bool:
        """Whether this is a number."""
        return all(not monomial for monomial, _ in self.terms)

    @property
    def is_atom(self) -> bool:
        """Whether this prints as one word or number."""
        return self.is_constant or (len(self.terms) == 1 and self.terms[0] == (((self._first, 1),), 1))

    @property
    def _first(self) -> Atom:
        return self.terms[0][0][0][0]

    @property
    def denominator(self) -> int:
        """The least number that makes all coefficients whole."""
        return math.lcm(*(coefficient.denominator for _, coefficient in self.terms))

    @property
    def is_affine(self) -> bool:
        """Whether isl can say it: every atom stands alone and to the first power, and so inside of atoms.

        >>> n, m = Formula.name("N"), Formula.name("M")
        >>> Formula.floor(n, 2).is_affine, Formula.floor(n * m, 2).is_affine
        (True, False)
        """
        return all(
            not monomial or (len(monomial) == 1 and monomial[0][1] == 1 and _is_affine_atom(monomial[0][0]))
            for monomial, _ in self.terms
        )

    @property
    def is_whole(self) -> bool:
        """Whether all coefficients are whole, here and inside of maxima and remainders, so the value is, too.

        A whole value may go unseen: that of `(N^2 + N)/2`, or of `N/2` where N is even.
        """
        return all(
            coefficient.denominator == 1 and all(_is_whole_atom(atom) for atom, _ in monomial)
            for monomial, coefficient in self.terms
        )

    @property
    def is_polynomial(self) -> bool:
        """Whether all atoms are parameters."""
        return all(isinstance(atom, str) for monomial, _ in self.terms for atom, _ in monomial)

    def as_number(self) -> Fraction:
        """The value of a constant formula."""
        return self.evaluate({})

    def names(self) -> frozenset[str]:
        """The parameters in it."""
        return frozenset(atom for atom in self.inner_atoms() if isinstance(atom, str))

    def inner_atoms(self) -> Iterator[Atom]:
        """The atoms in it, and those inside of them."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                yield atom
                for part in _parts(atom):
                    yield from part.inner_atoms()

    def evaluate(self, values: Mapping[str, int]) -> Fraction:
        """The value at these parameters.

        >>> (Formula.name("N") ** 2 + 1).evaluate({"N": 3})
        Fraction(10, 1)
        """
        return Fraction(self.number(values))

    def number(self, values: Mapping[str, int]) -> Rational:
        """The same, as an integer where no fraction was met: whole numbers are much faster."""
        total: Rational = 0
        for monomial, coefficient in self.terms:
            product: Rational = coefficient.numerator if coefficient.denominator == 1 else coefficient
            for atom, power in monomial:
                value = values[atom] if isinstance(atom, str) else atom.number(values)
                product *= value if power == 1 else value**power
            total += product
        return total

    def rest(self, divisor: Formula) -> Formula:
        """What is left once multiples of a polynomial are taken away, by long division.

        >>> n = Formula.name("N")
        >>> (n * n * 2).rest(n * n + n), n.rest(n + 1), (n + 3).rest(Formula.constant(2))
        (-2*N, -1, N + 3)
        """
        return self.divided(divisor)[1]

    def divided(self, divisor: Formula) -> tuple[Formula, Formula]:
        """A quotient with whole coefficients and what is left, by long division; numbers divide nothing.

        >>> n, m = Formula.name("N"), Formula.name("M")
        >>> (n * m * 2 + m + 1).divided(n + 1)
        (2*M, -M + 1)
        """
        quotient, rest = Formula.constant(0), self
        if not (self.is_polynomial and divisor.is_polynomial) or divisor.is_constant:
            return quotient, rest
        leading, factor = divisor.terms[0]
        while True:
            for monomial, coefficient in rest.terms:
                part, ratio = _quotient(monomial, leading), coefficient / factor
                if part is not None and ratio.denominator == 1:
                    quotient += Formula(((part, ratio),))
                    rest -= divisor * Formula(((part, ratio),))
                    break
            else:
                return quotient, rest

    def at(self, values: Mapping[str, int]) -> int:
        """The value at these parameters, which must be a whole number."""
        value = self.evaluate(values)
        assert value.denominator == 1, f"{self} is not whole at {dict(values)}"
        return int(value)

    def coefficients(self, names: Iterable[str]) -> tuple[list[Formula], Formula] | None:
        """This formula as a linear form in `names`: their coefficients and the rest; None if it is not one.

        >>> i, n = Formula.name("i"), Formula.name("N")
        >>> (n * i - 2 * i + n).coefficients(["i"])
        ([N - 2], N)
        """
        names = list(names)
        parts: list[dict[Monomial, Fraction]] = [{} for _ in names]
        rest: dict[Monomial, Fraction] = {}
        for monomial, coefficient in self.terms:
            inside = [(atom, power) for atom, power in monomial if atom in names]
            outside = tuple((atom, power) for atom, power in monomial if atom not in names)
            if any(Formula.atom(atom).names() & set(names) for atom, _ in outside):
                return None
            match inside:
                case []:
                    rest[outside] = coefficient
                case [(str(name), 1)]:
                    parts[names.index(name)][outside] = coefficient
                case _:
                    return None
        return [_canonical(part) for part in parts], _canonical(rest)

    def substitute(self, values: Mapping[str, int]) -> Formula:
        """The formula with some parameters fixed."""
        return self.replace_names({name: Formula.constant(value) for name, value in values.items()})

    def replace_names(self, new: Mapping[str, Formula]) -> Formula:
        """The formula with formulas in place of some parameters.

        >>> (Formula.name("N") ** 2).replace_names({"N": Formula.name("s") + 3})
        s^2 + 6*s + 9
        """
        if self.names().isdisjoint(new):
            return self
        return self._with_factors(lambda atom: _replace_in_atom(atom, new))

    def with_atom(self, atom: Atom, value: Formula) -> Formula:
        """The formula with another one in place of an atom, wherever that is a factor.

        >>> n = Formula.name("N")
        >>> (n * Formula.floor(n, 2) + 1).with_atom(Floor(n, 2), n + 3)
        N^2 + 3*N + 1
        """
        return self._with_factors(lambda one: value if one == atom else Formula.atom(one))

    def _with_factors(self, new: Callable[[Atom], Formula]) -> Formula:
        total = Formula.constant(0)
        for monomial, coefficient in self.terms:
            total += Formula.product(new(atom) ** power for atom, power in monomial) * coefficient
        return total

    # ------------------------------------------------------------ printing

    def __str__(self) -> str:
        denominator = self.denominator
        if denominator > 1:
            numerator = self * denominator
            inside = str(numerator) if numerator.is_atom else f"({numerator})"
            return f"{inside}/{denominator}"
        if self.is_atom and not self.is_constant:
            return str(self._first)
        words: list[str] = []
        for monomial, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            words.append(sign if words else sign.replace("+", ""))
            words.append(_print_term(monomial, abs(coefficient)))
        return words[0] + " ".join(words[1:]) if words else "0"

    def __repr__(self) -> str:
        return str(self)


def _formula(value: Formula | Rational) -> Formula:
    return value if isinstance(value, Formula) else Formula.constant(value)


def _canonical(terms: Mapping[Monomial, Fraction]) -> Formula:
    kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
    if len(kept) > 1:
        kept.sort(key=lambda term: _print_order(term[0]))
    return Formula(tuple(kept))


@lru_cache(maxsize=4096)
def _print_order(monomial: Monomial) -> tuple[int, list[tuple[str, int]]]:
    return -sum(power for _, power in monomial), [(str(atom), -power) for atom, power in monomial]


def _multiply(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _arguments(formula: Formula, kind: str) -> tuple[Formula, ...]:
    """The arguments of a formula that is a maximum or minimum itself; otherwise the formula."""
    atom = formula.terms[0][0][0][0] if formula.is_atom and not formula.is_constant else None
    return atom.arguments if isinstance(atom, Extreme) and atom.kind == kind else (formula,)


def _parts(atom: Atom) -> tuple[Formula, ...]:
    """The formulas inside of an atom."""
    match atom:
        case str():
            return ()
        case Floor(argument):
            return (argument,)
        case Extreme(_, arguments):
            return arguments
        case Remainder(argument, modulus):
            return argument, modulus


def _is_affine_atom(atom: Atom) -> bool:
    if isinstance(atom, Remainder):
        modulus = atom.modulus
        return (
            atom.argument.is_affine and modulus.is_constant and modulus.is_whole and modulus.as_number() > 0
        )
    return all(part.is_affine for part in _parts(atom))


def _is_whole_atom(atom: Atom) -> bool:
    return isinstance(atom, Floor) or all(part.is_whole for part in _parts(atom))


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """What to multiply a product by to get another, if there is such a product."""
    powers = dict(monomial)
    for atom, power in divisor:
        powers[atom] = powers.get(atom, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple(
        (atom, power) for atom, power in sorted(powers.items(), key=lambda item: str(item[0])) if power
    )


def _print_term(monomial: Monomial, coefficient: Fraction) -> str:
    texts = ((f"({atom})" if isinstance(atom, Remainder) else str(atom), power) for atom, power in monomial)
    factors = [text if power == 1 else f"{text}^{power}" for text, power in texts]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return "*".join(factors)


def _replace_in_atom(atom: Atom, new: Mapping[str, Formula]) -> Formula:
    def inside(formula: Formula) -> Formula:
        return formula.replace_names(new)

    match atom:
        case str():
            return new.get(atom, Formula.name(atom))
        case Floor(argument, divisor):
            return Formula.floor(inside(argument), divisor)
        case Extreme(kind, arguments):
            return Formula.extreme(kind, map(inside, arguments))
        case Remainder(argument, modulus):
            top, bottom = inside(argument), inside(modulus)
            if top.is_constant and bottom.is_constant and bottom.as_number() > 0:
                return Formula.constant(top.as_number() % bottom.as_number())
            return Formula.remainder(top, bottom)
