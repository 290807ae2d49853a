"""Arrays whose conflicting cells differ by vectors of a lattice: every third cell, half of a checkerboard.

The lattice is divided out: with a basis B of it, cells get the coordinates y = floor(B^-1 x), in which
neighbours are neighbours, and the smallest mapping of these is a mapping of cells whose rows are divided.
Cells in different cosets do not conflict, so it does not matter which of them have equal coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced, coordinate, fresh_names, parameter_names, without_parameters
from arrayfold.exact.lattice import Vector
from arrayfold.exact.strides import dual_rows, generated_lattice, reduced
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods.widths import restrict
from arrayfold.program.model import Array

_ZERO = Formula.constant(0)


@dataclass(frozen=True, eq=False)
class Strides:
    """The lattice of the differences of an array.

    basis  integer vectors, as many as there are dimensions
    """

    conflicts: Conflicts
    basis: tuple[Vector, ...]

    @staticmethod
    def of(conflicts: Conflicts) -> Strides | None:
        """None where the differences generate all integer vectors, as far as isl sees."""
        with suppress(ArrayfoldError, isl.Error):
            basis = generated_lattice(conflicts.differences.intersect_params(conflicts.context))
            return None if basis is None else Strides(conflicts, basis)
        return None

    @cached_property
    def coordinates(self) -> list[list[Fraction]]:
        """Rows that give the coordinates of a difference."""
        return dual_rows(self.basis)

    @cached_property
    def divided(self) -> Conflicts:
        """The conflicts of the coordinates of cells, by their differences."""
        here = self.conflicts
        differences = restrict(here.differences.intersect_params(here.context), self.basis)
        array = Array(here.name, here.array.dimensions, self._divided(here.array.cells))
        return replace(
            here,
            array=array,
            cells=self._divided(here.cells),
            some_pairs=None,
            differences=differences,
            moments=None,
            moments_suffice=False,
            program=None,
        )

    def _divided(self, cells: isl.Set) -> isl.Set:
        """{ A[x] } as { A[floor(B^-1 x)] }."""
        names = fresh_names("x", len(self.basis), parameter_names(cells))
        entries: list[str] = []
        for row, start in zip(self.coordinates, self._starts, strict=True):
            scale = math.lcm(*(entry.denominator for entry in row))
            terms = " + ".join(f"{int(entry * scale)}*{name}" for entry, name in zip(row, names, strict=True))
            entries.append(f"floor(({terms} - {int(start * scale)})/{scale})")
        array = self.conflicts.name
        return coalesced(
            cells.apply(isl.Map(f"{{ {array}[{', '.join(names)}] -> {array}[{', '.join(entries)}] }}"))
        )

    @cached_property
    def origin(self) -> Vector:
        """A vector near zero from which all cells differ by the lattice, so that no rest is left; or zero."""
        zero = tuple(0 for _ in self.basis)
        cells = self.conflicts.cells.intersect_params(self.conflicts.context)
        names = fresh_names("x", len(self.basis), parameter_names(cells))
        factors = fresh_names("y", len(self.basis), [*parameter_names(cells), *names])
        with suppress(ArrayfoldError, isl.Error):
            here = without_parameters(cells).sample_point()
            found = reduced(
                tuple(coordinate(here, isl.dim_type.set, k) for k in range(len(names))), self.basis
            )
            ends = [
                " + ".join(
                    [f"{vector[k]}*{factor}" for vector, factor in zip(self.basis, factors, strict=True)]
                )
                for k in range(len(names))
            ]
            equal = " and ".join(
                f"{name} = {at} + {end}" for name, at, end in zip(names, found, ends, strict=True)
            )
            array = self.conflicts.name
            coset = isl.Set(f"{{ {array}[{', '.join(names)}] : exists ({', '.join(factors)} : {equal}) }}")
            return found if cells.is_subset(coset) else zero
        return zero

    @cached_property
    def _starts(self) -> list[Fraction]:
        return [
            sum((entry * at for entry, at in zip(row, self.origin, strict=True)), start=Fraction(0))
            for row in self.coordinates
        ]

    def undivided(self, mapping: ModularMapping) -> ModularMapping:
        """A mapping of coordinates as one of cells."""
        rows: list[list[Formula]] = []
        offsets: list[Formula] = []
        divisors: list[int] = []
        for row, offset in zip(mapping.matrix, mapping.offset, strict=True):
            entries, start, divisor = self._row(row)
            rows.append(entries)
            offsets.append(offset * divisor - start)
            divisors.append(divisor)
        array = self.conflicts.array
        return ModularMapping.of(array.name, array.dimensions, rows, mapping.moduli, offsets, divisors)

    def _row(self, row: Sequence[Formula]) -> tuple[list[Formula], Formula, int]:
        """A row of coordinates as one of cells times its divisor, and what it is at the origin."""
        sums = [
            sum((entry * by for entry, by in zip(row, column, strict=True)), start=_ZERO)
            for column in zip(*self.coordinates, strict=True)
        ]
        inner = math.lcm(*(entry.denominator for entry in row))
        divisor = math.lcm(*((entry * inner).denominator for entry in sums))
        entries = [entry * divisor for entry in sums]
        start = sum((entry * at for entry, at in zip(entries, self.origin, strict=True)), start=_ZERO)
        return entries, start, divisor
