"""Proofs, bounds and counterexamples told to a person; isl's sets with the names that users gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from arrayfold.exact.isl import coalesced
from arrayfold.judge.verify import Counterexample, Proof, ProofKind
from arrayfold.mapping.modular import AddressMapping, EmittableMapping, ModularMapping

if TYPE_CHECKING:
    from arrayfold.bounds.minimal import Gap
    from arrayfold.conflicts.conflicts import Conflicts
    from arrayfold.fold.check import Checked
    from arrayfold.fold.result import FoldedArray, FoldResult

_FOUNDATIONS: Mapping[ProofKind, str] = {
    "rows": """\
Whether a set given by linear equations and inequalities over whole numbers is empty can be decided exactly
(Presburger arithmetic); the integer set library isl does it, for all sizes at once.""",
    "lattice": """\
Differences between cells of one address form a lattice. Its basis vectors that contain parameters grow with
the sizes, so only few of their multiples are as short as differences of conflicting cells; isl checks each
of them for all sizes.""",
    "corners": """\
A linear function takes its largest and smallest values on a polyhedron at its corners. There they are
polynomials of the sizes, whose signs are shown for the whole context.""",
    "digits": """\
An address is a number whose digits are the indices. From the largest coefficient on, an equation between two
addresses leaves only a few values to each index, whatever the sizes are; isl decides what is left.""",
    "nothing": "Cells that never conflict may all share one address.",
    "pairs": "isl computes the pairs of cells that share an address and finds no conflict among them.",
    "table": "All pairs of conflicting cells are looked up in the table, for these sizes.",
}


_CUT = "the code never takes more cells than before"
_UNKNOWN_EXTENTS = "its declaration is not understood, so the cells before are those that the region uses"


@dataclass(frozen=True)
class Event:
    """One moment of a counterexample: what happens, and whose value the address holds afterwards.

    does  write, read, or either of them and what it makes wrong
    """

    text: str
    holds: str
    does: str


def what_is_shown(mapping: AddressMapping) -> str:
    """The statement behind a proof."""
    if isinstance(mapping, ModularMapping):
        rows = "the row takes" if len(mapping.moduli) == 1 else "every row takes"
        if not mapping.moduli:
            return "All cells share one address, so no two of them may conflict."
        return (
            "Two cells share an address exactly if "
            f"{rows} their difference to a multiple of its modulus. So it is enough to look at differences: "
            "none between two conflicting cells may be such a vector."
        )
    return "No two conflicting cells may have the same address."


def foundation(proof: Proof) -> str:
    """What a proof rests on: a theorem, or checks by isl."""
    return _FOUNDATIONS[proof.kind]


def proved_words(gap: Gap, mapping: EmittableMapping) -> str:
    """What is known of a mapping that was proved, in a few words."""
    return ", ".join(filter(None, ("proved", gap.words, mapping.where)))


def array_notes(result: FoldResult, array: FoldedArray) -> list[str]:
    """What is to be said of an array, apart from its lower bound."""
    notes = [*array.notes]
    if array.cut_short:
        notes.append(array.cut_short)
    if result.has_unknown_extents(array):
        notes.append(_UNKNOWN_EXTENTS)
    if result.is_cut_to_old_size(array):
        notes.append(_CUT)
    return notes


def bound_notes(gap: Gap, *, with_sizes: bool = True) -> list[str]:
    """What is to be said of a lower bound besides its formula, and for which sizes that was shown."""
    said: list[str] = []
    if gap.no_cells:
        zero = "" if gap.bound_says_no_cells else ", and the lower bound is 0 there"
        said.append(f"there are no cells for {gap.no_cells}{zero}")
    if with_sizes and gap.shown_for_cells:
        said.append(f"the lower bound was shown for {gap.shown_for_cells}")
    return [*said, *([gap.bound.remark] if gap.bound.remark else [])]


def bound_sentence(gap: Gap) -> str:
    """How few cells any mapping needs, and how far this one is from that."""
    bound, known = gap.bound, gap.bound_here if gap.params else None
    if bound.formula is None and known is None:
        return "How few cells any mapping needs is not known here."
    least = str(bound.formula) if bound.formula is not None else f"{known:,}"
    at_sizes = "" if bound.formula is not None or known is None else " at these sizes"
    sentence = (
        f"There are {least} cells that conflict with each other{at_sizes}, and each of them needs an address "
        "of its own, whatever the mapping."
    )
    if least == "1":
        sentence = "There is a cell, and it needs an address."
    if gap.shown_for:
        sentence += f" (Shown for {gap.shown_for}.)"
    if gap.words:
        where = gap.words.removeprefix("minimal")
        return f"{sentence} The mapping has no more addresses than that{where}: none can be smaller."
    if gap.params and gap.times is not None:
        sentence += f" The mapping has {gap.times:.2f} times as many here."
    return sentence


def narrative(item: Checked) -> list[Event]:
    """What goes wrong, moment by moment; nothing where the mapping is not refuted."""
    verdict = item.verdict
    if not isinstance(verdict, Counterexample):
        return []
    if item.clobber is None:
        first, second = (f"{verdict.array}[{', '.join(map(str, cell))}]" for cell in verdict.cells)
        return [
            Event(f"{first} gets the address.", first, "write"),
            Event(f"{second} gets it as well, although both are needed at once.", second, "write-wrong"),
        ]
    clobber = item.clobber
    start = (
        f"{clobber.writer} writes {clobber.cell}."
        if clobber.writer
        else (f"{clobber.cell} holds a value from before the program.")
    )
    may = "may come next and write" if clobber.may else "writes"
    end = (
        f"{clobber.reader} reads {clobber.cell}" if clobber.reader else f"{clobber.cell} is needed afterwards"
    )
    overwritten = f"{clobber.overwriter} {may} {clobber.by_cell}, which has the same address."
    writes = [Event(start, clobber.cell, "write"), Event(overwritten, clobber.by_cell, "write")]
    return [
        *writes,
        Event(f"{end}, but finds the value of {clobber.by_cell}.", clobber.by_cell, "read-wrong"),
    ]


# ---------------------------------------------------------------- sets


def readable_set(conflicts: Conflicts, cells: isl.Set) -> str:
    """A set of cells or differences, simplified against the context."""
    named = coalesced(cells.gist_params(conflicts.context))
    for k, name in enumerate(conflicts.array.dimensions):
        named = named.set_dim_name(isl.dim_type.set, k, name)
    return str(named)


def readable_pairs(conflicts: Conflicts) -> str | None:
    """The conflicting pairs, simplified against the context; None where only differences are known."""
    if conflicts.some_pairs is None:
        return None
    named = coalesced(conflicts.pairs.gist_params(conflicts.context))
    for k, name in enumerate(conflicts.array.dimensions):
        named = named.set_dim_name(isl.dim_type.in_, k, name)
        named = named.set_dim_name(isl.dim_type.out, k, f"{name}'")
    return str(named)
