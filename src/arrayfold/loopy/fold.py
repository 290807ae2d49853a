"""Temporary arrays of kernels of loopy, folded: new shapes and subscripts in the order that loopy chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.choices import Favor
from arrayfold.base.errors import InputError
from arrayfold.base.optional import optional_module
from arrayfold.exact.signs import is_at_most
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.loopy.expressions import expression_of, with_subscripts
from arrayfold.loopy.read import linearized
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.subscripts import divided_row


@dataclass(frozen=True, eq=False)
class FoldedKernel:
    """A kernel with folded temporaries.

    kernel  a translation unit that is linearized: the folds hold in this order
    result  the folds with their proofs; None if there is no array that could be folded
    kept    temporary arrays that stay, each with the reason
    """

    kernel: Any
    result: FoldResult | None
    kept: Mapping[str, str]


def fold_temporaries(
    kernel: Any,
    temporaries: Sequence[str] = (),
    *,
    method: str = "auto",
    params: Mapping[str, int] | None = None,
    favor: Favor = "size",
    budget: Budget | float | None = None,
) -> Any:
    """A kernel of loopy in which temporary arrays have fewer cells, and which computes the same.

    kernel       what lp.make_kernel() returns; its loops run one after the other
    temporaries  the arrays to fold, an error if one cannot be folded; if none is named, all that can be

    The kernel that is returned is linearized, since folds hold in one order. The other parameters are those
    of fold().
    """
    return fold_kernel(kernel, temporaries, method=method, params=params, favor=favor, budget=budget).kernel


def fold_kernel(
    kernel: Any,
    temporaries: Sequence[str] = (),
    *,
    method: str = "auto",
    params: Mapping[str, int] | None = None,
    favor: Favor = "size",
    budget: Budget | float | None = None,
) -> FoldedKernel:
    """As fold_temporaries(), with the proofs, and with the reasons why other arrays stay."""
    lp: Any = optional_module("loopy", "loopy")
    read = linearized(kernel)
    known: Mapping[str, Any] = read.kernel.temporary_variables
    for name in temporaries:
        if name not in known:
            raise InputError(
                f"kernel {read.kernel.name} has no temporary {name!r}; it has {', '.join(known)}"
            )
        if name in read.refused:
            raise InputError(f"{name} cannot be folded: {read.refused[name]}")
    kept = dict(read.refused)
    if read.program is None:
        return FoldedKernel(read.unit, None, kept)
    chosen = temporaries or [array.name for array in read.program.arrays]
    result = fold(read.program, arrays=list(chosen), method=method, params=params, favor=favor, budget=budget)
    changed: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {}
    arrays = dict(known)
    for one in result.arrays:
        why = _why_kept(one, result)
        if why:
            kept[one.name] = why
            continue
        mapping = one.mapping
        assert isinstance(mapping, ModularMapping)
        changed[one.name], shape = _subscripts(mapping), _shape(mapping)
        arrays[one.name] = _reshaped(known[one.name], shape)
    for name in temporaries:
        if name in kept:
            raise InputError(f"{name} cannot be folded: {kept[name]}")
    instructions = [
        one.with_transformed_expressions(partial(with_subscripts, changed=changed))
        for one in read.kernel.instructions
    ]
    folded = read.kernel.copy(instructions=instructions, temporary_variables=arrays)
    if not all(_is_small(one) for one in result.arrays if one.name in changed):
        folded = folded.copy(index_dtype=lp.to_loopy_type("int64"))
    return FoldedKernel(read.unit.with_kernel(folded), result, kept)


def _why_kept(array: FoldedArray, result: FoldResult) -> str:
    """Why an array stays as it is; nothing if it is folded."""
    if array.name in result.live_in:
        return "it may be read before it is written"
    if not array.shrinks:
        return "all its cells are needed"
    if not isinstance(array.mapping, ModularMapping):
        return "a table of addresses is no subscript"
    try:
        _shape(array.mapping)
        _subscripts(array.mapping)((0,) * len(array.mapping.dimensions))
    except InputError as error:
        return error.message
    return ""


def _is_small(array: FoldedArray) -> bool:
    """Whether no value on the way to a folded subscript is seen to be larger than the array was."""
    mapping, cells = array.mapping, array.conflicts.cells
    assert isinstance(mapping, ModularMapping)
    for k, name in enumerate(mapping.dimensions):
        cells = cells.set_dim_name(isl.dim_type.set, k, name)
    rows = (mapping.row(k) for k in range(len(mapping.moduli)))
    largest = array.original_size
    return all(is_at_most(row, largest, cells) and is_at_most(-row, largest, cells) for row in rows)


def _shape(mapping: ModularMapping) -> tuple[Any, ...]:
    return tuple(expression_of(modulus, {}) for modulus in mapping.moduli) or (1,)


def _subscripts(mapping: ModularMapping) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """From subscripts of the array to those of the folded one."""
    primitives: Any = optional_module("pymbolic.primitives", "loopy")

    def folded(indices: tuple[Any, ...]) -> tuple[Any, ...]:
        names = dict(zip(mapping.dimensions, indices, strict=True))
        return tuple(
            primitives.Remainder(expression_of(divided_row(mapping, k), names), expression_of(modulus, {}))
            for k, modulus in enumerate(mapping.moduli)
        ) or (0,)

    return folded


def _reshaped(array: Any, shape: tuple[Any, ...]) -> Any:
    """The temporary variable with another shape, row after row."""
    lp: Any = optional_module("loopy", "loopy")
    return lp.TemporaryVariable(
        array.name,
        array.dtype,
        shape=shape,
        address_space=array.address_space,
        order="C",
        alignment=array.alignment,
        tags=array.tags,
    )
