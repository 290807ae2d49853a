"""Kernels of loopy: read, folded, and run by loopy's own C target beside the kernels that they were."""

from __future__ import annotations

import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import islpy as isl
import numpy as np
import pytest

import arrayfold as af
from support.peak import peak

lp: Any = pytest.importorskip("loopy", reason="loopy is not installed: pip install 'arrayfold[loopy]'")

from arrayfold.loopy import fold_kernel, fold_temporaries, read_kernel  # noqa: E402

REAL = np.float64


def kernel_of(
    domains: str, code: str, arrays: str, assumptions: str = "", order: str = "", **shapes: Any
) -> Any:
    """A kernel whose arguments are as `in:a[n,m] out:b[n]`, and with temporaries of given shapes."""
    arguments: list[Any] = [lp.TemporaryVariable(name, REAL, shape=shape) for name, shape in shapes.items()]
    for word in arrays.split():
        kind, _, rest = word.partition(":")
        name, _, shape = rest.rstrip("]").partition("[")
        arguments.append(lp.GlobalArg(name, REAL, shape=shape, is_output=kind == "out"))
    kernel = lp.make_kernel(
        domains,
        code,
        [*arguments, ...],
        assumptions=assumptions or None,
        lang_version=(2018, 2),
        target=lp.ExecutableCTarget(),
        name="kernel",
    )
    return lp.prioritize_loops(kernel, order) if order else kernel


def blur(shape: Any = ("n", "m"), order: str = "y,x") -> Any:
    return kernel_of(
        "{ [y,x]: 0<=y<n and 0<=x<m }",
        """
        t[y,x] = a[y,x]*2   {id=first}
        out[y,x] = (t[y-2,x]+t[y-1,x]+t[y,x] if y>=2 else a[y,x])  {id=second,dep=first}
        """,
        "in:a[n,m] out:out[n,m]",
        "n>=3 and m>=1",
        order,
        t=shape,
    )


UNSHARP = {
    "domains": "{ [y,x,x2,x3]: 0<=y<n and 0<=x,x2,x3<m }",
    "code": """
        for y
          rows[y,x] = a[y,x]*0.25   {id=rows}
          if y >= 2
            blurred[y-1,x2] = rows[y-2,x2]+2*rows[y-1,x2]+rows[y,x2]  {id=blurred,dep=rows}
            out[y-1,x3] = a[y-1,x3]*2 - blurred[y-1,x3]  {dep=blurred}
          end
        end
        """,
    "arrays": "in:a[n,m] out:out[n,m]",
    "assumptions": "n>=3 and m>=1",
    "rows": ("n", "m"),
    "blurred": ("n", "m"),
}
PRODUCTS = {
    "domains": "{ [i,j,k,j2,l]: 0<=i,j,j2<n and 0<=k,l<4 }",
    "code": """
        for i
          t[i,j] = sum(k, a[i,k]*b[k,j])  {id=first}
          out[i,l] = sum(j2, t[i,j2]*c[j2,l])  {dep=first}
        end
        """,
    "arrays": "in:a[n,4] in:b[4,n] in:c[n,4] out:out[n,4]",
    "assumptions": "n>=3",
    "order": "i,j,k",
    "t": ("n", "n"),
}
JACOBI = {
    "domains": "{ [t,i,i2,i3]: 1<=t<T and 0<=i,i2,i3<n }",
    "code": """
        u[0,i2] = a[i2]  {id=start}
        u[t,i] = (u[t-1,i-1]+u[t-1,i]+u[t-1,i+1])/4 if 0 < i and i < n-1 else u[t-1,i]  {id=step,dep=start}
        out[i3] = u[T-1,i3]  {dep=step}
        """,
    "arrays": "in:a[n] out:out[n]",
    "assumptions": "n>=3 and T>=2",
    "order": "t,i",
    "u": ("T", "n"),
}


def outputs(kernel: Any, **given: Any) -> Any:
    return kernel.executor()(**given)[1]


@pytest.mark.parametrize(
    ("kernel", "cells", "given"),
    [
        (blur, {"t": "2*m + 1"}, {"a": (7, 5)}),
        (UNSHARP, {"rows": "3*m", "blurred": "m"}, {"a": (7, 5), "out": (7, 5)}),
        (PRODUCTS, {"t": "n"}, {"a": (6, 4), "b": (4, 6), "c": (6, 4)}),
        (JACOBI, {"u": "n + 1"}, {"a": (9,), "T": 6}),
    ],
)
def test_folded_kernels_compute_the_same(kernel: Any, cells: dict[str, str], given: dict[str, Any]) -> None:
    original = kernel() if callable(kernel) else kernel_of(**kernel)
    folded = fold_kernel(original)
    assert folded.result is not None
    assert {one.name: str(one.size) for one in folded.result.arrays} == cells
    assert folded.kept == {}
    random = np.random.default_rng(1)
    arguments = {name: random.random(of) if isinstance(of, tuple) else of for name, of in given.items()}
    (before,), (after,) = (outputs(one, **deepcopy(arguments)) for one in (original, folded.kernel))
    assert np.array_equal(before, after)
    assert np.abs(before).sum() > 1


def kernel_text(kernel: Any) -> str:
    return lp.generate_code_v2(kernel).device_code()


def main_of(arguments: dict[str, int]) -> str:
    """A main function that fills the arguments of a kernel and prints sums of them afterwards.

    It uses some memory itself, more than the Python that starts it, which counts for the program's peak.
    """
    lines = [
        "",
        "#include <stdio.h>",
        *(f"static double {name}[{size}];" for name, size in arguments.items()),
    ]
    lines += ["static volatile char ballast[16000000];", "int main(void) {"]
    lines.append("for (int i = 0; i < 16000000; i += 1024) ballast[i] = 1;")
    for name, size in arguments.items():
        lines.append(f"for (int i = 0; i < {size}; i++) {name}[i] = i % 19;")
    lines.append(f"kernel({', '.join(arguments)});")
    for name, size in arguments.items():
        lines.append(
            f"{{ double s = 0; for (int i = 0; i < {size}; i++) s += {name}[i] * (i % 7); "
            f'printf("%.3f\\n", s); }}'
        )
    return "\n".join([*lines, "return 0; }", ""])


@pytest.mark.parametrize(
    ("kernel", "sizes", "arguments", "cells"),
    [
        (blur, {"n": 800, "m": 800}, {"a": 800**2, "out": 800**2}, (800**2, 1601)),
        (UNSHARP, {"n": 600, "m": 600}, {"a": 600**2, "out": 600**2}, (2 * 600**2, 4 * 600)),
        (PRODUCTS, {"n": 800}, {"a": 3200, "b": 3200, "c": 3200, "out": 3200}, (800**2, 800)),
        (JACOBI, {"n": 4000, "T": 200}, {"a": 4000, "out": 4000}, (800_000, 4001)),
    ],
)
def test_constant_sizes_take_less_memory(
    kernel: Any, sizes: dict[str, int], arguments: dict[str, int], cells: tuple[int, int], tmp_path: Path
) -> None:
    """The code that loopy writes is compiled and measured; arrays of a kernel are on the stack."""
    if callable(kernel):
        constant = kernel(shape=tuple(sizes.values()))
    else:
        constant = kernel_of(
            **{
                name: tuple(sizes.get(one, one) for one in value) if isinstance(value, tuple) else value
                for name, value in kernel.items()
            }
        )
    original = lp.fix_parameters(constant, **sizes)
    folded = fold_kernel(original)
    assert folded.result is not None
    was, now = cells
    assert sum(one.size.at({}) for one in folded.result.arrays) == now
    found: list[tuple[str, int]] = []
    for one in (original, folded.kernel):
        source, program = tmp_path / "kernel.c", tmp_path / "kernel"
        source.write_text(kernel_text(one) + main_of(arguments))
        subprocess.run(["gcc", "-O1", str(source), "-o", str(program)], check=True)
        found.append(peak(program))
    (before, large), (after, small) = found
    assert before == after
    assert (large - small) * 1024 > 0.6 * 8 * (was - now)


def test_the_program_is_in_the_order_of_loopy() -> None:
    program = read_kernel(blur())
    assert [statement.name for statement in program.statements] == ["first", "second"]
    assert program.temporaries == ("t",)
    times = {
        statement.name: str(program.schedule.intersect_domain(isl.UnionSet.from_set(statement.domain)))
        for statement in program.statements
        if program.schedule is not None
    }
    assert "first[y, x] -> [1, y, 0, x, 0]" in times["first"]
    assert "second[y, x] -> [1, y, 0, x, 1]" in times["second"]
    columns = fold_kernel(blur(order="x,y"))
    assert columns.result is None or str(columns.result["t"].size) in ("3", "2*m + 1")
    split = lp.prioritize_loops(lp.split_iname(blur(order=""), "x", 4, inner_tag="unr"), "y,x_outer,x_inner")
    folded = fold_kernel(split)
    assert folded.result is not None
    assert str(folded.result["t"].size) == "2*m + 1"
    assert "is not affine" in fold_kernel(folded.kernel).kept["t"]


ROW = "{ [i]: 0<=i<n }"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("t[i] = a[i]  {id=f}\n out[j] = t[k[j]]  {dep=f}", "t[k[j]] is not affine, instruction "),
        ("t[i] = a[i]  {id=f}\n out[j] = t[(j*j) % n]  {dep=f}", "t[(j*j) % n] is not affine, instruction "),
        ("t[i] = a[i] {id=f,if=a[i]>0}\n out[i] = t[i]  {dep=f}", "it may be read before it is written"),
        ("t[i] = t[i] + a[i]  {id=f}\n out[i] = t[i]  {dep=f}", "it may be read before it is written"),
        ("t[i] = a[i]  {id=f}\n out[j] = t[n-1-j]  {dep=f}", "all its cells are needed"),
    ],
)
def test_arrays_that_stay_have_a_reason(code: str, why: str) -> None:
    row = "{ [i,j]: 0<=i,j<n }" if "j" in code else ROW
    kernel = kernel_of(row, code, "in:a[n] out:out[n]", "n>=3", t=("n",))
    kernel = lp.add_dtypes(kernel, {"k": np.int32}) if "k[" in code else kernel
    folded = fold_kernel(kernel)
    assert folded.kept["t"].startswith(why)
    assert str(folded.kernel.default_entrypoint.temporary_variables["t"].shape[0]) == "n"
    with pytest.raises(af.InputError) as error:
        fold_temporaries(kernel, ["t"])
    assert str(error.value).startswith(f"t cannot be folded: {why}")


def test_a_condition_that_is_affine_says_where_an_array_is_written() -> None:
    code = "t[i] = a[i] {id=f,if=i%2==0}\n out[i] = t[i] if i%2==0 else a[i]  {dep=f}"
    kernel = kernel_of(ROW, code, "in:a[n] out:out[n]", "n>=3", t=("n",))
    folded = fold_kernel(kernel)
    assert folded.result is not None
    assert str(folded.result["t"].size) == "1"
    given = np.arange(9.0)
    assert np.array_equal(outputs(folded.kernel, a=given)[0], given)


def test_an_array_in_the_storage_of_others_stays() -> None:
    kernel = blur()
    body = kernel["kernel"]
    shared = body.temporary_variables["t"].copy(base_storage="pool")
    folded = fold_kernel(kernel.with_kernel(body.copy(temporary_variables={"t": shared})))
    assert folded.kept == {"t": "it shares the storage pool"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda kernel: lp.tag_inames(kernel, "x:g.0"),
            "kernel kernel: the loop over x is tagged g.0: it runs",
        ),
        (
            lambda kernel: lp.tag_inames(kernel, "y:l.0"),
            "kernel kernel: the loop over y is tagged l.0: it runs",
        ),
        (lambda _: 7, "expected a kernel of loopy, as lp.make_kernel() returns it, not int"),
    ],
)
def test_what_runs_in_parallel_is_refused(change: Any, message: str) -> None:
    with pytest.raises(af.InputError) as error:
        fold_temporaries(change(blur(order="")))
    assert str(error.value).startswith(message)


def test_loops_to_what_the_kernel_computes_are_refused() -> None:
    code = """
        for i
          <int32> e = k[i]  {id=e}
          t[i] = a[i]  {id=f}
          out[i] = sum(j, t[i])  {dep=f:e}
        end"""
    kernel = lp.add_dtypes(
        kernel_of(["{ [i]: 0<=i<n }", "[e] -> { [j]: 0<=j<e }"], code, "in:a[n] out:out[n]", t=("n",)),
        {"k": np.int32},
    )
    with pytest.raises(
        af.InputError, match=r"instruction .*: a loop runs to e, which is computed in the kernel"
    ):
        fold_temporaries(kernel)
    with pytest.raises(af.InputError, match="kernel has no temporary 'u'"):
        fold_temporaries(blur(), ["u"])
