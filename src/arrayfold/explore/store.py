"""Points that earlier runs found, kept in files by the content of what they are results of."""

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
}


@dataclass(frozen=True)
class Store:
    """A directory of points.

    head  what all of them are results of: the program, its sizes, and this version of arrayfold
    """

    directory: Path | None
    head: str

    @staticmethod
    def of(directory: Path | None, problem: str, params: Mapping[str, int], seconds: float) -> Store:
        """The results for a problem at these sizes."""
        content = [version("arrayfold"), _code(), problem, sorted(params.items()), seconds]
        return Store(directory, json.dumps(content))

    def _path(self, order: NamedOrder) -> Path | None:
        if self.directory is None:
            return None
        return self.directory / f"{_digest(self.head + json.dumps(order.reorder.options()))}.json"

    def read(self, order: NamedOrder) -> Point | None:
        """The point of an order, if it is known; a file that was changed since counts as nothing."""
        path = self._path(order)
        if path is None:
            return None
        try:
            kept: Any = json.loads(path.read_text("utf-8"))
            data, digest = kept["point"], kept["sha256"]
            if digest != _digest(_text(data)):
                return None
            if not all(isinstance(data[name], kind) for name, kind in _TYPES.items()):
                return None
            return Point(order, *(data[name] for name in _TYPES))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, point: Point) -> None:
        """Keep a point; a directory that cannot be written keeps nothing."""
        path = self._path(point.order)
        if path is None:
            return
        data = point.data()
        text = json.dumps({"point": data, "sha256": _digest(_text(data))})
        with suppress(OSError, InputError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_output(os.fspath(path), text.encode(), force=True)


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _code() -> str:
    """A hash of arrayfold itself: what another state of it found may not be what this one finds."""
    package = Path(str(files("arrayfold")))
    found = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
