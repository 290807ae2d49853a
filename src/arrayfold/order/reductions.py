"""Reductions that give exactly the same in any order: maxima, minima, bits, and sums of unsigned numbers.

Two updates of one cell such as `if (a > best) best = a` may change places, because nothing else sees the
value in between: what does keeps its dependences with all updates. Sums of floating-point numbers depend on
their order, so do their maxima where some are no numbers; and signed sums may overflow in another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.c.source import CSource, Guard, StatementSource
from arrayfold.c.tree import (
    Assign,
    Binary,
    Cast,
    Conditional,
    CType,
    Evaluate,
    Expression,
    Number,
    Reference,
    Subscript,
    Unary,
    Variable,
    bare,
    walk,
)
from arrayfold.exact.isl import coalesced, maps_of
from arrayfold.exact.relations import union_of_maps
from arrayfold.order.dependences import Dependence, memory_dependences
from arrayfold.program.model import Program

_BITS = frozenset({"|", "&", "^"})
_MODULAR = frozenset({"+", "*"})
_INT_BITS = 32
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Update:
    """A statement that does nothing but bring a value into a cell: `x = x op e`.

    variable   the variable or array of the cell
    operation  what is done, the same for updates that may change places
    condition  the statement that evaluates `e > x` for it, None if it has no such condition
    """

    statement: str
    variable: Variable
    operation: str
    condition: str | None = None


def reorderable_dependences(program: Program) -> tuple[Dependence, ...]:
    """The memory dependences that an order of one instance after the other has to keep.

    Those between different updates of a reduction that is exact in any order are left out. They stand where
    instances run at the same time.
    """
    dependences = memory_dependences(program)
    updates = exact_updates(program)
    if not updates:
        return dependences
    found = [_without_updates(program, dependence, updates) for dependence in dependences]
    return tuple(one for one in found if not one.relation.is_empty())


def exact_updates(program: Program) -> tuple[Update, ...]:
    """The updates of reductions that are exact in any order; guarded ones only where they read conditions."""
    source = program.source
    if source is None or (program.has_guards and not program.evaluates_guards):
        return ()
    if program.relocation.moved is not None or program.relocation.buffers:
        return ()
    return tuple(
        update
        for name, statement in source.statements.items()
        if isinstance(statement.node, Evaluate)
        and (update := _update(source, name, statement, statement.node.expression)) is not None
    )


def exchangeable_updates(program: Program) -> dict[str, frozenset[str]]:
    """Update -> all updates of the same reduction, among which the order does not matter."""
    updates = exact_updates(program)
    return {
        one.statement: frozenset(
            other.statement
            for other in updates
            if other.variable is one.variable and other.operation == one.operation
        )
        for one in updates
    }


def _without_updates(program: Program, dependence: Dependence, updates: Sequence[Update]) -> Dependence:
    assert program.source is not None
    variable = program.source.variables.get(dependence.array)
    mine = [one for one in updates if one.variable is variable]
    groups: dict[str, set[str]] = {}
    for one in mine:
        groups.setdefault(one.operation, set()).update({one.statement, *filter(None, [one.condition])})
    group_of = {name: operation for operation, names in groups.items() for name in names}
    kept: list[isl.Map] = []
    for part in maps_of(dependence.relation):
        ends = [str(part.get_tuple_name(kind)) for kind in (isl.dim_type.in_, isl.dim_type.out)]
        if all(name in group_of for name in ends) and group_of[ends[0]] == group_of[ends[1]]:
            # A condition and what it guards stay together.
            part = _of_one_iteration(part) if ends[0] != ends[1] else None
        if part is not None and not part.is_empty():
            kept.append(part)
    return replace(dependence, relation=coalesced(union_of_maps(program.context.get_space(), kept)))


def _of_one_iteration(pairs: isl.Map) -> isl.Map:
    """The pairs { S[i] -> T[j] } with i = j, in the dimensions that both have."""
    for k in range(min(pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out))):
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


# ---------------------------------------------------------------- what is an update


def _update(source: CSource, name: str, statement: StatementSource, node: Expression) -> Update | None:
    assigned = bare(node)
    if not isinstance(assigned, Assign):
        return None
    target = bare(assigned.target)
    variable = _variable_of(target)
    if variable is None or variable.is_volatile or not _is_integer(variable.element):
        return None
    if target.type.canonical != variable.element.canonical or _mentions_inside(target, variable):
        return None
    guards = [one for one in statement.guards if _mentions(one.condition, variable)]
    if len(guards) > 1:
        return None
    if guards:
        found = _guarded(assigned, target, guards[0])
        is_own = _guards_alone(source, name, guards[0].evaluated)
        return None if found is None or not is_own else Update(name, variable, found, guards[0].evaluated)
    operation = _operation(assigned, target, variable)
    return None if operation is None else Update(name, variable, operation)


def _guards_alone(source: CSource, name: str, condition: str) -> bool:
    """Whether a condition guards nothing but one statement, and nothing else evaluates it."""
    guarded = [
        one
        for one, statement in source.statements.items()
        if any(guard.evaluated == condition for guard in statement.guards)
    ]
    return guarded == [name] and condition not in source.same_conditions and condition not in source.turns


def _guarded(assigned: Assign, target: Expression, guard: Guard) -> str | None:
    """`if (e > x) x = e`."""
    if assigned.operator != "=" or not guard.must_hold:
        return None
    return _extreme(guard.condition, assigned.value, target)


def _operation(assigned: Assign, target: Expression, variable: Variable) -> str | None:
    """`x op= e`, `x = x op e`, `x = e op x` and `x = e > x ? e : x`."""
    if assigned.operator != "=":
        operator = assigned.operator.removesuffix("=")
        return _exact(operator, assigned.value, variable)
    value = bare(assigned.value)
    if isinstance(value, Cast):
        value = bare(value.operand) if value.type.canonical == variable.element.canonical else value
    if isinstance(value, Conditional):
        for new, old in ((value.then, value.otherwise), (value.otherwise, value.then)):
            if _is_same(old, target):
                compared = _extreme(value.condition, new, target)
                negated = new is value.otherwise
                return None if compared is None else _other(compared) if negated else compared
        return None
    if isinstance(value, Binary):
        for old, new in ((value.left, value.right), (value.right, value.left)):
            if _is_same(old, target):
                return _exact(value.operator, new, variable)
    return None


def _other(extreme: str) -> str:
    return "min" if extreme == "max" else "max"


def _exact(operator: str, value: Expression, variable: Variable) -> str | None:
    """The operation, if its result is exact in any order."""
    kind, value = variable.element, bare(value)
    if _mentions(value, variable) or not _is_integer(value.type) or kind.is_boolean:
        return None
    if kind.bits < _INT_BITS or value.type.bits > kind.bits:
        return None
    is_exact = operator in _BITS or (operator in _MODULAR and kind.kind == "unsigned")
    return operator if is_exact else None


def _extreme(condition: Expression, new: Expression, target: Expression) -> str | None:
    """Whether a value that takes the place of another one where a condition holds is the larger one or the
    smaller one of both."""
    compared, new = bare(condition), bare(new)
    variable = _variable_of(target)
    if not isinstance(compared, Binary) or compared.operator not in _SWAPPED or variable is None:
        return None
    if _mentions(new, variable) or not _has_type(new, variable.element):
        return None
    for one, other, operator in (
        (compared.left, compared.right, compared.operator),
        (compared.right, compared.left, _SWAPPED[compared.operator]),
    ):
        if _is_same(one, new) and _is_same(other, target):
            return "max" if operator in (">", ">=") else "min"
    return None


def _variable_of(target: Expression) -> Variable | None:
    """The variable that an element belongs to, if it is named by subscripts alone."""
    while isinstance(target, Subscript):
        target = bare(target.base)
    return target.variable if isinstance(target, Reference) else None


def _mentions(node: Expression, variable: Variable) -> bool:
    return any(isinstance(one, Reference) and one.variable is variable for one in walk(node))


def _mentions_inside(target: Expression, variable: Variable) -> bool:
    """Whether the subscripts of an element depend on the array itself."""
    return sum(isinstance(one, Reference) and one.variable is variable for one in walk(target)) != 1


def _is_integer(kind: CType) -> bool:
    return kind.kind in ("signed", "unsigned") and not kind.is_boolean


def _has_type(value: Expression, kind: CType) -> bool:
    """Whether a value is of a type, so that neither comparing nor keeping it changes it."""
    return value.type.kind == kind.kind and value.type.bits == kind.bits


def _is_same(one: Expression, other: Expression) -> bool:
    """Whether two expressions without effects say the same, variable by variable."""
    one, other = bare(one), bare(other)
    match one, other:
        case Reference(variable=a), Reference(variable=b):
            return a is b
        case Number(value=a), Number(value=b):
            return a == b and one.type.canonical == other.type.canonical
        case Subscript(), Subscript():
            return _is_same(one.base, other.base) and _is_same(one.index, other.index)
        case Unary(), Unary():
            is_pure = one.operator in ("-", "+", "~", "!")
            return is_pure and one.operator == other.operator and _is_same(one.operand, other.operand)
        case Binary(), Binary():
            is_like = one.operator == other.operator
            return is_like and _is_same(one.left, other.left) and _is_same(one.right, other.right)
        case Conditional(), Conditional():
            pairs = zip(_operands(one), _operands(other), strict=True)
            return all(_is_same(a, b) for a, b in pairs)
        case Cast(), Cast():
            return one.type.canonical == other.type.canonical and _is_same(one.operand, other.operand)
        case _:
            return False


def _operands(node: Conditional) -> Iterator[Expression]:
    yield from (node.condition, node.then, node.otherwise)
