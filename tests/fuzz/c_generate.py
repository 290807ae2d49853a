"""Random C files as people write them: functions with regions, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.c_bodies import Region
from fuzz.c_forms import in_other_forms
from fuzz.c_memory import allocation
from fuzz.c_pieces import Pieces
from fuzz.c_plusplus import plusplus_program
from fuzz.c_program import CProgram, Function, Node, Parameter
from fuzz.c_scope import Array, Scope, samples_of
from fuzz.c_sums import sums_region
from fuzz.c_surroundings import Surroundings
from fuzz.c_tasks import task_region
from fuzz.c_turns import Turns
from support.random_c_parts import Form, variable


class Generator(Surroundings):
    """Draws one file."""

    def program(self) -> CProgram:
        self.choose_sizes()
        self.choose_types()
        self.choose_around()
        names = ["kernel", "other"][: 2 if self.chance(0.08) else 1]
        functions = tuple(self.function(name) for name in names)
        lines = [f"#include {header}" for header in self.spelling.includes]
        if self.header:
            lines.append('#include "around.h"')
        return CProgram(
            head=(*lines, *self.spelling.definitions, *self.head),
            functions=functions,
            sizes=(*self.sizes, *self.limits),
            points=self.points(),
            header=self.header,
            globals=tuple(self.globals),
            names=tuple(self.external),
            temporaries=tuple(self.temporaries),
            seed=self.seed,
        )

    # ------------------------------------------------ functions

    def function(self, name: str) -> Function:
        draw = self.draw
        if self.sizes and self.chance(0.05):
            return self.task_function(name) if self.chance(0.5) else self.sums_function(name)
        if self.sizes and self.chance(0.12):
            return self.pieces_function(name)
        samples = samples_of(self.sizes, self.fixed)
        axes = [self.axis(size) for size in (self.sizes or list(self.fixed))]
        if len(axes) == 1:
            axes.append(draw.choice((axes[0], Form((), draw.choice((3, 8, 40))), axes[0].plus(1))))
        rank = draw.choice((1, 1, 1, 1, 2, 2, 2, 2, 2, 3))
        inputs = [
            self.array(word, axes, rank if k == 0 else draw.choice((1, 2)), "in")
            for k, word in enumerate(["in", "image"][: draw.choice((1, 1, 2))])
        ]
        outputs = [
            self.array(word, axes, rank if k == 0 else draw.choice((1, 2)), "out")
            for k, word in enumerate(["out", "res"][: draw.choice((1, 1, 2))])
        ]
        scalars = ["alpha"] if self.chance(0.3) else []
        self.values.scalars += scalars
        before: list[str] = []
        declared: dict[str, str] = {}
        body: list[Node] = []
        after: list[Node] = []
        for number in range(2 if self.chance(0.08) else 1):
            names = [["tmp", "u", "v"], ["t0", "buf", "acc_row"], ["a", "b", "line"]][draw.randrange(3)]
            names = [f"{word}{number or ''}" for word in names]
            count = draw.choice((1, 1, 1, 2, 2, 3))
            temporaries = [
                self.array(word, axes, draw.choice((rank, rank, 1)), "temporary") for word in names[:count]
            ]
            region = Region(Scope(samples), inputs, outputs, temporaries, declared, limits=self.limits)
            nodes = self.region(region)
            lines, frees = self.declarations(region)
            before += lines
            body += ["#pragma scop", *nodes, "#pragma endscop"]
            for type_, total in region.sums:
                cells = "".join("[0]" for _ in outputs[0].extents)
                guard = " && ".join(f"{extent.text()} > 0" for extent in outputs[0].extents if extent.terms)
                line = f"{outputs[0].name}{cells} += {total};"
                after.append(f"if ({guard}) {line}" if guard else line)
                del type_
            after += frees
        self.values.scalars = [one for one in self.values.scalars if one not in scalars]
        before += [f"{kind} {word};" for word, kind in declared.items()]
        parameters = self.parameters(inputs, outputs, scalars)
        return Function(name, "void", parameters, (*before, *body, *after))

    def axis(self, size: str) -> Form:
        if self.chance(0.12):
            return Form((), 40)
        return variable(size).plus(self.draw.choice((0, 0, 1, 2, 4)))

    def array(self, name: str, axes: Sequence[Form], rank: int, role: str) -> Array:
        draw = self.draw
        extents = [axes[k % len(axes)] for k in range(rank)]
        if rank == 3:
            extents[draw.randrange(3)] = Form((), draw.choice((2, 3, 4)))
        if self.chance(0.15):
            draw.shuffle(extents)
        if role == "temporary":
            extents = [one.plus(draw.choice((0, 0, 0, 1, 2))) for one in extents]
            if self.chance(0.1):
                extents = [Form((), 40) for _ in extents]
            if rank > 1 and self.chance(0.1):
                extents[0] = Form((), 2)
        self.names.taken.add(name)
        kind = self.draw.choice(self.types)
        found = Array(name, kind, tuple(extents), role)
        if role == "temporary" and self.chance(0.3):
            found.is_allocated = True
            found.is_flat = rank > 1 and self.chance(0.5)
        return found

    def region(self, region: Region) -> list[Node]:
        """Nests: every temporary is written by one, and then used."""
        nests = Turns(self.spelling, self.values, region)
        nodes: list[Node] = []
        waiting = list(region.temporaries)
        if len(waiting) > 1 and self.chance(0.12):
            nodes += nests.exclusive(waiting[0], waiting[1])
            waiting = waiting[2:]
        elif len(waiting) > 1 and waiting[0].rank == 1 and self.chance(0.25):
            first, second = waiting[:2]
            second.extents, second.type = first.extents, first.type
            first.is_allocated = second.is_allocated = True
            first.is_turned = second.is_turned = True
            nodes += nests.turns(first, second)
            waiting = waiting[2:]
        for array in waiting:
            if array.rank > 1 and not array.is_flat and self.chance(0.12):
                nodes += nests.steps(array)
                continue
            if self.chance(0.1):
                nodes += nests.rows(array)
                continue
            nodes += nests.definition(array)
            if self.chance(0.25):
                nodes += nests.update(array)
            if self.chance(0.3):
                nodes += nests.results()
        nodes += nests.results()
        if self.chance(0.15):
            nodes += nests.sum()
        return nodes

    def declarations(self, region: Region) -> tuple[list[str], list[str]]:
        """Variables before the region, and what frees them; some arrays stand at file scope instead."""
        lines: list[str] = []
        frees: list[str] = []
        for array in region.temporaries:
            declarator = array.name + "".join(f"[{extent.text()}]" for extent in array.extents)
            is_constant = not any(self.is_variable(extent) for extent in array.extents)
            if array.is_allocated:
                self.spelling.include("<stdlib.h>")
                self.spelling.include("<alloca.h>")
                own, free = allocation(self.draw, array)
                lines += own
                frees += free
                continue
            if is_constant and self.chance(0.15):
                self.head.append(f"static {array.type} {declarator};")
                self.temporaries.append(array.name)
            elif is_constant and self.chance(0.1):
                lines.append(f"static {array.type} {declarator};")
                self.temporaries.append(array.name)
            else:
                lines.append(f"{array.type} {declarator};")
        lines += [f"{kind} {name} = 0;" for kind, name in region.sums]
        return lines, frees

    def is_variable(self, extent: Form) -> bool:
        return any(name not in self.fixed for name, _ in extent.terms)

    def parameters(
        self, inputs: Sequence[Array], outputs: Sequence[Array], scalars: Sequence[str]
    ) -> tuple[Parameter, ...]:
        """Sizes first, as extents use them; some arrays stand at file scope instead."""
        found: list[Parameter] = []
        for name in (*self.sizes, *self.limits):
            kind = self.size_types[name]
            const = self.draw.choice(("", "", "", "const "))
            found.append(Parameter("size", kind, name, f"{const}{kind} {name}"))
        for array in (*inputs, *outputs):
            extents = tuple(extent.text() for extent in array.extents)
            const = "const " if array.role == "in" else ""
            if not any(self.is_variable(extent) for extent in array.extents) and self.chance(0.2):
                brackets = "".join(f"[{extent}]" for extent in extents)
                if (array.type, array.name) not in self.globals:
                    self.head.append(f"{array.type} {array.name}{brackets};")
                    self.globals.append((array.type, array.name))
                    self.external.append(array.name)
                continue
            words = [f"[restrict {extents[0]}]", *(f"[{extent}]" for extent in extents[1:])]
            spelling = f"{const}{array.type} {array.name}{''.join(words)}"
            kind = self.draw.randrange(10)
            if kind == 0:
                spelling = spelling.replace("restrict ", "")
            elif kind == 1:
                spelling = f"{const}{array.type} (*restrict {array.name}){''.join(words[1:])}"
                if array.rank == 1:
                    spelling = f"{const}{array.type} *restrict {array.name}"
            found.append(Parameter("array", array.type, array.name, spelling, extents))
        found += [Parameter("scalar", self.types[0], name, f"{self.types[0]} {name}") for name in scalars]
        return tuple(found)

    def task_function(self, name: str) -> Function:
        """A function whose region makes tasks."""
        size = self.sizes[0]
        extent = variable(size).plus(1)
        kind = self.types[0]
        arrays = {word: Array(word, kind, (extent,), word) for word in ("in", "out")}
        temporaries = [
            Array(word, kind, (extent,), "temporary")
            for word in ("a", "b", "d")[: self.draw.choice((1, 2, 3))]
        ]
        weight = "0.5" if self.values.is_floating(kind) else "3"
        nodes = task_region(self.draw, size, [arrays["in"]], [arrays["out"]], temporaries, weight)
        before = [f"{kind} {array.name}[{extent.text()}];" for array in temporaries]
        parameters = self.parameters([arrays["in"]], [arrays["out"]], [])
        return Function(name, "void", parameters, (*before, "#pragma scop", *nodes, "#pragma endscop"))

    def sums_function(self, name: str) -> Function:
        """A function whose threads sum up rows of a temporary."""
        size = self.sizes[0]
        extent = variable(size).plus(1)
        kind = self.types[0]
        arrays = {word: Array(word, kind, (extent,), word) for word in ("in", "out")}
        table = Array("rows", kind, (extent, extent), "temporary")
        is_floating = self.values.is_floating(kind)
        nodes = sums_region(self.draw, size, "in", "out", table, is_floating=is_floating)
        before = [f"{kind} rows[{extent.text()}][{extent.text()}];", f"{kind} sum = 0;"]
        parameters = self.parameters([arrays["in"]], [arrays["out"]], [])
        return Function(name, "void", parameters, (*before, "#pragma scop", *nodes, "#pragma endscop"))

    def pieces_function(self, name: str) -> Function:
        """A function that strings short pieces together."""
        size, kind = self.sizes[0], self.types[0]
        width = self.draw.choice((2, 3, 4, 6))
        extent = Form(((size, width),), 2 * width)
        arrays = [Array(word, kind, (extent,), word) for word in ("in", "out")]
        self.names.taken.update(("in", "out"))
        pieces = Pieces(self.draw, size, kind, width, 5 * (name == "other")).some()
        for piece in pieces:
            self.head += piece.head
            for header in piece.includes:
                self.spelling.include(header)
        parameters = self.parameters(arrays[:1], arrays[1:], [])
        before = [line for piece in pieces for line in piece.before]
        nodes = [node for piece in pieces for node in piece.nodes]
        after = [line for piece in pieces for line in piece.after]
        return Function(
            name, "void", parameters, (*before, "#pragma scop", *nodes, "#pragma endscop", *after)
        )


def random_program(seed: int) -> CProgram:
    """The file that belongs to a seed; a few are C++."""
    if seed % 16 == 5:
        return plusplus_program(seed)
    return in_other_forms(Generator(seed).program(), seed)
