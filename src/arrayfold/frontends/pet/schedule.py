"""When the statements of pet run: schedule trees as isl prints them -> times.

isl's own reader crashes on some texts that are not trees, and says of none where it is wrong; so the tree is
read here, and isl reads the sets and relations in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, fresh_name, maps_by_domain, maps_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.pet.yaml import YamlNode, read_yaml
from arrayfold.program.model import Statement

_SAY_NOTHING_OF_ORDER = ("mark", "context", "guard", "permutable", "coincident", "options", "child")
_KNOWN = (*_SAY_NOTHING_OF_ORDER, "domain", "filter", "schedule", "sequence", "set")


def read_schedule_tree(text: SourceText, idle: Collection[str] = ()) -> isl.UnionMap:
    """{ S[i] -> [t] }: when instances run, times of one length.

    idle  statements that do nothing, such as pet's kills of local variables; their times do not matter

    >>> tree = '{ domain: "{ S[i] : 0 <= i < 9; T[] }", child: { sequence: [ { filter: "{ T[] }" },'
    >>> tree += ' { filter: "{ S[i] }", child: { schedule: "L[{ S[i] -> [(i)] }]" } } ] } }'
    >>> read_schedule_tree(SourceText.of(tree, "example"))
    UnionMap("{ S[i] -> [1, i] : 0 <= i <= 8; T[] -> [0, 0] }")
    """
    root = read_yaml(text)
    instances = read_isl(isl.UnionSet, root.need("domain", "a schedule tree").text())
    return padded(_leaves(root, isl.UnionMap.from_domain(instances), frozenset(idle)))


def padded(times: Iterable[isl.UnionMap]) -> isl.UnionMap:
    """All times in one relation, { S[i] -> [t] }; the shorter ones go on with zeros."""
    parts = [part.reset_tuple_id(isl.dim_type.out) for union in times for part in maps_of(union)]
    depth = max((part.dim(isl.dim_type.out) for part in parts), default=0)
    order = isl.UnionMap("{ }")
    for part in parts:
        longer = part
        for k in range(part.dim(isl.dim_type.out), depth):
            longer = longer.add_dims(isl.dim_type.out, 1).fix_val(isl.dim_type.out, k, isl.Val(0))
        order = order.union(longer)
    return order


def with_late_reads(
    statements: Sequence[Statement], schedule: isl.UnionMap, mixed: Sequence[str]
) -> tuple[tuple[Statement, ...], isl.UnionMap]:
    """The program in which statements read once more right after they wrote.

    What an instance reads then stays in memory while it writes, whatever comes first inside.
    """
    last_digit = {late: isl.UnionSet(f"{{ [{int(late)}] }}") for late in (False, True)}

    def times(when: isl.UnionMap, *, late: bool) -> isl.UnionMap:
        digit = isl.UnionMap.from_domain_and_range(when.domain(), last_digit[late])
        return when.flat_range_product(digit)

    order = times(schedule, late=False)
    more: list[Statement] = []
    for statement in statements:
        more.append(statement)
        reads = [access for access in statement.accesses if not access.is_write]
        if statement.name not in mixed or not reads:
            continue
        name = fresh_name(f"{statement.name}_end", [other.name for other in (*statements, *more)])
        again = [
            replace(read, relation=read.relation.set_tuple_name(isl.dim_type.in_, name), is_must=False)
            for read in reads
        ]
        more.append(Statement(name, statement.domain.set_tuple_name(name), tuple(again)))
        own = maps_by_domain(schedule.intersect_domain(isl.UnionSet.from_set(statement.domain)))
        when = own[statement.name].set_tuple_name(isl.dim_type.in_, name)
        order = order.union(times(isl.UnionMap.from_map(when), late=True))
    return tuple(more), coalesced(order)


def _leaves(node: YamlNode, before: isl.UnionMap, idle: frozenset[str]) -> list[isl.UnionMap]:
    """The times of the instances below a node.

    before  { S[i] -> [t] }  what the nodes above say of them
    idle    statements that do nothing
    """
    for key, value in node.table():
        if key not in _KNOWN:
            raise value.error(f"a schedule tree with {key!r} is not read")
    chosen = node.get("filter")
    if chosen is not None:
        before = before.intersect_domain(read_isl(isl.UnionSet, chosen.text()))
    band = node.get("schedule")
    if band is not None:
        for member in _members(band.text()):
            before = before.flat_range_product(member)
    sequence, unordered = node.get("sequence"), node.get("set")
    if unordered is not None:
        _refuse_several(unordered, before, idle)
    children = sequence if unordered is None else unordered
    if children is not None:
        return [
            leaf
            for k, child in enumerate(children.items())
            for leaf in _leaves(child, before.flat_range_product(_constant(before, k)), idle)
        ]
    child = node.get("child")
    return [before] if child is None else _leaves(child, before, idle)


def _refuse_several(node: YamlNode, before: isl.UnionMap, idle: frozenset[str]) -> None:
    """Raise where parts of a tree that run in any order do something, more than one of them.

    The program has run them in one order, and the file does not say which.
    """
    active = 0
    for child in node.items():
        chosen = child.get("filter")
        reached = before if chosen is None else before.intersect_domain(read_isl(isl.UnionSet, chosen.text()))
        active += any(name not in idle for name in maps_by_domain(reached))
        if active > 1:
            raise child.error(
                "parts of a schedule tree in any order (set) are read only if all but one do nothing",
                "Let the tool that prints the tree order them (sequence).",
            )


def _members(text: SourceText) -> list[isl.UnionMap]:
    """The relations of a band, `[n] -> L_0[{ S[i] -> [(i)] }, { ... }]`, one for each of its loops."""
    start = re.match(r"\s*((?:\[[^\[\]]*\]\s*->\s*)?)(?:[A-Za-z_]\w*\s*)?\[", text.value)
    if start is None:
        raise text.error("expected the loops of a band, such as L_0[{ S[i] -> [(i)] }]")
    parameters = text.slice(start.start(1), start.end(1))
    found: list[isl.UnionMap] = []
    for part in re.finditer(r"\{[^{}]*\}", text.value[start.end() :]):
        own = text.slice(start.end() + part.start(), start.end() + part.end())
        offsets = [*parameters.offsets[: len(parameters.value)], *own.offsets]
        whole = SourceText(parameters.value + own.value, text.file, text.file_text, offsets)
        member = read_isl(isl.UnionMap, whole)
        if any(one.dim(isl.dim_type.out) != 1 for one in maps_of(member)):
            raise own.error("expected one number for each instance, such as S[i] -> [(i)]")
        found.append(member)
    rest = re.sub(r"\{[^{}]*\}", "", text.value[start.end() :])
    if not re.fullmatch(r"[\s,]*\]\s*", rest):
        raise text.error("expected the loops of a band, such as L_0[{ S[i] -> [(i)] }]")
    return found


def _constant(before: isl.UnionMap, k: int) -> isl.UnionMap:
    """{ S[i] -> [k] } on the same instances."""
    return isl.UnionMap.from_domain_and_range(before.domain(), isl.UnionSet(f"{{ [{k}] }}"))
