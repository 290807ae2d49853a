"""A folded kernel as a function that runs on NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from arrayfold.base.errors import NotEnoughMemory, WrongValue
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import fix_parameters
from arrayfold.program.signature import Signature
from arrayfold.run.arguments import (
    bound_arguments,
    checked_arrays,
    checked_numbers,
    checked_sizes,
    in_one_piece,
)
from arrayfold.run.compiler import shared_library

_SMALL_MEMORY = 1 << 24
_LARGEST_MEMORY = 1 << 62
_REMEMBERED_SIZES = 1024


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A folded kernel, ready to be called.

    context  { : }    the sizes for which the fold is proved
    fixed    the only sizes at which it holds, if it holds at some only
    memory   cells of its arrays, and bytes of each cell
    """

    signature: Signature
    context: isl.Set
    fixed: Mapping[str, int]
    memory: Sequence[tuple[Formula, int]]
    function: Any
    _seen: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])

    @staticmethod
    def of(
        signature: Signature,
        code: str,
        context: isl.Set,
        *,
        fixed: Mapping[str, int],
        memory: Sequence[tuple[Formula, int]],
        is_parallel: bool,
    ) -> CompiledKernel:
        """Compile the code, or find what was compiled before."""
        import ctypes

        library = ctypes.CDLL(str(shared_library(code, is_parallel=is_parallel)))
        function: Any = getattr(library, signature.function)
        types: list[Any] = [ctypes.c_longlong for _ in signature.sizes]
        types += [ctypes.c_longlong if one.kind == "int" else ctypes.c_double for one in signature.numbers]
        types += [ctypes.c_void_p for _ in signature.arrays]
        function.argtypes, function.restype = types, None
        return CompiledKernel(signature, context, fixed, memory, function)

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Run the kernel on arrays, in place."""
        values = bound_arguments(self.signature, arguments, keywords)
        arrays = checked_arrays(self.signature, values)
        numbers = checked_numbers(self.signature, values)
        sizes = checked_sizes(self.signature, arrays, numbers)
        self._check_sizes(sizes)
        packed = {name: in_one_piece(array) for name, array in arrays.items()}
        self.function(
            *(sizes[size.c_name] for size in self.signature.sizes),
            *(numbers[one.c_name] for one in self.signature.numbers),
            *(packed[one.name].ctypes.data for one in self.signature.arrays),
        )
        for one in self.signature.arrays:
            if one.is_written and packed[one.name] is not arrays[one.name]:
                arrays[one.name][...] = packed[one.name]

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Raise unless the fold is proved at these sizes and its arrays fit into memory."""
        key = tuple(sizes.values())
        if key in self._seen:
            return
        shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        if self.context.intersect(fix_parameters(sizes)).is_empty():
            raise WrongValue(
                f"{self.signature.name} cannot run at {shown}: it needs {_conditions(self.context)}"
            )
        for name, value in self.fixed.items():
            if sizes.get(name, value) != value:
                raise WrongValue(f"{self.signature.name} was folded for {name} = {value}, not for {shown}")
        self._check_memory(sizes, shown)
        if len(self._seen) < _REMEMBERED_SIZES:
            self._seen.add(key)

    def _check_memory(self, sizes: Mapping[str, int], shown: str) -> None:
        """The C code ends the process where it gets no memory, so ask for it here first."""
        import numpy as np

        needed = sum(max(0, cells.at(sizes)) * size for cells, size in self.memory)
        if needed < _SMALL_MEMORY:
            return
        try:
            if needed > _LARGEST_MEMORY:
                raise MemoryError
            np.empty(needed, np.uint8)
        except MemoryError:
            raise NotEnoughMemory(
                f"{self.signature.name} needs {needed} bytes of memory at {shown}"
            ) from None


def _conditions(context: isl.Set) -> str:
    """The conditions of a context, as text."""
    text = str(context)
    return text[text.index("{") + 1 : text.rindex("}")].strip().removeprefix(":").strip() or "nothing"
