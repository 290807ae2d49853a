"""The parts of a problem file: its values, where they stand, and the isl objects they denote."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.nesting import check_nesting, too_deep
from arrayfold.base.source_text import SourceText
from arrayfold.base.spelling import did_you_mean
from arrayfold.exact.isl import is_bounded, parameter_names, tuple_name

_NAMING_KEYS = (
    "array",
    "conflicts",
    "differences",
    "write",
    "may_write",
    "live_out",
    "live_in",
    "read",
    "may_read",
)
_OPENING = r"\"\"\"(?:\r?\n)?|'''(?:\r?\n)?|[\"']"
# One character of a string, as it is written.
_PLAIN = re.compile(r"(\r\n|.)", re.DOTALL)
_ESCAPED = re.compile(r"(?:\\[ \t]*\r?\n\s*)*(\\u.{4}|\\U.{8}|\\.|\r\n|.)", re.DOTALL)


@dataclass(frozen=True)
class ProblemText:
    """The values of a problem file and the text they come from."""

    file: str
    values: Mapping[str, Any]
    whole: SourceText

    @staticmethod
    def read(file: str, text: str) -> ProblemText:
        """The values of a TOML text.

        >>> str(ProblemText.read("x.toml", 'a = 1\\nb = "{ A[i] }"').text("b").place(2))
        'x.toml:2:8'
        """
        whole = SourceText.of(text, file)
        check_nesting(whole, "toml")
        try:
            return ProblemText(file, tomllib.loads(text), whole)
        except tomllib.TOMLDecodeError as error:
            raise _located(whole, str(error)) from None
        except ValueError as error:
            raise whole.error(f"not a TOML file that can be read: {str(error).partition(';')[0]}") from None
        except RecursionError:
            raise too_deep(whole, "toml") from None

    @staticmethod
    def read_json(file: str, text: str) -> ProblemText:
        """The values of a JSON object with the same keys."""
        whole = SourceText.of(text, file)
        try:
            values: Any = json.loads(text)
        except json.JSONDecodeError as error:
            raise whole.error(f"not JSON: {error.msg}", error.pos) from None
        except ValueError as error:
            reason = str(error).partition(";")[0]
            raise whole.error(f"not JSON that can be read: {reason}") from None
        except RecursionError:
            raise whole.error("not JSON that can be read: it is nested too deeply") from None
        if not isinstance(values, dict):
            raise whole.error("expected a JSON object with the keys of a problem file")
        return ProblemText(file, cast("dict[str, Any]", values), whole)

    def text(self, key: str) -> SourceText:
        """The located isl text under a key."""
        value = self.values[key]
        if not isinstance(value, str):
            raise self.error(f"{key} must be a string in isl notation", key)
        offsets = _places(self.whole.value, key, len(value)) or [self.position(key)] * (len(value) + 1)
        return SourceText(value, self.file, self.whole.value, offsets)

    def position(self, key: str) -> int:
        """Where a key stands in the file."""
        return self.whole.find(rf"(?m)^[ \t]*\[*[\"']?{re.escape(key)}\b")

    def error(self, message: str, key: str | None, hint: str | None = None) -> InputError:
        """An error that points at a key, or at the start of the file."""
        return self.whole.error(message, self.position(key) if key else 0, hint)


@dataclass(frozen=True)
class ProblemParts:
    """The isl objects of a problem file, all with the parameters of the context."""

    problem: ProblemText
    context: isl.Set
    sets: Mapping[str, isl.UnionSet]
    maps: Mapping[str, isl.UnionMap]

    def set(self, key: str) -> isl.UnionSet:
        """The set under a key; empty if it is absent."""
        return self.sets.get(key, isl.UnionSet.empty(self.context.get_space()))

    def map(self, key: str) -> isl.UnionMap:
        """The relation under a key; empty if it is absent."""
        return self.maps.get(key, isl.UnionMap.empty(self.context.get_space()))

    def error(self, message: str, key: str, tuple_name: str | None, hint: str | None = None) -> InputError:
        """An error that points at the first use of a tuple in the text of a key."""
        text = self.problem.text(key)
        pattern = rf"\b{re.escape(tuple_name)}\s*\[" if tuple_name else r"\{"
        return text.error(message, text.find(pattern), hint)

    def mentions(self, key: str, tuple_name: str) -> bool:
        """Whether the text of a key uses a tuple, maybe for a set that is empty."""
        return re.search(rf"\b{re.escape(tuple_name)}\s*\[", self.problem.text(key).value) is not None

    def check_statement(
        self, key: str, name: str | None, found: int, domains: Mapping[str, isl.Set]
    ) -> isl.Set:
        """The domain of a statement that a key mentions with so many iterators."""
        if name is None or name not in domains:
            what = f"statement {name or '(unnamed)'} in {key}"
            if name is not None and self.mentions("domain", name):
                raise self.error(f"{what} has no instances: its domain is empty", key, name)
            message = f"{what} does not occur in the domain"
            raise self.error(message, key, name, did_you_mean(name or "", domains))
        expected = domains[name].dim(isl.dim_type.set)
        if found != expected:
            has = f"statement {name} has {counted(expected, 'iterator')} in the domain"
            raise self.error(f"{has}, but {found} in {key}", key, name)
        return domains[name]

    def note_rank(self, key: str, cells: isl.Set, ranks: dict[str, int]) -> str:
        """The array that the cells belong to, after its rank was compared with earlier uses."""
        name, found = tuple_name(cells), cells.dim(isl.dim_type.set)
        if name is None:
            raise self.error(f"cells in {key} need an array name, as in A[i, j]", key, None)
        if ranks.setdefault(name, found) != found:
            text = self.problem.text(key)
            message = f"array {name} has {counted(ranks[name], 'dimension')} elsewhere, but {found} here"
            places = (at for at, names in _index_lists(text, name) if len(names) == found)
            raise text.error(message, next(places, text.find(rf"\b{re.escape(name)}\s*\[")))
        return name

    def check_bounded(self, key: str, points: isl.Set, what: str) -> None:
        """Raise unless the set is finite for every parameter value."""
        if is_bounded(points):
            return
        for k in range(points.dim(isl.dim_type.set)):
            low = points.dim_has_any_lower_bound(isl.dim_type.set, k)
            high = points.dim_has_any_upper_bound(isl.dim_type.set, k)
            if not (low and high):
                dimension = points.get_dim_name(isl.dim_type.set, k) or f"number {k}"
                side = "bound" if not (low or high) else "upper bound" if low else "lower bound"
                message = f"{what} is unbounded: dimension {dimension} has no {side}"
                raise self.error(message, key, points.get_tuple_name())
        raise self.error(f"{what} is unbounded", key, points.get_tuple_name())

    def dimension_names(self, array: str, rank: int) -> tuple[str, ...]:
        """The names that the file itself uses for the indices of an array, where it does."""
        parameters = set(parameter_names(self.context))
        for key in _NAMING_KEYS:
            if key in self.problem.values:
                for _, names in _index_lists(self.problem.text(key), array):
                    plain = all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names)
                    if plain and len(set(names)) == len(names) == rank and not parameters & set(names):
                        return names
        return tuple(self._fresh(f"i{k}") for k in range(rank))

    def _fresh(self, name: str) -> str:
        """A name that no parameter has."""
        while name in parameter_names(self.context):
            name += "_"
        return name


def _located(whole: SourceText, message: str) -> InputError:
    """A complaint of the TOML parser, at the place that it names."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if not found:
        return whole.error(f"not a TOML file: {message}")
    position = len(whole.value)
    if found[1]:
        lines_before = whole.value.split("\n")[: int(found[1]) - 1]
        position = sum(len(line) + 1 for line in lines_before) + int(found[2]) - 1
    return whole.error(f"not a TOML file: {message[: found.start()]}", position)


def _places(text: str, key: str, length: int) -> list[int]:
    """Where the characters of a TOML string stand, which the standard parser does not tell, and its end.

    The result is empty if no string is found under the key.
    """
    start = re.search(rf"(?m)^[ \t]*([\"']?){re.escape(key)}\1[ \t]*=[ \t]*({_OPENING})", text)
    if start is None:
        return []
    character = _ESCAPED if start[2].startswith('"') else _PLAIN
    characters = itertools.islice(character.finditer(text, start.end()), length + 1)
    return [found.start(1) for found in characters]


def counted(number: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "dimension"), counted(2, "dimension")
    ('1 dimension', '2 dimensions')
    """
    return f"{number} {noun}" + "s" * (number != 1)


def _index_lists(text: SourceText, array: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where a text uses an array, and what stands between the brackets there."""
    for match in re.finditer(rf"\b{re.escape(array)}\s*\[([^\[\]]*)\]", text.value):
        yield match.start(), tuple(part.strip() for part in match[1].split(",") if part.strip())
