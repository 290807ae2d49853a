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
    origin: tuple[Variable, Expression] | None = None
    if name == "memcpy":
        origin = _array(call.arguments[1])
        if origin is None or origin[0] is variable or _plain(origin[0]) != _plain(variable):
            return None
        if origin[0].rank - _depth(origin[1]) != variable.rank - _depth(place):
            return None
    extents = _extents(scene, call.arguments[2], [target] if origin is None else [target, origin])
    if extents is None:
        return None
    texts = TreeText(scene.text)
    names = [scene.fresh("k") for _ in extents]
    element = "".join(f"[{one}]" for one in names)
    left = texts.expression(place) + element
    if origin is None:
        zero = bare(call.arguments[1])
        if not isinstance(zero, c.Number) or zero.value != 0:
            return None
        right = "0"
    else:
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
    inner = _without_casts(argument)
    access = array_access(inner)
    if access is None or len(access[1]) >= access[0].rank:
        return None
    return access[0], inner


def _depth(place: Expression) -> int:
    access = array_access(place)
    return 0 if access is None else len(access[1])


def _extents(
    scene: RegionScene, size: Expression, arrays: Sequence[tuple[Variable, Expression]]
) -> Sequence[str] | None:
    """How many elements so many bytes are, dimension by dimension; None if that cannot be said.

    arrays  what is filled, and what it is copied from
    """
    inner = _without_casts(size)
    spelled = [_spelled_extents(scene, *one) for one in arrays]
    if any(one[1:] != spelled[0][1:] for one in spelled) or None in spelled[0][1:]:
        return None
    if _is_size_of(scene, inner):
        measured = _measured(scene, inner)
        for (variable, place), extents in zip(arrays, spelled, strict=True):
            is_whole = not variable.is_pointer or _depth(place) > 0
            if is_whole and _own_text(scene, place) == measured and None not in extents:
                return [one for one in extents if one is not None]
        return None
    counts = _counts(scene, inner, *arrays[0])
    if counts is None:
        return None
    rank = len(spelled[0])
    if rank == 1:
        return [f"({' * '.join(counts)})"]
    return counts if len(counts) == rank and counts[1:] == spelled[0][1:] else None


def _spelled_extents(scene: RegionScene, variable: Variable, place: Expression) -> list[str | None]:
    """The extents of an array, or of a row of it, as texts; None where its declaration does not say one."""
    texts = TreeText(scene.text)
    return [
        None if one is None else str(one) if isinstance(one, int) else _in_parentheses(texts.expression(one))
        for one in variable.extents[_depth(place) :]
    ]


def _in_parentheses(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _counts(scene: RegionScene, size: Expression, variable: Variable, place: Expression) -> list[str] | None:
    """The factors of a number of bytes beside the size of an element; None if that is not among them."""
    own = _own_text(scene, place)
    names = {variable.element.spelling, _plain(variable), variable.written or ""}
    known = {"".join(one.replace("const ", "").split()) for one in names} | {f"{own}[0]", f"*{own}"}
    counts: list[str] = []
    sizes = 0
    for factor in _factors(size):
        if _is_size_of(scene, factor) and _measured(scene, factor) in known:
            sizes += 1
        else:
            counts.append(_in_parentheses(TreeText(scene.text).expression(factor)))
    is_right = sizes == 1 or (sizes == 0 and variable.element.bits == 8)
    return counts if is_right and counts else None


def _factors(size: Expression) -> Iterator[Expression]:
    inner = _without_casts(size)
    if isinstance(inner, c.Binary) and inner.operator == "*":
        yield from _factors(inner.left)
        yield from _factors(inner.right)
    else:
        yield inner


def _without_casts(expression: Expression) -> Expression:
    inner = bare(expression)
    while isinstance(inner, c.Cast):
        inner = bare(inner.operand)
    return inner


def _own_text(scene: RegionScene, place: Expression) -> str:
    return "".join(scene.text.text[place.span.start : place.span.end].split())


def _is_size_of(scene: RegionScene, node: Expression) -> bool:
    is_known = isinstance(node, c.Opaque) and node.what == "sizeof" and node.span.is_text
    return is_known and scene.text.plain.startswith("sizeof", node.span.start)


def _measured(scene: RegionScene, node: Expression) -> str:
    """What sizeof measures, without blanks and parentheses around it."""
    text = "".join(scene.text.plain[node.span.start : node.span.end].split()).removeprefix("sizeof")
    match = re.fullmatch(r"\((.*)\)", text)
    return match.group(1) if match else text
