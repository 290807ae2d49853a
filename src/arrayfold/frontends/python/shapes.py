"""The shapes of the arrays of a Python kernel: ranks, names of sizes, and what is asserted of sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from arrayfold.base.errors import InputError
from arrayfold.frontends.python.expressions import RELATIONS
from arrayfold.frontends.python.names import CNames, ImportedNames
from arrayfold.frontends.python.signature import (
    ArrayInfo,
    Interface,
    read_arguments,
    read_temporary,
    subscripts,
)
from arrayfold.frontends.python.slices import Slices, array_parts, computed_array
from arrayfold.frontends.python.text import PythonText
from arrayfold.frontends.python.values import DType

_ASSERTED = "only conditions on sizes may be asserted in a kernel"
_ASSERTIONS = "Say assert N >= 3, or assert out.shape == (N, M); check data before the call."
_Length = tuple[str, int]


def read_interface(
    text: PythonText, function: ast.FunctionDef, names: ImportedNames, dtype: DType, c_names: CNames
) -> Interface:
    """What the arguments and the first statements of a kernel say."""
    interface = Interface(text, function, names, c_names)
    c_names.reserve(interface.local_names)
    read_arguments(interface, dtype)
    for statement in function.body:
        read_temporary(interface, statement, dtype)
        _read_computed(interface, statement)
    _read_ranks(interface)
    for statement in function.body:
        _read_naming(interface, statement)
    asserts = [statement for statement in function.body if isinstance(statement, ast.Assert)]
    interface.setup |= {*asserts}
    tests = [test for statement in asserts for test in _conjuncts(statement.test)]
    rules = [test for test in tests if not _read_equal_lengths(interface, test)]
    interface.rules += [(_rule_text(interface, test), test) for test in rules]
    for name, info in interface.arrays.items():
        for dimension in range(info.rank):
            interface.extent(name, dimension, info.node)
    return interface


def _read_computed(interface: Interface, statement: ast.stmt) -> None:
    """Note the array that a statement computes as a whole."""
    computed = computed_array(interface, statement)
    if computed is None:
        return
    name, value = computed
    stores = interface.stores(name)
    if name in interface.arrays or name in interface.scalars or len(stores) > 1:
        raise interface.text.error(
            f"{name} is an array, and it is assigned more than once",
            stores[-1],
            f"Assign to its elements: {name}[:] = ...",
        )
    interface.arrays[name] = ArrayInfo(name, "float64", False, value, made_by="value")


def _computed_rank(interface: Interface, info: ArrayInfo) -> int:
    """The largest number of dimensions that a part of its value has."""
    assert isinstance(info.node, ast.expr)
    ranks: list[int] = []
    for part in array_parts(info.node, interface.arrays):
        base, indices = subscripts(part)
        assert isinstance(base, ast.Name)
        is_slice = [isinstance(index, ast.Slice) for index in indices]
        ranks.append(interface.arrays[base.id].rank if isinstance(part, ast.Name) else sum(is_slice))
    return max(ranks)


# ---------------------------------------------------------------- ranks


def _read_ranks(interface: Interface) -> None:
    """How many dimensions arrays have: temporaries by their shape, arguments by how they are used."""
    for info in interface.arrays.values():
        if isinstance(info.node, ast.Call) and info.made_by == "shape":
            info.extents = [None for _ in _shape_of(info.node)]
            if not info.extents:
                raise interface.text.error("an array without dimensions is a number", info.node)
    ranks: dict[str, int] = {}
    for name, rank, node in _used_ranks(interface.function):
        if name not in interface.arrays:
            continue
        known = ranks.setdefault(name, rank)
        info = interface.arrays[name]
        known = info.rank if info.extents is not None else known
        if rank != known:
            raise interface.text.error(
                f"{name} has {known} dimensions, not {rank} as here",
                node,
                "Use every subscript; rows and other parts of arrays cannot stand alone.",
            )
    equal = [*_equal_shapes(interface.function), *_like(interface)]
    for _ in equal:
        for left, right in equal:
            for known_array, other in ((left, right), (right, left)):
                if known_array in ranks and other in interface.arrays:
                    ranks.setdefault(other, ranks[known_array])
    for name, info in interface.arrays.items():
        if info.extents is None and info.made_by != "value":
            rank = ranks.get(name, _least_rank(interface.function, name))
            info.extents = [None for _ in range(max(rank, 1))]
    for name, info in interface.arrays.items():
        if info.extents is None:
            rank = _computed_rank(interface, info)
            if ranks.get(name, rank) != rank:
                raise interface.text.error(f"{name} has {rank} dimensions, not {ranks[name]}", info.node)
            info.extents = [None for _ in range(rank)]


def _like(interface: Interface) -> Iterator[tuple[str, str]]:
    """Arrays that are made with the shape of others."""
    for name, info in interface.arrays.items():
        if (
            info.made_by == "like"
            and isinstance(info.node, ast.Call)
            and isinstance(info.node.args[0], ast.Name)
        ):
            yield name, info.node.args[0].id


def _shape_of(call: ast.Call) -> Sequence[ast.expr]:
    """The sizes that a call of empty() names."""
    shape = call.args[0]
    return shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]


def _least_rank(function: ast.FunctionDef, array: str) -> int:
    """How many dimensions an array has at least, because lengths along them are asked for."""
    rank = 1
    for node in ast.walk(function):
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as dimension),
            ) if name == array:
                rank = max(rank, dimension + 1)
            case _:
                pass
    return rank


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
                base, indices = subscripts(node)
                if isinstance(base, ast.Name):
                    yield base.id, len(indices), node
            case (
                ast.Assign(
                    targets=[ast.Tuple(elts=sizes)],
                    value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                )
                | ast.Compare(
                    left=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                    ops=[ast.Eq()],
                    comparators=[ast.Tuple(elts=sizes)],
                )
            ):
                yield name, len(sizes), node
            case _:
                pass


# ---------------------------------------------------------------- names of sizes


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
        case ast.Assign(targets=[ast.Name(id=name)]) if (
            name in interface.arrays and interface.arrays[name].made_by == "value"
        ):
            info = interface.arrays[name]
            assert isinstance(info.node, ast.expr)
            info.extents = [*Slices(interface, {}).shape(info.node)]
        case ast.Assign(targets=[ast.Name() as target], value=value):
            length = interface.length(value)
            if length is not None:
                _name_size(interface, target, *length, value)
                interface.setup.add(statement)
            elif statement in interface.setup and isinstance(value, ast.Call):
                _size_temporary(interface, target.id, value)
            elif len(interface.stores(target.id)) == 1 and target.id not in interface.scalars:
                # `H = N - 2`: a name for an expression of sizes.
                with suppress(InputError):
                    interface.named[target.id] = interface.size(value)
                    interface.setup.add(statement)
        case _:
            pass


def _size_temporary(interface: Interface, name: str, call: ast.Call) -> None:
    info = interface.arrays[name]
    if info.made_by == "shape":
        info.extents = [interface.size(size) for size in _shape_of(call)]
        return
    (other,) = (other for mine, other in _like(interface) if mine == name)
    if interface.arrays[other].rank != info.rank:
        message = f"{other} has {interface.arrays[other].rank} dimensions and {name} has {info.rank}"
        raise interface.text.error(message, call)
    info.extents = [interface.extent(other, dimension, call) for dimension in range(info.rank)]


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
    if info.lengths[dimension : dimension + 1] == [None]:
        interface.name_extent(info, dimension, interface.c_names.of(name))
    interface.named[name] = interface.extent(array, dimension, node)


# ---------------------------------------------------------------- assertions


def _conjuncts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _conjuncts(part)
    else:
        yield test


def _read_equal_lengths(interface: Interface, test: ast.expr) -> bool:
    """Give lengths that an assertion makes equal the same size; whether it is such an assertion."""
    pairs = _equal_lengths(interface, test)
    for (array, dimension), right in pairs or ():
        lengths = interface.arrays[array].lengths
        if isinstance(right, tuple):
            other, number = right
            theirs = interface.arrays[other].lengths
            if theirs[number] is None and lengths[dimension] is not None:
                theirs[number] = lengths[dimension]
                continue
            value = interface.extent(other, number, test)
        else:
            value = interface.size(right)
        if lengths[dimension] is None:
            lengths[dimension] = value
        elif lengths[dimension] != value:
            interface.rules.append((f"{lengths[dimension]} = {value}", test))
    return pairs is not None


def _equal_lengths(interface: Interface, test: ast.expr) -> list[tuple[_Length, ast.expr | _Length]] | None:
    """The lengths that an assertion makes equal to sizes or other lengths; None if it says other things."""
    arrays = interface.arrays
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            pass
        case _:
            return None
    match left, right:
        case (
            ast.Attribute(value=ast.Name(id=array), attr="shape"),
            ast.Attribute(value=ast.Name(id=other), attr="shape"),
        ) if array in arrays and other in arrays:
            rank, other_rank = arrays[array].rank, arrays[other].rank
            if rank != other_rank:
                message = f"{array} has {rank} dimensions and {other} has {other_rank}"
                raise interface.text.error(message, test)
            return [((array, k), (other, k)) for k in range(rank)]
        case ast.Attribute(value=ast.Name(id=array), attr="shape"), ast.Tuple(elts=sizes) if array in arrays:
            return [((array, k), size) for k, size in enumerate(sizes)]
        case _:
            pass
    for side, value in ((left, right), (right, left)):
        length = interface.length(side)
        if length is not None:
            return [(length, interface.length(value) or value)]
    return None


def _rule_text(interface: Interface, test: ast.expr) -> str:
    """A condition on sizes as isl text."""
    match test:
        case ast.BoolOp(op=operator, values=values):
            word = " and " if isinstance(operator, ast.And) else " or "
            return "(" + word.join(_rule_text(interface, value) for value in values) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not ({_rule_text(interface, operand)})"
        case ast.Compare(left=left, ops=operators, comparators=others):
            words = [_term(interface, left)]
            for operator, other in zip(operators, others, strict=True):
                if type(operator) not in RELATIONS:
                    raise interface.text.error("sizes are compared with <, <=, >, >=, == and !=", test)
                symbol, _ = RELATIONS[type(operator)]
                words += ["=" if symbol == "==" else symbol, _term(interface, other)]
            return " and ".join(" ".join(words[k : k + 3]) for k in range(0, len(words) - 2, 2))
        case _:
            raise interface.text.error(_ASSERTED, test, _ASSERTIONS)


def _term(interface: Interface, node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int() as divisor)) if divisor > 0:
            return f"(({_term(interface, left)}) mod {divisor})"
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=ast.Constant(value=int() as divisor)) if (
            divisor > 0
        ):
            return f"floor(({_term(interface, left)})/{divisor})"
        case _:
            pass
    try:
        return f"({interface.size(node)})"
    except InputError:
        raise interface.text.error(_ASSERTED, node, _ASSERTIONS) from None
