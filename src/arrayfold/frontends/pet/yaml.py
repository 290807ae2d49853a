"""YAML whose values know where they stand, which is what messages need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText


@dataclass(frozen=True, eq=False)
class YamlNode:
    """A value of a YAML file: a scalar, a list or a table."""

    node: yaml.Node
    whole: SourceText

    def error(self, message: str, hint: str | None = None) -> InputError:
        """An error that points at the start of the value."""
        return self.whole.error(message, self.node.start_mark.index, hint)

    def get(self, key: str) -> YamlNode | None:
        """The value under a key of a table, None if it is absent."""
        for name, value in self.table():
            if name == key:
                return value
        return None

    def need(self, key: str, what: str) -> YamlNode:
        """The value under a key that must be there."""
        found = self.get(key)
        if found is None:
            raise self.error(f"{what} has no {key!r}")
        return found

    def table(self) -> list[tuple[str, YamlNode]]:
        """The keys of a table with their values."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error("expected a table of keys and values")
        return [(str(key.value), YamlNode(value, self.whole)) for key, value in self.node.value]

    def arguments(self) -> list[YamlNode]:
        """The list under "arguments"; none if it is absent."""
        found = self.get("arguments")
        return [] if found is None else found.items()

    def items(self) -> list[YamlNode]:
        """The values of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error("expected a list")
        return [YamlNode(item, self.whole) for item in self.node.value]

    def text(self) -> SourceText:
        """A scalar, every character with its place in the file."""
        node = self.node
        if not isinstance(node, yaml.ScalarNode):
            raise self.error("expected a text")
        value = str(node.value)
        raw = self.whole.value[node.start_mark.index : node.end_mark.index]
        starts = [node.start_mark.index + k for k in _places(value, raw)]
        offsets = [self.whole.offsets[k] for k in (*starts, node.end_mark.index)]
        return SourceText(value, self.whole.file, self.whole.file_text, offsets)

    def says(self, key: str) -> bool:
        """Whether there is a 1 under a key; 0 is the same as nothing."""
        found = self.get(key)
        value = "0" if found is None else found.text().value
        if found is not None and value not in ("0", "1"):
            raise found.error(f"expected 0 or 1, found {value!r}")
        return value == "1"


class _Loader(yaml.SafeLoader):
    """Refuses what could make a value its own part."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = cast("Any", self).peek_event()
        if isinstance(event, yaml.AliasEvent):
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem="references (*name) are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def read_yaml(whole: SourceText) -> YamlNode:
    """The one document of a YAML text, which may stand inside a file.

    >>> root = read_yaml(SourceText.of("a: 1\\nb: '{ A[i]\\n  }'", "x.yaml"))
    >>> b = root.need("b", "x").text()
    >>> b.value, str(b.place(7))
    ('{ A[i] }', 'x.yaml:3:3')
    """
    try:
        node = cast("yaml.Node | None", yaml.compose(whole.value, Loader=_Loader))  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise whole.error(f"not YAML: {error.problem}", mark.index if mark else 0) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        raise whole.error(f"not YAML: {str(error).splitlines()[0]}", position) from None
    except RecursionError:
        raise whole.error("not YAML that can be read: it is nested too deeply") from None
    if node is None:
        raise whole.error("the file is empty")
    return YamlNode(node, whole)


def _places(value: str, raw: str) -> Sequence[int]:
    """Where the characters of a scalar stand in its raw text, with its quotes, folds and escapes.

    >>> _places("a b'c", "'a\\n  b''c'")
    [1, 2, 5, 6, 8]
    """
    places: list[int] = []
    position = 1 if raw[:1] in ("'", '"') else 0
    for character in value:
        if character.isspace():
            places.append(position)
            while position < len(raw) and raw[position].isspace():
                position += 1
            continue
        found = raw.find(character, position)
        if found < 0:
            return [0] * len(value)
        places.append(found)
        is_doubled = raw[:1] == "'" == character
        position = found + 1 + is_doubled
    return places
