"""Random C++ files: regions in functions, members of classes and templates, with containers."""

from __future__ import annotations

import random

from fuzz.c_pieces import count
from fuzz.c_program import Block, CProgram, Function, Node, Parameter

_HEADERS = ("algorithm", "array", "cmath", "cstddef", "memory", "vector")
_TYPES = ("float", "double", "int", "unsigned", "short")


def plusplus_program(seed: int) -> CProgram:
    """The file that belongs to a seed."""
    draw = random.Random(seed ^ 0xC99)
    kind, width = draw.choice(_TYPES), draw.choice((2, 4, 5))
    extent = f"(n + 2) * {width}"
    parameters = (
        Parameter("size", "int", "n", draw.choice(("int n", "const int n"))),
        Parameter("scalar", kind, "weight", draw.choice((f"const {kind} &weight", f"{kind} weight"))),
        Parameter("array", kind, "in", f"const {kind} *__restrict in", (extent,)),
        Parameter("array", kind, "out", f"{kind} *__restrict out", (extent,)),
    )
    before, nodes = _containers(draw, kind, width)
    body = (*before, "#pragma scop", *nodes, "#pragma endscop")
    head = [f"#include <{name}>" for name in _HEADERS]
    head.append(f"static inline {kind} mixed(const {kind} &a, const {kind} &b) {{ return a / 2 + b / 4; }}")
    head.append("template <typename T> constexpr T half(T value) { return value / 2; }")
    more, function = _framed(draw, Function("kernel", "void", parameters, body), kind)
    points = tuple((value,) for value in (0, 1, 2, 3, 7, draw.randrange(4, 17)))
    return CProgram((*head, *more), (function,), ("n",), points, seed=seed, suffix=".cpp")


def _containers(draw: random.Random, kind: str, width: int) -> tuple[list[str], list[Node]]:
    """Declarations of temporaries and loops over their cells."""
    rows = draw.choice(
        (
            f"std::vector<{kind}> t((n + 1) * {width});",
            f"std::vector<{kind}> t((n + 1) * {width}, {kind}(1));",
            f"auto t = std::make_unique<{kind}[]>((n + 1) * {width});",
            f"std::unique_ptr<{kind}[]> t(new {kind}[static_cast<std::size_t>((n + 1) * {width})]());",
            f"std::vector<std::vector<{kind}>> t(n + 1, std::vector<{kind}>({width}));",
        )
    )
    cell = "t[{0}][{1}]" if "<std::vector" in rows else f"t[({{0}}) * {width} + {{1}}]"
    line = draw.choice((f"std::array<{kind}, {width}> line;", f"std::vector<{kind}> line({width});"))
    y = draw.choice(("y", "y", "y + 1"))
    value = draw.choice(("in[y * {0} + x] / 2", "half(in[y * {0} + x])", "mixed(in[y * {0} + x], in[x])"))
    fill = count("x", width, f"{cell.format(y, 'x')} = {value.format(width)};")
    reach = draw.choice((1, 2))
    inside = f"std::clamp(x - {reach}, 0, {width - 1})"
    inside = draw.choice((inside, f"std::max(x - {reach}, 0)", f"std::min(x + {reach}, {width - 1})", "x"))
    lag = draw.choice((0, 0, 1)) if y == "y" else 0
    source = cell.format(f"{y} - {lag}" if lag else y, inside)
    rest: list[Node] = [
        Block(f"for (auto x = 0; x < {width}; ++x) {{", (f"line[x] = {source} * weight;",)),
        count(
            "x", width, f"out[y * {width} + x] = line[x] + line[{inside}] + std::min({kind}(x), {kind}(3));"
        ),
    ]
    use: list[Node] = [Block(f"if (y >= {lag}) {{", tuple(rest))] if lag else rest
    return [rows, line], [count("y", "n", fill, *use)]


def _framed(draw: random.Random, function: Function, kind: str) -> tuple[list[str], Function]:
    """The function as it is, or one that calls a template, a function of a namespace or a member."""
    words = [one.spelling for one in function.parameters]
    inner = function.lines()[1:]
    names = ", ".join(one.name for one in function.parameters)
    match draw.choice(("plain", "plain", "template", "namespace", "member", "static")):
        case "template":
            head = [f"template <typename T> static void work({', '.join(words)})".replace(kind, "T")]
            head += [line.replace(f"{kind}", "T") for line in inner]
            head[0] = head[0].replace("T n", f"{kind} n") if kind == "int" else head[0]
            call = f"work<{kind}>({names});"
        case "namespace":
            head = ["namespace filters {", f"static void work({', '.join(words)})", *inner, "}"]
            call = f"filters::work({names});"
        case "member":
            head = ["class Filter {", "public:", "    int n;", f"    {kind} weight;"]
            head += [f"    void run({', '.join(words[2:])})", *inner, "};"]
            call = "Filter filter; filter.n = n; filter.weight = weight; filter.run(in, out);"
        case "static":
            head = ["struct Filter {", f"    static void run({', '.join(words)})", *inner, "};"]
            call = f"Filter::run({names});"
        case _:
            return [], function
    return head, Function(function.name, function.returns, function.parameters, (call,))
