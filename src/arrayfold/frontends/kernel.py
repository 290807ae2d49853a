"""Python functions as kernels: they run as ordinary Python, and they can be folded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from arrayfold.base.errors import InputError
from arrayfold.frontends.python.values import DTYPES, DType, dtype_called
from arrayfold.program.model import ConflictProblem, Problem, Program

if TYPE_CHECKING:
    import numpy as np

_dtype_of_kernel: ContextVar[str] = ContextVar("dtype of the kernel that runs", default="float64")


class Kernel:
    """A Python function whose loops arrayfold can read.

    Calling it runs the function itself. `fold` takes it as it takes a file.
    """

    def __init__(self, function: Callable[..., None], dtype: DType) -> None:
        self.function = function
        self.dtype: DType = dtype
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Run the function as ordinary Python."""
        token = _dtype_of_kernel.set(self.dtype)
        try:
            self.function(*arguments, **keywords)
        finally:
            _dtype_of_kernel.reset(token)

    @cached_property
    def program(self) -> Program:
        """The loops of the function as a program."""
        from arrayfold.frontends.python.read import read_function

        function = self.function
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise InputError(
                f"the text of kernel {function.__name__} cannot be found",
                hint="Write it in a file or a notebook: what is typed at a prompt has no text.",
            ) from None
        closure = inspect.getclosurevars(function)
        values = {**closure.globals, **closure.nonlocals}
        file = _shown(inspect.getsourcefile(function) or inspect.getfile(function))
        return read_function(file, "".join(lines), max(first, 1), function.__name__, self.dtype, values)

    def __repr__(self) -> str:
        return f"<kernel {self.function.__name__}{inspect.signature(self.function)}>"


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(*, dtype: Any = "float64") -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(
    function: Callable[..., None] | None = None, /, *, dtype: Any = "float64"
) -> Kernel | Callable[[Callable[..., None]], Kernel]:
    """Make a function a kernel: `@kernel`, or `@kernel(dtype="float32")`.

    dtype  the type of the elements of arrays that say nothing else
    """
    name = _dtype_name(dtype)
    if function is not None:
        return Kernel(function, name)
    return lambda function: Kernel(function, name)


def empty(shape: int | Sequence[int], dtype: Any = None) -> np.ndarray[Any, Any]:
    """A temporary array of a kernel; it has no values before the kernel writes them.

    dtype  the type of its elements; that of the kernel if nothing is said
    """
    import numpy as np

    return np.empty(shape, _dtype_of_kernel.get() if dtype is None else _dtype_name(dtype))


def prange(start: int, stop: int | None = None, step: int = 1) -> range:
    """The numbers of a loop of a kernel whose turns may run at once, on several threads."""
    return range(start) if stop is None else range(start, stop, step)


def as_problem(problem: Problem | Kernel) -> Problem:
    """The problem, or that of a kernel."""
    if isinstance(problem, Kernel):
        return problem.program
    if not isinstance(problem, Program | ConflictProblem):  # pyright: ignore[reportUnnecessaryIsInstance]
        what = type(problem).__name__
        hint = "Use read() for a file, and @kernel for a function."
        raise InputError(f"expected a problem or a kernel, but this is a {what}", hint=hint)
    return problem


def _dtype_name(dtype: Any) -> DType:
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    kind = dtype_called(name)
    if kind is None:
        raise InputError(f"there is no element type {name}", hint=f"It is one of {', '.join(DTYPES)}.")
    return kind


def _shown(file: str) -> str:
    """The name of a file as a user would say it."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
