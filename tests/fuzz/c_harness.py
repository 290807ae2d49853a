"""The C around the versions of a random program: data for their arrays, calls, hashes of what is left."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterator, Sequence

from clang import cindex

from fuzz.c_program import CProgram, Function, Parameter

_FILL = (
    "for (long long fuzz_k = 0; fuzz_k < {count}; fuzz_k++) {{ unsigned fuzz_r = fuzz_random(); "
    "(({type} *){name})[fuzz_k] = ({type})1.5 == ({type})1 ? ({type})(fuzz_r % 100) "
    ": ({type})((fuzz_r % 1000) / 500.0 - 0.5); }}"
)
_OUTSIDE = """\
{type} {name}({type} x)
{{
    static unsigned fuzz_state;
    fuzz_state = fuzz_state * 31 + 7 + (unsigned)(long long)(16 * x);
    return ({type})1.5 == ({type})1 ? ({type})(fuzz_state % 50) : ({type})(fuzz_state % 50 / 50.0);
}}
"""
_PROTOTYPES = (
    "#include <stddef.h>\n"
    "void fuzz_bytes(int site, size_t size); unsigned fuzz_random(void); void fuzz_release(void *memory);\n"
    "void *fuzz_allocate(long long count, size_t size); void fuzz_leave(const void *memory, size_t size);\n"
    "#include <alloca.h>\n#undef alloca\n"
    "#define alloca(size) ({ size_t fuzz_size = (size); fuzz_bytes(__COUNTER__, fuzz_size); "
    "__builtin_alloca(fuzz_size); })\n"
)


def version_text(program: CProgram, text: str, version: int) -> str:
    """A version of the program with names of its own and a function `fuzz_call_VERSION`."""
    names = [*(function.name for function in program.functions), *program.names]
    renamed = "".join(f"#define {name} {name}_{version}\n" for name in names)
    linkage = 'extern "C" ' if program.is_cplusplus else ""
    lines = ["", f"{linkage}void fuzz_call_{version}(const long long *fuzz_point)", "{"]
    for type_, name in program.globals:
        count = f"sizeof {name} / sizeof *fuzz_{name}"
        lines.append(f"    {type_} *fuzz_{name} = ({type_} *){name};")
        lines.append("    " + _FILL.format(count=f"(long long)({count})", type=type_, name=f"fuzz_{name}"))
    for function in program.functions:
        lines += _call(program, function)
    lines += [f"    fuzz_leave({name}, sizeof {name});" for _, name in program.globals]
    outside = [_OUTSIDE.format(type=_type_of(program, name), name=name) for name in _unseen(program)]
    prototypes, body = _PROTOTYPES, text
    if program.is_cplusplus:
        # The library allocates what is larger: nothing is measured.
        prototypes = f'extern "C" {{\n{_PROTOTYPES}}}\n'
    else:
        body = measured(text, program.header)
    return "\n".join([f"{renamed}{prototypes}#line 1", body, *outside, *lines, "}", ""])


def _unseen(program: CProgram) -> list[str]:
    """Functions that the file declares and does not define."""
    arrays = {name for _, name in program.globals}
    return [name for name in program.names if name not in arrays]


def _type_of(program: CProgram, name: str) -> str:
    line = next(line for line in program.head if f" {name}(" in line and line.endswith(");"))
    return line.split(f" {name}(")[0]


def _call(program: CProgram, function: Function) -> Iterator[str]:
    sizes = [f"const long long {name} = fuzz_point[{k}];" for k, name in enumerate(program.sizes)]
    yield "    {"
    for line in sizes:
        yield f"        {line} (void){line.split()[3]};"
    arrays = [one for one in function.parameters if one.kind == "array"]
    for array in arrays:
        count = " * ".join(f"(long long)({extent})" for extent in array.extents)
        # C wants positive extents; a pointer says nothing of the outermost one.
        declared = array.extents[1:] if "*" in array.spelling else array.extents
        signs = " || ".join([f"({array.extents[0]}) < 0", *(f"({extent}) <= 0" for extent in declared)])
        yield f"        const long long fuzz_count_{array.name} = ({signs}) ? -1 : {count};"
        name, counted = f"fuzz_{array.name}", f"fuzz_count_{array.name}"
        cast = f"({array.type} *)"
        yield f"        {array.type} *{name} = {cast}fuzz_allocate({counted}, sizeof({array.type}));"
        yield "        " + _FILL.format(count=counted, type=array.type, name=name)
    words = ", ".join(_argument(one) for one in function.parameters)
    if program.is_cplusplus:
        words = words.replace("(void *)", "")
    yield f"        {function.name}({words});"
    for array in arrays:
        yield f"        fuzz_leave(fuzz_{array.name}, fuzz_count_{array.name} * sizeof({array.type}));"
        yield f"        fuzz_release(fuzz_{array.name});"
    yield "    }"


def _argument(parameter: Parameter) -> str:
    if parameter.kind == "array":
        return f"(void *)fuzz_{parameter.name}"
    if parameter.kind == "size":
        return parameter.name
    if parameter.kind in ("pointer", "structure"):
        values = f"({parameter.type}){{{', '.join(parameter.extents)}}}"
        return f"&{values}" if parameter.kind == "pointer" else values
    return f"({parameter.type})0.5 == 0 ? ({parameter.type})3 : ({parameter.type})0.7"


def tables(program: CProgram, versions: int) -> str:
    """What `c_harness.c` goes through."""
    calls = [f"fuzz_call_{version}" for version in range(versions)]
    values = ", ".join(f"{value}LL" for point in program.points for value in point) or "0"
    return "\n".join(
        [
            *(f"void {call}(const long long *);" for call in calls),
            f"void (*const fuzz_versions[])(const long long *) = {{{', '.join(calls)}}};",
            f"const int fuzz_version_count = {versions}, fuzz_point_count = {len(program.points)};",
            f"const int fuzz_size_count = {len(program.sizes)};",
            f"const long long fuzz_points[] = {{{values}}};",
            "",
        ]
    )


# ------------------------------------------------------------------- bytes


@functools.cache
def _builtin_headers() -> str:
    found = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def measured(text: str, header: str) -> str:
    """The text with a note of its size after each declaration of an array in a function.

    Static arrays of the file are noted where a function that uses them begins: a fold may move them there.
    """
    data = text.encode()
    files = [("measured.c", text), ("around.h", header)]
    arguments = ["-std=c11", "-isystem", _builtin_headers(), "-w"]
    unit = cindex.TranslationUnit.from_source("measured.c", arguments, unsaved_files=files)
    notes = sorted((*_array_declarations(unit.cursor), *_arrays_of_file(unit.cursor)), reverse=True)
    for offset, names in notes:
        calls = "".join(f" fuzz_bytes(__COUNTER__, sizeof({name}));" for name in names)
        data = data[:offset] + calls.encode() + data[offset:]
    return data.decode()


_ARRAYS = (cindex.TypeKind.CONSTANTARRAY, cindex.TypeKind.VARIABLEARRAY)


def _arrays_of_file(unit: cindex.Cursor) -> Iterator[tuple[int, Sequence[str]]]:
    """Where functions begin, and the static arrays of the file that they use."""
    own = [one for one in unit.get_children() if one.location.file and one.location.file.name == "measured.c"]
    arrays = {
        one.spelling
        for one in own
        if one.kind == cindex.CursorKind.VAR_DECL
        and one.storage_class == cindex.StorageClass.STATIC
        and one.type.get_canonical().kind in _ARRAYS
    }
    for function in own:
        used = {
            inner.spelling
            for inner in function.walk_preorder()
            if inner.kind == cindex.CursorKind.DECL_REF_EXPR and inner.spelling in arrays
        }
        for body in function.get_children():
            if used and body.kind == cindex.CursorKind.COMPOUND_STMT:
                yield body.extent.start.offset + 1, sorted(used)


def _array_declarations(cursor: cindex.Cursor) -> Iterator[tuple[int, Sequence[str]]]:
    """Where declarations of arrays in functions end, and the names that they declare."""
    for inner in cursor.get_children():
        where = inner.location.file
        if where is not None and where.name != "measured.c":
            continue
        if inner.kind == cindex.CursorKind.DECL_STMT:
            names = [
                one.spelling
                for one in inner.get_children()
                if one.kind == cindex.CursorKind.VAR_DECL and one.type.get_canonical().kind in _ARRAYS
            ]
            if names:
                yield inner.extent.end.offset, names
        else:
            yield from _array_declarations(inner)
