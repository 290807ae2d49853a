"""A mapping for some parameter values, proved for these."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import ModularMapping


@dataclass(frozen=True, eq=False)
class MappingCase:
    """A mapping for some parameter values.

    when   { : }  the parameter values
    proof  of the mapping with the parameter replaced by its class, such as N = 2*m + 1
    """

    when: isl.Set
    mapping: ModularMapping
    proof: Proof

    @property
    def size(self) -> Formula:
        """Cells after folding."""
        return self.mapping.size


def proved_on(conflicts: Conflicts, when: isl.Set, mapping: ModularMapping) -> MappingCase | None:
    """A mapping as a case for some parameter values, if it is proved for these."""
    with suppress(ArrayfoldError):
        verdict = verify(conflicts.within(when), mapping)
        return MappingCase(coalesced(when), mapping, verdict) if isinstance(verdict, Proof) else None
    return None
