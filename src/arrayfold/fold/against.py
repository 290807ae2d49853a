"""Whether two modules of MLIR compute the same: the verdict on what another tool contracted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import Any, Literal, TypeAlias

import islpy as isl
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, i1

from arrayfold.base.budget import Budget
from arrayfold.base.deadline import in_time
from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError
from arrayfold.frontends.mlir.indices import plain_name
from arrayfold.frontends.mlir.module import MlirModule, memref_type
from arrayfold.frontends.mlir.read import program_of, walk_function
from arrayfold.validation.mlir_code import FunctionCode, key_of, python_code
from arrayfold.validation.mlir_run import Fault, Integer, Memory, Outcome, execute, outside_memory
from arrayfold.validation.sizes import first_sizes

Verdict: TypeAlias = Literal["equal", "different", "undecided"]

_SIZES = 6
_TRIED = 40
_WAYS = 8


@dataclass(frozen=True)
class Compared:
    """The verdict on a function of two modules.

    reason  for another verdict than equal: where they differ, or what could not be decided
    sizes   at which both were executed, one without names if there are no parameters
    cells   that each allocates at the last of these sizes
    ways    how often conditions on data went one way or the other
    """

    function: str
    verdict: Verdict
    reason: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()
    cells: tuple[int, int] = (0, 0)
    ways: int = 1

    @property
    def is_complete(self) -> bool:
        """Whether there are no other executions."""
        return self.sizes == ({},) and self.ways == 1


def compare_modules(
    before: tuple[str, str], after: tuple[str, str], params: Mapping[str, int], budget: Budget
) -> list[Compared]:
    """The verdict on each function that both modules have, by its name.

    Both are executed on the same arguments, which are memory that does not overlap, with operations of which
    nothing is known but their names. Equal results are then equal whatever the operations mean.

    before, after  name and text of a file
    params         sizes to use
    """
    old, new = MlirModule.read(*before), MlirModule.read(*after)
    others = {one.sym_name.data: one for one in new.functions()}
    pairs = [
        _Pair(old, new, one, others[one.sym_name.data])
        for one in old.functions()
        if one.sym_name.data in others
    ]
    if not pairs:
        hint = "They are compared by their names."
        raise InputError(f"{after[0]} has no function of {before[0]}", hint=hint)
    for pair in pairs:
        pair.check(params)
    late = "cut short; raise the limit with --budget, or compare modules of smaller sizes"
    found = {pair.name: Compared(pair.name, "undecided", late) for pair in pairs}

    def work(send: Callable[[Any], None]) -> None:
        for pair in pairs:
            send((pair.name, pair.compared(params)))

    def receive(one: tuple[str, Compared]) -> None:
        found.update([one])

    try:
        in_time(work, budget, receive=receive)
    except BudgetExceeded as error:
        found = {
            name: replace(one, reason=str(error)) if one.reason == late else one
            for name, one in found.items()
        }
    return list(found.values())


@dataclass(frozen=True)
class _Size:
    """A parameter: an argument of type index or of which an index is made, or a size of one."""

    argument: int
    dimension: int | None = None


@dataclass(frozen=True)
class _Trial:
    """How both functions are run.

    way          data, on which conditions depend
    is_reversed  parallel loops of the second one run backwards
    """

    sizes: Mapping[str, int]
    way: int
    is_reversed: bool

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        return f"{', with ' * bool(sizes)}{sizes}{', with parallel loops backwards' * self.is_reversed}"


@dataclass(frozen=True, eq=False)
class _Pair:
    """A function of both modules."""

    old: MlirModule
    new: MlirModule
    before: func.FuncOp
    after: func.FuncOp

    @property
    def name(self) -> str:
        """The name of both."""
        return self.before.sym_name.data

    @property
    def _both(self) -> tuple[func.FuncOp, func.FuncOp]:
        return self.before, self.after

    @cached_property
    def _codes(self) -> tuple[FunctionCode, FunctionCode]:
        return python_code(self.old, self.before), python_code(self.new, self.after)

    @cached_property
    def _parameters(self) -> dict[str, _Size]:
        """The parameters by the names that they have where the function is folded."""
        found: dict[str, _Size] = {}
        for number, one in enumerate(self.before.body.block.args):
            kind = memref_type(one)
            if isinstance(one.type, IndexType):
                found[plain_name(one, f"n{number}")] = _Size(number)
            elif any(isinstance(use.operation, arith.IndexCastOp) for use in one.uses) and one.type != i1:
                found[plain_name(one, "n")] = _Size(number)
            elif kind is not None:
                name = plain_name(one, f"arg{number}")
                dynamic = [k for k, size in enumerate(kind.get_shape()) if size == DYNAMIC_INDEX]
                found.update((f"{name}_{k}", _Size(number, k)) for k in dynamic)
        return found

    def check(self, params: Mapping[str, int]) -> None:
        """Raise if they cannot be compared."""
        if self.before.function_type.inputs != self.after.function_type.inputs:
            raise self.new.error(
                self.after, f"{self.name} takes other arguments than in {self.old.whole.file}"
            )
        _ = self._codes
        unknown = [name for name in params if name not in self._parameters]
        if unknown:
            known = ", ".join(self._parameters) or "none"
            raise InputError(f"{self.name} has no parameter {unknown[0]!r}; it has: {known}")

    def compared(self, params: Mapping[str, int]) -> Compared:
        """The verdict."""
        ways = _WAYS if "scf.if" in {one.name for code in self._both for one in code.walk()} else 1
        turns = (False, True) if any("parallel(" in code.text for code in self._codes) else (False,)
        found = Compared(self.name, "equal")
        done: list[Mapping[str, int]] = []
        faults: list[str] = []
        for sizes in islice(self._sizes(params), _TRIED):
            for way, is_reversed in product(range(ways), turns):
                trial = _Trial(sizes, way, is_reversed)
                try:
                    first = self._run(0, trial)
                except Fault as fault:
                    faults.append(f"{fault.place.told(self.old)}{trial}")
                    break
                found = self._looked(first, trial)
                if found.verdict != "equal":
                    return found
            else:
                done.append(sizes)
            if len(done) == _SIZES:
                break
        if done:
            return replace(found, sizes=tuple(done), ways=ways)
        reason = f"the original goes wrong: {faults[0]}" if faults else "there are no sizes at which it runs"
        return replace(found, verdict="undecided", reason=reason)

    def _sizes(self, params: Mapping[str, int]) -> Iterator[dict[str, int]]:
        names = list(self._parameters)
        if not names:
            return iter([dict[str, int]()])
        low = " and ".join(f"{name} >= 1" for name in names)
        context = isl.Set(f"[{', '.join(names)}] -> {{ : {low} }}")
        try:
            program = program_of(walk_function(self.old, self.before))
        except ArrayfoldError:
            program = None
        if program is not None and set(program.parameters) <= set(names):
            context = context.intersect(program.running_sizes())
        return first_sizes([context], names, params)

    def _arguments(self, trial: _Trial) -> list[int | Integer | Memory]:
        values = {parameter: trial.sizes[name] for name, parameter in self._parameters.items()}
        found: list[int | Integer | Memory] = []
        for number, one in enumerate(self.before.body.block.args):
            kind, key = memref_type(one), key_of("argument", number, trial.way)
            if kind is not None:
                shape = enumerate(kind.get_shape())
                extents = (values[_Size(number, k)] if size == DYNAMIC_INDEX else size for k, size in shape)
                found.append(outside_memory(key, tuple(extents)))
            elif _Size(number) in values:
                size = values[_Size(number)]
                found.append(size if isinstance(one.type, IndexType) else Integer(size))
            else:
                found.append(key & 1 if one.type == i1 else key)
        return found

    def _run(self, which: int, trial: _Trial, *, watched: int | None = None, fresh: str = "") -> Outcome:
        module, code = (self.old, self.new)[which], self._codes[which]
        turned = trial.is_reversed and which == 1
        arguments = self._arguments(trial)
        return execute(module, code, arguments, is_reversed=turned, watched=watched, fresh=fresh)

    def _looked(self, first: Outcome, trial: _Trial) -> Compared:
        """Where the second function leaves something else behind, and what that means."""
        found = Compared(self.name, "different", sizes=(trial.sizes,))
        try:
            second = self._run(1, trial)
        except Fault as fault:
            return replace(found, reason=f"{fault.place.told(self.new)}{trial}")
        free = self._undefined_cells(first, trial) if first.undefined is not None else {}
        if free is None:
            assert first.undefined is not None
            why = first.undefined.told(self.old)
            return replace(found, verdict="undecided", reason=f"the original depends on fresh memory: {why}")
        where = self._first_difference(first, second, free, trial)
        if not where:
            return replace(found, verdict="equal", cells=(first.cells, second.cells))
        if second.undefined is not None and first.undefined is None:
            where += f"; {second.undefined.told(self.new)}"
        return replace(found, reason=where)

    def _undefined_cells(self, first: Outcome, trial: _Trial) -> dict[int, set[int]] | None:
        """The cells of each argument that depend on what was in fresh memory; None if more than cells do."""
        other = self._run(0, trial, fresh="other")
        if (first.events, first.results) != (other.events, other.results):
            return None
        return {
            number: {
                k
                for k, pair in enumerate(zip(cells, other.memories[number], strict=True))
                if pair[0] != pair[1]
            }
            for number, cells in first.memories.items()
        }

    def _first_difference(
        self, first: Outcome, second: Outcome, free: Mapping[int, set[int]], trial: _Trial
    ) -> str:
        """Where the results differ, in words, apart from cells that may have any value."""
        if first.events != second.events:
            return f"{self.name} calls other functions, or with other values{trial}"
        if first.results != second.results:
            return f"{self.name} returns something else{trial}"
        for number, cells in first.memories.items():
            if cells != second.memories[number]:
                pairs = enumerate(zip(cells, second.memories[number], strict=True))
                differing = (k for k, (one, other) in pairs if one != other and k not in free.get(number, ()))
                flat = next(differing, None)
                if flat is not None:
                    return self._told(number, flat, trial)
        return ""

    def _told(self, number: int, flat: int, trial: _Trial) -> str:
        """What both store to the first cell that differs."""
        memory = self._arguments(trial)[number]
        assert isinstance(memory, Memory)
        cell: list[int] = []
        for size in reversed(memory.shape):
            flat, coordinate = divmod(flat, size)
            cell.insert(0, coordinate)
        name = plain_name(self.before.body.block.args[number], f"arg{number}")
        does: list[str] = []
        for which, module in enumerate((self.old, self.new)):
            outcome = self._run(which, trial, watched=number)
            place = outcome.stores.get(tuple(cell))
            does.append(f"{module.whole.file} never stores it" if place is None else place.told(module))
        where = "".join(f"[{coordinate}]" for coordinate in cell)
        return f"{name}{where} has another value afterwards{trial} ({'; '.join(does)})"
