"""Calls in regions: which of them keep their order, and what they may use behind the region's back."""

from __future__ import annotations

from pathlib import Path

import pytest

import arrayfold as af
from arrayfold.base.errors import InputError
from arrayfold.passes.all_orders import AllOrders
from arrayfold.program.model import Program

BODY = """
void kernel(int n, int out[restrict n][n])
{
    int t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t[i][j] = CALL;
            if (i >= 1)
                out[i][j] = t[i][j] + 2 * t[i - 1][j];
        }
#pragma endscop
}
"""


def read(tmp_path: Path, head: str, call: str) -> Program:
    file = tmp_path / "calls.c"
    file.write_text(head + BODY.replace("CALL", call))
    program = af.read(file)
    assert isinstance(program, Program)
    return program


ORDERED = {
    "rand": ("#include <stdlib.h>", "rand() % 100", "rand() has no body here"),
    "printf": ("#include <stdio.h>", 'printf("%d", i)', "printf() has no body here"),
    "unseen": ("int f(int);", "f(i)", "f() has no body here"),
    "in-a-choice": ("int f(int);", "i > j ? f(i) : 0", "f() has no body here"),
    "inside-a-seen-one": (
        "int f(int);\nstatic int g(int x) { return f(x) + 1; }",
        "g(i)",
        "g() calls f(), which has no body here",
    ),
    "a-counter": ("static int g(void) { static int count; return count++; }", "g()", "g() uses count"),
    "a-global": ("int last;\nstatic int g(int x) { return last = x; }", "g(i)", "g() uses last"),
    "each-calls-the-other": (
        "int seed, a(int);\nint b(int x) { return x ? a(x - 1) : 0; }\nint a(int x) { seed++; return b(x); }",
        "b(i)",
        "b() calls a(), which uses seed",
    ),
    "through-a-pointer-in-a-body": (
        "int f(int);\nstatic int g(int x) { int (*s)(int) = f; return s(x); }",
        "g(i)",
        "g() has code that cannot be read",
    ),
}
FREE = {
    "abs": ("#include <stdlib.h>", "abs(i - j)"),
    "builtin": ("", "__builtin_abs(i - j)"),
    "math": ("#include <math.h>", "sqrt(i) + fabsf(j) + fmin(i, j) + isnan((double) i)"),
    "ctype": ("#include <ctype.h>", "toupper(i)"),
    "attribute-pure": ("int f(int) __attribute__((pure));", "f(i)"),
    "attribute-const-before": ("__attribute__((const)) int f(int);", "f(i)"),
    "attribute-const-of-another-declaration": ("int f(int) __attribute__((const));\nint f(int);", "f(i)"),
    "brackets": ("[[gnu::const]] int f(int);", "f(i)"),
    "pragma": ("int f(int), g(int);\n#pragma arrayfold pure(f, g)", "f(i) + g(j)"),
    "pragma-far-away": ("int f(int);\n#pragma arrayfold pure(f)\nint other(void) { return 0; }", "f(i)"),
    "body": ("static int f(int x) { int s = 0; for (int k = 0; k < x; k++) s += k; return s; }", "f(i)"),
    "recursive-body": ("static int f(int x) { return x < 2 ? 1 : f(x - 1) + f(x - 2); }", "f(i)"),
    "constant-table": (
        "static const int c[4] = { 1, 2, 3, 4 };\nstatic int f(int x) { return c[x % 4]; }",
        "f(i)",
    ),
}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("order", [{"fuse": "cells"}, {"tile": [2, 2]}, {"parallel": True}])
def test_calls_with_a_state_keep_their_order(name: str, order: dict[str, object], tmp_path: Path) -> None:
    head, call, message = ORDERED[name]
    program = read(tmp_path, head, call)
    with pytest.raises(InputError) as caught:
        af.reorder(program, **order)  # pyright: ignore[reportArgumentType]
    assert message in caught.value.message
    assert "the order must stay" in caught.value.message
    assert caught.value.place is not None
    line, column = caught.value.place.line_text, caught.value.place.column
    assert line[column - 1 :].startswith(message.split("()")[0])


@pytest.mark.parametrize("name", FREE)
def test_calls_that_only_compute_may_be_reordered(name: str, tmp_path: Path) -> None:
    program = read(tmp_path, *FREE[name])
    assert af.reorder(program, fuse="cells").schedule is not program.schedule


def test_all_legal_orders_need_calls_without_a_state(tmp_path: Path) -> None:
    program = read(tmp_path, "int f(int);", "f(i)")
    with pytest.raises(InputError, match="the order must stay"):
        AllOrders("dependences").apply(program)


REGION = """
void kernel(int n, int out[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        table[i] = i;
    for (int i = 0; i < n; i++)
        out[i] = table[i] + CALL;
#pragma endscop
}
"""


def read_with_table(tmp_path: Path, head: str, call: str) -> Program:
    file = tmp_path / "table.c"
    file.write_text(head + REGION.replace("CALL", call))
    program = af.read(file)
    assert isinstance(program, Program)
    return program


def test_a_pure_function_may_look_at_what_the_region_writes(tmp_path: Path) -> None:
    head = "int table[99];\nint f(int) __attribute__((ATTRIBUTE));"
    program = read_with_table(tmp_path, head.replace("ATTRIBUTE", "pure"), "f(i)")
    with pytest.raises(InputError, match=r"f\(\) may look at table"):
        af.reorder(program, fuse="cells")
    program = read_with_table(tmp_path, head.replace("ATTRIBUTE", "const"), "f(i)")
    assert af.reorder(program, fuse="cells")


PURE = "__attribute__((pure)) "
SEEN = {
    "a number": ("static int st = 5;\n", "static int f(int x) { return st + x; }", True),
    "a body of which it stands before": (
        "int f(int);\nint st = 5;\n",
        "int f(int x) { return st + x; }",
        True,
    ),
    "another array": ("static int other[9];\n", "static int f(int x) { return other[x % 9]; }", True),
    "what it calls": (
        "static int st = 5;\nstatic int get(void) { return st; }\n",
        "static int f(int x) { return get() + x; }",
        True,
    ),
    "arguments": ("", "static int f(int x) { return x; }", True),
    "the array": ("", "static int f(int x) { out: return table[x]; }", False),
    "the array in what it calls": (
        "static int get(void) { return table[0]; }\n",
        "static int f(int x) { return get() + x; }",
        False,
    ),
    "a pointer": ("static int *where;\n", "static int f(int x) { return *where + x; }", False),
    "a promise that is broken": ("static int st;\n", "static int f(int x) { return st += x; }", False),
    "a call that is not seen": ("int get(void);\n", "static int f(int x) { return get() + x; }", False),
    "a table that is filled": (
        "static int memo[9];\n",
        "static int f(int x) { return memo[x % 9] ? memo[x % 9] : (memo[x % 9] = x); }",
        False,
    ),
    "a variable that others change": (
        "static volatile int st;\n",
        "static int f(int x) { return st + x; }",
        False,
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_pure_function_with_a_body_looks_at_what_that_names(name: str, tmp_path: Path) -> None:
    before, body, is_free = SEEN[name]
    program = read_with_table(tmp_path, f"int table[99];\n{before}{PURE}{body}\n", "f(i)")
    if is_free:
        assert af.reorder(program, fuse="cells").schedule is not program.schedule
    else:
        with pytest.raises(InputError, match="the order must stay"):
            af.reorder(program, fuse="cells")


@pytest.mark.parametrize("restrict", ["restrict ", ""])
def test_pointers_may_lead_to_what_a_pure_function_names(restrict: str, tmp_path: Path) -> None:
    file = tmp_path / "pointer.c"
    head = f"static int st = 5;\n{PURE}static int f(int x) {{ return st + x; }}\nint table[99];\n"
    file.write_text(head + REGION.replace("restrict ", restrict).replace("CALL", "f(i)"))
    program = af.read(file)
    assert isinstance(program, Program)
    assert program.source is not None
    assert (program.source.impure is None) == bool(restrict)


@pytest.mark.parametrize(
    ("head", "call", "reason"),
    [
        ("int table[99];\nint f(int);\n", "f(i)", "f(), which has no body here, may use it"),
        ("static int table[99];\nint f(int);\n", "f(i)", "f(), which has no body here, may use it"),
        ("static int table[99];\nstatic int f(int k) { out: return table[k]; }\n", "f(i)", "used by f()"),
    ],
)
def test_arrays_that_a_call_may_use_do_not_move(head: str, call: str, reason: str, tmp_path: Path) -> None:
    program = read_with_table(tmp_path, head, call)
    with pytest.raises(InputError) as caught:
        program.with_temporary("table")
    assert reason in caught.value.message


@pytest.mark.parametrize("call", ['printf("%d", i)', "rand()", "abs(i)"])
def test_the_library_uses_no_arrays_of_the_program(call: str, tmp_path: Path) -> None:
    head = "#include <stdio.h>\n#include <stdlib.h>\nint table[99];\n"
    program = read_with_table(tmp_path, head, call).with_temporary("table")
    assert [array.name for array in af.fold(program)] == ["table"]


def test_a_condition_with_a_state_is_evaluated_once(tmp_path: Path) -> None:
    file = tmp_path / "condition.c"
    file.write_text(
        """#include <stdlib.h>
void kernel(int n, int out[restrict n])
{
    int t[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = i;
        if (rand() % 2) {
            out[i] = t[i];
            t[i] = t[i] + 1;
        }
    }
#pragma endscop
}
"""
    )
    text = af.fold(af.read(file)).to_c()
    assert text.count("rand()") == 1
