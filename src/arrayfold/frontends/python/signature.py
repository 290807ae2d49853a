"""The arguments and temporaries of a Python kernel, and what is known of their sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.names import CNames, ImportedNames, stored_names
from arrayfold.frontends.python.text import PythonText
from arrayfold.frontends.python.values import DTYPES, DType, NumberKind, dtype_called

_ANNOTATIONS = f"Annotate numbers as int or float, and arrays with one of {', '.join(DTYPES)}."
_CREATORS = {
    "arrayfold.empty": None,
    **{f"numpy.{name}": value for name, value in (("empty", None), ("zeros", 0), ("ones", 1))},
}
_SHAPES = "Sizes are sums and multiples of sizes and whole numbers: N, N + 2, 2 * N."


@dataclass
class ArrayInfo:
    """An array of a kernel; extents without a name yet are None.

    made_by  what tells its shape: a tuple of sizes, another array, or the value that is assigned to it
    """

    name: str
    dtype: DType
    is_argument: bool
    node: ast.AST
    extents: list[Formula | None] | None = None
    is_written: bool = False
    made_by: Literal["shape", "like", "value"] = "shape"

    @property
    def rank(self) -> int:
        """How many subscripts it has."""
        return len(self.lengths)

    @property
    def lengths(self) -> list[Formula | None]:
        """Its extents, once its rank is known."""
        assert self.extents is not None
        return self.extents

    @property
    def shape(self) -> tuple[Formula, ...]:
        """Its extents, once all of them are named."""
        return tuple(extent for extent in self.lengths if extent is not None)


@dataclass
class Interface:
    """What stands around the loops of a kernel.

    sizes       C name -> the array and the dimension whose length it is
    scalars     arguments that are numbers -> int or float
    named       Python name -> size that it stands for
    rules       conditions on sizes that the kernel asserts, as isl text, each with its node
    setup       statements that are dealt with here, and so are not part of the loops
    filled      those that make arrays with values -> the value
    """

    text: PythonText
    function: ast.FunctionDef
    names: ImportedNames
    c_names: CNames
    arrays: dict[str, ArrayInfo] = field(default_factory=dict[str, ArrayInfo])
    sizes: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    scalars: dict[str, Literal["int", "float"]] = field(default_factory=dict[str, Literal["int", "float"]])
    named: dict[str, Formula] = field(default_factory=dict[str, Formula])
    rules: list[tuple[str, ast.expr]] = field(default_factory=list[tuple[str, ast.expr]])
    setup: set[ast.stmt] = field(default_factory=set[ast.stmt])
    filled: dict[ast.stmt, int] = field(default_factory=dict[ast.stmt, int])

    def path(self, node: ast.AST) -> str | None:
        """What an imported name means, unless the kernel uses the name itself."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_own = isinstance(root, ast.Name) and root.id in self.local_names
        return None if is_own else self.names.path(node)

    @cached_property
    def local_names(self) -> frozenset[str]:
        """The names that the kernel assigns or takes."""
        arguments = (argument.arg for argument in self.function.args.args)
        return frozenset([*arguments, *(node.id for node in stored_names(self.function))])

    def stores(self, name: str) -> list[ast.Name]:
        """Where a name gets a value."""
        return [node for node in stored_names(self.function) if node.id == name]

    def extent(self, array: str, dimension: int, node: ast.AST) -> Formula:
        """The length of an array along a dimension; one without a name gets one."""
        info = self.arrays[array]
        if not 0 <= dimension < info.rank:
            raise self.text.error(
                f"{array} has {info.rank} dimensions, so it has no shape[{dimension}]", node
            )
        extent = info.lengths[dimension]
        if extent is not None:
            return extent
        return self.name_extent(info, dimension, self.c_names.fresh(f"{self.c_names.of(array)}_{dimension}"))

    def name_extent(self, info: ArrayInfo, dimension: int, name: str) -> Formula:
        """The length of an array along a dimension, which gets that name in C."""
        extent = info.lengths[dimension] = Formula.name(name)
        self.sizes[name] = (info.name, dimension)
        return extent

    def size(
        self, node: ast.expr, counters: Mapping[str, Formula] | None = None, hint: str = _SHAPES
    ) -> Formula:
        """An expression of sizes and whole numbers, and of counters of loops if they are given."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return Formula.constant(value)
            case ast.Name(id=name) if counters is not None and name in counters:
                return counters[name]
            case ast.Name(id=name) if name in self.named:
                return self.named[name]
            case ast.Name(id=name) if self.scalars.get(name) == "int":
                return Formula.name(self.c_names.of(name))
            case ast.Name(id=name) if name not in self.local_names and name in self.names.constants:
                value = self.names.constants[name]
                if isinstance(value, int):
                    return Formula.constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.size(operand, counters, hint)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.size(left, counters, hint) + self.size(right, counters, hint)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.size(left, counters, hint) - self.size(right, counters, hint)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                product = self.size(left, counters, hint) * self.size(right, counters, hint)
                if product.is_affine:
                    return product
            case _:
                length = self.length(node)
                if length is not None:
                    return self.extent(*length, node)
        raise self.text.error(
            f"{self.text.source(node)} is not a size that is known when the kernel is called", node, hint
        )

    def length(self, node: ast.expr) -> tuple[str, int] | None:
        """`A.shape[k]` or `len(A)`: which array and which dimension."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                dimension = 0
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as dimension),
            ):
                pass
            case _:
                return None
        if name not in self.arrays:
            raise self.text.error(f"{name} is not an array", node)
        return name, dimension


def subscripts(node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """`A[i][j, k]`: the expression that is subscripted, and the indices."""
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        indices = [*(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]), *indices]
        node = node.value
    return node, indices


def dtype_of(text: PythonText, node: ast.expr) -> DType:
    """The element type that an expression names: "float32" or np.float32."""
    word = node.value if isinstance(node, ast.Constant) else ast.unparse(node).split(".")[-1]
    kind = dtype_called(str(word))
    if kind is None:
        raise text.error(f"there is no element type {word}", node, f"It is one of {', '.join(DTYPES)}.")
    return kind


def keyword_dtype(text: PythonText, call: ast.Call, default: DType, complaint: str) -> DType:
    """The element type that dtype= names in a call, which takes no other keyword."""
    for keyword in call.keywords:
        if keyword.arg != "dtype":
            raise text.error(complaint.format(keyword.arg or "**"), keyword.value)
        default = dtype_of(text, keyword.value)
    return default


# ---------------------------------------------------------------- arguments


def read_arguments(interface: Interface, dtype: DType) -> None:
    """Note which arguments are arrays, and which are numbers."""
    text, given = interface.text, interface.function.args
    for odd, what in ((given.vararg, "*"), (given.kwarg, "**")):
        if odd is not None:
            raise text.error(
                f"{what}{odd.arg} cannot be an argument of a kernel", odd, "Name every argument."
            )
    for node in filter(None, [*given.defaults, *given.kw_defaults]):
        raise text.error("arguments of a kernel have no default values", node)
    for node in (*given.posonlyargs, *given.kwonlyargs):
        raise text.error(f"{node.arg} must be an ordinary argument, without / or *", node)
    arrays = set(_array_names(interface.function))
    for argument in given.args:
        name, kind = argument.arg, _annotated(interface, argument)
        if name not in arrays:
            interface.scalars[name] = _scalar_kind(interface, argument, kind)
            continue
        if kind in ("int", "float"):
            message = f"{name} is annotated as a number, but it is used as an array"
            raise text.error(message, argument, _ANNOTATIONS)
        interface.arrays[name] = ArrayInfo(name, kind or dtype, True, argument)


def _annotated(interface: Interface, argument: ast.arg) -> NumberKind | None:
    """The element type, int or float, that an annotation names; None without one that says so."""
    node = argument.annotation
    if node is None:
        return None
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).split(".")[-1] == "NDArray":
        node = node.slice
    word = node.value if isinstance(node, ast.Constant) else ast.unparse(node).split(".")[-1]
    match str(word):
        case "int" | "float" as kind:
            return kind
        case name if name in DTYPES:
            return dtype_called(name)
        case "ndarray" | "Any" | "ArrayLike":
            return None
        case _:
            message = f"{word} is not a type for an argument of a kernel"
            raise interface.text.error(message, node, _ANNOTATIONS)


def _scalar_kind(
    interface: Interface, argument: ast.arg, annotated: NumberKind | None
) -> Literal["int", "float"]:
    text, name = interface.text, argument.arg
    if annotated == "int" or annotated == "float":
        return annotated
    uses = [node for node in ast.walk(interface.function) if isinstance(node, ast.Name) and node.id == name]
    if not uses:
        raise text.error(f"argument {name} is never used", argument, "Leave it out, or annotate it.")
    if annotated is not None:
        raise text.error(
            f"{name} is annotated as an array, but it is never subscripted", argument, _ANNOTATIONS
        )
    places = set(_index_names(interface.function))
    for use in uses:
        if use not in places:
            raise text.error(
                f"{name} is neither an array nor only a bound or an index, so its type is not known",
                use,
                f"Annotate it in the head of the kernel, {name}: float or {name}: int; "
                f"a whole array is {name}[:], with a colon for each dimension.",
            )
    return "int"


def _index_names(function: ast.FunctionDef) -> Iterator[ast.Name]:
    """Names that stand in subscripts, in range(), in shapes or in assertions."""
    for node in ast.walk(function):
        inside: Sequence[ast.expr] = []
        match node:
            case ast.Subscript(slice=part) | ast.Assert(test=part):
                inside = [part]
            case ast.Call(
                func=ast.Attribute(attr="empty" | "zeros" | "ones" | "prange")
                | ast.Name(id="empty" | "zeros" | "ones" | "range" | "prange"),
                args=inside,
            ):
                pass
            case _:
                pass
        for part in inside:
            yield from (inner for inner in ast.walk(part) if isinstance(inner, ast.Name))


def _array_names(function: ast.FunctionDef) -> Iterator[str]:
    """Names that are subscripted, or whose shape is asked for."""
    for node in ast.walk(function):
        match node:
            case (
                ast.Subscript(value=ast.Name(id=name))
                | ast.Attribute(value=ast.Name(id=name), attr="shape")
                | ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])
                | ast.Call(
                    func=ast.Attribute(attr="empty_like" | "zeros_like" | "ones_like"),
                    args=[ast.Name(id=name)],
                )
            ):
                yield name
            case _:
                pass


# ---------------------------------------------------------------- temporaries


def read_temporary(interface: Interface, statement: ast.stmt, dtype: DType) -> None:
    """Note the array that a statement makes, if it makes one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            creator = interface.path(call.func)
        case _:
            return
    word = (creator or "").removeprefix("numpy.").removesuffix("_like")
    is_like = creator == f"numpy.{word}_like"
    value = _CREATORS.get(f"numpy.{word}" if is_like else creator or "", -1)
    if value == -1:
        return
    text = interface.text
    if name in interface.arrays or name in interface.scalars:
        raise text.error(f"the name {name} is already taken", statement, "Give the temporary another name.")
    stores = interface.stores(name)
    if len(stores) > 1:
        raise text.error(f"{name} is an array, and it is assigned again here", stores[1])
    default = _default_dtype(interface, call, dtype, is_like=is_like, is_ours=creator == "arrayfold.empty")
    called = text.source(call.func).rpartition(".")[2]
    kind = keyword_dtype(text, call, default, f"{called}() has no argument {{}} here")
    if len(call.args) != 1:
        example = f"np.{called}(a)" if is_like else f"af.{called}((N, M))"
        raise text.error(f"{called}() takes {'an array' if is_like else 'a shape'}, as in {example}", call)
    interface.arrays[name] = ArrayInfo(name, kind, False, call, made_by="like" if is_like else "shape")
    interface.setup.add(statement)
    if value is not None:
        interface.filled[statement] = value


def _default_dtype(
    interface: Interface, call: ast.Call, dtype: DType, *, is_like: bool, is_ours: bool
) -> DType:
    """The element type of an array that does not name one."""
    if not is_like:
        return dtype if is_ours else "float64"
    match call.args:
        case [ast.Name(id=name)] if name in interface.arrays:
            return interface.arrays[name].dtype
        case _:
            message = f"{interface.text.source(call.func)}() takes an array, as in np.empty_like(a)"
            raise interface.text.error(message, call)
