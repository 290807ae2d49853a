"""The part of C that matters here, as a tree: expressions, statements, variables, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Literal, TypeAlias, cast, dataclass_transform

TypeKind: TypeAlias = Literal["signed", "unsigned", "floating", "pointer", "array", "function", "other"]
StorageKind: TypeAlias = Literal["local", "parameter", "global", "static"]


@dataclass(frozen=True)
class CType:
    """A type: how it is written, what it is in broad terms, and how many bits an integer has.

    canonical  the type without names for types
    """

    spelling: str
    kind: TypeKind
    bits: int = 0
    canonical: str = ""
    is_boolean: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers."""
        return self.kind in ("signed", "unsigned")


@dataclass(frozen=True)
class Span:
    """Where something stands: offsets into the file's bytes.

    `is_text` is false for what comes out of a macro's body: then the offset is that of the macro's use.
    """

    start: int
    end: int
    is_text: bool = True


@dataclass(frozen=True, eq=False)
class Variable:
    """A declared variable; two of them are the same if they are the same object.

    extents   one entry a dimension: a number, an expression, or None where it is unknown
    element   the type that is left when all subscripts are applied
    span      the declaration from its type to the end of its declarator and initialiser
    at        where its name stands in the declaration
    written   the type of elements as the declaration spells it, without qualifiers, where that is known
    holder    the structure, the array of structures or the pointer to some of which this is a field
    pieces    its text as a field, around its subscripts: `p`, `.r` for `p[i].r`
    container    which container of C++ it is: vector, array or unique_ptr
    is_reference whether it is another name for something of the caller
    """

    name: str
    type: CType
    storage: StorageKind
    span: Span
    element: CType
    extents: tuple[int | Expression | None, ...] = ()
    is_pointer: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    initial: Expression | None = None
    at: int = 0
    written: str | None = None
    holder: Variable | None = None
    pieces: tuple[str, ...] = ()
    container: str | None = None
    is_reference: bool = False

    def text(self, subscripts: Sequence[str]) -> str:
        """An element of it, given the texts of its subscripts."""
        brackets = [f"[{one}]" for one in subscripts]
        if not self.pieces:
            return self.name + "".join(brackets)
        return "".join(part for pair in zip_longest(self.pieces, brackets, fillvalue="") for part in pair)

    @property
    def rank(self) -> int:
        """How many subscripts reach an element; 0 for scalars."""
        return len(self.extents)

    @property
    def is_array(self) -> bool:
        """Whether subscripts apply to it."""
        return bool(self.extents)


@dataclass(frozen=True, eq=False)
class Function:
    """A function that is called; two of them are the same if they are the same object.

    returned  what it returns as an expression of parameters and locals, if its body is that simple
    locals    variables of its body that are set where they are declared
    globals   global or static variables, no constants, that its own body uses
    changed   those that its own body assigns to, or takes the address of
    stored    those of which it does so with parts
    calls     functions that its own body calls
    declared  "const" if it depends on its arguments alone, "pure" if it changes nothing, by attribute
    spelling  how calls name it, where that is not its name
    """

    name: str
    parameters: tuple[Variable, ...] = ()
    locals: tuple[Variable, ...] = ()
    returned: Expression | None = None
    globals: tuple[Variable, ...] = ()
    changed: tuple[Variable, ...] = ()
    stored: tuple[Variable, ...] = ()
    calls: tuple[Function, ...] = ()
    has_body: bool = False
    has_assembly: bool = False
    declared: Literal["const", "pure"] | None = None
    spelling: str | None = None


# ---------------------------------------------------------------- expressions


@dataclass_transform(frozen_default=True, eq_default=False)
@dataclass(frozen=True, eq=False)
class _Node:
    """What has a place in the text; what derives from it is a dataclass, too, and equal to itself alone."""

    span: Span

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)

    @cached_property
    def inner_nodes(self) -> tuple[Node, ...]:
        """The nodes directly inside, in the order of the text."""
        values: Iterable[object] = (getattr(self, name) for name in self.__dataclass_fields__)
        if isinstance(self, Declare):
            values = (variable.initial for variable in self.variables)
        found: list[_Node] = []
        for value in values:
            if isinstance(value, _Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [one for one in cast("tuple[object, ...]", value) if isinstance(one, _Node)]
        return cast("tuple[Node, ...]", tuple(found))

    @cached_property
    def all_nodes(self) -> tuple[Node, ...]:
        """The node and everything inside it; trees are looked through again and again."""
        found = [cast("Node", self)]
        for child in self.inner_nodes:
            found += child.all_nodes
        return tuple(found)


class _Expression(_Node):
    """What has a value."""

    type: CType


class Number(_Expression):
    """An integer constant."""

    value: int
    text: str


class OtherLiteral(_Expression):
    """A constant that is not an integer: its text."""

    text: str


class Reference(_Expression):
    """A variable, by name."""

    variable: Variable


class Subscript(_Expression):
    """`base[index]`."""

    base: Expression
    index: Expression


class Member(_Expression):
    """`base.name` or `base->name`; the field is None where it shares memory or bytes with others."""

    base: Expression
    name: str
    is_arrow: bool
    field: Variable | None = None


class Unary(_Expression):
    """A prefix operator, or `x++` and `x--` with the operator written as such."""

    operator: str
    operand: Expression


class Binary(_Expression):
    """An operator between two expressions that assigns nothing."""

    operator: str
    left: Expression
    right: Expression


class Assign(_Expression):
    """`target = value`, or with another operator in front of the equals sign."""

    operator: str
    target: Expression
    value: Expression


class Conditional(_Expression):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Call(_Expression):
    """A call of a function by its name."""

    function: Function
    arguments: tuple[Expression, ...]


class Cast(_Expression):
    """A conversion, written or implied."""

    operand: Expression
    is_implied: bool


class Parentheses(_Expression):
    """`(inner)`."""

    inner: Expression


class Opaque(_Expression):
    """Anything else, with the word for it; `parts` are the expressions inside.

    value  what sizeof says, if that is a constant
    """

    what: str
    parts: tuple[Expression, ...] = ()
    value: int | None = None


Expression: TypeAlias = (
    Number
    | OtherLiteral
    | Reference
    | Subscript
    | Member
    | Unary
    | Binary
    | Assign
    | Conditional
    | Call
    | Cast
    | Parentheses
    | Opaque
)


# ---------------------------------------------------------------- statements


class Evaluate(_Node):
    """An expression that is evaluated for its effect."""

    expression: Expression


class Declare(_Node):
    """Variables that are declared here."""

    variables: tuple[Variable, ...]


class Block(_Node):
    """Statements in braces."""

    statements: tuple[CStatement, ...]


class For(_Node):
    """A for loop; parts that are not written are None."""

    start: Declare | Evaluate | None
    condition: Expression | None
    step: Expression | None
    body: CStatement


class If(_Node):
    """An if with or without else."""

    condition: Expression
    then: CStatement
    otherwise: CStatement | None


class While(_Node):
    """A while loop, or a do loop, whose condition is late; for (;;) is one that always goes on."""

    condition: Expression
    body: CStatement
    is_late: bool


class Switch(_Node):
    """A switch."""

    value: Expression
    body: CStatement


class Case(_Node):
    """A statement behind case or default, which has no constant."""

    constant: Expression | None
    statement: CStatement


class Jump(_Node):
    """A break or a continue."""

    what: Literal["break", "continue"]


class Label(_Node):
    """A labelled statement."""

    name: str
    statement: CStatement


class OtherStatement(_Node):
    """A statement of another kind, with the word for it; `parts` are what libclang shows inside."""

    what: str
    parts: tuple[CStatement | Expression, ...] = ()


CStatement: TypeAlias = (
    Evaluate | Declare | Block | For | If | While | Switch | Case | Jump | Label | OtherStatement
)
Node: TypeAlias = Expression | CStatement


@dataclass(frozen=True, eq=False)
class FunctionTree:
    """A function with a body.

    has_object   whether it is a member function of C++ that is called for an object
    is_instance  whether it is an instance of a template
    """

    name: str
    parameters: tuple[Variable, ...]
    body: Block
    returns: CType
    span: Span
    is_static: bool
    has_object: bool = False
    is_instance: bool = False


# ---------------------------------------------------------------- walking


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside, in the order of the text."""
    return iter(node.inner_nodes)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything inside it."""
    return iter(node.all_nodes)


def named_in(nodes: Iterable[Node]) -> Iterator[Variable]:
    """The variables that nodes name themselves, as often as they do."""
    return (node.variable for node in nodes if isinstance(node, Reference))


def declared_in(nodes: Iterable[Node]) -> Iterator[Variable]:
    """The variables that nodes declare themselves."""
    return (variable for node in nodes if isinstance(node, Declare) for variable in node.variables)


def bare(expression: Expression) -> Expression:
    """The expression without parentheses and implied conversions around it."""
    while True:
        match expression:
            case Parentheses(inner=inner):
                expression = inner
            case Cast(operand=operand, is_implied=True):
                expression = operand
            case _:
                return expression


def subscripts_of(element: Expression) -> tuple[Expression, ...]:
    """The subscripts of an element of an array; none for a variable."""
    access = array_access(element)
    assert access is not None
    return access[1]


def array_access(expression: Expression) -> tuple[Variable, tuple[Expression, ...]] | None:
    """The array and its subscripts, if the expression is a variable with subscripts or without."""
    subscripts: list[Expression] = []
    inner = bare(expression)
    while isinstance(inner, Subscript):
        subscripts.append(inner.index)
        inner = bare(inner.base)
    if not isinstance(inner, Reference):
        return None
    return inner.variable, tuple(reversed(subscripts))
