"""A Python kernel as a C function with one region."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.names import CNames, Names
from arrayfold.frontends.python.shapes import read_interface
from arrayfold.frontends.python.signature import Interface, keyword_dtype
from arrayfold.frontends.python.statements import Body
from arrayfold.frontends.python.text import Code, PythonText
from arrayfold.frontends.python.values import C_TYPES, DType, dtype_called
from arrayfold.program.signature import Argument, Signature, Size

# Those for positive divisors that are constants read as affine; the others do what NumPy does for any.
_DIVISIONS = {
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

    helpers  C functions for what Python has and C has not, by name, and math.h
    rules    conditions on sizes that it asserts, as isl text, each with the node that says so
    """

    text: PythonText
    signature: Signature
    code: Code
    helpers: frozenset[str]
    rules: Sequence[tuple[str, ast.expr]]
    extents: dict[str, tuple[Formula, ...]]


def kernel_dtype(text: PythonText, decorator: ast.expr) -> DType:
    """The element type that the decorator of a kernel names."""
    if not isinstance(decorator, ast.Call):
        return "float64"
    complaint = "kernel() takes dtype= and nothing else"
    if decorator.args:
        raise text.error(complaint, decorator)
    return keyword_dtype(text, decorator, "float64", complaint)


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
    loaded = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    parameters = [
        *(f"long long {size}" for size in interface.sizes),
        *(f"{C_TYPES[interface.scalars[number.name]]} {number.c_name}" for number in signature.numbers),
        *(_declared(interface, array.name, is_argument=True) for array in signature.arrays),
    ]
    temporaries = [f"    {_declared(interface, name)};\n" for name in signature.temporaries if name in loaded]
    code = Code.of(
        f"void {c_function}({', '.join(parameters)})\n{{\n",
        *temporaries,
        "#pragma scop\n",
        *(Code.of(line, "\n") for line in lines),
        "#pragma endscop\n}\n",
        at=function,
    )
    extents = {c_names.of(name): info.shape for name, info in interface.arrays.items()}
    return Translated(text, signature, code, frozenset(body.helpers), interface.rules, extents)


def file_head(kernels: Sequence[Translated]) -> Code:
    """What stands before the functions: headers and helpers."""
    helpers = set[str]().union(*(kernel.helpers for kernel in kernels))
    include = "#include <math.h>\n\n" if "math.h" in helpers else ""
    quiet = '#pragma GCC diagnostic ignored "-Wunknown-pragmas"\n'
    return Code.of(include, quiet, *(f"\n{_helper_text(name)}" for name in sorted(helpers - {"math.h"})))


def _helper_text(name: str) -> str:
    """The function of that name: floor_div and the like, or min, max and abs of one type."""
    if name in _DIVISIONS:
        return _DIVISIONS[name]
    word, _, dtype = name.partition("_")
    kind = dtype_called(dtype)
    assert kind is not None
    c_type = C_TYPES[kind]
    if word == "abs":
        head, value = f"{c_type} a", "a < 0 ? -a : a"
    else:
        head, value = f"{c_type} a, {c_type} b", f"b {'<' if word == 'min' else '>'} a ? b : a"
    return f"static {c_type} {name}({head})\n{{\n    return {value};\n}}\n"


def _declared(interface: Interface, name: str, *, is_argument: bool = False) -> str:
    info = interface.arrays[name]
    const = "const " if is_argument and not info.is_written else ""
    restrict = "restrict " if is_argument else ""
    sizes = "][".join(map(str, info.shape))
    return f"{const}{C_TYPES[info.dtype]} {interface.c_names.of(name)}[{restrict}{sizes}]"


def _signature(interface: Interface, c_function: str) -> Signature:
    arguments: list[Argument] = []
    for argument in interface.function.args.args:
        name = argument.arg
        c_name = interface.c_names.of(name)
        if name in interface.arrays:
            info = interface.arrays[name]
            arguments.append(Argument(name, "array", c_name, info.dtype, info.shape, info.is_written))
        else:
            arguments.append(Argument(name, interface.scalars[name], c_name))
    sizes = tuple(Size(name, array, dimension) for name, (array, dimension) in interface.sizes.items())
    temporaries = tuple(name for name, info in interface.arrays.items() if not info.is_argument)
    return Signature(interface.function.name, c_function, tuple(arguments), sizes, temporaries)
