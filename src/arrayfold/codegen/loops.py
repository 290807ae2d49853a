"""Loops for an order: isl's AST, printed as C by our own walker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import islpy as isl

from arrayfold.base.errors import InputError, IslFailure
from arrayfold.c.arithmetic import choose, parenthesised, without_outer
from arrayfold.c.edits import INDENT, indented
from arrayfold.codegen.inner_loop import InnerLoop, Mode
from arrayfold.codegen.ranges import NODES, OPERATIONS, Ranges, constant_of, operands_of, parts_of
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import sets_of

_COMPARISONS: Mapping[Any, str] = {
    isl.ast_expr_op_type.eq: "==",
    isl.ast_expr_op_type.le: "<=",
    isl.ast_expr_op_type.lt: "<",
    isl.ast_expr_op_type.ge: ">=",
    isl.ast_expr_op_type.gt: ">",
}
_BETWEEN_FACTORS: Mapping[Any, str] = {
    OPERATIONS.and_: "&&",
    OPERATIONS.and_then: "&&",
    OPERATIONS.or_: "||",
    OPERATIONS.or_else: "||",
    OPERATIONS.mul: "*",
    OPERATIONS.div: "/",
    OPERATIONS.pdiv_q: "/",
    OPERATIONS.pdiv_r: "%",
    OPERATIONS.zdiv_r: "%",
}


@dataclass(frozen=True)
class LoopSite:
    """Where a statement stands: in an innermost loop, with its iterators as formulas where they are ones."""

    inner: InnerLoop
    iterators: tuple[Formula | None, ...]


# Name, texts of iterators, place, iterators of the loops around by dimension of the schedule,
# and the instances { S[i] } that run there, if somebody asked for them.
StatementLines = Callable[
    [str, Sequence[str], LoopSite | None, Mapping[int, str], "isl.Set | None"], Sequence[str]
]
Strips = Callable[[int, frozenset[str]], tuple[bool, int | None]]
Private = Callable[[int, frozenset[str]], tuple[Sequence[str], Sequence[str]]]
# The dimension of a loop, and the instances { S[i] } inside and outside of it.
IsWhole = Callable[[int, isl.UnionSet, isl.UnionSet], bool]


@dataclass(frozen=True)
class LoopStyle:
    """How loops are written.

    iterators   a name for each dimension of the schedule
    type        the type of iterators
    parallel    dimensions of the schedule that get an OpenMP pragma
    parameters  name in the model -> C text
    ranges      between which numbers expressions are
    name        new names, where innermost loops are to be free of modulo; None where they are not
    private     lines at the start and at the end of the body of a parallel loop, given its dimension and the
                statements inside
    is_whole    whether a parallel loop has all instances in it that use the variables of one of its threads;
                isl may have put some of an iteration into another loop. None if there are no such variables
    threads     statements that use buffers that are declared there
    is_positive whether a formula of parameters is, at all sizes
    strips      whether iterations of an innermost loop are independent, given its dimension and statements,
                and of how many in a row
    """

    iterators: tuple[str, ...]
    type: str
    parallel: frozenset[int]
    parameters: Mapping[str, str]
    ranges: Ranges
    name: Callable[[str], str] | None
    private: Private
    is_whole: IsWhole | None
    threads: frozenset[str]
    is_positive: Callable[[Formula], bool]
    strips: Strips


@dataclass(frozen=True, eq=False)
class LoopTree:
    """Loops for an order, as isl makes them.

    instances  { S[i] }  what runs at each place, by the number in its annotation; none if nobody asked
    """

    root: isl.AstNode
    instances: tuple[isl.UnionSet, ...]

    @staticmethod
    def of(
        schedule: isl.UnionMap,
        context: isl.Set,
        iterators: Sequence[str],
        options: isl.UnionMap,
        *,
        with_instances: bool,
    ) -> LoopTree:
        """The loops of a schedule { S[i] -> [t] }, with options { [t] -> unroll[d] } for isl."""
        build = isl.AstBuild.from_context(context)
        names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, len(iterators))
        for name in iterators:
            names = names.add(isl.Id(name))
        build = build.set_iterators(names).set_options(options)
        instances: list[isl.UnionSet] = []

        def note(node: isl.AstNode, where: isl.AstBuild) -> isl.AstNode:
            instances.append(where.get_schedule().domain())
            return node.set_annotation(isl.Id(f"{len(instances) - 1}"))

        if with_instances:
            build, _ = build.set_at_each_domain(note)
        root = build.node_from_schedule_map(schedule)
        return LoopTree(root, tuple(instances))

    @cached_property
    def conditions_inside(self) -> int:
        """How many conditions stand in innermost loops."""
        return _conditions_in(self.root, is_inside=False)

    @cached_property
    def places(self) -> int:
        """At how many places statements run."""
        return sum(1 for _ in _users_in(self.root))


def loop_lines(
    tree: LoopTree, style: LoopStyle, statement: StatementLines
) -> tuple[list[str], frozenset[str]]:
    """The loops in C, and statements outside of parallel ones.

    statement  the lines of a statement, given its name and the texts of its iterators
    """
    printer = _Printer(style, statement, tree.instances)
    return list(printer.node(tree.root)), frozenset(printer.outside)


class _Printer:
    def __init__(
        self, style: LoopStyle, statement: StatementLines, instances: Sequence[isl.UnionSet]
    ) -> None:
        self._style = style
        self._statement = statement
        self._instances = instances
        self._inside_parallel = False
        self._in_threads: set[str] = set()
        self.outside: set[str] = set()
        self._inner: InnerLoop | None = None
        self._loops: dict[int, str] = {}

    def node(self, node: isl.AstNode) -> Iterator[str]:
        kind = node.get_type()
        if kind == NODES.for_:
            yield from self._for(node)
        elif kind == NODES.if_:
            yield from self._if(node)
        elif kind == NODES.user:
            yield from self._user(node)
        else:
            for part in parts_of(node):
                yield from self.node(part)

    def _for(self, node: isl.AstNode) -> Iterator[str]:
        iterator = node.for_get_iterator().get_id().get_name()
        dimension = self._style.iterators.index(iterator)
        around = self._loops
        self._loops = {**around, dimension: iterator}
        yield from list(self._loop(node, iterator, dimension))
        self._loops = around

    def _loop(self, node: isl.AstNode, iterator: str, dimension: int) -> Iterator[str]:
        start = self.expression(node.for_get_init())
        if node.for_is_degenerate():
            if self._inner is not None:
                self._inner.inside.add(iterator)
            yield "{"
            yield f"{INDENT}const {self._style.type} {iterator} = {start};"
            yield from indented(self.node(node.for_get_body()))
            yield "}"
            return
        condition = self.expression(node.for_get_cond())
        step = self.expression(node.for_get_inc())
        can_be = dimension in self._style.parallel and not self._inside_parallel
        is_parallel = can_be and self._is_whole(node, dimension)
        if is_parallel:
            self._inside_parallel = True
            self._in_threads = set()
        if self._style.name is not None and step == "1" and _is_innermost(node.for_get_body()):
            end = self._end(node.for_get_cond(), iterator)
            if end is not None:
                pragmas = ["#pragma omp parallel for"] if is_parallel else []
                yield from self._innermost(node, dimension, end, pragmas)
                self._inside_parallel &= not is_parallel
                return
        body = list(self.node(node.for_get_body()))
        if is_parallel:
            begin, end = self._style.private(dimension, frozenset(self._in_threads))
            body = [*begin, *body, *end]
            yield "#pragma omp parallel for"
        increment = f"{iterator}++" if step == "1" else f"{iterator} += {step}"
        head = f"for ({self._style.type} {iterator} = {start}; {condition}; {increment})"
        yield from _body(head, body)
        if is_parallel:
            self._inside_parallel = False

    def _is_whole(self, node: isl.AstNode, dimension: int) -> bool:
        """Whether threads of a loop find in it all that is done with their variables."""
        if self._style.is_whole is None:
            return True
        inside = {int(user.get_annotation().get_name()) for user in _users_in(node)}
        parts = [isl.UnionSet.empty(self._instances[0].get_space()) for _ in range(2)]
        for k, one in enumerate(self._instances):
            parts[k not in inside] = parts[k not in inside].union(one)
        return self._style.is_whole(dimension, *parts)

    def _innermost(self, node: isl.AstNode, dimension: int, end: str, pragmas: list[str]) -> Iterator[str]:
        """A loop whose body has no modulo that changes with its iterator."""
        style = self._style
        assert style.name is not None
        iterator = style.iterators[dimension]
        inner = InnerLoop(
            iterator,
            style.type,
            style.parameters,
            style.name,
            style.is_positive,
            is_parallel=bool(pragmas),
            is_shared=self._inside_parallel,
        )
        body = self._written(inner, node.for_get_body())
        inner.rings.choose()
        if not inner.is_plain:
            body = self._written(inner, node.for_get_body(), "stretch")
        if inner.rings.drop_others(body):
            body = self._written(inner, node.for_get_body(), "stretch")
        seam = self._written(inner, node.for_get_body(), "seam") if inner.has_seams else []
        if pragmas:
            begin, _ = style.private(dimension, frozenset(inner.statements))
            body, seam = [*begin, *body], [*begin, *seam] if seam else []
        start = self.expression(node.for_get_init())
        length: int | None = None
        if not pragmas:
            is_independent, length = self._style.strips(dimension, frozenset(inner.statements))
            pragmas = ["#pragma GCC ivdep"] if is_independent else []
        if not inner.is_plain or length is not None or (pragmas and self._inside_parallel and "?" in end):
            yield from inner.lines(start, end, body, seam, pragmas, length)
            return
        yield from pragmas
        head = f"for ({self._style.type} {iterator} = {start}; {iterator} < {end}; {iterator}++)"
        yield from _body(head, body)

    def _written(self, inner: InnerLoop, body: isl.AstNode, mode: Mode = "look") -> list[str]:
        """The lines of the body of an innermost loop."""
        inner.mode = mode
        self._inner = inner
        lines = list(self.node(body))
        self._inner = None
        return lines

    def _end(self, condition: isl.AstExpr, iterator: str) -> str | None:
        """The first value that a loop does not reach, if its condition is a plain comparison."""
        if condition.get_type() != isl.ast_expr_type.op or condition.get_op_n_arg() != 2:
            return None
        left, right = operands_of(condition)
        if left.get_type() != isl.ast_expr_type.id or left.get_id().get_name() != iterator:
            return None
        kind = condition.get_op_type()
        if kind == OPERATIONS.le:
            right = right.add(isl.AstExpr.from_val(isl.Val(1)))
        return self.expression(right) if kind in (OPERATIONS.le, OPERATIONS.lt) else None

    def _if(self, node: isl.AstNode) -> Iterator[str]:
        then = list(self.node(node.if_get_then_node()))
        head = f"if ({without_outer(self.expression(node.if_get_cond()))})"
        if not node.if_has_else_node():
            yield from _body(head, then)
            return
        yield f"{head} {{"
        yield from indented(then)
        yield "} else {"
        yield from indented(self.node(node.if_get_else_node()))
        yield "}"

    def _user(self, node: isl.AstNode) -> Iterator[str]:
        statement, *arguments = operands_of(node.user_get_expr())
        name = statement.get_id().get_name()
        if name in self._style.threads and not self._inside_parallel:
            raise InputError(f"the parallel loop around {name} runs once, so there are no buffers of threads")
        (self._in_threads if self._inside_parallel else self.outside).add(name)
        place: LoopSite | None = None
        if self._inner is not None:
            self._inner.statements.add(name)
            place = LoopSite(self._inner, tuple(map(self._inner.formula, arguments)))
        where = self._instances_at(node)
        yield from self._statement(name, list(map(self.expression, arguments)), place, self._loops, where)

    def _instances_at(self, node: isl.AstNode) -> isl.Set | None:
        """{ S[i] }: what runs at the place of a statement; None if nobody asked."""
        if not self._instances:
            return None
        (instances,) = sets_of(self._instances[int(node.get_annotation().get_name())])
        return instances

    # ------------------------------------------------ expressions

    def expression(self, node: isl.AstExpr) -> str:
        names = self._style.parameters
        if not self._style.ranges.fits(node):
            names = {name: text if "(" in text else f"(long long){text}" for name, text in names.items()}
        return expression_text(node, names)


def expression_text(node: isl.AstExpr, names: Mapping[str, str]) -> str:
    """An expression of isl as C; names  name in it -> C text, where that is another."""
    constant = constant_of(node)
    if constant is not None:
        return str(constant)
    if node.get_type() == isl.ast_expr_type.id:
        name = node.get_id().get_name()
        return names.get(name, name)
    operands = [expression_text(operand, names) for operand in operands_of(node)]
    return _operation(node.get_op_type(), operands)


def condition_text(where: isl.Set, names: Mapping[str, str]) -> str:
    """A set { : } as a condition in C."""
    return expression_text(
        isl.AstBuild.from_context(where.universe(where.get_space())).expr_from_set(where), names
    )


def _is_innermost(node: isl.AstNode) -> bool:
    """Whether there is no loop inside; loops that run once do not count."""
    is_loop = node.get_type() == NODES.for_ and not node.for_is_degenerate()
    return not is_loop and all(map(_is_innermost, parts_of(node)))


def _conditions_in(node: isl.AstNode, *, is_inside: bool) -> int:
    is_loop = node.get_type() == NODES.for_ and not node.for_is_degenerate()
    inside = is_inside or (is_loop and _is_innermost(node.for_get_body()))
    own = int(is_inside and node.get_type() == NODES.if_)
    return own + sum(_conditions_in(part, is_inside=inside) for part in parts_of(node))


def _users_in(node: isl.AstNode) -> Iterator[isl.AstNode]:
    """The places inside at which statements run."""
    if node.get_type() == NODES.user:
        yield node
    for part in parts_of(node):
        yield from _users_in(part)


def _operation(kind: Any, operands: Sequence[str]) -> str:
    op = OPERATIONS
    factors = [parenthesised(operand) for operand in operands]
    if kind in (op.max, op.min):
        return choose("max" if kind == op.max else "min", operands[0], list(operands[1:]))
    if kind in _BETWEEN_FACTORS:
        return f" {_BETWEEN_FACTORS[kind]} ".join(factors)
    if kind in _COMPARISONS:
        return f"{operands[0]} {_COMPARISONS[kind]} {operands[1]}"
    match kind:
        case op.minus:
            return f"-{factors[0]}"
        case op.add:
            return f"{operands[0]} + {operands[1] if not operands[1].startswith('-') else factors[1]}"
        case op.sub:
            return f"{operands[0]} - {factors[1]}"
        case op.fdiv_q:
            value, divisor = factors
            return f"({value} >= 0 ? {value} / {divisor} : -(({divisor} - 1 - {value}) / {divisor}))"
        case op.cond | op.select:
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        case _:
            raise IslFailure(f"isl's loops use an operation that is not known here: {kind}")


def _body(head: str, lines: Sequence[str]) -> Iterator[str]:
    """A head with its body, in braces unless the body is a single line."""
    if len(lines) == 1 and not lines[0].startswith(("#", "{", "if")):
        yield head
        yield from indented(lines)
        return
    yield f"{head} {{"
    yield from indented(lines)
    yield "}"
