"""Random loops and conditions over integers of all types, as C has them."""

from __future__ import annotations

import random

TYPES = (
    *("int", "unsigned", "unsigned char", "signed char", "short", "unsigned short", "long", "unsigned long"),
    *("_Bool", "char"),
)
VALUES = (-3, -1, 0, 1, 2, 5, 9, 17, 127, 130, 200, 255, 256, 300)


def expression(choose: random.Random, names: list[str], depth: int) -> str:
    """An integer expression that is affine as far as it goes."""
    kind = choose.randrange(9) if depth else choose.randrange(3)
    inner = [expression(choose, names, depth - 1) for _ in range(2)] if depth else []
    if kind < 2:
        return choose.choice(names)
    if kind == 2:
        return f"{choose.choice((0, 1, 2, 3, 7, 100, 250))}{choose.choice(('', '', 'u', 'L'))}"
    if kind in (3, 4):
        return f"({inner[0]} {choose.choice('+-')} {inner[1]})"
    if kind == 5:
        return f"({choose.choice(TYPES)}) ({inner[0]})"
    if kind == 6:
        return f"({choose.choice('-~+')}({inner[0]}))"
    if kind == 7:
        return f"({inner[0]} {choose.choice('*/%')} {choose.choice(('2', '3', '4u', '-3'))})"
    return f"({inner[0]} {choose.choice(('<<', '>>'))} {choose.choice((1, 2))})"


def condition(choose: random.Random, names: list[str], depth: int = 2) -> str:
    """A comparison of two expressions, or two of them."""
    if choose.random() < 0.2:
        joined = choose.choice(("&&", "||"))
        return f"({condition(choose, names, 1)} {joined} {condition(choose, names, 1)})"
    compared = choose.choice(("<", "<=", ">", ">=", "==", "!="))
    return f"{expression(choose, names, depth)} {compared} {expression(choose, names, depth)}"


def code(choose: random.Random) -> tuple[str, str]:
    """Parameters and a loop with a condition in it; RUN(x) is the statement."""
    parameters = f"{choose.choice(TYPES)} n, {choose.choice(TYPES)} m"
    iterator = choose.choice(TYPES[:8])
    start, end, step = choose.randrange(4), choose.randrange(4, 20), choose.randrange(1, 4)
    head = choose.choice(
        [
            f"for ({iterator} i = {start}; i < {end}; i += {step})",
            f"for ({iterator} i = {end}; i > {start}; i -= 1)",
            f"for ({iterator} i = {start}; i < {end} && i < n; i++)",
            f"for ({iterator} i = {start}; i <= n - {start} && i < {end}; i++)",
        ]
    )
    local = ""
    names = ["i", "i", "n", "m"]
    if choose.random() < 0.4:
        local = f"{choose.choice(TYPES)} q = {expression(choose, names, 2)}; "
        names.append("q")
        if choose.random() < 0.5:
            local += f"q {choose.choice(('+=', '-='))} {expression(choose, names[:-1], 1)}; "
    test = condition(choose, names)
    return parameters, f"{head} {{ {local}if ({test}) RUN(i); }}"
