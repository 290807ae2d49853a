"""The data of random C functions: expressions that read cells, locals, tables and call functions."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.c_scope import Array, Range, Scope
from fuzz.c_spelling import Spelling
from support.random_c_parts import Form

FLOATING = ("double", "float")
SMALL = ("short", "unsigned char", "uint8_t", "int16_t")
DATA = (
    *("double", "float", "int", "int", "unsigned", "long", "short", "unsigned char"),
    *("int64_t", "uint8_t", "long long", "uint32_t"),
)
UNSIGNED_DATA = ("unsigned", "unsigned char", "uint8_t", "uint32_t")


class Values:
    """Draws expressions.

    base      what a spelling of a type stands for
    functions further functions that may be called, by whether their calls must keep their order
    """

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.draw = spelling.draw
        self.base: dict[str, str] = {}
        self.scalars: list[str] = []
        self.pure: list[str] = []
        self.impure: list[str] = []
        self.tables: list[Array] = []

    def is_floating(self, type_: str) -> bool:
        return self.base.get(type_, type_) in FLOATING

    def is_signed(self, type_: str) -> bool:
        return not self.is_floating(type_) and self.base.get(type_, type_) not in UNSIGNED_DATA

    # ------------------------------------------------ cells

    def cell(
        self, array: Array, box: Sequence[Range], scope: Scope, *, most_guards: int = 2
    ) -> tuple[str, list[str]] | None:
        """A cell of a box, and conditions under which it lies there; None if no simple one was found."""
        best: tuple[tuple[Form, ...], list[tuple[Form, Form]]] | None = None
        for _ in range(6):
            forms = self.forms(box, scope)
            missing = scope.missing(forms, box)
            if best is None or len(missing) < len(best[1]):
                best = forms, missing
            if not missing or (len(missing) <= most_guards and self.spelling.chance(0.15)):
                break
        assert best is not None
        forms, missing = best
        if len(missing) > most_guards:
            return None
        guards = [self.spelling.condition(small, large, scope) for small, large in missing]
        return self.spelling.element(array, forms, scope), guards

    def forms(self, box: Sequence[Range], scope: Scope) -> tuple[Form, ...]:
        """Subscripts that more or less fit a box: iterators in their order, shifted or turned round."""
        loops = list(scope.loops)
        if self.spelling.chance(0.2):
            self.draw.shuffle(loops)
        found: list[Form] = []
        for k, one in enumerate(box):
            kind = self.draw.randrange(16)
            if not loops or kind == 0:
                ends = [one.low, one.high, one.low.plus(1), Form((), self.draw.randrange(3))]
                found.append(self.draw.choice(ends))
                continue
            behind = len(box) - len(loops)
            loop = loops[max(0, k - behind) % len(loops)] if kind < 14 else self.draw.choice(loops)
            form = loop.form.plus(self.draw.choice((0, 0, 0, 0, 1, -1, 2, -2, 3)))
            if kind == 1:
                form = one.high.plus(one.low).plus(loop.form, -1)
            elif kind == 2 and len(loops) > 1:
                form = loop.form.plus(self.draw.choice(loops).form, self.draw.choice((1, -1)))
            elif kind == 3 and self.spelling.chance(0.3):
                form = loop.form.plus(loop.form)
            found.append(form)
        return tuple(found)

    def read(self, scope: Scope, arrays: Sequence[Array], type_: str) -> str | None:
        """A cell that has a value, under a condition if need be."""
        if not arrays:
            return None
        array = self.draw.choice(arrays)
        box = array.box if array.role in ("in", "out", "global", "table") else array.written
        found = self.cell(array, box, scope) if box is not None else None
        if found is None:
            return None
        text, guards = found
        if not guards:
            return text
        other = "0.5" if self.is_floating(type_) else str(self.draw.randrange(4))
        return f"({' && '.join(guards)} ? {text} : {other})"

    # ------------------------------------------------ expressions

    def atom(self, scope: Scope, arrays: Sequence[Array], type_: str) -> str:
        kind = self.draw.randrange(20)
        if kind < 12:
            found = self.read(scope, arrays, type_)
            if found is not None:
                return found
        if kind in (12, 13, 14) and scope.values:
            return self.draw.choice(scope.values)[1]
        if kind in (15, 16) and scope.loops:
            name = self.draw.choice(scope.loops).name
            forms = ["{0}", "(({0} + 1) % 5)", "({0} & 3)", "({0} > 1)", "2 * {0}"]
            forms += [local.name for local in scope.locals] * 2
            return self.draw.choice(forms).format(name)
        if kind == 17 and self.tables:
            found = self.read(scope, self.tables, type_)
            if found is not None:
                return found
        if kind == 18 and self.scalars:
            return self.draw.choice(self.scalars)
        return self.draw.choice(("0.75", "1.5f", "2") if self.is_floating(type_) else ("3", "5", "7"))

    def called(self, text: str, scope: Scope) -> str:
        """A call with this value."""
        functions = [*self.pure, *(() if scope.is_parallel else self.impure)]
        return f"{self.draw.choice(functions)}({text})" if functions else text

    def value(self, scope: Scope, arrays: Sequence[Array], type_: str, *, tame: bool = False) -> str:
        """An expression; `tame` where values are computed from values over and over."""
        draw = self.draw
        atoms = [self.atom(scope, arrays, type_) for _ in range(draw.choice((1, 2, 2, 2, 3)))]
        if self.spelling.chance(0.2):
            atoms[0] = self.called(atoms[0], scope)
        first, *rest = atoms
        kind = draw.randrange(10)
        is_floating = self.is_floating(type_)
        if not rest:
            return first if not tame or is_floating else self.tamed(first, type_)
        if kind == 0:
            text = f"({first} > {rest[0]} ? {first} : {rest[-1]})"
        elif kind == 1 and self.spelling.has_macros:
            form = "(0.5 * (x) - 0.25 * (y))" if is_floating else "((x) + 2 * (y))"
            name = "MIX_F" if is_floating else "MIX"
            self.spelling.define(f"#define {name}(x, y) {form}")
            text = f"{name}({first}, {rest[0]})"
        elif is_floating:
            weights = ("0.5 * ", " + 0.25 * ", " - 0.125 * ")
            text = "".join(weight + atom for weight, atom in zip(weights, atoms, strict=False))
        elif kind == 2:
            text = f"({first}) ^ ({rest[0]})" if not any("." in atom for atom in atoms) else first
        else:
            signs = (" + ", " + 2 * ", " - ")
            text = first + "".join(draw.choice(signs) + atom for atom in rest)
        return self.tamed(text, type_) if tame or self.spelling.chance(0.3) else text

    def tamed(self, text: str, type_: str) -> str:
        """A value that does not grow beyond its type."""
        if self.is_floating(type_):
            return text
        if self.base.get(type_, type_) in ("unsigned char", "uint8_t"):
            return text
        return f"({text}) % 1000"

    def test(self, scope: Scope, arrays: Sequence[Array], type_: str) -> str:
        """A condition on data."""
        left = self.read(scope, arrays, type_) or self.atom(scope, arrays, type_)
        limit = "0.4" if self.is_floating(type_) else str(self.draw.randrange(30, 70))
        return f"{left} {self.draw.choice(('>', '<', '>=', '<='))} {limit}"
