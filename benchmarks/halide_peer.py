"""Halide as a peer: the same programs as pipelines that slide a window over rows, with Halide's own folds.

Needs the package halide, which is no dependency of arrayfold: pip install halide numpy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

_WARM_UP = 1
_REPEAT = 3
_LANES = 16
PROGRAMS = ("blur", "unsharp", "harris")


def seconds_of(program: str, rows: int, columns: int) -> float | None:
    """The time of one run on one thread; None if Halide is not there or the program is not one of these."""
    if program not in PROGRAMS:
        return None
    try:
        hl: Any = import_module("halide")
        np: Any = import_module("numpy")
    except ImportError:
        return None
    run = {"blur": _blur, "unsharp": _unsharp, "harris": _harris}[program](hl, np, rows, columns)
    best = float("inf")
    for turn in range(_WARM_UP + _REPEAT):
        begin = time.perf_counter()
        run()
        if turn >= _WARM_UP:
            best = min(best, time.perf_counter() - begin)
    return best


def _runner(hl: Any, np: Any, stage: Any, data: Any) -> Callable[[], None]:
    """Compile a pipeline; its result has two rows and columns fewer than the data at each side.

    Halide does not keep the memory of its buffers alive, so the data stay with what is returned.
    """
    rows, columns = data.shape
    target = hl.get_jit_target_from_environment()
    stage.compile_jit(target)
    memory = np.zeros((rows - 4, columns - 4), dtype=data.dtype)
    out = hl.Buffer(memory)
    out.set_min([2, 2])

    def run() -> None:
        stage.realize(out)
        assert memory.dtype == data.dtype

    return run


def _rows(stage: Any, window: list[Any], x: Any, y: Any, lanes: int) -> None:
    """Rows one after the other; stages of the window are computed a row at a time and stored folded."""
    stage.vectorize(x, lanes)
    for one in window:
        one.store_root().compute_at(stage, y).vectorize(x, lanes)


def _blur(hl: Any, np: Any, rows: int, columns: int) -> Callable[[], None]:
    x, y = hl.Var("x"), hl.Var("y")
    data = np.random.default_rng(1).random((rows + 2, columns + 2)).astype(np.float32)
    source = hl.Buffer(data)
    blurx, out = hl.Func("blurx"), hl.Func("out")
    blurx[x, y] = (source[x, y] + source[x + 1, y] + source[x + 2, y]) * hl.f32(1 / 3)
    out[x, y] = (blurx[x, y] + blurx[x, y - 1] + blurx[x, y - 2]) * hl.f32(1 / 3)
    _rows(out, [blurx], x, y, _LANES)
    return _runner(hl, np, out, data)


def _unsharp(hl: Any, np: Any, rows: int, columns: int) -> Callable[[], None]:
    x, y = hl.Var("x"), hl.Var("y")
    data = np.random.default_rng(1).random((rows, columns)).astype(np.float32)
    source = hl.Buffer(data)
    weight, threshold = hl.f32(0.5), hl.f32(0.1)
    blurx, blury, out = hl.Func("blurx"), hl.Func("blury"), hl.Func("out")

    def binomial(near: Callable[[int], Any]) -> Any:
        return (near(-2) + 4 * near(-1) + 6 * near(0) + 4 * near(1) + near(2)) / 16

    blurx[x, y] = binomial(lambda d: source[x, y + d])
    blury[x, y] = binomial(lambda d: blurx[x + d, y])
    sharp = (1 + weight) * source[x, y] - weight * blury[x, y]
    out[x, y] = hl.select(hl.abs(source[x, y] - blury[x, y]) < threshold, source[x, y], sharp)
    _rows(out, [blurx], x, y, _LANES)
    return _runner(hl, np, out, data)


def _harris(hl: Any, np: Any, rows: int, columns: int) -> Callable[[], None]:
    x, y = hl.Var("x"), hl.Var("y")
    data = np.random.default_rng(1).random((rows, columns)).astype(np.float32)
    source = hl.Buffer(data)

    def sobel(at: Callable[[int, int], Any]) -> Any:
        return (at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)) / 12

    products = [hl.Func(name) for name in ("xx", "xy", "yy")]
    across = sobel(lambda a, b: source[x + a, y + b])
    along = sobel(lambda a, b: source[x + b, y + a])
    for product, value in zip(products, (across * across, across * along, along * along), strict=True):
        product[x, y] = value

    def total(product: Any) -> Any:
        return sum((product[x + a, y + b] for a in (-1, 0, 1) for b in (-1, 0, 1)), start=hl.f32(0))

    xx, xy, yy = map(total, products)
    out = hl.Func("out")
    out[x, y] = xx * yy - xy * xy - hl.f32(0.04) * (xx + yy) * (xx + yy)
    _rows(out, products, x, y, _LANES)
    return _runner(hl, np, out, data)
