"""Python files and functions with kernels -> programs, by way of C."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.c.read import read_c
from arrayfold.frontends.python.bounds import inside_arrays
from arrayfold.frontends.python.names import CNames, Names, names_of_file, names_of_values
from arrayfold.frontends.python.text import Code, CodeMap, PythonText
from arrayfold.frontends.python.translate import Translated, file_head, kernel_dtype, translate
from arrayfold.frontends.python.values import DType
from arrayfold.program.model import Program

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
        translate(whole, function, names, kernel_dtype(whole, decorator), c_names)
        for function, decorator in functions
    ]
    return _programs(file, kernels)


def kernel_functions(tree: ast.Module, names: Names) -> Sequence[tuple[ast.FunctionDef, ast.expr]]:
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
    kernel = translate(whole, functions[0], names_of_values(values), dtype, c_names)
    return _programs(file, [kernel])[0]


def _programs(file: str, kernels: Sequence[Translated]) -> list[Program]:
    """The kernels of one C text as programs."""
    first = kernels[0].text
    codes = [(file_head(kernels), first), *((kernel.code, kernel.text) for kernel in kernels)]
    spaced = [piece for code in codes for piece in (code, (Code.of("\n"), first))][:-1]
    places = CodeMap(spaced)
    try:
        programs = read_c(file, places.data, (), places.place)
    except InputError as error:
        raise _in_python(error) from None
    return [_finished(program, kernel) for program, kernel in zip(programs, kernels, strict=True)]


def _finished(program: Program, kernel: Translated) -> Program:
    rules = isl.Set("{ : }")
    for text, node in kernel.rules:
        rules = rules.intersect(_rule(program, kernel, text, node))
    bounded = inside_arrays(replace(program, name=kernel.signature.name), kernel.extents, rules)
    return replace(bounded, signature=kernel.signature)


def _rule(program: Program, kernel: Translated, text: str, node: ast.expr) -> isl.Set:
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
