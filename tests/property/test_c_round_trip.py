"""Random C functions survive the way C -> Program -> fold -> C: both compute the same, bit for bit."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.budget import Budget
from arrayfold.base.errors import BudgetExceeded, InputError, NotAffine, NothingProved
from arrayfold.fold.arrays import fold, fold_shared
from arrayfold.fold.result import FoldResult
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.reallocation import reallocate
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from support.effort import examples
from support.random_c import RandomC, functions
from support.runs import run_both

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")

# Arrays become scalars and iterators constants, of which compilers guess more than they know: also that sizes
# may be negative, or that a constant of an unrolled loop does not fit its type, as it did not before.
FLAGS = (
    *("-std=c11", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused-variable"),
    *("-Wno-unused-but-set-variable", "-Wno-unused-parameter", "-Wno-maybe-uninitialized"),
    *(
        "-Wno-alloc-size-larger-than",
        "-Wno-overflow",
        "-Wno-type-limits",
        "-ffp-contract=off",
        "-fopenmp",
        "-O3",
        "-march=native",
    ),
)
LONGER = 19
ORDERS: dict[str, dict[str, Any]] = {
    "fuse": {"fuse": "cells"},
    "tile": {"tile": (2,)},
    "tile2": {"tile": (2, 3)},
    "parallel": {"parallel": True},
    "fuse_tile": {"fuse": "cells", "tile": (2, 2)},
    "fuse_parallel": {"fuse": "cells", "parallel": True},
    "local": {"local": 1},
    "tile_local": {"tile": (2,), "local": 1},
    "parallel_local": {"parallel": True, "local": 1},
    "offsets": {"share": "offsets"},
    "cells": {"share": "cells"},
    "values": {"mode": "temporaries", "share": "none"},
    "values_cells": {"mode": "temporaries", "share": "cells"},
    "values_fuse": {"mode": "everything", "fuse": "cells", "share": "none"},
    "values_parallel": {"mode": "everything", "parallel": True, "share": "arrays"},
}


def program_of(function: RandomC) -> Program:
    """The program of a function; a few of them are refused, where unsigned numbers might wrap around."""
    try:
        (program,) = read_c("f.c", function.text.encode())
    except InputError as error:
        # The line counts, too: a condition on an unsigned iterator is not affine.
        if not re.search("unsigned|not affine in iterators", str(error)):
            raise
        assume(False)
        raise
    return program


def folds(program: Program, order: Mapping[str, Any] | None = None) -> FoldResult | None:
    """The folded program in another order, or None if that is illegal or takes too long.

    With `local`, arrays have buffers inside of that many loops; with `mode`, statements have arrays of
    their own.
    """
    wishes = dict(order or {})
    loops, mode, share = (wishes.pop(key, None) for key in ("local", "mode", "share"))
    try:
        if mode:
            program = reallocate(program, everything=mode == "everything")
        if wishes:
            program = reorder(program, budget=Budget(1.5), **wishes)
        if loops:
            return fold(program, local=loops, budget=Budget(20))
        if share:
            return fold_shared(program, share, budget=Budget(10))
        return fold(program, budget=Budget(1.5))
    except (InputError, BudgetExceeded, NothingProved):
        return None


def versions(function: RandomC, program: Program, names: list[str]) -> Iterator[tuple[str, FoldResult, str]]:
    """The function as it comes out: with its own loops, with new ones, and in other orders."""
    result = folds(program)
    if result is not None:
        kept = written(result, "keep")
        if not result.region().folds:
            assert kept == function.text
        plain = written(result, "generate", "readable")
        for name, code in (("keep", kept), ("generate", plain), ("fast", written(result, "generate"))):
            if code is not None:
                yield name, result, code
    for name in names:
        result = folds(program, ORDERS[name])
        for style, label in (("readable", name), ("fast", f"{name}_fast")):
            code = written(result, None, style) if result is not None else None
            if result is not None and code is not None:
                yield label, result, code


def written(result: FoldResult, loops: Any, style: Any = "fast") -> str | None:
    """The C of a result; None if it is refused: a condition would come too late, or a value would be lost."""
    try:
        return result.to_c(loops=loops, style=style)
    except InputError as error:
        refusals = "condition|used outside the region|must stay as they are|tiles are no affine|runs once"
        if not re.search(refusals, error.message):
            raise
        return None


def driver(function: RandomC, codes: Mapping[str, str]) -> str:
    """A program that calls every version on the same data and names those that differ from the first."""
    macros = {name for code in codes.values() for name in re.findall(r"^#define (\w+)", code, re.MULTILINE)}
    renamed = ["f", "half", *(function.sizes if "enum {" in function.text else ())]
    lines: list[str] = []
    for name in codes:
        lines += [f"#define {word} {word}_{name}" for word in renamed]
        lines.append(f'#include "{name}.c"')
        lines += [f"#undef {word}" for word in (*renamed, *sorted(macros))]
    lines += ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "int main(void) {"]
    # Loops must be longer than vectors are, or what is claimed of their iterations does not matter.
    more = 0 if function.is_fixed else LONGER
    sizes = ", ".join(f"{name} = {value + more}" for name, value in function.sizes.items())
    lines += [f"  enum {{ {sizes} }};"]
    arrays = [parameter for parameter in function.parameters if parameter[2]]
    for version in codes:
        lines += [f"  static {kind} {name}_{version}{brackets};" for kind, name, brackets in arrays]
        lines.append(f"  double result_{version} = 0;")
    for version in codes:
        lines.append("  srand(7);")
        for kind, name, _ in arrays:
            count = f"sizeof {name}_{version} / sizeof({kind})"
            value = f"({kind})(rand() % 1000 {'/ 500.0 - 0.5' if kind in ('double', 'float') else '% 4'})"
            lines.append(f"  for (size_t x = 0; x < {count}; x++) (({kind} *){name}_{version})[x] = {value};")
        words = [f"{name}_{version}" if brackets else name for _, name, brackets in function.parameters]
        call = f"f_{version}({', '.join(words)})".replace("alpha", "0.7")
        lines.append(f"  {f'result_{version} = ' if function.returns == 'double' else ''}{call};")
    first = next(iter(codes))
    for version in codes:
        tests = [f"memcmp({name}_{version}, {name}_{first}, sizeof {name}_{first})" for _, name, _ in arrays]
        tests.append(f"memcmp(&result_{version}, &result_{first}, sizeof(double))")
        lines.append(f'  if ({" || ".join(tests)}) puts("{version} differs");')
    return "\n".join([*lines, "  return 0;", "}", ""])


def check(function: RandomC, codes: Mapping[str, str]) -> None:
    """Assert that all compile without warnings that the first one does not get, and leave the same data."""
    with tempfile.TemporaryDirectory(prefix="arrayfold-") as folder:
        for name, code in codes.items():
            Path(folder, f"{name}.c").write_bytes(code.encode())
        Path(folder, "driver.c").write_text(driver(function, codes))
        command = [str(find_compiler()), *FLAGS, "driver.c", "-o", "driver", "-lm"]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
        shown = "\n".join([*(f"---- {name}\n{code}" for name, code in codes.items()), built.stderr])
        assert built.returncode == 0, shown
        kinds: dict[str, set[str]] = {name: set() for name in codes}
        for name, kind in re.findall(
            r"^(\w+)\.c:.*(?:warning: .*\[(-W[\w-]+)\S*\])$", built.stderr, re.MULTILINE
        ):
            kinds.setdefault(name, set()).add(kind)
        first = next(iter(codes))
        assert all(kinds[name] <= kinds[first] for name in codes), shown
        done = subprocess.run(
            [str(Path(folder, "driver"))],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={"OMP_NUM_THREADS": "3"},
        )
        assert (done.returncode, done.stdout) == (0, ""), f"{shown}{done.stdout}{done.stderr}"


def read_again(code: str) -> None:
    """The written file can be read; only remainders by and multiples of sizes are not affine any more."""
    try:
        read_c("f.c", code.encode())
    except NotAffine as error:
        if not re.search("operator %|product of two variables", error.message):
            raise


@given(functions(), st.sampled_from(sorted(ORDERS)))
@settings(max_examples=examples(20))
def test_round_trip(function: RandomC, order: str) -> None:
    program = program_of(function)
    codes = {"original": function.text}
    for name, _, code in versions(function, program, [order]):
        codes[name] = code
        if "fast" not in name:
            read_again(code)
    check(function, codes)


@given(functions(), st.sampled_from(["keep", "generate", "fast", "fuse"]))
@settings(max_examples=examples(6))
def test_round_trip_with_the_runner(function: RandomC, form: str) -> None:
    program = program_of(function)
    sizes = {name: value for name, value in function.sizes.items() if name in program.parameters}
    for name, result, code in versions(function, program, [form] if form in ORDERS else []):
        if name == form:
            report = run_both(result, code.encode(), params=sizes)
            assert report.is_equal, f"{report}\n{function.text}\n{code}"
