"""Which pointers of a function are the only way to memory that it allocates, and which are not, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arrayfold.c import tree as c
from arrayfold.c.allocation import Allocation, Setter
from arrayfold.c.lexer import closing_bracket
from arrayfold.c.source import CText, Region, assigned_in, changed_operand, variables_with_address
from arrayfold.c.tree import (
    CStatement,
    Expression,
    FunctionTree,
    Node,
    Reference,
    Variable,
    bare,
    children,
    declared_in,
    walk,
)
from arrayfold.exact.factors import quotient
from arrayfold.exact.formula import Formula
from arrayfold.frontends.c.scratch import scratch_arrays

# Function -> which of its arguments say how large the memory is; their product counts.
SIZES: Mapping[str, tuple[int, ...]] = {
    "malloc": (0,),
    "calloc": (0, 1),
    "aligned_alloc": (1,),
    "posix_memalign": (2,),
    "alloca": (0,),
    "__builtin_alloca": (0,),
}
_CALL = re.compile(r"(\w+)\s*\(")


@dataclass(frozen=True, eq=False)
class OwnMemory:
    """What a function allocates for itself.

    allocations  pointer -> its memory
    reasons      other pointers to memory that is allocated here -> why they are not the only way to it
    scratch      static arrays that nothing but the function names
    """

    allocations: Mapping[Variable, Allocation] = field(default_factory=dict[Variable, Allocation])
    reasons: Mapping[Variable, str] = field(default_factory=dict[Variable, str])
    scratch: frozenset[Variable] = frozenset()

    @property
    def mentions(self) -> frozenset[Node]:
        """The places outside of a region that name such pointers and do nothing to the memory."""
        return frozenset[Node]().union(*(one.mentions for one in self.allocations.values()))


def find_own_memory(text: CText, region: Region, sizes: Iterable[Variable]) -> OwnMemory:
    """The pointers that are the only way to memory that the function allocates once in its text.

    sizes  the parameters of the region, which a new size may name
    """
    parameters = list(sizes)
    allocations: dict[Variable, Allocation] = {}
    reasons: dict[Variable, str] = {}
    for variable, mentions in _mentions(region.function).items():
        found = _allocation(text, region, variable, mentions)
        if found is None:
            continue
        reason = found if isinstance(found, str) else _why_not_there(text, region, found, parameters)
        if reason:
            reasons[variable] = reason
        else:
            assert isinstance(found, Allocation)
            allocations[variable] = found
    return OwnMemory(allocations, reasons, frozenset(scratch_arrays(text, region)))


# ---------------------------------------------------------------- mentions


_Mention = tuple[Reference, tuple[Node, ...]]


def _mentions(function: FunctionTree) -> dict[Variable, list[_Mention]]:
    """Local pointers -> the places that name them, each with all that is around it, innermost first."""
    found: dict[Variable, list[_Mention]] = {}

    def visit(node: Node, around: tuple[Node, ...]) -> None:
        if isinstance(node, c.Reference) and _is_local_pointer(node.variable):
            found.setdefault(node.variable, []).append((node, around))
        if isinstance(node, c.Declare):
            for one in filter(_is_local_pointer, node.variables):
                found.setdefault(one, [])
        for child in children(node):
            visit(child, (node, *around))

    visit(function.body, ())
    return found


def _is_local_pointer(variable: Variable) -> bool:
    """Whether a variable is a local pointer to a number, a structure or an array, and not one to pointers."""
    return (
        variable.storage == "local"
        and variable.type.kind == "pointer"
        and variable.is_pointer
        and variable.rank >= 1
        and None not in variable.extents[1:]
        and not variable.is_volatile
    )


def _allocation(
    text: CText, region: Region, variable: Variable, mentions: Sequence[_Mention]
) -> Allocation | str | None:
    """The memory of a pointer, or why it is not its own; None if the function allocates none for it."""
    calls: list[c.Call] = []
    setters: list[Setter] = []
    frees: list[c.Evaluate | c.Call] = []
    tests: list[tuple[Expression, bool]] = []
    managed: list[Reference] = []
    problem = ""
    if region.holds(variable.span.start):
        problem = f"declared inside the region in line {text.line(variable.span.start)}"
    if variable.initial is not None:
        call = allocating_call(variable.initial)
        calls += [call] if call is not None else []
        setters.append(Setter(variable))
        if call is None and not is_null(variable.initial):
            problem = f"a pointer to memory from elsewhere (line {text.line(variable.span.start)})"
    for reference, around in mentions:
        inside = region.holds(reference.span.start)
        what = _what_happens(reference, around)
        if what == "an element":
            continue
        if isinstance(what, c.Evaluate | c.Call):
            frees.append(what)
        elif isinstance(what, bool):
            tests.append((_test_around(reference, around), what))
        elif isinstance(what, tuple):
            setters.append(what[0])
            calls += [what[1]] if what[1] is not None else []
        elif what and not inside:
            problem = problem or f"{what} in line {text.line(reference.span.start)}"
        if not isinstance(what, str) and inside:
            problem = problem or f"used as a pointer in line {text.line(reference.span.start)}"
        managed.append(reference)
    if not calls:
        return None
    unseen = _unseen(text, region.function, variable, [one for one, _ in mentions])
    if unseen is not None:
        problem = problem or f"used in line {text.line(unseen)} in a way that is not understood"
    if problem:
        return problem
    if len(calls) > 1:
        return (
            f"allocated in line {text.line(calls[0].span.start)} and in line {text.line(calls[1].span.start)}"
        )
    arguments = _arguments_in_text(text, calls[0])
    if arguments is None:
        return f"its allocation in line {text.line(calls[0].span.start)} comes out of a macro"
    return Allocation(
        variable, calls[0], arguments, tuple(setters), tuple(frees), tuple(tests), frozenset(managed)
    )


def _unseen(
    text: CText, function: FunctionTree, variable: Variable, mentions: Iterable[Reference]
) -> int | None:
    """A place that may name a variable, and of which the tree does not show how; None if there is none."""
    seen = {variable.at, *(one.span.start for one in mentions)}
    start, end = function.span.start, function.span.end
    name = re.compile(rf"(?<![\w.])(?<!->){re.escape(variable.name)}\b")
    for match in name.finditer(text.plain, start, end):
        if match.start() not in seen:
            return match.start()
    for node in walk(function.body):
        is_hidden = isinstance(node, c.Opaque) and node.what == "a statement as expression"
        if is_hidden and not node.span.is_text and not text.plain.startswith("assert", node.span.start):
            return node.span.start
    return None


def allocating_call(expression: Expression) -> c.Call | None:
    """The call of malloc or the like that gives an expression its value."""
    inner = _without_casts(expression)
    if isinstance(inner, c.Call) and inner.function.name in SIZES and not inner.function.has_body:
        is_complete = len(inner.arguments) > max(SIZES[inner.function.name])
        return inner if is_complete and inner.function.name != "posix_memalign" else None
    return None


def is_null(expression: Expression) -> bool:
    """Whether an expression is NULL."""
    inner = _without_casts(expression)
    return isinstance(inner, c.Number) and inner.value == 0


def _without_casts(expression: Expression) -> Expression:
    while isinstance(expression, c.Cast | c.Parentheses):
        expression = expression.operand if isinstance(expression, c.Cast) else expression.inner
    return expression


def _what_happens(
    reference: Reference, around: Sequence[Node]
) -> str | bool | c.Evaluate | c.Call | tuple[Setter, c.Call | None]:
    """What is done with a pointer where it is named.

    True or False   compared with null: whether the comparison holds if there is memory
    a statement     freed there, or a call where that is only a part of a statement
    a setter        set there, maybe to memory that the call allocates
    a text          anything else; "an element", or nothing if its size is measured
    """
    if any(isinstance(node, c.Opaque) and node.what == "sizeof" for node in around):
        return ""
    outer = _outside_casts(around)
    node = outer[0] if outer else None
    truth = _truth(reference, around)
    if truth is not None:
        return truth
    match node:
        case c.Subscript():
            return "an element"
        case c.Unary(operator="*") | c.Binary(operator="+" | "-"):
            return "used as a pointer"
        case c.Unary(operator="&"):
            setter = _aligned(outer[1:])
            return "address taken" if setter is None else setter
        case c.Call(function=function):
            statement = _statement_around(outer[1:])
            if function.name == "free" and not function.has_body and len(node.arguments) == 1:
                return node if statement is None else statement
            return f"given to {function.name}()"
        case c.Assign(operator="=", target=target, value=value) if _without_casts(target) is reference:
            call = allocating_call(value)
            if call is None and not is_null(value):
                return "set to other memory"
            statement = _statement_around(outer[1:])
            if statement is None and _truth(node, outer[1:]) is None and not _is_for_effect(outer[1:]):
                return "its value is used where it is allocated,"
            return Setter(node, statement), call
        case c.Assign():
            return "its address is stored"
        case c.Declare():
            return "its address is stored"
        case c.OtherStatement(what="return"):
            return "returned"
        case _:
            return "used as a pointer"


def _outside_casts(around: Sequence[Node]) -> Sequence[Node]:
    """What is around a node, from the first that is no conversion and no parenthesis."""
    count = 0
    while count < len(around) and isinstance(around[count], c.Cast | c.Parentheses):
        count += 1
    return around[count:]


def _statement_around(around: Sequence[Node]) -> c.Evaluate | None:
    """The expression statement that is nothing but what stands in it."""
    outer = _outside_casts(around)
    return outer[0] if outer and isinstance(outer[0], c.Evaluate) else None


def _is_for_effect(around: Sequence[Node]) -> bool:
    """Whether what stands there is a part of an expression with commas that is a statement."""
    outer = _outside_casts(around)
    while outer and isinstance(outer[0], c.Binary) and outer[0].operator == ",":
        outer = _outside_casts(outer[1:])
    return bool(outer) and isinstance(outer[0], c.Evaluate)


def _truth(pointer: Node, around: Sequence[Node]) -> bool | None:
    """Whether what is asked of a pointer holds if it is not null; None if it is no such question."""
    outer = _outside_casts(around)
    inner = [pointer, *around[: len(around) - len(outer)]]
    if any(isinstance(one, c.Cast) and one.type.is_integer and not one.type.is_boolean for one in inner):
        return None
    match outer[0] if outer else None:
        case c.Unary(operator="!"):
            return False
        case c.Binary(operator="==" | "!=" as operator, left=left, right=right):
            other = right if any(left is one for one in inner) else left
            return (operator == "!=") if is_null(other) else None
        case c.Binary(operator="&&" | "||"):
            return True
        case (c.If() | c.While() | c.For() | c.Conditional()) as node:
            return True if any(node.condition is one for one in inner) else None
        case _:
            return None


def _test_around(reference: Reference, around: Sequence[Node]) -> Expression:
    """The expression that compares a pointer with null."""
    outer = _outside_casts(around)
    node = outer[0]
    if isinstance(node, c.Unary) or (isinstance(node, c.Binary) and node.operator in ("==", "!=")):
        return node
    return reference


def _aligned(around: Sequence[Node]) -> tuple[Setter, c.Call] | None:
    """A call of posix_memalign around the address of a pointer, its first argument."""
    outer = _outside_casts(around)
    node = outer[0] if outer else None
    if not isinstance(node, c.Call) or node.function.name != "posix_memalign" or node.function.has_body:
        return None
    return Setter(node, _statement_around(outer[1:])), node


def _arguments_in_text(text: CText, call: c.Call) -> tuple[tuple[int, int], ...] | None:
    """Where the arguments of a call stand; None if the call comes out of a macro."""
    match = _CALL.match(text.plain, call.span.start)
    if match is None or match.group(1) not in (call.function.name, "alloca"):
        return None
    if not (call.span.is_text or match.group(1) == "alloca"):
        return None
    end = closing_bracket(text.plain, match.end() - 1)
    if end is None:
        return None
    spans: list[tuple[int, int]] = []
    start = position = match.end()
    while position <= end:
        sign = text.plain[position]
        if position == end or sign == ",":
            spans.append((start, position))
            start = position + 1
        inner = closing_bracket(text.plain, position) if sign in "([{" else None
        position = position + 1 if inner is None else inner + 1
    return tuple(spans) if len(spans) == len(call.arguments) else None


# ---------------------------------------------------------------- sizes


def _why_not_there(
    text: CText, region: Region, allocation: Allocation, parameters: Iterable[Variable]
) -> str | None:
    """Why the size of folded memory cannot be said where it is allocated; None if it can."""
    variable, function = allocation.variable, region.function
    declared = [*function.parameters, *declared_in(walk(function.body))]
    if sum(one.name == variable.name for one in declared) > 1:
        return f"{variable.name} is the name of several variables"
    between = _between(region, allocation)
    changed = {*assigned_in(between), *variables_with_address(function)}
    for size in parameters:
        is_field = size.holder is not None and not {size, size.holder} & changed
        if is_field and not any(map(_may_store, between)):
            continue
        if size.storage == "global" and "const" not in size.type.canonical.split():
            return f"its size may depend on {size.name}, which is global"
        is_late = size.storage == "local" and not size.span.end <= allocation.at
        is_hidden = sum(one.name == size.name for one in declared) > (size in declared)
        if size in changed or is_late or is_hidden:
            line = text.line(allocation.at)
            return f"{size.name} may have another value where it is allocated in line {line}"
    return None


@dataclass(frozen=True)
class _Element:
    """The type of elements as it is spelled, and how many bytes it has."""

    spelling: str
    width: int


def _may_store(node: c.Node) -> bool:
    """Whether a part of a statement may write to memory that fields of structures are in."""
    operand = changed_operand(node)
    if operand is not None:
        return not isinstance(bare(operand), c.Reference)
    return isinstance(node, c.Call) and node.function.name not in (*SIZES, "free", "abort")


def _between(region: Region, allocation: Allocation) -> Sequence[c.Node]:
    """What may run after an allocation and before the region.

    Where each pass through the block of the region comes to the allocation first, what stands between counts.
    """
    nodes = list(walk(region.function.body))
    declared = next(
        (one for one in nodes if isinstance(one, c.Declare) and allocation.variable in one.variables), None
    )
    block = next((one for one in nodes if isinstance(one, c.Block) and declared in one.statements), None)
    is_first = (
        block is not None
        and len(allocation.setters) == 1
        and isinstance(allocation.setters[0].whole, Variable)
        and block.span.start < allocation.at < region.start < block.span.end
        and not any(isinstance(one, c.Label) and one.span.start < region.end for one in nodes)
        and not any(
            isinstance(one, c.For | c.While) and allocation.at < one.span.start < region.start < one.span.end
            for one in nodes
        )
    )
    between = [one for one in nodes if allocation.at < one.span.start < region.start]
    return between if is_first else nodes


class SizeReader:
    """Reads how many elements an allocation makes room for.

    names  parameters of the region -> their names in the model
    """

    def __init__(self, text: CText, function: FunctionTree, names: Mapping[Variable, str]) -> None:
        self._text = text
        self._names = names
        self._changed = {*assigned_in(walk(function.body)), *variables_with_address(function)}

    def count(self, allocation: Allocation) -> Formula | None:
        """How many elements there is room for; None if that is not understood."""
        positions = SIZES[allocation.function]
        arguments = [allocation.call.arguments[position] for position in positions]
        width = self._width(allocation.variable, arguments)
        element = _Element(allocation.variable.element.spelling, width)
        sizes = [self._value(one, element) for one in arguments]
        known = [one for one in sizes if one is not None]
        if not width or len(known) < len(sizes):
            return None
        return quotient(Formula.product(known), Formula.constant(width))

    def rows(self, allocation: Allocation) -> Formula | None:
        """How many rows there is room for, if the pointer points to rows; elements otherwise."""
        total = self.count(allocation)
        for extent in allocation.variable.extents[1:]:
            size = self._extent(extent)
            total = None if total is None or size is None else quotient(total, size)
        return total

    def _extent(self, extent: int | Expression | None) -> Formula | None:
        if isinstance(extent, int):
            return Formula.constant(extent)
        return None if extent is None else self._value(extent, _Element("", 0))

    def _width(self, variable: Variable, arguments: Sequence[Expression]) -> int:
        """The bytes of an element, which the sizes say where the type does not."""
        if variable.element.kind in ("signed", "unsigned", "floating") and variable.element.bits:
            return variable.element.bits // 8
        for node in (node for argument in arguments for node in walk(argument)):
            if isinstance(node, c.Opaque) and node.what == "sizeof" and node.value:
                words = (
                    self._text.plain[node.span.start : node.span.end].removeprefix("sizeof").strip("() \t")
                )
                if words == variable.element.spelling or any(
                    part.type.canonical == variable.element.canonical for part in map(bare, node.parts)
                ):
                    return node.value
        return 0

    def _value(self, expression: Expression, element: _Element) -> Formula | None:
        """An expression as a polynomial of the parameters."""
        match expression:
            case c.Number(value=value):
                return Formula.constant(value)
            case c.Parentheses(inner=inner):
                return self._value(inner, element)
            case c.Cast(operand=operand, type=kind) if kind.is_integer and operand.type.is_integer:
                if kind.bits < operand.type.bits or kind.is_boolean:
                    return None
                return self._value(operand, element)
            case c.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
                first, second = self._value(left, element), self._value(right, element)
                if first is None or second is None:
                    return None
                if operator == "*":
                    return first * second
                return first + second if operator == "+" else first - second
            case c.Reference(variable=variable):
                if variable in self._names:
                    return Formula.name(self._names[variable])
                is_fixed = variable.storage == "local" and variable.type.is_integer
                is_fixed = is_fixed and variable not in self._changed and not variable.is_array
                if is_fixed and variable.initial is not None:
                    return self._value(variable.initial, element)
                return None
            case c.Opaque(what="sizeof"):
                return self._measured(expression, element)
            case _:
                return None

    def _measured(self, measured: c.Opaque, element: _Element) -> Formula | None:
        """What sizeof says, also of arrays with variable extents."""
        if measured.value is not None:
            return Formula.constant(measured.value)
        words = self._text.plain[measured.span.start : measured.span.end]
        inner = bare(measured.parts[0]) if len(measured.parts) == 1 else None
        if isinstance(inner, c.Unary | c.Subscript):
            pointer = bare(inner.operand if isinstance(inner, c.Unary) else inner.base)
            if not isinstance(pointer, c.Reference):
                return None
            dimensions = [self._extent(one) for one in pointer.variable.extents[1:]]
            size = pointer.variable.element.bits // 8
        else:
            count = words.count("[")
            base = re.match(r"sizeof\s*\(\s*([\w\s]+?)\s*\[", words)
            is_element = base is not None and base.group(1).split() == element.spelling.split()
            dimensions = [self._value(one, element) for one in measured.parts[len(measured.parts) - count :]]
            size = element.width if is_element else 0
        known = [one for one in dimensions if one is not None]
        if not size or not known or len(known) < len(dimensions):
            return None
        return Formula.product([Formula.constant(size), *known])


def is_null_test(statement: CStatement) -> bool:
    """Whether a statement only ends a function, after frees, where memory was not given."""
    if not isinstance(statement, c.If) or statement.otherwise is not None:
        return False
    tests = [bare(one) for one in _alternatives(statement.condition)]
    return all(_pointer_tested(one) is not None or fails_to_allocate(one) for one in tests)


def fails_to_allocate(test: Expression) -> bool:
    """Whether it asks if posix_memalign gave no memory."""
    inner = bare(test)
    if isinstance(inner, c.Binary) and inner.operator == "!=" and is_null(inner.right):
        inner = bare(inner.left)
    return isinstance(inner, c.Call) and inner.function.name == "posix_memalign"


def _alternatives(condition: Expression) -> Iterator[Expression]:
    inner = bare(condition)
    if isinstance(inner, c.Binary) and inner.operator == "||":
        yield from _alternatives(inner.left)
        yield from _alternatives(inner.right)
    else:
        yield inner


def _pointer_tested(test: Expression) -> Variable | None:
    """The pointer that a test finds to be null."""
    match test:
        case c.Unary(operator="!", operand=operand):
            inner = _without_casts(operand)
        case c.Binary(operator="==", left=left, right=right) if is_null(right) or is_null(left):
            inner = _without_casts(left if is_null(right) else right)
        case _:
            return None
    if isinstance(inner, c.Assign) and allocating_call(inner.value) is not None:
        inner = _without_casts(inner.target)
    is_pointer = isinstance(inner, c.Reference) and _is_local_pointer(inner.variable)
    return inner.variable if is_pointer and isinstance(inner, c.Reference) else None
