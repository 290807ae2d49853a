"""The statements of a Python kernel as the statements of a C region."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arrayfold.frontends.python.expressions import Expressions, Scope
from arrayfold.frontends.python.interface import Interface
from arrayfold.frontends.python.text import Code
from arrayfold.frontends.python.types import C_TYPES, Kind, is_whole, joined, natural, promoted
from arrayfold.frontends.python.values import CONDITIONAL, SUM, Value, converted, is_exactly

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
    """The region of a kernel: its lines, the types of its scalars, and what it needs of C."""

    interface: Interface
    variables: dict[str, Value] = field(default_factory=dict[str, Value])
    helpers: set[str] = field(default_factory=set[str])

    def translate(self) -> list[Code]:
        """The lines of the region. Types of scalars grow until they fit every assignment."""
        while True:
            before = dict(self.variables)
            scope = Scope(self.interface, self.variables, helpers=self.helpers)
            lines = self._block(self.interface.function.body, scope, set(), 1)
            if before == self.variables:
                return lines

    # ------------------------------------------------ blocks

    def _block(
        self, statements: Sequence[ast.stmt], scope: Scope, declared: set[str], depth: int
    ) -> list[Code]:
        """The lines of statements that run one after another.

        declared  scalars that C knows there
        """
        declared = set(declared)
        lines: list[Code] = []
        for number, statement in enumerate(statements):
            if statement in self.interface.setup:
                scope.defined |= _stored(statement)
                continue
            for name in sorted(_mentioned(statement)):
                if self._is_scalar(name) and name not in declared:
                    if _assigns(statement, name):
                        continue
                    rest = [one for one in statements[number:] if name in _mentioned(one)]
                    if len(rest) == 1 or all(isinstance(one, ast.For) for one in rest):
                        continue
                    kind = self.variables[name].kind if name in self.variables else "int"
                    lines.append(_line(depth, f"{C_TYPES[kind]} {self.interface.c_names.of(name)};"))
                    declared.add(name)
            is_last = depth == 1 and number == len(statements) - 1
            lines += self._statement(statement, scope, declared, depth, is_last=is_last)
        return lines

    def _is_scalar(self, name: str) -> bool:
        interface = self.interface
        known = name in interface.arrays or name in interface.named or name in interface.scalars
        return not known and name in self._assigned

    @property
    def _assigned(self) -> set[str]:
        """Names that get values by assignments, and not as names of loops."""
        return {
            name
            for node in ast.walk(self.interface.function)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
            for name in _targets(node)
        }

    def _statement(
        self, statement: ast.stmt, scope: Scope, declared: set[str], depth: int, *, is_last: bool
    ) -> list[Code]:
        text = self.interface.text
        match statement:
            case ast.Assign(targets=[target], value=value):
                return [self._assign(statement, target, value, scope, declared, depth)]
            case ast.Assign():
                raise text.error("one value for several targets", statement, "Write one assignment for each.")
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [self._assign(statement, target, value, scope, declared, depth)]
            case ast.AugAssign(target=target, op=operator, value=value):
                return [self._update(statement, target, operator, value, scope, depth)]
            case ast.For():
                return self._for(statement, scope, declared, depth)
            case ast.If():
                return self._if(statement, scope, declared, depth)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.AnnAssign(value=None):
                return []
            case ast.Return(value=None) if is_last:
                return []
            case ast.Expr():
                raise text.error(
                    "a value that nobody uses",
                    statement,
                    "A kernel assigns to elements of arrays and to names.",
                )
            case _:
                what, hint = _REFUSED.get(type(statement), (type(statement).__name__.lower(), _LOOP))
                raise text.error(f"{what} cannot stand in a kernel", statement, hint)

    # ------------------------------------------------ assignments

    def _assign(
        self,
        node: ast.stmt,
        target: ast.expr,
        value: ast.expr,
        scope: Scope,
        declared: set[str],
        depth: int,
    ) -> Code:
        expressions = Expressions(scope)
        result = expressions.value(value)
        if isinstance(target, ast.Subscript):
            return _line(
                depth, self._cell(target, scope), " = ", self._stored(node, target, result, scope), ";"
            )
        name = self._scalar_name(target, scope)
        kind = self._grown(node, name, result)
        is_new = name not in declared
        scope.defined.add(name)
        declared.add(name)
        head = f"{C_TYPES[kind]} " if is_new else ""
        stored = converted(result, kind)
        return _line(depth, Code.of(head, self.interface.c_names.of(name), at=node), " = ", stored.code, ";")

    def _update(
        self,
        node: ast.stmt,
        target: ast.expr,
        operator: ast.operator,
        value: ast.expr,
        scope: Scope,
        depth: int,
    ) -> Code:
        expressions = Expressions(scope)
        right = expressions.value(value)
        left = expressions.value(target)
        if isinstance(target, ast.Subscript):
            place = self._cell(target, scope)
            info_kind = left.kind
        else:
            name = self._scalar_name(target, scope)
            place = Code.of(self.interface.c_names.of(name), at=target)
            info_kind = left.kind
        symbol = _IN_PLACE.get(type(operator))
        if symbol is None and isinstance(operator, ast.Div) and not is_whole(info_kind):
            symbol = "/"
        result = expressions.operations.operation(node, operator, left, right)
        if isinstance(target, ast.Subscript):
            self._stored(node, target, result, scope)
        else:
            self._grown(node, self._scalar_name(target, scope), result)
        if symbol is None or is_whole(info_kind) != is_whole(result.kind):
            stored = (
                converted(result, self.variables[target.id].kind) if isinstance(target, ast.Name) else result
            )
            return _line(depth, place, " = ", stored.code, ";")
        if natural(left.kind, right.kind) != C_TYPES[promoted(left.kind, right.kind)]:
            right = converted(right, result.kind)
        return _line(depth, place, f" {symbol}= ", right.code, ";")

    def _cell(self, target: ast.Subscript, scope: Scope) -> Code:
        cell = Expressions(scope).value(target)
        base: ast.expr = target
        while isinstance(base, ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self.interface.arrays:
            raise self.interface.text.error("expected an element of an array to assign to", target)
        self.interface.arrays[base.id].is_written = True
        return cell.code

    def _stored(self, node: ast.AST, target: ast.Subscript, value: Value, scope: Scope) -> Code:
        kind = Expressions(scope).value(target).kind
        if is_whole(kind) and not is_whole(value.kind):
            raise self.interface.text.error(
                f"this stores a fraction ({value.kind}) in an array of {kind}",
                node,
                "Say what is meant: int(x) cuts it off.",
            )
        return value.code

    def _scalar_name(self, target: ast.expr, scope: Scope) -> str:
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
        if name in interface.arrays or name in interface.scalars or name in interface.named:
            what = "an array" if name in interface.arrays else "an argument or a size"
            raise text.error(f"{name} is {what} and cannot be assigned", target, "Use another name.")
        return name

    def _grown(self, node: ast.AST, name: str, value: Value) -> Kind:
        """The type of a scalar, after it was made to hold one more value."""
        old = self.variables.get(name, value)
        kind = joined(old.kind, value.kind)
        if kind is None or not is_exactly(value, kind):
            raise self.interface.text.error(
                f"the type of {name} changes while the kernel runs: {old.kind} and {value.kind}",
                node,
                "Begin with the right type, as in np.float64(0) or np.float32(0).",
            )
        others = (old.kinds | value.kinds) - {kind}
        self.variables[name] = Value(Code.of(self.interface.c_names.of(name)), kind, others=others)
        return kind

    # ------------------------------------------------ loops and conditions

    def _for(self, node: ast.For, scope: Scope, declared: set[str], depth: int) -> list[Code]:
        text = self.interface.text
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[_, *_] as arguments, keywords=[]) if (
                len(arguments) <= 3
            ):
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
        expressions = Expressions(scope)
        values = [expressions.value(argument) for argument in arguments]
        for value, argument in zip(values, arguments, strict=True):
            if not is_whole(value.kind):
                raise text.error(f"range() is for whole numbers, but this is a {value.kind}", argument)
        start = values[0].code if len(values) > 1 else Code.of("0", at=arguments[0])
        stop = values[1] if len(values) > 1 else values[0]
        step = 1
        if len(values) == 3:
            number = values[2].number
            if not isinstance(number, int) or number == 0:
                raise text.error("the step of a loop must be a number other than 0", arguments[2], _LOOP)
            step = number
        first_is_natural = len(values) == 1 or values[0].is_natural
        ends_above = stop.is_natural or stop.number == -1
        inner = scope.inner()
        inner.iterators[name] = first_is_natural if step > 0 else ends_above
        variable = self.interface.c_names.of(name)
        change = {1: f"{variable}++", -1: f"{variable}--"}.get(
            step, f"{variable} += {step}" if step > 0 else f"{variable} -= {-step}"
        )
        head = Code.of(
            *("for (long long ", variable, " = ", start, f"; {variable} {'<' if step > 0 else '>'} "),
            *(stop.inside(SUM), "; ", Code.of(change, at=node.iter), ") {"),
            at=node,
        )
        return [_line(depth, head), *self._block(node.body, inner, declared, depth + 1), _line(depth, "}")]

    def _if(self, node: ast.If, scope: Scope, declared: set[str], depth: int, lead: str = "") -> list[Code]:
        test = Expressions(scope).condition(node.test, CONDITIONAL)
        then, otherwise = scope.inner(), scope.inner()
        lines = [_line(depth, lead, Code.of("if (", test, ") {", at=node))]
        lines += self._block(node.body, then, declared, depth + 1)
        match node.orelse:
            case []:
                lines.append(_line(depth, "}"))
            case [ast.If() as nested]:
                lines += self._if(nested, otherwise, declared, depth, "} else ")
            case statements:
                lines.append(_line(depth, "} else {"))
                lines += self._block(statements, otherwise, declared, depth + 1)
                lines.append(_line(depth, "}"))
        scope.defined |= then.defined & otherwise.defined
        return lines


def _line(depth: int, *parts: str | Code) -> Code:
    return Code.of("    " * depth, *parts, "\n")


def _mentioned(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _stored(statement: ast.stmt) -> set[str]:
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def _assigns(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign) and _targets(statement) == [name]


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _iterators(function: ast.FunctionDef) -> set[str]:
    return {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
