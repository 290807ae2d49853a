"""Loop nests of random C functions: what people write between `#pragma scop` and `#pragma endscop`."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.c_bodies import Bodies
from fuzz.c_program import Block, Node
from fuzz.c_scope import Array, Loop, Range, Scope
from fuzz.c_spelling import UNSIGNED
from support.random_c_parts import Form


class Nests(Bodies):
    """Draws nests; each method gives the nodes of one."""

    def definition(self, array: Array) -> list[Node]:
        """A nest that writes a box of a temporary, and perhaps uses it as it goes."""
        draw = self.draw
        box = tuple(
            Range(Form((), draw.choice((0, 0, 0, 1))), extent.plus(-draw.choice((1, 1, 1, 2))))
            for extent in array.extents
        )
        shifts = [draw.choice((0, 0, 0, 0, 1, -1)) for _ in box]
        if self.spelling.has_unsigned_sizes:
            shifts = [min(shift, one.low.constant) for shift, one in zip(shifts, box, strict=True)]
        ranges = [Range(one.low.plus(-s), one.high.plus(-s)) for one, s in zip(box, shifts, strict=True)]
        order = list(range(array.rank))
        if self.chance(0.15):
            draw.shuffle(order)
        is_parallel = self.chance(0.12)
        loops = self.loops([ranges[k] for k in order], plain=is_parallel)
        forms = [Form()] * array.rank
        for loop, k in zip(loops, order, strict=True):
            forms[k] = loop.form.plus(shifts[k])
            if self.chance(0.08):
                forms[k] = box[k].high.plus(ranges[k].low).plus(loop.form, -1)
        scope = Scope(self.region.scope.samples, is_parallel=is_parallel)
        readable = [one for one in self.region.readable() if not (is_parallel and one.role == "out")]
        is_fused = not is_parallel and self.chance(0.5)

        def body(here: Scope) -> list[Node]:
            lines, known = self.data_local(here, readable, array.type)
            target = self.spelling.element(array, tuple(forms), known)
            nodes = [*lines, *self.assignments(target, known, readable, array.type, tame=False)]
            if is_fused:
                for _ in range(draw.choice((1, 1, 2))):
                    nodes += self.use(array, tuple(forms), loops, known, readable)
            return nodes

        nodes = self.nest(loops, scope, body)
        if is_parallel:
            nodes = self.in_parallel(nodes, loops)
        array.written = box
        return nodes

    def use(
        self,
        array: Array,
        forms: tuple[Form, ...],
        loops: Sequence[Loop],
        scope: Scope,
        arrays: Sequence[Array],
    ) -> list[Node]:
        """A statement of the nest that writes the array and reads what iterations before left there."""
        reads: list[str] = []
        guards: list[str] = []
        for _ in range(self.draw.choice((1, 2, 2, 3))):
            distance = [self.draw.choice((0, 0, 1, 1, 2, -1)) for _ in loops]
            first = next((k for k, d in enumerate(distance) if d), None)
            if first is not None and distance[first] < 0:
                distance[first] = -distance[first]
            moved = {
                loop.name: loop.form.plus(-d * loop.step) for loop, d in zip(loops, distance, strict=True)
            }
            points = [moved[loop.name] for loop in loops]
            missing = scope.missing(points, [loop.range for loop in loops])
            guards += [self.spelling.condition(small, large, scope) for small, large in missing]
            reads.append(self.spelling.element(array, tuple(form.put(moved) for form in forms), scope))
        target = self.draw.choice(self.region.outputs)
        found = self.values.cell(target, target.box, scope, most_guards=4)
        if found is None:
            return []
        cell, more = found
        is_floating = self.values.is_floating(target.type)
        weights = ("0.5 * ", "0.25 * ", "0.125 * ") if is_floating else ("", "3 * ", "2 * ")
        value = " + ".join(weight + read for weight, read in zip(weights, reads, strict=False))
        value = value if is_floating else f"({value}) % 1000"
        operator = self.draw.choice(("=", "=", "=", "+="))
        if self.chance(0.2):
            value += f" + {self.values.atom(scope, arrays, target.type)}"
        if operator == "+=" and is_floating:
            value = f"0.5 * ({value})"
        return self.guarded([*guards, *more], [f"{cell} {operator} {value};"])

    def in_parallel(self, nodes: list[Node], loops: Sequence[Loop]) -> list[Node]:
        """OpenMP's pragma before a nest whose outermost iterations have nothing to do with each other."""
        private = [loop.name for loop in loops[1:] if loop.name in self.region.declared]
        clauses = f" private({', '.join(private)})" if private else ""
        clauses += self.draw.choice(("", "", " schedule(static)", " schedule(dynamic)"))
        return [f"#pragma omp parallel for{clauses}", *nodes]

    def update(self, array: Array) -> list[Node]:
        """A nest that changes cells of a temporary that have values."""
        assert array.written is not None
        box = array.written
        loops = self.loops([one for one in box if self.chance(0.9)] or [box[0]])

        def body(scope: Scope) -> list[Node]:
            found = self.values.cell(array, box, scope, most_guards=3)
            if found is None:
                return []
            target, guards = found
            operator = self.draw.choice(("=", "+=", "-="))
            value = self.values.value(scope, [array, *self.region.readable()], array.type, tame=True)
            if operator != "=" and self.values.is_floating(array.type):
                value = f"0.25 * ({value})"
            nodes: list[Node] = [f"{target} {operator} {value};"]
            if self.chance(0.25):
                nodes = [Block(f"if ({self.values.test(scope, [array], array.type)}) {{", tuple(nodes))]
            return self.guarded(guards, nodes)

        return self.nest(loops, Scope(self.region.scope.samples), body)

    def results(self) -> list[Node]:
        """A nest that fills results; bounds may depend on outer iterators, or go in strides."""
        target = self.draw.choice(self.region.outputs)
        box = [
            Range(one.low.plus(self.draw.choice((0, 0, 1))), one.high.plus(-self.draw.choice((0, 0, 1))))
            for one in target.box
        ]
        loops = self.loops(box)
        scope = Scope(self.region.scope.samples)
        known = scope.inside(*loops)
        lines, known = self.locals(known)
        readable = self.region.readable()
        more, known = self.data_local(known, readable, target.type)
        nodes: list[Node] = [*lines, *more]
        for _ in range(self.draw.choice((1, 1, 2))):
            nodes += self.output(known, readable)
        for depth in reversed(range(len(loops))):
            loop = loops[depth]
            low, high = loop.range.low, loop.range.high
            if depth and self.chance(0.25) and loop.type not in UNSIGNED:
                outer = self.draw.choice(loops[:depth])
                if self.chance(0.5):
                    high_text = self.spelling.least(high.plus(1).text(), outer.form.plus(1).text())
                    head = f"{loop.type} {loop.name} = {low.text()}; {loop.name} < {high_text}"
                else:
                    low_text = self.spelling.least(low.text(), outer.name, is_most=True)
                    head = f"{loop.type} {loop.name} = {low_text}; {loop.name} <= {high.text()}"
                nodes = [Block(f"for ({head}; {loop.name}++) {{", tuple(nodes))]
            elif self.chance(0.1):
                nodes = [self.spelling.strided(loop, low, high, self.draw.choice((2, 3)), nodes)]
            else:
                nodes = [self.spelling.loop(loop, low, high, nodes, self.region.declared)]
        return nodes

    def sum(self) -> list[Node]:
        """A nest that adds up values in a variable."""
        kind = self.region.outputs[0].type
        name = self.spelling.names.fresh(["sum", "total", "norm"])
        self.region.sums.append((kind, name))
        source = self.draw.choice(self.region.readable())
        box = source.written or source.box
        is_parallel = self.chance(0.3) and not self.values.is_floating(kind)
        loops = self.loops(box, plain=is_parallel)
        scope = Scope(self.region.scope.samples, is_parallel=is_parallel)

        def body(scope: Scope) -> list[Node]:
            value = self.values.value(scope, [source], kind, tame=True)
            nodes: list[Node] = [f"{name} += {value};"]
            if self.chance(0.2):
                nodes = [Block(f"if ({self.affine_test(scope)}) {{", tuple(nodes))]
            return nodes

        nodes = self.nest(loops, scope, body)
        if is_parallel:
            nodes = [
                f"{pragma} reduction(+:{name})" if isinstance(pragma, str) else pragma
                for pragma in self.in_parallel(nodes, loops)
            ]
        return nodes
