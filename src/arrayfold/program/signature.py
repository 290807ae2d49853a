"""How a Python kernel is called: its arguments, and what its C function takes in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from arrayfold.exact.formula import Formula

ArgumentKind: TypeAlias = Literal["array", "int", "float"]


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel.

    dtype       of the elements, for arrays
    extents     of an array, in terms of the parameters of the C function
    c_name      what it is called in C
    is_written  whether the kernel writes it
    """

    name: str
    kind: ArgumentKind
    c_name: str
    dtype: str = ""
    extents: tuple[Formula, ...] = ()
    is_written: bool = False


@dataclass(frozen=True)
class Size:
    """A parameter of the C function that is the length of an array along one of its dimensions."""

    c_name: str
    array: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.array}.shape[{self.dimension}]"


@dataclass(frozen=True)
class Signature:
    """A kernel seen from its caller.

    name         of the Python function
    function     of the C function; it takes the sizes first, then the arguments that are numbers, then arrays
    temporaries  the arrays that the kernel makes for itself
    """

    name: str
    function: str
    arguments: tuple[Argument, ...]
    sizes: tuple[Size, ...]
    temporaries: tuple[str, ...]

    @property
    def numbers(self) -> tuple[Argument, ...]:
        """The arguments that are numbers, in their order."""
        return tuple(argument for argument in self.arguments if argument.kind != "array")

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """The arguments that are arrays, in their order."""
        return tuple(argument for argument in self.arguments if argument.kind == "array")
