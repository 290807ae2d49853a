"""Bodies of loops of random C functions: locals, assignments, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fuzz.c_program import Block, Node
from fuzz.c_scope import Array, Local, Loop, Range, Scope
from fuzz.c_spelling import NARROW, Spelling
from fuzz.c_values import Values
from support.random_c_parts import Form

ITERATORS = (("i", "j", "k"),) * 4 + (("y", "x", "z"), ("t", "i", "j"), ("c0", "c1", "c2"), ("r", "c", "q"))
Body = Callable[[Scope], list[Node]]


@dataclass
class Region:
    """What the nests of a region share.

    declared  iterators and locals declared before the region, with their types
    before    further lines before the region
    """

    scope: Scope
    inputs: list[Array]
    outputs: list[Array]
    temporaries: list[Array]
    declared: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    sums: list[tuple[str, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    def readable(self) -> list[Array]:
        written = [array for array in self.temporaries if array.written is not None]
        return [*written, *written, *written, *self.inputs, *self.outputs[:1]]


class Bodies:
    """Draws loops and what stands in them."""

    def __init__(self, spelling: Spelling, values: Values, region: Region) -> None:
        self.spelling = spelling
        self.values = values
        self.region = region
        self.draw = spelling.draw
        self.chance = spelling.chance

    # ------------------------------------------------ loops and locals

    def loops(self, ranges: Sequence[Range], *, up: bool = False, plain: bool = False) -> list[Loop]:
        """Loops over ranges."""
        found: list[Loop] = []
        taken = self.spelling.names.taken
        names = self.draw.choice([one for one in ITERATORS if not taken.intersection(one)])
        for name, one in zip(names, ranges, strict=False):
            is_negative = self.is_below_zero(one.low)
            step = 1 if up or self.chance(0.85) else -1
            is_signed = plain or is_negative or (step < 0 and self.chance(0.8))
            kind = self.spelling.integer(is_signed=is_signed)
            if kind in NARROW and (one.low if step > 0 else one.high).terms:
                kind = "int"
            found.append(Loop(name, kind, one, step, plain))
        return found

    def is_below_zero(self, form: Form) -> bool:
        return self.region.scope.reaches_below(form, Form((), 0))

    def nest(self, loops: Sequence[Loop], scope: Scope, body: Body) -> list[Node]:
        """The body inside of the loops, with locals at the head of the innermost one."""
        inner = scope.inside(*loops)
        lines, known = self.locals(inner)
        nodes: list[Node] = [*lines, *body(known)]
        for loop in reversed(loops):
            nodes = [self.spelling.loop(loop, loop.range.low, loop.range.high, nodes, self.region.declared)]
        return nodes

    def locals(self, scope: Scope) -> tuple[list[Node], Scope]:
        """Integers that people declare at the head of a body, and what is known then."""
        lines: list[Node] = []
        if not self.spelling.has_locals or self.chance(0.35) or not scope.loops:
            return lines, scope
        for _ in range(self.draw.choice((1, 1, 2))):
            name = self.free_name(scope, ("q", "p", "row", "col", "pos", "next"))
            loop = self.draw.choice(scope.loops[-2:])
            form = loop.form.plus(self.draw.choice((0, 1, 1, 2, -1, -2)))
            text = self.spelling.subscript(form, scope)
            if self.chance(0.15):
                form = loop.range.high.plus(loop.form, -1)
                text = form.text()
            elif self.chance(0.1) and len(scope.loops) > 1:
                form = scope.loops[-1].form.plus(scope.loops[-2].form)
                text = form.text()
            is_negative = scope.reaches_below(form, Form((), 0)) and self.chance(0.9)
            kind = self.spelling.integer(is_signed=is_negative)
            if kind in NARROW and self.chance(0.7):
                kind = "int"
            is_outside = self.spelling.assigns_locals and not scope.is_parallel and self.chance(0.5)
            if is_outside and self.region.declared.setdefault(name, kind) == kind:
                lines.append(f"{name} = {text};")
            else:
                lines.append(f"{self.draw.choice(('', '', 'const '))}{kind} {name} = {text};")
            scope = scope.knowing(Local(name, form))
        return lines, scope

    def free_name(self, scope: Scope, wanted: Sequence[str]) -> str:
        """A name for a variable of a body; other bodies may have it, too."""
        taken = {loop.name for loop in scope.loops} | {local.name for local in scope.locals}
        taken |= {name for _, name in scope.values} | self.spelling.names.taken
        return next(name for name in (*wanted, *(f"{wanted[0]}{k}" for k in range(9))) if name not in taken)

    def data_local(self, scope: Scope, arrays: Sequence[Array], type_: str) -> tuple[list[Node], Scope]:
        """Perhaps a variable of the body that holds data, or a sum over a few neighbours."""
        if self.chance(0.7):
            return [], scope
        name = self.free_name(scope, ("v", "acc", "val", "w0"))
        if self.values.tables and self.chance(0.4):
            table = self.values.tables[0]
            count = table.extents[0].constant
            inner = Loop(
                self.free_name(scope, ("k", "l", "d")), "int", Range(Form((), 0), Form((), count - 1))
            )
            within = scope.inside(inner)
            term = self.values.read(within, arrays, type_) or "1"
            line = f"{name} += {table.name}[{inner.name}] * {term};"
            loop = self.spelling.loop(inner, inner.range.low, inner.range.high, [line])
            return [f"{type_} {name} = 0;", loop], scope.holding(type_, name)
        const = self.draw.choice(("", "", "const "))
        line = f"{const}{type_} {name} = {self.values.value(scope, arrays, type_)};"
        return [line], scope.holding(type_, name)

    # ------------------------------------------------ statements

    def assignments(
        self, target: str, scope: Scope, arrays: Sequence[Array], type_: str, tame: bool
    ) -> list[Node]:
        """The target surely gets a value."""

        def value() -> str:
            return self.values.value(scope, arrays, type_, tame=tame)

        kind = self.draw.randrange(14)
        if kind == 0 and scope.loops:
            test = self.values.test(scope, arrays, type_)
            return self.either(test, f"{target} = {value()};", f"{target} = {value()};")
        if kind == 1 and scope.loops:
            test = self.affine_test(scope)
            return self.either(test, f"{target} = {value()};", f"{target} = {value()};")
        if kind == 2:
            return [f"{target} = {value()};", f"{target} += {value()};"]
        return [f"{target} = {value()};"]

    def either(self, test: str, then: str, otherwise: str) -> list[Node]:
        return [Block(f"if ({test}) {{", (then,)), Block("else {", (otherwise,))]

    def affine_test(self, scope: Scope) -> str:
        loop = self.draw.choice(scope.loops)
        kind = self.draw.randrange(6)
        if kind == 0:
            return f"{loop.name} % 2 == {self.draw.randrange(2)}"
        if kind == 1 and self.region.limits:
            limit = self.draw.choice(self.region.limits)
            shift = self.draw.choice(("", " - 3", " + 10", " + 1", " - 1"))
            return f"{loop.name} {self.draw.choice(('<', '<=', '>=', '>'))} {limit}{shift}"
        if kind == 2 and len(scope.loops) > 1:
            other = self.draw.choice(scope.loops)
            return f"{loop.name} {self.draw.choice(('<', '>=', '==', '!='))} {other.name}"
        if kind == 3:
            return f"{loop.name} >= {self.draw.randrange(3)} && {loop.name} < {self.draw.randrange(4, 9)}"
        return f"{loop.name} {self.draw.choice(('<', '>', '!='))} {self.draw.randrange(1, 5)}"

    def guarded(self, guards: Sequence[str], nodes: list[Node]) -> list[Node]:
        return [Block(f"if ({' && '.join(dict.fromkeys(guards))}) {{", tuple(nodes))] if guards else nodes

    def output(self, scope: Scope, arrays: Sequence[Array]) -> list[Node]:
        """A statement that leaves something in a result."""
        array = self.draw.choice(self.region.outputs)
        found = self.values.cell(array, array.box, scope, most_guards=4)
        if found is None:
            return []
        target, guards = found
        value = self.values.value(scope, arrays, array.type, tame=True)
        operator = self.draw.choice(("=", "=", "=", "+=", "-=", "*="))
        if operator != "=":
            value = f"0.5 * ({value})" if self.values.is_floating(array.type) else f"({value}) % 50"
        if operator == "*=" and not self.values.is_floating(array.type):
            operator = "+="
        nodes: list[Node] = [f"{target} {operator} {value};"]
        kind = self.draw.randrange(8)
        if kind == 0 and scope.loops:
            nodes = [Block(f"if ({self.values.test(scope, arrays, array.type)}) {{", tuple(nodes))]
        elif kind == 1 and scope.loops:
            nodes = [Block(f"if ({self.affine_test(scope)}) {{", tuple(nodes))]
        return self.guarded(guards, nodes)
