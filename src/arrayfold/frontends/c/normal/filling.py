"""memset to zero and memcpy of arrays as loops over their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText
from arrayfold.c.tree import Expression, Variable, array_access, bare
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.side_effects import effects_of
from arrayfold.frontends.c.normal.texts import TreeText, end_of

_NUMBERS = ("signed", "unsigned", "floating")


def filling_loops(scene: RegionScene) -> Iterator[Rewriting]:
    """Calls of memset with zero, and of memcpy, that fill arrays element by element."""
    for statement in scene.statements():
        if isinstance(statement, c.Evaluate) and statement not in scene.kept:
            try:
                found = _filled(scene, statement)
            except (NotInText, InputError):
                continue
            if found is not None:
                yield found


def _filled(scene: RegionScene, statement: c.Evaluate) -> Rewriting | None:
    call = bare(statement.expression)
    if isinstance(call, c.Cast):
        call = bare(call.operand)
    if not isinstance(call, c.Call) or call.function.has_body or len(call.arguments) != 3:
        return None
    name = call.function.name.removeprefix("__builtin_")
    target = _array(call.arguments[0])
    if name not in ("memset", "memcpy") or target is None or any(map(effects_of, call.arguments)):
        return None
    variable, place = target
    if variable.element.kind not in _NUMBERS:
        return None
    extents = _extents(scene, call.arguments[2], variable, place)
    if extents is None:
        return None
    texts = TreeText(scene.text)
    names = [scene.fresh("k") for _ in extents]
    element = "".join(f"[{one}]" for one in names)
    left = texts.expression(place) + element
    if name == "memset":
        zero = bare(call.arguments[1])
        if not isinstance(zero, c.Number) or zero.value != 0:
            return None
        right = "0"
    else:
        origin = _array(call.arguments[1])
        if origin is None or origin[0] is variable or len(extents) != 1:
            return None
        if _plain(origin[0]) != _plain(variable) or origin[0].rank - _depth(origin[1]) != 1:
            return None
        right = texts.expression(origin[1]) + element
    heads = [
        f"for (int {one} = 0; {one} < {extent}; {one}++)" for one, extent in zip(names, extents, strict=True)
    ]
    start, end = statement.span.start, end_of(scene.text, statement)
    return Rewriting(start, end, (Edit(start, end, f"{' '.join(heads)} {left} = {right};"),))


def _plain(variable: Variable) -> str:
    return " ".join(word for word in variable.element.canonical.split() if word not in ("const", "volatile"))


def _array(argument: Expression) -> tuple[Variable, Expression] | None:
    """The array that an argument is, or of which it is a row."""
    inner = bare(argument)
    while isinstance(inner, c.Cast):
        inner = bare(inner.operand)
    access = array_access(inner)
    if access is None or len(access[1]) >= access[0].rank:
        return None
    return access[0], inner


def _depth(place: Expression) -> int:
    access = array_access(place)
    return 0 if access is None else len(access[1])


def _extents(
    scene: RegionScene, size: Expression, variable: Variable, place: Expression
) -> Sequence[str] | None:
    """How many elements so many bytes are, dimension by dimension; None if that cannot be said."""
    inner = bare(size)
    while isinstance(inner, c.Cast):
        inner = bare(inner.operand)
    left = variable.extents[_depth(place) :]
    if _is_size_of(scene, inner):
        if variable.is_pointer and _depth(place) == 0:
            return None
        text = _measured(scene, inner)
        own = "".join(scene.text.text[place.span.start : place.span.end].split())
        if text != own or any(one is None for one in left):
            return None
        texts = TreeText(scene.text)
        known = [one for one in left if one is not None]
        return [str(one) if isinstance(one, int) else f"({texts.expression(one)})" for one in known]
    if not isinstance(inner, c.Binary) or inner.operator != "*" or len(left) != 1:
        return None
    for measure, count in ((inner.left, inner.right), (inner.right, inner.left)):
        stripped = bare(measure)
        if _is_size_of(scene, stripped):
            text = _measured(scene, stripped)
            names = {variable.element.spelling, _plain(variable), variable.written or ""}
            own = "".join(scene.text.text[place.span.start : place.span.end].split())
            if text in {"".join(one.replace("const ", "").split()) for one in names} | {
                f"{own}[0]",
                f"*{own}",
            }:
                return [f"({TreeText(scene.text).expression(count)})"]
    return None


def _is_size_of(scene: RegionScene, node: Expression) -> bool:
    is_known = isinstance(node, c.Opaque) and node.what == "sizeof" and node.span.is_text
    return is_known and scene.text.plain.startswith("sizeof", node.span.start)


def _measured(scene: RegionScene, node: Expression) -> str:
    """What sizeof measures, without blanks and parentheses around it."""
    text = "".join(scene.text.plain[node.span.start : node.span.end].split()).removeprefix("sizeof")
    match = re.fullmatch(r"\((.*)\)", text)
    return match.group(1) if match else text
