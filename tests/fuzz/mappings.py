"""Random mappings of random conflicts: what the judge proves holds at small sizes, refutations are real."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from arrayfold._budget import Budget
from arrayfold.analysis import Analysis
from arrayfold.errors import ArrayfoldError
from arrayfold.frontends.problem import read_problem
from arrayfold.mapping_text import read_mappings
from arrayfold.verify import Counterexample, Proof, verify
from fuzz import formulas
from fuzz.affine import Condition, Context, Form, Values, all_hold, between, conjunction, random_context
from fuzz.formulas import Formula
from fuzz.kind import Failure, Outcome, Refused
from fuzz.text_of_cases import read_case, with_case
from reference import Cell

_MOST_SIZES = 12
_MOST_CELLS = 60
_BUDGET = 4.0


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
class Row:
    """(coefficients . cell + offset) mod modulus."""

    coefficients: tuple[Formula, ...]
    offset: Formula
    modulus: Formula


@dataclass(frozen=True)
class MappingCase:
    """An array, the conflicts of its cells, and a mapping.

    extents   lowest and highest index in each dimension
    is_pairs  conflicts are given as pairs of cells, not as differences
    """

    context: Context
    extents: tuple[tuple[Form, Form], ...]
    pieces: tuple[Piece, ...]
    is_pairs: bool
    rows: tuple[Row, ...]

    @property
    def rank(self) -> int:
        return len(self.extents)

    def problem_text(self) -> str:
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

    def mapping_text(self) -> str:
        rows: list[str] = []
        for row in self.rows:
            terms = [f"{formulas.text(c)}*i{k}" for k, c in enumerate(row.coefficients)]
            rows.append(
                f"({' + '.join([*terms, formulas.text(row.offset)])}) mod ({formulas.text(row.modulus)})"
            )
        return f"A[{', '.join(f'i{k}' for k in range(self.rank))}] -> [{', '.join(rows)}]"

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

    def address(self, cell: Cell, params: Values) -> tuple[Fraction, ...]:
        found: list[Fraction] = []
        for row in self.rows:
            terms = (formulas.value(c, params) * x for c, x in zip(row.coefficients, cell, strict=True))
            found.append(
                (sum(terms) + formulas.value(row.offset, params)) % formulas.value(row.modulus, params)
            )
        return tuple(found)

    def without_trivial_rows(self, address: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """The address as the tool prints it: rows modulo 1 say nothing."""
        return tuple(a for a, row in zip(address, self.rows, strict=True) if not _is_one(row.modulus))

    def wrong_numbers(self, params: Values) -> str | None:
        """A modulus that is no positive whole number, or another number that is not whole."""
        for row in self.rows:
            modulus = formulas.value(row.modulus, params)
            if modulus.denominator != 1 or modulus < 1:
                return f"the modulus {formulas.text(row.modulus)} is {modulus}"
            for other in (*row.coefficients, row.offset):
                if formulas.value(other, params).denominator != 1:
                    return f"{formulas.text(other)} is {formulas.value(other, params)}"
        return None


def _is_one(formula: Formula) -> bool:
    """Whether a formula is 1 whatever the sizes are."""
    return all(formulas.value(formula, dict.fromkeys("NMK", n)) == 1 for n in (0, 1, 10, 1000))


def _put_in(condition: Condition, forms: dict[str, Form]) -> Condition:
    total = Form(condition.form.constant)
    for name, coefficient in condition.form.terms:
        total = total + forms.get(name, Form.name(name)) * coefficient
    return replace(condition, form=total)


# ---------------------------------------------------------------- random cases


def random_case(choose: random.Random) -> MappingCase:
    names = ["N", "M", "K"][: choose.choice([0, 1, 1, 1, 1, 2, 2, 3])]
    context = random_context(choose, names)
    rank = choose.choice([1, 1, 1, 2, 2, 2, 2, 3])
    extents = tuple((_low(choose), _high(choose, names)) for _ in range(rank))
    pieces = tuple(_piece(choose, names, extents) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    rows = tuple(_row(choose, names, rank, extents, pieces) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    return MappingCase(context, extents, pieces, choose.random() < 0.5, rows)


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


def _row(
    choose: random.Random,
    names: list[str],
    rank: int,
    extents: tuple[tuple[Form, Form], ...],
    pieces: tuple[Piece, ...],
) -> Row:
    k = choose.randrange(rank)
    if choose.random() < 0.5:
        coefficients = [int(j == k) for j in range(rank)]
    else:
        coefficients = [choose.choice([0, 1, 1, -1, 2, -2, 3]) for _ in range(rank)]
    if names and choose.random() < 0.25:
        coefficients[choose.randrange(rank)] = formulas.random_formula(choose, names, 1)
    low, high = extents[k]
    wide = choose.choice([high - low + 1, *(piece.box[k][1] + 1 for piece in pieces)])
    modulus: Formula = formulas.of_form(wide)
    pick = choose.random()
    if pick < 0.25:
        modulus = formulas.random_formula(choose, names)
    elif pick < 0.5:
        modulus = choose.choice(
            [
                ("max", modulus, choose.choice([1, 2, 3])),
                ("max", modulus, formulas.random_formula(choose, names, 1)),
                ("floor", ("+", ("*", 2, modulus), choose.choice([0, 1])), 2),
                ("max", ("/", modulus, 2), 2),
                ("floor", modulus, 2),
                ("+", modulus, choose.choice([-1, 1, 2])),
                ("*", modulus, choose.choice([2, *names])),
            ]
        )
    offset = choose.choice([0, 0, 0, 1, -1, *names])
    return Row(tuple(coefficients), offset, modulus)


# ---------------------------------------------------------------- the kind


class Mappings:
    """Mappings against the judge."""

    name = "mappings"
    share = 1.0
    seconds = 10.0
    memory = 3 << 30

    def generate(self, choose: random.Random) -> MappingCase:
        return random_case(choose)

    def check(self, case: MappingCase) -> Outcome:
        budget = Budget(_BUDGET)
        try:
            problem = read_problem("fuzz.toml", case.problem_text())
            conflicts = Analysis.of(problem, budget).conflicts("A", budget)
            (mapping,) = read_mappings(case.mapping_text(), problem)
            with budget.limit("the verification"):
                verdict = verify(conflicts, mapping)
        except ArrayfoldError as error:
            return Refused(type(error).__name__)
        if isinstance(verdict, Counterexample):
            return self._is_real(case, verdict)
        return self._has_no_collision(case) if isinstance(verdict, Proof) else Refused("undecided")

    def _is_real(self, case: MappingCase, found: Counterexample) -> Outcome:
        params = {name: found.params.get(name, 0) for name in case.context.parameters}
        x, y = found.cells
        if set(found.params) - set(case.context.parameters) or not case.context.allows(params):
            return Failure("counterexample outside of the context", str(found))
        if not (case.is_inside(x, params) and case.is_inside(y, params)):
            return Failure("counterexample with a cell outside of the array", str(found))
        if not case.conflict(x, y, params):
            return Failure("counterexample of cells that do not conflict", str(found))
        if wrong := case.wrong_numbers(params):
            return Failure("counterexample of a mapping that makes no sense", f"{found}; {wrong}")
        one, other = case.address(x, params), case.address(y, params)
        if one != other or found.address not in (one, case.without_trivial_rows(one)):
            return Failure("counterexample with wrong addresses", f"{found}; they are {one} and {other}")
        return None

    def _has_no_collision(self, case: MappingCase) -> Outcome:
        for params in case.context.sizes(_MOST_SIZES):
            cells = case.cells(params)
            if not cells or len(cells) > _MOST_CELLS:
                continue
            if wrong := case.wrong_numbers(params):
                return Failure("proved with wrong numbers", f"at {params} {wrong}")
            sharing: dict[tuple[Fraction, ...], list[Cell]] = {}
            for cell in cells:
                sharing.setdefault(case.address(cell, params), []).append(cell)
            for address, group in sharing.items():
                for x, y in itertools.combinations(group, 2):
                    if case.conflict(x, y, params):
                        detail = f"at {params} A{list(x)} and A{list(y)} conflict and share {address}"
                        return Failure("proved with a collision", detail)
        return None

    # ------------------------------------------------------------ shrinking and files

    def shrink(self, case: MappingCase) -> Iterator[MappingCase]:
        for field in ("pieces", "rows"):
            items = getattr(case, field)
            if len(items) > 1:
                for k in range(len(items)):
                    yield replace(case, **{field: (*items[:k], *items[k + 1 :])})
        for name in case.context.parameters:
            for number in (1, 2, 3):
                yield _fixed(case, name, number)
        for k in range(case.rank if case.rank > 1 else 0):
            yield _without_dimension(case, k)
        for k, piece in enumerate(case.pieces):
            for other in _smaller_pieces(piece):
                yield replace(case, pieces=(*case.pieces[:k], other, *case.pieces[k + 1 :]))
        for k, row in enumerate(case.rows):
            for other in _smaller_rows(row):
                yield replace(case, rows=(*case.rows[:k], other, *case.rows[k + 1 :]))
        for k, (low, high) in enumerate(case.extents):
            ends = [(other, high) for other in low.smaller()] + [(low, other) for other in high.smaller()]
            for other in ends:
                yield replace(case, extents=(*case.extents[:k], other, *case.extents[k + 1 :]))
        for context in case.context.smaller():
            yield replace(case, context=context)

    def write(self, case: MappingCase, failure: Failure | None, folder: Path, stem: str) -> str:
        file = folder / f"{stem}.toml"
        head = f"# {failure.what if failure else ''}\n# mapping: {case.mapping_text()}\n"
        file.write_text(with_case(head + case.problem_text(), case))
        check = f'arrayfold check {file} --mapping "{case.mapping_text()}"'
        return f"{check}\n  python -m tests.fuzz --replay {file}"

    def read(self, file: Path) -> MappingCase:
        return read_case(file, [MappingCase, Context, Condition, Form, Piece, Row])


def _fixed(case: MappingCase, name: str, number: int) -> MappingCase:
    """The case without a parameter, a number in its place."""

    def form(one: Form) -> Form:
        return one.without({name}) + number * dict(one.terms).get(name, 0)

    def ends(box: tuple[tuple[Form, Form], ...]) -> tuple[tuple[Form, Form], ...]:
        return tuple((form(low), form(high)) for low, high in box)

    def conditions(items: tuple[Condition, ...]) -> tuple[Condition, ...]:
        return tuple(replace(one, form=form(one.form)) for one in items)

    def formula(one: Formula) -> Formula:
        if isinstance(one, tuple):
            return (one[0], *map(formula, one[1:]))
        return number if one == name else one

    left = tuple(other for other in case.context.parameters if other != name)
    kept = tuple(one for one in conditions(case.context.conditions) if one.names())
    rows = tuple(
        Row(tuple(map(formula, row.coefficients)), formula(row.offset), formula(row.modulus))
        for row in case.rows
    )
    pieces = tuple(Piece(ends(piece.box), conditions(piece.conditions)) for piece in case.pieces)
    return MappingCase(Context(left, kept), ends(case.extents), pieces, case.is_pairs, rows)


def _without_dimension(case: MappingCase, k: int) -> MappingCase:
    names = {f"d{j}": f"d{j - 1}" for j in range(k + 1, case.rank)}

    def cut(piece: Piece) -> Piece:
        kept = tuple(c.renamed(names) for c in piece.conditions if f"d{k}" not in c.names())
        return Piece((*piece.box[:k], *piece.box[k + 1 :]), kept)

    rows = tuple(
        replace(row, coefficients=(*row.coefficients[:k], *row.coefficients[k + 1 :])) for row in case.rows
    )
    extents = (*case.extents[:k], *case.extents[k + 1 :])
    return replace(case, extents=extents, pieces=tuple(map(cut, case.pieces)), rows=rows)


def _smaller_pieces(piece: Piece) -> Iterator[Piece]:
    for k in range(len(piece.conditions)):
        yield replace(piece, conditions=(*piece.conditions[:k], *piece.conditions[k + 1 :]))
    for k, (low, high) in enumerate(piece.box):
        ends = [(other, high) for other in low.smaller()] + [(low, other) for other in high.smaller()]
        for other in ends:
            yield replace(piece, box=(*piece.box[:k], other, *piece.box[k + 1 :]))


def _smaller_rows(row: Row) -> Iterator[Row]:
    if row.offset != 0:
        yield replace(row, offset=0)
    for k, entry in enumerate(row.coefficients):
        if entry != 0:
            yield replace(row, coefficients=(*row.coefficients[:k], 0, *row.coefficients[k + 1 :]))
        for other in formulas.smaller(entry):
            yield replace(row, coefficients=(*row.coefficients[:k], other, *row.coefficients[k + 1 :]))
    for other in formulas.smaller(row.modulus):
        yield replace(row, modulus=other)
