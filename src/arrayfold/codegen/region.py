"""A region of a C file with the folds to write into it."""

from __future__ import annotations

from dataclasses import dataclass

from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError
from arrayfold.c.source import CSource
from arrayfold.mapping.modular import EmittableMapping, TableMapping
from arrayfold.program.model import Program
from arrayfold.sharing.footprint import SharedBlock

# Cells that an array may have more than its mapping, so that innermost loops vectorise.
STRIP = 256


@dataclass(frozen=True, eq=False)
class StorageFold:
    """A mapping to write into the code, and a remark for the reader of it."""

    mapping: EmittableMapping
    remark: str
    is_live_in: bool = False


@dataclass(frozen=True, eq=False)
class FoldedRegion:
    """A program from a C file, in the order to write, with the arrays that shrink.

    loops  "keep" leaves the loops as they are written, "generate" writes them anew from the schedule;
           None keeps them where the order is the one as written, and nothing is gained by new ones
    style  "fast" writes innermost loops without a modulo, "readable" says the mapping in subscripts
    blocks memory that arrays share
    is_off_stack  arrays are allocated even if they take the place of arrays on the stack
    is_padded     rows may be longer, so that loops begin to write with a cache line
    checks_assumptions  the code tests what is assumed of the parameters, and ends the program where it fails
    unfolded      arrays that keep their declarations, because their folds may take more memory at some sizes
    """

    program: Program
    folds: tuple[StorageFold, ...]
    loops: str | None = None
    style: Style = "fast"
    blocks: tuple[SharedBlock, ...] = ()
    is_off_stack: bool = False
    is_padded: bool = False
    unfolded: tuple[str, ...] = ()
    checks_assumptions: bool = False

    @property
    def source(self) -> CSource:
        """The text that the region is in."""
        if self.program.source is None:
            raise InputError(
                f"{self.program.name} has no C text to rewrite; only C files can be written back"
            )
        return self.program.source

    def only_sizes(self) -> dict[str, int]:
        """The only parameter values for which the folds hold; none if they hold for all."""
        tables = (fold.mapping for fold in self.folds if isinstance(fold.mapping, TableMapping))
        return {name: value for table in tables for name, value in table.params.items()}
