"""Mappings that people bring: arrow form, C form, isl maps, folds of other tools, JSON that `fold` prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import islpy as isl

from arrayfold.base.errors import IncompleteMapping, InputError
from arrayfold.base.input_file import read_input, text_of
from arrayfold.base.source_text import SourceText
from arrayfold.exact.formula import Floor, Formula, Remainder
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.formula_parse import read_formula
from arrayfold.exact.isl import image, linear_form, maps_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.exact.signs import is_whole_on
from arrayfold.mapping.foreign import is_fold_notation, merged, read_folds
from arrayfold.mapping.modular import AddressMapping, ModularMapping, RelationMapping, TableMapping
from arrayfold.program.model import Array, Problem, find_array

_CELL = re.compile(r"\s*([A-Za-z_]\w*)\s*\[")
_ARROW = re.compile(r"\[([^\[\]]*)\]\s*->\s*(?:[A-Za-z_]\w*\s*)?\[")


def read_mappings(text: str, problem: Problem) -> list[AddressMapping]:
    """The mappings in a text, in any of the forms that `arrayfold check --mapping` takes.

    `A[t, i] -> [(i - t) mod (2*N - 1)]`, several separated by `;` and optionally inside `[N] -> { ... }`;
    `A[t % 2][i]` as in C, `A[t % 2, i]` as TVM prints it; a fold as Halide, Devito and Exo state it; or the
    name of a `.json` file as `fold --json` prints it.
    """
    if text.strip().endswith(".json"):
        return _from_json(Path(text.strip()), problem)
    source = SourceText.of(text, "--mapping")
    start, end = _inside_of_braces(source)
    parts = [source.slice(a, b) for a, b in _split(source, start, end)]
    stated = [part for part in parts if is_fold_notation(part.value)]
    folds = merged([fold for part in stated for fold in read_folds(part, problem)])
    found: list[AddressMapping] = [_along_dimensions(array, factors, problem) for array, factors in folds]
    found += [_read_one(part, problem) for part in parts if part not in stated]
    if not found:
        raise source.error("expected a mapping, such as A[t, i] -> [t mod 2, i] or A[t % 2][i]")
    return found


def _inside_of_braces(source: SourceText) -> tuple[int, int]:
    opening = re.match(r"\s*(?:\[[^\[\]]*\]\s*->\s*)?\{", source.value)
    if not opening:
        return 0, len(source.value)
    end = source.value.rstrip()
    if not end.endswith("}"):
        raise source.error("the opening brace is never closed", opening.end() - 1)
    return opening.end(), len(end) - 1


def _split(source: SourceText, start: int, end: int) -> Iterable[tuple[int, int]]:
    for match in re.finditer(r"[^;]+", source.value[start:end]):
        if match[0].strip():
            yield start + match.start(), start + match.end()


def _along_dimensions(array: Array, factors: Mapping[int, Formula], problem: Problem) -> ModularMapping:
    """Some dimensions modulo a factor, the others as they are."""
    identity = [[Formula.constant(int(j == k)) for j in range(array.rank)] for k in range(array.rank)]
    rows = [(row, Formula.constant(0), factors.get(k), 1) for k, row in enumerate(identity)]
    return _modular(array, problem, rows)


def _read_one(part: SourceText, problem: Problem) -> AddressMapping:
    cell = _CELL.match(part.value)
    if not cell:
        raise part.error("expected an array name and its indices, such as A[t, i] -> [t mod 2, i]")
    try:
        array = find_array(problem.arrays, cell[1])
    except InputError as error:
        raise part.error(error.message, cell.start(1)) from None
    arrow = _ARROW.match(part.value, cell.end() - 1)
    if not arrow:
        return _read_c_form(part, cell.end() - 1, array, problem)
    names = [name.strip() for name in arrow[1].split(",")] if arrow[1].strip() else []
    if len(names) != array.rank:
        message = f"{array.name} has {array.rank} dimensions, the mapping names {len(names)}"
        raise part.error(message, cell.end() - 1)
    closing = _closing(part, arrow.end() - 1)
    is_plain = all(re.fullmatch(r"[A-Za-z_]\w*'*", name) for name in names) and len(set(names)) == len(names)
    if not is_plain or set(names) & set(problem.parameters) or part.value[closing + 1 :].strip():
        return _read_isl_form(part, array, problem)
    texts = list(_arguments(part, arrow.end(), closing))
    rows = [_read_row(text, names, problem) for text in texts]
    if any(row is None for row in rows):
        return _read_isl_form(part, array, problem)
    return _modular(array, problem, [row for row in rows if row is not None])


def _read_c_form(part: SourceText, start: int, array: Array, problem: Problem) -> ModularMapping:
    """`A[t % 2][i]` or `A[t % 2, i]`: names are those of the array, or one stands in each subscript."""
    texts: list[SourceText] = []
    position = start
    while opening := re.compile(r"\s*\[").match(part.value, position):
        position = _closing(part, opening.end() - 1) + 1
        texts += [_without_prefix(text) for text in _arguments(part, opening.end(), position - 1)]
    if part.value[position:].strip():
        raise part.error("unexpected text after the subscripts", position)
    if not texts and array.rank:
        raise part.error("expected a subscript, such as A[t % 2][i]", start)
    used = [sorted(read_formula(text).names() - set(problem.parameters)) for text in texts]
    names = list(array.dimensions)
    if not {name for group in used for name in group} <= set(names):
        if len(texts) != array.rank or any(len(group) != 1 for group in used):
            hint = f"Write it with an arrow: {array.name}[{', '.join(names)}] -> [...]."
            raise part.error("cannot tell which name is which index", start, hint)
        names = [group[0] for group in used]
    rows = [_read_row(text, names, problem) for text in texts]
    for text, row in zip(texts, rows, strict=True):
        if row is None:
            raise text.error("expected a linear subscript, or one modulo something")
    return _modular(array, problem, [row for row in rows if row is not None])


def _without_prefix(text: SourceText) -> SourceText:
    """`T.floormod(y, 3)` of TVM as `floormod(y, 3)`."""
    prefix = re.search(r"\b(?:T|tir|tvm)\.(?=floormod\b)", text.value)
    if prefix is None:
        return text
    kept = [k for k in range(len(text.value) + 1) if not prefix.start() <= k < prefix.end()]
    value = text.value[: prefix.start()] + text.value[prefix.end() :]
    return SourceText(value, text.file, text.file_text, [text.offsets[k] for k in kept])


def _read_isl_form(part: SourceText, array: Array, problem: Problem) -> AddressMapping:
    """Any relation that isl can read."""
    prefix = f"[{', '.join(problem.parameters)}] -> {{ " if problem.parameters else "{ "
    padding = [part.offsets[0]] * len(prefix)
    offsets = [*padding, *part.offsets, *[part.offsets[-1]] * 2]
    whole = SourceText(f"{prefix}{part.value} }}", part.file, part.file_text, offsets)
    relation = read_isl(isl.UnionMap, whole)
    pieces = [
        piece for piece in maps_of(relation) if piece.domain().get_space().is_equal(array.cells.get_space())
    ]
    if len(pieces) != 1 or not pieces[0].is_single_valued():
        raise part.error(f"expected one address for each cell of {array.name}")
    uncovered = array.cells.intersect_params(problem.context).subtract(pieces[0].domain())
    if not uncovered.is_empty():
        message = f"the mapping gives no address to some cells, for example {uncovered.sample_point()}"
        raise IncompleteMapping(message, part.place())
    return RelationMapping(array.name, pieces[0])


_Row = tuple[list[Formula], Formula, Formula | None, int]


def _read_row(text: SourceText, names: Sequence[str], problem: Problem) -> _Row | None:
    """Coefficients, offset, modulus and divisor of one row; None if it is not of that form."""
    try:
        formula = read_formula(text)
    except InputError:
        if re.search(r"[=<>]|\b(and|or|exists)\b", text.value):
            return None
        raise
    unknown = sorted(formula.names() - set(names) - set(problem.parameters))
    if unknown:
        hint = f"Known are {', '.join([*names, *problem.parameters])}."
        raise text.error(f"unknown name {unknown[0]!r}", text.find(rf"\b{unknown[0]}\b"), hint)
    modulus, divisor = None, 1
    match formula.terms:
        case ((((Remainder(argument, number), 1),), Fraction(numerator=1, denominator=scale)),):
            formula, modulus = argument * Fraction(1, scale), number * Fraction(1, scale)
        case _:
            pass
    if not _is_whole(formula, names, problem) or (modulus and not is_whole_on(modulus, problem.context)):
        hint = "Integer division is written floor(.../2), with an arrow: A[i] -> [floor(i/2)]."
        raise text.error("a subscript must be a whole number for every cell", 0, hint)
    match formula.terms:
        case ((((Floor(argument, number), 1),), Fraction(numerator=1, denominator=1)),) if (
            modulus is not None
        ):
            formula, divisor = argument, number
        case _:
            pass
    linear = formula.coefficients(names)
    if linear is None or (modulus is not None and modulus.names() & set(names)):
        return None
    return linear[0], linear[1], modulus, divisor


def _is_whole(formula: Formula, names: Sequence[str], problem: Problem) -> bool:
    """Whether a subscript is a whole number for all cells and sizes."""
    linear = formula.coefficients(names)
    if formula.is_whole or linear is None:
        return formula.is_whole
    return all(is_whole_on(one, problem.context) for one in (*linear[0], linear[1]))


def _modular(array: Array, problem: Problem, rows: Sequence[_Row]) -> ModularMapping:
    """A row without a modulus keeps its values apart: its modulus is the length that it spans."""
    moduli = [modulus or _span(array, problem, coefficients) for coefficients, _, modulus, _ in rows]
    return ModularMapping.of(
        array.name,
        array.dimensions,
        [coefficients for coefficients, _, _, _ in rows],
        moduli,
        [offset for _, offset, _, _ in rows],
        [divisor for _, _, _, divisor in rows],
    )


def _span(array: Array, problem: Problem, coefficients: Sequence[Formula]) -> Formula:
    if not all(entry.is_constant for entry in coefficients):
        raise InputError(
            "a row whose coefficients contain parameters needs a modulus", hint="As in (N*i + j) mod (N + 1)."
        )
    form = linear_form(array.cells.get_space(), [int(entry.as_number()) for entry in coefficients])
    values = image(array.cells.intersect_params(problem.context), form)
    return extents(values, problem.context)[0][1]


def _arguments(part: SourceText, start: int, end: int) -> Iterable[SourceText]:
    """The texts between commas that stand outside parentheses."""
    depth, begin = 0, start
    for position in range(start, end):
        depth += {"(": 1, ")": -1}.get(part.value[position], 0)
        if part.value[position] == "," and depth == 0:
            yield part.slice(begin, position)
            begin = position + 1
    if part.value[begin:end].strip():
        yield part.slice(begin, end)


def _closing(part: SourceText, opening: int) -> int:
    depth = 0
    for position in range(opening, len(part.value)):
        depth += {"[": 1, "]": -1}.get(part.value[position], 0)
        if depth == 0:
            return position
    raise part.error("the opening bracket is never closed", opening)


def _from_json(path: Path, problem: Problem) -> list[AddressMapping]:
    """The mappings of `fold --json`."""
    if not path.exists():
        raise InputError(f"{path}: cannot be read: there is no such file")
    try:
        data: Any = json.loads(text_of(path, read_input(path)))
    except RecursionError:
        raise InputError(f"{path}: not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {str(error).partition(';')[0]}") from None
    try:
        found = [_from_entry(entry, problem) for entry in cast("list[dict[str, Any]]", data["arrays"])]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: expected the JSON that `arrayfold fold --json` prints") from None
    if not found:
        raise InputError(f"{path}: there is no mapping in it")
    return found


def _from_entry(entry: dict[str, Any], problem: Problem) -> AddressMapping:
    array = find_array(problem.arrays, entry["name"])
    if "table" in entry:
        return _table(array, entry)
    matrix = tuple(tuple(read_formula(x) for x in row) for row in entry["matrix"])
    offset = tuple(read_formula(x) for x in entry["offset"])
    moduli = tuple(read_formula(x) for x in entry["moduli"])
    if not len(matrix) == len(offset) == len(moduli) or any(len(row) != array.rank for row in matrix):
        parts = f"rows of {array.rank} coefficients and as many offsets and moduli"
        raise InputError(f"the mapping of {array.name} needs {parts}")
    divisors = tuple(entry.get("divisors", ()))
    if divisors and not (len(divisors) == len(moduli) and all(type(d) is int and d > 0 for d in divisors)):
        raise InputError(f"the divisors of {array.name} are positive whole numbers, one a row")
    return ModularMapping(array.name, array.dimensions, matrix, offset, moduli, divisors)


def _table(array: Array, entry: dict[str, Any]) -> TableMapping:
    table = tuple((tuple(cell), address) for cell, address in entry["table"])
    params = dict(entry["only_at"])
    numbers = [*params.values(), *(number for cell, address in table for number in (*cell, address))]
    if not all(isinstance(number, int) for number in numbers):
        raise InputError(f"the table of {array.name} needs whole numbers")
    return TableMapping(array.name, array.dimensions, params, table)
