"""The same programs with sizes in a structure, with calls of functions, and without pragmas."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from fuzz.c_program import Block, CProgram, Function, Node, Parameter, all_lines, with_lines_changed

_PRAGMAS = ("#pragma scop", "#pragma endscop")
_SHARE = 0.12


def in_other_forms(program: CProgram, seed: int) -> CProgram:
    """The program in forms that are drawn for it: the same values, computed in the same order."""
    draw = random.Random(seed ^ 0x5EED)
    if draw.random() < _SHARE:
        program = with_calls(program, draw)
    if draw.random() < _SHARE:
        program = with_sizes_in_a_structure(program, is_pointer=draw.random() < 0.7)
    if draw.random() < _SHARE:
        program = without_pragmas(program)
    return program


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


# ------------------------------------------------------------------- structures


def with_sizes_in_a_structure(program: CProgram, *, is_pointer: bool) -> CProgram:
    """The sizes of the function come as fields of a structure, behind a pointer or by value."""
    used = _words("\n".join((*program.head, program.header)))
    if len(program.functions) != 1 or not program.sizes or used & {*program.sizes, "sizes", "s"}:
        return program
    (function,) = program.functions
    sizes = [one for one in function.parameters if one.kind == "size"]
    text = "\n".join([*all_lines(function.body), *(one.spelling for one in function.parameters)])
    if {one.name for one in sizes} != set(program.sizes) or _words(text) & {"s", "sizes"}:
        return program
    if "omp" in text:
        return program
    access = "s->" if is_pointer else "s."
    pattern = re.compile(rf"(?<![\w.>])({'|'.join(map(re.escape, program.sizes))})(?!\w)")
    change = {line: pattern.sub(rf"{access}\1", line) for line in all_lines(function.body)}
    spelling = f"const struct sizes {'*' if is_pointer else ''}s"
    structure = Parameter(
        "pointer" if is_pointer else "structure", "struct sizes", "s", spelling, program.sizes
    )
    others = [
        replace(one, spelling=pattern.sub(rf"{access}\1", one.spelling))
        for one in function.parameters
        if one.kind != "size"
    ]
    kinds = {one.name: one.type for one in sizes}
    fields = " ".join(f"{kinds[name]} {name};" for name in program.sizes)
    new = replace(function, parameters=(structure, *others), body=with_lines_changed(function.body, change))
    return replace(program, head=(*program.head, f"struct sizes {{ {fields} }};"), functions=(new,))


# ------------------------------------------------------------------- calls


def with_calls(program: CProgram, draw: random.Random) -> CProgram:
    """A nest of the region stands in a function of its own."""
    if len(program.functions) != 1:
        return program
    (function,) = program.functions
    if "omp" in program.text or not all(mark in function.body for mark in _PRAGMAS):
        return program
    start, end = (function.body.index(mark) for mark in _PRAGMAS)
    nests = [k for k in range(start, end) if isinstance(function.body[k], Block)]
    draw.shuffle(nests)
    for k in nests:
        found = _outlined(program, function, k)
        if found is not None:
            return found
    return program


def _outlined(program: CProgram, function: Function, number: int) -> CProgram | None:
    nest = function.body[number]
    lines = [*all_lines((nest,))]
    used = _words("\n".join(lines))
    parameters = {one.name: one.spelling for one in function.parameters}
    local: dict[str, str] = {}
    for line in _declarations(function.body[:number]):
        name = re.match(r"[\w ]*?(\w+)((?:\[[^]]*\])*);$", line)
        if name is None:
            return None
        local[name.group(1)] = line.removesuffix(";").removeprefix("static ")
    arrays = {name: text for name, text in local.items() if "[" in text}
    if used & (local.keys() - arrays.keys()) or "part" in used:
        return None
    words = {name: text for name, text in {**parameters, **arrays}.items() if name in used}
    sizes = {
        name: text
        for name, text in parameters.items()
        if name not in words and any(name in _words(other) for other in words.values())
    }
    every = {**sizes, **words}
    order = sorted(every, key=lambda name: "[" in every[name])
    head = ", ".join(every[name] for name in order)
    body = Function("part", "static void", (), (nest,)).lines()[1:]
    helper = (f"static void part({head})", *body)
    call: Node = f"part({', '.join(order)});"
    new = replace(function, body=(*function.body[:number], call, *function.body[number + 1 :]))
    return replace(program, head=(*program.head, *helper), functions=(new,))


def _declarations(nodes: Sequence[Node]) -> list[str]:
    return [
        one
        for one in nodes
        if isinstance(one, str) and not one.startswith("#") and re.match(r"[\w ]+\s\w+(\[|;|\s=)", one)
    ]


# ------------------------------------------------------------------- pragmas


def without_pragmas(program: CProgram) -> CProgram:
    """No pragma marks a region: the options name the function."""
    if len(program.functions) != 1 or "omp" in program.text:
        return program
    (function,) = program.functions
    body = tuple(one for one in function.body if one not in _PRAGMAS)
    return replace(program, functions=(replace(function, body=body),))
