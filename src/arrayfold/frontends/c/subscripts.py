"""The subscripts of every access of an array, flat ones dimension by dimension, and those that may be any."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.c.source import CText
from arrayfold.c.tree import Variable, named_in, walk
from arrayfold.exact.factors import quotient
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff, to_pw_aff
from arrayfold.exact.isl import coalesced
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.assumptions import Need
from arrayfold.frontends.c.effects import Effect
from arrayfold.frontends.c.polynomials import Polynomial, PolynomialReader
from arrayfold.frontends.c.shapes import Shape, SplitSubscript, candidate_shapes, split

Values = tuple[isl.PwAff | None, ...]


@dataclass(frozen=True, eq=False)
class Unreadable:
    """A subscript that may be any: what to say of its array, and what to say where that is not allowed."""

    reason: str
    error: InputError


@dataclass(frozen=True, eq=False)
class Subscripts:
    """The subscripts of an array.

    values   access -> { [i] -> [x] } in each dimension, None where it may be any
    shape    the strides of a flat array that has several dimensions in the model
    unread   an access of which not all is known; None if there is none
    is_sure  more that is known of the parameters cannot say more
    may_overlap  its rows may have elements in common, as those of an array that is only read may
    """

    values: Mapping[Effect, Values]
    shape: Shape | None = None
    unread: Unreadable | None = None
    is_sure: bool = True
    may_overlap: bool = False

    def says(self, effect: Effect) -> bool:
        """Whether it says which element an access means."""
        return all(value is not None for value in self.values[effect])


class SubscriptReader:
    """Reads subscripts; what must not happen in them goes to the needs of the affine reader."""

    def __init__(self, text: CText, affine: AffineReader) -> None:
        self._text = text
        self._affine = affine
        self._sums = PolynomialReader(affine)

    def of(self, array: Variable, effects: Sequence[Effect], *, is_written: bool) -> Subscripts:
        """The subscripts of all accesses of an array that name an element.

        is_written  whether the region may write it
        """
        needs, wraps = len(self._affine.needs), len(self._affine.wraps)
        plain = self._plain(effects)
        # What is made from another language knows the dimensions of its arrays.
        is_flat = array.rank == 1 and plain.unread is not None and not self._text.is_translated
        if not is_flat and all(one.address is None for one in effects):
            return plain
        del self._affine.needs[needs:], self._affine.wraps[wraps:]
        return self._flat(effects, is_written=is_written)

    def extents_of(
        self, array: Variable, shape: Shape, changed: Collection[Variable]
    ) -> list[isl.PwAff | None]:
        """The extents of a flat array in a shape, the first one None where its declaration does not say it.

        changed  variables whose values the region may find different from those that its declaration found
        """
        (extent,) = array.extents
        size: Formula | None = None
        if isinstance(extent, int):
            size = Formula.constant(extent)
        elif extent is not None and set(changed).isdisjoint(named_in(walk(extent))):
            with suppress(NotAffine):
                size = self._sums.read(extent, Scope.outside()).as_formula()
        rows = None if size is None else quotient(size, shape.strides[0])
        space = Scope.outside().space
        inner = [to_pw_aff(one, space) for one in shape.extents]
        return [to_pw_aff(rows, space) if rows is not None and rows.is_affine else None, *inner]

    def _plain(self, effects: Sequence[Effect]) -> Subscripts:
        values: dict[Effect, Values] = {}
        unread: Unreadable | None = None
        for effect in effects:
            found: list[isl.PwAff | None] = []
            for subscript in effect.subscripts or ():
                try:
                    found.append(self._affine.subscript(subscript, effect.scope))
                except NotAffine as error:
                    found.append(None)
                    unread = unread or self._unreadable(error, effect)
            values[effect] = tuple(found)
        return Subscripts(values, None, unread)

    def _unreadable(self, error: NotAffine, effect: Effect) -> Unreadable:
        line = self._text.line(effect.offset)
        return Unreadable(f"line {line}: {_of_subscript(error.message)}", error)

    # ------------------------------------------------ flat arrays

    def _flat(self, effects: Sequence[Effect], *, is_written: bool) -> Subscripts:
        sums: dict[Effect, Polynomial | None] = {}
        unread: Unreadable | None = None
        for effect in effects:
            sums[effect] = None
            try:
                sums[effect] = self._sum(effect)
            except NotAffine as error:
                unread = unread or self._unreadable(error, effect)
        known = {effect: one for effect, one in sums.items() if one is not None}
        shapes = candidate_shapes(list(known.values()))
        if not shapes:
            values: dict[Effect, Values] = {
                effect: (None if one is None else one.affine(effect.scope.space),)
                for effect, one in sums.items()
            }
            odd = next((effect for effect in known if values[effect][0] is None), None)
            return Subscripts(values, None, unread or self._without_shape(odd))
        tries = [_Rows(self._affine, self._text, shape, known) for shape in shapes]
        best = min(tries, key=lambda one: (len(one.lost), len(one.needs)))
        if not is_written and unread is None and (best.needs or best.lost):
            overlapping = _overlapping(best.shape, known)
            if overlapping is not None:
                return overlapping
        self._affine.needs += best.needs
        rank = len(best.shape.strides)
        values = {effect: best.values.get(effect, (None,) * rank) for effect in sums}
        return Subscripts(values, best.shape, unread or best.unreadable(), is_sure=best.is_sure)

    def _sum(self, effect: Effect) -> Polynomial:
        if effect.address is not None:
            if effect.address.index is None:
                raise self._text.not_affine("the pointer may point to any element", effect.offset)
            return effect.address.index.mapped(effect.scope.lifted)
        assert effect.subscripts is not None
        return self._sums.read(effect.subscripts[0], effect.scope)

    def _without_shape(self, effect: Effect | None) -> Unreadable | None:
        if effect is None:
            return None
        return _unreadable(self._text, effect, "no length of rows fits its subscripts")


def _overlapping(shape: Shape, sums: Mapping[Effect, Polynomial]) -> Subscripts | None:
    """Subscripts in a shape whose rows may overlap; None if some are no sums of multiples of its strides.

    Nothing needs to be known of the length of rows where the elements are only read.
    """
    found = {effect: shape.coefficients(value, effect.scope.space) for effect, value in sums.items()}
    values: dict[Effect, Values] = {one: tuple(parts) for one, parts in found.items() if parts is not None}
    return Subscripts(values, shape, may_overlap=True) if len(values) == len(found) else None


class _Rows:
    """The subscripts of a flat array in one shape.

    values  access -> { [i] -> [x] } in each dimension, of those that stay inside of their rows
    lost    accesses that may leave them
    needs   what must be assumed for that
    """

    def __init__(
        self, affine: AffineReader, text: CText, shape: Shape, sums: Mapping[Effect, Polynomial]
    ) -> None:
        self.shape = shape
        self._affine = affine
        self._text = text
        self._sums = sums
        self._possible = {one: affine.within_types(one.scope).intersect(one.scope.may) for one in sums}
        self._splits = {one: split(shape, value, self._possible[one]) for one, value in sums.items()}
        self.needs: list[Need] = []
        self.lost = self._assume()
        self.values: dict[Effect, Values] = {
            effect: found.subscripts
            for effect, found in self._splits.items()
            if found is not None and effect not in self.lost
        }

    def _assume(self) -> list[Effect]:
        """Take the least for granted that keeps accesses in their rows; those that leave them anyway."""
        lost = [effect for effect, found in self._splits.items() if found is None]
        waiting = {effect: one for effect, one in self._splits.items() if one and not one.beyond.is_empty()}
        excluded: isl.Set | None = None
        while waiting:
            options = {effect: one.outside.params() for effect, one in waiting.items()}
            options = {one: where for one, where in options.items() if self._may_assume(one, where)}
            if not options:
                return [*lost, *waiting]
            weakest = next(
                one
                for one, where in options.items()
                if not any(other.is_strict_subset(where) for other in options.values())
            )
            self.needs.append(self._need(weakest, options[weakest]))
            excluded = options[weakest] if excluded is None else excluded.union(options[weakest])
            allowed = excluded.complement()
            waiting = {
                effect: one
                for effect, one in waiting.items()
                if not one.beyond.intersect_params(allowed).is_empty()
            }
        return lost

    def _may_assume(self, effect: Effect, excluded: isl.Set) -> bool:
        """Whether sizes { : } can be excluded: some are left that a simple condition says.

        A subscript without a row is rather one of an array of one dimension.
        """
        if all(one.is_constant for one in self._sums[effect].strides()):
            return False
        outside = Scope.outside()
        known = self._affine.within_types(outside).params()
        runs = self._possible[effect].params().intersect(known)
        rest = coalesced(known.subtract(excluded.gist(runs)))
        return not runs.is_subset(excluded) and rest.n_basic_set() <= max(1, known.n_basic_set())

    @property
    def is_sure(self) -> bool:
        """Whether no access leaves its row anywhere."""
        return all(one is None or one.outside.is_empty() for one in self._splits.values())

    def _need(self, effect: Effect, excluded: isl.Set) -> Need:
        words = self._words(effect)
        error = self._text.error(f"{words} may leave its row", effect.offset)
        runs, reason = effect.scope.may.params(), f"{words} stays in its row"
        return Need(excluded, runs, reason, effect.offset, error, simpler=excluded.gist(runs))

    def _words(self, effect: Effect) -> str:
        span = getattr(effect.node, "span", None)
        if span is None or not span.is_text:
            return f"an element of {effect.variable.name}"
        return " ".join(self._text.text[span.start : span.end].split())

    def unreadable(self) -> Unreadable | None:
        """The first access that may leave its rows, in words: which range is missing."""
        if not self.lost:
            return None
        effect = min(self.lost, key=lambda one: one.offset)
        found = self._splits[effect]
        if found is None or found.which is None:
            return _unreadable(self._text, effect, f"no length of rows fits {self._words(effect)}")
        what = f"{self._range(effect, found)} in {self._words(effect)}"
        return _unreadable(self._text, effect, what)

    def _range(self, effect: Effect, found: SplitSubscript) -> str:
        """What an inner subscript may be that it should not."""
        assert found.which is not None
        extent = self.shape.extents[found.which - 1]
        values = self.shape.coefficients(self._sums[effect], self._possible[effect].get_space())
        assert values is not None
        value, zero = values[found.which], to_pw_aff(Formula.constant(0), self._possible[effect].get_space())
        name = _in_words(value, [one.name for one in effect.scope.iterators]) or "a part of the subscript"
        is_high = (
            not value.sub(to_pw_aff(extent, self._possible[effect].get_space()))
            .ge_set(zero)
            .intersect(found.beyond)
            .is_empty()
        )
        return f"{name} may be {extent} or more" if is_high else f"{name} may be below 0"


def _unreadable(text: CText, effect: Effect, what: str) -> Unreadable:
    error = text.not_affine(what, effect.offset)
    return Unreadable(f"line {text.line(effect.offset)}: {what}", error)


def _of_subscript(message: str) -> str:
    """What is wrong with a subscript, in the words of a message that points at it."""
    return f"a subscript {rest}" if (rest := message.removeprefix("this ")) != message else message


def _in_words(value: isl.PwAff, names: Sequence[str]) -> str | None:
    """An affine value { [i] -> [v] } in C; None if it has several cases."""
    pieces = value.get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
        return None
    aff = pieces[0][1]
    total = from_aff(aff)
    for k, name in enumerate(names):
        total += Formula.name(name) * aff.get_coefficient_val(isl.dim_type.in_, k).to_python()
    return str(total)
