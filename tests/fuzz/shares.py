"""Random programs whose arrays share memory: one execution after the other, all arrays at once."""

from __future__ import annotations

import json
import operator
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, NothingProved
from arrayfold.fold.arrays import fold_shared
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.report.data import fold_data
from fuzz.affine import Condition, Context, Form, Values
from fuzz.comparison import Wrong
from fuzz.executions import Concrete
from fuzz.kind import Failure, Outcome, Refused
from fuzz.printed import PrintedMapping, value
from fuzz.problems import general, small_sizes
from fuzz.program_shapes import random_program_of_arrays
from fuzz.program_shrinking import smaller_programs
from fuzz.programs import Access, Arrow, Live, Place, ProgramCase, Some, Statement, Task
from fuzz.text_of_cases import read_case, with_case

_EXECUTIONS = 4


@dataclass(frozen=True)
class ShareCase:
    """A program, and how its arrays share: arrays, offsets, cells or auto."""

    program: ProgramCase
    share: str

    def options(self) -> str:
        return " ".join(["--share", self.share, *self.program.options()])


@dataclass(frozen=True)
class Shares:
    """Arrays in one memory against executions.

    budget  of the tool in seconds; what takes longer is refused
    """

    budget: float = 1.0
    name: ClassVar[str] = "shares"
    share: ClassVar[float] = 1.0
    seconds: ClassVar[float] = 10.0
    memory: ClassVar[int | None] = 3 << 30

    def generate(self, choose: random.Random) -> ShareCase:
        program = random_program_of_arrays(choose)
        method = choose.choice(["successive-modulo", "linear", "identity", "lattice", "auto"])
        share = choose.choice(["arrays", "offsets", "offsets", "cells", "auto"])
        return ShareCase(replace(program, method=method), share)

    def check(self, case: ShareCase) -> Outcome:
        program = case.program
        try:
            problem = read_problem("fuzz.toml", program.text())
            result = fold_shared(
                problem,
                case.share,
                params=program.sizes,
                method=program.method,
                budget=Budget(self.budget),
            )
        except (BudgetExceeded, NothingProved) as error:
            return Refused(type(error).__name__)
        except ArrayfoldError as error:
            return Refused(f"{type(error).__name__}: {general(str(error))}")
        data = json.loads(json.dumps(fold_data([result]), allow_nan=False))
        choose = random.Random(program.text())
        try:
            for params, concrete in small_sizes(program, choose):
                _Memory(data, params, concrete).compare(choose)
        except Wrong as wrong:
            return wrong.failure
        return None

    def shrink(self, case: ShareCase) -> Iterator[ShareCase]:
        for program in smaller_programs(case.program):
            yield replace(case, program=program)
        if case.share == "auto":
            for share in ("arrays", "offsets", "cells"):
                yield replace(case, share=share)

    def write(self, case: ShareCase, failure: Failure | None, folder: Path, stem: str) -> str:
        file = folder / f"{stem}.toml"
        head = f"# {failure.what if failure else ''}\n# arrayfold fold {case.options()}\n"
        file.write_text(with_case(head + case.program.text(), case))
        return f"arrayfold fold {file} {case.options()}\n  python -m tests.fuzz --replay {file}"

    def read(self, file: Path) -> ShareCase:
        types = [ShareCase, ProgramCase, Context, Condition, Form, Statement, Access, Arrow, Some, Task, Live]
        return read_case(file, types)


@dataclass(frozen=True)
class _Memory:
    """Where cells are at one size, as the JSON says."""

    data: Mapping[str, Any]
    params: dict[str, int]
    program: Concrete

    def wrong(self, what: str, detail: str) -> Wrong:
        return Wrong(what, f"at {self.params}: {detail}")

    @property
    def total(self) -> Mapping[str, Any]:
        return self.data["total"][0] if self.data.get("total") else {}

    def compare(self, choose: random.Random) -> None:
        places: dict[Place, object] = {}
        for entry in self.data["arrays"]:
            for one in entry.get("members") or [entry]:
                mapping = PrintedMapping({**entry, **one})
                if mapping.only_at is None or not _differ(mapping.only_at, self.params):
                    places |= self.addresses(entry["name"], one["name"], mapping)
        arrays = {array for array, _ in places}
        for _ in range(_EXECUTIONS):
            sequence = self.program.execution(choose)
            if sequence is None:
                raise self.wrong("no execution", "the order has a cycle")
            if story := self.program.wrong_read(arrays, sequence, places.__getitem__, choose):
                raise self.wrong("wrong value", story)
        self.compare_total()

    def addresses(self, memory: str, array: str, mapping: PrintedMapping) -> dict[Place, object]:
        """The address of every cell of an array: one in a block, if it is in one."""
        cells = sorted(self.program.touched(array))
        held = {*self.program.events(array, writes=True), *self.program.live_in(array)}
        if not held:
            return {(array, cell): (array, cell) for cell in cells}
        moduli = mapping.moduli(self.params)
        if any(one.denominator != 1 or one < 1 for one in moduli):
            raise self.wrong("numbers that are not positive and whole", f"{array}: {list(map(str, moduli))}")
        found = mapping.addresses(cells, self.params)
        block = next((b for b in self.total.get("blocks", []) if array in b["offsets"]), None)
        if block is None:
            return {(array, cell): (memory, found[cell]) for cell in cells if cell in found}
        start = value(block["offsets"][array], self.params)
        size = value(mapping.entry["size"], self.params)
        if start < 0 or start.denominator != 1 or start + size > value(block["size"], self.params):
            raise self.wrong("array outside of its block", f"{array} at {start}, size {size}, in {block}")
        return {(array, cell): (block["name"], start + _linear(found[cell], moduli)) for cell in found}

    def arrays(self) -> Iterator[str]:
        for entry in self.data["arrays"]:
            yield from (one["name"] for one in entry.get("members") or [entry])

    def compare_total(self) -> None:
        total = self.total
        if not total:
            return
        size, original = (value(total[key], self.params) for key in ("size", "original_size"))
        if size < 0 or original < 0:
            raise self.wrong("negative number", f"size {size}, of {original} in all")
        sized = total.get("at")
        if sized is None or _differ({name: sized[name] for name in self.params}, self.params):
            return
        has_cells = all(map(self.program.touched, self.arrays()))
        # Where an array has no cells, the formula says what it takes elsewhere.
        is_alike = operator.eq if has_cells else operator.le
        if not (is_alike(sized["size"], size) and is_alike(sized["original_size"], original)):
            raise self.wrong("numbers under `at`", f"{sized}, size {size} of {original} in all")
        if sized["lower_bound"] is not None and sized["lower_bound"] > size:
            raise self.wrong("bound above the size", f"{sized} in all")


def _differ(one: Values, other: Values) -> bool:
    return any(other[name] != size for name, size in one.items())


def _linear(address: tuple[int, ...], moduli: list[Any]) -> int:
    """The number of an address, the last coordinate counting fastest."""
    total = 0
    for coordinate, modulus in zip(address, moduli or [1] * len(address), strict=True):
        total = total * int(modulus) + coordinate
    return total
