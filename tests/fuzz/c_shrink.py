"""Smaller versions of a random C program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fuzz.c_program import CProgram, Function, all_lines, with_lines_changed, without_parts


def smaller_programs(program: CProgram) -> Iterator[CProgram]:
    """The program with a part left out, the larger parts first. Some of them are no C any more."""
    if len(program.functions) > 1:
        for function in program.functions:
            yield replace(program, functions=(function,))
    if len(program.points) > 1:
        for point in program.points:
            yield replace(program, points=(point,))
    for k, function in enumerate(program.functions):
        for smaller in _smaller_functions(function):
            yield replace(program, functions=(*program.functions[:k], smaller, *program.functions[k + 1 :]))
    for k, line in enumerate(program.head):
        kept = (*program.head[:k], *program.head[k + 1 :])
        names = tuple(name for name in program.names if not re.search(rf"\b{name}\b", line))
        arrays = tuple(one for one in program.globals if not re.search(rf"\b{one[1]}\b", line))
        header = "" if "around.h" in line else program.header
        yield replace(program, head=kept, names=names, globals=arrays, header=header)


def _smaller_functions(function: Function) -> Iterator[Function]:
    for body in without_parts(function.body):
        yield replace(function, body=body)
    for k in range(len(function.parameters)):
        if function.parameters[k].kind != "size":
            yield replace(function, parameters=(*function.parameters[:k], *function.parameters[k + 1 :]))
    for line in dict.fromkeys(all_lines(function.body)):
        for simpler in _simpler_lines(line):
            yield replace(function, body=with_lines_changed(function.body, {line: simpler}))


def _simpler_lines(line: str) -> Iterator[str]:
    """The line with a simpler value, a simpler condition or a plain type."""
    found = re.fullmatch(r"(.*?[^<>=!]) ([-+*]?=) (.*);", line)
    if found and not line.startswith("for"):
        target, operator, value = found.groups()
        if operator != "=":
            yield f"{target} = {value};"
        if value not in ("1", "0"):
            yield f"{target} {operator} 1;"
        for piece in re.split(r" [-+?:^] ", value):
            piece = piece.strip().removeprefix("(")
            if piece != value and piece.count("(") == piece.count(")"):
                yield f"{target} {operator} {piece};"
    found = re.fullmatch(r"if \((.*)\) \{", line)
    if found and " && " in found.group(1):
        parts = found.group(1).split(" && ")
        for k in range(len(parts)):
            yield f"if ({' && '.join([*parts[:k], *parts[k + 1 :]])}) {{"
    plain = re.sub(r"\b(const |unsigned |restrict )", "", line)
    if plain != line:
        yield plain
    plain = re.sub(r"\b(long|short|size_t|ptrdiff_t|idx|u?int\d+_t|unsigned char|unsigned)\b", "int", line)
    if plain != line and not plain.startswith("#"):
        yield plain
