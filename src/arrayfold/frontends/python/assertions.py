"""What a Python kernel asserts of its sizes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from arrayfold.base.errors import InputError
from arrayfold.frontends.python.interface import Interface

_ASSERTED = "only conditions on sizes may be asserted in a kernel"
_ASSERTIONS = "Say assert N >= 3, or assert out.shape == (N, M); check data before the call."
_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}


def read_assertion(interface: Interface, test: ast.expr, *, is_shape: bool) -> None:
    """Equal shapes become the same sizes; all else that is said of sizes becomes a rule."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            read_assertion(interface, part, is_shape=is_shape)
        return
    pairs = _shape_pairs(interface, test)
    if pairs is None:
        if not is_shape:
            interface.rules.append((rule_text(interface, test), test))
        return
    if not is_shape:
        return
    for (array, dimension), right in pairs:
        info = interface.arrays[array]
        assert info.extents is not None
        if isinstance(right, tuple):
            other, number = right
            theirs = interface.arrays[other].extents
            assert theirs is not None
            if theirs[number] is None and info.extents[dimension] is not None:
                theirs[number] = info.extents[dimension]
                continue
            value = interface.extent(other, number, test)
        else:
            value = interface.size(right)
        if info.extents[dimension] is None:
            info.extents[dimension] = value
        elif info.extents[dimension] != value:
            interface.rules.append((f"{info.extents[dimension]} = {value}", test))


Length = tuple[str, int]


def _shape_pairs(interface: Interface, test: ast.expr) -> list[tuple[Length, ast.expr | Length]] | None:
    """The lengths that an assertion makes equal to sizes or other lengths; None if it says other things."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    match left, right:
        case (
            ast.Attribute(value=ast.Name(id=one), attr="shape"),
            ast.Attribute(value=ast.Name(id=other), attr="shape"),
        ) if one in interface.arrays and other in interface.arrays:
            ranks = interface.arrays[one].rank, interface.arrays[other].rank
            if ranks[0] != ranks[1]:
                raise interface.text.error(
                    f"{one} has {ranks[0]} dimensions and {other} has {ranks[1]}", test
                )
            return [((one, k), (other, k)) for k in range(ranks[0])]
        case ast.Attribute(value=ast.Name(id=one), attr="shape"), ast.Tuple(elts=sizes) if (
            one in interface.arrays
        ):
            return [((one, k), size) for k, size in enumerate(sizes)]
        case _:
            pass
    for side, value in ((left, right), (right, left)):
        found = interface.length(side)
        if found is not None:
            return [(found, interface.length(value) or value)]
    return None


def rule_text(interface: Interface, test: ast.expr) -> str:
    """A condition on sizes as isl text."""
    match test:
        case ast.BoolOp(op=operator, values=values):
            word = " and " if isinstance(operator, ast.And) else " or "
            return "(" + word.join(rule_text(interface, value) for value in values) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not ({rule_text(interface, operand)})"
        case ast.Compare(left=left, ops=operators, comparators=others):
            words = [_term(interface, left)]
            for operator, other in zip(operators, others, strict=True):
                if type(operator) not in _RELATIONS:
                    raise interface.text.error("sizes are compared with <, <=, >, >=, == and !=", test)
                words += [_RELATIONS[type(operator)], _term(interface, other)]
            pairs = [" ".join(words[k : k + 3]) for k in range(0, len(words) - 2, 2)]
            return " and ".join(pairs)
        case _:
            raise interface.text.error(_ASSERTED, test, _ASSERTIONS)


def _term(interface: Interface, node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int() as divisor)) if divisor > 0:
            return f"(({_term(interface, left)}) mod {divisor})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as divisor)) if (
            divisor > 0
        ):
            return f"floor(({_term(interface, left)})/{divisor})"
        case _:
            pass
    try:
        return f"({interface.size(node)})"
    except InputError:
        raise interface.text.error(_ASSERTED, node, _ASSERTIONS) from None
