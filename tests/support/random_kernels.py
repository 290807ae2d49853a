"""Random Python kernels: expressions over all types of numbers that a kernel may meet."""

from __future__ import annotations

import random

HEAD = """\
import numpy as np

import arrayfold as af


@af.kernel
def kernel(
    f: np.float32, g, p: np.int32, q: np.int64, out, single: np.float32, whole: np.int64, k: int, x: float
):
    n = len(f)
    assert g.shape == (n,) and p.shape == (n,) and q.shape == (n,)
    assert out.shape == (16, n) and single.shape == (16, n) and whole.shape == (16, n)
    for i in range(n):
"""
WHOLE = ("i", "n", "k", "3", "7", "-2", "p[i]", "q[i]", "p[n - 1 - i]")
ANY = ("i", "n", "k", "3", "-2", "0.1", "0.5", "x", "f[i]", "g[i]", "p[i]", "q[i]", "f[n - 1 - i]", "2.5e-3")
DIVISORS = ("2", "3", "5", "-3", "p[i]", "q[i]", "k")
FUNCTIONS = ("np.sqrt", "np.abs", "np.floor", "np.float32", "np.float64", "float", "abs")


def whole(choose: random.Random, depth: int) -> str:
    """An expression of whole numbers."""
    if depth == 0 or choose.random() < 0.15:
        return choose.choice(WHOLE)
    left, right = whole(choose, depth - 1), whole(choose, depth - 1)
    forms = [
        *[f"({left} {choose.choice('+-*')} {right})"] * 5,
        *[f"({left} {choose.choice(['//', '%'])} {choose.choice(DIVISORS)})"] * 3,
        *(f"(-{left})", f"abs({left})", f"({left}) ** {choose.choice('012')}"),
        f"{choose.choice(['min', 'max'])}({left}, {right})",
    ]
    return choose.choice(forms)


def number(choose: random.Random, depth: int) -> str:
    """An expression of any numbers."""
    if depth == 0 or choose.random() < 0.15:
        return choose.choice(ANY)
    left, right = number(choose, depth - 1), number(choose, depth - 1)
    forms = [
        *[f"({left} {choose.choice('+-*/')} {right})"] * 5,
        *(f"(-{left})", f"({left}) ** {choose.choice(['2', '3', '0.5', '-1'])}"),
        f"({left} if {condition(choose, depth - 1)} else {right})",
        f"{choose.choice(['min', 'max'])}({left}, {right})",
        f"{choose.choice(FUNCTIONS)}({left})",
        whole(choose, depth - 1),
    ]
    return choose.choice(forms)


def condition(choose: random.Random, depth: int) -> str:
    """A condition."""
    left, right = number(choose, max(0, depth)), number(choose, max(0, depth))
    plain = f"{left} {choose.choice(['<', '<=', '>', '>=', '==', '!='])} {right}"
    if depth <= 0:
        return plain
    inner = condition(choose, depth - 1)
    return choose.choice(
        [plain, plain, f"({plain} {choose.choice(['and', 'or'])} {inner})", f"not ({inner})", f"0 < {plain}"]
    )


def statement(choose: random.Random, row: int) -> str:
    """An assignment of one of them to an element of a row of a result."""
    target = choose.choice(["out", "single", "whole"])
    value = whole(choose, 3) if target == "whole" else number(choose, 3)
    return f"        {target}[{row}, i] = {value}\n"
