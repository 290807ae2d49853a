"""Execution of functions of MLIR, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from arrayfold.base.errors import InputError
from arrayfold.frontends.mlir.module import MlirModule, name_of
from arrayfold.validation.mlir_code import FunctionCode, Site, key_of

_INTEGER = key_of("integer")
_MOST_CELLS = 1 << 27


class Memory:
    """A memref while a function runs: its cells in the order of rows, or by address where it has a layout."""

    def __init__(self, shape: tuple[int, ...], cells: Any) -> None:
        self.shape = shape
        self.cells = cells
        self.touches: dict[Any, list[Touch]] = {}

    def copy(self, other: Memory) -> None:
        """Take the values of another one."""
        self.cells[:] = other.cells


@dataclass(frozen=True)
class Integer:
    """An argument that is an integer, of which indices may be made."""

    value: int


@dataclass(frozen=True)
class Touch:
    """A read or a write of a cell in a parallel loop."""

    site: Site
    iteration: tuple[int, ...]
    is_write: bool

    def parted_at(self, other: Touch) -> tuple[int, bool]:
        """At which loop around both the iterations differ first, and whether that loop is parallel."""
        loops = zip(self.site.loops, other.site.loops, self.iteration, other.iteration, strict=False)
        for depth, (loop, same, one, two) in enumerate(loops):
            if loop != same:
                return depth, False
            if one != two:
                return depth, self.site.is_parallel[depth]
        return len(self.iteration), False


class _ByAddress(dict[tuple[int, ...], int]):
    def __missing__(self, _: tuple[int, ...]) -> None:
        return None


@dataclass(frozen=True, eq=False)
class Place:
    """An operation at an iteration, and the cell that it accesses.

    what  it does there
    """

    site: Site
    cell: tuple[int, ...]
    iteration: tuple[int, ...]
    what: str

    def told(self, module: MlirModule) -> str:
        """In words: where, what, and in which iteration."""
        line = module.line(self.site.operation)
        values = zip(self.site.iterators, self.iteration, strict=True)
        at = ", ".join(f"{name} = {value}" for name, value in values)
        name = name_of(self.site.operation)
        return f"{module.whole.file}:{line}: {name} {self.what}{' at ' * bool(at)}{at}"


class Fault(Exception):
    """A function does what it may not."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.what)
        self.place = place


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a function leaves behind.

    results    the values that it returns, memrefs as their cells
    memories   the cells of its arguments that are memrefs, by their number
    events     calls of other functions, in order
    undefined  the first load of a cell that nothing was stored to
    cells      how many it allocated
    stores     the last store to each cell of the memref that was watched
    """

    results: list[Any]
    memories: Mapping[int, list[int]]
    events: list[int]
    undefined: Place | None
    cells: int
    stores: Mapping[tuple[int, ...], Place]


def execute(
    module: MlirModule,
    code: FunctionCode,
    arguments: Sequence[int | Integer | Memory],
    *,
    is_reversed: bool = False,
    watched: int | None = None,
    fresh: str = "",
) -> Outcome:
    """Run a function; a Fault if it accesses memory outside of its sizes.

    is_reversed  parallel loops run backwards
    watched      the number of the argument to which stores are noted
    fresh        a word that makes another value of what is in fresh memory
    """
    machine = _Machine(module, code, is_reversed=is_reversed, fresh=key_of("fresh", fresh))
    names = machine.names()
    names["watched"] = None if watched is None else arguments[watched]
    try:
        exec(compile(code.text, "<mlir>", "exec"), names)  # noqa: S102 - it is our own text
    except (SyntaxError, RecursionError, MemoryError):
        raise InputError(f"{module.whole.file}: loops are nested too deeply") from None
    given = (machine.integer(one.value) if isinstance(one, Integer) else one for one in arguments)
    results: list[Any] = names["run"](*given)
    return Outcome(
        [one.cells if isinstance(one, Memory) else one for one in results],
        {number: one.cells for number, one in enumerate(arguments) if isinstance(one, Memory)},
        machine.events,
        machine.undefined,
        machine.cells,
        machine.stores,
    )


def outside_memory(key: int, shape: tuple[int, ...]) -> Memory:
    """Memory with a value in each cell that nobody knows."""
    return Memory(shape, [hash((key, number)) for number in range(prod(shape))])


class _Machine:
    """What the code calls."""

    def __init__(self, module: MlirModule, code: FunctionCode, *, is_reversed: bool, fresh: int) -> None:
        self._fresh = fresh
        self._module = module
        self._code = code
        self._is_reversed = is_reversed
        self._integers: dict[int, int] = {}
        self._globals: dict[int, Memory] = {}
        self.events: list[int] = []
        self.undefined: Place | None = None
        self.cells = 0
        self.stores: dict[tuple[int, ...], Place] = {}

    def names(self) -> dict[str, Any]:
        """The names that the code uses."""
        return {
            "H": hash,
            "I": self.integer,
            "index": self._index,
            "outside": self._outside,
            "allocated": self._allocated,
            "undefined": self._undefined,
            "outside_of": self._outside_of,
            "stored": self._stored,
            "touched": self._touched,
            "call": self._call,
            "quotient": lambda a, b: a // b if a * b >= 0 else -(-a // b),  # pyright: ignore[reportUnknownLambdaType]
            "remainder": lambda a, b: a % b if a >= 0 else -(-a % b),  # pyright: ignore[reportUnknownLambdaType]
            "parallel": self._parallel,
        }

    def integer(self, value: int) -> int:
        """The fingerprint of an integer that is known."""
        found = hash((_INTEGER, 2 * value if value >= 0 else -2 * value - 1))
        self._integers[found] = value
        return found

    def _index(self, value: int, site: int) -> int:
        if value not in self._integers:
            one = self._code.sites[site].operation
            raise self._module.error(one, "this makes an index of data, which is not executed")
        return self._integers[value]

    def _parallel(self, low: int, high: int, step: int) -> Iterable[int]:
        found = range(low, high, step)
        return reversed(found) if self._is_reversed else found

    def _outside(self, key: int, shape: tuple[int, ...]) -> Memory:
        return self._globals.setdefault(key, outside_memory(key, shape))

    def _allocated(
        self, site: int, shape: tuple[int, ...], iteration: tuple[int, ...], layout: bool
    ) -> Memory:
        if any(size < 0 for size in shape):
            raise Fault(Place(self._code.sites[site], (), iteration, "has a negative size"))
        self.cells += prod(shape)
        if self.cells > _MOST_CELLS:
            one = self._code.sites[site].operation
            raise self._module.error(
                one, f"more than {_MOST_CELLS} cells are not executed", "Use smaller sizes."
            )
        return Memory(shape, _ByAddress() if layout else [None] * prod(shape))

    def _undefined(self, site: int, memory: Memory, cell: tuple[int, ...], iteration: tuple[int, ...]) -> int:
        if self.undefined is None:
            what = f"loads cell {list(cell)} of {_type(memory)}, where nothing was stored"
            self.undefined = Place(self._code.sites[site], cell, iteration, what)
        return self._fresh

    def _outside_of(
        self, site: int, memory: Memory, cell: tuple[int, ...], iteration: tuple[int, ...]
    ) -> None:
        does = "loads" if self._code.sites[site].operation.results else "stores"
        what = f"{does} cell {list(cell)}, which is outside of {_type(memory)},"
        raise Fault(Place(self._code.sites[site], cell, iteration, what))

    def _stored(self, site: int, _: Memory, cell: tuple[int, ...], iteration: tuple[int, ...]) -> None:
        what = f"stores cell {list(cell)}"
        self.stores[cell] = Place(self._code.sites[site], cell, iteration, what)

    def _touched(
        self, site: int, memory: Memory, cell: tuple[int, ...], iteration: tuple[int, ...], key: Any
    ) -> None:
        """Raise where another iteration that may run at the same time wants the cell, too.

        Of each cell the last write is known, and two reads since then that are as far apart as any.
        """
        one = self._code.sites[site]
        touch = Touch(one, iteration, not one.operation.results)
        known = memory.touches.setdefault(key, [])
        for other in known:
            if touch.parted_at(other)[1] and (touch.is_write or other.is_write):
                line = self._module.line(other.site.operation)
                what = f"and line {line} use cell {list(cell)} of {_type(memory)} in parallel iterations,"
                raise Fault(Place(one, cell, iteration, what))
        if touch.is_write:
            memory.touches[key] = [touch]
            return
        reads = [other for other in known if not other.is_write]
        if len(reads) < 2:
            known.append(touch)
        elif reads[0].parted_at(touch)[0] < reads[0].parted_at(reads[1])[0]:
            known[-1] = touch

    def _call(self, key: int, operands: Sequence[int | Memory]) -> int:
        """An event, which may change all memory that it is given."""
        read = (hash(tuple(one.cells)) if isinstance(one, Memory) else one for one in operands)
        event = hash((key, *read))
        self.events.append(event)
        for number, one in enumerate(operands):
            if isinstance(one, Memory):
                one.cells[:] = [hash((event, number, k)) for k in range(len(one.cells))]
        return event


def _type(memory: Memory) -> str:
    return f"a memref of size {' x '.join(map(str, memory.shape)) or '1'}"
