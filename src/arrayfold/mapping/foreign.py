"""Folds in the words of Halide, Devito and Exo: a dimension of an array, and how many of its steps are kept.

    blurx.fold_storage(y, 4)                             Halide, C++ or Python
    TimeFunction(name='u', grid=grid, time_order=2)      Devito: the first dimension, time_order + 1 steps
    TimeFunction(name='u', grid=grid, save=Buffer(2))    Devito, a number of steps of its own
    resize_dim(p, 'blurx', 0, 3, 0, fold=True)           Exo

TVM's rolling_buffer says neither; what TVM prints after it, `blurx[y % 3, x]`, is a mapping as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula
from arrayfold.program.model import Array, Problem, find_array

_WORDS = re.compile(r"\b(fold_storage|TimeFunction|resize_dim|rolling_buffer|ring_buffer)\s*\(")
_DEVITO = (
    "name",
    "grid",
    "time_order",
    "space_order",
    "save",
    "dtype",
    "staggered",
    "initializer",
    "allocator",
)
_HALIDE = ("dim", "extent", "fold_forward")
_EXO = ("proc", "buf_cursor", "dim_idx", "size", "offset", "fold")
_TRUE = ("true", "True")
_TRUTH_VALUES = (*_TRUE, "false", "False")
_STEPS_OF_DEVITO = 1  # the time_order of a TimeFunction that does not name one


@dataclass(frozen=True)
class DimensionFold:
    """One dimension of an array kept modulo a factor; a factor of None keeps all of it."""

    array: Array
    dimension: int
    factor: Formula | None
    text: SourceText


def is_fold_notation(text: str) -> bool:
    """Whether a text states a fold in the words of another tool.

    >>> is_fold_notation("blurx.fold_storage(y, 4)"), is_fold_notation("blurx[y % 4][x]")
    (True, False)
    """
    return bool(_WORDS.search(text))


def read_folds(part: SourceText, problem: Problem) -> list[DimensionFold]:
    """The folds that one statement of another tool makes.

    part     one statement, in which `is_fold_notation` finds a word
    problem  names the arrays, their dimensions and the parameters
    """
    word = _WORDS.search(part.value)
    assert word is not None
    if word[1] == "rolling_buffer":
        hint = "Write the subscripts that TVM prints after it, such as blurx[y % 3, x]."
        raise part.error("rolling_buffer does not say how much is kept", word.start(1), hint)
    if word[1] == "ring_buffer":
        hint = "Give the array the loop as a dimension, and fold that."
        raise part.error(
            "ring_buffer copies a Func for steps of a loop, it folds no dimension", word.start(1), hint
        )
    if word[1] == "fold_storage":
        return _halide(part, problem)
    before = re.fullmatch(
        r"\s*(?:([A-Za-z_]\w*)\s*=\s*)?(?:[A-Za-z_]\w*\s*\.\s*)?", part.value[: word.start(1)]
    )
    if before is None:
        raise part.error(f"expected {word[1]}(...) alone, or given a name")
    arguments, end = _arguments(part, word.end() - 1)
    if part.value[end:].strip():
        raise part.error(f"unexpected text after {word[1]}(...)", _next(part, end))
    if word[1] == "TimeFunction":
        return [_devito(part, word.start(1), arguments, before[1], problem)]
    return [_exo(part, word.start(1), arguments, problem)]


def _halide(part: SourceText, problem: Problem) -> list[DimensionFold]:
    """`blurx.fold_storage(y, 4).fold_storage(x, 8, false)`: which way the buffer turns does not matter."""
    name = re.match(r"\s*([A-Za-z_]\w*)\s*", part.value)
    if name is None:
        raise part.error("expected the name of a Func, such as blurx.fold_storage(y, 4)")
    array = _array(part.slice(name.start(1), name.end(1)), problem)
    position, folds = name.end(), list[DimensionFold]()
    while call := re.compile(r"\s*\.\s*([A-Za-z_]\w*)\s*\(").match(part.value, position):
        if call[1] != "fold_storage":
            hint = "Only the fold is asked for: the order of the program stands in the file."
            raise part.error(f"{call[1]} says nothing of a fold", call.start(1), hint)
        arguments, position = _arguments(part, call.end() - 1)
        bound = _bound(part, call.start(1), "fold_storage", arguments, _HALIDE, needed=2)
        if "fold_forward" in bound:
            _truth(bound["fold_forward"])
        folds.append(_fold(array, bound["dim"], bound["extent"], problem))
    if part.value[position:].strip():
        raise part.error("expected .fold_storage(dimension, factor)", _next(part, position))
    return folds


def _devito(
    part: SourceText, start: int, arguments: Sequence[SourceText], variable: str | None, problem: Problem
) -> DimensionFold:
    """`TimeFunction(name='u', time_order=2)` keeps three steps, `save=Buffer(2)` two, `save=nt` all."""
    bound = _bound(part, start, "TimeFunction", arguments, (), needed=0)
    for name, argument in bound.items():
        if name not in _DEVITO:
            hint = "State the number of steps as save=Buffer(3) or time_order=2."
            raise argument.error(
                f"what {name} does to the steps of a TimeFunction is not known here", 0, hint
            )
    if "name" in bound:
        array = _array(_unquoted(bound["name"]), problem)
    elif variable is not None:
        array = _array(part.slice(part.find(variable), part.find(variable) + len(variable)), problem)
    else:
        raise part.error("TimeFunction needs the name of the array: name='u'", start)
    if not array.rank:
        raise part.error(f"array {array.name} has no dimension for time", start)
    saved = bound.get("save")
    if saved is not None and saved.value != "None":
        buffer = re.fullmatch(r"(?:\w+\.)*Buffer\s*\((.*)\)", saved.value, re.DOTALL)
        if buffer is None:
            _factor(_unquoted(saved), problem, allowed=True)
            return DimensionFold(array, 0, None, saved)
        return DimensionFold(
            array, 0, _factor(_trimmed(saved, buffer.start(1), buffer.end(1)), problem), saved
        )
    order = bound.get("time_order")
    if order is None:
        return DimensionFold(array, 0, Formula.constant(_STEPS_OF_DEVITO + 1), part)
    if not re.fullmatch(r"\d{1,6}", order.value):
        raise order.error(f"time_order is a whole number, not {order.value!r}")
    return DimensionFold(array, 0, Formula.constant(int(order.value) + 1), order)


def _exo(part: SourceText, start: int, arguments: Sequence[SourceText], problem: Problem) -> DimensionFold:
    """`resize_dim(p, 'blurx', 0, 3, 0, fold=True)`: a fold leaves the offset out of account."""
    bound = _bound(part, start, "resize_dim", arguments, _EXO, needed=4)
    folds = "fold" in bound and _truth(bound["fold"])
    if not folds:
        hint = "Add fold=True; without it Exo itself shows that every index fits."
        raise part.error("resize_dim without fold=True cuts the dimension, and no cells share", start, hint)
    pattern = _unquoted(bound["buf_cursor"])
    name = re.match(r"[A-Za-z_]\w*", pattern.value)
    array = _array(pattern if name is None else pattern.slice(0, name.end()), problem)
    return _fold(array, _unquoted(bound["dim_idx"]), _unquoted(bound["size"]), problem)


# ---------------------------------------------------------------- parts of a call


def _arguments(part: SourceText, opening: int) -> tuple[list[SourceText], int]:
    """The texts between the commas of a call, and where it ends."""
    depth, begin, quote = 0, opening + 1, ""
    found: list[SourceText] = []
    for position in range(opening, len(part.value)):
        character = part.value[position]
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth == 0 or (depth == 1 and character == ","):
            item = _trimmed(part, begin, position)
            if item.value or character == ",":
                found.append(item)
            begin = position + 1
        if depth == 0:
            return found, position + 1
    raise part.error("the opening parenthesis is never closed", opening)


def _bound(
    part: SourceText,
    start: int,
    function: str,
    arguments: Sequence[SourceText],
    names: Sequence[str],
    *,
    needed: int,
) -> dict[str, SourceText]:
    """Arguments by the names of the parameters; a function without names takes named ones only."""
    found: dict[str, SourceText] = {}
    for k, argument in enumerate(arguments):
        keyword = re.match(r"([A-Za-z_]\w*)\s*=(?!=)\s*", argument.value)
        if keyword is None and k >= len(names):
            raise argument.error(f"{function} takes no argument here: {argument.value or 'nothing'!r}")
        name = names[k] if keyword is None else keyword[1]
        if names and name not in names:
            hint = f"Its parameters are: {', '.join(names)}."
            raise argument.error(f"{function} has no parameter {name!r}", 0, hint)
        found[name] = argument if keyword is None else argument.slice(keyword.end(), len(argument.value))
    for name in names[:needed]:
        if name not in found or not found[name].value:
            hint = f"Its parameters are: {', '.join(names)}."
            raise part.error(f"{function} needs {name}", start, hint)
    return found


def _fold(array: Array, dimension: SourceText, factor: SourceText, problem: Problem) -> DimensionFold:
    return DimensionFold(array, _dimension(array, dimension), _factor(factor, problem), dimension)


def _array(text: SourceText, problem: Problem) -> Array:
    try:
        return find_array(problem.arrays, text.value)
    except InputError as error:
        raise text.error(error.message) from None


def _dimension(array: Array, text: SourceText) -> int:
    """The position of a dimension that is named, or numbered from 0."""
    if text.value in array.dimensions:
        return array.dimensions.index(text.value)
    if re.fullmatch(r"\d{1,6}", text.value) and int(text.value) < array.rank:
        return int(text.value)
    known = ", ".join(array.dimensions)
    hint = "A dimension is named as in the file, or numbered from 0."
    raise text.error(f"array {array.name} has no dimension {text.value!r}; it has: {known}", 0, hint)


def _factor(text: SourceText, problem: Problem, *, allowed: bool = False) -> Formula:
    """How many steps are kept: a positive number, or a formula of the parameters.

    allowed  other names may occur, of which nothing is known
    """
    factor = read_formula(text)
    unknown = sorted(factor.names() - set(problem.parameters))
    if unknown and not allowed:
        known = ", ".join(problem.parameters) or "none"
        place = text.find(rf"\b{re.escape(unknown[0])}\b")
        raise text.error(f"{unknown[0]!r} is not a parameter; the parameters are: {known}", place)
    if not factor.is_whole or (factor.is_constant and factor.as_number() < 1):
        raise text.error(f"a fold keeps a positive whole number of steps, not {factor}")
    return factor


def _truth(text: SourceText) -> bool:
    if text.value not in _TRUTH_VALUES:
        raise text.error(f"expected True or False, found {text.value!r}")
    return text.value in _TRUE


def _unquoted(text: SourceText) -> SourceText:
    """What stands between quotes, or the text itself."""
    quoted = re.fullmatch(r"(['\"])(.*)\1", text.value, re.DOTALL)
    return text if quoted is None else _trimmed(text, quoted.start(2), quoted.end(2))


def _trimmed(text: SourceText, start: int, end: int) -> SourceText:
    """A part without the blanks around it."""
    inside = text.value[start:end]
    first = start + len(inside) - len(inside.lstrip())
    return text.slice(first, max(first, start + len(inside.rstrip())))


def _next(part: SourceText, position: int) -> int:
    rest = part.value[position:]
    return position + len(rest) - len(rest.lstrip())


def merged(folds: Sequence[DimensionFold]) -> list[tuple[Array, Mapping[int, Formula]]]:
    """The factors of each array, by dimension; a dimension is folded once."""
    found: dict[str, tuple[Array, dict[int, Formula]]] = {}
    seen: set[tuple[str, int]] = set()
    for fold in folds:
        _, factors = found.setdefault(fold.array.name, (fold.array, {}))
        if (fold.array.name, fold.dimension) in seen:
            name = fold.array.dimensions[fold.dimension]
            raise fold.text.error(f"{fold.array.name} is folded twice along {name}")
        seen.add((fold.array.name, fold.dimension))
        if fold.factor is not None:
            factors[fold.dimension] = fold.factor
    return list(found.values())
