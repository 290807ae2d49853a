"""Tiles of stencils: diamonds, hexagons, parallelograms.

All are cut by lines that no dependence crosses backwards: in each time step dependences go back by at most
`back` places and forth by at most `forth`. Diamonds and hexagons begin together, a wavefront at a time
(BBC16 Fig. 7; Grosser, Cohen, Holewinski, Sadayappan and Verdoolaege 2014); parallelograms follow each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from arrayfold.base.errors import InputError
from arrayfold.order.stencil import Stencil

Kind: TypeAlias = Literal["diamond", "hexagon", "parallelogram"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# A number, or the name of a parameter.
Size: TypeAlias = "int | str"


@dataclass(frozen=True)
class TileShape:
    """A shape and its sizes.

    A diamond of size B has 2B - 1 time steps and is 2B - 1 cells wide where dependences reach one cell per
    step; a hexagon of size B has 2B - 1 time steps and edges of B cells below and above; both are cut along
    the first loop inside of the one over time. Further sizes cut further loops into parallelograms. A
    parallelogram has a size for the time steps and one for each loop that is cut.
    """

    kind: Kind
    sizes: tuple[Size, ...]

    @staticmethod
    def parse(text: str) -> TileShape | None:
        """The shape that is meant by `diamond:32` or `parallelogram:8x64`; None if that names no shape."""
        kind, colon, rest = text.partition(":")
        if not colon or kind.strip() not in KINDS:
            return None
        parts = [part.strip() for part in rest.split("x")]
        sizes = [_size(part) for part in parts]
        least = 2 if kind.strip() == "parallelogram" else 1
        if len(sizes) < least or None in sizes:
            example = "parallelogram:8x64" if least == 2 else f"{kind.strip()}:32"
            raise InputError(
                f"{text!r} is not a shape of tiles with its sizes", hint=f"For example {example}."
            )
        return TileShape(
            next(one for one in KINDS if one == kind.strip()), tuple(one for one in sizes if one)
        )

    def __str__(self) -> str:
        return f"{self.kind}:{'x'.join(map(str, self.sizes))}"

    @property
    def rank(self) -> int:
        """How many loops inside of the one over time are cut."""
        return len(self.sizes) - (self.kind == "parallelogram")

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that are parameters."""
        return tuple(dict.fromkeys(size for size in self.sizes if isinstance(size, str)))

    def with_sizes(self, value: int) -> TileShape:
        """The same shape with a number in place of names."""
        return TileShape(self.kind, tuple(value if isinstance(one, str) else one for one in self.sizes))

    def cut(self, stencil: Stencil) -> Cut:
        """The lines along which the loops of a stencil are cut."""
        is_box = self.kind == "parallelogram"
        forth = 0 if is_box else stencil.reach()
        lines: list[tuple[int, ...]] = []
        for k in range(self.rank):
            line = stencil.skew(lines, is_nonnegative=is_box or k > 0)
            if line is None or forth is None:
                raise InputError(
                    f"{self.kind} tiles need dependences that go a few places at most in each time step",
                    hint="Some go elsewhere in no time, or anywhere. --fuse cells looks for loops to tile.",
                )
            lines.append(line)
        assert forth is not None
        # Somewhere dependences must go, or there would be no corner.
        return Cut(self, tuple(lines), forth if is_box else max(forth, 1 - lines[0][0]))


@dataclass(frozen=True)
class Cut:
    """Tiles of one shape for dependences of a certain reach.

    lines  factors of the step and of the axes up to each one that is cut; no dependence goes back along them,
           so that of the step in the first one is how far dependences go back in a step
    forth  how far they go forth along the first axis in a step
    """

    shape: TileShape
    lines: tuple[tuple[int, ...], ...]
    forth: int

    @property
    def _back(self) -> int:
        return self.lines[0][0]

    @property
    def _reach(self) -> int:
        return self._back + self.forth

    def tile_of(self) -> str:
        """{ [step, x, ...] -> [tile] }: tiles in an order that keeps dependences; sizes are numbers."""
        coordinates = [f"x{k}" for k in range(len(self.lines))]
        point = f"[s, {', '.join(coordinates)}]"
        if self.shape.kind == "parallelogram":
            first = [([f"floor(s/{self.shape.sizes[0]})", *self._skewed(0)], "true")]
        elif self.shape.kind == "diamond":
            length = self._reach * (self._size - 1) + 1
            falling, rising = (
                f"floor(({self.forth}*s - x0)/{length})",
                f"floor(({self._back}*s + x0)/{length})",
            )
            first = [([f"{falling} + {rising}", falling, *self._skewed(1)], "true")]
        else:
            first = [([*tile, *self._skewed(1)], where) for tile, where in self._hexagons()]
        return "{ " + "; ".join(f"{point} -> [{', '.join(tile)}] : {where}" for tile, where in first) + " }"

    def one_tile(self) -> str:
        """Conditions on s, x0, ... that say one whole tile at the origin; sizes may be names."""
        sizes = self.shape.sizes
        if self.shape.kind == "parallelogram":
            conditions = [f"0 <= s < {sizes[0]}"]
            beyond = 0
        else:
            size, back, forth, beyond = sizes[0], self._back, self.forth, 1
            if self.shape.kind == "diamond":
                length = f"{self._reach}*({size} - 1)"
                conditions = [f"0 <= {forth}*s - x0 <= {length}", f"0 <= {back}*s + x0 <= {length}"]
            else:
                late = f"(s - {size} + 1)"
                conditions = [
                    f"0 <= s <= 2*{size} - 2",
                    f"x0 >= -{back}*s and x0 >= -{back}*({size} - 1) + {forth}*{late}",
                    f"x0 < {size} + {forth}*s and x0 < {size} + {forth}*({size} - 1) - {back}*{late}",
                ]
        skewed = [self._form(k) for k in range(beyond, len(self.lines))]
        further = sizes[1:]
        return " and ".join(
            [*conditions, *(f"0 <= {one} < {size}" for one, size in zip(skewed, further, strict=True))]
        )

    @property
    def _size(self) -> int:
        size = self.shape.sizes[0]
        assert isinstance(size, int)
        return size

    def _skewed(self, begin: int) -> list[str]:
        """Tiles along further axes."""
        sizes = self.shape.sizes[1:]
        axes = range(begin, len(self.lines))
        return [f"floor(({self._form(k)})/{size})" for k, size in zip(axes, sizes, strict=True)]

    def _form(self, axis: int) -> str:
        """An axis that is skewed."""
        names = ["s", *(f"x{k}" for k in range(axis + 1))]
        return " + ".join(f"{factor}*{name}" for factor, name in zip(self.lines[axis], names, strict=True))

    def _hexagons(self) -> list[tuple[list[str], str]]:
        """Number of the wavefront and of the hexagon in it, for the two kinds of hexagons.

        In a band of 2B - 1 steps the first ones grow until step B - 1 and shrink then; the second ones fill
        the gaps between them, from the middle of one band to the middle of the next.
        """
        size, back, forth = self._size, self._back, self.forth
        band, height = f"floor(s/{2 * size - 1})", 2 * size - 1
        drift = (forth - back) * height // 2
        period = 2 * size + self._reach * (size - 1)
        row = f"(s - {height}*{band})"
        found: list[tuple[list[str], str]] = []
        halves = (
            (f"{row} <= {size - 1}", f"(-{back}*{row})", row, -1),
            (
                f"{row} >= {size}",
                f"({forth}*({row} - {size - 1}) - {back * (size - 1)})",
                f"({height - 1} - {row})",
                1,
            ),
        )
        for where, edge, narrower, phase in halves:
            column = f"floor((x0 - {drift}*{band} - {edge})/{period})"
            inside = f"x0 - {drift}*{band} - {edge} - {period}*{column} - {self._reach}*{narrower} < {size}"
            found.append(([f"2*{band}", column], f"{where} and {inside}"))
            found.append(([f"2*{band} + {phase}", column], f"{where} and not ({inside})"))
        return found


def sizes_of(text: str) -> tuple[Size, ...] | None:
    """The sizes that a text such as 32x32 or Bx8 gives, None if it is something else."""
    parts = [part.strip() for part in re.split("[xX]", text)]
    sizes = tuple(size for part in parts if (size := _size(part)) is not None)
    return sizes if len(sizes) == len(parts) else None


def numbers_of(text: str) -> tuple[int, ...] | None:
    """The same where all are numbers."""
    sizes = sizes_of(text) or ()
    numbers = tuple(size for size in sizes if isinstance(size, int))
    return numbers if numbers and len(numbers) == len(sizes) else None


def _size(text: str) -> Size | None:
    """A positive number or a name, None for anything else."""
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0:
        return int(text)
    return text if re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) else None
