"""Kernels with slices, whole arrays and parallel loops: the folded C gives what NumPy gives, bit for bit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayfold as af
from arrayfold.base.errors import InputError, WrongValue
from arrayfold.run.compiler import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
rng = np.random.default_rng(5)


@af.kernel
def blur(image, out):
    rows = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
    out[1:-1, :] = (rows[:-2, :] + rows[1:-1, :] + rows[2:, :]) / 3


@af.kernel
def gradient(image, weights, out):
    dx = image[:, 1:] - image[:, :-1]
    dy = image[1:, :] - image[:-1, :]
    size = np.sqrt(dx[:-1, :] ** 2 + dy[:, :-1] ** 2)
    kept = weights.copy()
    out[1:, 1:] = np.where(size > 0.5, size, weights[:1]) * kept[0]
    out[0, :] = image[0, :] / 2
    out[1:, 0] = 1


@af.kernel
def overlapping(a, b, out):
    """Values that are changed before they are read where elements are assigned one after another."""
    n, m = a.shape
    t = np.zeros((n, m))
    t[:, :] = a
    t[1:, :] = t[:-1, :] + 1
    t[:, :-1] = t[:, 1:] * 2
    t[:-1, 1:] -= t[1:, :-1]
    t[1:, :-1] -= t[:-1, 1:]
    t[0, :] = t[0, :] + t[1, :]
    t[:, 0] += t[:, 1] + b[:]
    t[1:2, :] *= t[0:1, :]
    t[:, :] += t[0, :]
    for i in range(n):
        t[i, 0:i] = t[i, 0:i] * b[0:i]
        t[i, i:] += b[i : i + 1]
    out[:, :] = t


@af.kernel
def clamped(a, out):
    t = np.empty_like(a)
    t[1:] = a[:-1] * 2
    t[:1] = -1.5
    t[1:] += t[:-1]
    out[:] = np.minimum(t, 1.0) + np.maximum(a, t) - np.clip(t, 0.1, abs(a[0])) + np.abs(t)


@af.kernel(dtype="int32")
def integers(a, b, out):
    n = len(a)
    t = np.ones((n, 3), dtype="int32")
    for i in range(3):
        t[:, i] *= a[:] + i
    t[:, 1:] = t[:, :2] // 2
    out[:] = t[:, 0] + t[:, 1] % 3 - t[:, 2] ** 2 + np.maximum(b[:], a)


@af.kernel
def time_steps(a, T: int):
    n = len(a)
    u = np.empty((T + 1, n))
    u[0, :] = a[:]
    for t in range(T):
        u[t + 1, :1] = u[t, :1]
        u[t + 1, 1:-1] = (u[t, :-2] + u[t, 2:]) / 2
        u[t + 1, -1:] = u[t, -1:]
    a[:] = u[T, :]


@af.kernel
def parallel_rows(image, out):
    n, m = image.shape
    twice = af.empty((n, m))
    for y in af.prange(1, n):
        total = 0.0
        for x in range(m):
            twice[y, x] = image[y, x] * 2
            total += twice[y, x] + image[y - 1, x]
        out[y, :] = twice[y, :] / total


KERNELS: dict[af.Kernel, Any] = {
    blur: lambda n: (rng.random((n, n + 2)), np.zeros((n, n))),
    gradient: lambda n: (rng.random((n, n)), rng.random(n), np.zeros((n, n))),
    overlapping: lambda n: (rng.random((n, n)), rng.random(n), np.zeros((n, n))),
    clamped: lambda n: (np.where(rng.random(n) < 0.2, np.nan, rng.random(n)), np.zeros(n)),
    integers: lambda n: (
        rng.integers(-9, 9, n, np.int32),
        rng.integers(-9, 9, n, np.int32),
        np.zeros(n, np.int32),
    ),
    parallel_rows: lambda n: (rng.random((n, n + 1)), np.zeros((n, n + 1))),
    time_steps: lambda n: (rng.random(n), n),
}


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_folded_equals_numpy(kernel: af.Kernel) -> None:
    folded = af.fold(kernel)
    for n in (3, 4, 5, 9, 17):
        arguments = KERNELS[kernel](n)
        expected = copies(arguments)
        kernel(*expected)
        folded(*arguments)
        for given, wanted in zip(arguments, expected, strict=True):
            assert np.array_equal(given, wanted, equal_nan=True), n


def test_temporaries_of_whole_array_code_fold() -> None:
    assert str(af.fold(time_steps)["u"].size) == "n + 1"
    assert str(af.fold(af.reorder(blur, fuse="rows"))["rows"].size) == "3*image_1 - 6"


def test_what_depends_on_nothing_it_changes_needs_no_second_array() -> None:
    names = [array.name for array in af.fold(overlapping)]
    assert names == ["t", "t_new", "t_new_", "t_new__", "t_new___"]


def random_bound(rand: random.Random) -> str:
    return rand.choice(["", "", *map(str, range(-3, 4)), "n", "n - 1", "n - 3", "h"])


@pytest.mark.parametrize("seed", range(6))
def test_random_slices(seed: int, tmp_path: Path) -> None:
    """Sizes that a kernel accepts give what NumPy gives; those for which NumPy fails are refused."""
    rand = random.Random(seed)
    lines = ["    t[:] = a * 0.5"]
    for _ in range(3):
        first, second = (f"{random_bound(rand)}:{random_bound(rand)}" for _ in range(2))
        operator = rand.choice(["=", "+=", "-="])
        source = rand.choice(["t", "a"])
        lines.append(f"    t[{first}] {operator} {source}[{second}] + t[{first}]")
        lines.append(f"    t[{first}] {operator} {source}[{first}] * 2")
    found = 0
    for number, line in enumerate(lines[1:]):
        text = "\n".join(
            [
                "import numpy as np\nimport arrayfold as af\n\n\n@af.kernel",
                "def kernel(a, out):\n    n = len(a)\n    h = n - 2\n    t = np.empty(n)",
                lines[0],
                line,
                "    out[:] = t",
            ]
        )
        file = tmp_path / f"kernel{number}.py"
        file.write_text(text + "\n")
        space: dict[str, Any] = {}
        exec(text.replace("@af.kernel", ""), space)
        try:
            program = af.read(file)
            folded = af.fold(program)
        except InputError:
            continue
        for n in range(7):
            a = rng.random(n)
            given, wanted = np.zeros(n), np.zeros(n)
            try:
                folded(a, given)
            except WrongValue:
                continue
            space["kernel"](a, wanted)
            assert np.array_equal(given, wanted), (line, n)
            found += 1
    assert found
