"""What of JSON Schema the schemas of the documentation use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required"}
_KNOWN |= {"additionalProperties", "items", "anyOf", "const"}


def complaints(data: Any, schema: Any, where: str = "$", root: Any = None) -> Iterator[str]:
    """How some data differs from a schema."""
    root = schema if root is None else root
    assert set(schema) <= _KNOWN, schema
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "const" in schema and data != schema["const"]:
        yield f"{where}: {data!r} is not {schema['const']!r}"
    if "anyOf" in schema and all(list(complaints(data, one, where, root)) for one in schema["anyOf"]):
        yield f"{where}: {data!r} is none of {schema['anyOf']}"
    types = schema.get("type", [])
    if types and not any(_is_a(data, name) for name in ([types] if isinstance(types, str) else types)):
        yield f"{where}: {data!r} is no {types}"
    elif isinstance(data, dict):
        properties = schema.get("properties", {})
        yield from (f"{where}: {name} is missing" for name in schema.get("required", []) if name not in data)
        for name, value in data.items():
            inner = properties.get(name, schema.get("additionalProperties", {}))
            if inner is False:
                yield f"{where}: {name} is unknown"
            else:
                yield from complaints(value, inner, f"{where}.{name}", root)
    elif isinstance(data, list):
        for k, value in enumerate(data):
            yield from complaints(value, schema.get("items", {}), f"{where}[{k}]", root)


def _is_a(data: Any, name: str) -> bool:
    return isinstance(data, _TYPES[name]) and not (isinstance(data, bool) and name in ("integer", "number"))
