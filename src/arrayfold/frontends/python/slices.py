"""Slices of arrays, as in t[1:-1] = a[:-2] + a[2:]: where they begin, and how many elements they have."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arrayfold.base.errors import InputError
from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.signature import Interface, subscripts
from arrayfold.frontends.python.text import Code

_ZERO, _ONE = Formula.constant(0), Formula.constant(1)
_BOUNDS = "Slices begin and end at sums of sizes, whole numbers and names of loops."


@dataclass(frozen=True)
class SliceLoop:
    """The loop over one dimension of the elements that a statement assigns to.

    name    of its counter in C, which is the index of the element that is assigned to
    start   the first one
    length  how many there are; none where that is negative
    """

    name: str
    start: Formula
    length: Formula

    def head(self, node: ast.AST) -> Code:
        """The first line of the loop."""
        stop = self.start + self.length
        return Code.of(
            f"for (long long {self.name} = {self.start}; {self.name} < {stop}; {self.name}++) {{", at=node
        )


@dataclass(frozen=True)
class Slices:
    """The slices of a kernel at one place.

    iterators  names of the loops around it -> whether the loop runs over natural numbers only
    """

    interface: Interface
    iterators: Mapping[str, bool]

    def loops(self, target: ast.Subscript, names: Sequence[str]) -> list[SliceLoop]:
        """The loops over what is assigned to; `names` are those of their counters."""
        base, indices = subscripts(target)
        assert isinstance(base, ast.Name)
        ranges = [
            self._range(base.id, dimension, index)
            for dimension, index in enumerate(indices)
            if isinstance(index, ast.Slice)
        ]
        return [SliceLoop(name, *one) for name, one in zip(names, ranges, strict=False)]

    def element(
        self, array: str, indices: Sequence[ast.expr], loops: Sequence[SliceLoop], node: ast.expr
    ) -> list[Formula | ast.expr]:
        """The indices of the element that belongs to one turn of the loops, as NumPy broadcasts."""
        text = self.interface.text
        sliced = [dimension for dimension, index in enumerate(indices) if isinstance(index, ast.Slice)]
        if len(sliced) > len(loops):
            raise text.error(
                f"{text.source(node)} has {len(sliced)} dimensions, what it is assigned to has {len(loops)}",
                node,
            )
        found: list[Formula | ast.expr] = [*indices]
        for dimension, loop in zip(sliced, loops[len(loops) - len(sliced) :], strict=True):
            index = indices[dimension]
            assert isinstance(index, ast.Slice)
            start, length = self._range(array, dimension, index)
            if length == loop.length:
                found[dimension] = Formula.name(loop.name) + (start - loop.start)
            elif length == _ONE:
                found[dimension] = start
            else:
                self._require_equal(length, loop.length, node)
                found[dimension] = Formula.name(loop.name) + (start - loop.start)
        return found

    def shape(self, value: ast.expr) -> list[Formula]:
        """The lengths of the new array that a value makes: those of its part with the most dimensions."""
        shapes = [self._shape(part) for part in array_parts(value, self.interface.arrays)]
        return max(shapes, key=len)

    def _shape(self, node: ast.Name | ast.Subscript) -> list[Formula]:
        name, indices = subscripts(node)
        assert isinstance(name, ast.Name)
        info = self.interface.arrays[name.id]
        if isinstance(node, ast.Name):
            return [self.interface.extent(name.id, dimension, node) for dimension in range(info.rank)]
        return [
            self._range(name.id, dimension, index)[1]
            for dimension, index in enumerate(indices)
            if isinstance(index, ast.Slice)
        ]

    def _require_equal(self, length: Formula, other: Formula, node: ast.expr) -> None:
        """NumPy needs equal lengths, so a kernel cannot be called with others."""
        sizes = {*self.interface.sizes, *map(self.interface.c_names.of, self.interface.scalars)}
        if (length - other).is_constant or not (length.names() | other.names()) <= sizes:
            what = self.interface.text.source(node)
            raise self.interface.text.error(
                f"{what} has {length} elements, what it is assigned to has {other}", node
            )
        self._require(f"{length} = {other}", node)

    def _require(self, rule: str, node: ast.expr) -> None:
        if rule not in [text for text, _ in self.interface.rules]:
            self.interface.rules.append((rule, node))

    def reads_changed(self, value: ast.expr, target: ast.Subscript) -> bool:
        """Whether a value reads elements that the statement changes before it is their turn."""
        base, indices = subscripts(target)
        assert isinstance(base, ast.Name)
        for node in array_parts(value, {base.id}):
            theirs = subscripts(node)[1] or whole(len(indices))
            if len(theirs) != len(indices) or not self._is_later(base.id, indices, theirs):
                return True
        return False

    def _is_later(self, array: str, written: Sequence[ast.expr], read: Sequence[ast.expr]) -> bool:
        """Whether elements that are read are other ones, the same ones, or those of later turns."""
        ahead: list[Formula] = []
        for dimension, (one, other) in enumerate(zip(written, read, strict=True)):
            if isinstance(one, ast.Slice) != isinstance(other, ast.Slice):
                return False
            if isinstance(one, ast.Slice) and isinstance(other, ast.Slice):
                (start, length), (from_, count) = (
                    self._range(array, dimension, part) for part in (one, other)
                )
                if length != count:
                    return False
                ahead.append(from_ - start)
            elif (distance := self._distance(one, other)) is not None and distance != _ZERO:
                return True
        first = next((step for step in ahead if step != _ZERO), _ZERO)
        return first.is_constant and first.as_number() >= 0

    def _distance(self, one: ast.expr, other: ast.expr) -> Formula | None:
        """How far one index is from another, if that is a number."""
        try:
            first, second = (self.interface.size(index, self._counters, _BOUNDS) for index in (one, other))
        except InputError:
            return None
        return second - first if (second - first).is_constant else None

    @cached_property
    def _counters(self) -> dict[str, Formula]:
        return {name: Formula.name(self.interface.c_names.of(name)) for name in self.iterators}

    def _range(self, array: str, dimension: int, node: ast.Slice) -> tuple[Formula, Formula]:
        """The first index of a slice, and the number of its elements."""
        text, extent = self.interface.text, self.interface.extent(array, dimension, node)
        if node.step is not None and not (isinstance(node.step, ast.Constant) and node.step.value == 1):
            raise text.error("a slice with a step cannot be analysed", node.step, "Write a loop.")
        start = _ZERO if node.lower is None else self._bound(node.lower, extent)
        stop = extent if node.upper is None else self._bound(node.upper, extent)
        return start, stop - start

    def _bound(self, node: ast.expr, extent: Formula) -> Formula:
        """Where a slice begins or ends; what may be negative would count from the end."""
        interface = self.interface
        bound = interface.size(node, self._counters, _BOUNDS)
        if bound.is_constant:
            return extent + bound if bound.as_number() < 0 else bound
        if self._is_natural(bound) or bound == extent:
            return bound
        if bound.names() & {str(counter) for counter in self._counters.values()}:
            raise interface.text.error(
                f"{interface.text.source(node)} may be negative, and then counts from the end of the array",
                node,
                "Write a loop over the elements.",
            )
        self._require(f"{bound} >= 0", node)
        return bound

    def _is_natural(self, bound: Formula) -> bool:
        """Whether a sum has no negative term: of sizes, and of loops over natural numbers."""
        interface = self.interface
        natural = {interface.c_names.of(name) for name, is_natural in self.iterators.items() if is_natural}
        natural.update(interface.sizes)
        found = bound.coefficients(sorted(bound.names()))
        if found is None or not bound.names() <= natural:
            return False
        factors, rest = found
        return all(one.is_constant and one.as_number() >= 0 for one in (*factors, rest))


def part_of_slice(node: ast.Subscript) -> ast.Subscript | None:
    """The slice that is subscripted once more, as a[1:] in a[1:][i]."""
    inner = node.value
    while isinstance(inner, ast.Subscript):
        parts = inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            return inner
        inner = inner.value
    return None


def has_slice(node: ast.expr) -> bool:
    """Whether several elements are meant, and not one."""
    return any(isinstance(index, ast.Slice) for index in subscripts(node)[1])


def whole(rank: int) -> list[ast.expr]:
    """The indices of a whole array."""
    return [ast.Slice() for _ in range(rank)]


def is_several(node: ast.expr, arrays: Container[str]) -> bool:
    """Whether an expression stands for several numbers, because a slice or a whole array is part of it."""
    return any(isinstance(part, ast.Name) or has_slice(part) for part in array_parts(node, arrays))


def array_parts(node: ast.expr, arrays: Container[str]) -> list[ast.Name | ast.Subscript]:
    """The arrays inside an expression: whole ones, and those with subscripts."""
    inner = {part.value for part in ast.walk(node) if isinstance(part, ast.Subscript | ast.Attribute)}
    lengths = [
        part for part in ast.walk(node) if isinstance(part, ast.Call) and ast.unparse(part.func) == "len"
    ]
    inner.update(argument for call in lengths for argument in call.args)
    found: list[ast.Name | ast.Subscript] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Subscript) and part not in inner:
            base, _ = subscripts(part)
            if isinstance(base, ast.Name) and base.id in arrays:
                found.append(part)
    return found


def computed_array(interface: Interface, statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the value of a new array that a statement computes, as in t = a[1:] + b[1:].

    Names for arrays and for parts of them would be views.
    """
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if statement not in interface.setup:
            original = _copied(interface, value)
        case _:
            return None
    if not is_several(original or value, interface.arrays):
        return None
    if original is None and isinstance(value, ast.Name | ast.Subscript):
        source = interface.text.source(value)
        raise interface.text.error(
            f"{name} would be another name for {source}",
            statement,
            f"Write {source} where it is used, or make a copy: {name} = np.copy({source})",
        )
    return name, original or value


def _copied(interface: Interface, value: ast.expr) -> ast.expr | None:
    """What `x.copy()` and `np.copy(x)` copy."""
    match value:
        case ast.Call(func=ast.Attribute(value=original, attr="copy"), args=[], keywords=[]):
            return original
        case ast.Call(func=function, args=[original], keywords=[]) if (
            interface.path(function) == "numpy.copy"
        ):
            return original
        case _:
            return None
