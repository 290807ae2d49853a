"""Functions of MLIR as Python code that executes them on values nobody interprets.

A floating-point number, or an integer that is no index, is a fingerprint of the expression that computes it:
two programs compute the same from the same inputs, whatever the operations mean, iff fingerprints agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    UnrealizedConversionCastOp,
    i1,
)
from xdsl.ir import Block, Operation, Region
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from arrayfold.frontends.mlir.module import MlirModule, Value, memref_type, name_of

_COMMUTATIVE = frozenset(
    f"arith.{name}"
    for name in (
        "addf",
        "mulf",
        "addi",
        "muli",
        "andi",
        "ori",
        "xori",
        "maximumf",
        "minimumf",
        "maxnumf",
        "minnumf",
    )
)
_PURE = ("arith.", "math.", "complex.", "index.", "affine.apply")
_ON_INDICES = {
    "arith.addi": "({} + {})",
    "arith.subi": "({} - {})",
    "arith.muli": "({} * {})",
    "arith.floordivsi": "({} // {})",
    "arith.ceildivsi": "(-(-{} // {}))",
    "arith.divsi": "quotient({}, {})",
    "arith.remsi": "remainder({}, {})",
    "arith.divui": "({} // {})",
    "arith.remui": "({} % {})",
    "arith.maxsi": "max({}, {})",
    "arith.minsi": "min({}, {})",
    "arith.maxui": "max({}, {})",
    "arith.minui": "min({}, {})",
    "arith.andi": "({} & {})",
    "arith.ori": "({} | {})",
    "arith.xori": "({} ^ {})",
}
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


@dataclass(frozen=True, eq=False)
class Site:
    """An operation that may fail, or that writes.

    iterators    of the loops around it
    loops        names of these loops, none twice
    is_parallel  which of them are
    """

    operation: Operation
    iterators: tuple[str, ...]
    loops: tuple[str, ...]
    is_parallel: tuple[bool, ...]


@dataclass(eq=False)
class FunctionCode:
    """The code of a function, `run(arguments)`, and what its numbers of sites mean."""

    text: str
    sites: list[Site]


def key_of(*words: object) -> int:
    """A number of 61 bits for an operation, the same in every process."""
    return int.from_bytes(blake2b(repr(words).encode(), digest_size=8).digest()) >> 3


def python_code(module: MlirModule, function: func.FuncOp) -> FunctionCode:
    """The code of a function; an error where an operation is not understood."""
    if len(function.body.blocks) > 1:
        message = f"{function.sym_name.data} has several blocks, which are not executed"
        raise module.error(function, message, "Compare modules before --convert-scf-to-cf.")
    writer = _Writer(module)
    block = function.body.block
    names = ", ".join(writer.define(one) for one in block.args)
    writer.put(f"def run({names}{',' if len(block.args) == 1 else ''}):", 0)
    for one in block.args:
        if memref_type(one) is not None:
            writer.unpack(one)
    writer.block(block, ())
    return FunctionCode("\n".join(writer.lines) + "\n", writer.sites)


@dataclass(eq=False)
class _Writer:
    module: MlirModule
    lines: list[str] = field(default_factory=list[str])
    sites: list[Site] = field(default_factory=list[Site])
    _names: dict[Value, str] = field(default_factory=dict["Value", str])
    _shown: dict[str, str] = field(default_factory=dict[str, str])
    _parallel_loops: set[str] = field(default_factory=set[str])
    _depth: int = 1
    _count: int = 0

    def put(self, line: str, depth: int | None = None) -> None:
        self.lines.append("    " * (self._depth if depth is None else depth) + line)

    def define(self, value: Value) -> str:
        """The name of a value."""
        self._count += 1
        self._names[value] = f"{'m' if memref_type(value) is not None else 'v'}{self._count}"
        return self._names[value]

    def _iterator(self, value: Value) -> str:
        name = self.define(value)
        self._shown[name] = value.name_hint or "i"
        return name

    def _of(self, value: Value) -> str:
        return self._names[value]

    def _all(self, values: Sequence[Value]) -> list[str]:
        return [self._names[value] for value in values]

    def unpack(self, value: Value) -> None:
        """Name the cells and the sizes of a memref."""
        kind, name = memref_type(value), self._of(value)
        assert kind is not None
        self.put(f"{name}d = {name}.cells")
        sizes = "".join(f"{name}s{k}, " for k in range(len(kind.get_shape())))
        if sizes:
            self.put(f"{sizes} = {name}.shape")

    def _site(self, operation: Operation, iterators: tuple[str, ...]) -> int:
        shown = tuple(self._shown[name] for name in iterators)
        flags = tuple(name in self._parallel_loops for name in iterators)
        self.sites.append(Site(operation, shown, iterators, flags))
        return len(self.sites) - 1

    def _refuse(self, operation: Operation, what: str = "is not executed") -> Exception:
        hint = "Turn linalg into loops first: mlir-opt --convert-linalg-to-affine-loops"
        return self.module.error(operation, f"{name_of(operation)} {what}", hint)

    # ------------------------------------------------------------ operations

    def block(self, block: Block, around: tuple[str, ...]) -> None:
        """All operations but what ends it."""
        before = len(self.lines)
        for operation in block.ops:
            self._operation(operation, around)
        if len(self.lines) == before:
            self.put("pass")

    def _operation(self, one: Operation, around: tuple[str, ...]) -> None:
        match one:
            case affine.ForOp() | scf.ForOp():
                self._for(one, around)
            case affine.ParallelOp() | scf.ParallelOp():
                self._parallel(one, around)
            case affine.IfOp() | scf.IfOp():
                self._if(one, around)
            case affine.LoadOp() | affine.StoreOp() | memref.LoadOp() | memref.StoreOp():
                self._access(one, around)
            case memref.AllocOp() | memref.AllocaOp():
                self._allocate(one, around)
            case memref.DeallocOp() | affine.YieldOp() | scf.YieldOp():
                pass
            case memref.DimOp():
                source, which = self._of(one.source), self._of(one.index)
                self.put(f"{self.define(one.results[0])} = {source}.shape[{which}]")
            case memref.CastOp():
                self.put(f"{self.define(one.results[0])} = {self._of(one.operands[0])}")
                self.unpack(one.results[0])
            case memref.CopyOp():
                self.put(f"{self._of(one.operands[1])}.copy({self._of(one.operands[0])})")
            case memref.GetGlobalOp():
                kind = memref_type(one.memref)
                assert kind is not None
                key = key_of("global", str(one.name_))
                self.put(f"{self.define(one.memref)} = outside({key}, {tuple(kind.get_shape())})")
                self.unpack(one.memref)
            case func.ReturnOp():
                self.put(f"return [{', '.join(self._all(one.operands))}]")
            case _:
                self._other(one)

    def _other(self, one: Operation) -> None:
        name = name_of(one)
        if name == "scf.reduce" and not one.operands:
            return
        if one.regions or isinstance(one, UnrealizedConversionCastOp):
            raise self._refuse(one)
        is_pure = name.startswith(_PURE)
        takes, gives = (
            any(memref_type(value) is not None for value in values) for values in (one.operands, one.results)
        )
        if gives or (takes and name != "func.call"):
            raise self._refuse(one)
        if is_pure or name in ("affine.min", "affine.max"):
            for value, text in zip(one.results, self._pure(one, name), strict=True):
                self.put(f"{self.define(value)} = {text}")
            return
        key = key_of(name, _attributes(one))
        self.put(f"event = call({key}, [{', '.join(self._all(one.operands))}])")
        for number, value in enumerate(one.results):
            if isinstance(value.type, IndexType):
                raise self._refuse(one, "computes an index, which is not executed")
            bit = " & 1" if _is_bit(value) else ""
            self.put(f"{self.define(value)} = H((event, {number})){bit}")

    def _pure(self, one: Operation, name: str) -> Iterator[str]:
        operands = self._all(one.operands)
        (result,) = one.results
        of = one.properties.get("map", one.attributes.get("map"))
        if isinstance(of, AffineMapAttr):
            found = self._map(of.data, one.operands)
            yield found[0] if len(found) == 1 else f"{name[-3:]}({', '.join(found)})"
        elif isinstance(one, arith.ConstantOp) and isinstance(one.value, IntegerAttr):
            value = one.value.value.data
            yield (
                str(value)
                if isinstance(result.type, IndexType)
                else str(value & 1)
                if _is_bit(result)
                else f"I({value})"
            )
        elif isinstance(one, arith.IndexCastOp):
            if not isinstance(result.type, IndexType):
                yield f"I({operands[0]})"
            else:
                yield f"index({operands[0]}, {self._site(one, ())})"
        elif isinstance(one, arith.SelectOp) and (isinstance(result.type, IndexType) or _is_bit(result)):
            yield f"{operands[1]} if {operands[0]} else {operands[2]}"
        elif isinstance(one, arith.CmpiOp) and isinstance(one.lhs.type, IndexType):
            yield f"int({operands[0]} {_PREDICATES[one.predicate.value.data]} {operands[1]})"
        elif name in _ON_INDICES and (isinstance(result.type, IndexType) or _is_bit(result)):
            yield _ON_INDICES[name].format(*operands)
        elif isinstance(result.type, IndexType):
            raise self._refuse(one, "computes an index, which is not executed")
        else:
            if name in _COMMUTATIVE:
                operands = [f"*sorted(({', '.join(operands)}))"]
            bit = " & 1" if _is_bit(result) else ""
            yield f"H(({', '.join([str(key_of(name, _attributes(one))), *operands])},)){bit}"

    # ------------------------------------------------------------ memory

    def _allocate(self, one: memref.AllocOp | memref.AllocaOp, around: tuple[str, ...]) -> None:
        kind = one.memref.type
        sizes = iter(self._all(one.dynamic_sizes))
        shape = "".join(f"{next(sizes) if size < 0 else size}, " for size in kind.get_shape())
        site = self._site(one, around)
        name = self.define(one.memref)
        with_layout = isinstance(kind.layout, AffineMapAttr)
        self.put(f"{name} = allocated({site}, ({shape}), {_tuple(around)}, {with_layout})")
        self.unpack(one.memref)

    def _access(
        self, one: affine.LoadOp | affine.StoreOp | memref.LoadOp | memref.StoreOp, around: tuple[str, ...]
    ) -> None:
        if isinstance(one, affine.LoadOp | affine.StoreOp):
            texts = self._map(one.map.data, one.indices)
        else:
            texts = self._all(one.indices)
        name = self._of(one.memref)
        subscripts = [f"x{k}" for k in range(len(texts))]
        if texts:
            self.put(f"{', '.join(subscripts)} = {', '.join(texts)}")
        where = f"{self._site(one, around)}, {name}, {_tuple(subscripts)}, {_tuple(around)}"
        inside = [f"0 <= {x} < {name}s{k}" for k, x in enumerate(subscripts)]
        if inside:
            self.put(f"if not ({' and '.join(inside)}): outside_of({where})")
        cell = "0"
        kind = memref_type(one.memref)
        assert kind is not None
        if isinstance(kind.layout, AffineMapAttr) and isinstance(
            one.memref.owner, memref.AllocOp | memref.AllocaOp
        ):
            symbols = self._all(one.memref.owner.symbol_operands)
            results = [_expression(part, subscripts, symbols) for part in kind.layout.data.results]
            cell = f"({', '.join(results)},)"
        else:
            for k, x in enumerate(subscripts):
                cell = x if k == 0 else f"({cell}) * {name}s{k} + {x}"
        if self._parallel_loops.intersection(around):
            self.put(f"touched({where}, {cell})")
        if isinstance(one, affine.LoadOp | memref.LoadOp):
            result = one.results[0]
            if isinstance(result.type, IndexType) or memref_type(result) is not None:
                raise self._refuse(one, "gets an index or a memref out of memory, which is not executed")
            value = self.define(result)
            self.put(f"{value} = {name}d[{cell}]")
            self.put(f"if {value} is None: {value} = undefined({where})")
            if _is_bit(result):
                self.put(f"{value} &= 1")
        else:
            self.put(f"{name}d[{cell}] = {self._of(one.value)}")
            self.put(f"if watched is {name}: stored({where})")

    def _map(self, of: AffineMap, operands: Sequence[Value]) -> list[str]:
        names = self._all(operands)
        return [_expression(one, names[: of.num_dims], names[of.num_dims :]) for one in of.results]

    # ------------------------------------------------------------ loops and conditions

    def _nested(self, block: Block, around: tuple[str, ...], results: Sequence[str]) -> None:
        """A block one level deeper, whose yielded values get names."""
        self._depth += 1
        self.block(block, around)
        last = block.last_op
        if results and last is not None:
            self.put(f"{', '.join(results)}, = {', '.join(self._all(last.operands))},")
        self._depth -= 1

    def _for(self, one: affine.ForOp | scf.ForOp, around: tuple[str, ...]) -> None:
        if isinstance(one, affine.ForOp):
            inits = one.inits
            lows = self._map(one.lowerBoundMap.data, one.lowerBoundOperands)
            highs = self._map(one.upperBoundMap.data, one.upperBoundOperands)
            bounds = f"{_of_all('max', lows)}, {_of_all('min', highs)}, {one.step.value.data}"
        else:
            inits = one.iter_args
            if not isinstance(one.lb.type, IndexType):
                raise self._refuse(one, "over integers that are no indices is not executed")
            bounds = f"{self._of(one.lb)}, {self._of(one.ub)}, {self._of(one.step)}"
        if any(memref_type(value) is not None for value in inits):
            raise self._refuse(one, "that carries memrefs is not executed")
        iterator, *carried = one.body.block.args
        names = [self.define(value) for value in carried]
        for value, init in zip(names, self._all(inits), strict=True):
            self.put(f"{value} = {init}")
        name = self._iterator(iterator)
        self.put(f"for {name} in range({bounds}):")
        self._nested(one.body.block, (*around, name), names)
        for value, result in zip(names, one.results, strict=True):
            self.put(f"{self.define(result)} = {value}")

    def _parallel(self, one: affine.ParallelOp | scf.ParallelOp, around: tuple[str, ...]) -> None:
        if one.results:
            raise self._refuse(one, "with a reduction is not executed")
        bounds = (
            self._bounds_of_affine(one) if isinstance(one, affine.ParallelOp) else self._bounds_of_scf(one)
        )
        names = [self._iterator(value) for value in one.body.block.args]
        self._parallel_loops.update(names)
        for name, bound in zip(names, bounds, strict=True):
            self.put(f"for {name} in parallel({bound}):")
            self._depth += 1
        self._depth -= 1
        self._nested(one.body.block, (*around, *names), ())
        self._depth -= len(names) - 1

    def _bounds_of_affine(self, one: affine.ParallelOp) -> list[str]:
        lower, upper = one.lowerBoundsMap.data, one.upperBoundsMap.data
        split = lower.num_dims + lower.num_symbols
        lows, highs = self._map(lower, one.map_operands[:split]), self._map(upper, one.map_operands[split:])
        found: list[str] = []
        groups = (one.lowerBoundsGroups.get_values(), one.upperBoundsGroups.get_values())
        for low, high, step in zip(*(map(int, group) for group in groups), one.steps.data, strict=True):
            found.append(f"{_of_all('max', lows[:low])}, {_of_all('min', highs[:high])}, {step.value.data}")
            lows, highs = lows[low:], highs[high:]
        return found

    def _bounds_of_scf(self, one: scf.ParallelOp) -> list[str]:
        ends = zip(*map(self._all, (one.lowerBound, one.upperBound, one.step)), strict=True)
        return [", ".join(bound) for bound in ends]

    def _if(self, one: affine.IfOp | scf.IfOp, around: tuple[str, ...]) -> None:
        regions: tuple[Region, Region]
        if isinstance(one, affine.IfOp):
            regions = (one.then_region, one.else_region)
            of, names = one.condition.data, self._all(one.args)
            signs = {
                AffineConstraintKind.ge: ">=",
                AffineConstraintKind.le: "<=",
                AffineConstraintKind.eq: "==",
            }
            dims, symbols = names[: of.num_dims], names[of.num_dims :]
            sides = [(_expression(part.lhs, dims, symbols), part.kind) for part in of.constraints]
            ends = [_expression(part.rhs, dims, symbols) for part in of.constraints]
            parts = [f"{left} {signs[kind]} {end}" for (left, kind), end in zip(sides, ends, strict=True)]
            condition = " and ".join(parts) or "True"
        else:
            regions = (one.true_region, one.false_region)
            condition = self._of(one.cond)
        if any(memref_type(value) is not None for value in one.results):
            raise self._refuse(one, "that chooses memrefs is not executed")
        names = [self.define(value) for value in one.results]
        self.put(f"if {condition}:")
        self._nested(regions[0].block, around, names)
        if regions[1].blocks:
            self.put("else:")
            self._nested(regions[1].block, around, names)


def _tuple(names: Sequence[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"


def _of_all(kind: str, values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{kind}({', '.join(values)})"


def _is_bit(value: Value) -> bool:
    return value.type == i1


def _attributes(one: Operation) -> list[tuple[str, str]]:
    """What distinguishes operations of one name."""
    pairs = {**one.attributes, **one.properties}
    types = [("", str(value.type)) for value in one.results]
    return [*sorted((key, str(value)) for key, value in pairs.items()), *types]


def _expression(expression: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """An affine expression in Python."""
    match expression:
        case AffineConstantExpr(value=value):
            return str(value)
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineSymExpr(position=position):
            return symbols[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = _expression(lhs, dims, symbols), _expression(rhs, dims, symbols)
            if kind == AffineBinaryOpKind.CeilDiv:
                return f"(-(-{left} // {right}))"
            signs = {
                AffineBinaryOpKind.Add: "+",
                AffineBinaryOpKind.Mul: "*",
                AffineBinaryOpKind.Mod: "%",
                AffineBinaryOpKind.FloorDiv: "//",
            }
            return f"({left} {signs[kind]} {right})"
        case _:
            raise AssertionError(f"no affine expression: {expression}")
