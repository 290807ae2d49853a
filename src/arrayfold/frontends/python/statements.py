"""The statements of a Python kernel as the statements of a C region."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from arrayfold.exact.formula import Formula
from arrayfold.frontends.python.expressions import ExpressionTranslator, KernelScope
from arrayfold.frontends.python.names import stored_names
from arrayfold.frontends.python.signature import ArrayInfo, Interface, subscripts
from arrayfold.frontends.python.slices import SliceLoop, Slices, has_slice, whole
from arrayfold.frontends.python.text import Code
from arrayfold.frontends.python.values import (
    C_TYPES,
    CONDITIONAL,
    SUM,
    DType,
    NumberKind,
    Value,
    converted,
    dtype_called,
    fits,
    is_whole,
    joined,
    natural,
    promoted,
)

_LOOP = "Write it as for i in range(start, stop, step)."
_REFUSED: Mapping[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("while", "Only for loops over range() with affine bounds can be analysed."),
    ast.Break: ("break", "Put the condition into the bound of the loop, or an if around the rest."),
    ast.Continue: ("continue", "Put the remaining statements into an if."),
    ast.Return: ("return", "A kernel writes its results into arrays that are arguments."),
    ast.With: ("with", "Use it around the call of the kernel."),
    ast.Try: ("try", "Use it around the call of the kernel."),
    ast.Raise: ("raise", "Check before the call; conditions on sizes can be asserted."),
    ast.FunctionDef: ("a function", "Write its body where it is used."),
    ast.ClassDef: ("a class", "Use arrays and numbers."),
    ast.Import: ("import", "Import at the top of the file."),
    ast.ImportFrom: ("import", "Import at the top of the file."),
    ast.Global: ("global", "Use an argument."),
    ast.Nonlocal: ("nonlocal", "Use an argument."),
    ast.Delete: ("del", "Leave it out: temporaries end with the kernel."),
    ast.Match: ("match", "Use ifs."),
    ast.Assert: (
        "assert inside a loop or a condition",
        "Assert what is known of sizes at the top of the kernel.",
    ),
    ast.AsyncFor: ("async", _LOOP),
    ast.AsyncWith: ("async", _LOOP),
}

_IN_PLACE: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass
class Body:
    """The region of a kernel: its lines, the types of its scalars, and what it needs of C.

    parallel    the first loop over af.prange
    new_values  arrays for what is assigned to slices, where it depends on what is there -> the statement
    """

    interface: Interface
    variables: dict[str, Value] = field(default_factory=dict[str, Value])
    helpers: set[str] = field(default_factory=set[str])
    new_values: dict[str, ast.stmt] = field(default_factory=dict[str, ast.stmt])
    parallel: ast.For | None = None
    _counters: list[str] = field(default_factory=list[str])

    def translate(self) -> list[Code]:
        """The lines of the region. Types of scalars grow until they fit every assignment."""
        while True:
            before = dict(self.variables)
            scope = KernelScope(self.interface, self.variables, self.helpers)
            lines = self._block(self.interface.function.body, scope)
            if before == self.variables:
                return lines

    # ------------------------------------------------ blocks

    def _block(self, statements: Sequence[ast.stmt], scope: KernelScope) -> list[Code]:
        """The lines of statements that run one after another, indented."""
        lines: list[Code] = []
        for number, statement in enumerate(statements):
            if statement in self.interface.setup:
                scope.defined |= {node.id for node in stored_names(statement)}
                if statement in self.interface.filled:
                    lines += self._fill(statement, scope)
                continue
            for name in self._undeclared(statements[number:], scope):
                kind = self.variables[name].kind if name in self.variables else "int"
                lines.append(Code.of(f"{C_TYPES[kind]} {self.interface.c_names.of(name)};"))
                scope.declared.add(name)
            if not self._is_final_return(statement):
                lines += self._statement(statement, scope)
        return [Code.of("    ", line) for line in lines]

    def _undeclared(self, statements: Sequence[ast.stmt], scope: KernelScope) -> list[str]:
        """The scalars that must be declared before the first statement, because later ones use them, too."""
        names: list[str] = []
        first = statements[0]
        for name in sorted(_mentioned(first) & self._assigned - scope.declared):
            rest = [statement for statement in statements if name in _mentioned(statement)]
            is_local = len(rest) == 1 or all(isinstance(statement, ast.For) for statement in rest)
            is_set = isinstance(first, ast.Assign | ast.AnnAssign) and _targets(first) == [name]
            if self._is_scalar(name) and not is_set and not is_local:
                names.append(name)
        return names

    def _is_final_return(self, statement: ast.stmt) -> bool:
        is_plain = isinstance(statement, ast.Return) and statement.value is None
        return is_plain and statement is self.interface.function.body[-1]

    def _is_scalar(self, name: str) -> bool:
        interface = self.interface
        return not (name in interface.arrays or name in interface.named or name in interface.scalars)

    @cached_property
    def _assigned(self) -> frozenset[str]:
        """Names that get values by assignments, and not as names of loops."""
        return frozenset(
            name
            for node in ast.walk(self.interface.function)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
            for name in _targets(node)
        )

    def _statement(self, statement: ast.stmt, scope: KernelScope) -> list[Code]:
        text = self.interface.text
        match statement:
            case (
                ast.Assign(targets=[ast.Subscript() as target])
                | ast.AugAssign(target=ast.Subscript() as target)
            ) if has_slice(target):
                return self._assign_slice(statement, target, scope)
            case ast.Assign(targets=[ast.Name(id=name)]) if self._is_computed(name):
                return self._compute(statement, name, scope)
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                return [self._assign(statement, target, value, scope)]
            case ast.Assign():
                raise text.error(
                    "this assigns one value to several targets", statement, "Write one assignment for each."
                )
            case ast.AugAssign():
                return [self._update(statement, scope)]
            case ast.For():
                return self._for(statement, scope)
            case ast.If():
                return self._if(statement, scope)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())) | ast.AnnAssign():
                return []
            case ast.Expr():
                raise text.error(
                    "this value is never used",
                    statement,
                    "A kernel assigns to elements of arrays and to names.",
                )
            case _:
                what, hint = _REFUSED.get(type(statement), (type(statement).__name__.lower(), _LOOP))
                raise text.error(f"{what} cannot stand in a kernel", statement, hint)

    # ------------------------------------------------ slices

    def _fill(self, statement: ast.stmt, scope: KernelScope) -> list[Code]:
        """The loops that give all elements of a new array one value."""
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        value = ast.copy_location(ast.Constant(self.interface.filled[statement]), statement)
        return self._assign_whole(statement, target.id, value, scope)

    def _is_computed(self, name: str) -> bool:
        info = self.interface.arrays.get(name)
        return info is not None and info.made_by == "value"

    def _compute(self, statement: ast.stmt, name: str, scope: KernelScope) -> list[Code]:
        """The loops that compute a new array, whose elements have the type of the value."""
        info = self.interface.arrays[name]
        assert isinstance(info.node, ast.expr)
        target = _everything(name, info.rank, statement)
        loops = self._loops(target, scope)
        value = ExpressionTranslator(replace(scope.inner(), elements=tuple(loops))).value(info.node)
        info.dtype = _dtype_of_kind(value.kind)
        scope.defined.add(name)
        return self._assign_whole(statement, name, info.node, scope)

    def _assign_whole(
        self, statement: ast.stmt, name: str, value: ast.expr, scope: KernelScope
    ) -> list[Code]:
        target = _everything(name, self.interface.arrays[name].rank, statement)
        return self._assign_slice(ast.copy_location(ast.Assign([target], value), statement), target, scope)

    def _loops(self, target: ast.Subscript, scope: KernelScope) -> list[SliceLoop]:
        """The loops over what is assigned to; all statements have the same counters."""
        rank = len(subscripts(target)[1])
        while len(self._counters) < rank:
            self._counters.append(self.interface.c_names.fresh(f"k{len(self._counters)}"))
        return Slices(self.interface, scope.iterators).loops(target, self._counters)

    def _assign_slice(
        self, statement: ast.Assign | ast.AugAssign, target: ast.Subscript, scope: KernelScope
    ) -> list[Code]:
        """The loops over the elements. What depends on other elements of the array is computed before."""
        self._array_of(target)
        slices, loops = Slices(self.interface, scope.iterators), self._loops(target, scope)
        inner = replace(scope.inner(), elements=tuple(loops))
        if not slices.reads_changed(statement.value, target):
            return _nest(loops, self._element_line(statement, target, statement.value, inner), statement)
        name = self._new_values(statement, target, loops, inner)
        first = ast.copy_location(ast.Name(name, ast.Load()), statement.value)
        value = ExpressionTranslator(inner).value(statement.value)
        cells = "".join(f"[{Formula.name(loop.name) - loop.start}]" for loop in loops)
        before = Code.of(
            Code.of(self.interface.c_names.of(name), cells, at=statement), " = ", value.code, ";"
        )
        scope.defined.add(name)
        inner.defined.add(name)
        after = self._element_line(statement, target, first, inner)
        return [*_nest(loops, before, statement), *_nest(loops, after, statement)]

    def _element_line(
        self,
        statement: ast.Assign | ast.AugAssign,
        target: ast.Subscript,
        value: ast.expr,
        scope: KernelScope,
    ) -> Code:
        if isinstance(statement, ast.Assign):
            return self._assign(statement, target, value, scope)
        update = ast.copy_location(ast.AugAssign(target, statement.op, value), statement)
        return self._update(update, scope)

    def _new_values(
        self, statement: ast.stmt, target: ast.Subscript, loops: Sequence[SliceLoop], scope: KernelScope
    ) -> str:
        """The array for the values that a statement assigns, in Python's names."""
        interface = self.interface
        assert isinstance(statement, ast.Assign | ast.AugAssign)
        kind = ExpressionTranslator(scope).value(statement.value).kind
        known = [name for name, other in self.new_values.items() if other is statement]
        sizes = {*interface.sizes, *map(interface.c_names.of, interface.scalars)}
        if not all(loop.length.names() <= sizes for loop in loops):
            raise interface.text.error(
                "this reads elements that it changes, and how many depends on a loop",
                statement,
                "Write a loop over the elements, or use an array for the new values.",
            )
        base = self._array_of(target)
        name = known[0] if known else f"{base}_new"
        while not known and (name in interface.arrays or name in interface.local_names):
            name += "_"
        lengths: list[Formula | None] = [loop.length for loop in loops]
        interface.arrays[name] = ArrayInfo(name, _dtype_of_kind(kind), False, statement, lengths)
        self.new_values[name] = statement
        return name

    # ------------------------------------------------ assignments

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr, scope: KernelScope) -> Code:
        result = ExpressionTranslator(scope).value(value)
        if isinstance(target, ast.Subscript):
            cell = self._cell(target, scope)
            self._check_stored(node, cell, result)
            return Code.of(cell.code, " = ", result.code, ";")
        name = self._scalar_name(target, scope)
        kind = self._grown(node, name, result)
        head = "" if name in scope.declared else f"{C_TYPES[kind]} "
        scope.defined.add(name)
        scope.declared.add(name)
        place = Code.of(head, self.interface.c_names.of(name), at=node)
        return Code.of(place, " = ", converted(result, kind).code, ";")

    def _update(self, node: ast.AugAssign, scope: KernelScope) -> Code:
        expressions, target = ExpressionTranslator(scope), node.target
        right = expressions.value(node.value)
        left = expressions.value(target)
        if isinstance(target, ast.Subscript):
            self._cell(target, scope)
        else:
            self._scalar_name(target, scope)
        result = stored = expressions.operations.operation(node, node.op, left, right)
        if isinstance(target, ast.Name):
            stored = converted(result, self._grown(node, target.id, result))
        else:
            self._check_stored(node, left, result)
        symbol = _IN_PLACE.get(type(node.op))
        if symbol is None and isinstance(node.op, ast.Div) and not is_whole(left.kind):
            symbol = "/"
        if symbol is None or is_whole(left.kind) != is_whole(result.kind):
            return Code.of(left.code, " = ", stored.code, ";")
        if natural(left.kind, right.kind) != C_TYPES[promoted(left.kind, right.kind)]:
            right = converted(right, result.kind)
        return Code.of(left.code, f" {symbol}= ", right.code, ";")

    def _cell(self, target: ast.Subscript, scope: KernelScope) -> Value:
        """An element of an array that is assigned to."""
        cell = ExpressionTranslator(scope).value(target)
        self.interface.arrays[self._array_of(target)].is_written = True
        return cell

    def _array_of(self, target: ast.Subscript) -> str:
        base, _ = subscripts(target)
        if not isinstance(base, ast.Name) or base.id not in self.interface.arrays:
            raise self.interface.text.error("expected an element of an array to assign to", target)
        return base.id

    def _check_stored(self, node: ast.AST, cell: Value, value: Value) -> None:
        if is_whole(cell.kind) and not is_whole(value.kind):
            raise self.interface.text.error(
                f"this stores a fraction ({value.kind}) in an array of {cell.kind}",
                node,
                "Say what is meant: int(x) cuts it off.",
            )
        if is_whole(cell.kind) and isinstance(value.number, int) and not fits(value.number, cell.kind):
            raise self.interface.text.error(f"{value.number} does not fit into {cell.kind}", node)

    def _scalar_name(self, target: ast.expr, scope: KernelScope) -> str:
        text, interface = self.interface.text, self.interface
        if not isinstance(target, ast.Name):
            raise text.error(
                f"cannot assign to {text.source(target)} in a kernel",
                target,
                "Assign to one element of an array, or to one name.",
            )
        name = target.id
        if name in scope.iterators or name in _iterators(interface.function):
            raise text.error(f"{name} is the name of a loop", target, "Use another name.")
        if not self._is_scalar(name):
            what = "an array" if name in interface.arrays else "an argument or a size"
            raise text.error(f"{name} is {what} and cannot be assigned", target, "Use another name.")
        return name

    def _grown(self, node: ast.AST, name: str, value: Value) -> NumberKind:
        """The type of a scalar, after it was made to hold one more value."""
        old = self.variables.get(name, value)
        kind = joined(old.kind, value.kind)
        if kind is None or not value.is_exactly(kind):
            raise self.interface.text.error(
                f"the type of {name} changes while the kernel runs: {old.kind} and {value.kind}",
                node,
                "Begin with the right type, as in np.float64(0) or np.float32(0).",
            )
        others = (old.kinds | value.kinds) - {kind}
        self.variables[name] = Value(Code.of(self.interface.c_names.of(name)), kind, others=others)
        return kind

    # ------------------------------------------------ loops and conditions

    def _for(self, node: ast.For, scope: KernelScope) -> list[Code]:
        name = self._iterator(node, scope)
        start, stop, step = self._range(node, scope)
        inner = scope.inner()
        inner.iterators[name] = start.is_natural if step > 0 else stop.is_natural or stop.number == -1
        variable = self.interface.c_names.of(name)
        change = {1: "++", -1: "--"}.get(step, f" += {step}" if step > 0 else f" -= {-step}")
        head = Code.of(
            *("for (long long ", variable, " = ", start.code, f"; {variable} {'<' if step > 0 else '>'} "),
            *(stop.inside(SUM), "; ", Code.of(f"{variable}{change}", at=node.iter), ") {"),
            at=node,
        )
        pragma: list[Code] = []
        if self._is_parallel(node):
            self.parallel = self.parallel or node
            pragma = [Code.of("#pragma omp parallel for", at=node)]
        return [*pragma, head, *self._block(node.body, inner), Code.of("}")]

    def _is_parallel(self, node: ast.For) -> bool:
        """Whether the turns of a loop may run at once, which `af.prange` says."""
        return isinstance(node.iter, ast.Call) and self.interface.path(node.iter.func) == "arrayfold.prange"

    def _iterator(self, node: ast.For, scope: KernelScope) -> str:
        """The name of a loop, after a check of all but its bounds."""
        text = self.interface.text
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] | [_, _, _], keywords=[]):
                pass
            case ast.Call(args=[_] | [_, _] | [_, _, _], keywords=[]) if self._is_parallel(node):
                pass
            case _:
                raise text.error(
                    f"a loop in a kernel runs over range(), not over {text.source(node.iter)}",
                    node.iter,
                    _LOOP,
                )
        if node.orelse:
            raise text.error(
                "else of a loop cannot stand in a kernel", node.orelse[0], "Write it after the loop."
            )
        if not isinstance(node.target, ast.Name):
            raise text.error("a loop has one name", node.target, _LOOP)
        name = node.target.id
        if name in scope.iterators:
            raise text.error(
                f"the loop around this one is called {name}, too", node.target, "Use another name."
            )
        if name in self._assigned or name in self.interface.arrays or name in self.interface.scalars:
            raise text.error(f"{name} is used for something else, too", node.target, "Use another name.")
        return name

    def _range(self, node: ast.For, scope: KernelScope) -> tuple[Value, Value, int]:
        """Where a loop starts, where it stops, and its step."""
        text, expressions = self.interface.text, ExpressionTranslator(scope)
        assert isinstance(node.iter, ast.Call)
        arguments = node.iter.args
        values = [expressions.value(argument) for argument in arguments]
        for value, argument in zip(values, arguments, strict=True):
            if not is_whole(value.kind):
                raise text.error(f"range() is for whole numbers, but this is a {value.kind}", argument)
        if len(values) == 1:
            return Value(Code.of("0", at=arguments[0]), "int", number=0, is_natural=True), values[0], 1
        step = values[2].number if len(values) == 3 else 1
        if not isinstance(step, int) or step == 0:
            raise text.error("the step of a loop must be a number other than 0", arguments[2], _LOOP)
        return values[0], values[1], step

    def _if(self, node: ast.If, scope: KernelScope, lead: str = "") -> list[Code]:
        test = ExpressionTranslator(scope).condition(node.test, CONDITIONAL)
        then, otherwise = scope.inner(), scope.inner()
        lines = [Code.of(lead, Code.of("if (", test, ") {", at=node)), *self._block(node.body, then)]
        match node.orelse:
            case []:
                lines.append(Code.of("}"))
            case [ast.If() as nested]:
                lines += self._if(nested, otherwise, "} else ")
            case statements:
                lines += [Code.of("} else {"), *self._block(statements, otherwise), Code.of("}")]
        scope.defined |= then.defined & otherwise.defined
        return lines


def _everything(name: str, rank: int, node: ast.AST) -> ast.Subscript:
    """All elements of an array, to be assigned to."""
    target = ast.Subscript(ast.Name(name, ast.Load()), ast.Tuple(whole(rank), ast.Load()), ast.Store())
    return ast.fix_missing_locations(ast.copy_location(target, node))


def _dtype_of_kind(kind: NumberKind) -> DType:
    """The type of the elements of a new array of such numbers."""
    dtype = dtype_called(kind)
    assert dtype is not None
    return dtype


def _nest(loops: Sequence[SliceLoop], line: Code, node: ast.AST) -> list[Code]:
    """A line inside of loops."""
    lines = [line]
    for loop in reversed(loops):
        lines = [loop.head(node), *(Code.of("    ", inner) for inner in lines), Code.of("}")]
    return lines


def _mentioned(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _iterators(function: ast.FunctionDef) -> set[str]:
    return {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
