"""A C program around a function: makes up its inputs, calls it, and prints all it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from arrayfold._isl import comfortable_parameters, fix_parameters
from arrayfold.c.source import CSource
from arrayfold.c.tree import Expression, Reference, Subscript, Variable, walk
from arrayfold.codegen.expressions import ExpressionPrinter
from arrayfold.codegen.storage import plain_type
from arrayfold.errors import InputError
from arrayfold.program import Program

_COMFORTABLE_SIZE = 12
_FEWEST_ELEMENTS = 16

_HEAD = """\
#define main arrayfold_original_main
#include "@FILE@"
#undef main
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long arrayfold_state = @SEED@ULL;

static double arrayfold_random(void)
{
  arrayfold_state ^= arrayfold_state << 13;
  arrayfold_state ^= arrayfold_state >> 7;
  arrayfold_state ^= arrayfold_state << 17;
  return (double)(arrayfold_state >> 11) / 9007199254740992.0;
}

static void arrayfold_print_peak(void)
{
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmHWM:", 6))
      fprintf(stderr, "arrayfold-peak %s", line + 6);
  if (status)
    fclose(status);
}

static void *arrayfold_allocate(size_t bytes)
{
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (!memory)
    exit(99);
  return memory;
}

"""


def default_sizes(program: Program, params: Mapping[str, int]) -> dict[str, int]:
    """Sizes to run at: those given, others small but not tiny."""
    return comfortable_parameters(program.context, params, _COMFORTABLE_SIZE)


def driver_text(
    file: str,
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    call_with: Callable[[str], Sequence[str]] = lambda call: [call],
) -> str:
    """A main program that calls the function of a region and prints all that is needed afterwards.

    call_with  the lines that call it, given the call as a statement; one call if nothing is said
    """
    source = program.source
    assert source is not None
    function = source.region.function
    named = {variable: sizes[name] for name, variable in source.parameters.items()}
    setup = [
        f"{plain_type(variable.type)} {variable.name} = {_scalar(variable, named)};"
        for variable in function.parameters
        if not variable.is_array
    ]
    dump: list[str] = []
    unneeded = {source.variables[name] for name in program.extra_temporaries}
    for variable in function.parameters:
        if variable.is_array:
            setup += _array(variable, _outermost(variable, program, sizes), is_global=False)
            dump += [_dump(variable)] if variable not in unneeded else []
            dump.append(f"free(arrayfold_array_{variable.name});")
    for variable in _globals(source):
        if variable.is_array:
            if None in variable.extents:
                raise InputError(f"cannot make up memory for the global pointer {variable.name}")
            setup += _array(variable, None, is_global=True)
            dump += [_dump(variable)] if variable not in unneeded else []
        elif variable in named and "const" not in variable.type.spelling.split():
            setup.append(f"{variable.name} = {named[variable]};")
    call = f"{function.name}({', '.join(variable.name for variable in function.parameters)})"
    if function.returns.spelling != "void":
        kind = plain_type(function.returns)
        call = f"{kind} arrayfold_result = {call}"
        dump.append("fwrite(&arrayfold_result, sizeof arrayfold_result, 1, stdout);")
    lines = [
        "int main(void)",
        "{",
        *(f"  {line}" for line in setup),
        *(f"  {line}" for line in call_with(f"{call};")),
        *(f"  {line}" for line in dump),
        "  arrayfold_print_peak();",
        "  return 0;",
        "}",
    ]
    escaped = file.replace("\\", "\\\\").replace('"', '\\"')
    return _HEAD.replace("@FILE@", escaped).replace("@SEED@", str(seed)) + "\n".join(lines) + "\n"


def _globals(source: CSource) -> list[Variable]:
    found = [
        node.variable
        for node in walk(source.region.function.body)
        if isinstance(node, Reference) and node.variable.storage == "global"
    ]
    return list(dict.fromkeys([*found, *(v for v in source.parameters.values() if v.storage == "global")]))


def _scalar(variable: Variable, named: Mapping[Variable, int]) -> str:
    if variable in named:
        return str(named[variable])
    if variable.type.is_integer:
        return str(_COMFORTABLE_SIZE)
    if variable.type.kind == "floating":
        return "arrayfold_random()"
    raise InputError(f"cannot make up a value of type {variable.type.spelling} for {variable.name}")


def _outermost(variable: Variable, program: Program, sizes: Mapping[str, int]) -> int:
    """How many elements the first dimension needs where its type does not say so."""
    assert program.source is not None
    for name, other in program.source.variables.items():
        if other is variable:
            cells = program.array(name).cells.intersect_params(fix_parameters(sizes))
            largest = cells.dim_max_val(0) if not cells.is_empty() else isl.Val(0)
            if largest.is_int():
                return max(largest.to_python() + 1, _FEWEST_ELEMENTS)
    return _FEWEST_ELEMENTS


def _array(variable: Variable, outermost: int | None, *, is_global: bool) -> list[str]:
    """Lines that give an array memory and random contents."""
    name, element = variable.name, plain_type(variable.element)
    if variable.element.kind not in ("signed", "unsigned", "floating"):
        raise InputError(f"cannot make up values of type {variable.element.spelling} for {name}")
    texts = [
        str(outermost) if extent is None else str(extent) if isinstance(extent, int) else _print(extent)
        for extent in variable.extents
    ]
    brackets = "".join(f"[{text}]" for text in texts)
    value = "arrayfold_random()" if variable.element.kind == "floating" else "(4 * arrayfold_random())"
    lines = [f"size_t arrayfold_count_of_{name} = sizeof({element}{brackets}) / sizeof({element});"]
    if is_global:
        lines.append(f"{element} *arrayfold_array_{name} = ({element} *){name};")
    else:
        lines.append(f"{element} *arrayfold_array_{name} = arrayfold_allocate(sizeof({element}{brackets}));")
    lines += [
        f"for (size_t arrayfold_k = 0; arrayfold_k < arrayfold_count_of_{name}; arrayfold_k++)",
        f"  arrayfold_array_{name}[arrayfold_k] = ({element}){value};",
    ]
    if not is_global:
        lines.append(f"void *{name} = arrayfold_array_{name};")
    return lines


def _dump(variable: Variable) -> str:
    name = variable.name
    return (
        f"fwrite(arrayfold_array_{name}, sizeof *arrayfold_array_{name}, arrayfold_count_of_{name}, stdout);"
    )


def _print(extent: Expression) -> str:
    def element(variable: Variable, texts: Sequence[str], node: Reference | Subscript) -> str:
        del node
        return variable.name + "".join(f"[{text}]" for text in texts)

    return ExpressionPrinter(element).text(extent)
