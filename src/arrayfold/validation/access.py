"""Loading and storing variables, elements and members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayfold.validation import operators
from arrayfold.validation.addresses import Addresses, refuse, shifted
from arrayfold.validation.faults import Spot, Unsupported
from arrayfold.validation.memory import Object
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run
from arrayfold.validation.scope import TypedClosure, VariableSlot
from arrayfold.validation.types import ArrayType, Frame, Other, Struct, ValueType, leaves


class MemoryAccess(Addresses):
    """What the expressions of a function do with memory."""

    def load(self, run: Run, kind: ValueType, spot: Spot) -> Run:
        """What is at an address."""
        if isinstance(kind, Struct):
            parts = [(at, self.load(shifted(run, at, spot), leaf, spot)) for at, leaf in leaves(kind)]
            return lambda f: [(at, part(f)) for at, part in parts]
        if isinstance(kind, Other | ArrayType):
            raise Unsupported(f"a value of type {kind.tag}", spot)
        m, place = self.m, self._checked(run, kind.size, spot, is_write=False)

        def loaded(f: Frame) -> Any:
            obj, offset = place(f)
            value = obj.cells.get(offset)
            return obj.missing(offset, kind, m.zero) if value is None else value

        return loaded

    def store(self, run: Run, kind: ValueType, value: Run, spot: Spot) -> Run:
        """Put a value at an address, and give it back."""
        if isinstance(kind, Struct):
            return self._store_struct(run, kind, value, spot)
        if isinstance(kind, Other | ArrayType):
            raise Unsupported(f"a value of type {kind.tag}", spot)
        place = self._checked(run, kind.size, spot, is_write=True)

        def stored(f: Frame) -> Any:
            new = value(f)
            obj, offset = place(f)
            obj.cells[offset] = new
            return new

        return stored

    def _checked(
        self, run: Run, width: int, spot: Spot, *, is_write: bool
    ) -> Callable[[Frame], tuple[Object, int]]:
        """The object and the offset of an access, which must be inside its array and of its width."""
        m, place = self.m, self.scope.place()

        def checked(f: Frame) -> tuple[Object, int]:
            address = run(f)
            if address.__class__ is not tuple:
                refuse(address, spot)
            obj, offset, low, high = address
            if offset < low or offset + width > high:
                m.outside(address, width, spot)
            if obj.unit != width or offset % width:
                obj.check_width(offset, width, spot, is_store=is_write)
            if m.races is not None or m.lanes is not None:
                m.saw(obj, offset, place, spot, is_write=is_write)
            return obj, offset

        return checked

    def _store_struct(self, run: Run, kind: Struct, value: Run, spot: Spot) -> Run:
        slot = self.scope.slot()
        places = [
            self.store(shifted(run, at, spot), leaf, _part(slot, k), spot)
            for k, (at, leaf) in enumerate(leaves(kind))
        ]

        def stored(f: Frame) -> Any:
            f[slot] = value(f)
            for place in places:
                place(f)
            return f[slot]

        return stored

    def assigned(self, node: TextNode, target: TextNode, origin: TextNode) -> TypedClosure:
        """`target = origin`."""
        kind = self.type_of(target)
        value = self.value(origin)
        run = operators.convert(self.m, value.run, value.type, kind, node.spot)
        variable = self._target(target)
        if variable is not None:
            run = self.sized(variable.name, run)
        if variable is not None and variable.is_register:
            slot = variable.slot

            def assign(f: Frame) -> Any:
                value = f[slot] = run(f)
                return value

            return TypedClosure(assign, kind)
        return TypedClosure(self.store(self.address(target)[0], kind, run, node.spot), kind)

    def _target(self, node: TextNode) -> VariableSlot | None:
        """The variable that is changed, if it is a whole one."""
        inner = node.bare()
        return self.variable(inner) if inner.kind == "DECL_REF_EXPR" else None

    def sized(self, name: str, run: Run) -> Run:
        """A value on its way into or out of a variable that may be a size of the context."""
        m = self.m
        return (lambda f: m.sized(name, run(f))) if name in self.scope.sized else run

    def updated(
        self, node: TextNode, target: TextNode, change: Callable[[TypedClosure], TypedClosure], is_after: bool
    ) -> TypedClosure:
        """`target op= x`, and steps; is_after gives back what was there before."""
        kind, variable = self.type_of(target), self._target(target)
        old_slot, at_slot = self.scope.slot(), self.scope.slot()
        new = change(TypedClosure(lambda f: f[old_slot], kind))
        run = operators.convert(self.m, new.run, new.type, kind, node.spot)
        if variable is not None and variable.is_register:
            slot = variable.slot

            def update(f: Frame) -> Any:
                old = f[old_slot] = f[slot]
                value = f[slot] = run(f)
                return old if is_after else value

            return TypedClosure(update, kind)
        address = self.address(target)[0]
        load = self.load(lambda f: f[at_slot], kind, node.spot)
        store = self.store(lambda f: f[at_slot], kind, run, node.spot)

        def change_memory(f: Frame) -> Any:
            f[at_slot] = address(f)
            old = f[old_slot] = load(f)
            value = store(f)
            return old if is_after else value

        return TypedClosure(change_memory, kind)


def _part(slot: int, k: int) -> Run:
    return lambda f: f[slot][k][1]
