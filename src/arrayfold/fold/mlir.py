"""Modules of MLIR with the folds of results, checked before they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import CheckFailed, InputError
from arrayfold.codegen.mlir import MlirFold, write_mlir
from arrayfold.codegen.same_values import differing_accesses
from arrayfold.fold.against import compare_modules
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.mlir.read import read_mlir
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Program
from arrayfold.validation.sizes import first_sizes

_SIZES = 4


def folded_mlir(file: str, text: str, results: Sequence[FoldResult], *, as_layout: bool = False) -> str:
    """The text of a module of MLIR with the memrefs that shrink folded.

    Every read must still get the value of the same writes, which isl's dataflow says of both texts: for all
    values of the parameters, or at a few where subscripts are not affine for all of them.

    as_layout  the types of memrefs get layout maps, for --normalize-memrefs
    """
    folds: dict[str, list[MlirFold]] = {}
    whole = {one.name: one for one in read_mlir(file, text, with_undefined=True)}
    for result in results:
        program = result.problem
        if not isinstance(program, Program) or not program.is_as_written:
            hint = "Leave out --schedule, --fuse and the like."
            raise InputError(f"{file}: a module of MLIR keeps its order", hint=hint)
        folds[program.name] = [
            MlirFold(
                one.name, one.mapping, program.array(one.name).cells, _accessed(whole[program.name], one.name)
            )
            for one in result.arrays
            if one.shrinks
        ]
    folded = write_mlir(file, text, folds, as_layout=as_layout)
    for result in results:
        _check(file, text, folded, result, folds[result.problem.name])
    return folded


def _check(file: str, text: str, folded: str, result: FoldResult, folds: Sequence[MlirFold]) -> None:
    """Raise where a function of both texts does not do the same."""
    for sizes in _sizes(result, folds) if folds else ():
        old, new = (
            _named(read_mlir(file, one, sizes, with_undefined=True), result.problem.name)
            for one in (text, folded)
        )
        differing = differing_accesses(old, new, is_fresh=True)
        if differing and not _is_equal_when_run(file, text, folded, result.problem.name):
            raise CheckFailed(
                f"nothing is written, because {differing[0]} differently in the folded module\n"
                "  This is a defect of arrayfold: please report it, with the file and the command."
            )


def _is_equal_when_run(file: str, text: str, folded: str, name: str) -> bool:
    """Whether a function does the same when both are executed; isl's dataflow errs now and then."""
    try:
        compared = compare_modules((file, text), (file, folded), {}, Budget(None))
    except InputError:
        return False
    return any(one.function == name and one.verdict == "equal" for one in compared)


def _accessed(program: Program, array: str) -> isl.Set:
    """{ A[x] }: the cells that are read or written."""
    both = program.accesses(writes=True, array=array).union(program.accesses(writes=False, array=array))
    return isl.Set.from_union_set(both.range().intersect_params(program.context))


def _named(programs: Sequence[Program], name: str) -> Program:
    (found,) = (one for one in programs if one.name == name)
    return found


def _sizes(result: FoldResult, folds: Sequence[MlirFold]) -> Iterator[dict[str, int]]:
    """Values of parameters at which both texts are compared; none where they are for all at once."""
    program = result.problem
    assert isinstance(program, Program)
    if all(map(_is_numeric, folds)):
        nothing: dict[str, int] = {}
        return iter([nothing])
    return islice(first_sizes([program.running_sizes()], program.parameters, {}), _SIZES)


def _is_numeric(fold: MlirFold) -> bool:
    """Whether the subscripts are affine whatever the parameters are."""
    mapping = fold.mapping
    assert isinstance(mapping, ModularMapping)
    entries = (*mapping.moduli, *(one for row in mapping.matrix for one in row))
    return all(one.is_constant for one in entries) and all(one.is_affine for one in mapping.offset)
