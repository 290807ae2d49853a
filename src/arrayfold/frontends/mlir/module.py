"""The text of a module of MLIR, as xDSL reads it, with the places of its operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import affine, arith, builtin, func, math, memref, scf
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText

Value: TypeAlias = SSAValue[Attribute]
MemRef: TypeAlias = builtin.MemRefType[Attribute]

GENERIC = "Its generic form is read whatever is in it: mlir-opt --mlir-print-op-generic"
_DIALECTS: tuple[Dialect, ...] = (
    builtin.Builtin,
    func.Func,
    affine.Affine,
    memref.MemRef,
    arith.Arith,
    math.Math,
    scf.Scf,
)


@dataclass(frozen=True, eq=False)
class MlirModule:
    """A module of MLIR.

    places  where each operation begins in the text
    """

    whole: SourceText
    operation: builtin.ModuleOp
    places: dict[Operation, int]

    @staticmethod
    def read(file: str, text: str) -> MlirModule:
        """The module of a text; an error where xDSL does not understand it."""
        whole = SourceText.of(text, file)
        context = Context(allow_unregistered=True)
        for dialect in _DIALECTS:
            context.load_dialect(dialect)
        if not text.strip():
            raise whole.error("there is no module of MLIR: the file is empty")
        parser = _Parser(context, text, file)
        try:
            operation = parser.parse_module()
        except ParseError as error:
            reason = str(error.msg).strip()
            if "builtin.unregistered" in reason:
                reason = "no operation that it knows in this form"
            message = f"xDSL cannot read this: {reason or 'unexpected text'}"
            undefined = re.search(r"not defined: \[(%[^],]+)", reason)
            start = error.span.start if undefined is None else whole.find(undefined[1])
            raise whole.error(message, start, GENERIC) from None
        except Exception as error:  # xDSL has no other class for all that it cannot do
            message = f"xDSL cannot read this: {str(error).partition(chr(10))[0]}"
            raise whole.error(message, min(parser.last, len(text) - 1), GENERIC) from None
        _repair_symbols(operation)
        module = MlirModule(whole, operation, parser.places)
        module.check()
        return module

    def check(self) -> None:
        """Raise where an operation is not as its dialect wants it."""
        for one in self.operation.walk():
            try:
                one.verify(verify_nested_ops=False)
            except Exception as error:  # not all of its checks raise VerifyException
                reason = str(error).strip().rpartition("\n")[2].strip(" ^|")
                raise self.error(one, f"{one.name}: {reason}") from None

    def functions(self) -> list[func.FuncOp]:
        """The functions that have a body."""
        found = (one for one in self.operation.walk() if isinstance(one, func.FuncOp))
        return [one for one in found if one.body.blocks]

    def line(self, operation: Operation) -> int:
        """The line in which an operation begins."""
        return self.whole.place(self.places.get(operation, 0)).line

    def error(self, operation: Operation, message: str, hint: str | None = None) -> InputError:
        """An error at an operation."""
        return self.whole.error(message, self.places.get(operation, 0), hint)


def name_of(operation: Operation) -> str:
    """The name of an operation, also of one that xDSL does not know."""
    if isinstance(operation, builtin.UnregisteredOp):
        return operation.op_name.data
    return operation.name


def memref_type(value: Value) -> MemRef | None:
    """The type of a value, if it is a memref."""
    return cast(MemRef, value.type) if isinstance(value.type, builtin.MemRefType) else None


def _repair_symbols(module: builtin.ModuleOp) -> None:
    """In maps that stand without one in the text, xDSL takes all values as symbols, also those of loops."""
    for one in module.walk():
        match one:
            case affine.LoadOp() | affine.StoreOp():
                use_dimensions(one, "map", one.indices)
            case affine.ForOp():
                use_dimensions(one, "lowerBoundMap", one.lowerBoundOperands)
                use_dimensions(one, "upperBoundMap", one.upperBoundOperands)
            case _:
                pass


def use_dimensions(one: Operation, key: str, operands: Sequence[Value]) -> None:
    """Turn the symbols of a map into dimensions where a value of a loop is among them."""
    of = one.properties.get(key)
    if not isinstance(of, builtin.AffineMapAttr):
        return
    dims, symbols = of.data.num_dims, of.data.num_symbols
    if all(_is_symbol(value) for value in operands[dims:]):
        return
    turned = [AffineExpr.dimension(dims + k) for k in range(symbols)]
    same = [AffineExpr.dimension(k) for k in range(dims)]
    whole = of.data.replace_dims_and_symbols(same, turned, dims + symbols, 0)
    one.properties[key] = builtin.AffineMapAttr(whole)


def _is_symbol(value: Value) -> bool:
    """Whether a value is the same in all of its function."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is not None and isinstance(block.parent_op(), func.FuncOp)


class _Parser(Parser):
    """A parser that remembers where operations begin."""

    def __init__(self, context: Context, text: str, file: str) -> None:
        super().__init__(context, text, file)
        self.places: dict[Operation, int] = {}
        self.last = 0

    def parse_operation(self) -> Operation:
        """The next operation."""
        start = self.last = self.pos
        operation = super().parse_operation()
        self.places[operation] = start
        return operation
