"""What a loop counts: its variable, the steps of it, how long it goes on, and the value behind the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from arrayfold.c import tree as c
from arrayfold.c.source import assigned_in, assigned_variable
from arrayfold.c.tree import CStatement, Expression, Node, Variable, bare, children, named_in, walk
from arrayfold.frontends.c.jumps import jumps_out
from arrayfold.frontends.c.normal.scene import RegionScene
from arrayfold.frontends.c.normal.texts import TreeText

CountPlace: TypeAlias = Literal["header", "condition", "body"]
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, eq=False)
class Count:
    """A variable that a loop changes by a constant in each turn, at one place.

    node     what changes it, and `place` where that stands: behind the body, in the condition, in the body
    amount   by how much
    start    its value before the loop, as C; the variable itself if the loop does not say
    """

    variable: Variable
    node: Expression
    place: CountPlace
    amount: int
    start: str
    statement: CStatement | None = None

    @property
    def is_early(self) -> bool:
        """Whether the condition looks at the value behind the change that it makes, as in `--i > 0`."""
        return (
            self.place == "condition"
            and isinstance(self.node, c.Unary)
            and not self.node.operator.startswith("x")
        )

    def after(self, name: str) -> str:
        """The value behind the place of the change, if a name stands for the one before."""
        return f"({name} {'+' if self.amount > 0 else '-'} {abs(self.amount)})"


def count_of(scene: RegionScene, loop: c.For | c.While) -> Count | None:
    """What a loop counts, if that is one variable that its condition looks at; None if it is not."""
    if loop.condition is None:
        return None
    for variable in dict.fromkeys(named_in(walk(loop.condition))):
        if scene.is_own_integer(variable):
            found = _count(scene, loop, variable)
            if found is not None:
                return found
    return None


def _count(scene: RegionScene, loop: c.For | c.While, variable: Variable) -> Count | None:
    start, step = (loop.start, loop.step) if isinstance(loop, c.For) else (None, None)
    condition = loop.condition
    assert condition is not None
    parts = [part for part in (step, condition, loop.body) if part is not None]
    changes = [
        node
        for part in parts
        for node in walk(part)
        if not isinstance(node, CStatement) and assigned_variable(node) is variable
    ]
    first = _start(scene, start, variable)
    if first is None or len(changes) != 1 or any(_declares(part, variable) for part in parts):
        return None
    (change,) = changes
    amount = step_amount(change, variable)
    if not amount:
        return None
    if step is not None and bare(step) is change:
        return Count(variable, change, "header", amount, first)
    if any(node is change for node in walk(condition)):
        is_late = isinstance(loop, c.While) and loop.is_late
        is_plain = step is None and not is_late and isinstance(change, c.Unary)
        return Count(variable, change, "condition", amount, first) if is_plain else None
    statement = _at_top(loop.body, change)
    if statement is None or step is not None:
        return None
    return Count(variable, change, "body", amount, first, statement)


def _declares(part: Node, variable: Variable) -> bool:
    return any(isinstance(node, c.Declare) and variable in node.variables for node in walk(part))


def _start(scene: RegionScene, start: c.Declare | c.Evaluate | None, variable: Variable) -> str | None:
    """The value before the loop as C; None if the loop begins with something else."""
    match start:
        case None:
            return variable.name
        case c.Evaluate(expression=c.Assign(operator="=", target=target, value=value)):
            if getattr(bare(target), "variable", None) is variable:
                return TreeText(scene.text).expression(value)
            return None
        case c.Declare(variables=(declared,)) if declared is variable and declared.initial is not None:
            return TreeText(scene.text).expression(declared.initial)
        case _:
            return None


def step_amount(change: Node, variable: Variable) -> int:
    """By how much a node changes a variable; 0 if not by a constant."""
    match change:
        case c.Unary(operator="x++" | "++" | "x--" | "--" as operator):
            return 1 if "+" in operator else -1
        case c.Assign(operator="+=" | "-=" as operator, value=value):
            return _constant(value) * (1 if operator == "+=" else -1)
        case c.Assign(operator="=", value=value):
            inner = bare(value)
            if isinstance(inner, c.Binary) and inner.operator in ("+", "-"):
                left, right = bare(inner.left), bare(inner.right)
                sign = 1 if inner.operator == "+" else -1
                if getattr(left, "variable", None) is variable:
                    return sign * _constant(right)
                if sign > 0 and getattr(right, "variable", None) is variable:
                    return _constant(left)
            return 0
        case _:
            return 0


def _constant(value: Expression) -> int:
    inner = bare(value)
    if isinstance(inner, c.Unary) and inner.operator == "-":
        return -_constant(inner.operand)
    return inner.value if isinstance(inner, c.Number) and inner.value < 1 << 30 else 0


def _at_top(body: CStatement, change: Node) -> CStatement | None:
    """The statement of a body that makes a change in every turn, if it is one that every turn comes to."""
    if not isinstance(body, c.Block):
        return body if isinstance(body, c.Evaluate) and bare(body.expression) is change else None
    for statement in body.statements:
        if isinstance(statement, c.Evaluate) and bare(statement.expression) is change:
            return statement
        if "continue" in jumps_out(statement):
            return None
    return None


def own_breaks(statement: CStatement) -> Iterator[c.Jump]:
    """The break statements in the body of a loop that end it."""
    match statement:
        case c.Jump(what="break"):
            yield statement
        case c.For() | c.While() | c.Switch():
            return
        case _:
            for child in children(statement):
                if isinstance(child, CStatement):
                    yield from own_breaks(child)


# ---------------------------------------------------------------- conditions


@dataclass(frozen=True, eq=False)
class Limit:
    """`i < limit`, `i > limit` or `i != limit`, with a limit that the loop does not change.

    is_beyond  it lies beyond a value of the program, so that it may be more than its type can hold
    """

    operator: str
    limit: str
    comparison: Expression
    is_beyond: bool = False


def limit_of(scene: RegionScene, condition: Expression, count: Count, loop: c.For | c.While) -> Limit | None:
    """The comparison of what is counted with a value that stays, if that is what a condition is.

    What is counted is the value before the change, also where the condition makes that.
    """
    inner = bare(condition)
    if _is_count(inner, count):
        last = -count.amount if count.is_early else 0
        return Limit("!=", str(last), condition) if last >= 0 else None
    if not isinstance(inner, c.Binary) or inner.operator not in _TURNED:
        return None
    operator, left, right = inner.operator, inner.left, inner.right
    if _distance(left, count) is None:
        operator, left, right = _TURNED[operator], right, left
    distance = _distance(left, count)
    if distance is None or not stays(scene, right, loop) or not _fits(right, count):
        return None
    if distance and count.variable.type.kind != "signed":
        return None
    text = f"({TreeText(scene.text).expression(right)})"
    more = (operator == "<=") - (operator == ">=") - distance
    if more:
        text = f"({text} {'+' if more > 0 else '-'} {abs(more)})"
    is_number = isinstance(bare(right), c.Number)
    is_beyond = more * count.amount > 0 and not is_number
    return Limit(operator[0] if operator != "!=" else operator, text, condition, is_beyond)


def _distance(expression: Expression, count: Count) -> int | None:
    """How much is added to what is counted: `i + 3`; None if that is not what the expression is."""
    inner = bare(expression)
    first = count.amount if count.is_early else 0
    if _is_count(inner, count):
        return first
    if isinstance(inner, c.Binary) and inner.operator in ("+", "-") and _is_count(inner.left, count):
        amount = _constant(inner.right)
        return first + (amount if inner.operator == "+" else -amount) if amount else None
    return None


def _is_count(expression: Expression, count: Count) -> bool:
    inner = bare(expression)
    return inner is count.node or (isinstance(inner, c.Reference) and inner.variable is count.variable)


def stays(scene: RegionScene, expression: Expression, loop: c.For | c.While) -> bool:
    """Whether an expression has the same value in every turn of a loop, and behind it."""
    nodes = list(walk(expression))
    changed = set(assigned_in(walk(loop)))
    is_plain = all(
        isinstance(one, c.Number | c.Reference | c.Binary | c.Unary | c.Cast | c.Parentheses | c.Conditional)
        for one in nodes
    )
    return is_plain and all(
        (scene.is_own_integer(one) and one not in changed) or _is_fixed(scene, one) for one in named_in(nodes)
    )


def _is_fixed(scene: RegionScene, variable: Variable) -> bool:
    """Whether an integer from outside of the function changes nowhere in it, and nobody else changes it."""
    nodes = list(walk(scene.region.function.body))
    calls = any(isinstance(one, c.Call) for one in nodes)
    is_scalar = not variable.is_array and not variable.is_pointer and variable not in scene.escaped
    return (
        is_scalar and variable not in set(assigned_in(nodes)) and not (calls and not _is_constant(variable))
    )


def _is_constant(variable: Variable) -> bool:
    return "const" in variable.type.canonical.split()


def _fits(right: Expression, count: Count) -> bool:
    """Whether the comparison is made in the type of what is counted."""
    own, other = count.variable.type, bare(right).type
    if own.bits < 32:
        return False
    if isinstance(bare(right), c.Number):
        return getattr(bare(right), "value", -1) >= 0 and other.bits <= own.bits
    return other.is_integer and other.bits <= own.bits and (other.kind == own.kind or other.bits < own.bits)


def value_behind(count: Count, limit: Limit, start: str, goes_on: str) -> str:
    """The value of what is counted when the comparison fails, as C; an empty text if there is none.

    start    the value before the loop, behind the first turn of a do loop
    goes_on  the comparison with that value; only where it holds nothing overflows that the loop does not
    """
    amount, end = count.amount, limit.limit
    if limit.operator == "!=":
        return end
    if (limit.operator == "<") != (amount > 0):
        return ""
    steps = abs(amount)
    if steps == 1:
        return f"{goes_on} ? {end} : {start}"
    more, first, last = ("+", start, end) if amount > 0 else ("-", end, start)
    return f"{goes_on} ? {start} {more} ({last} - {first} - 1) / {steps} * {steps} {more} {steps} : {start}"


def conjuncts(condition: Expression) -> Sequence[Expression]:
    """The parts of a condition joined by &&, in order."""
    inner = bare(condition)
    if isinstance(inner, c.Binary) and inner.operator == "&&":
        return (*conjuncts(inner.left), *conjuncts(inner.right))
    return (condition,)
