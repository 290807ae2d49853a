"""The shape of the package: who may import whom, and what stays out of start-up."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path("src/arrayfold")

# The data flow, left to right; a module imports only modules before it, `errors` and `_*`.
FLOW = [
    "formula",
    "formula_text",
    "formula_isl",
    "formula_signs",
    "formula_factors",
    "parameter_words",
    "c",
    "signature",
    "assumptions",
    "program",
    "task_order",
    "tile_order",
    "closure",
    "private_values",
    "conditions",
    "guarded_order",
    "order",
    "frontends",
    "kernel",
    "short_times",
    "sure_writes",
    "dataflow",
    "guards",
    "dependences",
    "fusion",
    "loops",
    "private_overlaps",
    "schedule_text",
    "schedule",
    "any_order",
    "conflicts",
    "expansion",
    "tiling",
    "tile_copies",
    "tile_program",
    "tile_buffers",
    "bands",
    "liveness",
    "reallocation",
    "chains",
    "comparability",
    "reuse",
    "mapping",
    "fold_notation",
    "mapping_text",
    "well_formed",
    "lattice_proof",
    "linear_proof",
    "verify",
    "witness",
    "execution",
    "picture",
    "occupancy",
    "live_counts",
    "bounds",
    "minimal",
    "footprint",
    "sharing",
    "methods",
    "searches",
    "choose",
    "whole_lines",
    "cases",
    "codegen",
    "compiler",
    "call_arguments",
    "compiled",
    "analysis",
    "folded",
    "fold_in_time",
    "fold",
    "fold_parts",
    "fold_tiles",
    "fold_bands",
    "fold_shared",
    "along_vectors",
    "engine",
    "tradeoff",
    "tree",
    "driver_support",
    "driver_values",
    "driver",
    "process",
    "outcome",
    "run_sizes",
    "runner",
    "validation",
    "compare",
    "check",
    "papers",
    "report",
    "cli_options",
    "cli_talk",
    "cli_input",
    "cli_output",
    "commands",
    "cli",
]


def area(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The areas of the package that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "arrayfold":
                names = [f"arrayfold.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("arrayfold.")}
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name not in ("__main__.py",))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_from_left_to_right(path: Path) -> None:
    own = area(path)
    if own == "__init__":
        return
    for other in imported(path):
        if own.startswith("_") or own == "errors":
            assert other.startswith("_") or other == "errors", f"{own} is a base and imports {other}"
        elif not other.startswith("_") and other not in ("errors", own):
            assert FLOW.index(other) < FLOW.index(own), f"{own} must not import {other}"


def test_every_module_has_its_place() -> None:
    areas = {area(path) for path in FILES} - {"__init__", "errors"}
    assert {name for name in areas if not name.startswith("_")} == set(FLOW)


def test_the_judge_shares_nothing_with_the_methods() -> None:
    seen, waiting = set(), ["verify"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for path in FILES:
            if area(path) == name:
                waiting += imported(path)
    assert "verify" in seen
    assert not seen & {"methods", "choose", "reuse", "chains", "comparability"}


def test_init_holds_names_only() -> None:
    body = ast.parse((SOURCE / "__init__.py").read_text()).body
    assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in body)


def test_import_loads_no_plotting_no_solver_and_no_front_end() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import arrayfold"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert {"arrayfold", "islpy"} <= loaded
    heavy = {
        "matplotlib",
        "numpy",
        "clang",
        "scipy",
        "highspy",
        "dask",
        "distributed",
        "rich",
        "typer",
        "yaml",
    }
    assert not loaded & heavy


def test_help_imports_no_plotting_and_no_solver() -> None:
    code = "import sys; sys.argv = ['arrayfold', '--help']\nfrom arrayfold import cli\ncli._run()\n"
    code += "print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "Usage" in done.stdout
    assert "arrayfold" in loaded
    assert not loaded & {"matplotlib", "highspy", "scipy", "numpy", "clang"}


def test_pieces_are_joined_where_a_failure_of_isl_is_caught() -> None:
    """isl's coalesce fails on some unions with strides; `_isl.coalesced` then leaves them as they are."""
    for path in SOURCE.rglob("*.py"):
        if path.name != "_isl.py":
            assert ".coalesce()" not in path.read_text(), path
