"""A Python kernel as a C function with one region."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.helpers import helper_text
from arrayfold.frontends.python.interface import ArrayInfo, Interface, dtype_of
from arrayfold.frontends.python.names import CNames, Names
from arrayfold.frontends.python.signature import read_interface
from arrayfold.frontends.python.statements import Body
from arrayfold.frontends.python.text import Code, PythonText
from arrayfold.frontends.python.types import C_TYPES, DType
from arrayfold.program.signature import Argument, Signature, Size


@dataclass(frozen=True)
class Translated:
    """A kernel as C: the function, how it is called, and what it needs of the file around it.

    rules   conditions on sizes that it asserts, as isl text, each with the node that says so
    """

    text: PythonText
    node: ast.FunctionDef
    signature: Signature
    code: Code
    helpers: frozenset[str]
    rules: Sequence[tuple[str, ast.expr]]
    extents: dict[str, tuple[Formula, ...]]


def kernel_dtype(text: PythonText, decorator: ast.expr) -> DType:
    """The element type that the decorator of a kernel names."""
    if not isinstance(decorator, ast.Call):
        return "float64"
    if decorator.args:
        raise text.error("kernel() takes dtype= and nothing else", decorator)
    dtype: DType = "float64"
    for keyword in decorator.keywords:
        if keyword.arg != "dtype":
            raise text.error("kernel() takes dtype= and nothing else", keyword.value)
        dtype = dtype_of(text, keyword.value)
    return dtype


def translate(
    text: PythonText, function: ast.FunctionDef, names: Names, dtype: DType, functions: CNames
) -> Translated:
    """The C of a kernel.

    functions  C names of the functions of the file
    """
    c_names = CNames(set(functions.taken))
    c_function = functions.of(function.name)
    c_names.taken.add(c_function)
    interface = read_interface(text, function, names, dtype, c_names)
    body = Body(interface)
    lines = body.translate()
    if not lines:
        raise text.error(f"kernel {function.name} does nothing", function)
    signature = _signature(interface, c_function)
    used = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    parameters = [
        *(f"long long {size}" for size in interface.sizes),
        *(f"{'long long' if one.kind == 'int' else 'double'} {one.c_name}" for one in signature.numbers),
        *(_declared(interface, one.name, is_argument=True) for one in signature.arrays),
    ]
    temporaries = [f"    {_declared(interface, name)};\n" for name in signature.temporaries if name in used]
    code = Code.of(
        f"void {c_function}({', '.join(parameters)})\n{{\n",
        *temporaries,
        "#pragma scop\n",
        *lines,
        "#pragma endscop\n}\n",
        at=function,
    )
    extents = {
        c_names.of(name): tuple(extent for extent in info.extents or () if extent is not None)
        for name, info in interface.arrays.items()
    }
    return Translated(text, function, signature, code, frozenset(body.helpers), interface.rules, extents)


def file_head(kernels: Sequence[Translated]) -> Code:
    """What stands before the functions: headers and helpers."""
    helpers = set[str]().union(*(kernel.helpers for kernel in kernels))
    include = "#include <math.h>\n\n" if "math.h" in helpers else ""
    quiet = '#pragma GCC diagnostic ignored "-Wunknown-pragmas"\n'
    return Code.of(include, quiet, *(f"\n{helper_text(name)}" for name in sorted(helpers - {"math.h"})))


def _declared(interface: Interface, name: str, *, is_argument: bool = False) -> str:
    info: ArrayInfo = interface.arrays[name]
    sizes = [str(extent) for extent in info.extents or ()]
    const = "const " if is_argument and not info.is_written else ""
    first = f"[restrict {sizes[0]}]" if is_argument else f"[{sizes[0]}]"
    rest = "".join(f"[{size}]" for size in sizes[1:])
    return f"{const}{C_TYPES[info.dtype]} {interface.c_names.of(name)}{first}{rest}"


def _signature(interface: Interface, c_function: str) -> Signature:
    arguments: list[Argument] = []
    for argument in interface.function.args.args:
        name = argument.arg
        c_name = interface.c_names.of(name)
        if name in interface.arrays:
            info = interface.arrays[name]
            extents = tuple(extent for extent in info.extents or () if extent is not None)
            arguments.append(Argument(name, "array", c_name, info.dtype, extents, info.is_written))
        else:
            kind = "int" if interface.scalars[name] == "int" else "float"
            arguments.append(Argument(name, kind, c_name))
    sizes = tuple(Size(name, array, dimension) for name, (array, dimension) in interface.sizes.items())
    temporaries = tuple(name for name, info in interface.arrays.items() if not info.is_argument)
    return Signature(interface.function.name, c_function, tuple(arguments), sizes, temporaries)
