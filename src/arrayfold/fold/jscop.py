"""Files of Polly with the folds of a result, checked before they are written."""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.errors import CheckFailed, InputError
from arrayfold.codegen.jscop import JscopFold, differing_accesses, write_jscop
from arrayfold.fold.result import FoldResult
from arrayfold.program.model import Program


def folded_jscop(file: str, text: str, result: FoldResult, arguments: Sequence[str] = ()) -> str:
    """The text of a file of Polly with the arrays that shrink folded.

    Every read must still get the value of the same writes, which isl's dataflow says of both texts.

    text       of the file as Polly exported it
    arguments  that it was read with
    """
    program = result.problem
    if not isinstance(program, Program) or not program.is_as_written:
        raise InputError(
            f"{file}: a file of Polly keeps its order", hint="Leave out --schedule, --fuse and the like."
        )
    folds = [
        JscopFold(one.name, one.mapping, one.conflicts.cells, one.name in result.live_in)
        for one in result.arrays
        if one.shrinks
    ]
    folded = write_jscop(file, text, folds)
    differing = differing_accesses(file, text, folded, arguments)
    if differing:
        raise CheckFailed(
            f"nothing is written, because {differing[0]} differently in the folded file\n"
            "  This is a defect of arrayfold: please report it, with the file and the command."
        )
    return folded
