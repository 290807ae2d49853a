"""Where break and continue lead, and a switch as the chain of conditions that it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from arrayfold.c import tree as c
from arrayfold.c.source import CText
from arrayfold.c.tree import CStatement, CType, Expression, Span, children, walk

RANGE = "a range of cases"
_MOST_STATEMENTS = 60
_INT = CType("int", "signed", 32, "int")
_HINT = "End each case with a break, and put case and default directly into the braces of the switch."


def jumps_out(node: CStatement) -> frozenset[str]:
    """The jumps in a statement that lead out of it: break, continue or both."""
    match node:
        case c.Jump(what=what):
            return frozenset([what])
        case c.For() | c.While():
            return frozenset()
        case _:
            inner = (jumps_out(one) for one in children(node) if isinstance(one, CStatement))
            found = reduce(frozenset[str].union, inner, frozenset[str]())
            return found - {"break"} if isinstance(node, c.Switch) else found


def has_jumps(statements: Sequence[CStatement]) -> Iterator[CStatement]:
    """The statements that are no for loops, ifs and blocks, but lead elsewhere or go on for long."""
    nodes = (node for statement in statements for node in walk(statement))
    return (node for node in nodes if isinstance(node, c.While | c.Switch | c.Jump))


def with_late_condition(loop: c.While) -> c.If:
    """`if (condition) ; else break;`, which says when a loop without an iterator goes on."""
    span = replace(loop.condition.span, is_text=False)
    return c.If(span, loop.condition, c.Block(span, ()), c.Jump(span, "break"))


# ---------------------------------------------------------------- switch


@dataclass(frozen=True, eq=False)
class _LabelledStatements:
    """Statements behind one or several labels of a switch."""

    at: int
    constants: tuple[Expression, ...]
    is_default: bool
    statements: tuple[CStatement, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to run."""
        return all(isinstance(one, c.Block) and not one.statements for one in self.statements)

    @property
    def body(self) -> c.Block:
        """What runs, without a break at its end."""
        statements = self.statements
        if statements and isinstance(statements[-1], c.Jump) and statements[-1].what == "break":
            statements = statements[:-1]
        start = min((one.span.start for one in statements), default=self.at)
        return c.Block(Span(start, start, is_text=False), statements)


def as_chain(text: CText, switch: c.Switch) -> CStatement:
    """`if (value == 1 || value == 2) ... else if (value == 3) ... else ...`, default being the last else."""
    groups = _without_fallthrough(text, list(_groups(text, switch)))
    span = replace(switch.value.span, is_text=False)
    others = [group for group in groups if group.is_default]
    chain: CStatement | None = others[0].body if others else None
    for group in reversed([group for group in groups if not group.is_default]):
        tests = [_equals(text, switch.value, constant, span) for constant in group.constants]
        condition = reduce(lambda left, right: c.Binary(span, _INT, "||", left, right), tests)
        chain = c.If(span, condition, group.body, chain)
    if isinstance(chain, c.If):
        return chain
    # Without any constant the value is looked at all the same.
    looked = c.If(span, switch.value, c.Block(span, ()), None)
    return c.Block(span, (looked,) if chain is None else (looked, chain))


def _groups(text: CText, switch: c.Switch) -> Iterator[_LabelledStatements]:
    """The statements of a switch behind their labels."""
    body = switch.body
    statements = body.statements if isinstance(body, c.Block) else (body,)
    for one in statements:
        if isinstance(one, c.OtherStatement) and one.what == RANGE:
            raise text.error(f"{RANGE} cannot be analysed", one.span.start, "Write its values one by one.")
    starts = [k for k, one in enumerate(statements) if isinstance(one, c.Case)]
    if starts[:1] != [0] and statements:
        raise text.error("this statement of a switch stands in front of all cases", statements[0].span.start)
    for start, end in zip(starts, [*starts[1:], len(statements)], strict=False):
        constants: list[Expression] = []
        is_default = False
        first = statements[start]
        while isinstance(first, c.Case):
            is_default |= first.constant is None
            constants += [first.constant] if first.constant is not None else []
            first = first.statement
        inside = (first, *statements[start + 1 : end])
        for node in inside:
            _refuse_inner_cases(text, node)
        yield _LabelledStatements(statements[start].span.start, tuple(constants), is_default, inside)


def _refuse_inner_cases(text: CText, node: CStatement) -> None:
    if isinstance(node, c.Case):
        raise text.error("this case stands inside of another statement", node.span.start, _HINT)
    if not isinstance(node, c.Switch):
        for child in children(node):
            if isinstance(child, CStatement):
                _refuse_inner_cases(text, child)


def _without_fallthrough(text: CText, groups: Sequence[_LabelledStatements]) -> list[_LabelledStatements]:
    """The groups, those without statements together with the ones behind them."""
    found: list[_LabelledStatements] = []
    pending: _LabelledStatements | None = None
    for number, one in enumerate(groups):
        group = one
        if pending is not None:
            constants = (*pending.constants, *group.constants)
            is_default = pending.is_default or group.is_default
            group = replace(group, constants=constants, is_default=is_default)
        is_last = number == len(groups) - 1
        pending = group if group.is_empty and not is_last else None
        if pending is None:
            found.append(replace(group, statements=_with_following(text, groups[number:])))
    return found


def _with_following(text: CText, groups: Sequence[_LabelledStatements]) -> tuple[CStatement, ...]:
    """What runs behind the labels of the first group: its statements, and those that it goes on into."""
    found: tuple[CStatement, ...] = ()
    for group in groups:
        found += group.statements
        if not _may_complete(c.Block(Span(group.at, group.at), found)):
            break
        if len(found) > _MOST_STATEMENTS:
            message = "this case goes on into very many others, which cannot be analysed"
            raise text.error(message, groups[0].at, "End it with a break, or repeat what the next one does.")
    return found


def _may_complete(node: CStatement) -> bool:
    """Whether the text behind a statement may be reached from it."""
    match node:
        case c.Jump():
            return False
        case c.Block(statements=statements):
            return all(map(_may_complete, statements))
        case c.Label(statement=inner):
            return _may_complete(inner)
        case c.If(then=then, otherwise=otherwise) if otherwise is not None:
            return _may_complete(then) or _may_complete(otherwise)
        case _:
            return True


def _equals(text: CText, value: Expression, constant: Expression, span: Span) -> Expression:
    """`value == constant`, with the constant converted to the type of the value."""
    if not value.type.is_integer:
        raise text.error("the value of this switch is not an integer", value.span.start)
    return c.Binary(span, _INT, "==", value, c.Cast(span, value.type, constant, is_implied=True))
