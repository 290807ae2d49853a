"""Proof that the accesses of a Python kernel stay inside their arrays.

Python counts negative indices from the end and raises an error beyond it; C does neither. So the sizes at
which an access would leave its array are taken out of the context, and where that leaves too little the
kernel is refused at that access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.tree import Reference, Subscript
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.isl import coalesced, coordinate, fix_parameters, parameter_names
from arrayfold.exact.parameter_values import parameter_range, smallest_parameters
from arrayfold.frontends.c.arrays import extent_box
from arrayfold.program.model import Program

_HINT = "Change the bounds of the loop, or say which sizes are meant: assert N >= 3"


def inside_arrays(program: Program, extents: Mapping[str, Sequence[Formula]], rules: isl.Set) -> Program:
    """The program with a context in which no access leaves its array.

    extents  C name of an array -> its lengths
    rules    { : }  what the kernel asserts
    """
    source = program.source
    assert source is not None
    point = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0)
    boxes = {
        name: extent_box(name, [to_pw_aff(extent, point) for extent in extents[variable.name]])
        for name, variable in source.variables.items()
        if variable.name in extents
    }
    start = rules.align_params(program.context.get_space())
    for name in boxes:
        for extent in extents[source.variables[name].name]:
            start = start.intersect(to_pw_aff(extent).pos_set().params())
    known = start
    for relation, offset in _accesses(program):
        array = relation.get_tuple_name(isl.dim_type.out)
        if array in boxes:
            known = _narrowed(program, relation, boxes[array], known, offset)
    _refuse_trifles(program, start, known, boxes)
    context = coalesced(program.context.intersect(known))
    if context.is_empty():
        raise InputError(f"no sizes satisfy what kernel {program.name} asserts and how it uses its arrays")
    return replace(program, context=context)


def _accesses(program: Program) -> Iterator[tuple[isl.Map, int]]:
    """{ S[i] -> A[x] } of every access, and where it stands."""
    assert program.source is not None
    for statement in program.source.statements.values():
        for node, relation in statement.cells.items():
            if isinstance(node, Reference | Subscript):
                yield relation, node.span.start


def _narrowed(program: Program, relation: isl.Map, box: isl.Set, known: isl.Set, offset: int) -> isl.Set:
    """The sizes without those at which an access leaves its array; convex ones if that is possible."""
    reached = relation.intersect_params(known)
    outside = reached.range().subtract(box).params()
    if outside.is_empty():
        return known
    runs = reached.domain().params()
    good = coalesced(runs.subtract(outside))
    if good.is_empty():
        raise _refusal(program, reached, box, offset)
    condition = coalesced(good.gist(runs))
    exact = coalesced(known.subtract(outside))
    return coalesced(known.intersect(condition)) if condition.n_basic_set() == 1 else exact


def _refuse_trifles(program: Program, start: isl.Set, known: isl.Set, boxes: Mapping[str, isl.Set]) -> None:
    """Raise if a size that was free is not any more: then the kernel is wrong, and not the sizes."""
    context = known.intersect(program.context)
    for name in program.parameters:
        if not _is_limited(context, name) or _is_limited(start, name):
            continue
        for relation, offset in _accesses(program):
            array = relation.get_tuple_name(isl.dim_type.out)
            reached = relation.intersect_params(start)
            if array in boxes and _is_limited(start.subtract(_leaves(reached, boxes[array])), name):
                raise _refusal(program, reached, boxes[array], offset)


def _leaves(relation: isl.Map, box: isl.Set) -> isl.Set:
    return relation.range().subtract(box).params()


def _is_limited(context: isl.Set, name: str) -> bool:
    """Whether a parameter has an upper bound that is a number."""
    is_known = name in parameter_names(context)
    return is_known and (context.is_empty() or parameter_range(context, name)[1] is not None)


def _refusal(program: Program, reached: isl.Map, box: isl.Set, offset: int) -> InputError:
    """An error that shows an index outside, at small sizes."""
    assert program.source is not None
    array = box.get_tuple_name()
    outside = reached.range().subtract(box)
    sizes = smallest_parameters(outside.params()) or {}
    point = outside.intersect_params(fix_parameters(sizes)).sample_point()
    index = [coordinate(point, isl.dim_type.set, k) for k in range(box.dim(isl.dim_type.set))]
    where = " at " + ", ".join(f"{name} = {value}" for name, value in sizes.items()) if sizes else ""
    cell = f"{array}[{', '.join(map(str, index))}]"
    if any(number < 0 for number in index):
        message = (
            f"this may be {cell}{where}: negative indices count from the end in Python, which is not analysed"
        )
    else:
        message = f"this leaves the array: it may be {cell}{where}"
    return program.source.text.error(message, offset, _HINT)
