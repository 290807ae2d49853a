"""Folds in the words of other tools, or why these words cannot say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arrayfold.base.choices import Tool
from arrayfold.exact.formula import Atom, Extreme, Floor, Formula, Remainder
from arrayfold.fold.result import FoldedArray
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.mapping.subscripts import divided_row, python_text
from arrayfold.report.hardware import hls_words

_ONE = Formula.constant(1)
_BY_DIMENSION = "--method successive-modulo folds dimension by dimension"


class CannotSay(Exception):
    """The words of a tool do not say a fold; the message says why."""


def in_words_of(tool: Tool, array: FoldedArray) -> list[str]:
    """What to write in a tool to get the fold of an array, line by line.

    With sizes for all parameters they are put in.
    """
    mapping: EmittableMapping = array.mapping
    program = array.conflicts.program
    if program is not None and "forall" in program.parallel.values():
        why = "a forall loop reads everything before it writes, which its loops do not"
        return [f"{array.name}: {tool} cannot say this: {why}"]
    if not isinstance(mapping, ModularMapping):
        return [f"{array.name}: {tool} has no words for a table of addresses"]
    if array.is_sized:
        mapping = mapping.at(array.params)
    try:
        return _WRITERS[tool](array, mapping)
    except CannotSay as error:
        return [f"{array.name}: {tool} cannot say this: {error}"]


def folded_dimensions(array: FoldedArray, mapping: ModularMapping) -> dict[int, Formula]:
    """The number of steps that are kept of each dimension that is folded; an error if rows mix dimensions."""
    kept = dict.fromkeys(range(len(mapping.dimensions)), _ONE)
    for k, modulus in enumerate(mapping.moduli):
        used = [j for j, entry in enumerate(mapping.matrix[k]) if entry != Formula.constant(0)]
        is_plain = len(used) == 1 and mapping.matrix[k][used[0]] in (_ONE, -_ONE) and mapping.divisor(k) == 1
        if len(used) > 1:
            names = " and ".join(mapping.dimensions[j] for j in used)
            raise CannotSay(f"row {k + 1} of {mapping} mixes {names}; {_BY_DIMENSION}")
        if not is_plain or kept[used[0]] != _ONE:
            raise CannotSay(f"row {k + 1} of {mapping} is more than a dimension modulo a number of steps")
        kept[used[0]] = modulus
    lengths = [
        length.substitute(array.params) if array.is_sized else length for _, length in array.conflicts.box
    ]
    return {j: factor for j, factor in kept.items() if factor != lengths[j]}


def _halide(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    folds = folded_dimensions(array, mapping)
    calls = "".join(
        f".fold_storage({mapping.dimensions[j]}, {_number(factor, mapping.dimensions[j])})"
        for j, factor in folds.items()
    )
    return [f"{array.name}{calls};" if calls else f"{array.name}: nothing is folded"]


def _exo(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    folds = folded_dimensions(array, mapping)
    return [
        f"p = resize_dim(p, '{array.name}', {j}, {_number(factor, mapping.dimensions[j])}, 0, fold=True)"
        for j, factor in folds.items()
    ] or [f"{array.name}: nothing is folded"]


def _devito(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    folds = folded_dimensions(array, mapping)
    if len(mapping.dimensions) < 2:
        raise CannotSay("a TimeFunction has a dimension of time and at least one of space")
    if not folds:
        steps = array.conflicts.box[0][1]
        length = python_text(steps.substitute(array.params) if array.is_sized else steps)
        return [f"{array.name} = TimeFunction(name='{array.name}', grid=grid, save={length})"]
    if set(folds) != {0}:
        others = ", ".join(mapping.dimensions[j] for j in folds if j)
        raise CannotSay(f"a TimeFunction folds its first dimension alone, and this folds {others}")
    steps = _number(folds[0], mapping.dimensions[0])
    return [f"{array.name} = TimeFunction(name='{array.name}', grid=grid, save=Buffer({steps}))"]


def _number(factor: Formula, dimension: str) -> str:
    if not factor.is_constant:
        raise CannotSay(
            f"{dimension} keeps {factor} steps, which is not a number; say its sizes with --param"
        )
    return str(factor)


def _tvm(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    shape = ", ".join(map(python_text, mapping.moduli)) or "1"
    comma = "," * (len(mapping.moduli) < 2)
    subscripts = mapping.to_python(list(mapping.dimensions))
    return [
        f"{array.name} = T.alloc_buffer(({shape}{comma}))",
        f"{array.name}[{', '.join(mapping.dimensions)}] -> {array.name}{subscripts}",
    ]


def _mlir(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    symbols = sorted(
        {
            name
            for k, modulus in enumerate(mapping.moduli)
            for name in mapping.row(k).names() | modulus.names()
        }
        - set(mapping.dimensions)
    )
    names = {name: f"d{j}" for j, name in enumerate(mapping.dimensions)}
    names |= {name: f"s{j}" for j, name in enumerate(symbols)}
    rows = [
        f"({_affine(divided_row(mapping, k), names)}) mod {_operand(_affine(modulus, names))}"
        for k, modulus in enumerate(mapping.moduli)
    ]
    dimensions = ", ".join(f"d{j}" for j in range(len(mapping.dimensions)))
    parameters = f"[{', '.join(f's{j}' for j in range(len(symbols)))}]" if symbols else ""
    lines = [f"affine_map<({dimensions}){parameters} -> ({', '.join(rows) or '0'})>"]
    lines[0] = f"{array.name}: {lines[0]}"
    if symbols:
        said = ", ".join(f"s{j} = {name}" for j, name in enumerate(symbols))
        lines.append(f"  with {said}; -normalize-memrefs wants numbers: say them with --param")
    return lines


def _operand(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def _affine(formula: Formula, names: Mapping[str, str]) -> str:
    """A formula as a semi-affine expression of MLIR."""
    if formula.denominator > 1:
        raise CannotSay(f"{formula} has a fraction")
    text = ""
    for monomial, coefficient in formula.terms:
        factors = [_affine_atom(atom, names) for atom, power in monomial for _ in range(power)]
        value = int(coefficient)
        number = [str(abs(value))] if abs(value) != 1 or not factors else []
        sign = " - " if value < 0 else " + "
        text += (sign if text else sign.strip(" +")) + " * ".join([*factors, *number])
    return text or "0"


def _affine_atom(atom: Atom, names: Mapping[str, str]) -> str:
    match atom:
        case str():
            return names[atom]
        case Floor(argument, divisor):
            return f"(({_affine(argument, names)}) floordiv {divisor})"
        case Remainder(argument, modulus):
            return f"(({_affine(argument, names)}) mod {_operand(_affine(modulus, names))})"
        case Extreme():
            raise CannotSay(f"an affine_map has no {atom.kind}, as in {atom}; say sizes with --param")


def _hls(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    return hls_words(array, mapping)


_WRITERS: Mapping[Tool, Callable[[FoldedArray, ModularMapping], list[str]]] = {
    "halide": _halide,
    "exo": _exo,
    "devito": _devito,
    "tvm": _tvm,
    "hls": _hls,
    "mlir": _mlir,
}
