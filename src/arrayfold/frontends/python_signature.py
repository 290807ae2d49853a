"""The arguments, sizes and temporaries of a Python kernel, before its loops are looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arrayfold.errors import InputError
from arrayfold.formula import Formula
from arrayfold.frontends.python_names import CNames, Names
from arrayfold.frontends.python_text import PythonText
from arrayfold.frontends.python_types import DTYPES, DType, dtype_called

_SHAPES = "Sizes are sums and multiples of sizes and whole numbers: N, N + 2, 2 * N."
_ANNOTATIONS = f"Annotate numbers as int or float, and arrays with one of {', '.join(DTYPES)}."
_CREATORS = ("arrayfold.empty", "numpy.empty")


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


def read_interface(
    text: PythonText, function: ast.FunctionDef, names: Names, dtype: DType, c_names: CNames
) -> Interface:
    """What the arguments and the first statements of a kernel say."""
    interface = Interface(text, function, names, c_names)
    c_names.reserve(interface.local_names)
    _read_arguments(interface, dtype)
    for statement in function.body:
        _read_temporary(interface, statement, dtype)
    _read_ranks(interface)
    for statement in function.body:
        _read_naming(interface, statement)
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            interface.setup.add(statement)
            _read_assertion(interface, statement.test, is_shape=True)
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            _read_assertion(interface, statement.test, is_shape=False)
    for name in interface.arrays:
        _complete(interface, name)
    return interface


# ---------------------------------------------------------------- arguments


def _read_arguments(interface: Interface, dtype: DType) -> None:
    text, given = interface.text, interface.function.args
    for odd, what in ((given.vararg, "*"), (given.kwarg, "**")):
        if odd is not None:
            raise text.error(
                f"{what}{odd.arg} cannot be an argument of a kernel", odd, "Name every argument."
            )
    if given.defaults or any(given.kw_defaults):
        node = next(filter(None, [*given.defaults, *given.kw_defaults]))
        raise text.error("arguments of a kernel have no default values", node)
    if given.posonlyargs or given.kwonlyargs:
        node = [*given.posonlyargs, *given.kwonlyargs][0]
        raise text.error(f"{node.arg} must be an ordinary argument, without / or *", node)
    arrays = set(_array_names(interface.function))
    for argument in given.args:
        kind = _annotated(interface, argument)
        if argument.arg in arrays:
            if kind in ("int", "float"):
                raise text.error(
                    f"{argument.arg} is annotated as a number, but it is used as an array",
                    argument,
                    _ANNOTATIONS,
                )
            interface.arrays[argument.arg] = ArrayInfo(
                argument.arg, dtype_called(kind) or dtype, True, argument
            )
        else:
            interface.scalars[argument.arg] = _scalar_kind(interface, argument, kind)


def _annotated(interface: Interface, argument: ast.arg) -> str | None:
    """The element type, int or float, that an annotation names; None without one that says so."""
    node = argument.annotation
    match node:
        case None:
            return None
        case ast.Subscript(value=base, slice=inner) if ast.unparse(base).split(".")[-1] == "NDArray":
            node = inner
        case _:
            pass
    word = node.value if isinstance(node, ast.Constant) else ast.unparse(node).split(".")[-1]
    if word in (*DTYPES, "int", "float"):
        return str(word)
    if word in ("ndarray", "Any", "ArrayLike"):
        return None
    raise interface.text.error(f"{word} is no type of an argument of a kernel", node, _ANNOTATIONS)


def _scalar_kind(interface: Interface, argument: ast.arg, annotated: str | None) -> str:
    text, name = interface.text, argument.arg
    if annotated in ("int", "float"):
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
                f"Annotate it in the head of the kernel: {name}: float, or {name}: int.",
            )
    return "int"


def _index_names(function: ast.FunctionDef) -> Iterator[ast.Name]:
    """Names that stand in subscripts, in range(), in shapes or in assertions."""
    for node in ast.walk(function):
        inside: list[ast.AST] = []
        match node:
            case ast.Subscript(slice=index):
                inside = [index]
            case ast.Call(func=ast.Name(id="range"), args=arguments):
                inside = [*arguments]
            case ast.Call(func=ast.Attribute(attr="empty") | ast.Name(id="empty"), args=arguments):
                inside = [*arguments]
            case ast.Assert(test=test):
                inside = [test]
            case _:
                pass
        for part in inside:
            yield from (inner for inner in ast.walk(part) if isinstance(inner, ast.Name))


def _array_names(function: ast.FunctionDef) -> Iterator[str]:
    """Names that are subscripted, or whose shape is asked for."""
    for node in ast.walk(function):
        match node:
            case (
                ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name), attr="shape")
            ):
                yield name
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                yield name
            case _:
                pass


# ---------------------------------------------------------------- temporaries


def _read_temporary(interface: Interface, statement: ast.stmt, dtype: DType) -> None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            if interface.path(call.func) not in _CREATORS:
                return
        case _:
            return
    text = interface.text
    if name in interface.arrays or name in interface.scalars:
        raise text.error(f"{name} is already there", statement, "Give the temporary another name.")
    stores = _stores(interface, name)
    if len(stores) > 1:
        raise text.error(f"{name} is an array, and it is assigned again here", stores[1])
    default = "float64" if interface.path(call.func) == "numpy.empty" else dtype
    kind: DType = default
    for keyword in call.keywords:
        if keyword.arg != "dtype":
            raise text.error(f"empty() has no argument {keyword.arg or '**'} here", keyword.value)
        kind = dtype_of(text, keyword.value)
    if len(call.args) != 1:
        raise text.error("empty() takes a shape, as in af.empty((N, M))", call)
    interface.arrays[name] = ArrayInfo(name, kind, False, call)
    interface.setup.add(statement)


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


# ---------------------------------------------------------------- shapes


def _read_ranks(interface: Interface) -> None:
    """How many dimensions arrays have: temporaries by their shape, arguments by how they are used."""
    for info in interface.arrays.values():
        if not info.is_argument:
            assert isinstance(info.node, ast.Call)
            info.extents = [None for _ in shape_of(info.node)]
            if not info.extents:
                raise interface.text.error("an array without dimensions is a number", info.node)
    ranks: dict[str, int] = {}
    for name, rank, node in _used_ranks(interface.function):
        if name not in interface.arrays:
            continue
        known = ranks.setdefault(name, rank)
        info = interface.arrays[name]
        known = len(info.extents) if info.extents is not None else known
        if rank != known:
            raise interface.text.error(
                f"{name} has {known} dimensions, but {rank} of them are named here",
                node,
                "Use every subscript; rows and other parts of arrays cannot stand alone.",
            )
    lengths = [
        found
        for node in ast.walk(interface.function)
        if isinstance(node, ast.expr) and (found := _length_of(interface, node)) is not None
    ]
    equal = list(_equal_shapes(interface.function))
    for _ in equal:
        for left, right in equal:
            for one, other in ((left, right), (right, left)):
                if one in ranks and other in interface.arrays:
                    ranks.setdefault(other, ranks[one])
    for name, info in interface.arrays.items():
        if info.extents is None:
            least = max((dimension + 1 for array, dimension in lengths if array == name), default=1)
            info.extents = [None for _ in range(max(ranks.get(name, least), 1))]


def _length_of(interface: Interface, node: ast.expr) -> tuple[str, int] | None:
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape")):
            if name in interface.arrays:
                return interface.length(node)
        case _:
            pass
    return None


def _equal_shapes(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        match node:
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=left), attr="shape"),
                ops=[ast.Eq()],
                comparators=[ast.Attribute(value=ast.Name(id=right), attr="shape")],
            ):
                yield left, right
            case _:
                pass


def _used_ranks(function: ast.FunctionDef) -> Iterator[tuple[str, int, ast.AST]]:
    """Array, number of dimensions, and the node that says so."""
    inner = {node.value for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    for node in ast.walk(function):
        match node:
            case ast.Subscript() if node not in inner:
                count, base = 0, node
                while isinstance(base, ast.Subscript):
                    count += len(base.slice.elts) if isinstance(base.slice, ast.Tuple) else 1
                    base = base.value
                if isinstance(base, ast.Name):
                    yield base.id, count, node
            case ast.Assign(
                targets=[ast.Tuple(elts=targets)], value=ast.Attribute(value=ast.Name(id=name), attr="shape")
            ):
                yield name, len(targets), node
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                ops=[ast.Eq()],
                comparators=[ast.Tuple(elts=sizes)],
            ):
                yield name, len(sizes), node
            case _:
                pass


def _read_naming(interface: Interface, statement: ast.stmt) -> None:
    """`N, M = image.shape`, `N = image.shape[0]`, `N = len(image)`; and the shapes of temporaries."""
    match statement:
        case ast.Assign(
            targets=[ast.Tuple(elts=targets)],
            value=ast.Attribute(value=ast.Name(id=array), attr="shape") as value,
        ) if array in interface.arrays:
            for dimension, target in enumerate(targets):
                _name_size(interface, target, array, dimension, value)
            interface.setup.add(statement)
        case ast.Assign(targets=[ast.Name() as target], value=value):
            found = interface.length(value)
            if found is not None:
                _name_size(interface, target, *found, value)
                interface.setup.add(statement)
            elif statement in interface.setup and isinstance(value, ast.Call):
                info = interface.arrays[target.id]
                info.extents = [interface.size(size) for size in shape_of(value)]
            elif len(_stores(interface, target.id)) == 1 and target.id not in interface.scalars:
                _name_expression(interface, statement, target.id, value)
        case _:
            pass


def _name_expression(interface: Interface, statement: ast.stmt, name: str, value: ast.expr) -> None:
    """`H = N - 2`: a name for an expression of sizes."""
    try:
        interface.named[name] = interface.size(value)
    except InputError:
        return
    interface.setup.add(statement)


def _stores(interface: Interface, name: str) -> list[ast.Name]:
    """Where a name gets a value."""
    return [
        node
        for node in ast.walk(interface.function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]


def _name_size(interface: Interface, target: ast.expr, array: str, dimension: int, node: ast.AST) -> None:
    text = interface.text
    if not isinstance(target, ast.Name):
        raise text.error("expected a name for a size here", target)
    name = target.id
    if name == "_":
        return
    stores = _stores(interface, name)
    if len(stores) > 1 or name in interface.scalars:
        raise text.error(
            f"{name} is a size, and it gets a value more than once",
            stores[-1],
            f"If two sizes are equal, say so: assert {array}.shape[{dimension}] == {name}",
        )
    info = interface.arrays[array]
    assert info.extents is not None
    if info.extents[dimension : dimension + 1] == [None]:
        c_name = interface.c_names.of(name)
        info.extents[dimension] = Formula.name(c_name)
        interface.sizes[c_name] = (array, dimension)
    interface.named[name] = interface.extent(array, dimension, node)


def _complete(interface: Interface, name: str) -> None:
    info = interface.arrays[name]
    for dimension in range(info.rank):
        interface.extent(name, dimension, info.node)


# ---------------------------------------------------------------- assertions

_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}


def _read_assertion(interface: Interface, test: ast.expr, *, is_shape: bool) -> None:
    """Equal shapes become the same sizes; all else that is said of sizes becomes a rule."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            _read_assertion(interface, part, is_shape=is_shape)
        return
    pairs = _shape_pairs(interface, test)
    if pairs is None:
        if not is_shape:
            interface.rules.append((rule_text(interface, test), test))
        return
    if not is_shape:
        return
    for (array, dimension), right in pairs:
        info = interface.arrays[array]
        assert info.extents is not None
        if isinstance(right, tuple):
            other, number = right
            theirs = interface.arrays[other].extents
            assert theirs is not None
            if theirs[number] is None and info.extents[dimension] is not None:
                theirs[number] = info.extents[dimension]
                continue
            value = interface.extent(other, number, test)
        else:
            value = interface.size(right)
        if info.extents[dimension] is None:
            info.extents[dimension] = value
        elif info.extents[dimension] != value:
            interface.rules.append((f"{info.extents[dimension]} = {value}", test))


Length = tuple[str, int]


def _shape_pairs(interface: Interface, test: ast.expr) -> list[tuple[Length, ast.expr | Length]] | None:
    """The lengths that an assertion makes equal to sizes or other lengths; None if it says other things."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    left, right = test.left, test.comparators[0]
    match left, right:
        case (
            ast.Attribute(value=ast.Name(id=one), attr="shape"),
            ast.Attribute(value=ast.Name(id=other), attr="shape"),
        ) if one in interface.arrays and other in interface.arrays:
            ranks = interface.arrays[one].rank, interface.arrays[other].rank
            if ranks[0] != ranks[1]:
                raise interface.text.error(
                    f"{one} has {ranks[0]} dimensions and {other} has {ranks[1]}", test
                )
            return [((one, k), (other, k)) for k in range(ranks[0])]
        case ast.Attribute(value=ast.Name(id=one), attr="shape"), ast.Tuple(elts=sizes) if (
            one in interface.arrays
        ):
            return [((one, k), size) for k, size in enumerate(sizes)]
        case _:
            pass
    for side, value in ((left, right), (right, left)):
        found = interface.length(side)
        if found is not None:
            return [(found, interface.length(value) or value)]
    return None


def rule_text(interface: Interface, test: ast.expr) -> str:
    """A condition on sizes as isl text."""
    match test:
        case ast.BoolOp(op=operator, values=values):
            word = " and " if isinstance(operator, ast.And) else " or "
            return "(" + word.join(rule_text(interface, value) for value in values) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not ({rule_text(interface, operand)})"
        case ast.Compare(left=left, ops=operators, comparators=others):
            words = [_term(interface, left)]
            for operator, other in zip(operators, others, strict=True):
                if type(operator) not in _RELATIONS:
                    raise interface.text.error("sizes are compared with <, <=, >, >=, == and !=", test)
                words += [_RELATIONS[type(operator)], _term(interface, other)]
            pairs = [" ".join(words[k : k + 3]) for k in range(0, len(words) - 2, 2)]
            return " and ".join(pairs)
        case _:
            raise interface.text.error(
                "only conditions on sizes may be asserted in a kernel",
                test,
                "Say assert N >= 3, or assert out.shape == (N, M); check data before the call.",
            )


def _term(interface: Interface, node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int() as divisor)) if divisor > 0:
            return f"(({_term(interface, left)}) mod {divisor})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as divisor)) if (
            divisor > 0
        ):
            return f"floor(({_term(interface, left)})/{divisor})"
        case _:
            return f"({interface.size(node)})"
