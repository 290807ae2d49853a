"""The shape of the package: who may import whom, and what stays out of start-up."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import arrayfold

SOURCE = Path("src/arrayfold")

# The data flow, top to bottom; a package imports only packages above it.
PACKAGES = [
    "base",
    "exact",
    "c",
    "program",
    "order",
    "frontends",
    "mapping",
    "conflicts",
    "judge",
    "bounds",
    "passes",
    "methods",
    "sharing",
    "select",
    "ordering",
    "codegen",
    "validation",
    "run",
    "fold",
    "loopy",
    "explore",
    "report",
    "cli",
]


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


def imported(path: Path) -> set[str]:
    """The packages of arrayfold that a file imports, also inside functions."""
    tree = ast.parse(path.read_text())
    return {name.split(".")[1] for name in imported_names(tree) if name.startswith("arrayfold.")}


def imported_names(tree: ast.AST) -> Iterator[str]:
    """What is imported, with its module where that is asked for a name: `arrayfold.exact.isl.points`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def imports_when_run(path: Path) -> set[str]:
    """The modules of arrayfold that a module imports, also inside functions, but not for type checkers."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = {name if name in MODULES else name.rpartition(".")[0] for name in imported_names(tree)}
    return found & MODULES - {module_of(path)}


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)
MODULES = {module_of(path) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_imports_only_packages_above_it(path: Path) -> None:
    above = PACKAGES[: PACKAGES.index(package(path)) + 1]
    assert imported(path) <= set(above)


def test_modules_import_each_other_in_no_circle() -> None:
    """Not even inside functions, where a late import would hide it."""
    sorter = TopologicalSorter({module_of(path): imports_when_run(path) for path in FILES})
    sorter.prepare()


def test_the_top_level_holds_packages_only() -> None:
    names = {path.name for path in SOURCE.iterdir()} - {"__pycache__"}
    assert names == {"__init__.py", "__main__.py", "py.typed", *PACKAGES}


def test_the_judge_shares_nothing_with_what_finds_mappings() -> None:
    seen: set[str] = set()
    waiting = ["judge"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [other for path in FILES if package(path) == name for other in imported(path)]
    assert not seen & {"methods", "bounds", "sharing", "select"}


def test_init_holds_names_only() -> None:
    body = ast.parse((SOURCE / "__init__.py").read_text()).body
    assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.If | ast.Assign) for node in body)


def test_every_public_name_is_there_and_loaded_from_where_type_checkers_see_it() -> None:
    (for_checkers,) = (
        node for node in ast.parse((SOURCE / "__init__.py").read_text()).body if isinstance(node, ast.If)
    )
    seen = {
        (alias.name, node.module)
        for node in ast.walk(for_checkers)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {name for name, _ in seen} == set(arrayfold.__all__) == set(dir(arrayfold))
    for name, module in seen:
        assert module is not None
        assert getattr(arrayfold, name) is getattr(import_module(module), name)


def test_the_function_fold_is_not_hidden_by_its_package() -> None:
    code = "import arrayfold; from arrayfold.fold import arrays; print(arrayfold.fold is arrays.fold)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_import_loads_no_plotting_no_solver_and_no_front_end() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import arrayfold"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "arrayfold" in loaded
    heavy = {
        "islpy",
        "flint",
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
    code = "import sys; sys.argv = ['arrayfold', '--help']\nfrom arrayfold.cli.main import _run\n_run()\n"
    code += "print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "Usage" in done.stdout
    assert "arrayfold" in loaded
    assert not loaded & {"matplotlib", "highspy", "scipy", "numpy", "clang", "islpy", "flint", "rich"}


def test_pieces_are_joined_where_a_failure_of_isl_is_caught() -> None:
    """isl's coalesce fails on some unions with strides; `coalesced` then leaves them as they are."""
    for path in SOURCE.rglob("*.py"):
        if path != SOURCE / "exact/isl.py":
            assert ".coalesce()" not in path.read_text(), path
