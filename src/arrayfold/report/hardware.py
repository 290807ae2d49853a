"""What high-level synthesis makes of an array: a FIFO where values come and go in order, banks otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c.arithmetic import formula_text
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.relations import union_of_maps
from arrayfold.fold.result import FoldedArray
from arrayfold.mapping.modular import ModularMapping
from arrayfold.mapping.subscripts import python_text
from arrayfold.order.dataflow import find_flows
from arrayfold.order.events import order_of
from arrayfold.program.model import Program

_MOST_BANKS = 64


def hls_words(array: FoldedArray, mapping: ModularMapping) -> list[str]:
    """A FIFO with its depth, or the folded array with its banks, as pragmas.

    A value is written once and read once, and values are read in the order in which they were written: then a
    FIFO holds them, and no more of them at a time than the proved mapping has addresses.
    """
    program = array.conflicts.program
    name, size = array.name, mapping.size
    if program is not None and is_first_in_first_out(program, name):
        return [f"hls::stream<element_t> {name};", f"#pragma HLS stream variable={name} depth={_size(size)}"]
    shape = "".join(f"[{_size(modulus)}]" for modulus in mapping.moduli) or "[1]"
    lines = [f"element_t {name}{shape};  // {mapping}"]
    banked = [
        k
        for k, modulus in enumerate(mapping.moduli)
        if modulus.is_constant and modulus.as_number() <= _MOST_BANKS
    ]
    lines += [f"#pragma HLS array_partition variable={name} dim={k + 1} complete" for k in banked]
    if program is not None:
        shared = reads_of_one_bank(program, array, mapping, banked)
        if shared is not None:
            lines.append(f"// {shared}")
    return lines


def _size(formula: Formula) -> str:
    """A size in C, without casts where it is a polynomial."""
    is_polynomial = all(isinstance(atom, str) for monomial, _ in formula.terms for atom, _ in monomial)
    return python_text(formula) if is_polynomial and formula.denominator == 1 else formula_text(formula, str)


def is_first_in_first_out(program: Program, name: str) -> bool:
    """Whether every value of an array is read exactly once, in the order in which the values were written."""
    order = order_of(program)
    if not order.is_total or program.schedule is None or program.optional is not None:
        return False
    accesses = [one for statement in program.statements for one in statement.accesses if one.array == name]
    writes = program.accesses(writes=True, array=name).intersect_params(program.context)
    reads = program.accesses(writes=False, array=name).intersect_params(program.context)
    if not all(one.is_must for one in accesses) or not (
        writes.is_single_valued() and reads.is_single_valued()
    ):
        return False
    readers = [one.relation.get_tuple_name(isl.dim_type.in_) for one in accesses if not one.is_write]
    if len(readers) > len(set(readers)):
        return False
    flows = union_of_maps(program.context.get_space(), find_flows(program, order, [name]))
    pairs = flows.intersect_params(program.context).range_factor_domain()
    is_paired = pairs.is_single_valued() and pairs.is_injective()
    is_whole = pairs.domain().is_equal(writes.domain()) and pairs.range().is_equal(reads.domain())
    if not (is_paired and is_whole):
        return False
    written = program.schedule.intersect_domain(pairs.domain())
    read = pairs.apply_range(program.schedule)
    times = written.reverse().apply_range(read)
    if times.is_empty():
        return False
    one = isl.Map.from_union_map(times)
    later = isl.Map.lex_lt(one.get_space().domain())
    swapped = one.reverse().apply_range(later).apply_range(one)
    return bool(swapped.is_subset(isl.Map.lex_lt(one.get_space().range())))


def reads_of_one_bank(
    program: Program, array: FoldedArray, mapping: ModularMapping, banked: Sequence[int]
) -> str | None:
    """Whether reads of one instance meet in a bank, in words; None where that is not known."""
    rows = ModularMapping(
        mapping.array,
        mapping.dimensions,
        tuple(mapping.matrix[k] for k in banked),
        tuple(mapping.offset[k] for k in banked),
        tuple(mapping.moduli[k] for k in banked),
        tuple(mapping.divisor(k) for k in banked),
    )
    try:
        bank = rows.to_isl()
    except NotAffine:
        return None
    same_bank = bank.apply_range(bank.reverse())
    for statement in program.statements:
        reads = [one.relation for one in statement.accesses if one.array == array.name and not one.is_write]
        if not reads:
            continue
        found = reduce(isl.Map.union, reads)
        together = found.reverse().apply_range(found)
        apart = together.subtract(isl.Map.identity(together.get_space()))
        if array.is_sized:
            apart = apart.intersect_params(fix_parameters(array.params))
        if not apart.is_disjoint(same_bank):
            more = "" if banked else "; --method successive-modulo may make banks"
            return f"{statement.name} reads several cells of one bank, which needs as many ports{more}"
    return "the reads of an instance are in different banks"
