"""Modules of MLIR with folded memrefs: accesses of smaller ones, or layout maps for --normalize-memrefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

import islpy as isl
from xdsl.dialects import affine, arith, builtin, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint, Rewriter

from arrayfold.base.errors import InputError
from arrayfold.codegen.mlir_addresses import (
    Arithmetic,
    affine_layout,
    can_be_affine,
    expression,
    in_order_of_use,
    is_expressible,
)
from arrayfold.exact.formula import Formula
from arrayfold.frontends.mlir.module import MlirModule, Value, memref_type, use_dimensions
from arrayfold.frontends.mlir.read import walk_function
from arrayfold.frontends.mlir.walk import Storage, Walk
from arrayfold.mapping.modular import EmittableMapping, ModularMapping


@dataclass(frozen=True, eq=False)
class MlirFold:
    """A memref of a function, and where its cells go.

    cells     { A[x] }  that it is declared with
    accessed  { A[x] }  that are accessed
    """

    name: str
    mapping: EmittableMapping
    cells: isl.Set
    accessed: isl.Set


def write_mlir(
    file: str, text: str, folds: Mapping[str, Sequence[MlirFold]], *, as_layout: bool = False
) -> str:
    """The text of a module with folds in it.

    It is in generic form if the module was, and where xDSL would not read another one as it was written.

    folds      of each function
    as_layout  the types of memrefs get layout maps, and accesses stay
    """
    module = MlirModule.read(file, text)
    for function in module.functions():
        wanted = folds.get(function.sym_name.data, ())
        if wanted:
            walk = walk_function(module, function)
            writer = _Writer(walk, function.body.block, as_layout=as_layout)
            for fold in wanted:
                writer.fold(fold)
    if '"builtin.module"' in text or '"func.func"' in text:
        return _printed(module, is_generic=True)
    short = _printed(module, is_generic=False)
    try:
        is_same = _printed(MlirModule.read(file, short), is_generic=False) == short
    except InputError:
        is_same = False
    return short if is_same else _printed(module, is_generic=True)


def _printed(module: MlirModule, *, is_generic: bool) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=is_generic).print_op(module.operation)
    return stream.getvalue() + "\n"


@dataclass(eq=False)
class _Writer:
    """Changes a function of one block.

    entry  its block
    """

    walk: Walk
    entry: Block
    as_layout: bool

    def __post_init__(self) -> None:
        self._symbols: dict[str, Value] = {}

    def fold(self, fold: MlirFold) -> None:
        """Fold one memref."""
        storage = self.walk.storages[fold.name]
        if storage.kept or storage.value is None:
            raise InputError(f"{fold.name} is kept: {storage.kept}")
        allocation = storage.value.owner
        assert isinstance(allocation, memref.AllocOp | memref.AllocaOp)
        mapping = fold.mapping
        if not isinstance(mapping, ModularMapping):
            raise InputError(f"{fold.name}: a table of addresses is not an affine access")
        names = self._names(mapping)
        values = [self._value(name, allocation, fold.name) for name in names]
        if self.as_layout:
            if not can_be_affine(mapping):
                hint = "Leave out --layout-maps."
                raise InputError(f"{fold.name}: xDSL has no maps that multiply sizes: {mapping}", hint=hint)
            self._set_layout(allocation, affine_layout(mapping, names, fold.cells), values)
            return
        self._replace_sizes(storage, allocation)
        by_name = dict(zip(names, values, strict=True))
        moduli = self._shrink(allocation, mapping, names, by_name)
        layout = affine_layout(mapping, names, fold.accessed) if can_be_affine(mapping) else None
        for use in list(allocation.memref.uses):
            if layout is not None:
                self._move(use.operation, layout, values)
            else:
                self._compute(use.operation, mapping, by_name, moduli, fold.accessed)

    # ------------------------------------------------------------ parameters

    def _names(self, mapping: ModularMapping) -> list[str]:
        """The parameters in a mapping."""
        formulas = [*mapping.moduli, *mapping.offset, *(one for row in mapping.matrix for one in row)]
        found = {name for formula in formulas for name in formula.names()}
        return [name for name in self.walk.indices.parameters if name in found]

    def _value(self, name: str, allocation: Operation, array: str) -> Value:
        """The value of a parameter, which must be there where the memref is allocated."""
        if name in self._symbols:
            return self._symbols[name]
        parameter = self.walk.indices.parameters[name]
        value = parameter.value
        if parameter.dimension is not None:
            which = arith.ConstantOp.from_int_and_width(parameter.dimension, builtin.IndexType())
            size = memref.DimOp(value, which)
            Rewriter.insert_op([which, size], InsertPoint.at_start(self.entry))
            value = size.results[0]
            value.name_hint = name
        elif isinstance(value.owner, Operation) and not self._is_before(value.owner, allocation):
            message = f"{name}, of which the size of {array} is to depend, is computed after its allocation"
            raise self.walk.module.error(allocation, message, "Let it be computed before.")
        self._symbols[name] = value
        return value

    def _is_before(self, one: Operation, other: Operation) -> bool:
        outer = self.entry.find_ancestor_op_in_block(other)
        for operation in self.entry.ops:
            if operation is outer:
                return False
            if operation is one:
                return True
        return False

    # ------------------------------------------------------------ layout maps

    def _set_layout(
        self, allocation: memref.AllocOp | memref.AllocaOp, layout: AffineMap, values: Sequence[Value]
    ) -> None:
        kind = allocation.memref.type
        new = builtin.MemRefType(
            kind.element_type, kind.get_shape(), AffineMapAttr(layout), kind.memory_space
        )
        _set_operands(allocation, list(allocation.dynamic_sizes), values)
        Rewriter.replace_value_with_new_type(allocation.memref, new)

    # ------------------------------------------------------------ smaller memrefs

    def _replace_sizes(self, storage: Storage, allocation: memref.AllocOp | memref.AllocaOp) -> None:
        """Questions for sizes get those that the memref had."""
        sizes = iter(allocation.dynamic_sizes)
        before = [
            next(sizes) if size == DYNAMIC_INDEX else size for size in allocation.memref.type.get_shape()
        ]
        for use in list(allocation.memref.uses):
            if not isinstance(use.operation, memref.DimOp):
                continue
            which = self.walk.indices.of(use.operation.index)
            assert isinstance(which, int), f"{storage.name} is kept where this is unknown"
            size = before[which]
            if isinstance(size, int):
                number = arith.ConstantOp.from_int_and_width(size, builtin.IndexType())
                Rewriter.insert_op(number, InsertPoint.before(use.operation))
                size = number.result
            use.operation.results[0].replace_all_uses_with(size)
            Rewriter.erase_op(use.operation)

    def _move(self, operation: Operation, layout: AffineMap, values: Sequence[Value]) -> None:
        """Let a load or store go where the layout says."""
        match operation:
            case affine.LoadOp() | affine.StoreOp():
                of = _composed(layout, operation.map.data)
                of, operands = in_order_of_use(of, [*operation.indices, *values])
                operation.properties["map"] = AffineMapAttr(of)
            case memref.LoadOp() | memref.StoreOp():
                identity = AffineMap.identity(len(operation.indices))
                operands = [
                    self._applied(operation, row, _composed(layout, identity), [*operation.indices, *values])
                    for row in range(len(layout.results))
                ]
            case _:
                return
        stays = len(operation.operands) - len(operation.indices)
        operation.operands = [*operation.operands[:stays], *operands]
        use_dimensions(operation, "map", operands)

    def _compute(
        self,
        operation: Operation,
        mapping: ModularMapping,
        values: Mapping[str, Value],
        moduli: Mapping[int, Value],
        cells: isl.Set,
    ) -> None:
        """Let a load or store go where a mapping says, whose coefficients or moduli are parameters."""
        if not isinstance(operation, affine.LoadOp | affine.StoreOp | memref.LoadOp | memref.StoreOp):
            return
        cell = list(operation.indices)
        if isinstance(operation, affine.LoadOp | affine.StoreOp):
            of = operation.map.data
            cell = [self._applied(operation, row, of, operation.indices) for row in range(len(of.results))]
        arithmetic = Arithmetic(operation, {**values, **dict(zip(mapping.dimensions, cell, strict=True))})
        subscripts = arithmetic.address(mapping, moduli, cells)
        if isinstance(operation, affine.LoadOp | memref.LoadOp):
            load = memref.LoadOp.get(operation.memref, subscripts)
            load.res.name_hint = operation.results[0].name_hint
            Rewriter.insert_op(load, InsertPoint.before(operation))
            operation.results[0].replace_all_uses_with(load.res)
        else:
            store = memref.StoreOp.get(operation.value, operation.memref, subscripts)
            Rewriter.insert_op(store, InsertPoint.before(operation))
        Rewriter.erase_op(operation)

    def _applied(self, operation: Operation, row: int, of: AffineMap, operands: Sequence[Value]) -> Value:
        match of.results[row]:
            case AffineDimExpr(position=position):
                return operands[position]
            case AffineSymExpr(position=position):
                return operands[of.num_dims + position]
            case _:
                pass
        one = AffineMap(of.num_dims, of.num_symbols, (of.results[row],))
        applied = affine.ApplyOp(operands, AffineMapAttr(one))
        Rewriter.insert_op(applied, InsertPoint.before(operation))
        return applied.result

    def _shrink(
        self,
        allocation: memref.AllocOp | memref.AllocaOp,
        mapping: ModularMapping,
        names: Sequence[str],
        values: Mapping[str, Value],
    ) -> dict[int, Value]:
        """Allocate as many cells as the mapping needs; the values of its moduli that are no numbers."""
        shape: list[int] = []
        dynamic: dict[int, Value] = {}
        for k, modulus in enumerate(mapping.moduli or (Formula.constant(1),)):
            if modulus.is_constant:
                shape.append(int(modulus.as_number()))
                continue
            shape.append(DYNAMIC_INDEX)
            if is_expressible(modulus):
                of = AffineMap(0, len(names), (expression(modulus, {}, names),))
                dynamic[k] = self._applied(allocation, 0, of, [values[name] for name in names])
            else:
                dynamic[k] = Arithmetic(allocation, values).formula(modulus)
        kind = memref_type(allocation.memref)
        assert kind is not None
        _set_operands(allocation, list(dynamic.values()), ())
        smaller = builtin.MemRefType(kind.element_type, shape, memory_space=kind.memory_space)
        Rewriter.replace_value_with_new_type(allocation.memref, smaller)
        return dynamic


def _set_operands(
    allocation: memref.AllocOp | memref.AllocaOp, sizes: Sequence[Value], symbols: Sequence[Value]
) -> None:
    allocation.operands = [*sizes, *symbols]
    segments = [len(sizes), len(symbols)]
    allocation.properties["operandSegmentSizes"] = DenseArrayBase.from_list(builtin.i32, segments)


def _composed(layout: AffineMap, of: AffineMap) -> AffineMap:
    """The layout after an access, with the symbols of the access first."""
    new = [AffineExpr.symbol(of.num_symbols + k) for k in range(layout.num_symbols)]
    return layout.replace_dims_and_symbols(of.results, new, of.num_dims, of.num_symbols + len(new))
