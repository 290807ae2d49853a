"""Innermost loops of C code, and whether they compute with modulo."""

from __future__ import annotations

import re


def innermost_loops(code: str) -> list[str]:
    """The texts of for loops with braces that hold no other loop, from the first brace on."""
    code = code[code.index("{") :]
    found: list[str] = []
    for match in re.finditer(r"\bfor \(", code):
        line_end = code.index("\n", match.start())
        if not code[match.start() : line_end].rstrip().endswith("{"):
            found.append(code[match.start() : code.index(";\n", line_end) + 1])
            continue
        start = line_end - 1
        depth, end = 0, start
        while True:
            depth += (code[end] == "{") - (code[end] == "}")
            end += 1
            if depth == 0:
                break
        body = code[start:end]
        if not re.search(r"\b(for|while) \(", body):
            found.append(code[match.start() : end])
    return found


def dividing_loops(code: str) -> list[str]:
    """The innermost loops that have a modulo, or a division in a subscript."""
    return [
        loop
        for loop in innermost_loops(code)
        if "%" in loop or any("/" in subscript for subscript in re.findall(r"\[([^][]*)\]", loop))
    ]
