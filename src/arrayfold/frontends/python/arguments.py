"""The arguments and the temporaries of a Python kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from arrayfold.frontends.python.interface import ArrayInfo, Interface, dtype_of
from arrayfold.frontends.python.types import DTYPES, DType, dtype_called

_ANNOTATIONS = f"Annotate numbers as int or float, and arrays with one of {', '.join(DTYPES)}."
_CREATORS = ("arrayfold.empty", "numpy.empty")


def read_arguments(interface: Interface, dtype: DType) -> None:
    """Note which arguments are arrays, and which are numbers."""
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


def read_temporary(interface: Interface, statement: ast.stmt, dtype: DType) -> None:
    """Note the array that a statement makes, if it makes one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            if interface.path(call.func) not in _CREATORS:
                return
        case _:
            return
    text = interface.text
    if name in interface.arrays or name in interface.scalars:
        raise text.error(f"{name} is already there", statement, "Give the temporary another name.")
    stores = interface.stores(name)
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
