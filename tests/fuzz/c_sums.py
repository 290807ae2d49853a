"""Random OpenMP loops with reductions, critical sections, ordered blocks and tasks inside of tasks.

Every execution computes the same: whole numbers are added, of floating ones the largest is taken.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.c_program import Block, Node
from fuzz.c_scope import Array


def sums_region(
    draw: random.Random, size: str, source: str, target: str, table: Array, *, is_floating: bool
) -> list[Node]:
    """A loop over the rows of a temporary: threads fill a row, and then sum up that one or the one before.

    The table has at least `size` + 1 rows and columns, the others have `size` + 1 cells; `sum` is a variable.
    """
    row = _filled(draw, size, source, table.name)
    if draw.random() < 0.3:
        rows: list[Node] = [*_collapsed(draw, size, source, table.name)]
        row = []
    else:
        rows = []
    summed = _summed(draw, size, target, table.name, is_floating=is_floating)
    if draw.random() < 0.3 and row:
        kept = ["#pragma omp parallel", Block("{", (*_in_team(row), *_in_team(summed)))]
        body: list[Node] = ["sum = 0;", *kept, f"{target}[r] = sum;"] if "ordered" not in str(summed) else []
        body = body or [*row, "sum = 0;", *summed, f"{target}[r] = sum;"]
    else:
        body = [*row, "sum = 0;", *summed, f"{target}[r] = sum;"]
    return [*rows, Block(f"for (int r = 0; r < {size}; r++) {{", tuple(body))]


def _in_team(nodes: Sequence[Node]) -> list[Node]:
    """The same loops for the threads of a team that is there."""
    found: list[Node] = []
    for node in nodes:
        if not isinstance(node, str):
            found.append(node)
        elif node != "#pragma omp parallel":
            words = node.replace("parallel for", "for")
            found.append(words.replace(" num_threads(3)", "").replace(" if (1)", ""))
    return found


def _clauses(draw: random.Random) -> str:
    return draw.choice(("", "", " schedule(static, 2)", " schedule(dynamic)", " num_threads(3)", " if (1)"))


def _filled(draw: random.Random, size: str, source: str, table: str) -> list[Node]:
    """The threads fill row r."""
    if draw.random() < 0.25:
        tasks: list[Node] = [
            "#pragma omp task",
            f"{table}[r][i] = {source}[i] + r;",
            "#pragma omp taskwait",
            f"{table}[r][i] += 1;",
        ]
        body = Block(f"for (int i = 0; i < {size}; i++) {{", ("#pragma omp task", Block("{", tuple(tasks))))
        return ["#pragma omp parallel", "#pragma omp single", body]
    simd = draw.choice(("", "", " simd"))
    head = f"for (int i = 0; i < {size}; i++) {{"
    lines: tuple[Node, ...] = (f"int v = {draw.randrange(4)};", f"{table}[r][i] = {source}[i] + v + r;")
    return [f"#pragma omp parallel for{simd}{_clauses(draw)}", Block(head, lines)]


def _collapsed(draw: random.Random, size: str, source: str, table: str) -> list[Node]:
    """The threads fill all rows at once."""
    lines: tuple[Node, ...] = (f"int v = r + {draw.randrange(4)};", f"{table}[r][i] = {source}[i] + v;")
    inner = Block(f"for (int i = 0; i < {size}; i++) {{", lines)
    return [
        f"#pragma omp parallel for collapse(2){_clauses(draw)}",
        Block(f"for (int r = 0; r < {size}; r++) {{", (inner,)),
    ]


def _summed(draw: random.Random, size: str, target: str, table: str, *, is_floating: bool) -> list[Node]:
    """The threads sum up a row."""
    cell = draw.choice(
        (
            f"{table}[r][i]",
            f"{table}[r][{size} - 1 - i]",
            f"(r > 0 ? {table}[r - 1][i] : 1)",
            f"(i > 0 ? {table}[r][i - 1] : {table}[r][i])",
        )
    )
    operator = "max" if is_floating else "+"
    add = f"if ({cell} > sum) sum = {cell};" if is_floating else f"sum += {cell};"
    head = f"for (int i = 0; i < {size}; i++) {{"
    way = draw.choice(("reduction", "reduction", "critical", "atomic", "ordered"))
    if way == "reduction":
        return [f"#pragma omp parallel for reduction({operator} : sum){_clauses(draw)}", Block(head, (add,))]
    if way == "ordered":
        line = f"{target}[i + 1] = {target}[i] / 2 + {cell};"
        lines: tuple[Node, ...] = ("#pragma omp ordered", Block("{", (line,)))
        return [f"#pragma omp parallel for ordered{_clauses(draw)}", Block(head, lines)]
    if way == "atomic" and not is_floating:
        return [f"#pragma omp parallel for{_clauses(draw)}", Block(head, ("#pragma omp atomic", add))]
    lock = draw.choice(("", "(lock)"))
    lines = (f"#pragma omp critical{lock}", Block("{", (add,)))
    return [f"#pragma omp parallel for{_clauses(draw)}", Block(head, lines)]
