"""Where a program comes from, if that is a C file: the text, the region, and its pieces as trees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import islpy as isl

from arrayfold.base.errors import InputError, NotAffine, SourcePosition
from arrayfold.c import tree as c
from arrayfold.c.allocation import Allocation
from arrayfold.c.lexer import blank, identifiers
from arrayfold.c.tree import (
    CStatement,
    Expression,
    FunctionTree,
    Node,
    Span,
    Variable,
    bare,
    declared_in,
    named_in,
    walk,
)
from arrayfold.exact.formula import Formula


@dataclass(frozen=True)
class Original:
    """The file as its author wrote it, behind a simpler text of the same program.

    starts   where pieces of the simpler text begin, in order
    origins  where each of them comes from, and whether it is the same text; if not, all comes from there
    """

    data: bytes
    starts: tuple[int, ...]
    origins: tuple[tuple[int, bool], ...]

    def offset(self, offset: int) -> int:
        """Where a byte of the simpler text comes from."""
        piece = bisect_right(self.starts, offset) - 1
        start, is_same = self.origins[piece]
        return start + (offset - self.starts[piece] if is_same else 0)


@dataclass(frozen=True, eq=False)
class CText:
    """A C file, one character a byte, so that offsets are those of libclang.

    names     every identifier that preprocessing puts into the file or that an included file holds
    origin    where the text of a byte comes from, if the C was made from another language, or of other C
    original  the file before it was made simpler, if it was
    split     iterators of loops that were made of one loop whose bound is the product of theirs
    """

    file: str
    data: bytes
    arguments: tuple[str, ...]
    macros: frozenset[str] = frozenset()
    origin: Callable[[int], SourcePosition | None] | None = None
    names: frozenset[str] = frozenset()
    original: Original | None = None
    split: frozenset[str] = frozenset()

    @property
    def is_translated(self) -> bool:
        """Whether it was made from another language."""
        return self.origin is not None and self.original is None

    @property
    def as_written(self) -> bytes:
        """The file as its author wrote it."""
        return self.data if self.original is None else self.original.data

    @cached_property
    def text(self) -> str:
        """The file, one character a byte."""
        return self.data.decode("latin-1")

    @cached_property
    def plain(self) -> str:
        """The same without comments and insides of strings."""
        return blank(self.text)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name in the file before and after preprocessing; new names must avoid them."""
        return frozenset(identifiers(self.text)) | self.macros | self.names

    def place(self, offset: int) -> SourcePosition:
        """Line and column of a byte."""
        place = self.origin(offset) if self.origin is not None else None
        if place is not None:
            return place
        start = self.data.rfind(b"\n", 0, offset) + 1
        end = self.data.find(b"\n", offset)
        line = self.data[start : end if end >= 0 else None].decode("utf-8", "replace").rstrip("\r")
        column = len(self.data[start:offset].decode("utf-8", "replace")) + 1
        return SourcePosition(self.file, self.data.count(b"\n", 0, start) + 1, column, line)

    def line(self, offset: int) -> int:
        """The number of the line that holds a byte."""
        return self.place(offset).line

    def error(self, message: str, offset: int, hint: str | None = None) -> InputError:
        """An error that points at a byte of the file."""
        return InputError(message, self.place(offset), hint)

    def not_affine(self, message: str, offset: int, hint: str | None = None) -> NotAffine:
        """The same, for what must be affine and is not."""
        return NotAffine(message, self.place(offset), hint)


@dataclass(frozen=True, eq=False)
class Region:
    """A `#pragma scop` ... `#pragma endscop` in a function.

    start, end    the text between the two pragma lines
    before, after  where the first pragma line begins and the second ends
    plain          the region without variables for fields of structures, if it has some
    """

    name: str
    before: int
    after: int
    start: int
    end: int
    function: FunctionTree
    statements: tuple[CStatement, ...]
    plain: Region | None = None

    def holds(self, offset: int) -> bool:
        """Whether a byte of the file lies inside."""
        return self.start <= offset < self.end

    @cached_property
    def seen_outside(self) -> frozenset[Variable]:
        """The variables that its function names elsewhere, and those that something may point at."""
        outside = named_in(node for node in walk(self.function.body) if not self.holds(node.span.start))
        return frozenset({*outside, *variables_with_address(self.function)})

    def nodes(self) -> Iterator[Expression | CStatement]:
        """Everything in the region."""
        for statement in self.statements:
            yield from walk(statement)


@dataclass(frozen=True, eq=False)
class Guard:
    """A condition on data around a statement, and whether it must hold or fail.

    evaluated  the statement of the model in which the condition reads its data
    """

    condition: Expression
    must_hold: bool
    evaluated: str


@dataclass(frozen=True, eq=False)
class SameCondition:
    """Another evaluation of a condition that surely comes out the same, or the opposite.

    pairs  { C[i] -> D[j] }  evaluations of one statement and of the other
    """

    pairs: isl.Map
    is_opposite: bool


@dataclass(frozen=True, eq=False)
class Implied:
    """What came of a condition wherever another one holds.

    pairs  { C[i] -> D[j] }  where C[i] holds, D[j] came out so
    """

    holds: bool
    pairs: isl.Map


@dataclass(frozen=True, eq=False)
class BreakCondition:
    """What is known of the statement that says whether an iteration of a loop runs, where a break may end it.

    surely   { C[i] }  iterations that run whenever the loop does
    implied  what came of conditions in the iterations before one that runs
    """

    surely: isl.Set
    implied: tuple[Implied, ...]


@dataclass(frozen=True)
class Copy:
    """A statement that no text has: target[x] = origin[x].

    target_at, origin_at  which of its iterators are the cell of each array, without the tile of a buffer
    """

    target: str
    origin: str
    target_at: tuple[int, ...]
    origin_at: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """An expression that an affine condition decides: `x > 0 ? x - 1 : 0`, a clamp, a remainder.

    among      { S[i] }  where it is evaluated
    where      { S[i] }  where it is `then`; elsewhere it is `otherwise`, or itself if there is none
    """

    node: Expression
    among: isl.Set
    where: isl.Set
    then: Expression
    otherwise: Expression | None = None


@dataclass(frozen=True, eq=False)
class PointerSource:
    """Where a pointer into an array points.

    terms  its distance from the first element: strides, and { [i] -> [v] } how often each
    """

    array: Variable
    terms: tuple[tuple[Formula, isl.PwAff], ...]


@dataclass(frozen=True, eq=False)
class StatementSource:
    """The C behind a statement of the model: an assignment, an initialised variable, a condition, or a copy.

    iterators  the variables of the loops around it, one a dimension of its domain; a copy has none
    cells      element or variable in it -> { S[i] -> A[x] }
    choices    what affine conditions decide in it, outer ones first
    pointers   where those point that the region sets, so that new loops can do without them
    """

    node: c.Evaluate | Variable | Expression | Copy
    iterators: tuple[Variable, ...]
    guards: tuple[Guard, ...] = ()
    cells: Mapping[Expression | Variable, isl.Map] = field(
        default_factory=dict[Expression | Variable, isl.Map]
    )
    choices: tuple[Choice, ...] = ()
    pointers: Mapping[Variable, PointerSource] = field(default_factory=dict[Variable, PointerSource])


@dataclass(frozen=True, eq=False)
class CSource:
    """Everything about the C of one region that the model does not hold.

    statements  name in the model -> its C
    variables   name in the model -> array or scalar
    parameters  name in the model -> variable
    schedule    the order as written, and `parallel` its parallel dimensions
    skipped     parts of the region that the preprocessor leaves out
    impure      a call that uses more than its arguments: where it stands, and what it uses in words
    pure        functions that depend on their arguments alone, because the user says so
    may_alias   two arrays that might overlap
    has_tasks   OpenMP says more of the order than which loops are parallel
    of_threads  variables that are declared inside of parallel loops, so that each thread has its own
    of_clauses  names of variables of which clauses make others for each thread
    hidden      those of them whose values from before such a construct may be used behind it
    replaced    name in the model -> variable whose values all have other places than the text says
    same_conditions  statement that evaluates a condition on data -> others that evaluate the same one
    turns       statement that says whether an iteration runs -> what is known of that
    sure        condition and outcome -> { C[i] }, evaluations that come out so whatever the data
    declared    name in the model -> { A[x] }, the cells of arrays whose declarations say all extents
    legal       { : }  the sizes at which no access leaves its array; the context says it in simpler terms
    uncertain   where a loop stands of which data decides how often it runs: its first turns stand for all
    flat        array whose text has one subscript for several dimensions of the model -> its strides
    pointers    variables that point into arrays and are no arrays of the model
    allocations pointer -> the memory that the function allocates for it alone
    scratch     static arrays that nothing but the function names
    """

    text: CText
    region: Region
    statements: Mapping[str, StatementSource]
    variables: Mapping[str, Variable]
    parameters: Mapping[str, Variable]
    schedule: isl.UnionMap
    parallel: Mapping[int, str]
    skipped: tuple[Span, ...] = ()
    impure: tuple[int, str] | None = None
    pure: frozenset[str] = frozenset()
    may_alias: tuple[str, str] | None = None
    has_tasks: bool = False
    of_threads: frozenset[Variable] = frozenset()
    of_clauses: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    replaced: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    same_conditions: Mapping[str, Sequence[SameCondition]] = field(
        default_factory=dict[str, Sequence[SameCondition]]
    )
    turns: Mapping[str, BreakCondition] = field(default_factory=dict[str, BreakCondition])
    sure: Mapping[tuple[str, bool], isl.Set] = field(default_factory=dict[tuple[str, bool], isl.Set])
    declared: Mapping[str, isl.Set] = field(default_factory=dict[str, isl.Set])
    legal: isl.Set | None = None
    uncertain: int | None = None
    flat: Mapping[Variable, tuple[Formula, ...]] = field(
        default_factory=dict[Variable, "tuple[Formula, ...]"]
    )
    pointers: frozenset[Variable] = frozenset()
    allocations: Mapping[Variable, Allocation] = field(default_factory=dict[Variable, Allocation])
    scratch: frozenset[Variable] = frozenset()

    @property
    def name(self) -> str:
        """The region's name: that of its function, with a number if there are several."""
        return self.region.name

    def own_variables(self) -> set[Variable]:
        """The variables that only the region uses, and that nothing points at."""
        seen = self.region.seen_outside
        return {one for one in self.variables.values() if one.storage == "local" and one not in seen}

    def with_arrays(self, origins: Mapping[str, str], gone: Collection[str]) -> CSource:
        """The same with new arrays of the model, each for values of an old one; some old ones are gone."""
        new = {name: self.variables[origin] for name, origin in origins.items()}
        kept = {name: one for name, one in self.variables.items() if name not in gone}
        stays = set(kept.values())
        lost = {name: self.variables[name] for name in gone if self.variables[name] not in stays}
        replaced = {**self.replaced, **lost}
        return replace(self, variables={**kept, **new}, replaced=replaced)


_CHANGING = (c.Assign, c.Unary)


def assigned_variable(node: Expression | CStatement) -> Variable | None:
    """The variable that a node assigns to or increments directly, if it is one without subscripts."""
    operand = changed_operand(node)
    inner = None if operand is None else bare(operand)
    return inner.variable if isinstance(inner, c.Reference) else None


def assigned_in(nodes: Iterable[Node]) -> Iterator[Variable]:
    """The variables that nodes assign to or increment themselves."""
    return (
        variable
        for node in nodes
        if isinstance(node, _CHANGING) and (variable := assigned_variable(node)) is not None
    )


def changed_operand(node: Expression | CStatement) -> Expression | None:
    """What a node assigns to, increments, or takes the address of."""
    match node:
        case c.Assign(target=target):
            return target
        case c.Unary(operator="x++" | "x--" | "++" | "--" | "&", operand=operand):
            return operand
        case _:
            return None


def updated_inside(statement: StatementSource) -> set[Variable]:
    """The variables that a chain of assignments changes by `+=` or the like, but for the outermost one."""
    if not isinstance(statement.node, c.Evaluate):
        return set()
    outermost = bare(statement.node.expression)
    return {
        variable
        for node in walk(statement.node.expression)
        if node is not outermost and _is_update(node)
        for variable in named_in(walk(node.target if isinstance(node, c.Assign) else node))
    }


def _is_update(node: Expression | CStatement) -> bool:
    is_changed = isinstance(node, c.Unary) and node.operator in ("x++", "x--", "++", "--")
    return is_changed or (isinstance(node, c.Assign) and node.operator != "=")


def variables_with_address(function: FunctionTree) -> set[Variable]:
    """The variables of which a function takes the address, or lets a reference of C++ be another name."""
    nodes = list(walk(function.body))
    operands = [bare(one.operand) for one in nodes if isinstance(one, c.Unary) and one.operator == "&"]
    others = [one.initial for one in declared_in(nodes) if one.is_reference and one.initial is not None]
    return {*named_in(operands), *named_in(map(bare, others))}


def loop_variable(loop: c.For) -> Variable | None:
    """The variable that a for loop starts with."""
    match loop.start:
        case c.Declare(variables=(variable,)):
            return variable
        case c.Evaluate(expression=c.Assign(operator="=", target=target)):
            inner = bare(target)
            return inner.variable if isinstance(inner, c.Reference) else None
        case _:
            return None
