"""The part of C that matters here, as a tree: expressions, statements, variables, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

TypeKind: TypeAlias = Literal["signed", "unsigned", "floating", "pointer", "array", "function", "other"]
Storage: TypeAlias = Literal["local", "parameter", "global", "static"]


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
    """

    name: str
    type: CType
    storage: Storage
    span: Span
    element: CType
    extents: tuple[int | Expression | None, ...] = ()
    is_pointer: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    initial: Expression | None = None
    at: int = 0
    written: str | None = None

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


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, eq=False)
class Number:
    """An integer constant."""

    span: Span
    type: CType
    value: int
    text: str


@dataclass(frozen=True, eq=False)
class OtherLiteral:
    """A constant that is not an integer: its text."""

    span: Span
    type: CType
    text: str


@dataclass(frozen=True, eq=False)
class Reference:
    """A variable, by name."""

    span: Span
    type: CType
    variable: Variable


@dataclass(frozen=True, eq=False)
class Subscript:
    """`base[index]`."""

    span: Span
    type: CType
    base: Expression
    index: Expression


@dataclass(frozen=True, eq=False)
class Member:
    """`base.name` or `base->name`."""

    span: Span
    type: CType
    base: Expression
    name: str
    is_arrow: bool


@dataclass(frozen=True, eq=False)
class Unary:
    """A prefix operator, or `x++` and `x--` with the operator written as such."""

    span: Span
    type: CType
    operator: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """An operator between two expressions that assigns nothing."""

    span: Span
    type: CType
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Assign:
    """`target = value`, or with another operator in front of the equals sign."""

    span: Span
    type: CType
    operator: str
    target: Expression
    value: Expression


@dataclass(frozen=True, eq=False)
class Conditional:
    """`condition ? then : otherwise`."""

    span: Span
    type: CType
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function by its name."""

    span: Span
    type: CType
    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Cast:
    """A conversion, written or implied."""

    span: Span
    type: CType
    operand: Expression
    is_implied: bool


@dataclass(frozen=True, eq=False)
class Parentheses:
    """`(inner)`."""

    span: Span
    type: CType
    inner: Expression


@dataclass(frozen=True, eq=False)
class Opaque:
    """Anything else, with the word for it; `parts` are the expressions inside."""

    span: Span
    type: CType
    what: str
    parts: tuple[Expression, ...] = ()


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


@dataclass(frozen=True, eq=False)
class Evaluate:
    """An expression that is evaluated for its effect."""

    span: Span
    expression: Expression


@dataclass(frozen=True, eq=False)
class Declare:
    """Variables that are declared here."""

    span: Span
    variables: tuple[Variable, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Statements in braces."""

    span: Span
    statements: tuple[CStatement, ...]


@dataclass(frozen=True, eq=False)
class For:
    """A for loop; parts that are not written are None."""

    span: Span
    start: Declare | Evaluate | None
    condition: Expression | None
    step: Expression | None
    body: CStatement


@dataclass(frozen=True, eq=False)
class If:
    """An if with or without else."""

    span: Span
    condition: Expression
    then: CStatement
    otherwise: CStatement | None


@dataclass(frozen=True, eq=False)
class Label:
    """A labelled statement."""

    span: Span
    name: str
    statement: CStatement


@dataclass(frozen=True, eq=False)
class OtherStatement:
    """A statement of another kind, with the word for it; `parts` are what libclang shows inside."""

    span: Span
    what: str
    parts: tuple[CStatement | Expression, ...] = field(default=())


CStatement: TypeAlias = Evaluate | Declare | Block | For | If | Label | OtherStatement
Node: TypeAlias = Expression | CStatement


@dataclass(frozen=True, eq=False)
class FunctionTree:
    """A function with a body."""

    name: str
    parameters: tuple[Variable, ...]
    body: Block
    returns: CType
    span: Span
    is_static: bool


# ---------------------------------------------------------------- walking


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside, in the order of the text."""
    match node:
        case Subscript(base=base, index=index):
            yield from (base, index)
        case Member(base=base):
            yield base
        case Unary(operand=operand) | Cast(operand=operand):
            yield operand
        case Binary(left=left, right=right):
            yield from (left, right)
        case Assign(target=target, value=value):
            yield from (target, value)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            yield from (condition, then, otherwise)
        case Call(arguments=arguments):
            yield from arguments
        case Parentheses(inner=inner):
            yield inner
        case Opaque(parts=parts) | OtherStatement(parts=parts):
            yield from parts
        case Evaluate(expression=expression):
            yield expression
        case Declare(variables=variables):
            yield from (variable.initial for variable in variables if variable.initial is not None)
        case Block(statements=statements):
            yield from statements
        case For():
            yield from (part for part in (node.start, node.condition, node.step, node.body) if part)
        case If():
            yield from (part for part in (node.condition, node.then, node.otherwise) if part)
        case Label(statement=statement):
            yield statement
        case Number() | OtherLiteral() | Reference():
            pass


def walk(node: Node) -> Iterator[Node]:
    """The node and everything inside it."""
    yield node
    for child in children(node):
        yield from walk(child)


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
