"""What stands around the loops of a Python kernel: arrays, sizes, numbers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.names import CNames, Names
from arrayfold.frontends.python.text import PythonText
from arrayfold.frontends.python.types import DTYPES, DType, dtype_called

_SHAPES = "Sizes are sums and multiples of sizes and whole numbers: N, N + 2, 2 * N."


@dataclass
class ArrayInfo:
    """An array of a kernel; an extent that nobody named yet is None."""

    name: str
    dtype: DType
    is_argument: bool
    node: ast.AST
    extents: list[Formula | None] | None = None
    is_written: bool = False

    @property
    def rank(self) -> int:
        """How many subscripts it has."""
        assert self.extents is not None
        return len(self.extents)


@dataclass
class Interface:
    """What stands around the loops of a kernel.

    sizes       C name -> the array and the dimension whose length it is
    scalars     arguments that are numbers -> int or float
    named       Python name -> size that it stands for
    rules       conditions on sizes that the kernel asserts, as isl text, each with its node
    setup       statements that are dealt with here, and so are no part of the loops
    """

    text: PythonText
    function: ast.FunctionDef
    names: Names
    c_names: CNames
    arrays: dict[str, ArrayInfo] = field(default_factory=dict[str, ArrayInfo])
    sizes: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    scalars: dict[str, str] = field(default_factory=dict[str, str])
    named: dict[str, Formula] = field(default_factory=dict[str, Formula])
    rules: list[tuple[str, ast.expr]] = field(default_factory=list[tuple[str, ast.expr]])
    setup: set[ast.stmt] = field(default_factory=set[ast.stmt])

    def path(self, node: ast.AST) -> str | None:
        """What an imported name means, unless the kernel uses the name itself."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_own = isinstance(root, ast.Name) and (root.id in self.arrays or root.id in self.local_names)
        return None if is_own else self.names.path(node)

    @property
    def local_names(self) -> set[str]:
        """The names that the kernel assigns or takes."""
        stored = {
            node.id
            for node in ast.walk(self.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return stored | {argument.arg for argument in self.function.args.args}

    def stores(self, name: str) -> list[ast.Name]:
        """Where a name gets a value."""
        return [
            node
            for node in ast.walk(self.function)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ]

    def extent(self, array: str, dimension: int, node: ast.AST) -> Formula:
        """The length of an array along a dimension; one that nobody named gets a name."""
        info = self.arrays[array]
        assert info.extents is not None
        if not 0 <= dimension < info.rank:
            raise self.text.error(
                f"{array} has {info.rank} dimensions, so it has no shape[{dimension}]", node
            )
        extent = info.extents[dimension]
        if extent is None:
            name = self.c_names.fresh(f"{self.c_names.of(array)}_{dimension}")
            extent = info.extents[dimension] = Formula.name(name)
            self.sizes[name] = (array, dimension)
        return extent

    def size(self, node: ast.expr) -> Formula:
        """An expression of sizes and whole numbers."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return Formula.constant(value)
            case ast.Name(id=name) if name in self.named:
                return self.named[name]
            case ast.Name(id=name) if self.scalars.get(name) == "int":
                return Formula.name(self.c_names.of(name))
            case ast.Name(id=name) if name not in self.local_names and name in self.names.constants:
                value = self.names.constants[name]
                if isinstance(value, int):
                    return Formula.constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.size(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.size(left) + self.size(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.size(left) - self.size(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                product = self.size(left) * self.size(right)
                if product.is_affine:
                    return product
            case _:
                found = self.length(node)
                if found is not None:
                    return self.extent(*found, node)
        raise self.text.error(
            f"{self.text.source(node)} is not a size that is known when the kernel is called", node, _SHAPES
        )

    def length(self, node: ast.expr) -> tuple[str, int] | None:
        """`A.shape[k]` or `len(A)`: which array and which dimension."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return self._known_array(name, node), 0
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as dimension),
            ):
                return self._known_array(name, node), dimension
            case _:
                return None

    def _known_array(self, name: str, node: ast.AST) -> str:
        if name not in self.arrays:
            raise self.text.error(f"{name} is no array", node)
        return name


def dtype_of(text: PythonText, node: ast.expr) -> DType:
    """The element type that an expression names: "float32" or np.float32."""
    word = node.value if isinstance(node, ast.Constant) else ast.unparse(node).split(".")[-1]
    word = {"float": "float64", "int": "int64"}.get(str(word), word)
    kind = dtype_called(str(word))
    if kind is not None:
        return kind
    raise text.error(f"there is no element type {word}", node, f"It is one of {', '.join(DTYPES)}.")


def shape_of(call: ast.Call) -> Sequence[ast.expr]:
    """The sizes that a call of empty() names."""
    shape = call.args[0]
    return shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
