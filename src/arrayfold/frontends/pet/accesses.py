"""What a statement of pet reads and writes: the expression of its body -> relations.

All reads of an instance are taken to come before its writes. C makes sure of that for the target of the
statement's own assignment; of a write in a call, or inside an expression, it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import maps_of
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.pet.yaml import YamlNode

_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"])
_CONDITIONAL = frozenset(["?:", "&&", "||"])
_WITHOUT_EFFECT = frozenset(["kill", "assume"])


@dataclass(frozen=True, eq=False)
class Touch:
    """An access with the place that states it.

    relation  { S[i] -> A[x] }
    """

    array: str
    relation: isl.Map
    is_write: bool
    is_must: bool
    text: SourceText


@dataclass(frozen=True)
class Touches:
    """The accesses of a statement; where they are mixed, reads may come after writes."""

    accesses: tuple[Touch, ...]
    are_mixed: bool


def read_touches(
    body: YamlNode, conditions: list[YamlNode], extents: Mapping[str, isl.Set]
) -> Touches | None:
    """The accesses of a statement; None if it only says that values are dead, or what is known.

    conditions  data on which it depends whether an instance runs: they are read, and the rest may not happen
    extents     { A[x] } of every array
    """
    reader = _Reader(extents)
    for condition in conditions:
        reader.expression(condition, is_sure=True, is_statement=False)
    kind = _kind(body)
    expression = body.need("expr", "an expression") if kind == "expression" else body
    if kind not in ("expression", "access", "op", "call", "cast", "int", "double"):
        hint = "Accesses inside have no fixed order; pet splits loops and conditions that it understands."
        raise body.error(f"a statement with {kind!r} inside is not read", hint)
    operation = expression.get("operation")
    if operation is not None and operation.text().value in _WITHOUT_EFFECT:
        return None
    reader.expression(expression, is_sure=not conditions, is_statement=True)
    return Touches(tuple(reader.found), reader.are_mixed)


class _Reader:
    """Collects the accesses of expressions."""

    def __init__(self, extents: Mapping[str, isl.Set]) -> None:
        self.extents = extents
        self.found: list[Touch] = []
        self.are_mixed = False

    def expression(self, node: YamlNode, *, is_sure: bool, is_statement: bool) -> None:
        """Everything that an expression touches; as a statement it may assign."""
        kind = _kind(node)
        arguments = node.arguments()
        if kind == "access":
            self._access(node, is_sure=is_sure, is_target=False)
            return
        operation = node.need("operation", "an operation").text().value if kind == "op" else ""
        if operation == "&" and len(arguments) == 1:
            raise node.error("an address is taken: what is reached through it is not known")
        for k, argument in enumerate(arguments):
            if k == 0 and operation in _ASSIGNMENTS and is_statement and _kind(argument) == "access":
                self._access(argument, is_sure=is_sure, is_target=True)
                continue
            # In a = b = x both writes follow all reads; in a += (b = x) a may be read after b is written.
            chained = k == 1 and operation == "=" and is_statement and _kind(argument) == "op"
            happens = is_sure and not (k > 0 and operation in _CONDITIONAL)
            self.expression(argument, is_sure=happens, is_statement=chained)

    def _access(self, node: YamlNode, *, is_sure: bool, is_target: bool) -> None:
        for argument in node.arguments():
            self.expression(argument, is_sure=is_sure, is_statement=False)
        if node.says("kill"):
            return
        reads, writes = node.says("read"), node.says("write")
        self.are_mixed |= writes and not is_target
        if reads:
            self._add(node, ["may_read"], is_write=False, is_sure=is_sure)
        if writes:
            self._add(node, ["must_write", "may_write"], is_write=True, is_sure=is_sure)

    def _add(self, node: YamlNode, keys: list[str], *, is_write: bool, is_sure: bool) -> None:
        stated = [(key, value) for key in keys if (value := node.get(key)) is not None]
        if not stated:
            index = node.get("index") or node.need("relation", "an access")
            self._add_relation(index.text(), _of_index(index), is_write=is_write, is_must=is_sure)
        sure: dict[str, isl.Map] = {}
        for key, value in stated:
            text = value.text()
            for relation in maps_of(read_isl(isl.UnionMap, text)):
                name = str(relation.get_tuple_name(isl.dim_type.out))
                is_must = key == "must_write"
                if is_must:
                    sure[name] = relation
                elif name in sure:
                    relation = relation.subtract(sure[name].align_params(relation.get_space()))
                if not relation.is_empty():
                    self._add_relation(text, relation, is_write=is_write, is_must=is_must and is_sure)

    def _add_relation(self, text: SourceText, relation: isl.Map, *, is_write: bool, is_must: bool) -> None:
        """One access; what depends on data, or names part of the indices, may touch all that is left open."""
        if relation.range_is_wrapping():
            hint = "A fold moves whole elements: state the structure as one."
            raise text.error("fields of structures are not read", text.find("->"), hint)
        if not relation.has_tuple_name(isl.dim_type.out):
            return
        name = relation.get_tuple_name(isl.dim_type.out)
        if name not in self.extents:
            raise text.error(f"array {name} is not in the list of arrays", text.find(rf"\b{name}\b"))
        extent = self.extents[name]
        open_dimensions = extent.dim(isl.dim_type.set) - relation.dim(isl.dim_type.out)
        if open_dimensions < 0:
            message = f"array {name} has {extent.dim(isl.dim_type.set)} dimensions in the list of arrays"
            raise text.error(message, text.find(rf"\b{name}\b"))
        is_nested = relation.domain_is_wrapping()
        if is_nested:
            relation = relation.domain_factor_domain()
        if open_dimensions:
            relation = relation.add_dims(isl.dim_type.out, open_dimensions)
            relation = relation.set_tuple_name(isl.dim_type.out, name)
        if is_nested or open_dimensions:
            relation = relation.intersect_range(extent)
        is_exact = not (is_nested or open_dimensions)
        self.found.append(Touch(name, relation, is_write, is_must and is_exact, text))


def _of_index(node: YamlNode) -> isl.Map:
    """The relation of an index expression, `{ S[i] -> A[(i + 1)] }`."""
    text = node.text()
    try:
        return isl.Map.from_multi_pw_aff(isl.MultiPwAff(text.value))
    except isl.Error:
        pass
    found = maps_of(read_isl(isl.UnionMap, text))
    if len(found) != 1:
        raise text.error("expected one array for each access", text.find(r"\{"))
    return found[0]


def _kind(node: YamlNode) -> str:
    return node.need("type", "an expression").text().value
