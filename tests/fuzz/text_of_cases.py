"""Cases as JSON: dataclasses, tuples and plain values, so that a file that was found can be read back."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

_MARK = "# fuzz: "


def to_json(case: Any) -> str:
    """One line."""
    return json.dumps(_plain(case))


def from_json(text: str, types: list[type]) -> Any:
    """What `to_json` was given; `types` are the dataclasses that may occur in it."""
    return _built(json.loads(text), {one.__name__: one for one in types})


def with_case(lines: str, case: Any) -> str:
    """A text whose comments begin with `#`, with the case in a last one."""
    return f"{lines.rstrip()}\n{_MARK}{to_json(case)}\n"


def read_case(file: Path, types: list[type]) -> Any:
    """The case in the last comment of a file."""
    lines = [line for line in file.read_text().splitlines() if line.startswith(_MARK)]
    return from_json(lines[-1].removeprefix(_MARK), types)


def _plain(item: Any) -> Any:
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        values = {one.name: _plain(getattr(item, one.name)) for one in dataclasses.fields(item)}
        return {"is": type(item).__name__, **values}
    if isinstance(item, tuple | list):
        return [_plain(one) for one in item]
    if isinstance(item, dict):
        return {"is": "dict", "items": [[_plain(k), _plain(v)] for k, v in item.items()]}
    return item


def _built(item: Any, types: dict[str, type]) -> Any:
    if isinstance(item, list):
        return tuple(_built(one, types) for one in item)
    if not isinstance(item, dict):
        return item
    name = item["is"]
    if name == "dict":
        return {_built(k, types): _built(v, types) for k, v in item["items"]}
    return types[name](**{key: _built(value, types) for key, value in item.items() if key != "is"})
