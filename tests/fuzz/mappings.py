"""Random mappings of random conflicts: what the judge proves holds at small sizes, refutations are real."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.parse import read_mappings
from fuzz import formulas
from fuzz.affine import Condition, Context, Form, Values
from fuzz.conflict_problems import (
    ConflictCase,
    Piece,
    fixed,
    random_conflicts,
    smaller_conflicts,
    without_dimension,
)
from fuzz.formulas import Formula
from fuzz.kind import Failure, Outcome, Refused
from fuzz.text_of_cases import read_case, with_case
from support.reference import Cell

_MOST_SIZES = 12
_MOST_CELLS = 60
_BUDGET = 2.0


@dataclass(frozen=True)
class Row:
    """(coefficients . cell + offset) mod modulus."""

    coefficients: tuple[Formula, ...]
    offset: Formula
    modulus: Formula


@dataclass(frozen=True)
class MappingCase:
    """Conflicts and a mapping."""

    conflicts: ConflictCase
    rows: tuple[Row, ...]

    def mapping_text(self) -> str:
        rows: list[str] = []
        for row in self.rows:
            terms = [f"{formulas.text(c)}*i{k}" for k, c in enumerate(row.coefficients)]
            rows.append(
                f"({' + '.join([*terms, formulas.text(row.offset)])}) mod ({formulas.text(row.modulus)})"
            )
        return f"A[{', '.join(f'i{k}' for k in range(self.conflicts.rank))}] -> [{', '.join(rows)}]"

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
    return all(formulas.value(formula, dict.fromkeys("NMK", n)) == 1 for n in (-7, 0, 1, 10, 1000))


# ---------------------------------------------------------------- random cases


def random_case(choose: random.Random) -> MappingCase:
    """Rows of small numbers and of formulas, moduli near what the conflicts need."""
    conflicts = random_conflicts(choose)
    rows = tuple(_row(choose, conflicts) for _ in range(choose.choice([1, 1, 1, 2, 2, 3])))
    return MappingCase(conflicts, rows)


def _row(choose: random.Random, case: ConflictCase) -> Row:
    names, rank = case.context.parameters, case.rank
    k = choose.randrange(rank)
    if choose.random() < 0.5:
        coefficients = [int(j == k) for j in range(rank)]
    else:
        coefficients = [choose.choice([0, 1, 1, -1, 2, -2, 3]) for _ in range(rank)]
    if names and choose.random() < 0.25:
        coefficients[choose.randrange(rank)] = formulas.random_formula(choose, names, 1)
    low, high = case.extents[k]
    wide = choose.choice([high - low + 1, *(piece.box[k][1] + 1 for piece in case.pieces)])
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
            problem = read_problem("fuzz.toml", case.conflicts.text())
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
        params = {name: found.params.get(name, 0) for name in case.conflicts.context.parameters}
        x, y = found.cells
        if set(found.params) - set(case.conflicts.context.parameters) or not case.conflicts.context.allows(
            params
        ):
            return Failure("counterexample outside of the context", str(found))
        if not (case.conflicts.is_inside(x, params) and case.conflicts.is_inside(y, params)):
            return Failure("counterexample with a cell outside of the array", str(found))
        if not case.conflicts.conflict(x, y, params):
            return Failure("counterexample of cells that do not conflict", str(found))
        if wrong := case.wrong_numbers(params):
            return Failure("counterexample of a mapping that makes no sense", f"{found}; {wrong}")
        one, other = case.address(x, params), case.address(y, params)
        if one != other or found.address not in (one, case.without_trivial_rows(one)):
            return Failure("counterexample with wrong addresses", f"{found}; they are {one} and {other}")
        return None

    def _has_no_collision(self, case: MappingCase) -> Outcome:
        for params in case.conflicts.context.sizes(_MOST_SIZES):
            cells = case.conflicts.cells(params)
            if not cells or len(cells) > _MOST_CELLS:
                continue
            if wrong := case.wrong_numbers(params):
                return Failure("proved with wrong numbers", f"at {params} {wrong}")
            sharing: dict[tuple[Fraction, ...], list[Cell]] = {}
            for cell in cells:
                sharing.setdefault(case.address(cell, params), []).append(cell)
            for address, group in sharing.items():
                for x, y in itertools.combinations(group, 2):
                    if case.conflicts.conflict(x, y, params):
                        detail = f"at {params} A{list(x)} and A{list(y)} conflict and share {address}"
                        return Failure("proved with a collision", detail)
        return None

    # ------------------------------------------------------------ shrinking and files

    def shrink(self, case: MappingCase) -> Iterator[MappingCase]:
        for k in range(len(case.rows) if len(case.rows) > 1 else 0):
            yield replace(case, rows=(*case.rows[:k], *case.rows[k + 1 :]))
        for name in case.conflicts.context.parameters:
            for number in (1, 2, 3):
                rows = tuple(_fixed_row(row, name, number) for row in case.rows)
                yield MappingCase(fixed(case.conflicts, name, number), rows)
        for k in range(case.conflicts.rank if case.conflicts.rank > 1 else 0):
            rows = tuple(
                replace(row, coefficients=(*row.coefficients[:k], *row.coefficients[k + 1 :]))
                for row in case.rows
            )
            yield MappingCase(without_dimension(case.conflicts, k), rows)
        for conflicts in smaller_conflicts(case.conflicts):
            yield replace(case, conflicts=conflicts)
        for k, row in enumerate(case.rows):
            for other in _smaller_rows(row):
                yield replace(case, rows=(*case.rows[:k], other, *case.rows[k + 1 :]))

    def write(self, case: MappingCase, failure: Failure | None, folder: Path, stem: str) -> str:
        file = folder / f"{stem}.toml"
        head = f"# {failure.what if failure else ''}\n# mapping: {case.mapping_text()}\n"
        file.write_text(with_case(head + case.conflicts.text(), case))
        check = f'arrayfold check {file} --mapping "{case.mapping_text()}"'
        return f"{check}\n  python -m tests.fuzz --replay {file}"

    def read(self, file: Path) -> MappingCase:
        return read_case(file, [MappingCase, ConflictCase, Context, Condition, Form, Piece, Row])


def _fixed_row(row: Row, name: str, number: int) -> Row:
    def formula(one: Formula) -> Formula:
        if isinstance(one, tuple):
            return (one[0], *map(formula, one[1:]))
        return number if one == name else one

    return Row(tuple(map(formula, row.coefficients)), formula(row.offset), formula(row.modulus))


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
