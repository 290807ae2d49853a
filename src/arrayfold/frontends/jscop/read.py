"""What Polly exports of a region of LLVM's code: statements, their domains, schedules and accesses.

A statement of Polly is a block of instructions, reads and writes in their order. Here an instance reads
before it writes; where a read follows a write a block becomes several statements, `Stmt_a` and `Stmt_a__2`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import is_bounded, maps_of, sets_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.exact.relations import union_of_maps
from arrayfold.frontends.pet.read import without_limits_of_types
from arrayfold.program.model import Access, Kept, Program, Statement

_ELSEWHERE = Kept("may be used elsewhere: the file does not say")
_REGION = "__TO__"
_NAMED = "Stmt_"
NAMES_ARE_LLVM = "-polly-use-llvm-names"

_Json = TypeVar("_Json", str, list[Any], dict[str, Any])


@dataclass(frozen=True)
class Jscop:
    """A file of Polly: its text, and the JSON in it."""

    whole: SourceText
    data: dict[str, Any]

    @staticmethod
    def read(file: str, text: str) -> Jscop:
        """The file, if it is JSON with the keys of a SCoP."""
        whole = SourceText.of(text, file)
        try:
            data: Any = json.loads(text)
        except ValueError as error:
            place = getattr(error, "pos", 0)
            raise whole.error(f"not JSON: {str(error).partition(':')[0]}", place, _HINT) from None
        if not isinstance(data, dict) or "statements" not in data:
            raise whole.error("this is not a SCoP of Polly: there is no key 'statements'", 0, _HINT)
        return Jscop(whole, cast("dict[str, Any]", data))

    def get(self, item: dict[str, Any], key: str, kind: type[_Json]) -> _Json:
        """The value of a key; an error if it is missing or something else."""
        if key not in item:
            raise self.whole.error(f"a {key!r} is missing in {_short(item)}", self._place(item), _HINT)
        value = item[key]
        if not isinstance(value, kind):
            message = f"{key!r} is {_short(value)}, expected {_KINDS[kind]}"
            raise self.whole.error(message, self.whole.find(f'"{key}"'), _HINT)
        return value

    def text(self, value: str) -> SourceText:
        """A string of the file, with its place."""
        quoted = json.dumps(value)
        start = self.whole.value.find(quoted)
        if start < 0 or quoted != f'"{value}"':
            return SourceText.of(value, self.whole.file)
        return self.whole.slice(start + 1, start + 1 + len(value))

    def statements(self) -> Iterator[dict[str, Any]]:
        """The statements."""
        yield from self._objects(self.data, "statements")

    def accesses(self, statement: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The accesses of a statement, in the order of the instructions."""
        yield from self._objects(statement, "accesses")

    def arrays(self) -> dict[str, dict[str, Any]]:
        """The arrays by their names."""
        items = self._objects(self.data, "arrays") if "arrays" in self.data else ()
        return {self.get(item, "name", str): item for item in items}

    def _objects(self, item: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
        for one in self.get(item, key, list):
            if not isinstance(one, dict):
                place = self.whole.find(f'"{key}"')
                raise self.whole.error(f"{key!r} holds {_short(one)}, expected objects", place, _HINT)
            yield cast("dict[str, Any]", one)

    def _place(self, item: dict[str, Any]) -> int:
        for value in item.values():
            if isinstance(value, str) and (start := self.whole.value.find(json.dumps(value))) >= 0:
                return start
        return 0


_HINT = "Export it with -mllvm -polly-export; see docs/howto/llvm.md."
_KINDS: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}


def read_jscop(file: str, text: str, arguments: Sequence[str] = ()) -> Program:
    """The program in a file of Polly.

    arguments  options with which it was exported: with -polly-use-llvm-names a statement without a name is
               one block; otherwise it may have conditions inside, and its writes need not happen
    """
    jscop = Jscop.read(file, text)
    context = _context(jscop)
    blocks = [_Block.read(jscop, item, is_named=NAMES_ARE_LLVM in arguments) for item in jscop.statements()]
    _check_names(jscop, blocks)
    statements = [statement for block in blocks for statement in block.statements()]
    accesses = [access.relation for one in statements for access in one.accesses]
    if not accesses:
        raise jscop.whole.error("no statement accesses an array", 0)
    schedule = union_of_maps(context.get_space(), (time for block in blocks for time in block.times()))
    live_out = isl.UnionSet("{ }")
    for relation in accesses:
        live_out = live_out.union(isl.UnionSet.from_set(relation.range()))
    program = Program.of(
        str(jscop.data.get("name") or file),
        [one for one in statements if one.accesses or len(statements) == 1],
        schedule=schedule,
        context=context,
        live_out=live_out,
    )
    return replace(program, kept={array.name: _ELSEWHERE for array in program.arrays})


def _context(jscop: Jscop) -> isl.Set:
    if "context" not in jscop.data:
        return isl.Set("{ : }")
    text = jscop.text(jscop.get(jscop.data, "context", str))
    context = read_isl(isl.Set, text)
    if not context.is_params():
        raise text.error("the context may mention only parameters")
    if context.is_empty():
        raise text.error("no parameter value satisfies the context")
    return without_limits_of_types(context)


def _check_names(jscop: Jscop, blocks: Sequence[_Block]) -> None:
    seen: set[str] = set()
    for block in blocks:
        if block.name in seen:
            raise jscop.text(block.name).error(f"there are two statements {block.name}")
        seen.add(block.name)
    if not blocks:
        raise jscop.whole.error("there is no statement", 0)
    lengths = {block.schedule.dim(isl.dim_type.out) for block in blocks}
    if len(lengths) > 1:
        found = " and ".join(map(str, sorted(lengths)))
        raise jscop.whole.error(f"times have {found} dimensions", jscop.whole.find('"schedule"'), _HINT)


@dataclass(frozen=True, eq=False)
class _Block:
    """A statement of Polly: groups of accesses, each reads and then one write at most."""

    name: str
    domain: isl.Set
    schedule: isl.Map
    groups: tuple[tuple[Access, ...], ...]

    @staticmethod
    def read(jscop: Jscop, item: dict[str, Any], *, is_named: bool) -> _Block:
        """The block of a JSON object."""
        name = jscop.get(item, "name", str)
        where = jscop.text(jscop.get(item, "domain", str))
        domain = _only(sets_of(read_isl(isl.UnionSet, where)), where)
        if domain.get_tuple_name() != name:
            raise where.error(f"the domain of {name} has instances of {domain.get_tuple_name()}")
        if not is_bounded(domain):
            raise where.error(f"the domain of {name} is not bounded")
        text = jscop.text(jscop.get(item, "schedule", str))
        schedule = _only(maps_of(read_isl(isl.UnionMap, text)), text).reset_tuple_id(isl.dim_type.out)
        _check_domain(schedule, domain, text)
        if not schedule.intersect_domain(domain).is_single_valued():
            raise text.error(f"this gives some instance of {name} more than one time")
        is_surely_run = _REGION not in name and (is_named or name.startswith(_NAMED))
        groups: list[list[Access]] = [[]]
        for one in jscop.accesses(item):
            access = _access(jscop, one, domain, is_surely_run=is_surely_run)
            if access is None:
                continue
            if groups[-1] and groups[-1][-1].is_write:
                groups.append([])
            groups[-1].append(access)
        return _Block(name, domain, schedule, tuple(map(tuple, groups)))

    def statements(self) -> Iterator[Statement]:
        """A statement for each group of accesses."""
        for k, group in enumerate(self.groups):
            name = self._name(k)
            accesses = (
                replace(one, relation=one.relation.set_tuple_name(isl.dim_type.in_, name)) for one in group
            )
            yield Statement(name, self.domain.set_tuple_name(name), tuple(accesses))

    def times(self) -> Iterator[isl.Map]:
        """{ S[i] -> [t, k] }: when each of them runs."""
        for k, group in enumerate(self.groups):
            if group:
                last = isl.Map(f"{{ [] -> [{k}] }}")
                start = isl.Map.from_domain_and_range(self.domain, isl.Set("{ [] }"))
                time = self.schedule.intersect_domain(self.domain).flat_range_product(start.apply_range(last))
                yield time.set_tuple_name(isl.dim_type.in_, self._name(k))

    def _name(self, k: int) -> str:
        return self.name if k == 0 else f"{self.name}__{k + 1}"


def _access(jscop: Jscop, item: dict[str, Any], domain: isl.Set, *, is_surely_run: bool) -> Access | None:
    """An access of an array; None for one of a scalar, which is a value of LLVM and no memory."""
    kind = jscop.get(item, "kind", str)
    if kind not in ("read", "write"):
        raise jscop.text(kind).error(f"an access is of kind read or write, not {kind!r}")
    text = jscop.text(jscop.get(item, "relation", str))
    relation = _only(maps_of(read_isl(isl.UnionMap, text)), text)
    _check_domain(relation, domain, text)
    array = relation.get_tuple_name(isl.dim_type.out)
    if array is None:
        raise text.error("the array of an access has no name")
    if relation.dim(isl.dim_type.out) == 0:
        return None
    relation = relation.intersect_domain(domain)
    if not is_bounded(relation.range()):
        raise text.error(f"any cell of {array} may be accessed here", hint="Such a SCoP cannot be folded.")
    is_sure = relation.is_single_valued() and (kind == "read" or is_surely_run)
    return Access(array, relation, kind == "write", is_must=is_sure or kind == "read")


def _check_domain(relation: isl.Map, domain: isl.Set, text: SourceText) -> None:
    name = relation.get_tuple_name(isl.dim_type.in_)
    rank = relation.dim(isl.dim_type.in_)
    if name != domain.get_tuple_name() or rank != domain.dim(isl.dim_type.set):
        own = f"{domain.get_tuple_name()} with {domain.dim(isl.dim_type.set)} iterators"
        raise text.error(f"this is of {name} with {rank} iterators, in the statement {own}")


def _only(parts: list[Any], text: SourceText) -> Any:
    if len(parts) != 1:
        found = "nothing" if not parts else "several statements or arrays"
        raise text.error(f"expected one statement, and one array, but here are {found}")
    return parts[0]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else f"{text[:40]}..."
