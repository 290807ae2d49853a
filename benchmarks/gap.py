"""How far `auto` is from the smallest lattice on random programs, as a table by class.

    python benchmarks/gap.py [--programs 300] [--first SEED] [--class NAME ...] [--seconds 60] [--show]

Each program is folded for all sizes of its context. At a few sizes the differences of its conflicting
cells are enumerated, and all lattices are tried from the smallest index on; the lattices are those of the
group that the differences generate, so that cells with a stride count as the neighbours that they are. The
answer at a size is that of the case that holds there, or the mapping for all sizes. A program is equal to
the optimum if it is so at all of these sizes; its ratio is the worst of them. Programs are made from their
numbers, so that they are always the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.isl import fix_parameters, parameter_names
from arrayfold.exact.lattice import Vector, determinant
from arrayfold.fold.arrays import fold
from arrayfold.fold.result import FoldedArray
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods.exhaustive import differences_at, smallest_lattices
from arrayfold.methods.hermite_forms import Basis

_MOST_WORK = 1_500_000
_SIZES = (9, 10, 11)


# ---------------------------------------------------------------- random programs


@dataclass(frozen=True)
class Space:
    """Iterations, and the cell that each one writes.

    parameters  of the program
    bounds      conditions on the iterators i, j, k
    guard       further conditions, or nothing
    cell        indices of the cell that an iteration writes
    """

    parameters: tuple[str, ...]
    iterators: tuple[str, ...]
    bounds: str
    guard: str
    cell: tuple[str, ...]
    parallel: int | None = None


def _steps(numbers: random.Random, rank: int, parallel: int | None) -> list[Vector]:
    """Distances from a read back to the write, lexicographically positive; none inside a parallel loop."""
    found: list[Vector] = []
    while len(found) < numbers.choice((1, 2, 2, 3)):
        step = tuple(numbers.choice((0, 0, 1, 1, 2, -1, -2)) for _ in range(rank))
        first = next((k for k, entry in enumerate(step) if entry), None)
        if first is None or first == parallel:
            continue
        found.append(step if step[first] > 0 else tuple(-entry for entry in step))
    return found


def _dense_box(numbers: random.Random) -> Space:
    sides = numbers.choice((("N", "N"), ("N", "2*N"), ("N + 2", "N"), ("N", "N - 1")))
    return Space(("N",), ("i", "j"), f"0 <= i < {sides[0]} and 0 <= j < {sides[1]}", "", ("i", "j"))


def _box_in_three(numbers: random.Random) -> Space:
    inner = numbers.choice(("N", "2", "3"))
    bounds = f"0 <= i < N and 0 <= j < N and 0 <= k < {inner}"
    return Space(("N",), ("i", "j", "k"), bounds, "", ("i", "j", "k"))


def _triangle(numbers: random.Random) -> Space:
    bounds = numbers.choice(
        (
            "0 <= i < N and 0 <= j <= i",
            "0 <= i < N and i <= j < N",
            "0 <= i < N and i <= j < i + N",
            "0 <= i < N and 0 <= j < N + i",
        )
    )
    return Space(("N",), ("i", "j"), bounds, "", ("i", "j"))


def _strided(numbers: random.Random) -> Space:
    cell = numbers.choice(
        (
            ("2*i", "j"),
            ("i", "3*j"),
            ("2*i + 1", "2*j"),
            ("i + j", "i - j"),
            ("i", "2*j + 1"),
            ("3*i", "i + 2*j"),
        )
    )
    return Space(("N",), ("i", "j"), "0 <= i < N and 0 <= j < N", "", cell)


def _guarded(numbers: random.Random) -> Space:
    guard = numbers.choice(
        ("(i + j) mod 2 = 0", "i mod 2 = 0", "j mod 2 = 1", "(i - j) mod 3 = 0", "(i + j) mod 2 = 1")
    )
    return Space(("N",), ("i", "j"), "0 <= i < N and 0 <= j < N", guard, ("i", "j"))


def _two_parameters(numbers: random.Random) -> Space:
    del numbers
    return Space(("M", "N"), ("i", "j"), "0 <= i < M and 0 <= j < N", "", ("i", "j"))


def _three_parameters(numbers: random.Random) -> Space:
    del numbers
    bounds = "0 <= i < T and 0 <= j < M and 0 <= k < N"
    return Space(("T", "M", "N"), ("i", "j", "k"), bounds, "", ("i", "j", "k"))


def _parallel(numbers: random.Random) -> Space:
    inner = numbers.choice((0, 1))
    return Space(("N",), ("i", "j"), "0 <= i < N and 0 <= j < N", "", ("i", "j"), parallel=inner)


CLASSES: Mapping[str, Callable[[random.Random], Space]] = {
    "dense box": _dense_box,
    "box in three dimensions": _box_in_three,
    "triangle": _triangle,
    "strided": _strided,
    "guarded": _guarded,
    "two parameters": _two_parameters,
    "three parameters": _three_parameters,
    "parallel": _parallel,
}


def program_text(kind: str, seed: int) -> str:
    """A problem file of a class."""
    numbers = random.Random(f"{kind} {seed}")
    space = CLASSES[kind](numbers)
    its = ", ".join(space.iterators)
    where = " and ".join(filter(None, (space.bounds, space.guard)))
    params = f"[{', '.join(space.parameters)}] -> "
    written = ", ".join(space.cell)
    reads = [_shifted(space, step, its) for step in _steps(numbers, len(space.iterators), space.parallel)]
    context = " and ".join(f"{name} >= 3" for name in space.parameters)
    lines = [
        f'context = "{params}{{ : {context} }}"',
        f'domain = "{params}{{ S[{its}] : {where} }}"',
        f'write = "{params}{{ S[{its}] -> A[{written}] }}"',
        f'read = "{params}{{ {"; ".join(reads)} }}"',
        f'schedule = "{params}{{ S[{its}] -> [{its}] }}"',
        'temporary = ["A"]',
    ]
    if space.parallel is not None:
        lines.append(f'parallel = {{ {space.parallel} = "doall" }}')
    return "\n".join(lines) + "\n"


def _shifted(space: Space, step: Vector, its: str) -> str:
    """The read of the cell that the iteration one step before wrote, where there is one."""
    before = {name: f"({name} - {by})" for name, by in zip(space.iterators, step, strict=True)}

    def moved(text: str) -> str:
        return "".join(before.get(letter, letter) for letter in text.replace("and", "&").replace("mod", "%"))

    where = " and ".join(filter(None, (space.bounds, space.guard)))
    inside = moved(where).replace("&", "and").replace("%", "mod")
    return f"S[{its}] -> A[{', '.join(map(moved, space.cell))}] : {inside}"


# ---------------------------------------------------------------- the smallest lattice


def generated(differences: set[Vector], rank: int) -> list[Vector]:
    """A basis, in echelon form, of the group that vectors generate, with axes where they span less."""
    from flint import fmpz_mat

    rows = [list(d) for d in differences] or [[0] * rank]
    echelon = [[int(entry) for entry in line] for line in fmpz_mat(rows).hnf().tolist()]
    basis = [tuple(line) for line in echelon if any(line)]
    pivots = {next(k for k, entry in enumerate(line) if entry) for line in basis}
    basis += [tuple(int(k == axis) for k in range(rank)) for axis in range(rank) if axis not in pivots]
    return sorted(basis, reverse=True)


def coordinates(vector: Vector, basis: Sequence[Vector]) -> Vector:
    """The factors of a triangular basis that make up a vector."""
    rest = list(vector)
    found: list[int] = []
    for k, line in enumerate(basis):
        factor, left = divmod(rest[k], line[k])
        assert left == 0
        rest = [a - factor * b for a, b in zip(rest, line, strict=True)]
        found.append(factor)
    return tuple(found)


def smallest(conflicts: Conflicts, sizes: Mapping[str, int]) -> int | None:
    """Cells of the smallest lattice at these sizes; None where that takes too long."""
    rank = conflicts.array.rank
    try:
        differences = differences_at(conflicts, sizes)
        basis = generated(differences, rank)
        inside = {coordinates(d, basis) for d in differences}
        found: Iterator[Basis] = smallest_lattices(inside, rank, Budget(None), most_work=_MOST_WORK)
        return abs(determinant(next(found))) if inside else 1
    except ArrayfoldError:
        return None


# ---------------------------------------------------------------- the comparison


@dataclass(frozen=True)
class Outcome:
    """One program: the worst ratio to the optimum, and the sizes at which there was one."""

    kind: str
    seed: int
    ratio: Fraction
    seconds: float
    words: str


def size_at(folded: FoldedArray, sizes: Mapping[str, int]) -> int:
    """Cells of the answer at these sizes."""
    here = fix_parameters(sizes)
    cases = [case.size for case in folded.cases if not case.when.is_disjoint(here)]
    return min(int(size.evaluate(sizes)) for size in (*cases, folded.size))


def compare(kind: str, seed: int, seconds: float) -> Outcome | None:
    """A program beside the smallest lattices at a few sizes; None where nothing can be compared."""
    problem = read_problem("random.toml", program_text(kind, seed))
    start = time.perf_counter()
    result = fold(problem, budget=seconds)
    taken = time.perf_counter() - start
    if not result.arrays:
        return None
    (folded,) = result.arrays
    names = sorted(parameter_names(folded.conflicts.context))
    worst, words = Fraction(1), ""
    compared = 0
    for size in _SIZES[:1] if len(names) > 2 else _SIZES:
        sizes = {name: size - 2 * k if k else size for k, name in enumerate(names)}
        optimum = smallest(folded.conflicts, sizes)
        if optimum is None:
            continue
        compared += 1
        ratio = Fraction(size_at(folded, sizes), optimum)
        if ratio > worst:
            worst = ratio
            words = f"{size_at(folded, sizes)} instead of {optimum} at {sizes}: {folded.mapping}"
    return Outcome(kind, seed, worst, taken, words) if compared else None


def table_of(outcomes: Sequence[Outcome]) -> Table:
    """One line a class."""
    table = Table("class", "programs", "equal", "share", "worst ratio", "seconds")
    for kind in CLASSES:
        mine = [outcome for outcome in outcomes if outcome.kind == kind]
        if mine:
            equal = sum(outcome.ratio == 1 for outcome in mine)
            worst = float(max(outcome.ratio for outcome in mine))
            seconds = sum(outcome.seconds for outcome in mine)
            share = f"{equal / len(mine):.0%}"
            table.add_row(kind, str(len(mine)), str(equal), share, f"{worst:.2f}", f"{seconds:.1f}")
    return table


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--class", dest="kinds", action="append", choices=[*CLASSES])
    parser.add_argument("--first", type=int, default=0, help="the first number from which programs are made")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--show", action="store_true", help="the programs that are not at the optimum")
    parser.add_argument("--seed", type=int, help="print this program of the class, and compare it alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    kinds: list[str] = options.kinds or [*CLASSES]
    outcomes: list[Outcome] = []
    each = options.programs // len(kinds)
    seeds = range(options.first, options.first + each + 1) if options.seed is None else [options.seed]
    plan = itertools.product(seeds, kinds)
    for seed, kind in plan if options.seed is not None else itertools.islice(plan, options.programs):
        if options.seed is not None:
            console.print(program_text(kind, seed), markup=False, highlight=False)
        outcome = compare(kind, seed, options.seconds)
        if outcome is None:
            continue
        outcomes.append(outcome)
        if options.show and outcome.ratio > 1:
            console.print(f"{kind} {seed}: {outcome.words}", markup=False, highlight=False)
    console.print(table_of(outcomes))
    if options.json:
        rows = [{"class": o.kind, "seed": o.seed, "ratio": float(o.ratio)} for o in outcomes]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
