"""The store of an occupancy vector: projection along it, modulation if it is not primitive (TVA07 §3.3.2)."""

from __future__ import annotations

import math

from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import image, linear_form
from arrayfold.exact.lattice import Vector, kernel_frame, multiplier_row
from arrayfold.mapping.modular import ModularMapping
from arrayfold.program.model import Program


def mapping_along(program: Program, name: str, vector: Vector) -> ModularMapping:
    """The mapping that gives cells one address iff they are a multiple of the vector apart.

    Rows of a unimodular matrix vanish on the primitive part of the vector; their moduli are the lengths of
    what the cells span, so that nothing else is wrapped. If the vector is g times its primitive part, one
    more row counts the steps along it modulo g.
    """
    array = program.array(name)
    cells = array.cells.intersect_params(program.context)
    divisor = math.gcd(*vector)
    primitive = tuple(entry // divisor for entry in vector)
    rows: list[Vector] = []
    moduli: list[Formula] = []
    offset: list[Formula] = []
    basis, _ = kernel_frame(primitive)
    for row in basis:
        ((low, length),) = extents(image(cells, linear_form(cells.get_space(), row)), program.context)
        rows.append(row)
        moduli.append(length)
        offset.append(-low)
    if divisor > 1:
        rows.append(multiplier_row(primitive))
        moduli.append(Formula.constant(divisor))
        offset.append(Formula.constant(0))
    return ModularMapping.of(name, array.dimensions, rows, moduli, offset)
