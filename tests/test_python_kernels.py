"""Python kernels: the folded C gives what the function gives as plain Python, bit for bit."""

from __future__ import annotations

import importlib.util
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayfold as af
from arrayfold.run.compiler import find_compiler
from support.random_kernels import HEAD, statement

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")

TAPS = 3
SCALE = 0.1


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@af.kernel
def blur(image, out):
    """Two stages, row by row."""
    N, M = image.shape
    blurx = af.empty((N, M))
    for y in range(N):
        for x in range(M - 2):
            blurx[y, x] = (image[y, x] + image[y, x + 1] + image[y, x + 2]) / 3
    for y in range(N - 2):
        for x in range(M - 2):
            out[y, x] = (blurx[y, x] + blurx[y + 1, x] + blurx[y + 2, x]) / 3


@af.kernel
def jacobi(T, start, end):
    n = len(start)
    assert len(end) == n
    A = af.empty((T + 1, n))
    for i in range(n):
        A[0, i] = start[i]
    for t in range(1, T + 1):
        A[t, 0] = A[t - 1, 0]
        for i in range(1, n - 1):
            A[t, i] = (A[t - 1, i - 1] + A[t - 1, i] + A[t - 1, i + 1]) / 3
        A[t, n - 1] = A[t - 1, n - 1]
    for i in range(n):
        end[i] = A[T, i]


@af.kernel(dtype="int64")
def align(a, b, score, gap: int):
    """Needleman and Wunsch: only the score is wanted."""
    n = a.shape[0]
    m = b.shape[0]
    H = af.empty((n + 1, m + 1))
    for i in range(n + 1):
        H[i, 0] = -i * gap
    for j in range(1, m + 1):
        H[0, j] = -j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = 2 if a[i - 1] == b[j - 1] else -1
            H[i, j] = max(H[i - 1, j - 1] + match, H[i - 1, j] - gap, H[i, j - 1] - gap)
    score[0] = H[n, m]


@af.kernel
def halves(a, out):
    """Three stages with floor division and remainders in subscripts."""
    n = len(a)
    coarse = af.empty(n)
    fine = af.empty((n, 2))
    for i in range(n):
        coarse[i] = a[i] - a[(i + 1) % 2]
    for i in range(n):
        fine[i // 2, i % 2] = coarse[i // 2] * coarse[(i - 1) // 2 + 1]
    for i in range(n):
        out[i] = fine[i // 2, i % 2] + coarse[n - 1 - i]


@af.kernel
def descending(a, out):
    n = len(a)
    suffix = af.empty(n)
    suffix[n - 1] = a[n - 1]
    for i in range(n - 2, -1, -1):
        suffix[i] = suffix[i + 1] * 0.5 + a[i]
    for i in range(n - 1, -1, -3):
        out[i] = suffix[i]


@af.kernel
def triangular(L, b, x):
    n = len(b)
    partial = af.empty((n, n))
    for i in range(n):
        partial[i, 0] = b[i]
        for j in range(i):
            partial[i, j + 1] = partial[i, j] - L[i, j] * x[j]
        x[i] = partial[i, i] / L[i, i]


@af.kernel
def branches(a, out):
    n = len(a)
    tmp = af.empty(n)
    for i in range(n):
        if i == 0 or i == n - 1:
            tmp[i] = a[i]
        elif a[i] > 0.5 and not a[i - 1] > 0.25:
            tmp[i] = a[i - 1]
        else:
            tmp[i] = -a[i + 1]
    for i in range(n):
        low = 0.25 if i % 2 == 0 else 0.125
        out[i] = tmp[i] if low <= tmp[i] < 0.75 else abs(tmp[i]) + low


@af.kernel
def functions(a, out, alpha: float):
    n = a.shape[0]
    tmp = af.empty(n)
    for i in range(n):
        total = 0.0
        for k in range(min(TAPS, n - i)):
            total += a[i + k] * (k + 1)
        total /= TAPS
        tmp[i] = total
    for i in range(n):
        x = tmp[i]
        out[i] = math.sqrt(x) + math.exp(-x) * alpha + math.sin(x) ** 2 - math.cos(x) / math.pi
        out[i] += math.tanh(x) + math.log(x + 1) * math.floor(10 * x) + max(x, 0.5, alpha)
        out[i] *= 1 / 3
        out[i] -= x**3 + i**2 + int(7 * x) // 2


@af.kernel(dtype="float32")
def single(a, out, gain: float):
    n = len(a)
    tmp = af.empty(n)
    wide = af.empty(n, dtype="float64")
    for i in range(n):
        tmp[i] = a[i] * 0.1 + gain / 3 - SCALE * i
        wide[i] = np.float64(a[i]) * 0.1
    for i in range(n):
        s = np.float32(0)
        r = 0.0
        for k in range(2):
            s = s + tmp[i] * (k + 1)
            r += tmp[i] * max(s, 0)
        out[i] = np.sqrt(s * s) + r + tmp[i] / 3 + wide[n - 1 - i]


@af.kernel
def whole(a: np.int32, b: np.int64, out: np.int64, ratio):
    n = len(a)
    tmp = af.empty(n, dtype=np.int32)
    for i in range(n):
        tmp[i] = (a[i] * 3 - i) // 4 + a[i] % 5 + (-a[i]) // 3
    for i in range(n):
        out[i] = tmp[i] // b[i] + tmp[i] % b[i] - abs(tmp[i]) ** 2
        out[i] //= 7
        out[i] %= -5
        ratio[i] = tmp[i] / b[i]
        ratio[i] += a[i] / 3 + (i - 4) / 2


@af.kernel
def c_words(double, int_, out, exp, N: int):
    """Names that mean something in C."""
    register = len(double)
    switch = af.empty((register, N))
    for long in range(register):
        for i in range(N):
            switch[long, i] = double[long] + int_[long] * exp[i] + math.exp(i)
    for long in range(register):
        for unix in range(N):
            out[long, unix] = switch[long, unix]


def random_arguments(kernel: af.Kernel, seed: int, n: int, m: int):
    rng = np.random.default_rng(seed)
    return {
        "blur": lambda: (rng.random((n + 2, m + 2)), np.zeros((n, m))),
        "jacobi": lambda: (m, rng.random(n), np.zeros(n)),
        "align": lambda: (rng.integers(0, 4, n), rng.integers(0, 4, m), np.zeros(1, np.int64), 1),
        "halves": lambda: (rng.random(n + 1), np.zeros(n + 1)),
        "descending": lambda: (rng.random(n), np.zeros(n)),
        "triangular": lambda: (rng.random((n, n)) + 1, rng.random(n), np.zeros(n)),
        "branches": lambda: (rng.random(n), np.zeros(n)),
        "functions": lambda: (rng.random(n), np.zeros(n), 0.3),
        "single": lambda: (rng.random(n).astype("f4"), np.zeros(n, "f4"), 0.7),
        "whole": lambda: (
            rng.integers(-50, 50, n, np.int32),
            rng.choice([-7, -2, -1, 1, 3, 10], n),
            np.zeros(n, np.int64),
            np.zeros(n),
        ),
        "c_words": lambda: (rng.random(n), rng.random(n), np.zeros((n, m)), rng.random(m), m),
    }[kernel.__name__]()


KERNELS = [
    blur,
    jacobi,
    align,
    halves,
    descending,
    triangular,
    branches,
    functions,
    single,
    whole,
    c_words,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_folded_equals_python(kernel: af.Kernel) -> None:
    folded = af.fold(kernel)
    for seed, (n, m) in enumerate([(2, 3), (5, 1), (8, 9), (17, 6)]):
        arguments = random_arguments(kernel, seed, n, m)
        expected = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
        kernel(*expected)
        folded(*arguments)
        for given, wanted in zip(arguments, expected, strict=True):
            assert np.array_equal(given, wanted), (n, m)


@pytest.mark.parametrize(
    ("kernel", "array", "size"),
    [(jacobi, "A", "n + 1"), (align, "H", "m + n + 1"), (descending, "suffix", "n")],
)
def test_size(kernel: af.Kernel, array: str, size: str) -> None:
    assert str(af.fold(kernel)[array].size) == size


def load(text: str, folder: Path) -> af.Kernel:
    """The kernel of a Python text."""
    file = folder / f"kernel_{len(list(folder.iterdir()))}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def mixed_arguments(seed: int, rows: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    n = 7
    return [
        (4 * rng.random(n) - 1).astype("f4"),
        4 * rng.random(n) - 1,
        rng.integers(-9, 9, n, np.int32),
        rng.integers(-9, 9, n),
        np.zeros((rows, n)),
        np.zeros((rows, n), "f4"),
        np.zeros((rows, n), np.int64),
        *(3, 0.3),
    ]


def runs(kernel: af.Kernel, arguments: list[Any]) -> bool:
    """Whether plain Python raises no error of arithmetic, and arrayfold knows every type."""
    try:
        kernel(*arguments)
        assert kernel.program.signature is not None
    except ArithmeticError:
        return False
    except (TypeError, af.InputError) as error:
        if any(words in str(error) for words in ("depends on the data", "exponents from 0", "complex")):
            return False
        raise
    return True


@pytest.mark.parametrize("seed", range(3))
@np.errstate(all="ignore")
def test_random_expressions(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    drawn = [statement(choose, row) for row in range(16)]
    fit = [line for line in drawn if runs(load(HEAD + line, tmp_path), mixed_arguments(seed, 16))]
    assert len(fit) >= 8
    kernel = load(HEAD + "".join(fit), tmp_path)
    expected, found = mixed_arguments(seed, 16), mixed_arguments(seed, 16)
    kernel(*expected)
    af.fold(kernel)(*found)
    for given, wanted in zip(found, expected, strict=True):
        assert np.array_equal(given, wanted, equal_nan=True), "".join(fit)


NARROW_HEAD = """\
import numpy as np

import arrayfold as af


@af.kernel
def kernel(
    b: np.uint8, s: np.int16, u: np.uint32, c: np.int8, h: np.uint16, p: np.int32, f: np.float32,
    out, whole: np.int64, bytes_: np.uint8,
):
    n = len(b)
    assert s.shape == (n,) and u.shape == (n,) and c.shape == (n,) and h.shape == (n,) and p.shape == (n,)
    assert f.shape == (n,) and out.shape == (24, n) and whole.shape == (24, n) and bytes_.shape == (24, n)
    for i in range(n):
"""
NARROW = ("b[i]", "s[i]", "u[i]", "c[i]", "h[i]", "p[i]", "b[n - 1 - i]", "c[n - 1 - i]", "3", "1", "i")


def narrow(choose: random.Random, depth: int) -> str:
    """An expression of integers with few bits."""
    if depth == 0:
        return choose.choice(NARROW)
    left, right = narrow(choose, depth - 1), narrow(choose, depth - 1)
    forms = [
        *[f"({left} {choose.choice('+-*')} {right})"] * 4,
        *(f"({left} {choose.choice(['//', '%'])} {right})", f"(-{left})", f"abs({left})", f"{left} ** 2"),
        f"(1 if {left} {choose.choice(['<', '<=', '==', '!='])} {right} else 2)",
    ]
    return choose.choice(forms)


def narrow_statement(choose: random.Random, row: int) -> str:
    target = choose.choice(["out", "whole", "bytes_"])
    value = narrow(choose, 2)
    if target == "out":
        value = choose.choice([f"{value} / {narrow(choose, 1)}", f"{value} * 0.5", f"f[i] * {value}"])
    if target == "bytes_":
        value = (
            f"np.uint8({choose.choice(['b[i]', 'p[i]', 's[i]', 'u[i]'])}) + {choose.choice(['b[i]', '7'])}"
        )
    return f"        {target}[{row}, i] = {value}\n"


def narrow_arguments(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    n = 9
    kinds = (np.uint8, np.int16, np.uint32, np.int8, np.uint16, np.int32)
    whole_range = (np.iinfo(kind) for kind in kinds)
    arrays: list[Any] = [rng.integers(kind.min, int(kind.max) + 1, n, kind.dtype) for kind in whole_range]
    return [
        *arrays,
        rng.random(n).astype("f4"),
        np.zeros((24, n)),
        np.zeros((24, n), np.int64),
        np.zeros((24, n), np.uint8),
    ]


@pytest.mark.parametrize("seed", range(3))
@np.errstate(all="ignore")
def test_random_narrow_integers(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    drawn = [narrow_statement(choose, row) for row in range(24)]
    fit = [line for line in drawn if runs(load(NARROW_HEAD + line, tmp_path), narrow_arguments(seed))]
    assert len(fit) >= 12
    kernel = load(NARROW_HEAD + "".join(fit), tmp_path)
    expected, found = narrow_arguments(seed), narrow_arguments(seed)
    kernel(*expected)
    af.fold(kernel)(*found)
    for line in fit:
        target, row = line.split("[")[0].strip(), int(line.split("[")[1].split(",")[0])
        which = {"out": 7, "whole": 8, "bytes_": 9}[target]
        assert np.array_equal(found[which][row], expected[which][row], equal_nan=True), line
