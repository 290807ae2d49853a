"""What a function's closures share: its variables by number, and libclang's types as ours."""
# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from arrayfold.validation.faults import Fault, Spot, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.nodes import TextNode, referred
from arrayfold.validation.operators import Run
from arrayfold.validation.types import (
    ArrayType,
    ElementCount,
    Floating,
    Frame,
    Integer,
    Other,
    Pointer,
    Struct,
    ValueType,
    size_of,
    value_of,
)

_SIGNED = ("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "INT128")
_UNSIGNED = ("BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "UINT128", "CHAR16", "CHAR32")
_ARRAYS = ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")
_IGNORED = ("const", "volatile", "(", ")", "struct", "union", "signed", "unsigned", "int")
_FLOATING = {
    "FLOAT": "float",
    "DOUBLE": "double",
    "LONGDOUBLE": "long double",
    "FLOAT128": "__float128",
    "HALF": "half",
    "FLOAT16": "_Float16",
    "IBM128": "ibm128",
}
# Bytes of types by their words but for those ignored: none are left of int.
_BYTES = {
    "": 4,
    "char": 1,
    "_Bool": 1,
    "short": 2,
    "long": 8,
    "long long": 8,
    "float": 4,
    "double": 8,
    "double long": 16,
}


@dataclass(frozen=True, eq=False, slots=True)
class VariableSlot:
    """A variable: in a slot of the frame, in memory whose address is in a slot, or outlasting calls."""

    name: str
    type: ValueType
    slot: int = -1
    is_register: bool = False
    lasting: Run | None = None

    @property
    def address(self) -> Run:
        """Where it is, unless it is a register."""
        slot = self.slot
        return self.lasting or (lambda f: f[slot])

    def get(self, f: Frame) -> Any:
        """What a variable of the function holds; None if it was never set."""
        if self.is_register:
            return f[self.slot]
        obj, offset, *_ = f[self.slot]
        return obj.cells.get(offset)

    def put(self, f: Frame, value: Any) -> None:
        """Let a variable of the function hold a value."""
        if self.is_register:
            f[self.slot] = value
        else:
            obj, offset, *_ = f[self.slot]
            obj.cells[offset] = value


@dataclass(frozen=True, eq=False, slots=True)
class TypedClosure:
    """An expression as a closure, and its type."""

    run: Run
    type: ValueType


@dataclass(eq=False)
class FunctionScope:
    """The variables of a function while it is read.

    in_memory  declarations whose variable has an address, or is shared by threads
    sized      names of variables that get sizes of the context
    slots      how many the frame has so far; slot 0 is the value that the function returns
    macro      the words that a macro without arguments stands for
    """

    machine: Interpreter
    in_memory: Collection[int]
    sized: Collection[str]
    macro: Callable[[str], list[str] | None]
    slots: int = 1
    variables: dict[int, VariableSlot] = field(default_factory=dict[int, VariableSlot])
    by_name: list[dict[str, VariableSlot]] = field(default_factory=lambda: [{}])
    typedefs: dict[int, ValueType] = field(default_factory=dict[int, ValueType])
    _places: int = 0

    def place(self) -> int:
        """A number for an access: accesses are numbered in the order of the text."""
        self._places += 1
        return self._places

    def slot(self) -> int:
        """A new place in the frame."""
        self.slots += 1
        return self.slots - 1

    def declare(self, node: TextNode, kind: ValueType) -> VariableSlot:
        """A variable of the function."""
        is_register = not isinstance(kind, ArrayType | Struct) and node.key not in self.in_memory
        variable = VariableSlot(node.name, kind, self.slot(), is_register)
        return self.remember(node, variable)

    def remember(self, node: TextNode, variable: VariableSlot) -> VariableSlot:
        """Make a variable known by its declaration and its name."""
        self.variables[node.key] = variable
        self.by_name[-1][node.name] = variable
        return variable

    def named(self, name: str) -> VariableSlot | None:
        """The variable that a name means here."""
        for names in reversed(self.by_name):
            if name in names:
                return names[name]
        return None

    def read_type(
        self,
        kind: Any,
        written: list[TextNode],
        extent: Callable[[TextNode], Run],
        prologue: list[Run],
        spot: Spot,
    ) -> ValueType:
        """A type of libclang as ours.

        written   the extents in the text, that of the last dimension first; they are used up
        extent    reads one, which must be a whole number
        prologue  gets what evaluates the variable ones
        """
        name = kind.kind.name
        if name == "ELABORATED":
            return self.read_type(kind.get_named_type(), written, extent, prologue, spot)
        if name == "TYPEDEF":
            declaration = kind.get_declaration()
            known = self.typedefs.get(int(declaration.canonical.hash))
            if known is not None:
                return known
            return self.read_type(declaration.underlying_typedef_type, [], extent, prologue, spot)
        if name in ("ATTRIBUTED", "UNEXPOSED") and kind.get_canonical().kind.name != name:
            return self.read_type(kind.get_canonical(), written, extent, prologue, spot)
        if name == "POINTER":
            return Pointer(self.read_type(kind.get_pointee(), written, extent, prologue, spot))
        if name in _ARRAYS:
            count: ElementCount = None
            node = written.pop() if written and name != "INCOMPLETEARRAY" else None
            if name == "CONSTANTARRAY":
                count = int(kind.element_count)
            elif node is not None:
                number = extent(node)
                count = self.once(lambda f: _positive(number(f), spot), prologue)
            elif name == "VARIABLEARRAY":
                raise Unsupported("an array whose extent is not written where it is declared", spot)
            found = ArrayType(self.read_type(kind.element_type, written, extent, prologue, spot), count)
            size = size_of(found)
            return replace(found, bytes=self.once(size, prologue)) if callable(size) else found
        return scalar_type(kind)

    def once(self, run: Run, prologue: list[Run]) -> Run:
        """A number that the prologue computes, and keeps."""
        slot = self.slot()

        def keep(f: Frame) -> None:
            f[slot] = run(f)

        prologue.append(keep)
        return lambda f: f[slot]

    def size_of_type(self, node: TextNode, whole: Callable[[TextNode], Run]) -> ElementCount:
        """The size of a type with variable extents, from the words of `sizeof(T[n][m])`."""
        words = [word for word, _ in node.tokens()]
        if words[:2] != ["sizeof", "("] or "[" not in words:
            return None
        base, rest = words[2 : words.index("[")], words[words.index("[") : -1]
        depth = dimensions = 0
        for word in rest:
            dimensions += word == "[" and depth == 0
            depth += (word == "[") - (word == "]")
        size = self._size_of_words(node, base)
        if size is None or len(node.expressions) < dimensions:
            return None
        extents = [whole(extent) for extent in node.expressions[:dimensions]]

        def total(f: Frame) -> int:
            product = value_of(size, f)
            for extent in extents:
                product *= _positive(extent(f), node.spot)
            return product

        return total

    def _size_of_words(self, node: TextNode, words: list[str]) -> ElementCount:
        if "*" in words:
            return 8
        plain = [word for word in words if word not in _IGNORED]
        for part in node.parts:
            if part.kind == "TYPE_REF":
                found = self.typedefs.get(part.referenced.key) if part.referenced else None
                return size_of(found) if found is not None else int(part.type.get_size())
        if len(plain) == 1:
            expanded = self.macro(plain[0])
            if expanded is not None:
                return self._size_of_words(node, expanded)
        return _BYTES.get(" ".join(sorted(plain)))


def scalar_type(kind: Any) -> ValueType:
    """A type of libclang without arrays of variable extent in it."""
    kind = referred(kind).get_canonical()
    name = kind.kind.name
    if name in _SIGNED or name in _UNSIGNED or name == "ENUM":
        if name == "ENUM":
            name = kind.get_declaration().enum_type.get_canonical().kind.name
        return Integer(8 * int(kind.get_size()), name in _SIGNED, name == "BOOL")
    if name in _FLOATING:
        return Floating(_FLOATING[name], int(kind.get_size()))
    if name == "COMPLEX":
        return Floating(f"complex {kind.element_type.spelling}", int(kind.get_size()))
    if name == "POINTER":
        return Pointer(scalar_type(kind.get_pointee()))
    if name in _ARRAYS:
        count = int(kind.element_count) if name == "CONSTANTARRAY" else None
        return ArrayType(scalar_type(kind.element_type), count)
    if name == "RECORD":
        held = held_by(kind)
        return _struct(kind) if held is None else ArrayType(scalar_type(held[0]), held[1])
    return Other(name.lower())


def held_by(kind: Any) -> tuple[Any, int | None] | None:
    """The type of the elements of a container of C++, and how many there are if its type says so."""
    kind = kind.get_canonical()
    declared = kind.get_declaration()
    parent = declared.semantic_parent
    if kind.kind.name != "RECORD" or parent is None or parent.spelling != "std":
        return None
    element = kind.get_template_argument_type(0)
    if declared.spelling == "array":
        return element, int(kind.get_size()) // max(1, int(element.get_size()))
    if declared.spelling == "vector" and element.get_canonical().kind.name != "BOOL":
        return element, None
    is_array = declared.spelling == "unique_ptr" and element.kind.name == "INCOMPLETEARRAY"
    return (element.element_type, None) if is_array else None


def _positive(count: int, spot: Spot) -> int:
    if count <= 0:
        raise Fault(f"an array with {count} elements", spot)
    return count


def _struct(kind: Any) -> Struct:
    size = int(kind.get_size())
    members: dict[str, tuple[int, ValueType]] = {}
    for member in kind.get_fields() if size >= 0 else ():
        if member.is_bitfield():
            members[member.spelling] = (0, Other("bit-field"))
            continue
        offset = int(member.get_field_offsetof()) // 8
        name = member.spelling or f"#{member.canonical.hash}"
        inner = member.type.get_canonical()
        # A structure that points at itself is looked at no further than its pointers.
        pointee = inner.get_pointee().get_canonical() if inner.kind.name == "POINTER" else None
        if pointee is not None and pointee.kind.name == "RECORD":
            members[name] = (offset, Pointer(Other("incomplete")))
        else:
            members[name] = (offset, scalar_type(inner))
    return Struct(size, members)
