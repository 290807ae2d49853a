"""What a paper prints: tables of mappings, row by row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedRow:
    """One mapping of a table, and the correction where the print is wrong.

    program    as the paper calls it
    algorithm  as the paper calls it
    methods    our methods of the same idea
    example    problem file under examples/ without its suffix
    mapping    in the notation of `arrayfold check`, over the dimensions of the example's array; the
               coordinates of the tile are left out
    size       cells of the mapping
    ratio      the printed gain over the first row of the program
    corrected  the mapping that was meant, where the printed one is wrong
    corrected_size  its cells
    remark     what is wrong, or how the print is to be read
    """

    program: str
    algorithm: str
    methods: tuple[str, ...]
    example: str
    mapping: str
    size: str
    ratio: str = ""
    corrected: str | None = None
    corrected_size: str | None = None
    remark: str = ""

    @property
    def array(self) -> str:
        """The array of the example that is mapped."""
        return self.mapping.partition("[")[0]


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper."""

    paper: str
    number: str
    rows: tuple[PublishedRow, ...]

    @property
    def title(self) -> str:
        """The table as one cites it."""
        return f"{self.paper} {self.number}"
