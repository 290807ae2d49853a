"""What a function of MLIR does to its memrefs, operation by operation, with the loops around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from xdsl.dialects import affine, func, memref, scf
from xdsl.dialects.builtin import AffineMapAttr, NoneAttr
from xdsl.ir import Block, Operation, Region
from xdsl.ir.affine import AffineConstraintKind, AffineMap, AffineSet

from arrayfold.exact.isl import fresh_name
from arrayfold.frontends.mlir.indices import Index, Indices, evaluate, extreme, plain_name
from arrayfold.frontends.mlir.module import MlirModule, Value, memref_type, name_of


@dataclass(frozen=True)
class LoopLink:
    """A loop on the way to an operation."""

    iterator: str
    is_parallel: bool


Link: TypeAlias = int | LoopLink

_TERMINATORS = ("func.return", "affine.yield", "scf.yield")


@dataclass(frozen=True)
class Nest:
    """The loops and conditions around operations.

    path  positions in blocks and loops, in turn
    """

    iterators: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    path: tuple[Link, ...] = ()
    may_not_run: bool = False


@dataclass(frozen=True, eq=False)
class Touch:
    """A read or a write of a memref: of one cell, or of any where there are no subscripts."""

    array: str
    subscripts: tuple[Index, ...] | None
    is_write: bool
    operation: Operation
    may_not_happen: bool = False


@dataclass(frozen=True, eq=False)
class Step:
    """Reads and then at most one write, or what one operation does that is not understood."""

    nest: Nest
    touches: tuple[Touch, ...]


@dataclass(frozen=True, eq=False)
class Storage:
    """A memref that others may be views of.

    extents  None where a size is not known outside of loops
    layout   the cell of given subscripts, if the type has a map for it
    """

    name: str
    value: Value | None
    extents: tuple[Index, ...]
    layout: AffineMap | None = None
    symbols: tuple[Index, ...] = ()
    kept: str = ""

    @property
    def is_shaped(self) -> bool:
        """Whether its sizes are known."""
        return None not in self.extents

    def cell(self, subscripts: Sequence[Index]) -> tuple[Index, ...]:
        """Where the layout puts the element of these subscripts."""
        if self.layout is None:
            return tuple(subscripts)
        return tuple(evaluate(one, subscripts, self.symbols) for one in self.layout.results)


@dataclass(eq=False)
class Walk:
    """A function, walked through in order."""

    module: MlirModule
    indices: Indices
    name: str
    storages: dict[str, Storage] = field(default_factory=dict[str, Storage])
    steps: list[Step] = field(default_factory=list[Step])
    views: dict[Value, tuple[str, ...]] = field(default_factory=dict["Value", "tuple[str, ...]"])
    _waiting: list[Touch] = field(default_factory=list[Touch])
    _nest: Nest = field(default_factory=Nest)

    def function(self, one: func.FuncOp) -> None:
        """Walk through a function of one block."""
        (block,) = one.body.blocks
        for number, argument in enumerate(block.args):
            self.indices.argument(argument, number)
            if memref_type(argument) is not None:
                self._new(argument, f"arg{number}", "belongs to the caller")
        self._block(block, Nest(), is_outermost=True)

    def _new(self, value: Value, default: str, kept: str = "") -> None:
        name = fresh_name(plain_name(value, default), {*self.storages})
        kind = memref_type(value)
        assert kind is not None
        layout, symbols = None, ()
        extents = self.indices.extents.get(value, (None,) * len(kind.get_shape()))
        if isinstance(value.owner, memref.AllocOp | memref.AllocaOp):
            symbols = tuple(self.indices.all_of(value.owner.symbol_operands))
            if isinstance(kind.layout, AffineMapAttr):
                layout = kind.layout.data
            if not isinstance(kind.layout, NoneAttr):
                kept = "it has a layout already"
        if None in extents:
            kept = kept or "its sizes change in the function"
        self.storages[name] = Storage(name, value, tuple(extents), layout, symbols, kept)
        self.views[value] = (name,)

    def _block(self, block: Block, nest: Nest, *, is_outermost: bool = False) -> None:
        for position, operation in enumerate(block.ops):
            here = replace(nest, path=(*nest.path, position))
            self.indices.visit(operation, is_outermost=is_outermost)
            if operation.regions:
                self._flush()
                if not self._structured(operation, here):
                    self._unknown(operation, here)
            else:
                self._simple(operation, here)
        self._flush()

    # ------------------------------------------------------------ operations without regions

    def _simple(self, operation: Operation, nest: Nest) -> None:
        match operation:
            case memref.AllocOp() | memref.AllocaOp():
                self._new(operation.memref, "alloc")
            case affine.LoadOp():
                cells = self.indices.map(operation.map.data, operation.indices)
                self._touch(operation, operation.memref, cells, nest)
            case memref.LoadOp():
                self._touch(operation, operation.memref, self.indices.all_of(operation.indices), nest)
            case affine.StoreOp():
                cells = self.indices.map(operation.map.data, operation.indices)
                self._keep_all([operation.value], operation)
                self._touch(operation, operation.memref, cells, nest, is_write=True)
            case memref.StoreOp():
                self._keep_all([operation.value], operation)
                cells = self.indices.all_of(operation.indices)
                self._touch(operation, operation.memref, cells, nest, is_write=True)
            case memref.DimOp():
                if not isinstance(self.indices.of(operation.index), int):
                    self._unknown(operation, nest)
            case memref.DeallocOp():
                pass
            case _:
                self._unknown(operation, nest)

    def _touch(
        self,
        operation: Operation,
        value: Value,
        subscripts: Sequence[Index],
        nest: Nest,
        *,
        is_write: bool = False,
    ) -> None:
        """Note a load or a store; the loads before a store are of one statement with it."""
        names = self.views.get(value, ())
        storage = self.storages[names[0]] if len(names) == 1 else None
        is_direct = storage is not None and storage.value is value
        cells = storage.cell(subscripts) if storage is not None and is_direct else (None,)
        if None in cells:
            line = self.module.line(operation)
            self._keep(names, f"a subscript in line {line} is not affine" if is_direct else "it has views")
        for name in names:
            known = cells if None not in cells and self.storages[name].is_shaped else None
            is_sure = known is not None and not nest.may_not_run
            self._waiting.append(Touch(name, known, is_write, operation, may_not_happen=not is_sure))
        if is_write and names:
            self._flush(nest)
        else:
            self._nest = nest

    def _flush(self, nest: Nest | None = None) -> None:
        """End a statement; where it has no write, it is at its last read."""
        if self._waiting:
            self.steps.append(Step(nest or self._nest, tuple(self._waiting)))
            self._waiting = []

    def _unknown(self, operation: Operation, nest: Nest) -> None:
        """Something that may read and write all of the memrefs that it uses, in any order."""
        inside = list(operation.walk())
        used = dict.fromkeys(value for one in inside for value in one.operands if value in self.views)
        names = tuple(dict.fromkeys(name for value in used for name in self.views[value]))
        what = f"used by {name_of(operation)} in line {self.module.line(operation)}"
        self._keep(names, what)
        results = [value for value in operation.results if memref_type(value) is not None]
        if name_of(operation) == "memref.get_global":
            self._global(operation)
        else:
            for value in results:
                self.views[value] = names
        if not names or name_of(operation) in _TERMINATORS:
            return
        self._flush()
        touches = [Touch(name, None, False, operation) for name in names]
        touches += [Touch(name, None, True, operation, may_not_happen=True) for name in names]
        self.steps.append(Step(nest, tuple(touches)))

    def _global(self, operation: Operation) -> None:
        (value,) = operation.results
        symbol = str(operation.properties.get("name", operation.attributes.get("name", "")))
        for known in self.storages.values():
            if known.value is not None and known.kept == f"it is the global {symbol}":
                self.views[value] = (known.name,)
                return
        kind = memref_type(value)
        assert kind is not None
        self.indices.extents[value] = tuple(kind.get_shape())
        self._new(value, "global", f"it is the global {symbol}")

    def _keep_all(self, values: Sequence[Value], operation: Operation) -> None:
        for value in values:
            self._keep(
                self.views.get(value, ()), f"its address is stored in line {self.module.line(operation)}"
            )

    def _keep(self, names: Sequence[str], why: str) -> None:
        for name in names:
            if not self.storages[name].kept:
                self.storages[name] = replace(self.storages[name], kept=why)

    # ------------------------------------------------------------ loops and conditions

    def _structured(self, operation: Operation, nest: Nest) -> bool:
        """Walk through loops and conditions that are understood; say whether it is one."""
        if any(memref_type(value) for one in (operation.results, operation.operands) for value in one):
            return False
        if any(len(region.blocks) > 1 for region in operation.regions):
            return False
        match operation:
            case affine.ForOp():
                return self._affine_for(operation, nest)
            case affine.ParallelOp():
                return self._affine_parallel(operation, nest)
            case scf.ForOp():
                bounds = self.indices.of(operation.lb), self.indices.of(operation.ub)
                return self._loop(operation.body, nest, [(*bounds, self.indices.of(operation.step))])
            case scf.ParallelOp():
                of = self.indices.all_of
                bounds = zip(
                    of(operation.lowerBound), of(operation.upperBound), of(operation.step), strict=True
                )
                return self._loop(operation.body, nest, list(bounds), is_parallel=True)
            case affine.IfOp():
                return self._affine_if(operation, nest)
            case scf.IfOp():
                for number, region in enumerate((operation.true_region, operation.false_region)):
                    self._region(region, replace(nest, path=(*nest.path, number), may_not_run=True))
                return True
            case _:
                return False

    def _region(self, region: Region, nest: Nest) -> None:
        for block in region.blocks:
            self._block(block, nest)

    def _affine_for(self, loop: affine.ForOp, nest: Nest) -> bool:
        low = extreme("max", self.indices.map(loop.lowerBoundMap.data, loop.lowerBoundOperands))
        high = extreme("min", self.indices.map(loop.upperBoundMap.data, loop.upperBoundOperands))
        return self._loop(loop.body, nest, [(low, high, loop.step.value.data)])

    def _affine_parallel(self, loop: affine.ParallelOp, nest: Nest) -> bool:
        lower, upper = loop.lowerBoundsMap.data, loop.upperBoundsMap.data
        split = lower.num_dims + lower.num_symbols
        lows = self.indices.map(lower, loop.map_operands[:split])
        highs = self.indices.map(upper, loop.map_operands[split:])
        steps = [one.value.data for one in loop.steps.data]
        bounds: list[tuple[Index, Index, Index]] = []
        groups = (
            cast("Sequence[int]", loop.lowerBoundsGroups.get_values()),
            cast("Sequence[int]", loop.upperBoundsGroups.get_values()),
        )
        for low, high, step in zip(*groups, steps, strict=True):
            bounds.append((extreme("max", lows[:low]), extreme("min", highs[:high]), step))
            lows, highs = lows[low:], highs[high:]
        return self._loop(loop.body, nest, bounds, is_parallel=True)

    def _loop(
        self,
        body: Region,
        nest: Nest,
        bounds: Sequence[tuple[Index, Index, Index]],
        *,
        is_parallel: bool = False,
    ) -> bool:
        """Loops from a bound to below another; parallel ones may be several at once."""
        for low, high, step in bounds:
            if low is None or high is None or not isinstance(step, int) or step <= 0:
                return False
        for number, (low, high, step) in enumerate(bounds):
            depth = len(nest.iterators)
            name = self.indices.iterator(body.block.args[number], f"i{depth}", nest.iterators)
            conditions = [f"{low} <= {name} < {high}"]
            if step != 1:
                conditions.append(f"({name} - ({low})) mod {step} = 0")
            nest = Nest(
                (*nest.iterators, name),
                (*nest.conditions, *conditions),
                (*nest.path, LoopLink(name, is_parallel)),
                nest.may_not_run,
            )
        self._block(body.block, nest)
        return True

    def _affine_if(self, operation: affine.IfOp, nest: Nest) -> bool:
        condition = self._condition(operation.condition.data, operation.args)
        for number, region in enumerate((operation.then_region, operation.else_region)):
            inside = replace(nest, path=(*nest.path, number))
            if condition is None:
                inside = replace(inside, may_not_run=True)
            else:
                holds = f"not ({condition})" if number else condition
                inside = replace(inside, conditions=(*nest.conditions, holds))
            self._region(region, inside)
        return True

    def _condition(self, of: AffineSet, operands: Sequence[Value]) -> str | None:
        values = self.indices.all_of(operands)
        dims, symbols = values[: of.num_dims], values[of.num_dims :]
        signs = {AffineConstraintKind.ge: ">=", AffineConstraintKind.le: "<=", AffineConstraintKind.eq: "="}
        found: list[str] = []
        for one in of.constraints:
            left, right = evaluate(one.lhs, dims, symbols), evaluate(one.rhs, dims, symbols)
            if left is None or right is None:
                return None
            found.append(f"{left} {signs[one.kind]} {right}")
        return " and ".join(found) or "true"
