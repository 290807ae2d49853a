"""Data that comes from another process, and whose large relations are read when they are first asked for.

A relation of a thousand pieces takes half a second to read from isl's text, and often nobody asks for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import islpy as isl


class ReadLate:
    """A dataclass some of whose fields are read late; these have no default in the class."""

    late_fields: ClassVar[tuple[str, ...]] = ()

    def to_send(self) -> tuple[Any, ...]:
        """What pickle makes the same data of: all fields, relations that are read late as isl's text."""
        values, texts = self._parts()
        for name in self.late_fields:
            if isinstance(values.get(name), isl.Map):
                texts[name] = str(values.pop(name))
        return _restored, (type(self), values, texts)

    def with_values(self, **values: Any) -> Self:
        """The same with other values of some fields, without reading any."""
        mine, texts = self._parts()
        return cast(Self, _restored(type(self), {**mine, **values}, texts))

    def _parts(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The fields that are there, and the texts of those that are not."""
        mine = self.__dict__
        names = [item.name for item in dataclasses.fields(cast(Any, self))]
        values = {name: mine[name] for name in names if name in mine}
        texts: dict[str, str] = mine.get("_texts", {})
        return values, {name: text for name, text in texts.items() if name not in values}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A relation that has not been read yet; only asked for what is missing."""
            text = self.__dict__.get("_texts", {}).get(name)
            if text is None:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            self.__dict__[name] = isl.Map(text)
            return self.__dict__[name]


def _restored(kind: type[ReadLate], values: Mapping[str, Any], texts: Mapping[str, str]) -> ReadLate:
    found = object.__new__(kind)
    found.__dict__.update(values, _texts=texts)
    return found
