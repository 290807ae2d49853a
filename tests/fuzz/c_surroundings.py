"""What stands around the functions of a random C file: sizes, types, tables, other functions, a header."""

from __future__ import annotations

import random

from fuzz.c_scope import Array, Names
from fuzz.c_spelling import HEADERS, UNSIGNED, Spelling
from fuzz.c_values import DATA, FLOATING, Values
from support.random_c_parts import Form

LARGEST = 17
SIZES = (("n", "m"), ("N", "M"), ("n", "m"), ("h", "w"), ("width", "height"), ("n", "T"))
CAPTURED = (
    *("c0", "c1", "c2", "c3", "t_0", "t_1", "c1_end", "c1_begin", "c0_end", "c1_first", "c1_last", "t_row"),
    *("t_block", "memory", "memory_0", "memory_1", "t_folded", "buf_0", "tmp_0", "tmp_1", "part", "a_0"),
    *("tmp_block", "tmp_row", "c3_end", "c0_begin", "c3_stop", "tmp_0_shift", "c4", "c5"),
)
LIMITS = (0, 1, 2, 3, 5, 8, 17, -1, 2147483647, 500000000, -2147483648)


class Surroundings:
    """Draws what functions share."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draw = random.Random(seed)
        self.names = Names({"in", "out", "main"})
        self.spelling = Spelling(self.draw, self.names)
        self.values = Values(self.spelling)
        self.chance = self.spelling.chance
        self.head: list[str] = []
        self.external: list[str] = []
        self.globals: list[tuple[str, str]] = []
        self.temporaries: list[str] = []
        self.sizes: list[str] = []
        self.fixed: dict[str, int] = {}
        self.limits: list[str] = []
        self.header = ""

    def choose_sizes(self) -> None:
        names = self.draw.choice(SIZES)[: self.draw.choice((1, 1, 2, 2))]
        self.names.taken.update(names)
        if self.chance(0.1):
            self.fixed = {name.upper(): self.draw.choice((4, 7, 12)) for name in names}
            if self.chance(0.3):
                words = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
                self.head.append(f"enum {{ {words} }};")
            else:
                for name, value in self.fixed.items():
                    self.spelling.define(f"#define {name} {value}")
            self.names.taken.update(self.fixed)
        else:
            self.sizes = list(names)
        if self.chance(0.15):
            self.limits = [self.names.fresh(["limit", "lim", "cut"])]
        self.size_types = {name: self.spelling.integer() for name in (*self.sizes, *self.limits)}
        self.spelling.has_unsigned_sizes = any(self.size_types[name] in UNSIGNED for name in self.sizes)

    def choose_types(self) -> None:
        draw = self.draw
        is_floating = self.chance(0.35)
        bases = [kind for kind in DATA if (kind in FLOATING) == is_floating]
        self.types: list[str] = []
        for base in draw.sample(bases, draw.choice((1, 1, 2)) if len(bases) > 1 else 1):
            if base in HEADERS:
                self.spelling.include(HEADERS[base])
            spelled = base
            kind = draw.randrange(6)
            if kind == 0 and "DATA_TYPE" not in self.types:
                spelled = "DATA_TYPE"
                self.spelling.define(f"#define DATA_TYPE {base}")
            elif kind == 1 and "real" not in self.types:
                spelled = "real"
                self.spelling.define(f"typedef {base} real;")
            self.values.base[spelled] = base
            self.types.append(spelled)

    def choose_around(self) -> None:
        """Tables, functions, a header."""
        draw, main = self.draw, self.types[0]
        is_floating = self.values.is_floating(main)
        if self.chance(0.3):
            count = draw.choice((2, 3, 3, 5))
            numbers = ", ".join(
                ("0.25", "0.5", "0.125", "1", "0.75")[k] if is_floating else str(k + 1) for k in range(count)
            )
            name = self.names.fresh(["weights", "table", "coef"])
            self.head.append(f"static const {main} {name}[{count}] = {{{numbers}}};")
            self.values.tables.append(Array(name, main, (Form((), count),), "table"))
        if self.chance(0.25):
            body = "0.5 * x" if is_floating else "x / 2"
            self.head.append(
                f"static {draw.choice(('', 'inline '))}{main} half({main} x) {{ return {body}; }}"
            )
            self.values.pure.append("half")
        if self.chance(0.2):
            if is_floating:
                self.spelling.include("<math.h>")
                self.values.pure += ["fabs", "floor"]
            else:
                self.spelling.include("<stdlib.h>")
                self.values.pure.append("abs")
        if self.chance(0.12):
            name = self.names.fresh(["next_value", "sample"])
            self.head.append(f"{main} {name}({main} x);")
            self.external.append(name)
            self.values.impure.append(name)
        if self.chance(0.08):
            self.head += [
                "static unsigned calls;",
                f"static {main} numbered({main} x) {{ return x + (calls++ % 7); }}",
            ]
            self.values.impure.append("numbered")
        if self.chance(0.12):
            self.around_header(is_floating)

    def around_header(self, is_floating: bool) -> None:
        """A header whose variables and macros have names that generated code likes to use."""
        free = [name for name in CAPTURED if name not in self.names.taken]
        names = self.draw.sample(free, 4)
        self.names.taken.update(names)
        lines = [f"static int {names[0]} = 11, {names[1]} = 13;"]
        lines.append(f"#define SCALE {names[0]}")
        lines.append(f"#define OFFSET ({names[0]} + {names[1]})")
        weight = "0.01 * " if is_floating else ""
        lines.append(f"#define SHIFTED(x) ((x) + {weight}{names[1]})")
        lines.append(f"static inline int {names[2]}(int x) {{ return x + 1; }}")
        lines.append(f"#define {names[3]} 17")
        self.header = "\n".join(lines) + "\n"
        self.values.pure += ["SHIFTED"]
        self.values.scalars += ["OFFSET"] if not is_floating else []
        if not is_floating:
            self.values.pure.append(names[2])

    def points(self) -> tuple[tuple[int, ...], ...]:
        """Values of the sizes, equal and unequal, small ones first."""
        draw = self.draw
        found = [tuple([value] * len(self.sizes)) for value in (0, 1, 2, 3, draw.randrange(4, 9))]
        if self.sizes:
            found += [tuple(draw.randrange(LARGEST + 1) for _ in self.sizes) for _ in range(5)]
            found.append(tuple(draw.choice((0, 1, 2, LARGEST)) for _ in self.sizes))
        limited = [(*point, *(draw.choice(LIMITS) for _ in self.limits)) for point in found]
        return tuple(dict.fromkeys(limited))
