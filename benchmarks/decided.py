"""How many random mappings with parameters in their coefficients the judge decides.

    python benchmarks/decided.py [--mappings 200] [--first SEED] [--class NAME ...] [--show]

The programs are those of `gap.py`. A third of the mappings are random rows; the others are made from the
mapping that `auto` finds: its rows are multiplied by units of their modulus and changed by multiples of it,
and half of these get a modulus that is a little off. Each verdict is compared with enumeration at a few
sizes: a proof must hold there, and the cells of a counterexample must conflict. What enumeration refutes and
what it does not is counted apart.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from arrayfold.base.errors import ArrayfoldError
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import parameter_names
from arrayfold.exact.lattice import Vector
from arrayfold.fold.analysis import Analysis
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.judge.verify import Counterexample, Proof, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.methods import Request
from arrayfold.methods.exhaustive import differences_at
from arrayfold.select.choose import choose
from gap import CLASSES, program_text

_SIZES = (3, 4, 5, 6, 8)
_KINDS = ("dense box", "triangle", "guarded", "two parameters", "parallel", "box in three dimensions")
_UNITS = (-1, 2, 3, 5, 7)


def random_formula(numbers: random.Random, names: Sequence[str]) -> Formula:
    """A small polynomial, mostly with a parameter."""
    formula = Formula.constant(numbers.choice((-2, -1, 0, 1, 1, 2)))
    for name in names:
        formula += Formula.name(name) * numbers.choice((-1, 0, 1, 1, 2))
    if numbers.random() < 0.25:
        formula *= Formula.name(numbers.choice(names))
    return formula


def random_mapping(numbers: random.Random, conflicts: Conflicts, names: Sequence[str]) -> ModularMapping:
    """Rows and moduli without any relation to the conflicts."""
    count = numbers.choice((1, 1, 2))
    array = conflicts.array
    rows = [[random_formula(numbers, names) for _ in array.dimensions] for _ in range(count)]
    moduli = [
        Formula.name(numbers.choice(names)) * numbers.choice((1, 2)) * random_factor(numbers, names)
        + numbers.choice((-1, 0, 1, 2))
        for _ in range(count)
    ]
    return ModularMapping.of(array.name, array.dimensions, rows, moduli)


def random_factor(numbers: random.Random, names: Sequence[str]) -> Formula:
    """1, or a parameter."""
    return Formula.name(numbers.choice(names)) if numbers.random() < 0.4 else Formula.constant(1)


def disguised(numbers: random.Random, mapping: ModularMapping, names: Sequence[str]) -> ModularMapping:
    """A mapping with the same classes, or one with a modulus that is a little off."""
    rows: list[list[Formula]] = []
    moduli: list[Formula] = []
    is_off = numbers.random() < 0.5
    for row, modulus in zip(mapping.matrix, mapping.moduli, strict=True):
        new = modulus + numbers.choice((-1, 1, 2)) if is_off else modulus
        unit = numbers.choice(_UNITS) if numbers.random() < 0.5 else 1
        if any(math.gcd(unit, modulus.at(dict.fromkeys(names, size))) > 1 for size in _SIZES):
            unit = 1
        times = [numbers.choice((0, 0, 1, -1)) for _ in row]
        rows.append([entry * unit + modulus * by for entry, by in zip(row, times, strict=True)])
        moduli.append(new)
    return ModularMapping.of(mapping.array, mapping.dimensions, rows, moduli, mapping.offset)


def is_valid_at(conflicts: Conflicts, mapping: ModularMapping, names: Sequence[str]) -> bool:
    """Whether no conflicting cells share an address at a few sizes, by enumeration."""
    for size in _SIZES:
        sizes = {name: size + k for k, name in enumerate(names)}
        rows = [
            ([entry.at(sizes) for entry in row], modulus.at(sizes))
            for row, modulus in zip(mapping.matrix, mapping.moduli, strict=True)
        ]
        if any(shares(rows, step) for step in differences_at(conflicts, sizes)):
            return False
    return True


def shares(rows: Sequence[tuple[Sequence[int], int]], step: Vector) -> bool:
    """Whether cells that differ by a vector have one address."""
    return all(sum(a * b for a, b in zip(row, step, strict=True)) % by == 0 for row, by in rows)


def is_positive(mapping: ModularMapping, names: Sequence[str]) -> bool:
    """Whether all moduli are positive at the sizes that are enumerated."""
    return all(
        modulus.at({name: size + k for k, name in enumerate(names)}) >= 1
        for modulus in mapping.moduli
        for size in _SIZES
    )


def verdict_on(conflicts: Conflicts, mapping: ModularMapping, names: Sequence[str]) -> tuple[str, bool]:
    """What the judge says, and whether enumeration finds the mapping valid."""
    valid = is_valid_at(conflicts, mapping, names)
    try:
        verdict = verify(conflicts, mapping)
    except ArrayfoldError:
        return "refused", valid
    if isinstance(verdict, Proof):
        assert valid, f"{mapping} is proved and wrong"
        return "proved", valid
    if isinstance(verdict, Counterexample):
        one, other = verdict.cells
        step = tuple(b - a for a, b in zip(one, other, strict=True))
        assert step in differences_at(conflicts, verdict.params)
        assert mapping.address(one, verdict.params) == mapping.address(other, verdict.params)
        return "refuted", valid
    return "undecided", valid


def main() -> None:
    """Judge, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mappings", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--class", dest="kinds", action="append", choices=[*CLASSES])
    parser.add_argument("--show", action="store_true", help="what is not decided")
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    counts: Counter[tuple[str, bool]] = Counter()
    kinds: Sequence[str] = options.kinds or _KINDS
    plan = ((seed, kind) for seed in itertools.count(options.first) for kind in kinds)
    while sum(counts.values()) < options.mappings:
        seed, kind = next(plan)
        numbers = random.Random(f"decided {kind} {seed}")
        (array,) = Analysis.of(problem := read_problem("random.toml", program_text(kind, seed))).foldable()
        conflicts = Analysis.of(problem).conflicts(array)
        names = sorted(parameter_names(conflicts.context))
        best = choose("auto", conflicts, Request.of(conflicts, {})).mapping
        assert isinstance(best, ModularMapping)
        plain = best.without_divisors()
        mappings = [random_mapping(numbers, conflicts, names)]
        mappings += [disguised(numbers, plain, names) for _ in range(2) if not best.divisors]
        for mapping in mappings:
            if not is_positive(mapping, names):
                continue
            found = verdict_on(conflicts, mapping, names)
            counts[found] += 1
            if options.show and found[0] == "undecided":
                console.print(f"{kind} {seed}: {mapping}", markup=False, highlight=False)
    table = Table("verdict", "valid where enumerated", "invalid there")
    for word in ("proved", "refuted", "undecided", "refused"):
        table.add_row(word, str(counts[word, True]), str(counts[word, False]))
    console.print(table)
    total = sum(counts.values())
    decided = sum(count for (word, _), count in counts.items() if word in ("proved", "refuted"))
    console.print(f"decided: {decided} of {total}, {decided / total:.1%}")


if __name__ == "__main__":
    main()
