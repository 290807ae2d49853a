"""Random OpenMP tasks with `depend` clauses, of which every execution computes the same."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.c_program import Block, Node
from fuzz.c_scope import Array


def task_region(
    draw: random.Random,
    size: str,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    temporaries: Sequence[Array],
    weight: str,
) -> list[Node]:
    """A loop that makes tasks: each temporary is written and read by tasks that wait for each other.

    All arrays have one dimension with at least `size` + 1 cells.
    """
    source, target = inputs[0].name, outputs[0].name
    body: list[Node] = []
    last = source
    for array in temporaries:
        clauses = f"depend(out: {array.name}[i])"
        value = f"{source}[i] * {weight}"
        if last != source:
            clauses += f" depend(in: {last}[i])"
            value = f"{last}[i] + {value}"
        body += [f"#pragma omp task {clauses}", f"{array.name}[i] = {value};"]
        last = array.name
    if draw.random() < 0.5:
        body += [f"#pragma omp task depend(inout: {last}[i])", f"{last}[i] += {weight};"]
    test = f"{source}[i] > {draw.choice(('1', '0', '40'))}"
    use: list[Node] = [
        f"#pragma omp task depend(in: {last}[i]) depend(out: {target}[i])",
        f"{target}[i] = {last}[i];",
    ]
    if draw.random() < 0.4:
        body.append(Block(f"if ({test}) {{", tuple(use)))
    else:
        body += use
    if draw.random() < 0.4:
        first = temporaries[0].name
        more: list[Node] = [
            f"#pragma omp task depend(in: {first}[i]) depend(out: {target}[i])",
            f"{target}[i] = {first}[i] + {weight};",
        ]
        body += [Block(f"if (i >= {draw.randrange(3)}) {{", tuple(more))]
    if draw.random() < 0.3:
        body.append("#pragma omp taskwait")
    head = f"for (int i = 0; i < {size}; i++) {{"
    return ["#pragma omp parallel", "#pragma omp single", Block(head, tuple(body))]
