from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

collect_ignore_glob = ["programs/*", "errors/*"]

# Predicted times are those of one machine, wherever the tests run.
os.environ["ARRAYFOLD_CACHES"] = "32K,1M,16M"
# So are the lines of tables.
os.environ.pop("COLUMNS", None)

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

settings.register_profile(
    "arrayfold", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "unshrunk", settings.get_profile("arrayfold"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "unshrunk"))


@dataclass(frozen=True)
class PaperProgram:
    """A program of a paper: its problem file, its trace by hand, and what is expected of it."""

    name: str
    file: Path
    expected: dict[str, Any]
    trace: Any


def load_paper_program(folder: Path) -> PaperProgram:
    spec = importlib.util.spec_from_file_location(f"trace_{folder.name}", folder / "trace.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = tomllib.loads((folder / "expected.toml").read_text())
    return PaperProgram(folder.name, ROOT / "examples" / f"{folder.name}.toml", expected, module.trace)


PAPER_PROGRAMS = [load_paper_program(folder) for folder in sorted((ROOT / "tests" / "programs").iterdir())]


@pytest.fixture(params=PAPER_PROGRAMS, ids=lambda program: program.name)
def paper_program(request: pytest.FixtureRequest) -> PaperProgram:
    return request.param


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected outputs")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests of one program at several sizes compile it once."""
    from support.compiled import compiled_once

    with compiled_once(tmp_path_factory.mktemp("compiled")):
        yield
