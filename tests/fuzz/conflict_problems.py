"""Random conflicts without a program, as plain data: printed as problem files, listed without isl."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fuzz.affine import Condition, Context, Form, Values, all_hold, between, conjunction, random_context
from support.reference import Cell

NAMES = ("N", "M", "K")


@dataclass(frozen=True)
class Piece:
    """Some conflicts: the differences in a box, where all conditions hold.

    box         lowest and highest difference in each dimension
    conditions  on the differences d0, d1 ... and the parameters
    """

    box: tuple[tuple[Form, Form], ...]
    conditions: tuple[Condition, ...] = ()

    @property
    def constraints(self) -> tuple[Condition, ...]:
        sides = (between(low, Form.name(f"d{k}"), high) for k, (low, high) in enumerate(self.box))
        return (*itertools.chain(*sides), *self.conditions)

    def has(self, difference: Cell, params: Values) -> bool:
        return all_hold(self.constraints, {**params, **{f"d{k}": d for k, d in enumerate(difference)}})


@dataclass(frozen=True)
class ConflictCase:
    """An array and the conflicts of its cells.

    extents   lowest and highest index in each dimension
    is_pairs  conflicts are given as pairs of cells, not as differences
    """

    context: Context
    extents: tuple[tuple[Form, Form], ...]
    pieces: tuple[Piece, ...]
    is_pairs: bool

    @property
    def rank(self) -> int:
        return len(self.extents)

    def text(self) -> str:
        prefix = self.context.prefix
        names = [f"i{k}" for k in range(self.rank)]
        box = self._box(names)
        lines = [f'context = "{self.context.text()}"'] if self.context.parameters else []
        lines.append(f'array = "{prefix}{{ A[{", ".join(names)}] : {conjunction(box)} }}"')
        if self.is_pairs:
            others = [f"j{k}" for k in range(self.rank)]
            steps = {f"d{k}": Form(0, ((f"j{k}", 1), (f"i{k}", -1))) for k in range(self.rank)}
            head = f"A[{', '.join(names)}] -> A[{', '.join(others)}]"
            ends = [*box, *self._box(others)]
            pieces = [[*ends, *(_put_in(c, steps) for c in piece.constraints)] for piece in self.pieces]
        else:
            head = f"A[{', '.join(f'd{k}' for k in range(self.rank))}]"
            pieces = [list(piece.constraints) for piece in self.pieces]
        key = "conflicts" if self.is_pairs else "differences"
        union = "; ".join(f"{head} : {conjunction(piece)}" for piece in pieces)
        lines.append(f'{key} = "{prefix}{{ {union} }}"')
        return "\n".join(lines)

    def _box(self, names: list[str]) -> list[Condition]:
        ends = zip(names, self.extents, strict=True)
        return list(itertools.chain(*(between(low, Form.name(name), high) for name, (low, high) in ends)))

    # ------------------------------------------------------------ enumeration

    def cells(self, params: Values) -> list[Cell]:
        sides = (range(low.at(params), high.at(params) + 1) for low, high in self.extents)
        return list(itertools.product(*sides))

    def conflict(self, x: Cell, y: Cell, params: Values) -> bool:
        step = tuple(b - a for a, b in zip(x, y, strict=True))
        back = tuple(-d for d in step)
        return any(step) and any(p.has(step, params) or p.has(back, params) for p in self.pieces)

    def is_inside(self, cell: Cell, params: Values) -> bool:
        ends = zip(cell, self.extents, strict=True)
        return all(low.at(params) <= index <= high.at(params) for index, (low, high) in ends)


def _put_in(condition: Condition, forms: dict[str, Form]) -> Condition:
    total = Form(condition.form.constant)
    for name, coefficient in condition.form.terms:
        total = total + forms.get(name, Form.name(name)) * coefficient
    return replace(condition, form=total)


# ---------------------------------------------------------------- random cases


def random_conflicts(choose: random.Random) -> ConflictCase:
    """An array of up to three dimensions, with up to three pieces of conflicts."""
    names = list(NAMES[: choose.choice([0, 1, 1, 1, 1, 2, 2, 3])])
    context = random_context(choose, names)
    rank = choose.choice([1, 1, 1, 2, 2, 2, 2, 3])
    extents = tuple((_low(choose), _high(choose, names)) for _ in range(rank))
    pieces = tuple(_piece(choose, names, extents) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    return ConflictCase(context, extents, pieces, choose.random() < 0.5)


def _low(choose: random.Random) -> Form:
    return Form(choose.choice([0, 0, 0, 0, 1, -1]))


def _high(choose: random.Random, names: list[str]) -> Form:
    if names and choose.random() < 0.8:
        name = choose.choice(names)
        return Form(choose.choice([-1, -1, -1, 0, -2, 1]), ((name, choose.choice([1, 1, 1, 2])),))
    return Form(choose.randint(0, 4))


def _piece(choose: random.Random, names: list[str], extents: tuple[tuple[Form, Form], ...]) -> Piece:
    box: list[tuple[Form, Form]] = []
    for low, high in extents:
        width = high - low
        ends = [Form(0), Form(1), Form(2), width, width + -1, Form(-1), width * -1]
        ends += [Form(choose.choice([0, -2]), ((name, 1),)) for name in names]
        first, second = choose.choice(ends), choose.choice(ends)
        box.append((first * choose.choice([-1, -1, 1]), second))
    conditions: list[Condition] = []
    if len(box) > 1 and choose.random() < 0.3:
        skew = Form(
            choose.choice([0, 1, 2]), (("d0", choose.choice([1, -1, 2])), ("d1", choose.choice([1, -1])))
        )
        conditions.append(Condition(skew))
    if choose.random() < 0.2:
        form = Form.name(f"d{choose.randrange(len(box))}")
        conditions.append(Condition(form, modulus=choose.choice([2, 3]), residue=0))
    if names and choose.random() < 0.15:
        conditions.append(Condition(Form(-choose.randint(1, 4), ((choose.choice(names), 1),))))
    return Piece(tuple(box), tuple(conditions))


# ---------------------------------------------------------------- shrinking


def smaller_conflicts(case: ConflictCase) -> Iterator[ConflictCase]:
    """Fewer pieces and simpler bounds; for parameters and dimensions see the functions below."""
    for k in range(len(case.pieces) if len(case.pieces) > 1 else 0):
        yield replace(case, pieces=(*case.pieces[:k], *case.pieces[k + 1 :]))
    for k, piece in enumerate(case.pieces):
        for other in _smaller_pieces(piece):
            yield replace(case, pieces=(*case.pieces[:k], other, *case.pieces[k + 1 :]))
    for k, (low, high) in enumerate(case.extents):
        ends = [(other, high) for other in low.smaller()] + [(low, other) for other in high.smaller()]
        for other in ends:
            yield replace(case, extents=(*case.extents[:k], other, *case.extents[k + 1 :]))
    for context in case.context.smaller():
        yield replace(case, context=context)


def fixed(case: ConflictCase, name: str, number: int) -> ConflictCase:
    """The case without a parameter, a number in its place."""

    def form(one: Form) -> Form:
        return one.without({name}) + number * dict(one.terms).get(name, 0)

    def ends(box: tuple[tuple[Form, Form], ...]) -> tuple[tuple[Form, Form], ...]:
        return tuple((form(low), form(high)) for low, high in box)

    def conditions(items: tuple[Condition, ...]) -> tuple[Condition, ...]:
        return tuple(replace(one, form=form(one.form)) for one in items)

    left = tuple(other for other in case.context.parameters if other != name)
    kept = tuple(one for one in conditions(case.context.conditions) if one.names())
    pieces = tuple(Piece(ends(piece.box), conditions(piece.conditions)) for piece in case.pieces)
    return ConflictCase(Context(left, kept), ends(case.extents), pieces, case.is_pairs)


def without_dimension(case: ConflictCase, k: int) -> ConflictCase:
    """The case with one index less."""
    names = {f"d{j}": f"d{j - 1}" for j in range(k + 1, case.rank)}

    def cut(piece: Piece) -> Piece:
        kept = tuple(c.renamed(names) for c in piece.conditions if f"d{k}" not in c.names())
        return Piece((*piece.box[:k], *piece.box[k + 1 :]), kept)

    extents = (*case.extents[:k], *case.extents[k + 1 :])
    return replace(case, extents=extents, pieces=tuple(map(cut, case.pieces)))


def _smaller_pieces(piece: Piece) -> Iterator[Piece]:
    for k in range(len(piece.conditions)):
        yield replace(piece, conditions=(*piece.conditions[:k], *piece.conditions[k + 1 :]))
    for k, (low, high) in enumerate(piece.box):
        ends = [(other, high) for other in low.smaller()] + [(low, other) for other in high.smaller()]
        for other in ends:
            yield replace(piece, box=(*piece.box[:k], other, *piece.box[k + 1 :]))
