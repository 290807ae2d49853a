"""How people spell subscripts, conditions and loops: with locals, macros, minima, integers of all types."""

from __future__ import annotations

import random

from fuzz.c_program import Block, Node
from fuzz.c_scope import Array, Loop, Names, Range, Scope
from support.random_c_parts import Form, variable

SIGNED = (*("int",) * 8, "long", "long", "short", "ptrdiff_t", "int16_t", "idx", "idx")
NARROW = ("short", "int16_t", "unsigned char", "unsigned short", "uint8_t")
UNSIGNED = ("unsigned", "size_t", "unsigned char", "unsigned short", "uint8_t", "unsigned long", "uint32_t")
HEADERS = {
    "size_t": "<stddef.h>",
    "ptrdiff_t": "<stddef.h>",
    "int16_t": "<stdint.h>",
    "int64_t": "<stdint.h>",
    "uint8_t": "<stdint.h>",
    "uint32_t": "<stdint.h>",
}


class Spelling:
    """Draws texts, and keeps what they need at the head of the file."""

    def __init__(self, draw: random.Random, names: Names) -> None:
        self.draw = draw
        self.names = names
        self.includes: list[str] = []
        self.definitions: list[str] = []
        self.has_macros = self.chance(0.4)
        self.unsigned_share = draw.choice((0.0, 0.0, 0.15, 0.5))
        self.has_locals = self.chance(0.5)
        self.assigns_locals = self.chance(0.08)
        self.has_unsigned_sizes = False

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def include(self, header: str) -> None:
        if header not in self.includes:
            self.includes.append(header)

    def define(self, line: str) -> None:
        if line not in self.definitions:
            self.definitions.append(line)

    # ------------------------------------------------ types and forms

    def integer(self, *, is_signed: bool = False) -> str:
        """A type for an iterator, a size or a local."""
        is_unsigned = not is_signed and self.chance(self.unsigned_share)
        name = self.draw.choice(UNSIGNED if is_unsigned else SIGNED)
        if name in HEADERS:
            self.include(HEADERS[name])
        if name == "idx":
            self.define("typedef int idx;")
        return name

    def form(self, form: Form) -> str:
        """An affine expression without locals."""
        text = form.text()
        if self.has_macros and form.constant == -1 and len(form.terms) == 1 and form.terms[0][1] == 1:
            name = form.terms[0][0]
            if name.lower() in ("n", "m", "w") and self.chance(0.3):
                self.define(f"#define LAST_{name.upper()} ({name} - 1)")
                return f"LAST_{name.upper()}"
        return f"({text})" if self.chance(0.05) else text

    def subscript(self, form: Form, scope: Scope) -> str:
        """An affine expression, through a local if one fits."""
        for local in sorted(scope.locals, key=lambda _: self.draw.random()):
            rest = form.plus(local.form, -1)
            is_near = not rest.terms or (
                len(rest.terms) == 1 and abs(rest.terms[0][1]) == 1 and self.chance(0.1)
            )
            if is_near and self.chance(0.8):
                return variable(local.name).plus(rest).text()
        text = self.form(form)
        if self.chance(0.04):
            return f"(long)({text})"
        return text

    def element(self, array: Array, forms: tuple[Form, ...], scope: Scope) -> str:
        """A cell of an array."""
        texts = [self.subscript(form, scope) for form in forms]
        if array.is_flat:
            text = texts[0]
            for extent, inner in zip(array.extents[1:], texts[1:], strict=True):
                text = f"({text}) * ({extent.text()}) + {inner}"
            return f"{array.name}[{text}]"
        if self.has_macros and array.role != "global" and not array.is_turned and self.chance(0.3):
            macro = f"{array.name.upper()}_AT{array.rank}"
            letters = ("row_", "col_", "depth_")[: array.rank]
            inner = "".join(f"[{letter}]" for letter in letters)
            self.define(f"#define {macro}({', '.join(letters)}) {array.name}{inner}")
            return f"{macro}({', '.join(texts)})"
        return array.name + "".join(f"[{text}]" for text in texts)

    def condition(self, small: Form, large: Form, scope: Scope) -> str:
        """small <= large."""
        difference = large.plus(small, -1)
        left = Form.of({n: a for n, a in difference.terms if a > 0}, max(0, difference.constant))
        right = Form.of({n: -a for n, a in difference.terms if a < 0}, max(0, -difference.constant))
        kind = self.draw.randrange(8)
        if kind == 0 and scope.locals:
            return f"{self.subscript(large, scope)} >= {self.subscript(small, scope)}"
        if kind == 1:
            return f"{right.text()} <= {left.text()}"
        if kind == 2:
            return f"{left.plus(1).text()} > {right.text()}"
        if kind == 3 and difference.terms:
            return f"!({left.text()} < {right.text()})"
        return f"{left.text()} >= {right.text()}"

    # ------------------------------------------------ loops

    def least(self, first: str, second: str, *, is_most: bool = False) -> str:
        """The smaller (or larger) of two expressions."""
        relation, name = (">", "MAX") if is_most else ("<", "MIN")
        if self.chance(0.5):
            self.define(f"#define {name}(x, y) ((x) {relation} (y) ? (x) : (y))")
            return f"{name}({first}, {second})"
        return f"({first} {relation} {second} ? {first} : {second})"

    def loop(
        self, loop: Loop, low: Form, high: Form, body: list[Node], declared: dict[str, str] | None = None
    ) -> Block:
        """A loop over low, ..., high; `declared` gets iterators that stand before the region."""
        name, kind = loop.name, loop.type
        head_type = f"{kind} "
        if declared is not None and self.chance(0.25) and declared.setdefault(name, kind) == kind:
            head_type = ""
        is_unsigned = kind in UNSIGNED
        style = 20 if loop.is_plain else self.draw.randrange(4, 20)
        if loop.step < 0:
            first, test, step = self.form(high), f"{name} >= {self.form(low)}", "--"
            if is_unsigned:
                # Wraps around to end, as some people write it.
                test = f"{name} <= {self.form(high)}"
                if low != Form((), 0):
                    test = f"{name} >= {self.form(low)}"
        elif style == 4 and self.has_macros and head_type:
            self.define("#define FOR(i, first, end) for (int i = (first); i < (end); i++)")
            return Block(f"FOR({name}, {self.form(low)}, {self.form(high.plus(1))}) {{", tuple(body))
        else:
            first, step = self.form(low), "++"
            end = self.form(high.plus(1))
            if style == 5:
                end = self.least(end, str(self.draw.choice((19, 24, 40))))
            if style == 6 and low.constant >= 1:
                first = self.least(first, "1", is_most=True)
            test = f"{name} < {end}"
            if style in (7, 8, 9):
                test = f"{name} <= {self.form(high)}"
            if style == 10:
                test = f"{name} < {end} && {name} < 50"
            if style == 11:
                test = f"{end} > {name}"
            if style == 12 and self.chance(0.3):
                test = f"{name} != {end}"
        steps = [f"{name}{step}"] * 3 + [f"{step}{name}", f"{name} {step[0]}= 1"]
        return Block(f"for ({head_type}{name} = {first}; {test}; {self.draw.choice(steps)}) {{", tuple(body))

    def strided(self, loop: Loop, low: Form, high: Form, stride: int, body: list[Node]) -> Block:
        """A loop over low, low + stride, ..., at most high."""
        head = f"for ({loop.type} {loop.name} = {self.form(low)}; {loop.name} <= {self.form(high)}; "
        return Block(f"{head}{loop.name} += {stride}) {{", tuple(body))


def shifted(range_: Range, by: int) -> Range:
    return Range(range_.low.plus(by), range_.high.plus(by))
