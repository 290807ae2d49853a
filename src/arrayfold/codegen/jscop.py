"""Files of Polly with folded arrays: changed accesses, and new arrays where sizes are numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.codegen.same_values import differing_accesses as differing
from arrayfold.exact.isl import fresh_name
from arrayfold.frontends.jscop.read import Jscop, read_jscop
from arrayfold.mapping.modular import EmittableMapping, ModularMapping

_MOST_ON_STACK = 4096


@dataclass(frozen=True, eq=False)
class JscopFold:
    """An array of a file of Polly, and where its cells { A[x] } go.

    reads_before_writes  it may be read before it is written, so that it cannot move
    """

    name: str
    mapping: EmittableMapping
    cells: isl.Set
    reads_before_writes: bool = False


def write_jscop(file: str, text: str, folds: Sequence[JscopFold]) -> str:
    """The text of a file of Polly with folds in it.

    An array of which the mapping is without parameters gets a new array of constant size. Others keep their
    memory and use less of it: new sizes with parameters cannot be imported.
    """
    jscop = Jscop.read(file, text)
    arrays = jscop.arrays()
    new: dict[str, isl.Map] = {}
    made: list[dict[str, Any]] = []
    for fold in folds:
        if fold.reads_before_writes:
            message = f"{fold.name} may be read before it is written, so its cells cannot move"
            raise InputError(message, hint="Leave it out, or initialise it in the SCoP.")
        if fold.name not in arrays:
            raise InputError(f"{file}: {fold.name} is not in the list of arrays, so its type is unknown")
        mapping = _constant(fold)
        if mapping is None:
            new[fold.name] = _inside(fold).set_tuple_name(isl.dim_type.out, fold.name)
            continue
        name = fresh_name(f"{fold.name}_folded", {*arrays, *(one["name"] for one in made)})
        new[fold.name] = mapping.to_isl().set_tuple_name(isl.dim_type.out, name)
        if not mapping.moduli:
            new[fold.name] = isl.Map(f"{{ {fold.name}[{', '.join(mapping.dimensions)}] -> {name}[0] }}")
        sizes = [str(modulus) for modulus in mapping.moduli] or ["1"]
        place = "stack" if int(mapping.size.as_number()) <= _MOST_ON_STACK else "heap"
        kind = jscop.get(arrays[fold.name], "type", str)
        made.append({"allocation": place, "name": name, "sizes": sizes, "type": kind})
    for statement in jscop.statements():
        for access in jscop.accesses(statement):
            relation = isl.Map(access["relation"])
            array = relation.get_tuple_name(isl.dim_type.out)
            if array in new:
                access["relation"] = str(relation.apply_range(new[array]))
    if made:
        jscop.data["arrays"] = [*arrays.values(), *made]
    else:
        # Polly knows its own arrays, and crashes when it imports sizes that are no numbers.
        jscop.data.pop("arrays", None)
    if made and any(not _is_number(size) for one in arrays.values() for size in one.get("sizes", [])):
        raise InputError(
            f"{file}: beside arrays of parametric size Polly imports no new ones",
            hint="Fold those alone, or those of constant size in a function of their own.",
        )
    return json.dumps(jscop.data, indent=3) + "\n"


def _is_number(size: str) -> bool:
    return size == "*" or size.isdecimal()


def _constant(fold: JscopFold) -> ModularMapping | None:
    """The mapping, if there is no parameter in it."""
    mapping = fold.mapping
    if not isinstance(mapping, ModularMapping):
        raise InputError(f"{fold.name}: a table of addresses is not an affine access")
    formulas = (*(one for row in mapping.matrix for one in row), *mapping.offset, *mapping.moduli)
    return mapping if all(one.is_constant for one in formulas) else None


def _inside(fold: JscopFold) -> isl.Map:
    """{ A[x] -> A[y] }: the mapping with addresses that are cells of the array themselves."""
    assert isinstance(fold.mapping, ModularMapping)
    try:
        addresses = fold.mapping.to_isl(fold.cells)
    except NotAffine as error:
        hint = "--method successive-modulo folds dimension by dimension, which is affine."
        raise InputError(f"{fold.name}: {error.message}", hint=hint) from None
    rank, found = fold.cells.dim(isl.dim_type.set), addresses.dim(isl.dim_type.out)
    if found > rank:
        raise InputError(f"{fold.name}: {found} dimensions do not fit into {rank}")
    zeros = ", ".join("0" for _ in range(rank - found))
    everywhere = isl.Map(f"{{ {fold.name}[{', '.join(fold.mapping.dimensions)}] -> [{zeros}] }}")
    inside = everywhere.flat_range_product(addresses).intersect_domain(fold.cells)
    cells = fold.cells.reset_tuple_id()
    for k in range(rank):
        used = inside.range().project_out(isl.dim_type.set, k + 1, rank - k - 1)
        there = cells.project_out(isl.dim_type.set, k + 1, rank - k - 1)
        if k:
            used, there = (one.project_out(isl.dim_type.set, 0, k) for one in (used, there))
        if not used.is_subset(there):
            name = fold.mapping.dimensions[k]
            raise InputError(f"{fold.name}: the folded {name} is outside of the array, whose size stays")
    return inside


# ---------------------------------------------------------------- who reads whose value


def differing_accesses(file: str, before: str, after: str, arguments: Sequence[str]) -> list[str]:
    """Reads that get the value of another write than before, and accesses that are missing, in words.

    before, after  the texts of a file of Polly and of what is to be written
    """
    return differing(read_jscop(file, before, arguments), read_jscop(file, after, arguments))
