"""How people get memory for temporaries: a pointer to elements or rows, a test, and free."""

from __future__ import annotations

import random

from fuzz.c_scope import Array

_CALLS = (*("malloc",) * 5, "calloc", "aligned_alloc", "alloca")


def allocation(draw: random.Random, array: Array) -> tuple[list[str], list[str]]:
    """The lines before a region that allocate an array, and those after it that free it."""
    name, kind = array.name, array.type
    extents = [extent.text() for extent in array.extents]
    count = " * ".join(f"({extent})" for extent in extents)
    is_flat = array.is_flat or array.rank == 1
    rows = "" if is_flat else "".join(f"[{extent}]" for extent in extents[1:])
    declarator = f"*{name}" if is_flat else f"(*{name}){rows}"
    sizes = [f"sizeof({kind}) * (size_t)({count})", f"(size_t)({count}) * sizeof({kind})"]
    sizes += [f"(size_t)({count}) * sizeof *{name}"] if is_flat else [f"({extents[0]}) * sizeof *{name}"]
    size = draw.choice(sizes)
    # What is freed must be allocated, wherever the pointers point then.
    match draw.choice(_CALLS[:-1] if array.is_turned else _CALLS):
        case "calloc":
            call = f"calloc((size_t)({count}), sizeof({kind}))"
        case "aligned_alloc":
            call = f"aligned_alloc(64, ({size} + 63) / 64 * 64)"
        case "alloca":
            return [f"{kind} {declarator} = alloca({size} + 0);"], []
        case _:
            call = f"malloc({size})"
    if draw.random() < 0.3:
        call = f"({kind} {'*' if is_flat else f'(*){rows}'}){call}"
    test = draw.choice((f"!{name}", f"{name} == NULL", f"NULL == {name}"))
    # Memory of no bytes may be null.
    failure = f"if ({test} && ({count}) > 0) return;"
    if draw.random() < 0.3:
        lines = [f"{kind} {declarator} = NULL;", f"{name} = {call};"]
    elif draw.random() < 0.3:
        return [f"{kind} {declarator};", f"if (!({name} = {call}) && ({count}) > 0) return;"], [
            f"free({name});"
        ]
    else:
        lines = [f"{kind} {declarator} = {call};"]
    if draw.random() < 0.7:
        lines.append(failure)
    return lines, [
        draw.choice((f"free({name});", f"if ({name}) free({name});", f"free({name}), {name} = NULL;"))
    ]
