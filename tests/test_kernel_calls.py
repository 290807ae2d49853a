"""Calling folded kernels: what is refused, what is kept for the next run, and where kernels come from."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import arrayfold as af
from arrayfold.base.errors import NotEnoughMemory, WrongType, WrongValue
from arrayfold.base.html import html_table
from arrayfold.run import compiler
from support.command import run

needs_compiler = pytest.mark.skipif(compiler.find_compiler() is None, reason="needs a C compiler")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arrayfold" / "kernels"


@af.kernel
def smooth(a, out, weight: float, shift):
    n = len(a)
    assert out.shape == a.shape
    assert n >= 3
    tmp = af.empty(n)
    for i in range(n):
        tmp[i] = a[i] * weight
    for i in range(1, n - 1):
        out[i] = tmp[i - 1] + tmp[i + 1] + a[shift]


@pytest.fixture(scope="module")
def folded() -> af.FoldResult:
    return af.fold(smooth)


def some(n: int = 5, dtype: str = "f8") -> np.ndarray[Any, Any]:
    return np.arange(n, dtype=dtype)


def read_only() -> np.ndarray[Any, Any]:
    array = some()
    array.flags.writeable = False
    return array


REPEATED = np.lib.stride_tricks.as_strided(np.zeros(1), (5,), (0,))
SHARED = some(10)


@needs_compiler
def test_arrays_that_are_not_contiguous() -> None:
    folded = af.fold(smooth)
    image, columns = np.random.default_rng(2).random((9, 4)), np.zeros((9, 3), order="F")
    expected = np.zeros(9)
    smooth(image[:, 1], expected, 0.5, 0)
    folded(image[:, 1], columns[:, 2], 0.5, 0)
    assert np.array_equal(columns[:, 2], expected)
    assert not columns[:, :2].any()
    folded(image[::-1, 1], expected[::-1], 0.5, 0)
    assert not np.array_equal(columns[:, 2], expected)
    smooth(image[::-1, 1], columns[::-1, 2], 0.5, 0)
    assert np.array_equal(columns[:, 2], expected)


@needs_compiler
@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((some(),), WrongType, "needs a value for out, weight, shift"),
        ((some(), some(), 1.0, 0, 2), WrongType, "takes 4 arguments, but 5 were given"),
        (([1.0], some(), 1.0, 0), WrongType, "a must be a NumPy array of float64, not a list"),
        ((some(5, "f4"), some(), 1.0, 0), WrongType, "its elements are float32"),
        ((some(5, ">f8"), some(), 1.0, 0), WrongType, "its elements are >f8"),
        ((some(), some().reshape(5, 1), 1.0, 0), WrongValue, "out must have 1 dimensions"),
        (
            (some(), some(6), 1.0, 0),
            WrongValue,
            "out.shape[0] is 6, but a.shape[0] = 5 is needed",
        ),
        ((some(), REPEATED, 1.0, 0), WrongValue, "elements of out share memory"),
        ((some(), read_only(), 1.0, 0), WrongValue, "out is read-only"),
        ((SHARED[:5], SHARED[4:9], 1.0, 0), WrongValue, "a and out share memory, and the kernel writes out"),
        ((some(2), some(2), 1.0, 0), WrongValue, "cannot run at shift = 0, n = 2: it needs"),
        ((some(), some(), 1.0, 5), WrongValue, "cannot run at shift = 5, n = 5: it needs"),
        ((some(), some(), 1.0, -1), WrongValue, "cannot run at shift = -1, n = 5: it needs"),
        ((some(), some(), "1", 0), WrongType, "weight must be a number, but it is a str"),
        ((some(), some(), 1.0, 0.0), WrongType, "shift must be a whole number, but it is a float"),
        ((some(), some(), 1.0, True), WrongType, "shift must be a number, but it is True"),
        ((some(), some(), 1.0, 2**63), WrongValue, "does not fit into 64 bits"),
    ],
)
def test_refused_call(
    folded: af.FoldResult, arguments: tuple[Any, ...], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        folded(*arguments)
    assert words in str(caught.value)
    assert isinstance(caught.value, af.ArrayfoldError)
    assert isinstance(caught.value, TypeError if kind is WrongType else ValueError)


@needs_compiler
def test_keywords(folded: af.FoldResult) -> None:
    out, expected = np.zeros(5), np.zeros(5)
    folded(some(), shift=np.int32(2), weight=2, out=out)
    smooth(some(), expected, 2, 2)
    assert np.array_equal(out, expected)
    assert out.any()
    with pytest.raises(WrongType, match="has no argument 'size'"):
        folded(some(), out, 1.0, 0, size=3)
    with pytest.raises(WrongType, match="two values for 'a'"):
        folded(some(), out, 1.0, 0, a=3)


@needs_compiler
def test_reading_may_share() -> None:
    @af.kernel
    def add(a, b, out):
        for i in range(len(a)):
            out[i] = a[i] + b[i]

    both, out = read_only(), np.zeros(5)
    af.fold(add)(both, both, out)
    assert np.array_equal(out, 2 * both)


def count_compilations(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []
    original = subprocess.run

    def counted(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return original(command, **options)

    monkeypatch.setattr(compiler.subprocess, "run", counted)
    return commands


@needs_compiler
def test_compiled_once(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    commands = count_compilations(monkeypatch)
    for _ in range(2):
        result = af.fold(smooth)
        for _ in range(2):
            result(some(), np.zeros(5), 1.0, 0)
    assert len(commands) == 1
    assert [path.suffix for path in cache.iterdir()] == [".so"]
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-DOTHER"))
    af.fold(smooth)(some(), np.zeros(5), 1.0, 0)
    assert len(commands) == 2


@needs_compiler
def test_threads_compile_at_the_same_time(cache: Path) -> None:
    results = [af.fold(smooth) for _ in range(2)]
    outs = [np.zeros(5) for _ in range(4)]
    threads = [
        threading.Thread(target=results[k % 2], args=(some(), out, 1.0, 0)) for k, out in enumerate(outs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.zeros(5)
    smooth(some(), expected, 1.0, 0)
    assert all(np.array_equal(out, expected) for out in outs)
    assert len(list(cache.iterdir())) == 1


@needs_compiler
def test_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    out = np.zeros(5)
    af.fold(smooth)(some(), out, 1.0, 0)
    assert out.any()
    assert not compiler.kernel_folder().is_relative_to(tmp_path)


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    with pytest.raises(compiler.CannotRun, match="needs a C compiler, and there is none"):
        af.fold(smooth)(some(), np.zeros(5), 1.0, 0)


@needs_compiler
def test_compiler_that_fails(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-no-such-flag"))
    with pytest.raises(compiler.CannotRun, match="refuses the folded kernel"):
        af.fold(smooth)(some(), np.zeros(5), 1.0, 0)
    assert not list(cache.iterdir())


def test_only_kernels_are_called() -> None:
    with pytest.raises(af.InputError, match="not a Python kernel"):
        af.fold(af.read("examples/blur.toml"))()
    with pytest.raises(af.InputError, match="expected a problem or a kernel, but this is a function"):
        af.fold(test_only_kernels_are_called)  # pyright: ignore[reportArgumentType]


@needs_compiler
def test_large_temporary_is_not_on_the_stack() -> None:
    @af.kernel
    def reverse(a, out):
        n = len(a)
        tmp = af.empty(n)
        for i in range(n):
            if a[i] > 0.5:
                tmp[i] = a[i]
            else:
                tmp[i] = -a[i]
        for i in range(n):
            out[i] = tmp[n - 1 - i]

    result = af.fold(reverse)
    assert result["tmp"].size == result["tmp"].original_size
    a = np.random.default_rng(1).random(3_000_000)
    out = np.zeros_like(a)
    result(a, out)
    assert np.array_equal(out, np.where(a > 0.5, a, -a)[::-1])


@needs_compiler
def test_memory_is_asked_for_before_the_call() -> None:
    @af.kernel
    def huge(a, n):
        tmp = af.empty((n, n))
        for i in range(n):
            for j in range(n):
                tmp[i, j] = i + j
        for i in range(n):
            for j in range(n):
                a[0] += tmp[n - 1 - i, n - 1 - j]

    result = af.fold(huge)
    with pytest.raises(NotEnoughMemory, match="bytes of memory at n = 3000000000"):
        result(np.zeros(1), 3_000_000_000)
    with pytest.raises(MemoryError):
        result(np.zeros(1), 2**40)


@needs_compiler
def test_fold_at_fixed_sizes() -> None:
    @af.kernel
    def diagonal(a, out):
        n = len(a)
        assert out.shape == (n,)
        tmp = af.empty((n, n))
        for i in range(n):
            for j in range(n):
                tmp[i, j] = a[i] * a[j]
            out[i] = tmp[i, i]

    result = af.fold(diagonal, method="static", params={"n": 4})
    out = np.zeros(4)
    result(some(4), out)
    assert np.array_equal(out, some(4) ** 2)
    with pytest.raises(WrongValue, match="folded for n = 4"):
        result(some(5), np.zeros(5))


@needs_compiler
@pytest.mark.parametrize("order", ["fuse", "parallel", "reallocate", "share"])
def test_other_folds_of_a_kernel(order: str) -> None:
    if order == "share":
        result = af.fold_shared(smooth, "auto")
    elif order == "reallocate":
        result = af.fold(af.reallocate(smooth))
    else:
        result = af.fold(af.reorder(smooth, **{order: True}))
    out, expected = np.zeros(50), np.zeros(50)
    result(some(50), out, 0.3, 7)
    smooth(some(50), expected, 0.3, 7)
    assert np.array_equal(out, expected)


def test_text_that_is_not_there() -> None:
    space: dict[str, Any] = {"af": af}
    exec("@af.kernel\ndef f(a):\n    a[0] = 1\n", space)
    with pytest.raises(af.InputError, match="the text of kernel f cannot be found"):
        af.fold(space["f"])


def test_places_are_those_of_the_file() -> None:
    @af.kernel
    def wrong(a):
        for i in range(len(a)):
            a[i * i] = 1

    with pytest.raises(af.NotAffine) as caught:
        af.fold(wrong)
    place = caught.value.place
    assert place is not None
    assert place.file == "tests/test_kernel_calls.py"
    lines = Path(__file__).read_text().splitlines()
    assert lines[place.line - 1] == place.line_text == "            a[i * i] = 1"
    assert place.column == 15


def test_globals_and_closures() -> None:
    half = 0.5
    root = math.sqrt

    @af.kernel
    def scale(a, out):
        for i in range(len(a)):
            out[i] = root(a[i]) * half

    code = af.fold(scale).to_c()
    assert "sqrt(a[" in code
    assert "* 0.5" in code


def test_wrong_dtype() -> None:
    with pytest.raises(af.InputError, match="no element type complex64"):
        af.kernel(dtype="complex64")


def test_plain_python_has_the_type_of_the_kernel() -> None:
    found: list[str] = []

    @af.kernel(dtype=np.float32)
    def outer(a):
        found.append(str(af.empty(3).dtype))
        inner(a)
        found.append(str(af.empty(3).dtype))

    @af.kernel
    def inner(a):
        found.append(str(af.empty((2, len(a))).dtype))

    outer(some())
    assert found == ["float32", "float64", "float32"]
    assert af.empty(2, dtype="int32").dtype == np.int32
    assert repr(inner) == "<kernel inner(a)>"


TWO = dedent(
    """\
    from arrayfold import empty as new, kernel as fold_me
    import missing_module

    WIDTH = 3
    raise SystemExit("files are read, and not run")


    @fold_me
    def first(a, out):
        for i in range(len(a) - WIDTH):
            out[i] = a[i + WIDTH]


    def other(a):
        return [a for a in a]


    @fold_me(dtype="float32")
    def second(a, out):
        n = len(a)
        tmp = new(n)
        for i in range(n):
            tmp[i] = a[i]
            out[i] = tmp[i]
    """
)


def test_two_kernels_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO)
    assert [problem.name for problem in af.read_all(file)] == ["first", "second"]
    assert run(monkeypatch, "fold", str(file), "-o", "-") == 0
    code = capsys.readouterr().out
    assert "out[i] = a[i + 3];" in code
    assert "float tmp;" in code
    assert run(monkeypatch, "fold", str(file), "--region", "second", "--json") == 0
    assert '"size": "1"' in capsys.readouterr().out
    assert run(monkeypatch, "model", str(file), "--region", "2") == 0
    assert "tmp" in capsys.readouterr().out
    assert run(monkeypatch, "compare", str(file)) == 2
    assert "2 regions: first, second" in capsys.readouterr().err


def test_kernels_of_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.py").write_text(TWO)
    (tmp_path / "broken.py").write_text("import arrayfold\ndef (")
    (tmp_path / "plain.py").write_text("import arrayfold\n")
    assert run(monkeypatch, "fold", str(tmp_path)) == 0
    output = capsys.readouterr().out
    assert "1 files, 1 arrays, 1 of them smaller now" in output


@needs_compiler
@pytest.mark.parametrize("name", ["blur", "jacobi_1d", "alignment"])
def test_examples_run_as_c(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "fold", f"examples/{name}.py", "--run", "--sanitize") == 0
    assert "results equal bit for bit" in capsys.readouterr().out


def test_import_is_light() -> None:
    code = "import sys, arrayfold; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "arrayfold" in loaded
    assert not loaded & {"numpy", "matplotlib", "scipy", "clang", "dask", "typer", "rich"}


def test_html_is_escaped() -> None:
    result = af.fold(smooth, params={"n": 64, "shift": 0})
    text = result._repr_html_()
    assert "<code>tmp[i] -&gt; [" in text
    assert "<code>a</code> is kept: comes from the caller" in text
    assert "= 64</td>" in text
    assert "<code>tmp</code>" in result["tmp"]._repr_html_()
    assert "There is no temporary array" in replace(result, arrays=())._repr_html_()
    assert html_table(["<b>"], [["`a<b`", "a`<", "`<i>`"]], ["<script>"]).count("<") == html_table(
        ["b"], [["`ab`", "a`", "`i`"]], ["script"]
    ).count("<")
