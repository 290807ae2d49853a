"""Folders that keep results: what is loaded is what was put there, and nobody else writes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arrayfold.base.cache import cache_folder, is_private
from arrayfold.explore.orders import NamedOrder
from arrayfold.explore.point import Point
from arrayfold.explore.store import Store
from arrayfold.passes.reorder import Reorder
from arrayfold.run import compiler
from arrayfold.run.compiler import find_compiler, shared_library

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
CODE = "int answer(void) { return 42; }"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the user's own, without a cache."""
    tmp_path.chmod(0o755)
    (tmp_path / "home").mkdir(mode=0o755)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_in_the_home(home: Path) -> None:
    assert cache_folder("kernels") == home / ".cache" / "arrayfold" / "kernels"
    assert (home / ".cache" / "arrayfold" / "kernels").stat().st_mode & 0o777 == 0o700


def test_where_the_variable_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "elsewhere"))
    assert cache_folder("kernels") == home / "elsewhere" / "arrayfold" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder("kernels") == home / ".cache" / "arrayfold" / "kernels"
    assert not Path("relative").exists()


def test_a_home_that_does_not_exist_is_not_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "missing"))
    assert cache_folder("kernels") is None
    assert not (home / "missing").exists()


def test_no_home_at_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("there is no home")

    monkeypatch.setattr(Path, "home", unknown)
    assert cache_folder("kernels") is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "given"))
    assert cache_folder("kernels") is not None


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write(mode: int) -> None:
    folder = cache_folder("kernels")
    assert folder is not None
    folder.chmod(mode)
    assert cache_folder("kernels") is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
@pytest.mark.parametrize("parent", [".", ".cache", ".cache/arrayfold"])
def test_a_parent_that_others_can_write(home: Path, mode: int, parent: str) -> None:
    assert cache_folder("kernels") is not None
    (home / parent).chmod(mode)
    assert cache_folder("kernels") is None
    (home / parent).chmod(mode | 0o1000)
    assert cache_folder("kernels") is not None, "in a sticky folder nobody can move what is not his"


@pytest.mark.usefixtures("home")
def test_a_folder_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache_folder("kernels")
    assert folder is not None
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    assert not is_private(folder)


def test_links_on_the_way(home: Path, tmp_path: Path) -> None:
    safe, unsafe = tmp_path / "safe", tmp_path / "unsafe"
    for folder in (safe, unsafe):
        (folder / "cache").mkdir(parents=True)
    unsafe.chmod(0o777)
    (home / ".cache").symlink_to(safe / "cache")
    assert cache_folder("kernels") is not None
    (home / ".cache").unlink()
    (home / ".cache").symlink_to(unsafe / "cache")
    assert cache_folder("kernels") is None
    (home / ".cache").unlink()
    (home / ".cache").symlink_to("../unsafe/../safe/cache")
    assert cache_folder("kernels") is None, "the way leads through a folder that others can write"
    (home / ".cache").unlink()
    (home / ".cache").symlink_to(".cache")
    assert cache_folder("kernels") is None


def count_compilations(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []
    original = subprocess.run

    def counted(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return original(command, **options)

    monkeypatch.setattr(compiler.subprocess, "run", counted)
    return commands


@needs_compiler
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("damage", ["truncated", "changed", "link", "emptied"])
def test_a_library_that_was_changed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    commands = count_compilations(monkeypatch)
    library = shared_library(CODE)
    assert shared_library(CODE) == library
    assert len(commands) == 1
    content = library.read_bytes()
    library.unlink()
    match damage:
        case "link":
            (tmp_path / "other.so").write_bytes(content)
            library.symlink_to(tmp_path / "other.so")
        case "changed":
            library.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case _:
            library.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"")
    again = shared_library(CODE)
    assert len(commands) == 2
    assert not again.is_symlink()
    assert again.read_bytes() == content


@needs_compiler
def test_an_unsafe_cache_is_not_used(home: Path) -> None:
    folder = cache_folder("kernels")
    assert folder is not None
    folder.chmod(0o777)
    library = shared_library(CODE)
    assert not library.is_relative_to(home)
    assert not list(folder.iterdir())


@needs_compiler
def test_a_folder_for_one_process_vanishes_with_it(home: Path) -> None:
    code = f"from arrayfold.run.compiler import shared_library; print(shared_library({CODE!r}))"
    environment = {**os.environ, "HOME": str(home / "missing")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip().endswith(".so")
    assert not Path(done.stdout.strip()).exists()


POINT = Point(NamedOrder("as written", Reorder()), 4, 2.0, 7, {"A": "A[i] -> [0]"})


def store(folder: Path) -> Store:
    return Store.of(folder, "problem", {"N": 3}, 1.0)


def test_points_are_kept(tmp_path: Path) -> None:
    store(tmp_path).write(POINT)
    assert store(tmp_path).read(POINT.order) == POINT
    assert Store.of(tmp_path, "another", {"N": 3}, 1.0).read(POINT.order) is None


@pytest.mark.parametrize(
    ("old", "new"), [('"cells": 7', '"cells": 1'), ("{", "["), ('"found"', '"fund"'), ('"sha256"', '"md5"')]
)
def test_a_point_that_was_changed_counts_as_nothing(tmp_path: Path, old: str, new: str) -> None:
    store(tmp_path).write(POINT)
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    assert store(tmp_path).read(POINT.order) is None


def test_a_store_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store(tmp_path / "file").write(POINT)
    assert store(tmp_path / "file").read(POINT.order) is None
