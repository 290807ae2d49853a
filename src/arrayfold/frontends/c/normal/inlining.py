"""Calls of functions of the file that work on arrays: the body stands where the call stood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.calls import only_computes
from arrayfold.c.edits import Edit, NotInText, Rewriter, apply_edits
from arrayfold.c.lexer import identifiers
from arrayfold.c.source import CText, assigned_in, changed_operand
from arrayfold.c.tree import (
    CStatement,
    Expression,
    FunctionTree,
    Node,
    Variable,
    bare,
    children,
    named_in,
    walk,
)
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.side_effects import effects_of
from arrayfold.frontends.c.normal.texts import TreeText, end_of, header_of, literal, with_node

_POSTFIX = re.compile(r"\w+(?:\[[^][]*\]|->\w+|\.\w+)*")
_DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)


class _Stays(Exception):
    """A call cannot be replaced."""


def inlined_calls(scene: RegionScene) -> Iterator[Rewriting]:
    """For each statement that calls a function with arrays, the first such call as its body."""
    for statement in scene.statements():
        try:
            found = _in_statement(scene, statement)
        except (_Stays, NotInText, InputError):
            continue
        if found is not None:
            yield found


def _in_statement(scene: RegionScene, statement: CStatement) -> Rewriting | None:
    whole, place = _evaluated(scene, statement)
    if whole is None or place is None:
        return None
    call = next((one for one in _unconditional(whole) if _is_wanted(scene, one)), None)
    if call is None:
        return None
    function = scene.functions[call.function.name]
    is_own_statement = isinstance(statement, c.Evaluate) and _without_void(whole) is call
    body = _InlinedBody(scene, function, call)
    end = end_of(scene.text, statement)
    if is_own_statement:
        start = statement.span.start
        return Rewriting(start, end, (Edit(start, end, body.text(None)),), inlined=function.name)
    if function.returns.spelling == "void" or not _may_come_first(scene, statement, whole, call, function):
        raise _Stays
    expression = body.as_expression()
    name = scene.fresh(function.name) if expression is None else expression
    span = call.span
    edit = Edit(span.start, span.end, name)
    if not all(one.span.is_text for one in walk(call)):
        new = with_node(whole, call, literal(call, name))
        edit = Edit(*place, TreeText(scene.text).expression(new))
    if expression is not None:
        return Rewriting(statement.span.start, end, (edit,), inlined=function.name)
    before = f"{function.returns.spelling} {name}; {body.text(name)}"
    found = scene.beside(statement, end, before, "", [edit])
    return Rewriting(found.start, found.end, found.edits, inlined=function.name)


def _without_void(expression: Expression) -> Expression:
    inner = bare(expression)
    return (
        _without_void(inner.operand) if isinstance(inner, c.Cast) and inner.type.spelling == "void" else inner
    )


def _evaluated(scene: RegionScene, statement: CStatement) -> tuple[Expression | None, tuple[int, int] | None]:
    """What a statement evaluates once and first, and where that stands."""
    match statement:
        case c.Evaluate(expression=expression):
            return expression, (expression.span.start, end_of(scene.text, statement) - 1)
        case c.Declare(variables=(variable,)) if variable.initial is not None and not variable.is_array:
            return variable.initial, (variable.initial.span.start, variable.initial.span.end)
        case c.If(condition=value) | c.Switch(value=value):
            return value, header_of(scene.text, statement)
        case _:
            return None, None


def _unconditional(expression: Expression) -> Iterator[c.Call]:
    """The calls that an expression surely makes, inner ones first."""
    inner = bare(expression)
    match inner:
        case c.Binary(operator="&&" | "||", left=part) | c.Conditional(condition=part):
            yield from _unconditional(part)
            return
        case c.Opaque():
            return
        case _:
            pass
    for child in children(inner):
        if isinstance(child, Expression):
            yield from _unconditional(child)
    if isinstance(inner, c.Call):
        yield inner


def _is_wanted(scene: RegionScene, call: c.Call) -> bool:
    """Whether a call hides what happens to arrays."""
    function = scene.functions.get(call.function.name)
    if function is None or len(function.parameters) != len(call.arguments):
        return False
    takes_memory = any(
        one.is_array or one.type.kind in ("pointer", "array", "other") for one in function.parameters
    )
    return takes_memory or any(one.is_array or one in call.function.changed for one in call.function.globals)


def _may_come_first(
    scene: RegionScene, statement: CStatement, whole: Expression, call: c.Call, function: FunctionTree
) -> bool:
    """Whether a call may be made before everything else in its statement."""
    inner = bare(whole)
    if isinstance(inner, c.Assign) and isinstance(statement, c.Evaluate):
        target = named_in(walk(inner.target))
        is_all = bare(inner.value) is call and inner.operator == "="
        if is_all and all(map(scene.is_own_scalar, target)):
            return True
        if effects_of(inner.value):
            return False
    elif isinstance(inner, c.Call) and isinstance(statement, c.Evaluate):
        if any(map(effects_of, inner.arguments)):
            return False
    elif effects_of(whole) and inner is not call:
        return False
    if bare(whole) is call:
        return True
    others = (one.function for one in walk(whole) if isinstance(one, c.Call) and one not in (call, inner))
    return _writes_nothing(function) and all(
        only_computes(one) or (one.name in scene.functions and _writes_nothing(scene.functions[one.name]))
        for one in others
    )


def _writes_nothing(function: FunctionTree) -> bool:
    """Whether a function changes only its own scalars and arrays."""
    nodes = list(walk(function.body))
    own = {*(one for one in function.parameters if not one.is_array), *c.declared_in(nodes)}
    for node in nodes:
        operand = changed_operand(node)
        if operand is not None and not _is_in(operand, own):
            return False
    calls = (node for node in nodes if isinstance(node, c.Call))
    return all(only_computes(one.function) for one in calls)


def _is_in(operand: Expression, own: set[Variable]) -> bool:
    access = c.array_access(operand)
    return access is not None and access[0] in own and not access[0].is_pointer


# ---------------------------------------------------------------- the body


@dataclass(frozen=True, eq=False)
class _Substitution:
    """What stands for the variables of a function where its body stands."""

    text: CText
    names: Mapping[Variable, str]
    pointed: Mapping[Variable, str]

    def of(self, node: Expression | CStatement, end: int | None = None) -> str:
        """The text of a node with them."""
        rewriter = Rewriter(self.text, self._variable, self._element, self._other)
        rewriter.visit(node)
        edits = list(rewriter.found)
        for one in walk(node):
            if isinstance(one, c.Declare):
                edits += self._declared(one)
        start = node.span.start
        if not node.span.is_text:
            raise NotInText(self.text.file)
        return apply_edits(self.text.text, edits, start, node.span.end if end is None else end)

    def _declared(self, node: c.Declare) -> Iterator[Edit]:
        for variable in node.variables:
            if not self.text.text.startswith(variable.name, variable.at):
                raise NotInText(variable.name)
            yield Edit(variable.at, variable.at + len(variable.name), self.names[variable])
            for extent in variable.extents:
                if isinstance(extent, Expression):
                    rewriter = Rewriter(self.text, self._variable, self._element, self._other)
                    rewriter.visit(extent)
                    yield from rewriter.found

    def _variable(self, variable: Variable) -> str | None:
        if variable in self.pointed:
            raise NotInText(variable.name)
        return self.names.get(variable)

    def _element(self, variable: Variable, texts: Sequence[str], _node: Expression) -> str | None:
        if variable in self.pointed:
            return self.pointed[variable] if texts == ["0"] else None
        if variable not in self.names or not texts:
            return None
        name = self.names[variable]
        name = name if _POSTFIX.fullmatch(name) else f"({name})"
        return name + "".join(f"[{one}]" for one in texts)

    def _other(self, node: Expression) -> str | None:
        inner = bare(node.operand) if isinstance(node, c.Unary) and node.operator == "*" else None
        if isinstance(inner, c.Reference) and inner.variable in self.pointed:
            return self.pointed[inner.variable]
        return None


class _InlinedBody:
    """The body of a function for one call."""

    def __init__(self, scene: RegionScene, function: FunctionTree, call: c.Call) -> None:
        self._scene = scene
        self._function = function
        self._call = call
        self._nodes = list(walk(function.body))
        self._refuse()
        names: dict[Variable, str] = {}
        pointed: dict[Variable, str] = {}
        self._declarations: list[str] = []
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            place = self._pointed(parameter, argument)
            if place is not None:
                pointed[parameter] = place
                continue
            text = self._substitute(parameter, argument)
            if text is None:
                text = self._declaration(parameter, argument)
            names[parameter] = text
        for variable in dict.fromkeys(c.declared_in(self._nodes)):
            names[variable] = scene.fresh(variable.name)
        self._names = _Substitution(scene.text, names, pointed)

    def _refuse(self) -> None:
        """Raise where a body cannot stand elsewhere."""
        scene, span = self._scene, self._function.span
        text = scene.text
        body = text.plain[self._function.body.span.start : self._function.body.span.end]
        reached: set[c.Function] = set()
        pending = [one.function for one in self._nodes if isinstance(one, c.Call)]
        while pending:
            one = pending.pop()
            if one not in reached:
                reached.add(one)
                pending += one.calls
        is_recursive = any(one.name == self._function.name for one in reached)
        has_labels = any(
            isinstance(node, c.Label) or (isinstance(node, c.OtherStatement) and node.what != "return")
            for node in self._nodes
        )
        measured = (one for one in self._nodes if isinstance(one, c.Opaque) and one.what == "sizeof")
        if any(one in self._function.parameters for node in measured for one in named_in(walk(node))):
            raise _Stays
        is_inside = span.start <= self._call.span.start < span.end
        static = any(one.storage == "static" for one in c.declared_in(self._nodes))
        if is_recursive or has_labels or is_inside or static or _DIRECTIVE.search(body):
            raise _Stays
        outside = {
            *(one.name for one in named_in(self._nodes) if one.storage in ("global", "static")),
            *(one.function.name for one in self._nodes if isinstance(one, c.Call)),
        }
        caller = scene.region.function
        declared = {*caller.parameters, *c.declared_in(walk(caller.body))}
        if outside & {one.name for one in declared}:
            raise _Stays
        used = identifiers(body) & text.macros
        if any(len(re.findall(rf"#[ \t]*(?:define|undef)[ \t]+{one}\b", text.plain)) > 1 for one in used):
            raise _Stays

    # ------------------------------------------------ parameters

    def _is_changed(self, parameter: Variable) -> bool:
        operands = (changed_operand(node) for node in self._nodes)
        inner = (bare(one) for one in operands if one is not None)
        return any(isinstance(one, c.Reference) and one.variable is parameter for one in inner)

    def _pointed(self, parameter: Variable, argument: Expression) -> str | None:
        """What a pointer points to, if it only ever stands for that: `*p` with &x."""
        inner = _without_casts(argument)
        if parameter.rank != 1 or not isinstance(inner, c.Unary) or inner.operator != "&":
            return None
        if not self._holds_still(inner.operand) or self._is_changed(parameter):
            return None
        mentions = sum(1 for one in named_in(self._nodes) if one is parameter)
        known = sum(self._is_target(node, parameter) for node in self._nodes)
        text = TreeText(self._scene.text).expression(inner.operand)
        text = text if _POSTFIX.fullmatch(text) else f"({text})"
        return text if mentions == known else None

    @staticmethod
    def _is_target(node: Node, parameter: Variable) -> bool:
        """Whether a node is `*p` or `p[0]`."""
        match node:
            case c.Unary(operator="*", operand=base):
                pass
            case c.Subscript(base=base, index=c.Number(value=0)):
                pass
            case _:
                return False
        inner = bare(base)
        return isinstance(inner, c.Reference) and inner.variable is parameter

    def _substitute(self, parameter: Variable, argument: Expression) -> str | None:
        """The argument itself, if it means the same wherever the parameter stands."""
        if self._is_changed(parameter) or not self._holds_still(argument):
            return None
        text = TreeText(self._scene.text).expression(argument)
        if not parameter.is_array:
            if parameter.type.kind == "other":
                return text
            same = (parameter.type.kind, parameter.type.bits) == (argument.type.kind, argument.type.bits)
            is_small = parameter.type.is_integer or isinstance(bare(argument), c.Reference | c.Number)
            plain = parameter.type.canonical.replace("const", "").strip()
            is_same = same and argument.type.canonical.replace("const", "").strip() == plain
            if not is_small:
                return None
            return text if is_same else f"({parameter.type.spelling})({text})"
        inner = _without_casts(argument)
        access = c.array_access(inner)
        if access is not None and access[0].rank - len(access[1]) == parameter.rank:
            is_same = _plain(access[0].element) == _plain(parameter.element)
            return text if is_same else None
        is_structure = parameter.element.kind == "other" and parameter.rank == 1
        return f"({text})" if is_structure else None

    def _declaration(self, parameter: Variable, argument: Expression) -> str:
        """A variable with the value of the argument."""
        name = self._scene.fresh(parameter.name)
        text = TreeText(self._scene.text).expression(argument)
        if parameter.rank > 1 or parameter.type.kind == "other":
            raise _Stays
        kind = parameter.type.spelling
        if parameter.is_array:
            kind = f"{parameter.element.spelling} *"
        self._declarations.append(f"{kind}{'' if kind.endswith('*') else ' '}{name} = {text};")
        return name

    def _holds_still(self, argument: Expression) -> bool:
        """Whether the body changes nothing that an argument looks at."""
        nodes = list(walk(argument))
        if effects_of(argument) or any(isinstance(one, c.Call | c.Opaque) for one in nodes):
            return False
        reads = [one for one in nodes if isinstance(one, c.Subscript | c.Member) or _is_star(one)]
        is_place = argument.type.kind in ("pointer", "array") or not reads
        scene = self._scene
        if not is_place or any(isinstance(one, c.Conditional) for one in nodes):
            fields = [one for one in reads if isinstance(one, c.Member)]
            changed = {one.name for one in self._nodes if isinstance(one, c.Member)}
            writes = (changed_operand(node) for node in self._nodes)
            written = {one.name for op in writes if op for one in walk(op) if isinstance(one, c.Member)}
            if len(fields) != len(reads) or {one.name for one in fields} & written & changed:
                return False
        assigned = set(assigned_in(self._nodes))
        return all(
            scene.is_own_scalar(one) or one.is_array or one.holder is not None or one not in assigned
            for one in named_in(nodes)
        )

    # ------------------------------------------------ statements

    def as_expression(self) -> str | None:
        """What the function returns, if that is all that it does."""
        match self._function.body.statements:
            case (c.OtherStatement(what="return", parts=(value,)),) if isinstance(value, Expression):
                if self._declarations:
                    return None
                text = self._names.of(value)
                kind = self._function.returns
                if _POSTFIX.fullmatch(text):
                    return text if _plain(kind) == _plain(value.type) else f"({kind.spelling}){text}"
                return f"({kind.spelling})({text})" if _plain(kind) != _plain(value.type) else f"({text})"
            case _:
                return None

    def text(self, result: str | None) -> str:
        """The body as a block; what it returns goes to a variable."""
        return " ".join(
            ["{", *self._declarations, self._sequence(self._function.body.statements, result), "}"]
        )

    def _sequence(self, statements: Sequence[CStatement], result: str | None) -> str:
        """Statements one after another, of which some may return."""
        pieces: list[str] = []
        for number, one in enumerate(statements):
            if not _returns(one):
                pieces.append(self._names.of(one, end_of(self._scene.text, one)))
                continue
            return "\n".join([*pieces, self._last(one, statements[number + 1 :], result)])
        return "\n".join(pieces)

    def _last(self, one: CStatement, rest: Sequence[CStatement], result: str | None) -> str:
        """A statement that returns somewhere, and what follows where it does not."""
        match one:
            case c.OtherStatement(what="return", parts=parts):
                value = parts[0] if parts else None
                if result is None:
                    if isinstance(value, Expression) and effects_of(value):
                        raise _Stays
                    return ";"
                if not isinstance(value, Expression):
                    raise _Stays
                return f"{result} = {self._names.of(value)};"
            case c.Block(statements=inner):
                return f"{{ {self._sequence((*inner, *rest), result)} }}"
            case c.If(condition=condition, then=then, otherwise=otherwise):
                sides = [then, *([otherwise] if otherwise is not None else [])]
                ends = [_always_returns(side) for side in sides]
                if rest and not any(ends):
                    raise _Stays
                texts = [self._sequence((side, *rest), result) for side in sides]
                if otherwise is None:
                    texts.append(self._sequence(rest, result))
                return f"if ({self._names.of(condition)}) {{ {texts[0]} }} else {{ {texts[1]} }}"
            case _:
                raise _Stays


def _plain(kind: c.CType) -> str:
    words = (kind.canonical or kind.spelling).split()
    return " ".join(one for one in words if one not in ("const", "restrict", "volatile"))


def _is_star(node: Node) -> bool:
    return isinstance(node, c.Unary) and node.operator == "*"


def _without_casts(expression: Expression) -> Expression:
    inner = bare(expression)
    while isinstance(inner, c.Cast) and inner.type.kind == "pointer":
        inner = bare(inner.operand)
    return inner


def _returns(node: CStatement) -> bool:
    return any(isinstance(one, c.OtherStatement) and one.what == "return" for one in walk(node))


def _always_returns(node: CStatement) -> bool:
    match node:
        case c.OtherStatement(what="return"):
            return True
        case c.Block(statements=statements):
            return any(map(_always_returns, statements))
        case c.If(then=then, otherwise=otherwise) if otherwise is not None:
            return _always_returns(then) and _always_returns(otherwise)
        case _:
            return False
