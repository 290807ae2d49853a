"""Python files and functions with kernels -> programs, by way of C functions with one region."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.python.bounds import inside_arrays
from arrayfold.frontends.python.names import CNames, ImportedNames, names_of_file, names_of_values
from arrayfold.frontends.python.shapes import read_interface
from arrayfold.frontends.python.signature import Interface, keyword_dtype
from arrayfold.frontends.python.statements import Body
from arrayfold.frontends.python.text import Code, CodeMap, PythonText
from arrayfold.frontends.python.values import C_TYPES, DType, dtype_called
from arrayfold.order.dependences import find_violation, memory_dependences
from arrayfold.program.model import Program
from arrayfold.program.signature import Argument, Signature, Size

_HINT = "Write import arrayfold as af, and @af.kernel on the line before the function."
_AFFINE = "Only names of loops, sizes, whole numbers, and sums of their multiples may stand here."
_IN_PYTHON = {
    "changes inside the region": ("changes in the kernel", _AFFINE),
    "the product of two variables is not affine": (
        "the product of two names is not affine",
        "If one of them is a fixed size, make it a number at the top of the file: TILE = 16",
    ),
    "this depends on data that the program computes": (
        "this depends on data",
        "Bounds of loops and indices must be affine in names of loops and sizes.",
    ),
    "is affine only with a constant on its right": (
        "is affine only with a constant on its right",
        _AFFINE,
    ),
    "is outside": ("is outside", "Change the bounds of the loop; negative indices are not analysed."),
    "the value of ": ("the value of ", _AFFINE),
    "this is not affine": ("this is not affine", _AFFINE),
    "is not an integer variable": ("is not a whole number", _AFFINE),
}
_NAMES = {"floor_div_any()": "//", "floor_mod_any()": "%", "floor_div()": "//", "floor_mod()": "%"}
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
class _Translated:
    """A kernel as C: the function, how it is called, and what it needs of the file around it.

    helpers  C functions for what Python has and C has not, by name, and math.h
    rules    conditions on sizes that it asserts, as isl text, each with the node that says so
    parallel the first loop over af.prange
    """

    text: PythonText
    signature: Signature
    code: Code
    helpers: frozenset[str]
    rules: Sequence[tuple[str, ast.expr]]
    extents: dict[str, tuple[Formula, ...]]
    parallel: ast.For | None = None


def read_python(file: str, text: str) -> list[Program]:
    """The kernels of a Python file as programs. The file is read, and nothing in it is run."""
    whole = PythonText.of(file, text)
    names = names_of_file(whole.tree)
    functions = list(kernel_functions(whole.tree, names))
    if not functions:
        raise InputError(f"{file}: there is no kernel in this file", hint=_HINT)
    seen: set[str] = set()
    for function, _ in functions:
        if function.name in seen:
            raise whole.error(
                f"there is another kernel called {function.name}", function, "Rename one of them."
            )
        seen.add(function.name)
    c_names = CNames()
    c_names.reserve(function.name for function, _ in functions)
    kernels = [
        _translate(whole, function, names, _kernel_dtype(whole, decorator), c_names)
        for function, decorator in functions
    ]
    return _programs(file, kernels)


def kernel_functions(tree: ast.Module, names: ImportedNames) -> Sequence[tuple[ast.FunctionDef, ast.expr]]:
    """The functions of a file that are kernels, each with the decorator that says so."""
    found: list[tuple[ast.FunctionDef, ast.expr]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorator = names.kernel_decorator(node)
            if decorator is not None:
                found.append((node, decorator))
    return sorted(found, key=lambda pair: pair[0].lineno)


def has_kernels(text: str) -> bool:
    """Whether a text is Python with kernels in it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(kernel_functions(tree, names_of_file(tree)))


def read_function(
    file: str, text: str, first_line: int, name: str, dtype: DType, values: Mapping[str, Any]
) -> Program:
    """A function that Python has loaded, as a program.

    text, first_line  its lines, decorators included, and where they begin in the file
    values            what the names outside of it mean
    """
    whole = PythonText.of(file, text, first_line)
    functions = [
        node for node in ast.walk(whole.tree) if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    if not functions:
        raise InputError(f"{file}: the text of kernel {name} cannot be found", hint="Write it with def.")
    c_names = CNames()
    kernel = _translate(whole, functions[0], names_of_values(values), dtype, c_names)
    return _programs(file, [kernel])[0]


def _programs(file: str, kernels: Sequence[_Translated]) -> list[Program]:
    """The kernels of one C text as programs."""
    first = kernels[0].text
    codes = [(_file_head(kernels), first), *((kernel.code, kernel.text) for kernel in kernels)]
    spaced = [piece for code in codes for piece in (code, (Code.of("\n"), first))][:-1]
    places = CodeMap(spaced)
    try:
        programs = read_c(file, places.data, (), places.place)
    except InputError as error:
        raise _in_python(error) from None
    return [_finished(program, kernel) for program, kernel in zip(programs, kernels, strict=True)]


def _finished(program: Program, kernel: _Translated) -> Program:
    rules = isl.Set("{ : }")
    for text, node in kernel.rules:
        rules = rules.intersect(_rule(program, kernel, text, node))
    bounded = inside_arrays(replace(program, name=kernel.signature.name), kernel.extents, rules)
    if kernel.parallel is not None:
        _check_independent(bounded, kernel.text, kernel.parallel)
    return replace(bounded, signature=kernel.signature)


def _check_independent(program: Program, text: PythonText, loop: ast.For) -> None:
    """Raise if turns that may run at once need the order that Python gives them."""
    violation = find_violation(program, memory_dependences(program))
    if violation is not None:
        sizes = ", ".join(f"{name} = {value}" for name, value in violation.params.items())
        raise text.error(
            f"the turns of this loop depend on each other by {violation.cell}"
            f"{f' at {sizes}' if sizes else ''}",
            loop.iter,
            "Use range(), or give each turn elements of its own.",
        )


def _rule(program: Program, kernel: _Translated, text: str, node: ast.expr) -> isl.Set:
    names = ", ".join(program.parameters)
    try:
        return read_isl(isl.Set, SourceText.of(f"[{names}] -> {{ : {text} }}", "assert"))
    except InputError:
        raise kernel.text.error(
            "this says something of a size that the loops do not depend on", node, "Leave it out."
        ) from None


def _in_python(error: InputError) -> InputError:
    """The same error with a message and a hint in terms of Python."""
    message, hint = error.message, None
    for words, (better, advice) in _IN_PYTHON.items():
        if words in message:
            message, hint = message.replace(words, better), advice
            break
    for name, operator in _NAMES.items():
        message = message.replace(name, operator)
    return type(error)(message, error.place, hint)


# ---------------------------------------------------------------- a kernel as C


def _kernel_dtype(text: PythonText, decorator: ast.expr) -> DType:
    """The element type that the decorator of a kernel names."""
    if not isinstance(decorator, ast.Call):
        return "float64"
    complaint = "kernel() takes dtype= and nothing else"
    if decorator.args:
        raise text.error(complaint, decorator)
    return keyword_dtype(text, decorator, "float64", complaint)


def _translate(
    text: PythonText, function: ast.FunctionDef, names: ImportedNames, dtype: DType, functions: CNames
) -> _Translated:
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
    used = loaded | body.new_values.keys()
    temporaries = [f"    {_declared(interface, name)};\n" for name in signature.temporaries if name in used]
    code = Code.of(
        f"void {c_function}({', '.join(parameters)})\n{{\n",
        *temporaries,
        "#pragma scop\n",
        *(Code.of(line, "\n") for line in lines),
        "#pragma endscop\n}\n",
        at=function,
    )
    extents = {c_names.of(name): info.shape for name, info in interface.arrays.items()}
    helpers = frozenset(body.helpers)
    return _Translated(text, signature, code, helpers, interface.rules, extents, body.parallel)


def _file_head(kernels: Sequence[_Translated]) -> Code:
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
        sign = "<" if word.startswith("min") else ">"
        head, value = f"{c_type} a, {c_type} b", f"b {sign} a ? b : a"
        if word.endswith("imum"):
            value = f"a {sign}= b || a != a ? a : b"
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
