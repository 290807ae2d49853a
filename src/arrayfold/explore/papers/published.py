"""What a paper prints: tables of mappings, row by row."""

from __future__ import annotations

from dataclasses import dataclass

# Our methods of the same idea, by what the papers call an algorithm.
_METHODS = {
    "LeFe": ("successive-modulo",),
    "baseline": ("successive-modulo",),
    "BBA": ("hyperplane",),
    "SMO": ("hyperplane",),
    "Lattice": ("lattice", "combined"),
    "mapping": ("lattice", "combined"),
}


@dataclass(frozen=True)
class PublishedRow:
    """One mapping of a table, and the correction where the print is wrong.

    program    as the paper calls it
    example    problem file under examples/ without its suffix
    algorithm  as the paper calls it
    methods    our methods of the same idea
    mapping    in the notation of `arrayfold check`, over the dimensions of the example's array; the
               coordinates of the tile are left out
    size       cells of the mapping, also of the corrected one
    ratio      the printed gain over the first row of the program
    remark     what is wrong, or how the print is to be read
    corrected  the mapping that was meant, where the printed one is wrong
    """

    program: str
    example: str
    algorithm: str
    methods: tuple[str, ...]
    mapping: str
    size: str
    ratio: str = ""
    remark: str = ""
    corrected: str | None = None

    @property
    def array(self) -> str:
        """The array of the example that is mapped."""
        return self.mapping.partition("[")[0]


def rows_of(of: tuple[str, str, str], *rows: tuple[str, ...]) -> list[PublishedRow]:
    """The rows of one program, in the order of the table.

    of    the program, the example, and a cell of its array
    rows  algorithm and address of the cell, then size, ratio, remark and corrected address as far as given

    >>> (row,) = rows_of(("blur", "blur", "A[y, x]"), ("SMO", "y mod 2, x", "2*N"))
    >>> row.mapping
    'A[y, x] -> [y mod 2, x]'
    """
    program, example, cell = of
    found: list[PublishedRow] = []
    for algorithm, address, *others in rows:
        others[3:] = [f"{cell} -> [{corrected}]" for corrected in others[3:]]
        mapping = f"{cell} -> [{address}]"
        found.append(PublishedRow(program, example, algorithm, _METHODS[algorithm], mapping, *others))
    return found


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    enumerate_at  the value of the parameter at which all executions are walked through; None for none
    """

    paper: str
    number: str
    rows: tuple[PublishedRow, ...]
    enumerate_at: int | None = None

    @property
    def title(self) -> str:
        """The table as one cites it."""
        return f"{self.paper} {self.number}"
