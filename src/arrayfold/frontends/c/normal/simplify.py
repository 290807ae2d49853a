"""A file whose regions are written in simpler C, with the places of the original text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError, SourcePosition
from arrayfold.c.edits import Edit
from arrayfold.c.lexer import find_pragmas
from arrayfold.c.source import CText, Original, Region
from arrayfold.c.tree import CStatement
from arrayfold.frontends.c.clang import Unit, parse_c
from arrayfold.frontends.c.normal.filling import filling_loops
from arrayfold.frontends.c.normal.flat_loops import flat_loops
from arrayfold.frontends.c.normal.inlining import inlined_calls
from arrayfold.frontends.c.normal.loops import counting_loops
from arrayfold.frontends.c.normal.memory import smaller_regions
from arrayfold.frontends.c.normal.results import declared_results
from arrayfold.frontends.c.normal.rotations import rotating_pointers
from arrayfold.frontends.c.normal.rows import bracketed_elements, named_rows
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.side_effects import hoisted_effects
from arrayfold.frontends.c.normal.sizes import named_sizes
from arrayfold.frontends.c.normal.toggles import toggled_numbers

_MOST_ROUNDS = 60
_PASSES: Sequence[Callable[[RegionScene], Iterator[Rewriting]]] = (
    smaller_regions,
    declared_results,
    named_sizes,
    filling_loops,
    bracketed_elements,
    named_rows,
    counting_loops,
    toggled_numbers,
    rotating_pointers,
    flat_loops,
    hoisted_effects,
    inlined_calls,
)


@dataclass(frozen=True, eq=False)
class Simplified:
    """A file as it is analysed.

    inlined  offset in the original -> function whose call stands there and was inlined
    """

    text: CText
    unit: Unit
    inlined: dict[int, str]


def simplified(
    text: CText,
    unit: Unit,
    find_regions: Callable[[CText, Unit], Sequence[Region]],
    left_alone: Collection[str] = (),
    original: CText | None = None,
) -> Simplified:
    """The file with its regions in simpler C, as far as that is possible.

    left_alone  functions whose calls are not inlined
    original    the file as its author wrote it, if the text is not
    """
    found = Simplified(text, unit, {})
    for _ in range(_MOST_ROUNDS):
        rewritings = _apart(
            one
            for region in find_regions(found.text, found.unit)
            for one in _of_region(found, region, left_alone)
        )
        if not rewritings:
            break
        following = _rewritten(original or text, found, rewritings)
        if following is None:
            break
        found = following
    return found


def _of_region(found: Simplified, region: Region, left_alone: Collection[str]) -> list[Rewriting]:
    """What can be made simpler at once, first things first."""
    names = Counter(one.name for one in found.unit.functions)
    functions = {
        one.name: one
        for one in found.unit.functions
        if one.name not in left_alone and names[one.name] == 1 and not one.is_instance
    }
    scene = RegionScene(found.text, region, functions, frozenset(_with_pragmas(found.text, region)))
    fixed = {statement.span.start for statement in scene.kept}
    for rewrite in _PASSES:
        chosen: list[Rewriting] = []
        for one in sorted(rewrite(scene), key=lambda one: one.end - one.start):
            is_apart = all(one.end <= other.start or other.end <= one.start for other in chosen)
            is_free = one.start not in fixed or bool(one.split)
            if is_apart and is_free and region.holds(one.start) and one.end <= region.end:
                chosen.append(one)
        if chosen:
            return chosen
    return []


def _apart(rewritings: Iterable[Rewriting]) -> list[Rewriting]:
    """Those that change nothing that an earlier one changes, such as a declaration in front of the region."""
    chosen: list[Rewriting] = []
    for one in rewritings:
        taken = [edit for other in chosen for edit in other.edits]
        if not any(
            edit.start < other.end and other.start < edit.end for edit in one.edits for other in taken
        ):
            chosen.append(one)
    return chosen


def _with_pragmas(text: CText, region: Region) -> Iterator[CStatement]:
    """The statements of a region that a pragma is about, as it stands directly before them."""
    ends = [pragma.end for pragma in find_pragmas(text.text) if region.holds(pragma.start)]
    for node in region.nodes():
        if isinstance(node, CStatement):
            start = node.span.start
            if any(end <= start and not text.plain[end:start].strip() for end in ends):
                yield node


def _rewritten(original: CText, found: Simplified, rewritings: Sequence[Rewriting]) -> Simplified | None:
    """The file after some changes; None if no compiler would take it."""
    edits = [edit for one in rewritings for edit in one.edits]
    text = found.text
    split = text.split.union(*(one.split for one in rewritings))
    try:
        new, unit = edited(text, edits, original, split)
    except InputError:
        return None
    inlined = {
        one.start if text.original is None else text.original.offset(one.start): one.inlined
        for one in rewritings
        if one.inlined is not None
    }
    return Simplified(new, unit, {**found.inlined, **inlined})


def edited(
    text: CText, edits: Sequence[Edit], original: CText, split: frozenset[str] = frozenset()
) -> tuple[CText, Unit]:
    """The text after some changes, and what the parser says of it.

    original  the text in which places are shown
    """
    data, pieces = _pieces(text, edits)
    unit = parse_c(text.file, data, text.arguments)
    names = unit.names | original.names

    def place(offset: int) -> SourcePosition:
        return original.place(pieces.offset(offset))

    return CText(text.file, data, text.arguments, unit.macros, place, names, pieces, split), unit


def _pieces(text: CText, edits: Sequence[Edit]) -> tuple[bytes, Original]:
    """The new text, and where its pieces come from."""
    before = text.original or Original(text.data, (0,), ((0, True),))
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, bool]] = []
    length = 0

    def add(piece: str, at: int, *, is_same: bool) -> None:
        nonlocal length
        if piece:
            starts.append(length)
            origins.append((at, is_same))
            pieces.append(piece)
            length += len(piece)

    def keep(start: int, end: int) -> None:
        """The text between two offsets, piece by piece as it was put together before."""
        inner = [one for one in before.starts if start < one < end]
        for begin, stop in zip([start, *inner], [*inner, end], strict=True):
            is_same = before.offset(begin + 1) != before.offset(begin) if stop - begin > 1 else True
            add(text.text[begin:stop], before.offset(begin), is_same=is_same)

    position = 0
    order = sorted(enumerate(edits), key=lambda pair: (pair[1].start, pair[1].end, pair[0]))
    for _, edit in order:
        assert position <= edit.start, f"two edits at {edit.start}"
        keep(position, edit.start)
        add(edit.text, before.offset(edit.start), is_same=False)
        position = edit.end
    keep(position, len(text.text))
    return "".join(pieces).encode("latin-1"), Original(before.data, tuple(starts), tuple(origins))
