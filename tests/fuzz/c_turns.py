"""Steps in time between two buffers that change places."""

from __future__ import annotations

from fuzz.c_patterns import Patterns
from fuzz.c_program import Node
from fuzz.c_scope import Array, Loop, Range, Scope
from support.random_c_parts import Form


class Turns(Patterns):
    """Draws nests with pointers that go round."""

    def turns(self, first: Array, second: Array) -> list[Node]:
        """Each step reads one buffer and writes the other; then the pointers change places."""
        draw = self.draw
        box = tuple(Range(Form((), 0), extent.plus(-1)) for extent in first.extents)
        readable = [*self.region.inputs]
        start = self.loops(box, up=True)

        def begin(scope: Scope) -> list[Node]:
            cell = self.spelling.element(first, tuple(loop.form for loop in start), scope)
            return [f"{cell} = {self.values.value(scope, readable, first.type, tame=True)};"]

        nodes = self.nest(start, self.region.scope, begin)
        name = self.free_name(self.region.scope, ("step", "s"))
        low = draw.choice((0, 0, 1, 3))
        time = Loop(name, "int", Range(Form((), low), first.extents[0].plus(low - draw.choice((0, 1, 2)))))
        loops = self.loops(box, up=self.chance(0.7))

        def step(scope: Scope) -> list[Node]:
            texts: list[str] = []
            for _ in range(draw.choice((1, 2))):
                forms = tuple(loop.form.plus(draw.choice((0, 1, -1))) for loop in loops)
                guards = [self.spelling.condition(a, b, scope) for a, b in scope.missing(forms, box)]
                text = self.spelling.element(first, forms, scope)
                texts.append(f"({' && '.join(guards)} ? {text} : 1)" if guards else text)
            value = " + ".join(texts)
            value = f"0.3 * ({value})" if self.values.is_floating(first.type) else f"({value}) % 1000"
            return [f"{self.spelling.element(second, tuple(loop.form for loop in loops), scope)} = {value};"]

        inner = self.nest(loops, Scope(self.region.scope.samples, (time,)), step)
        one, other = first.name, second.name
        swap = [f"{first.type} *turn = {one}; {one} = {other}; {other} = turn;"]
        if self.chance(0.3):
            swap = [f"{{ void *turn = {one}; {one} = {other}, {other} = turn; }}"]
        nodes.append(self.spelling.loop(time, time.range.low, time.range.high, [*inner, *swap]))
        goal = draw.choice(self.region.outputs)
        end = self.loops(box, up=True)

        def finish(scope: Scope) -> list[Node]:
            found = self.values.cell(goal, goal.box, scope, most_guards=4)
            cell = self.spelling.element(first, tuple(loop.form for loop in end), scope)
            return [] if found is None else self.guarded(found[1], [f"{found[0]} = {cell};"])

        return [*nodes, *self.nest(end, self.region.scope, finish)]
