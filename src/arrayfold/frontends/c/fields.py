"""Fields of structures as variables of their own, where a region never looks at the structures as wholes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from arrayfold.c import tree as c
from arrayfold.c.source import Region, assigned_in, changed_operand, variables_with_address
from arrayfold.c.tree import (
    CStatement,
    CType,
    Expression,
    FunctionTree,
    Node,
    Span,
    Variable,
    bare,
    children,
    walk,
)

Key: TypeAlias = tuple[Variable, tuple[str, ...]]

_ZERO = CType("int", "signed", 32, "int")
_ARRAY = CType("", "array")


@dataclass(frozen=True, eq=False)
class _FieldStep:
    """A field on the way to an element, with its subscripts; the variable itself is the first one."""

    variable: Variable
    subscripts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class _FieldPath:
    """An expression such as `p[i].v[j]`, step by step.

    is_behind  it is an element that the last field points to
    """

    node: Expression
    steps: tuple[_FieldStep, ...]
    is_behind: bool = False

    @property
    def root(self) -> Variable:
        return self.steps[0].variable

    @property
    def key(self) -> Key:
        """What the same variable stands for: fields without subscripts."""
        return self.root, tuple(step.variable.name for step in self.steps[1:])

    @property
    def is_whole(self) -> bool:
        """Whether every step but the last one has all its subscripts."""
        return all(len(one.subscripts) == one.variable.rank for one in self.steps[:-1]) and (
            len(self.steps[-1].subscripts) <= self.steps[-1].variable.rank
        )


def with_fields(region: Region) -> Region:
    """The region with variables for fields of structures that it reaches by names and subscripts alone."""
    function = region.function
    if not _has_fields(function):
        return region
    found = _Mentions.of(region)
    variables = {
        key: _variable(paths, found, function)
        for key, paths in found.inside.items()
        if key[0] in found.roots_of_fields
    }
    return _FieldRewriting(found, variables).region() if variables else region


def _has_fields(function: FunctionTree) -> bool:
    """Whether fields of structures stand in a function or in extents of its variables."""
    nodes = [*walk(function.body)]
    extents = (extent for one in (*function.parameters, *c.declared_in(nodes)) for extent in one.extents)
    inside = (node for extent in extents if isinstance(extent, Expression) for node in walk(extent))
    return any(isinstance(node, c.Member) for node in itertools.chain(nodes, inside))


# ---------------------------------------------------------------- what is mentioned


@dataclass(frozen=True, eq=False)
class _Mentions:
    """What a function says of structures.

    written  keys that the region writes
    paths    fields by the outermost node that means them
    inside   those of the region by key
    outside  roots of which something else is mentioned, somewhere in the function
    whole    roots that the region mentions as wholes
    """

    region: Region
    written: frozenset[Key]
    paths: dict[Node, _FieldPath] = field(default_factory=dict["Node", "_FieldPath"])
    inside: dict[Key, list[_FieldPath]] = field(default_factory=dict["Key", "list[_FieldPath]"])
    outside: set[Variable] = field(default_factory=set["Variable"])
    whole: set[Variable] = field(default_factory=set["Variable"])

    @classmethod
    def of(cls, region: Region) -> _Mentions:
        """What the function of a region says."""
        found = cls(region, _written_in(region))
        found._collect(region.function.body, is_inside=False)
        used = {one for node in region.nodes() for one in c.named_in([node])}
        for variable in dict.fromkeys(
            [*region.function.parameters, *c.declared_in(walk(region.function.body))]
        ):
            for extent in variable.extents:
                if isinstance(extent, Expression):
                    found._collect(extent, is_inside=variable in used)
        return found

    def _collect(self, node: Node, *, is_inside: bool) -> None:
        is_inside = is_inside or (isinstance(node, CStatement) and self.region.holds(node.span.start))
        if isinstance(node, c.Declare) and is_inside:
            # Its value sets all fields at once.
            self.whole.update(one for one in node.variables if one.initial and not one.is_pointer)
        path = None if isinstance(node, CStatement) else _path_of(node)
        if path is not None and path.is_whole:
            path = self._as_number(path)
            self.paths[node] = path
            if is_inside:
                self.inside.setdefault(path.key, []).append(path)
            for step in path.steps:
                for subscript in step.subscripts:
                    self._collect(subscript, is_inside=is_inside)
            return
        if isinstance(node, c.Reference):
            self.outside.add(node.variable)
            if is_inside:
                self.whole.add(node.variable)
        for child in children(node):
            self._collect(child, is_inside=is_inside)

    def _as_number(self, path: _FieldPath) -> _FieldPath:
        """The path with constant subscripts of a whole number as a part of its name, if it stays the same."""
        *others, last = path.steps
        is_known = all(isinstance(bare(one), c.Number) for one in last.subscripts)
        is_number = last.variable.element.is_integer and len(last.subscripts) == last.variable.rank
        if not last.subscripts or not is_known or not is_number or path.key in self.written:
            return path
        numbers = [getattr(bare(one), "value", 0) for one in last.subscripts]
        name = last.variable.name + "".join(f"[{one}]" for one in numbers)
        kind = last.variable.element
        element = replace(last.variable, name=name, type=kind, extents=(), is_pointer=False)
        return replace(path, steps=(*others, _FieldStep(element, ())), is_behind=last.variable.is_pointer)

    @property
    def roots_of_fields(self) -> set[Variable]:
        """The structures whose fields can be variables."""
        changed = set(assigned_in(self.region.nodes()))
        keys: dict[Variable, list[Key]] = {}
        for key in self.inside:
            keys.setdefault(key[0], []).append(key)
        return {
            root
            for root, ours in keys.items()
            if root not in self.whole | changed
            and not any(_is_part(one, other) for one in ours for other in ours)
            and not any(map(self._may_be_two_names, ours))
        }

    def _may_be_two_names(self, key: Key) -> bool:
        """Whether a key reaches memory by several pointers, and the region writes there."""
        paths = self.inside[key]
        several = [any(_kept_subscripts(paths, number)) for number in range(len(paths[0].steps) - 1)]
        is_pointer = [one.variable.is_pointer for one in paths[0].steps[1:]]
        first = several.index(True) if True in several else len(several)
        return any(is_pointer[first:]) and key in self.written


def _written_in(region: Region) -> frozenset[Key]:
    """The fields that a region assigns to, or takes the address of."""
    operands = (changed_operand(node) for node in region.nodes())
    paths = (_path_of(bare(one)) for one in operands if one is not None)
    return frozenset(path.key for path in paths if path is not None)


def _is_part(key: Key, other: Key) -> bool:
    """Whether one key is a field of what another one is."""
    return len(key[1]) < len(other[1]) and other[1][: len(key[1])] == key[1]


def _path_of(expression: Expression) -> _FieldPath | None:
    """A field with its subscripts; None if the expression is something else."""
    steps: list[_FieldStep] = []
    subscripts: list[Expression] = []
    inner = bare(expression)
    if inner is not expression:
        return None
    while True:
        match inner:
            case c.Subscript(base=base, index=index):
                subscripts.insert(0, index)
            case c.Unary(operator="*", operand=base):
                subscripts.insert(0, _zero(inner.span))
            case c.Member(base=base, field=Variable() as variable, is_arrow=is_arrow):
                steps.insert(0, _FieldStep(variable, tuple(subscripts)))
                subscripts = [_zero(inner.span)] if is_arrow else []
            case c.Reference(variable=variable):
                steps.insert(0, _FieldStep(variable, tuple(subscripts)))
                return _FieldPath(expression, tuple(steps)) if len(steps) > 1 else None
            case _:
                return None
        inner = bare(base)


def _zero(span: Span) -> c.Number:
    return c.Number(replace(span, is_text=False), _ZERO, 0, "0")


# ---------------------------------------------------------------- variables


def _kept_subscripts(paths: Sequence[_FieldPath], number: int) -> list[bool]:
    """Which subscripts of a step say something: those of a pointer do not where they all are 0."""
    variable = paths[0].steps[number].variable
    return [
        extent is not None or not all(_is_zero(one.steps[number].subscripts[k]) for one in paths)
        for k, extent in enumerate(variable.extents)
    ]


def _is_zero(subscript: Expression) -> bool:
    return isinstance(subscript, c.Number) and subscript.value == 0


def _variable(paths: Sequence[_FieldPath], found: _Mentions, function: FunctionTree) -> Variable:
    """The variable that a field is."""
    steps = paths[0].steps
    root, last = steps[0].variable, steps[-1].variable
    extents: list[int | Expression | None] = []
    pieces = [""]
    is_behind_pointer = root.is_pointer
    for number, step in enumerate(steps[:-1]):
        pieces[-1] += step.variable.name
        kept = _kept_subscripts(paths, number)
        for k, extent in enumerate(step.variable.extents):
            if kept[k]:
                extents.append(extent)
                pieces.append("")
            elif k + 1 < len(kept):
                pieces[-1] += "[0]"
        is_behind_pointer = is_behind_pointer or step.variable.is_pointer
        is_arrow = bool(kept) and not kept[-1]
        pieces[-1] += "->" if is_arrow else "."
    pieces[-1] += last.name
    is_array = bool(extents) and not last.is_pointer
    is_open = any(extent is None for extent in extents)
    return replace(
        last,
        name="".join(pieces),
        type=_ARRAY if is_array else last.type,
        storage=_storage(
            root, found, function, is_shared=is_behind_pointer or last.is_pointer or paths[0].is_behind
        ),
        span=root.span,
        extents=(*extents, *last.extents),
        is_pointer=last.is_pointer or is_open,
        is_restrict=last.is_restrict if last.is_pointer else is_open and root.is_restrict,
        is_volatile=last.is_volatile or root.is_volatile,
        initial=None,
        at=root.at,
        holder=root,
        pieces=tuple(pieces),
    )


def _storage(root: Variable, found: _Mentions, function: FunctionTree, *, is_shared: bool) -> c.StorageKind:
    """Where a field is: as global as anything if others may reach it."""
    is_seen = root in found.outside or root in variables_with_address(function)
    return "global" if is_shared or is_seen else root.storage


# ---------------------------------------------------------------- the new region


@dataclass(frozen=True, eq=False)
class _FieldRewriting:
    """Exchanges fields for variables in trees.

    exchanged  variables whose declarations name fields -> the same with those of the new tree
    """

    found: _Mentions
    variables: Mapping[Key, Variable]
    exchanged: dict[Variable, Variable] = field(default_factory=dict["Variable", "Variable"])
    _done: dict[Node, Node] = field(default_factory=dict["Node", "Node"])

    def region(self) -> Region:
        """The region of the new function."""
        region, function = self.found.region, self.found.region.function
        known = dict.fromkeys([*function.parameters, *c.declared_in(walk(function.body))])
        while new := {one: replace(one) for one in known if self._must_change(one)}:
            self.exchanged.update(new)
        for new in self.exchanged.values():
            object.__setattr__(new, "extents", self.of(new.extents))
            object.__setattr__(new, "initial", self.of(new.initial))
        parameters = tuple(self.exchanged.get(one, one) for one in function.parameters)
        changed = replace(function, parameters=parameters, body=self.of(function.body))
        return replace(region, function=changed, statements=self.of(region.statements), plain=region)

    def _must_change(self, variable: Variable) -> bool:
        """Whether a declaration that is not exchanged yet names a field, or a variable that is."""
        if variable in self.exchanged:
            return False
        parts = (*variable.extents, variable.initial)
        nodes = [node for part in parts if isinstance(part, Expression) for node in walk(part)]
        is_named = any(one in self.exchanged for one in c.named_in(nodes))
        return is_named or any(self._variable(node) is not None for node in nodes)

    def _variable(self, node: Node) -> Variable | None:
        path = self.found.paths.get(node)
        return None if path is None else self.variables.get(path.key)

    def of(self, part: Any) -> Any:
        """A part of a tree with its fields exchanged; the same object if it has none."""
        if isinstance(part, tuple):
            return tuple(map(self.of, part))  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(part, Variable):
            return self.exchanged.get(part, part)
        if not isinstance(part, Expression | CStatement):
            return part
        if part not in self._done:
            self._done[part] = self._new(part)
        return self._done[part]

    def _new(self, node: Node) -> Node:
        variable = self._variable(node)
        if variable is not None:
            return self._element(self.found.paths[node], variable)
        old = {one.name: getattr(node, one.name) for one in fields(node)}
        new = {name: self.of(value) for name, value in old.items()}
        return replace(node, **new) if any(_differ(new[name], old[name]) for name in old) else node

    def _element(self, path: _FieldPath, variable: Variable) -> Expression:
        """The variable with the subscripts that say something."""
        subscripts: list[Expression] = []
        paths = self.found.inside[path.key]
        for number, step in enumerate(path.steps[:-1]):
            kept = _kept_subscripts(paths, number)
            subscripts += [one for one, stays in zip(step.subscripts, kept, strict=True) if stays]
        subscripts += path.steps[-1].subscripts
        span, kind = path.node.span, path.node.type
        element: Expression = c.Reference(span, kind if not subscripts else variable.type, variable)
        for number, subscript in enumerate(subscripts):
            is_last = number == len(subscripts) - 1
            element = c.Subscript(span, kind if is_last else _ARRAY, element, self.of(subscript))
        return element


def _differ(new: Any, old: Any) -> bool:
    if isinstance(new, tuple) and isinstance(old, tuple):
        return any(map(_differ, new, old))  # pyright: ignore[reportUnknownArgumentType]
    return new is not old
