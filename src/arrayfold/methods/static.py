"""The fewest addresses of all, at fixed parameter values, as a table (Darte, Isoard, Yuki 2016, Theorem 1).

Cells that may share one address are the chains of the reuse order, so the fewest addresses are the fewest
chains (see `bounds/chain_cover.py`). They follow no formula, so each cell has its address in a table.
"""

from __future__ import annotations

from collections.abc import Sequence

from arrayfold.base.errors import MethodNotApplicable
from arrayfold.bounds.conflict_graph import conflict_graph
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import fix_parameters, parameter_names
from arrayfold.exact.parameter_values import few_parameter_points, smallest_parameters
from arrayfold.mapping.modular import TableMapping
from arrayfold.methods.method import Method, Request


def find_static(conflicts: Conflicts, request: Request) -> Sequence[TableMapping]:
    """The table with the fewest addresses; chains are numbered in the order of their smallest cells."""
    if conflicts.is_assumed:
        raise MethodNotApplicable(
            f"static lists the cells of {conflicts.name}, and the file does not say which there are; "
            f"give them with array = ..."
        )
    params = _fixed_sizes(conflicts, request)
    graph = conflict_graph(conflicts.at(params))
    chains = sorted(sorted(graph.cells[x] for x in chain) for chain in graph.cover.chains)
    table = sorted((cell, address) for address, chain in enumerate(chains) for cell in chain)
    return [TableMapping(conflicts.name, conflicts.array.dimensions, params, tuple(table))]


def _fixed_sizes(conflicts: Conflicts, request: Request) -> dict[str, int]:
    """The one value that the request and the context leave to each parameter; otherwise not applicable."""
    where = conflicts.context.intersect(fix_parameters(request.given))
    if where.is_empty():
        raise MethodNotApplicable(f"{conflicts.name} has no cells at these sizes")
    sizes = few_parameter_points(where, 1)
    if sizes:
        return sizes[0]
    free = [name for name in parameter_names(conflicts.context) if name not in request.given]
    example = " ".join(f"--param {name}={value}" for name, value in smallest_parameters(where).items())
    raise MethodNotApplicable(
        f"static works at fixed sizes, but {' and '.join(free)} may take several values; "
        f"fix them, as in {example}"
    )


METHOD = Method(
    "static",
    "the fewest addresses at fixed sizes, as a table",
    "Darte, Isoard and Yuki 2016, Theorem 1",
    find_static,
    is_general=False,
)
