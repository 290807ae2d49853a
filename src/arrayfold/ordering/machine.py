"""The machine that code runs on, as far as the cost model knows it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arrayfold.base.errors import InputError

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}

# Where the operating system does not tell: bytes of the first, second and last cache.
DEFAULT_CACHES = (32 << 10, 1 << 20, 16 << 20)


@dataclass(frozen=True)
class Machine:
    """Sizes and speeds.

    caches          bytes of the caches, the one next to the processor first
    cycles_a_byte   what it costs to fetch a byte from behind each cache
    line            bytes of a line of the cache
    vector          bytes of a vector register
    """

    caches: tuple[int, ...] = DEFAULT_CACHES
    cycles_a_byte: tuple[float, ...] = (1 / 40, 1 / 20, 1 / 2.5)
    line: int = 64
    vector: int = 32


@cache
def this_machine() -> Machine:
    """This machine, with the sizes of caches that ARRAYFOLD_CACHES or the operating system tells."""
    given = os.environ.get("ARRAYFOLD_CACHES")
    sizes = _cache_sizes(_CACHES) if given is None else _sizes_in(given)
    return Machine(caches=sizes) if len(sizes) == len(DEFAULT_CACHES) else Machine()


def _sizes_in(text: str) -> tuple[int, ...]:
    """Bytes of caches as a user writes them: 32K,1M,16M."""
    found = [re.fullmatch(r"(\d+)([KM]?)", part.strip()) for part in text.split(",")]
    sizes = tuple(int(one[1]) * _UNITS[one[2]] for one in found if one is not None)
    if len(sizes) != len(DEFAULT_CACHES) or len(found) != len(sizes):
        raise InputError(f"ARRAYFOLD_CACHES has the sizes of three caches, such as 32K,1M,16M, not {text}")
    return sizes


def _cache_sizes(folder: Path) -> tuple[int, ...]:
    """Bytes of the caches for data, by level."""
    found: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        with suppress(OSError, ValueError):
            kind = (index / "type").read_text().strip()
            size = re.fullmatch(r"(\d+)([KM]?)", (index / "size").read_text().strip())
            if kind in ("Data", "Unified") and size is not None:
                found[int((index / "level").read_text())] = int(size[1]) * _UNITS[size[2]]
    return tuple(found[level] for level in sorted(found))
