"""Integers of C: what the model says runs is what the compiled program runs, at values that wrap around."""

from __future__ import annotations

import html
import itertools
import random
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl
import pytest

import arrayfold as af
from arrayfold.base.errors import InputError
from arrayfold.exact.isl import fix_parameters
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from support.random_integers import VALUES, code
from support.traces import trace_of

INT_MAX, UINT_MAX, ULONG_MAX = 2**31 - 1, 2**32 - 1, 2**64 - 1
SMALL = (0, 1, 2, 3, 5, 8)
SIGNED = (-5, -1, 0, 1, 4, 9)

# name: parameters, loops with RUN(cell) as their statement, values of the parameters
CASES: dict[str, tuple[str, str, Sequence[Sequence[int]]]] = {
    "difference-below-zero": (
        "int n, unsigned u",
        "for (int i = 0; i < n; i++) if (i <= u - 3) RUN(i);",
        (SMALL, SMALL),
    ),
    "sum-above-the-end": (
        "unsigned n",
        "for (unsigned i = 0; i < 20; i++) if (i >= n + 10) RUN(i);",
        ((0, 3, 15, UINT_MAX - 10, UINT_MAX - 9, UINT_MAX - 3, UINT_MAX),),
    ),
    "minus-one-is-large": (
        "int n",
        "for (int i = -3; i < 4; i++) if (i < 1u) RUN(i); else if (-1 < 1u) RUN(i + 50);",
        ((0,),),
    ),
    "signed-size-in-unsigned-comparison": (
        "int n",
        "for (unsigned i = 0; i < 12 && i < n; i++) RUN(i);",
        (SIGNED,),
    ),
    "negation": (
        "unsigned n",
        "for (unsigned i = 0; i < 9; i++) if (-i > n) RUN(i);",
        ((0, 5, UINT_MAX - 3),),
    ),
    "back-above-zero": (
        "unsigned n",
        "for (unsigned i = 0; i < n; i++) RUN(-i + 30);",
        (SMALL,),
    ),
    "complement": ("int n", "for (int i = 0; i < 9; i++) if (~i < -n) RUN(~i + 20);", (SIGNED,)),
    "unsigned-complement": (
        "unsigned n",
        "for (unsigned i = 0; i < 9; i++) if (~i < n) RUN(i);",
        ((0, 7, UINT_MAX - 4),),
    ),
    "cast-to-byte": ("int n", "for (int i = 0; i < n; i++) RUN((unsigned char) (i * 50));", ((0, 3, 9, 30),)),
    "cast-to-signed-byte": (
        "int n",
        "for (int i = 0; i < 300; i += 7) if ((signed char) i < n) RUN(i);",
        ((-200, -100, 0, 90, 200),),
    ),
    "cast-to-short": (
        "int n",
        "for (int i = 0; i < 9; i++) if ((short) (i + n) > 0) RUN(i);",
        ((0, 32760, 32768, 65530, 98300, -7),),
    ),
    "cast-to-bool": ("int n", "for (int i = 0; i < 9; i++) RUN((_Bool) (i - n));", (SIGNED,)),
    "cast-of-a-condition": (
        "int n",
        "for (int i = 0; i < 9; i++) if ((unsigned char) (i * 64)) RUN(i);",
        ((1,),),
    ),
    "byte-is-promoted": (
        "unsigned char n",
        "for (int i = 0; i < 9; i++) if (n + 250 > 255 + i && n - 5 < i) RUN(i);",
        ((0, 4, 6, 10, 255),),
    ),
    "byte-variable-cuts": (
        "int n",
        "for (int i = 0; i < 9; i++) { unsigned char q = i + n; RUN(q); }",
        ((0, 250, 255, 1000, -3),),
    ),
    "byte-variable-adds": (
        "int n",
        "for (int i = 0; i < 9; i++) { unsigned char q = i; q += n; q -= 3; RUN(q); }",
        ((0, 250, 1),),
    ),
    "byte-iterator": ("int n", "for (unsigned char i = 0; i < n; i++) RUN(i);", ((0, 5, 255),)),
    "byte-iterator-down": (
        "unsigned char n",
        "for (unsigned char i = n; i > 2; i -= 2) RUN(i);",
        ((0, 5, 200),),
    ),
    "wraps-to-the-end": ("unsigned n", "for (unsigned i = n; i != -1; i--) RUN(i);", (SMALL,)),
    "down-to-zero": ("unsigned long n", "for (unsigned long i = n - 1; i < n; i--) RUN(i);", (SMALL,)),
    "step-of-minus-one": ("unsigned n", "for (unsigned i = n; i > 0; i += -1) RUN(i);", (SMALL,)),
    "not-equal": ("unsigned n", "for (unsigned i = 0; i != n; i++) RUN(i);", (SMALL,)),
    "narrow-sizes": (
        "unsigned char n, unsigned short m",
        "for (int i = 0; i < n * 2 - m; i++) RUN(i);",
        ((0, 3, 255), (0, 1, 500)),
    ),
    "long-and-int": (
        "long n, int m",
        "for (int i = 0; i < 9; i++) if (i + n < m) RUN(i);",
        ((0, -3, 2**40, -(2**40)), (0, 6, -(2**31))),
    ),
    "unsigned-and-long": (
        "unsigned n, long m",
        "for (int i = 0; i < 9; i++) if (n - i > m) RUN(i);",
        ((0, 4, UINT_MAX), (-1, 0, 2**33)),
    ),
    "division-of-negative-values": (
        "int n",
        "for (int i = -7; i < 8; i++) if (i / 2 + i % 3 < n) RUN(i / 2 + 9);",
        (SIGNED,),
    ),
    "unsigned-division": (
        "unsigned n",
        "for (unsigned i = 0; i < 9; i++) if ((i - n) / 2 < 100) RUN((i - n) % 8);",
        ((0, 3, 8),),
    ),
    "shifts": (
        "int n",
        "for (int i = -4; i < 9; i++) if (i >> 1 < n) RUN((i >> 1) + 4); else RUN((i + 8) << 2);",
        (SIGNED,),
    ),
    "unsigned-shift": (
        "unsigned n",
        "for (unsigned i = 0; i < 9; i++) if (n - i >> 30 == 3) RUN(i); else if (n << 30 != 0) RUN(i + 20);",
        ((0, 3, 4, 8),),
    ),
    "large-constants": (
        "unsigned long n",
        "for (int i = 0; i < 9; i++) if (n + 18446744073709551615UL > i) RUN(i);",
        ((0, 1, 4, ULONG_MAX),),
    ),
    "enumeration": (
        "int n",
        "for (int i = 0; i < 9; ++i){ enum { A } q = i - 3; if (q > 2) RUN(i); else if (-1 < q) RUN(i); }",
        ((0,),),
    ),
    "choice": (
        "unsigned n, int m",
        "for (int i = 0; i < 9; i++) if ((i > 3 ? n : m) > 5) RUN(i);",
        ((0, 7), (-1, 0, 6)),
    ),
    "function-with-narrow-parameter": (
        "int n",
        "for (int i = 0; i < 9; i++) RUN(low(i + n));",
        ((0, 250, 256, -2),),
    ),
}


def source(name: str, parameters: str, loops: str) -> str:
    """A C function whose statements write the cells of RUN."""
    body = re.sub(r"RUN\((.*?)\);", r"out[\1] = 1;", loops)
    helper = "static unsigned low(unsigned char x) { return x; }\n"
    return f"{helper}void {name}({parameters}, int *out)\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def runs_of(cases: Mapping[str, tuple[str, str, Sequence[Sequence[int]]]], folder: Path) -> list[list[int]]:
    """What the compiled functions run, cell by cell, for each case and each combination of values."""
    lines = ["#include <stdio.h>", "static unsigned low(unsigned char x) { return x; }"]
    calls: list[str] = []
    for number, (parameters, loops, values) in enumerate(cases.values()):
        body = re.sub(r"RUN\((.*?)\);", r'printf("%lld ", (long long) (\1));', loops)
        lines.append(f"static void k{number}({parameters}) {{ {body} }}")
        for one in itertools.product(*values):
            constants = ", ".join(f"{value}{'ull' if value > 2**63 else 'll'}" for value in one)
            calls.append(f'k{number}({constants}); puts("");')
    (folder / "run.c").write_text("\n".join([*lines, "int main(void) {", *calls, "}"]) + "\n")
    subprocess.run(["gcc", "-w", "-O0", "-fwrapv", "run.c", "-o", "run"], cwd=folder, check=True, timeout=120)
    output = subprocess.run([folder / "run"], check=True, timeout=60, capture_output=True, text=True).stdout
    return [[int(word) for word in line.split()] for line in output.splitlines()]


def modelled(program: Program, sizes: Mapping[str, int]) -> list[int] | None:
    """What the model runs, cell by cell; None if it says nothing of these sizes."""
    here = {name: value for name, value in sizes.items() if name in program.parameters}
    known = program.context
    for one in program.assumptions:
        known = known.intersect(one.where)
    if known.intersect(fix_parameters(here)).is_empty():
        return None
    trace = trace_of(program, here)
    return [cell[0] for one in trace.instances for array, cell in one.writes if array == "out"]


def names_of(parameters: str) -> list[str]:
    return [part.split()[-1] for part in parameters.split(",")]


def test_what_runs_is_what_the_model_says(tmp_path: Path) -> None:
    lines = iter(runs_of(CASES, tmp_path))
    for name, (parameters, loops, values) in CASES.items():
        file = tmp_path / f"{name}.c"
        file.write_text(source("kernel", parameters, loops))
        program = af.read(file)
        assert isinstance(program, Program)
        compared = 0
        for one in itertools.product(*values):
            expected = next(lines)
            sizes = dict(zip(names_of(parameters), one, strict=True))
            found = modelled(program, sizes)
            assert found is None or found == expected, f"{name} at {sizes}"
            compared += found is not None
        assert compared == len(list(itertools.product(*values))), f"{name}: {program.assumptions}"


@pytest.mark.parametrize("seed", range(3))
def test_random_integers(seed: int, tmp_path: Path) -> None:
    """Whatever is read runs as C does at all values that are not excluded with a word."""
    choose = random.Random(seed)
    cases: dict[str, tuple[str, str, Sequence[Sequence[int]]]] = {}
    programs: dict[str, Program] = {}
    for number in range(25):
        parameters, loops = code(choose)
        file = tmp_path / f"k{number}.c"
        file.write_text(source("kernel", parameters, loops))
        try:
            program = af.read(file)
        except InputError:
            continue
        assert isinstance(program, Program)
        programs[f"k{number}"] = program
        cases[f"k{number}"] = parameters, loops, (choose.sample(VALUES, 4), choose.sample(VALUES, 3))
    assert len(cases) > 8
    lines = iter(runs_of(cases, tmp_path))
    for name, (parameters, loops, values) in cases.items():
        kinds = [part.rsplit(" ", 1)[0].strip() for part in parameters.split(",")]
        for one in itertools.product(*values):
            expected = next(lines)
            stored = [converted(value, kind) for value, kind in zip(one, kinds, strict=True)]
            found = modelled(programs[name], dict(zip(names_of(parameters), stored, strict=True)))
            assert found is None or found == expected, f"{parameters}: {loops} at {stored}"


def converted(value: int, kind: str) -> int:
    """A number as a parameter of some type keeps it."""
    if kind == "_Bool":
        return int(value != 0)
    bits = {"char": 8, "short": 16, "long": 64}.get(kind.split()[-1], 32)
    low = value % 2**bits
    return low if "unsigned" in kind or low < 2 ** (bits - 1) else low - 2**bits


@pytest.mark.parametrize(
    ("parameters", "loops", "assumed"),
    [
        ("int n", "for (unsigned i = 0; i < n; i++) RUN(i);", "n >= 0"),
        ("unsigned n", "for (unsigned i = 0; i < n - 2; i++) RUN(i);", "n >= 2"),
        ("unsigned n", "RUN(n - 1);", "n >= 1"),
        ("int n", "for (unsigned char i = 0; i < n; i++) RUN(i);", "n <= 255"),
        ("unsigned long n", "for (int i = 0; i < (int) n; i++) RUN(i);", f"n <= {INT_MAX}"),
        ("unsigned n", "for (unsigned i = 0; i < n + 1; i++) RUN(i);", f"n <= {UINT_MAX - 1}"),
        ("unsigned n", "for (unsigned i = 0; i <= n; i++) RUN(i);", None),
        ("unsigned n", "for (unsigned i = 0; i + 1 < n; i++) RUN(i);", None),
        ("unsigned n", "for (unsigned i = 1; i < n; i++) RUN(i - 1);", None),
        ("int n", "for (int i = 0; i < n + 1; i++) RUN(i);", None),
        ("unsigned n", "for (unsigned i = 0; i < 20; i++) RUN(-i + 30);", None),
        (
            "unsigned long n, int m",
            "for (unsigned long i = 0; i < n; i++) if (m < n - i) RUN(i);",
            f"n <= {2**63 - 1}",
        ),
        ("unsigned n", "for (unsigned i = 0; i < n; i++) RUN(-i + 30);", "n <= 31"),
    ],
)
def test_what_is_assumed(parameters: str, loops: str, assumed: str | None, tmp_path: Path) -> None:
    file = tmp_path / "assumed.c"
    file.write_text(source("kernel", parameters, loops))
    program = af.read(file)
    assert isinstance(program, Program)
    assert [one.text for one in program.assumptions] == ([] if assumed is None else [assumed])
    if assumed is not None:
        assert all(one.place is not None and one.place.line == 5 for one in program.assumptions)
        said = af.read(file, context=assumed)
        assert isinstance(said, Program)
        assert said.assumptions == ()
        # Values beyond all memory are no part of the context: sizes are compared far out.
        is_large = any(str(end)[:4] in assumed for end in (INT_MAX, UINT_MAX, 2**63))
        assert said.context.is_subset(program.context)
        assert bool(program.context.is_subset(isl.Set(f"[n] -> {{ : {assumed} }}"))) != is_large


def test_assumptions_are_told_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "told.c"
    file.write_text(
        """void told(unsigned n, const int in[restrict n], int out[restrict n])
{
    int t[n + 7];
#pragma scop
    for (unsigned i = 0; i < n - 2; i++) {
        t[i] = in[i];
        out[i] = t[i];
    }
#pragma endscop
}
"""
    )
    result = af.fold(af.read(file))
    texts = [str(one) for one in result.assumptions]
    assert texts == [
        "n >= 2 (line 6: t[i] is inside)",
        f"n <= {UINT_MAX - 7} (line 3: n + 7 must not wrap around)",
    ]
    from arrayfold.report.data import fold_data

    told = fold_data([result])["assumptions"]
    assert [(one["text"], one["line"]) for one in told] == [("n >= 2", 6), (f"n <= {UINT_MAX - 7}", 3)]
    for text in texts:
        assert f"/* assumed: {text} */" in result.to_c()
        assert text in repr(result)
        assert html.escape(text) in result._repr_html_()  # pyright: ignore[reportPrivateUsage]
    narrowed = af.fold(af.read(file, context="n >= 2 and n <= 1000"))
    assert narrowed.assumptions == ()


def test_new_loops_are_for_sizes_that_are_assumed() -> None:
    """Sizes that leave the types of the new iterators have neither branches nor numbers."""
    text = """#include <stddef.h>
void f(size_t N, size_t M, const double in[restrict M + N + 1][M + 1], double out[restrict N + 1][M + N + 1])
{
  int i;
#pragma scop
  for (i = N - 1; i >= 0; i -= 2) {
    for (int j = 0; j <= M - 1; j++)
      out[i][j + 1] -= 0.25 * in[i][j];
    for (int j = N - 2; j >= 0; j--)
      out[j + 1][0] = in[N - i + 2][0];
  }
#pragma endscop
}
"""
    (program,) = read_c("f.c", text.encode())
    written = af.fold(program).to_c(loops="generate", style="readable")
    loops = written[written.index("#pragma scop") :]
    assert max(int(number) for number in re.findall(r"\d+", loops)) <= 2**32
    (again,) = read_c("f.c", written.encode())
    assert again.source is not None
