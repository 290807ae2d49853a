"""Cells that OpenMP's depend clauses name, in terms of the folded arrays.

Equal cells have equal addresses, so every dependence stays; cells that share an address may add some, between
tasks that the proof found ordered anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from arrayfold.c.arithmetic import parenthesised
from arrayfold.c.edits import Edit
from arrayfold.c.source import CSource
from arrayfold.codegen.storage import Storage

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_DEPEND = re.compile(r"\bdepend\s*\(((?:[^()]|\([^()]*\))*)\)")


def depend_edits(source: CSource, storages: Sequence[Storage]) -> list[Edit]:
    """What changes in the depend clauses of a region whose loops are kept."""
    by_name = {storage.variable.name: storage for storage in storages}
    edits: list[Edit] = []
    region = source.text.plain[source.region.start : source.region.end]
    for pragma in _PRAGMA.finditer(region):
        for clause in _DEPEND.finditer(pragma.group()):
            start = source.region.start + pragma.start() + clause.start(1)
            edits += _renamed_cells(clause.group(1), start, by_name)
    return edits


def _renamed_cells(listed: str, start: int, by_name: dict[str, Storage]) -> Iterator[Edit]:
    for match in re.finditer(r"\b([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)+)", listed):
        storage = by_name.get(match.group(1))
        # A section has no others in common with it but the same one: its first element stands for it.
        subscripts = [part.partition(":")[0] for part in re.findall(r"\[([^\[\]]*)\]", match.group(2))]
        subscripts = [part if part.strip() else "0" for part in subscripts]
        if storage is not None and len(subscripts) == storage.variable.rank:
            yield Edit(start + match.start(), start + match.end(), _element(storage, subscripts))


def _element(storage: Storage, subscripts: Sequence[str]) -> str:
    """The element for any cell, also for one that is never accessed."""
    factors = [f"(long long){parenthesised(text.strip())}" for text in subscripts]
    rows = [replace(row, wrap="any").text(factors, storage.parameter) for row in storage.layout.rows]
    return storage.indexed(rows)
