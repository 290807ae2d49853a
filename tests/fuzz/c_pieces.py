"""Short pieces of C as people write it: walking pointers, buffers in turn, ways out of loops, structures.

Each reads `in` and adds to or sets `out`; both have `width` cells for each of `size` + 2 rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from fuzz.c_program import Block, Node


@dataclass(frozen=True)
class Piece:
    """Lines before the functions, before the region and after it, and what stands in the region."""

    nodes: tuple[Node, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


def count(name: str, stop: object, *body: Node) -> Block:
    """A loop from zero."""
    return Block(f"for (int {name} = 0; {name} < {stop}; {name}++) {{", body)


class Pieces:
    """Draws pieces for a function with this size, this type of elements and rows of this width."""

    def __init__(self, draw: random.Random, size: str, kind: str, width: int, number: int = 0) -> None:
        self.draw = draw
        self.size = size
        self.kind = kind
        self.width = width
        self.number = number

    def some(self) -> list[Piece]:
        """One to three different pieces; a few stand in braces."""
        found: list[Piece] = []
        for one in self.draw.sample(self.all(), self.draw.choice((1, 1, 2, 3))):
            self.number += 1
            piece = one()
            if self.draw.random() < 0.25:
                piece = Piece(
                    (Block("{", piece.nodes),), piece.before, piece.after, piece.head, piece.includes
                )
            found.append(piece)
        return found

    def all(self) -> list[Callable[[], Piece]]:
        walks = [self.rows_walked, self.image_walked, self.counter_moved]
        turns = [self.halves, self.round_of_three, self.two_calls]
        ways = [self.left_early, self.skipped, self.loops_without_for, self.cases]
        places = [self.clamped, self.wrapped, self.any_cell, self.element_structures, self.array_in_structure]
        return [*walks, *turns, *ways, *places, self.wrapped_lines, self.sections]

    def name(self, word: str) -> str:
        return f"{word}{self.number}"

    def temporary(self, word: str, extent: object) -> tuple[str, str]:
        name = self.name(word)
        return name, f"{self.kind} {name}[{extent}];"

    # ------------------------------------------------ pointers and counters

    def rows_walked(self) -> Piece:
        """Two pointers walk through a row of the image and a row that is kept; then back."""
        t, line = self.temporary("line", self.width)
        step = self.draw.choice((1, 1, 2)) if self.width % 2 == 0 else 1
        value = "2 * *from++" if step == 1 else f"2 * *from; from += {step}"
        forth = count("x", self.width // step, f"*to = {value};", f"to += {step};")
        if step == 1 and self.draw.random() < 0.6:
            forth = count("x", self.width, "*to++ = 2 * *from++;")
        rest = count("x", self.width, f"{t}[x] = 1;") if step == 2 else "to = to;"
        last = f"{self.kind} *last = out + y * {self.width} + {self.width};"
        back = count("x", self.width, f"*--last = *--to + {self.draw.randrange(3)};")
        start = self.draw.choice((f"in + y * {self.width}", f"&in[y * {self.width}]"))
        lines: list[Node] = [
            f"const {self.kind} *from = {start};",
            f"{self.kind} *to = {t};",
            forth,
            last,
            back,
        ]
        if step == 2:
            lines.insert(0, rest)
        return Piece((count("y", self.size, *lines),), (line,))

    def image_walked(self) -> Piece:
        """A pointer walks through the whole image, row after row."""
        t, line = self.temporary("image", f"({self.size} + 2) * {self.width}")
        p, q = self.name("p"), self.name("q")
        walk = count("y", self.size, count("x", self.width, f"*{p}++ = *{q}++ / 2;"))
        lag = self.draw.choice((0, 1, self.width))
        use = Block(
            f"for (int k = {lag}; k < {self.size} * {self.width}; k++) {{",
            (f"out[k] = {t}[k] + {t}[k - {lag}];",),
        )
        return Piece((f"{self.kind} *{p} = {t};", f"const {self.kind} *{q} = in;", walk, use), (line,))

    def counter_moved(self) -> Piece:
        """A number that goes on with the loops says which cell comes next."""
        t, line = self.temporary("packed", f"({self.size} + 2) * 2")
        k = self.name("k")
        step = self.draw.choice((f"{k} += 2;", f"{k}++, ++{k};", f"{k} = {k} + 2;"))
        fill = count("i", self.size, f"{t}[{k}] = in[i];", f"{t}[{k} + 1] = in[i] / 2;", step)
        use = Block(
            f"for (int i = 0, j = 0; i < {self.size}; i++, j += 2) {{", (f"out[i] = {t}[j] + {t}[j + 1];",)
        )
        return Piece((f"{k} = 0;", fill, use), (line, f"int {k};"))

    # ------------------------------------------------ steps in time

    def halves(self) -> Piece:
        """Two halves of an array take turns, as a number or the step says."""
        t, line = self.temporary("half", f"{self.size} + 2")
        line = line.replace(t, f"{t}[2]", 1)
        cur = self.name("cur")
        turn = self.draw.choice((f"{cur} ^= 1;", f"{cur} = 1 - {cur};", f"{cur} = !{cur};", "", ""))
        new, old = (f"1 - {cur}", cur) if turn else ("(s + 1) % 2", "s % 2")
        steps = self.draw.choice(("3", "4", self.size))
        body: list[Node] = [
            count("i", self.size, f"{t}[{new}][i] = {t}[{old}][i] / 2 + {t}[{old}][i + 1] / 4;")
        ]
        body += [f"{t}[{new}][{self.size}] = 1;", *([turn] if turn else [])]
        start = count("i", f"{self.size} + 1", f"{t}[0][i] = in[i];")
        last = cur if turn else f"{steps} % 2"
        end = count("i", self.size, f"out[i] = {t}[{last}][i];")
        return Piece((start, count("s", steps, *body), end), (line, *([f"int {cur} = 0;"] if turn else [])))

    def round_of_three(self) -> Piece:
        """Three buffers go round."""
        names = [self.temporary(word, f"{self.size} + 2") for word in ("one", "two", "three")]
        p, q, r = (self.name(word) for word in "pqr")
        start = count("i", self.size, f"{p}[i] = in[i];", f"{q}[i] = in[i] / 2;")
        swap = f"{self.kind} *spare = {p};", f"{p} = {q}, {q} = {r}, {r} = spare;"
        step = count(
            "i", self.size, f"{r}[i] = {q}[i] / 2 + {p}[{self.draw.choice(('i', 'i > 0 ? i - 1 : 0'))}] / 4;"
        )
        lines = [f"{self.kind} *{one} = {name};" for one, (name, _) in zip((p, q, r), names, strict=True)]
        nodes: list[Node] = [start, count("s", self.draw.choice(("2", "5")), step, *swap)]
        nodes.append(count("i", self.size, f"out[i] = {q}[i];"))
        return Piece(tuple(nodes), (*(line for _, line in names), *lines))

    def two_calls(self) -> Piece:
        """Two calls of a function carry values from one buffer to the other and back."""
        a, first = self.temporary("a", f"{self.size} + 2")
        b, second = self.temporary("b", f"{self.size} + 2")
        function = self.name("smooth")
        head = (
            f"static void {function}(int count, const {self.kind} *from, {self.kind} *to)",
            *("{", "    for (int i = 0; i < count; i++)", "        to[i] = from[i] / 2 + from[i + 1] / 4;"),
            *("    to[count] = 1;", "}"),
        )
        start = count("i", f"{self.size} + 1", f"{a}[i] = in[i];")
        calls = (f"{function}({self.size}, {a}, {b});", f"{function}({self.size}, {b}, {a});")
        end = count("i", self.size, f"out[i] = {a}[i];")
        return Piece((start, count("s", self.draw.choice((1, 2, 4)), *calls), end), (first, second), (), head)

    # ------------------------------------------------ ways through a loop

    def left_early(self) -> Piece:
        """A loop is left where a value or the iterator says so."""
        t, line = self.temporary("seen", f"{self.size} + 2")
        test = self.draw.choice(("in[i] > 40", "in[i] == 1", "i == 5", f"2 * i > {self.size}"))
        way: Node = Block(f"if ({test}) {{", ("break;",))
        body: list[Node] = [f"{t}[i] = in[i] + 1;", way, f"out[i] = {t}[i] + {t}[i > 0 ? i - 1 : 0];"]
        return Piece((count("i", self.size, *body),), (line,))

    def skipped(self) -> Piece:
        """Iterations end early."""
        t, line = self.temporary("kept", f"{self.size} + 2")
        test = self.draw.choice(("in[i] > 40", "i % 3 == 1", "i < 2", f"i + 2 > {self.size}"))
        body: list[Node] = [
            f"{t}[i] = in[i] / 2;",
            Block(f"if ({test}) {{", ("continue;",)),
            f"out[i] = {t}[i];",
        ]
        return Piece((count("i", self.size, *body),), (line,))

    def loops_without_for(self) -> Piece:
        """While and do count, up and down."""
        t, line = self.temporary("w", f"{self.size} + 2")
        i, left = self.name("i"), self.name("left")
        up = Block(f"while ({i} < {self.size}) {{", (f"{t}[{i}] = in[{i}] / 2;", f"{i}++;"))
        down: Node = Block(f"while ({left}-- > 0) {{", (f"out[{left}] = {t}[{left}];",))
        if self.draw.random() < 0.4:
            down = Block("do {", (f"out[{left}] = {t}[{left}];", f"{left}++;"))
            return Piece(
                (f"{i} = 0;", up, f"{t}[{i}] = 1;", f"{left} = 0;", down, f"while ({left} < {self.size});"),
                (line, f"int {i}, {left};"),
            )
        return Piece((f"{i} = 0;", up, f"{left} = {self.size};", down), (line, f"int {i}, {left};"))

    def cases(self) -> Piece:
        """A switch on the iterator or on a value, with a case that goes on into the next one."""
        t, line = self.temporary("chosen", f"{self.size} + 2")
        what = self.draw.choice(("i % 3", "i & 3", "(int)in[i] & 3"))
        stop = self.draw.choice(("break;", "break;", "/* falls through */"))
        lines = ("case 0:", f"{t}[i] = in[i];", stop, "case 1:", f"{t}[i] = 3;", "break;", "case 2:")
        choice = Block(f"switch ({what}) {{", (*lines, "default:", f"{t}[i] = in[i + 1];"))
        return Piece((count("i", self.size, choice, f"out[i] = {t}[i];"),), (line,))

    # ------------------------------------------------ cells

    def clamped(self) -> Piece:
        """A filter that stays inside of its row."""
        t, line = self.temporary("row", self.width)
        last = self.width - 1
        reach = self.draw.choice((1, 2))
        low = self.draw.choice((f"x - {reach} < 0 ? 0 : x - {reach}", f"x < {reach} ? 0 : x - {reach}"))
        high = f"x + {reach} > {last} ? {last} : x + {reach}"
        fill = count("x", self.width, f"{t}[x] = in[y * {self.width} + x] / 4;")
        use = count("x", self.width, f"out[y * {self.width} + x] = {t}[{low}] + {t}[x] + {t}[{high}];")
        return Piece((count("y", self.size, fill, use),), (line,))

    def wrapped(self) -> Piece:
        """A filter on a row whose ends meet."""
        t, line = self.temporary("ring", self.width)
        reach = self.draw.randrange(1, self.width)
        fill = count("x", self.width, f"{t}[x] = in[y * {self.width} + x] / 4;")
        terms = f"{t}[(x + {reach}) % {self.width}] + {t}[(x + {self.width} - {reach}) % {self.width}]"
        return Piece(
            (count("y", self.size, fill, count("x", self.width, f"out[y * {self.width} + x] = {terms};")),),
            (line,),
        )

    def any_cell(self) -> Piece:
        """A table that is reached by values, and an array beside it."""
        t, line = self.temporary("beside", f"{self.size} + 2")
        table, counts = self.temporary("counts", 8)
        body = count(
            "i", self.size, f"{table}[(int)in[i] & 7] += 1;", f"{t}[i] = in[i] / 2;", f"out[i] = {t}[i];"
        )
        end = count("k", 8, f"out[k % 2] += {table}[k];")
        return Piece((count("k", 8, f"{table}[k] = k;"), body, end), (line, counts))

    def element_structures(self) -> Piece:
        """An array of structures."""
        t, struct = self.name("points"), self.name("point")
        lag = self.draw.choice((0, 1))
        body: list[Node] = [f"{t}[i].a = in[i];", f"{t}[i].b = in[i + 1] / 2;"]
        body.append(Block(f"if (i >= {lag}) {{", (f"out[i] = {t}[i - {lag}].a + {t}[i].b;",)))
        head = f"struct {struct} {{ {self.kind} a, b; }};"
        return Piece(
            (count("i", self.size, *body),), (f"struct {struct} {t}[{self.size} + 2];",), (), (head,)
        )

    def array_in_structure(self) -> Piece:
        """A structure with an array of scratch cells and a pointer to the image."""
        s, struct = self.name("work"), self.name("scratch")
        head = f"struct {struct} {{ {self.kind} line[{self.width}]; int stride; }};"
        fill = count("x", self.width, f"{s}.line[x] = in[y * {s}.stride + x];")
        use = count("x", self.width, f"out[y * {s}.stride + x] = {s}.line[{self.width} - 1 - x];")
        before = (f"struct {struct} {s};", f"{s}.stride = {self.width};")
        return Piece((count("y", self.size, fill, use),), before, (), (head,))

    # ------------------------------------------------ spellings and tasks

    def wrapped_lines(self) -> Piece:
        """Statements in `do … while (0)`, values in `({ … })`, an assertion, and a literal of an array."""
        t, line = self.temporary("store", f"{self.size} + 2")
        put = self.name("PUT")
        head = f"#define {put}(a, v) do {{ (a) = (v); }} while (0)"
        ways = (
            "in[i] / 2",
            f"({{ {self.kind} v = in[i]; v / 2; }})",
            f"(in[i] + ({self.kind}[3]){{1, 2, 3}}[i % 3])",
        )
        known = [f"assert({self.size} < 100);"] if self.draw.random() < 0.4 else []
        fill = count("i", self.size, f"{put}({t}[i], {self.draw.choice(ways)});", f"out[i] = {t}[i];")
        includes = ("<assert.h>",) if known else ()
        return Piece((*known, fill), (line,), (), (head,), includes)

    def sections(self) -> Piece:
        """Tasks that say which rows they fill and read."""
        t, line = self.temporary("rows", f"({self.size} + 2) * {self.width}")
        row = f"{t}[y * {self.width} : {self.width}]"
        fill = count("x", self.width, f"{t}[y * {self.width} + x] = in[y * {self.width} + x] / 2;")
        use = count("x", self.width, f"out[y * {self.width} + x] = {t}[y * {self.width} + x];")
        tasks = (f"#pragma omp task depend(out: {row})", fill, f"#pragma omp task depend(in: {row})", use)
        return Piece(("#pragma omp parallel", "#pragma omp single", count("y", self.size, *tasks)), (line,))
