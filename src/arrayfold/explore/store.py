"""What earlier runs found, kept in files by the content of what it is a result of."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import NoneType
from typing import Any

from arrayfold.base.errors import InputError
from arrayfold.base.output_file import write_output
from arrayfold.explore.orders import NamedOrder
from arrayfold.explore.point import Point

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "latency": int,
    "parallelism": (int, float),
    "cells": int,
    "mappings": dict,
    "reason": str,
    "cycles": (int, float, NoneType),
}


@dataclass(frozen=True)
class ResultStore:
    """A directory of results in files, by the content of what they are results of.

    head  what all of them are results of, and this version of arrayfold
    """

    directory: Path | None
    head: str

    @staticmethod
    def of(directory: Path | None, *content: Any) -> ResultStore:
        """The results of some content that can be JSON."""
        return ResultStore(directory, json.dumps([version("arrayfold"), code_digest(), *content]))

    def _path(self, key: str) -> Path | None:
        return None if self.directory is None else self.directory / f"{_digest(self.head + key)}.json"

    def read(self, key: str) -> Any:
        """What is known; None if nothing is, or a file was changed since."""
        path = self._path(key)
        if path is None:
            return None
        try:
            kept: Any = json.loads(path.read_text("utf-8"))
            return kept["found"] if kept["sha256"] == _digest(_text(kept["found"])) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, key: str, found: Any) -> None:
        """Keep something; a directory that cannot be written keeps nothing."""
        path = self._path(key)
        if path is None:
            return
        text = json.dumps({"found": found, "sha256": _digest(_text(found))})
        with suppress(OSError, InputError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_output(os.fspath(path), text.encode(), force=True)


@dataclass(frozen=True)
class Store:
    """A directory of points: the results for a program at some sizes."""

    kept: ResultStore

    @staticmethod
    def of(directory: Path | None, problem: str, params: Mapping[str, int], seconds: float) -> Store:
        """The results for a problem at these sizes."""
        return Store(ResultStore.of(directory, problem, sorted(params.items()), seconds))

    def read(self, order: NamedOrder) -> Point | None:
        """The point of an order, if it is known."""
        data = self.kept.read(json.dumps(order.reorder.options()))
        try:
            if data is None or not all(isinstance(data[name], kind) for name, kind in _TYPES.items()):
                return None
            return Point(order, **{name: data[name] for name in _TYPES})
        except (KeyError, TypeError):
            return None

    def write(self, point: Point) -> None:
        """Keep a point."""
        self.kept.write(json.dumps(point.order.reorder.options()), point.data())


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_digest() -> str:
    """A hash of arrayfold itself: what another state of it found may not be what this one finds."""
    package = Path(str(files("arrayfold")))
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
