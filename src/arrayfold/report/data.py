"""Results as plain data, ready for JSON. The layout of `fold` is a public interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arrayfold.base.installed import __version__
from arrayfold.judge.verify import Counterexample, Proof
from arrayfold.mapping.modular import EmittableMapping, TableMapping
from arrayfold.methods import citation_of
from arrayfold.methods.occupancy_vectors import shortest_occupancy_vector
from arrayfold.program.model import Program
from arrayfold.report.other_tools import in_words_of
from arrayfold.report.words import array_notes, bound_notes, readable_pairs, readable_set
from arrayfold.run.outcome import NotRun, RunReport

if TYPE_CHECKING:
    from arrayfold.base.choices import Tool
    from arrayfold.bounds.moments import LowerBound
    from arrayfold.conflicts.conflicts import Conflicts
    from arrayfold.exact.formula import Formula
    from arrayfold.fold.check import Checked
    from arrayfold.fold.compare import ComparedArray
    from arrayfold.fold.result import FoldedArray, FoldResult
    from arrayfold.program.assumptions import Assumption
    from arrayfold.select.choose import Candidate
    from arrayfold.select.mapping_case import MappingCase
    from arrayfold.sharing.footprint import Footprint
    from arrayfold.validation import Validation


def fold_data(
    results: Sequence[FoldResult],
    runs: Sequence[RunReport | NotRun] = (),
    validation: Validation | None = None,
    *,
    file: str | None = None,
    tool: Tool | None = None,
) -> dict[str, Any]:
    """What `fold --json` prints, as docs/fold.schema.json describes it.

    file  that was read; None for a program that was made otherwise
    tool  in whose words each fold is to be said, too
    """
    arrays = [_folded(result, array) for result in results for array in result.arrays]
    if tool is not None:
        folded = (array for result in results for array in result.arrays)
        arrays = [
            {**data, "as": in_words_of(tool, array)} for data, array in zip(arrays, folded, strict=True)
        ]
    data: dict[str, Any] = {
        "arrays": arrays,
        "version": __version__,
        "file": file,
        "regions": [_region(result) for result in results],
    }
    orders = [
        _order(result) for result in results if isinstance(result.problem, Program) and result.problem.chosen
    ]
    if orders:
        data["orders"] = orders
    footprints = [result.footprint for result in results if result.footprint is not None]
    if footprints:
        data["total"] = [_footprint(one) for one in footprints]
    data["kept"] = [
        {"name": name, "reason": reason, "region": result.problem.name}
        for result in results
        for name, reason in result.kept.items()
    ]
    data["assumptions"] = [
        {**_assumption(one), "region": result.problem.name}
        for result in results
        for one in result.assumptions
    ]
    if any(result.cut_short for result in results):
        data["cut_short"] = {name: why for result in results for name, why in result.cut_short.items()}
    if runs:
        data["runs"] = [_run_data(run) for run in runs]
    if validation is not None:
        data["check"] = {
            "equal": validation.is_equal,
            "sizes": {name: [dict(one) for one in sizes] for name, sizes in validation.compared.items()},
            "unchecked": dict(validation.unchecked),
        }
    return data


def _region(result: FoldResult) -> dict[str, Any]:
    problem = result.problem
    return {
        "name": problem.name,
        "parameters": list(problem.parameters),
        "context": str(problem.context),
        "notes": result.growth,
    }


def _order(result: FoldResult) -> dict[str, Any]:
    assert isinstance(result.problem, Program)
    chosen = result.problem.chosen
    assert chosen is not None
    data: dict[str, Any] = {
        "region": result.problem.name,
        "order": chosen.name,
        "reason": chosen.why,
        "options": list(chosen.options),
        "speed": round(chosen.speed, 3),
    }
    if chosen.measured:
        data["measured"] = [
            {
                "order": one.name,
                "options": list(one.options),
                "seconds": one.seconds,
                "bytes": one.size_bytes,
                "original": one.is_original,
                "reason": one.reason,
            }
            for one in chosen.measured
        ]
    return data


def _assumption(one: Assumption) -> dict[str, Any]:
    return {
        "text": one.text,
        "reason": one.reason,
        "file": None if one.place is None else one.place.file,
        "line": None if one.place is None else one.place.line,
        "set": str(one.where),
    }


def _run_data(run: RunReport | NotRun) -> dict[str, Any]:
    if isinstance(run, NotRun):
        return {"region": run.name, "equal": False, "compared": [], "reason": run.reason}
    original, folded = run.peaks
    return {
        "region": run.name,
        "at": dict(run.sizes),
        "equal": run.is_equal,
        "original_bytes": run.array_bytes,
        "folded_bytes": run.folded_bytes,
        "original_peak_bytes": original,
        "folded_peak_bytes": folded,
        "sanitized": run.is_sanitized,
        **(
            {}
            if run.seconds is None
            else {"original_seconds": run.seconds[0], "folded_seconds": run.seconds[1]}
        ),
        "compared": [
            {"at": dict(one.sizes), "equal": one.is_equal, "problem": one.problem or None}
            for one in (run.first, *run.others)
        ],
    }


def _footprint(footprint: Footprint) -> dict[str, Any]:
    data: dict[str, Any] = {
        "size": str(footprint.after),
        "original_size": str(footprint.before),
        **_bound(footprint.bound),
        "optimal": footprint.is_least,
        "blocks": [
            {
                "name": block.name,
                "size": str(block.size),
                "offsets": {name: str(offset) for name, offset in block.offsets.items()},
            }
            for block in footprint.blocks
        ],
    }
    if footprint.is_sized and footprint.params:
        data["at"] = {
            **footprint.params,
            "size": footprint.after_here,
            "original_size": footprint.before_here,
            "lower_bound": None if footprint.gap is None else footprint.gap.bound_here,
        }
    return data


def _folded(result: FoldResult, array: FoldedArray) -> dict[str, Any]:
    data: dict[str, Any] = {
        **_proved(array, array.method, array.mapping, array.size, array.is_optimal),
        "region": result.problem.name,
        "notes": [*array_notes(result, array), *bound_notes(array.gap)],
        "seconds": round(array.seconds, 6),
        "cases": [_case(case, array) for case in array.cases],
    }
    if array.cut_short:
        data["cut_short"] = array.cut_short
    if array.members:
        data["members"] = [{"name": one.array, **_mapping(one)} for one in array.members]
        for member, cells in zip(data["members"], array.where, strict=False):
            member["where"] = cells
    if array.lower_bound.where is not None:
        data["cells_when"] = str(array.lower_bound.where.gist(array.gap.context))
    if array.gap.words and not (array.gap.is_minimal_everywhere or array.gap.only_here):
        data["optimal_when"] = str(array.gap.minimal_where.gist(array.gap.context))
    if array.smallest_lattice is not None:
        lattice = array.smallest_lattice
        at = [dict(sizes) for sizes in lattice.sizes]
        data["smallest_lattice"] = {"everywhere": lattice.is_everywhere, "at": at, "why": lattice.words}
    if isinstance(array.mapping, TableMapping) and array.lower_bound.clique is not None:
        data["conflicting_cells"] = [list(cell) for cell in array.lower_bound.clique.cells]
    if array.is_sized:
        data["at"] = {
            **array.params,
            "size": array.size_here,
            "original_size": array.original_size_at(array.params),
            "lower_bound": array.gap.bound_here,
        }
    return data


def _case(case: MappingCase, array: FoldedArray) -> dict[str, Any]:
    is_least = array.is_least_case(case)
    return {"when": str(case.when), **_proved(array, "auto", case.mapping, case.size, is_least)}


def _proved(
    array: FoldedArray, method: str, mapping: EmittableMapping, size: Formula, is_optimal: bool
) -> dict[str, Any]:
    return {
        "name": array.name,
        "method": method,
        "mapping": str(mapping),
        **_mapping(mapping),
        "size": str(size),
        "original_size": str(array.original_size),
        **_bound(array.lower_bound),
        "proved": True,
        "optimal": is_optimal,
    }


def _mapping(mapping: EmittableMapping) -> dict[str, Any]:
    if isinstance(mapping, TableMapping):
        return {
            "matrix": [],
            "offset": [],
            "moduli": [],
            "table": [[list(cell), address] for cell, address in mapping.table],
            "only_at": dict(mapping.params),
        }
    return {
        "matrix": [[str(entry) for entry in row] for row in mapping.matrix],
        "offset": [str(entry) for entry in mapping.offset],
        "moduli": [str(entry) for entry in mapping.moduli],
        **({"divisors": list(mapping.divisors)} if mapping.divisors else {}),
    }


def formula_text(formula: Formula | None) -> str | None:
    """A formula as text, if there is one."""
    return None if formula is None else str(formula)


def _bound(bound: LowerBound | None) -> dict[str, Any]:
    """The formula of a bound, and the sizes for which it was shown if these are not all of the context."""
    formula = None if bound is None else bound.formula
    when = None if bound is None or formula is None else bound.when
    data: dict[str, Any] = {"lower_bound": formula_text(formula)}
    return data if when is None else {**data, "lower_bound_when": str(when)}


def compare_data(arrays: list[ComparedArray]) -> dict[str, Any]:
    """What `compare --json` prints."""
    return {
        "arrays": [
            {
                "name": array.conflicts.name,
                "original_size": str(array.conflicts.original_size),
                **_bound(array.lower_bound),
                "methods": [_candidate(candidate, array) for candidate in array.candidates],
            }
            for array in arrays
        ]
    }


def _candidate(candidate: Candidate, array: ComparedArray) -> dict[str, Any]:
    gap = array.gap(candidate)
    if candidate.mapping is None or gap is None:
        return {"method": candidate.method, "proved": False, "reason": candidate.reason}
    return {
        "method": candidate.method,
        **_mapping(candidate.mapping),
        "size": str(gap.size),
        "proved": candidate.is_proved,
        "optimal": gap.is_minimal,
        "seconds": round(candidate.seconds, 6),
        "citation": citation_of(candidate.method),
    }


def check_data(checked: list[Checked]) -> dict[str, Any]:
    """What `check --json` prints."""
    return {"mappings": [_checked(item) for item in checked]}


def _checked(item: Checked) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": item.conflicts.name,
        "mapping": str(item.mapping),
        "valid": item.is_valid if item.summary != "undecided" else None,
        "verdict": item.summary,
        "size": formula_text(item.size),
        **_bound(item.lower_bound),
    }
    if isinstance(item.mapping, TableMapping):
        data["only_at"] = dict(item.mapping.params)
    match item.verdict:
        case Proof(argument, steps):
            data["proof"] = {"argument": argument, "steps": list(steps)}
        case Counterexample(_, params, cells, address):
            data["counterexample"] = {
                "params": dict(params),
                "cells": [list(cell) for cell in cells],
                "address": list(address),
                "story": str(item.clobber) if item.clobber else None,
            }
        case verdict:
            data["reason"] = verdict.reason
    if item.smaller and item.smaller.mapping:
        data["smaller"] = {"method": item.smaller.method, "mapping": str(item.smaller.mapping)}
        data["smaller"]["size"] = str(item.smaller.mapping.size)
    if item.cut_short:
        data["cut_short"] = item.cut_short
    if item.shrunk:
        data["shrunk"] = {"mapping": str(item.shrunk), "size": str(item.shrunk.size)}
    return data


def conflicts_data(arrays: list[Conflicts]) -> dict[str, Any]:
    """What `conflicts --json` prints."""
    return {
        "arrays": [
            {
                "name": conflicts.name,
                "context": str(conflicts.context),
                "cells": readable_set(conflicts, conflicts.cells),
                "pairs": readable_pairs(conflicts),
                "differences": readable_set(conflicts, conflicts.differences),
                "reuse": shortest_occupancy_vector(conflicts),
                "notes": list(conflicts.notes),
            }
            for conflicts in arrays
        ]
    }
