"""Reading formulas: `2*N + 1`, `floor((N + 1)/2)`, `max(N, M)`, `(i - t) mod (2*N - 1)`, `floormod(i, 3)`."""

from __future__ import annotations

import re

from arrayfold.base.errors import InputError
from arrayfold.base.nesting import check_nesting, too_deep
from arrayfold.base.source_text import SourceText
from arrayfold.exact.formula import Formula

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z_0-9']*)|(\*\*|[-+*/%^(),]))")

_LARGEST_EXPONENT = 20
_MOST_DIGITS = 1000


def read_formula(text: str | SourceText) -> Formula:
    """The formula that the text denotes.

    >>> read_formula("2N + 1 - floor((N + 1)/2)")
    2*N - floor((N + 1)/2) + 1
    >>> read_formula("(i - t) % 5")
    (i - t) mod (5)
    """
    source = text if isinstance(text, SourceText) else SourceText.of(text, "formula")
    check_nesting(source, "isl")
    try:
        return _Reader(source).whole()
    except RecursionError:
        raise too_deep(source, "isl") from None


class _Reader:
    """Recursive descent, one method a precedence level."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.position = 0
        self.token = ""
        self.start = 0
        self._advance()

    def whole(self) -> Formula:
        formula = self._sum()
        if self.token:
            raise self._error(f"unexpected {self.token!r}")
        return formula

    def _advance(self) -> None:
        match = _TOKEN.match(self.source.value, self.position)
        if match:
            kind = match.lastindex or 0
            self.token, self.start, self.position = match[kind], match.start(kind), match.end()
            return
        rest = self.source.value[self.position :]
        self.start = self.position + len(rest) - len(rest.lstrip())
        if rest.strip():
            raise self._error(f"unexpected character {rest.strip()[0]!r}")
        self.token = ""

    def _take(self, token: str) -> None:
        if self.token != token:
            raise self._error(f"expected {token!r}, found {self.token or 'the end'!r}")
        self._advance()

    def _error(self, message: str) -> InputError:
        return self.source.error(f"in a formula: {message}", self.start)

    def _sum(self) -> Formula:
        total = self._product()
        while self.token in ("+", "-"):
            sign = 1 if self.token == "+" else -1
            self._advance()
            total = total + self._product() * sign
        return total

    def _product(self) -> Formula:
        result = self._signed()
        while self.token in ("*", "/", "%", "mod") or self._starts_a_factor():
            operator = self.token
            if operator in ("*", "/", "%", "mod"):
                self._advance()
            factor = self._signed()
            if operator == "/":
                if not factor.is_constant or not factor.as_number():
                    raise self._error("only division by a number other than 0 is possible")
                result = result * (1 / factor.as_number())
            elif operator in ("%", "mod"):
                result = self._remainder(result, factor)
            else:
                result = result * factor
        return result

    def _starts_a_factor(self) -> bool:
        return self.token == "(" or bool(re.match(r"[A-Za-z_]", self.token))

    def _signed(self) -> Formula:
        if self.token in ("+", "-"):
            sign = 1 if self.token == "+" else -1
            self._advance()
            return self._signed() * sign
        return self._power()

    def _power(self) -> Formula:
        base = self._atom()
        if self.token in ("^", "**"):
            self._advance()
            if not self.token.isdigit() or len(self.token) > 2 or int(self.token) > _LARGEST_EXPONENT:
                raise self._error(f"an exponent is a whole number, at most {_LARGEST_EXPONENT}")
            base = base ** int(self.token)
            self._advance()
        return base

    def _atom(self) -> Formula:
        token = self.token
        if token.isdigit():
            if len(token) > _MOST_DIGITS:
                raise self._error(f"a number has at most {_MOST_DIGITS} digits")
            self._advance()
            return Formula.constant(int(token))
        if token == "(":
            self._advance()
            inside = self._sum()
            self._take(")")
            return inside
        if not re.match(r"[A-Za-z_]", token) or token == "mod":
            raise self._error(f"expected a number, a name or '(', found {token or 'the end'!r}")
        self._advance()
        if self.token == "(":
            match token:
                case "floor":
                    (argument,) = self._arguments(1)
                    return Formula.floor(argument, 1)
                case "floormod":
                    argument, modulus = self._arguments(2)
                    return self._remainder(argument, modulus)
                case "max" | "min":
                    return Formula.extreme(token, self._arguments(None))
                case _:
                    pass
        return Formula.name(token)

    def _arguments(self, count: int | None) -> list[Formula]:
        """What stands in parentheses: so many formulas, or as many as there are."""
        self._take("(")
        found = [self._sum()]
        while self.token == "," if count is None else len(found) < count:
            self._take(",")
            found.append(self._sum())
        self._take(")")
        return found

    def _remainder(self, argument: Formula, modulus: Formula) -> Formula:
        if modulus.is_constant and modulus.as_number() <= 0:
            raise self._error(f"a modulus is a positive number, not {modulus}")
        return Formula.remainder(argument, modulus)
