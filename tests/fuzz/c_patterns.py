"""Patterns of several nests: sums of rows, steps in time, branches with arrays of their own."""

from __future__ import annotations

from fuzz.c_bodies import Body
from fuzz.c_nests import Nests
from fuzz.c_program import Block, Node
from fuzz.c_scope import Array, Loop, Range, Scope
from support.random_c_parts import Form

_ROWS = ("{type} *to = {row};", "{type} *to = &{row}[0];", "{type} *to; to = {row};")
_CHANGES = (
    "int turn = now; now = before; before = turn;",
    "now ^= 1; before = 1 - now;",
    "before = now; now = !now;",
    "{ now = now + 1; if (now == 2) now = 0; } before = (before + 1) & 1;",
)


class Patterns(Nests):
    """Draws nests that belong together."""

    def rows(self, array: Array) -> list[Node]:
        """An imperfect nest: a cell is set, summed up by an inner loop, and used."""
        source = self.draw.choice([one for one in self.region.readable() if one is not array])
        box = source.written or source.box
        outer, inner = Range(Form((), 0), array.extents[0].plus(-1)), box[-1]
        first, second = self.loops([outer, inner], up=True)
        scope = Scope(self.region.scope.samples, (first,))
        lines, known = self.locals(scope)
        rest = tuple(Form((), 0) for _ in array.extents[1:])
        target = self.spelling.element(array, (first.form, *rest), known)
        term = self.values.read(known.inside(second), [source], array.type) or "1"
        weight = "0.1 * " if self.values.is_floating(array.type) else ""
        loop = self.spelling.loop(
            second, inner.low, inner.high, [f"{target} += {weight}{term};"], self.region.declared
        )
        after = self.output(known, [source])
        goal = self.draw.choice(self.region.outputs)
        found = self.values.cell(goal, goal.box, known, most_guards=4)
        if found is not None:
            after += self.guarded(found[1], [f"{found[0]} = {target};"])
        head: list[Node] = [*lines, f"{target} = 0;", loop, *after]
        nodes: list[Node] = [self.spelling.loop(first, outer.low, outer.high, head, self.region.declared)]
        if array.rank == 1:
            array.written = (outer,)
        return nodes

    def steps(self, array: Array) -> list[Node]:
        """Steps in time, each from the one before; two rows of an array take turns, or all are kept."""
        space = array.extents[1:]
        box = tuple(Range(Form((), 0), extent.plus(-1)) for extent in space)
        is_turned = array.extents[0].plus(-2) == Form() or self.chance(0.3)
        first = self.loops(box, up=True)
        readable = [*self.region.inputs, *self.region.inputs]

        def start(row: str) -> Body:
            def body(scope: Scope) -> list[Node]:
                cells = "".join(f"[{loop.name}]" for loop in first)
                value = self.values.value(scope, readable, array.type, tame=True)
                return [f"{array.name}[{row}]{cells} = {value};"]

            return body

        nodes = self.nest(first, self.region.scope, start("0"))
        if is_turned:
            nodes += self.nest(first, self.region.scope, start("1"))
        name = self.free_name(self.region.scope, ("step", "s"))
        last = array.extents[0].plus(-1)
        time = Loop(name, "int", Range(Form((), 1), last))
        loops = self.loops(box, up=self.chance(0.7))
        new, old = (f"{name} % 2", f"({name} - 1) % 2") if is_turned else (name, f"{name} - 1")
        has_numbers, has_row = is_turned and self.chance(0.5), len(space) == 1 and self.chance(0.3)
        if has_numbers:
            new, old = "now", "before"
        has_row = has_row and not has_numbers

        def step(scope: Scope) -> list[Node]:
            texts: list[str] = []
            for _ in range(self.draw.choice((1, 2, 3))):
                forms = [loop.form.plus(self.draw.choice((0, 1, -1))) for loop in loops]
                missing = scope.missing(forms, box)
                guards = " && ".join(self.spelling.condition(a, b, scope) for a, b in missing)
                cells = "".join(f"[{self.spelling.subscript(form, scope)}]" for form in forms)
                text = f"{array.name}[{old}]{cells}"
                texts.append(f"({guards} ? {text} : 1)" if guards else text)
            value = " + ".join(texts)
            value = f"0.3 * ({value})" if self.values.is_floating(array.type) else f"({value}) % 1000"
            cells = "".join(f"[{self.spelling.subscript(loop.form, scope)}]" for loop in loops)
            return [f"{'to' if has_row else f'{array.name}[{new}]'}{cells} = {value};"]

        scope = Scope(self.region.scope.samples, (time,))
        inner = self.nest(loops, scope, step)
        if has_row:
            inner = [self.draw.choice(_ROWS).format(type=array.type, row=f"{array.name}[{new}]"), *inner]
        if has_numbers:
            inner = [*inner, self.draw.choice(_CHANGES)]
        loop = self.spelling.loop(time, time.range.low, time.range.high, inner)
        nodes.append(Block("{", ("int now = 1, before = 0;", loop)) if has_numbers else loop)
        goal = self.draw.choice(self.region.outputs)
        end = self.loops(box, up=True)

        def finish(scope: Scope) -> list[Node]:
            found = self.values.cell(goal, goal.box, scope, most_guards=4)
            if found is None:
                return []
            row = f"({last.text()}) % 2" if is_turned else last.text()
            cells = "".join(f"[{loop.name}]" for loop in end)
            guards = [*found[1], *([] if is_turned else [f"{last.text()} >= 0"])]
            return self.guarded(guards, [f"{found[0]} = {array.name}[{row}]{cells};"])

        nodes += self.nest(end, self.region.scope, finish)
        return nodes

    def exclusive(self, first: Array, second: Array) -> list[Node]:
        """Two temporaries, one used where a condition on data holds and the other where it does not."""
        rank = min(first.rank, second.rank)
        loops = self.loops([Range(Form((), 0), extent.plus(-1)) for extent in first.extents[:rank]])

        def body(scope: Scope) -> list[Node]:
            test = self.values.test(scope, self.region.inputs, first.type)
            branches: list[list[Node]] = []
            for array in (first, second):
                forms = (*(loop.form for loop in loops), *[Form((), 0)] * (array.rank - rank))
                missing = scope.missing(forms, array.box)
                cell = self.spelling.element(array, forms, scope)
                nodes: list[Node] = [f"{cell} = {self.values.value(scope, self.region.inputs, array.type)};"]
                goal = self.draw.choice(self.region.outputs)
                found = self.values.cell(goal, goal.box, scope, most_guards=3)
                if found is not None:
                    nodes += self.guarded(found[1], [f"{found[0]} = {cell};"])
                guards = [self.spelling.condition(a, b, scope) for a, b in missing]
                branches.append(self.guarded(guards, nodes))
            return [Block(f"if ({test}) {{", tuple(branches[0])), Block("else {", tuple(branches[1]))]

        return self.nest(loops, self.region.scope, body)
