"""Trees of C back to text, with variables and array elements exchanged on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from arrayfold.c import tree as c
from arrayfold.c.source import CText
from arrayfold.c.tree import Expression, Variable, array_access, bare

ElementText = Callable[[Variable, Sequence[str], c.Reference | c.Subscript], str]
OtherText = Callable[[Expression], str | None]

_PRECEDENCE = {
    **dict.fromkeys("*/%", 10),
    **dict.fromkeys("+-", 9),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("==", "!="), 6),
    "&": 5,
    "^": 4,
    "|": 3,
    "&&": 2,
    "||": 1,
}
# Two variables that are one value where a statement runs: compilers warn of a comparison with itself.
_WITH_ITSELF = {**dict.fromkeys(("<=", ">=", "=="), "1"), **dict.fromkeys(("<", ">", "!="), "0")}
# Of a type by its name: brackets and parentheses might hold variables.
_SIZE_OF_TYPE = re.compile(r"sizeof\s*\([\w\s*]+\)")
_UNARY, _POSTFIX, _CONDITIONAL, _ASSIGNMENT, _COMMA = 11, 12, 0, -1, -2


class ExpressionPrinter:
    """Prints expressions of a file; `element` names variables and elements, given subscripts and tree.

    other  the text of an element that is no chain of subscripts on a variable, or None
    """

    def __init__(self, file: CText, element: ElementText, other: OtherText = lambda _: None) -> None:
        self._file = file
        self._element = element
        self._other = other

    def text(self, expression: Expression, least: int = _COMMA) -> str:
        """The expression as C, in parentheses if it binds less than `least`."""
        text, strength = self._print(expression)
        return text if strength >= least else f"({text})"

    def _print(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, c.Unary | c.Subscript) and array_access(expression) is None:
            other = self._other(expression)
            if other is not None:
                return other, _POSTFIX
        match expression:
            case c.Number(text=text) | c.OtherLiteral(text=text):
                return text, _POSTFIX
            case c.Reference() | c.Subscript():
                return self._access(expression)
            case c.Parentheses(inner=inner):
                text, strength = self._print(inner)
                return (text, strength) if strength == _POSTFIX else (f"({text})", _POSTFIX)
            case c.Cast(operand=operand, is_implied=True):
                return self._print(operand)
            case c.Cast(operand=operand, type=kind):
                return f"({kind.spelling}){self.text(operand, _UNARY)}", _UNARY
            case c.Member(base=base, name=name, is_arrow=is_arrow):
                return f"{self.text(base, _POSTFIX)}{'->' if is_arrow else '.'}{name}", _POSTFIX
            case c.Unary(operator="x++" | "x--" as operator, operand=operand):
                return f"{self.text(operand, _POSTFIX)}{operator[1:]}", _POSTFIX
            case c.Unary(operator=operator, operand=operand):
                inner = self.text(operand, _UNARY)
                return f"{operator}{' ' if inner.startswith(operator[0]) else ''}{inner}", _UNARY
            case c.Binary(operator=","):
                return f"{self.text(expression.left, _ASSIGNMENT)}, {self.text(expression.right)}", _COMMA
            case c.Binary(operator=operator, left=left, right=right):
                strength = _PRECEDENCE[operator]
                texts = self.text(left, strength), self.text(right, strength + 1)
                if operator in _WITH_ITSELF and texts[0] == texts[1] and _are_two_integers(left, right):
                    return _WITH_ITSELF[operator], _POSTFIX
                return f"{texts[0]} {operator} {texts[1]}", strength
            case c.Assign(operator=operator, target=target, value=value):
                return f"{self.text(target, _UNARY)} {operator} {self.text(value, _ASSIGNMENT)}", _ASSIGNMENT
            case c.Conditional(condition=condition, then=then, otherwise=otherwise):
                texts = (self.text(condition, 1), self.text(then), self.text(otherwise, _CONDITIONAL))
                return "{} ? {} : {}".format(*texts), _CONDITIONAL
            case c.Call(function=function, arguments=arguments):
                inside = ", ".join(self.text(argument, _ASSIGNMENT) for argument in arguments)
                return f"{function.spelling or function.name}({inside})", _POSTFIX
            case c.Opaque():
                return self._size_of_type(expression), _POSTFIX

    def _size_of_type(self, expression: c.Opaque) -> str:
        """`sizeof(T)` as the file says it; anything else cannot be printed."""
        span = expression.span
        is_type = span.is_text and not expression.parts
        match = _SIZE_OF_TYPE.match(self._file.plain, span.start) if is_type else None
        if match is None:
            raise self._file.error(
                f"{expression.what} cannot be written again in new loops",
                max(0, span.start),
                "Give its value to a variable before the region.",
            )
        return " ".join(match.group().split())

    def _access(self, expression: c.Reference | c.Subscript) -> tuple[str, int]:
        access = array_access(expression)
        if access is None:
            assert isinstance(expression, c.Subscript)
            return f"{self.text(expression.base, _POSTFIX)}[{self.text(expression.index)}]", _POSTFIX
        variable, subscripts = access
        texts = [self.text(subscript) for subscript in subscripts]
        text = self._element(variable, texts, expression)
        return text, _POSTFIX if subscripts or text.isidentifier() else _COMMA


def _are_two_integers(left: Expression, right: Expression) -> bool:
    """Whether two expressions are two different variables that are whole numbers."""
    found = (bare(left), bare(right))
    names = [one.variable for one in found if isinstance(one, c.Reference) and one.type.is_integer]
    return len(names) == 2 and names[0] is not names[1]
