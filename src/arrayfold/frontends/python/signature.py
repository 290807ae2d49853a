"""The arguments, sizes and temporaries of a Python kernel, before its loops are looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from arrayfold.base.errors import InputError
from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.arguments import read_arguments, read_temporary
from arrayfold.frontends.python.assertions import read_assertion
from arrayfold.frontends.python.interface import Interface, shape_of
from arrayfold.frontends.python.names import CNames, Names
from arrayfold.frontends.python.text import PythonText
from arrayfold.frontends.python.types import DType


def read_interface(
    text: PythonText, function: ast.FunctionDef, names: Names, dtype: DType, c_names: CNames
) -> Interface:
    """What the arguments and the first statements of a kernel say."""
    interface = Interface(text, function, names, c_names)
    c_names.reserve(interface.local_names)
    read_arguments(interface, dtype)
    for statement in function.body:
        read_temporary(interface, statement, dtype)
    _read_ranks(interface)
    for statement in function.body:
        _read_naming(interface, statement)
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            interface.setup.add(statement)
            read_assertion(interface, statement.test, is_shape=True)
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            read_assertion(interface, statement.test, is_shape=False)
    for name in interface.arrays:
        _complete(interface, name)
    return interface


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
                f"{name} has {known} dimensions, not {rank} as here",
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
            elif len(interface.stores(target.id)) == 1 and target.id not in interface.scalars:
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


def _name_size(interface: Interface, target: ast.expr, array: str, dimension: int, node: ast.AST) -> None:
    text = interface.text
    if not isinstance(target, ast.Name):
        raise text.error("expected a name for a size here", target)
    name = target.id
    if name == "_":
        return
    stores = interface.stores(name)
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
