"""Integers that a function sets before its region: what each is when the region begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from arrayfold.c import tree as c
from arrayfold.c.source import Region, assigned_in, changed_operand, variables_with_address
from arrayfold.c.tree import Expression, Variable, bare, declared_in, named_in, walk


def initial_values(region: Region) -> dict[Variable, Expression]:
    """Variable -> what it is declared as, where that is its value when the region begins.

    What it is made of changes nowhere in the function, so it has the same value in the region.
    """
    function = region.function
    nodes = list(walk(function.body))
    if any(isinstance(node, c.Label) or _is_other(node) for node in nodes):
        return {}
    around = [node for node in nodes if node.span.start < region.start < node.span.end]
    if any(isinstance(node, c.Switch) for node in around):
        return {}
    is_repeated = any(isinstance(node, c.For | c.While) for node in around)
    seen = set(variables_with_address(function))
    changed = set(assigned_in(nodes))
    before = changed if is_repeated else _changed_outside(nodes, region)
    fixed = {*function.parameters, *declared_in(nodes)} - changed - seen

    factors = set(_factors(region.nodes()))

    def is_own(variable: Variable) -> bool:
        is_plain = variable.type.is_integer and not variable.is_array and not variable.is_pointer
        is_local = variable.storage == "local" and not variable.is_volatile
        return is_plain and is_local and variable not in seen and variable not in before

    return {
        variable: variable.initial
        for variable in declared_in(nodes)
        if variable.span.start < region.start
        and variable.initial is not None
        and is_own(variable)
        and all(one in fixed and one.storage != "static" for one in named_in(walk(variable.initial)))
        and all(map(_cannot_wrap, walk(variable.initial)))
        and not (_is_quotient(variable.initial) and variable in factors)
    }


def _is_quotient(value: Expression) -> bool:
    return any(isinstance(one, c.Binary) and one.operator in ("/", "%") for one in walk(value))


def _factors(nodes: Iterable[c.Node]) -> Iterator[Variable]:
    """The variables in products with others, such as rows of `half = w / 2` elements in `y*half + x`."""
    for node in nodes:
        if isinstance(node, c.Binary) and node.operator == "*":
            named = [list(named_in(walk(side))) for side in (node.left, node.right)]
            if all(named):
                yield from (one for side in named for one in side)


def _cannot_wrap(node: c.Node) -> bool:
    """Whether a part of a value is computed with signs, or is a number that its type holds."""
    match node:
        case c.Number():
            return True
        case c.Cast(type=kind, operand=operand) if kind.is_integer and kind.bits >= 8:
            is_wider = kind.kind == operand.type.kind == "signed" and kind.bits >= operand.type.bits
            number = bare(operand)
            return is_wider or (isinstance(number, c.Number) and number.value < 1 << (kind.bits - 1))
        case c.Parentheses():
            return True
        case c.Unary(operator="-" | "+") | c.Binary(operator="+" | "-" | "*" | "/" | "%") | c.Reference():
            return node.type.kind == "signed"
        case _:
            return False


def _is_other(node: c.Node) -> bool:
    """Whether a statement may do anything, go elsewhere among others."""
    return isinstance(node, c.OtherStatement) and node.what != "return"


def _changed_outside(nodes: list[c.Node], region: Region) -> set[Variable]:
    """The variables that a function changes outside of the region."""
    found: set[Variable] = set()
    for node in nodes:
        operand = changed_operand(node)
        inner = None if operand is None else bare(operand)
        if isinstance(inner, c.Reference) and not region.holds(node.span.start):
            found.add(inner.variable)
    return found
