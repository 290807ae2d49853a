"""Halide beside `--order auto`: a schedule by hand, and the autoschedulers of Mullapudi and of Adams.

    python benchmarks/halide_orders.py [--threads 1] [--length 4000] [PROGRAM ...]

The pipelines are those of blur.c, gauss.c, unsharp.c and harris.c in benchmarks/orders, on random data. By
hand means a sliding window over rows, with each stage of several rows folded by Halide, for several threads
in bands of 64 rows. Ours is `arrayfold fold FILE --order auto`, with `--parallel` for several threads. Times
are the least of several runs, warm. Needs the package halide, which is no dependency of arrayfold:
pip install halide numpy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from orders import CASES, alone_on, measure

PROGRAMS = ("blur", "gauss", "unsharp", "harris")
SCHEDULES = ("by hand", "Mullapudi2016", "Adams2019")
_LANES = 16
_BAND = 64
_LEAST_SECONDS = 0.5
_LEAST_RUNS = 5


def _taps(near: Callable[[int], Any], hl: Any) -> Any:
    weights = (0.0625, 0.25, 0.375, 0.25, 0.0625)
    return sum((hl.f32(weight) * near(k - 2) for k, weight in enumerate(weights)), start=hl.f32(0))


def _blur(hl: Any, source: Any, x: Any, y: Any) -> tuple[Any, list[Any]]:
    clamped, tmp, out = hl.BoundaryConditions.repeat_edge(source), hl.Func("tmp"), hl.Func("out")
    tmp[x, y] = (clamped[x - 1, y] + clamped[x, y] + clamped[x + 1, y]) * hl.f32(1 / 3)
    out[x, y] = (tmp[x, y - 1] + tmp[x, y] + tmp[x, y + 1]) * hl.f32(1 / 3)
    return out, [tmp]


def _gauss(hl: Any, source: Any, x: Any, y: Any) -> tuple[Any, list[Any]]:
    tmp, out = hl.Func("tmp"), hl.Func("out")
    tmp[x, y] = _taps(lambda d: source[x + d, y], hl)
    out[x, y] = _taps(lambda d: tmp[x, y + d], hl)
    return out, [tmp]


def _unsharp(hl: Any, source: Any, x: Any, y: Any) -> tuple[Any, list[Any]]:
    rows, blurred, out = hl.Func("rows"), hl.Func("blurred"), hl.Func("out")
    weight, threshold = hl.f32(0.5), hl.f32(0.1)
    rows[x, y] = _taps(lambda d: source[x, y + d], hl)
    blurred[x, y] = _taps(lambda d: rows[x + d, y], hl)
    sharp = source[x, y] * (1 + weight) - blurred[x, y] * weight
    out[x, y] = hl.select(hl.abs(source[x, y] - blurred[x, y]) < threshold, source[x, y], sharp)
    return out, [rows]


def _harris(hl: Any, source: Any, x: Any, y: Any) -> tuple[Any, list[Any]]:
    def slope(at: Callable[[int, int], Any]) -> Any:
        return (at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1)) / 12

    products = [hl.Func(name) for name in ("xx", "xy", "yy")]
    ix, iy = slope(lambda a, b: source[x + a, y + b]), slope(lambda a, b: source[x + b, y + a])
    for product, value in zip(products, (ix * ix, ix * iy, iy * iy), strict=True):
        product[x, y] = value

    def total(product: Any) -> Any:
        return sum((product[x + a, y + b] for b in (-1, 0, 1) for a in (-1, 0, 1)), start=hl.f32(0))

    xx, xy, yy = map(total, products)
    out = hl.Func("out")
    out[x, y] = xx * yy - xy * xy - hl.f32(0.04) * (xx + yy) * (xx + yy)
    return out, products


_PIPELINES = {"blur": _blur, "gauss": _gauss, "unsharp": _unsharp, "harris": _harris}


def seconds_of(program: str, schedule: str, length: int, threads: int) -> float:
    """The time of one run in this process, whose number of threads Halide has been told."""
    hl: Any = import_module("halide")
    np: Any = import_module("numpy")
    x, y = hl.Var("x"), hl.Var("y")
    data = np.random.default_rng(1).random((length, length)).astype(np.float32)
    out, stages = _PIPELINES[program](hl, hl.Buffer(data), x, y)
    border = 0 if program == "blur" else 2
    memory = np.zeros((length - 2 * border, length - 2 * border), dtype=np.float32)
    result = hl.Buffer(memory)
    result.set_min([border, border])
    target = hl.get_jit_target_from_environment()
    pipeline = hl.Pipeline(out)
    if schedule == "by hand":
        inside = y
        if threads > 1:
            band = hl.Var("band")
            out.split(y, band, y, _BAND).parallel(band)
        at = hl.Var("band") if threads > 1 else None
        out.vectorize(x, _LANES)
        for stage in stages:
            stored = stage.store_root() if at is None else stage.store_at(out, at)
            stored.compute_at(out, inside).vectorize(x, _LANES)
    else:
        (plugin,) = Path(hl.__file__).parent.glob(f"**/libautoschedule_{schedule.lower()}.*")
        hl.load_plugin(str(plugin))
        for k, (least, extent) in enumerate([(border, memory.shape[1]), (border, memory.shape[0])]):
            out.set_estimate([x, y][k], least, extent)
        pipeline.apply_autoscheduler(target, hl.AutoschedulerParams(schedule, {"parallelism": str(threads)}))
    pipeline.compile_jit(target)
    best, total, runs = float("inf"), 0.0, 0
    while runs < _LEAST_RUNS or total < _LEAST_SECONDS:
        begin = time.perf_counter()
        pipeline.realize(result)
        took = time.perf_counter() - begin
        best, total, runs = min(best, took) if runs else best, total + took, runs + 1
    assert data.shape == (length, length)
    return best


def _in_a_process(program: str, schedule: str, length: int, threads: int) -> float:
    """The same in a process of its own."""
    words = [program, "--schedule", schedule, "--length", str(length), "--threads", str(threads)]
    environment = {**os.environ, "HL_NUM_THREADS": str(threads)}
    with alone_on(1 if threads == 1 else None):
        done = subprocess.run(
            [sys.executable, __file__, *words], capture_output=True, text=True, check=True, env=environment
        )
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--length", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--schedule", help=argparse.SUPPRESS)
    given = parser.parse_args()
    length, threads = given.length, given.threads
    if given.schedule:
        print(seconds_of(given.programs[0], given.schedule, length, threads))
        return
    os.environ["OMP_NUM_THREADS"] = str(threads)
    print(f"{'program':8} {'ours ms':>10}", *(f"{schedule:>14}" for schedule in SCHEDULES), "best over ours")
    for case in CASES:
        if case.name not in given.programs:
            continue
        options = "--order auto" + (" --parallel" if threads > 1 else "")
        ours = measure(case, {"h": length, "w": length}, options, 3, 1 if threads == 1 else None)
        assert ours.seconds is not None, ours.failure
        theirs = [_in_a_process(case.name, schedule, length, threads) for schedule in SCHEDULES]
        folded = ours.seconds["folded"]
        times = [f"{1e3 * seconds:14.2f}" for seconds in theirs]
        print(f"{case.name:8} {1e3 * folded:10.2f}", *times, f"{min(theirs) / folded:14.2f}", flush=True)


if __name__ == "__main__":
    main()
