"""A Python kernel as a C function with one region."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from arrayfold.formula import Formula
from arrayfold.frontends.python_interface import ArrayInfo, Interface, dtype_of
from arrayfold.frontends.python_names import CNames, Names
from arrayfold.frontends.python_signature import read_interface
from arrayfold.frontends.python_statements import Body
from arrayfold.frontends.python_text import Code, PythonText
from arrayfold.frontends.python_types import C_TYPES, DType
from arrayfold.signature import Argument, Signature, Size

# Those for positive divisors that are numbers as such read as affine; the others do what NumPy does for any.
_HELPERS = {
    "floor_div": """\
static long long floor_div(long long a, long long b)
{
    return a % b < 0 ? a / b - 1 : a / b;
}
""",
    "floor_div_any": """\
static long long floor_div_any(long long a, long long b)
{
    long long q = b == 0 ? 0 : b == -1 ? -a : a / b;
    if (b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0))
        q--;
    return q;
}
""",
    "floor_mod": """\
static long long floor_mod(long long a, long long b)
{
    return a % b < 0 ? a % b + b : a % b;
}
""",
    "floor_mod_any": """\
static long long floor_mod_any(long long a, long long b)
{
    long long r = b == 0 || b == -1 ? 0 : a % b;
    if (r != 0 && (a < 0) != (b < 0))
        r += b;
    return r;
}
""",
}


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
    code = "".join(str(kernel.code) for kernel in kernels)
    lines = ['#pragma GCC diagnostic ignored "-Wunknown-pragmas"\n\n']
    if re.search(r"\b(?!for\b|if\b|floor_div|floor_mod)[a-z]\w*\(", _bodies(code)):
        lines.insert(0, "#include <math.h>\n\n")
    helpers = set[str]().union(*(kernel.helpers for kernel in kernels))
    return Code.of(*lines, *(f"{_HELPERS[name]}\n" for name in sorted(helpers)))


def _bodies(code: str) -> str:
    return "".join(re.findall(r"#pragma scop\n(.*?)#pragma endscop", code, re.DOTALL))


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
