"""Rows of arrays by another name: `float *r = t[y]; ... r[x] ...` is `t[y][x]`, and so is `*(t[y] + x)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.calls import only_computes
from arrayfold.c.edits import Edit, NotInText, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import assigned_in, changed_operand
from arrayfold.c.tree import (
    CStatement,
    Expression,
    Node,
    Variable,
    array_access,
    bare,
    children,
    declared_in,
    named_in,
    walk,
)
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText, end_of
from arrayfold.frontends.c.normal.turns import mentions

_ARITHMETIC = (c.Number, c.Reference, c.Parentheses, c.Cast, c.Unary, c.Binary, c.Conditional)
_QUALIFIERS = frozenset(["const", "volatile", "restrict"])


@dataclass(frozen=True, eq=False)
class _Place:
    """A row, or an element of one: `prefix[offset]` if there is an offset.

    names, fields  what it is made of
    """

    prefix: str
    offset: str | None
    names: frozenset[Variable]
    fields: frozenset[str]


@dataclass(frozen=True, eq=False)
class _Setting:
    """A statement that lets a pointer point to a row, and those behind it as long as it does."""

    statement: CStatement
    place: _Place
    following: Sequence[CStatement]


# ---------------------------------------------------------------- pointers to rows


def named_rows(scene: RegionScene) -> Iterator[Rewriting]:
    """Pointers that are nothing but other names for rows of arrays of several dimensions, or structures."""
    plain = scene.region.plain
    scene = scene if plain is None else replace(scene, region=plain)
    declared = declared_in(walk(scene.region.function.body))
    for variable in dict.fromkeys(declared):
        is_own = variable.storage == "local" and variable not in scene.escaped and not variable.is_volatile
        if not is_own or not (variable.is_pointer or variable.is_reference):
            continue
        try:
            found = _without(scene, variable)
        except (NotInText, InputError):
            continue
        if found is not None:
            yield found


def _without(scene: RegionScene, variable: Variable) -> Rewriting | None:
    """The region without a pointer that names rows; None if it may be something else."""
    settings = list(_settings(scene, variable))
    if not settings:
        return None
    left = dict.fromkeys(mentions(scene.region.function.body, variable))
    edits: list[Edit] = []
    for setting in settings:
        if not _stays(setting):
            return None
        for statement in setting.following:
            for node in mentions(statement, variable):
                if node not in left:
                    return None
                edits.append(_use(scene, statement, node, setting.place))
                del left[node]
        if isinstance(setting.statement, c.Evaluate):
            left.pop(mentions(setting.statement, variable)[0], None)
            end = end_of(scene.text, setting.statement)
            edits.append(whole_line(scene.text.text, setting.statement.span.start, end))
    if left:
        return None
    region = scene.region
    start = min(one.statement.span.start for one in settings)
    last = max(end_of(scene.text, ([one.statement, *one.following])[-1]) for one in settings)
    return Rewriting(
        max(start, region.start), min(last, region.end), (*edits, *_without_declaration(scene, variable))
    )


def _settings(scene: RegionScene, variable: Variable) -> Iterator[_Setting]:
    """The statements that set a pointer to a row; none if another one sets it."""
    body = list(walk(scene.region.function.body))
    blocks = [node.statements for node in body if isinstance(node, c.Block)]
    found: list[_Setting] = []
    for statements in blocks:
        places = [(at, _set_by(scene, one, variable)) for at, one in enumerate(statements)]
        sets = [(at, place) for at, place in places if place is not None]
        ends = [*(at for at, _ in sets[1:]), len(statements)][: len(sets)]
        found += [
            _Setting(statements[at], place, statements[at + 1 : end])
            for (at, place), end in zip(sets, ends, strict=True)
        ]
    count = 0 if variable.is_reference else sum(one is variable for one in assigned_in(body))
    count += variable.initial is not None
    return iter(found if len(found) == count else [])


def _set_by(scene: RegionScene, statement: CStatement, variable: Variable) -> _Place | None:
    """What row a statement lets a pointer name."""
    value: Expression | None = None
    match statement:
        case c.Declare(variables=declared) if variable in declared:
            value = variable.initial
        case c.Evaluate(expression=c.Assign(operator="=", target=target, value=assigned)):
            inner = bare(target)
            is_it = isinstance(inner, c.Reference) and inner.variable is variable
            value = assigned if is_it and not variable.is_reference else None
        case _:
            pass
    if value is None or not all(one.span.is_text for one in walk(value)):
        return None
    return _reference_to(scene, value, variable) if variable.is_reference else _row(scene, value, variable)


def _row(scene: RegionScene, value: Expression, variable: Variable) -> _Place | None:
    """The row, or the place in it, that a pointer is set to."""
    inner = bare(value)
    offsets: list[Expression] = []
    while isinstance(inner, c.Binary) and inner.operator == "+" and inner.right.type.is_integer:
        offsets.insert(0, inner.right)
        inner = bare(inner.left)
    if isinstance(inner, c.Unary) and inner.operator == "&" and isinstance(bare(inner.operand), c.Subscript):
        element = bare(inner.operand)
        assert isinstance(element, c.Subscript)
        offsets.insert(0, element.index)
        inner = bare(element.base)
    array, subscripts = _array_of(inner)
    if array is None or array.container or _plain(array.element) != _plain(variable.element):
        return None
    is_name = (
        not offsets and not subscripts and variable.initial is value and variable.at < scene.region.start
    )
    fewest = 1 if is_name or array.element.kind == "other" else 2
    if array.rank < fewest or array.rank - len(subscripts) != variable.rank:
        return None
    return _place(scene, inner, offsets, subscripts)


def _array_of(expression: Expression) -> tuple[Variable | None, Sequence[Expression]]:
    """The array or the field that subscripts apply to, and those that do."""
    subscripts: list[Expression] = []
    inner = bare(expression)
    while isinstance(inner, c.Subscript):
        subscripts.insert(0, inner.index)
        inner = bare(inner.base)
    if isinstance(inner, c.Reference):
        return inner.variable, subscripts
    fields = [one for one in walk(inner) if not isinstance(one, c.Cast | c.Parentheses)]
    is_path = all(isinstance(one, c.Member | c.Reference) for one in fields)
    return (inner.field if isinstance(inner, c.Member) and is_path else None), subscripts


def _reference_to(scene: RegionScene, value: Expression, variable: Variable) -> _Place | None:
    """The element that a reference is another name for."""
    inner = bare(value)
    access = array_access(inner)
    if access is None or _plain(inner.type) != _plain(variable.type):
        return None
    return _place(scene, inner, (), access[1])


def _plain(kind: c.CType) -> str:
    """A type without qualifiers and references."""
    return " ".join(word for word in kind.canonical.replace("&", " ").split() if word not in _QUALIFIERS)


def _place(
    scene: RegionScene, base: Expression, offsets: Sequence[Expression], subscripts: Sequence[Expression]
) -> _Place | None:
    nodes = [node for one in (*subscripts, *offsets) for node in walk(one)]
    is_plain = all(isinstance(one, _ARITHMETIC) for one in nodes)
    changes = any(isinstance(one, c.Unary) and one.operator not in "+-~" for one in nodes)
    names = frozenset(named_in(nodes))
    if not is_plain or changes or not all(map(scene.is_own_integer, names)):
        return None
    text = TreeText(scene.text)
    offset = " + ".join(_term(text.expression(one)) for one in offsets)
    fields = frozenset(one.name for one in walk(base) if isinstance(one, c.Member))
    return _Place(text.expression(base), offset or None, names | {*named_in(walk(base))}, fields)


def _stays(setting: _Setting) -> bool:
    """Whether the names of a row mean the same as long as a pointer names it."""
    nodes = [node for statement in setting.following for node in walk(statement)]
    names = {one.name for one in setting.place.names}
    changed = (changed_operand(node) for node in nodes)
    fields = {inner.name for one in changed if one is not None and isinstance(inner := bare(one), c.Member)}
    if fields & setting.place.fields or (setting.place.fields and any(map(_may_change, nodes))):
        return False
    return setting.place.names.isdisjoint(assigned_in(nodes)) and names.isdisjoint(
        one.name for one in declared_in(nodes)
    )


def _may_change(node: Node) -> bool:
    """Whether a node may change fields that it does not name: a function, or a structure as a whole."""
    if isinstance(node, c.Call):
        return not only_computes(node.function)
    return isinstance(node, c.Assign) and node.target.type.kind == "other"


def _use(scene: RegionScene, statement: CStatement, node: c.Reference, place: _Place) -> Edit:
    """The row where its other name stands; raises where that cannot be written."""
    above = _above(statement, node)
    is_measured = any(isinstance(one, c.Opaque) for one in above)
    if not node.span.is_text or is_measured:
        raise NotInText(scene.text.file)
    start, end = node.span.start, node.span.end
    user = next(
        (one for one in reversed(above) if isinstance(one, Expression) and bare(one) is not node), None
    )
    if isinstance(user, c.Member) and user.is_arrow:
        arrow = scene.text.plain.find("->", end)
        return Edit(start, arrow + 2, f"{place.prefix}[{place.offset or 0}].")
    if place.offset is None:
        return Edit(start, end, place.prefix)
    match user:
        case c.Subscript(index=index) if user.span.is_text and index.span.is_text:
            text = TreeText(scene.text).expression(index)
            text = text if text.isalnum() else f"({text})"
            return Edit(user.span.start, user.span.end, f"{place.prefix}[{place.offset} + {text}]")
        case c.Unary(operator="*") if user.span.is_text:
            return Edit(user.span.start, user.span.end, f"{place.prefix}[{place.offset}]")
        case _:
            return Edit(start, end, f"({place.prefix} + {place.offset})")


def _term(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def _above(tree: Node, node: Node) -> list[Node]:
    """The nodes around a node, outer ones first."""
    for child in children(tree):
        if child is node:
            return [tree]
        if any(one is node for one in walk(child)):
            return [tree, *_above(child, node)]
    return []


def _without_declaration(scene: RegionScene, variable: Variable) -> Iterator[Edit]:
    for node in walk(scene.region.function.body):
        if isinstance(node, c.Declare) and variable in node.variables:
            end = end_of_statement(scene.text.plain, node.span.start) or node.span.end
            yield from removal(scene.text, node, [variable], end)


# ---------------------------------------------------------------- elements without brackets


def bracketed_elements(scene: RegionScene) -> Iterator[Rewriting]:
    """`*(t[i] + j)` and `*t[i]` of arrays of several dimensions, as `t[i][j]` and `t[i][0]`."""
    for node in scene.region.nodes():
        if not isinstance(node, c.Unary) or node.operator != "*" or not node.span.is_text:
            continue
        inner, index = bare(node.operand), "0"
        if isinstance(inner, c.Binary) and inner.operator == "+" and inner.right.type.is_integer:
            if not all(one.span.is_text for one in walk(inner)):
                continue
            inner, index = bare(inner.left), TreeText(scene.text).expression(inner.right)
        access = array_access(inner)
        if access is None or not inner.span.is_text:
            continue
        array, subscripts = access
        if array.rank >= 2 and len(subscripts) < array.rank and not array.container:
            text = f"{TreeText(scene.text).expression(inner)}[{index}]"
            yield Rewriting(node.span.start, node.span.end, (Edit(node.span.start, node.span.end, text),))
