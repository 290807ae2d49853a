"""Draws the figures of the documentation from real results: `python docs/figures/draw.py`."""

from __future__ import annotations

from pathlib import Path

import arrayfold as af
from arrayfold.base.choices import FigureKind
from arrayfold.exact.isl import fix_parameters, points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.options import FoldOptions
from arrayfold.mapping.modular import ModularMapping, TableMapping
from arrayfold.methods import METHODS, Request
from arrayfold.methods.occupancy_vectors import find_occupancy
from arrayfold.program.model import Program
from arrayfold.report.figures import plot_fold, save
from arrayfold.select.choose import ask

HERE = Path(__file__).parent
CELL = 26
STYLE = "font-family:system-ui,sans-serif;font-size:13px;fill:#666"


def svg(width: int, height: int, parts: list[str]) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *parts, "</svg>\n"])


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{STYLE}">{words}</text>'


def square(x: float, y: float, colour: str, opacity: float = 1.0, border: str = "#888") -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{CELL - 3}" height="{CELL - 3}" rx="3" fill="{colour}" '
        f'fill-opacity="{opacity}" stroke="{border}" stroke-width="{2.5 if border == "#111" else 1}"/>'
    )


def draw_fold() -> str:
    """The blur example before and after: cells of one colour share an address."""
    size = 8
    result = af.fold(af.read("examples/blur-interleaved.toml"), params={"N": size})["blurx"]
    assert result.conflicts.moments is not None
    moment = result.conflicts.moments.intersect_params(fix_parameters({"N": size}))
    live = {p[-2:] for p in points(moment.wrap()) if p[1:4] == (4, 3, 0)}
    cells = result.size.at({"N": size})
    colours = [f"hsl({360 * k // cells}, 65%, {62 if k % 2 else 48}%)" for k in range(cells)]
    parts = [text(20, 22, f"blurx: {size} × {size} cells, live ones outlined")]
    for y in range(size):
        for x in range(size):
            (address,) = result.mapping.address((y, x), {"N": size})
            is_live = (y, x) in live
            border = "#111" if is_live else "#888"
            opacity = 1 if is_live else 0.35
            parts.append(square(20 + x * CELL, 34 + y * CELL, colours[address], opacity, border))
    left = 20 + size * CELL + 70
    parts.append(text(left - 52, 34 + 4 * CELL, "→"))
    parts.append(text(left, 22, f"folded: {result.size} = {cells} cells"))
    parts += [square(left + k * CELL, 34, colours[k]) for k in range(cells)]
    parts.append(text(left, 34 + 3 * CELL, f"{result.mapping}".replace(">", "&gt;")))
    parts.append(text(left, 34 + 4 * CELL, f"{result.lower_bound.formula} cells are live at once: minimal"))
    return svg(left + cells * CELL + 20, 50 + size * CELL, parts)


def draw_differences(file: str, name: str, params: dict[str, int], title: str) -> str:
    """The differences of conflicting cells, and the moduli that the two axis orders give."""
    conflicts = Analysis.of(af.read(file)).conflicts(name)
    here = set(points(conflicts.at(params).differences))
    reach = max(max(abs(a), abs(b)) for a, b in here)
    side = 2 * reach + 1
    small = 14
    parts = [text(20, 22, title)]
    for a in range(-reach, reach + 1):
        for b in range(-reach, reach + 1):
            x, y = 20 + (b + reach) * small, 34 + (a + reach) * small
            colour = "#0072b2" if (a, b) in here else "#e69f00" if a == b == 0 else "none"
            parts.append(
                f'<rect x="{x}" y="{y}" width="{small - 2}" height="{small - 2}" rx="2" fill="{colour}" '
                'stroke="#bbb" stroke-width="0.7"/>'
            )
    left = 20 + side * small + 24
    first, second = conflicts.array.dimensions
    for k, (every, words) in enumerate(((False, f"{first} first"), (True, "best order"))):
        (mapping,) = METHODS["successive-modulo"].find(conflicts, Request.of(conflicts, {}, all_orders=every))
        assert isinstance(mapping, ModularMapping)
        line = f"{words}: {', '.join(f'{mapping.row(j)} mod {m}' for j, m in enumerate(mapping.moduli))}"
        parts.append(text(left, 60 + 46 * k, line))
        parts.append(text(left, 80 + 46 * k, f"{mapping.size} cells"))
    parts.append(text(20, 52 + side * small, f"down: difference in {first}, across: difference in {second}"))
    return svg(left + 300, 66 + side * small, parts)


# method -> example, array, size: a set of differences on which the method shows what it does
LATTICES = {
    "linear": ("blur-interleaved", "blurx", {"N": 6}),
    "basis": ("diagonal", "A", {"n": 6}),
    "lattice": ("reverse-l", "A", {"N": 6}),
    "combined": ("produce-consume", "A", {"N": 6}),
    "hyperplane": ("parallelogram-tile", "A", {"B": 5}),
    "projection": ("unsharp-tiled", "A", {"B": 6}),
    "exhaustive": ("hexagon-tile", "A", {"B": 4}),
}


def draw_lattice(method: str, file: str, name: str, params: dict[str, int]) -> str:
    """The differences of conflicting cells, and the vectors between cells that share an address."""
    conflicts = Analysis.of(af.read(f"examples/{file}.toml")).conflicts(name)
    at_size = conflicts.at(params)
    problem = at_size if method == "exhaustive" else conflicts
    mapping = ask(method, problem, Request.of(problem, params if method != "exhaustive" else {})).mapping
    assert mapping is not None
    here = set(points(at_size.differences))
    origin = mapping.address((0, 0), params)
    reach = max(max(abs(a), abs(b)) for a, b in here) + 2
    small = 14
    sizes = ", ".join(f"{key} = {value}" for key, value in params.items())
    parts = [text(20, 22, f"{file}, {sizes}: {mapping}".replace(">", "&gt;"))]
    for a in range(-reach, reach + 1):
        for b in range(-reach, reach + 1):
            x, y = 20 + (b + reach) * small, 34 + (a + reach) * small
            shares = mapping.address((a, b), params) == origin
            colour = "#0072b2" if (a, b) in here else "#e69f00" if shares else "none"
            parts.append(
                f'<rect x="{x}" y="{y}" width="{small - 2}" height="{small - 2}" rx="2" fill="{colour}" '
                'stroke="#bbb" stroke-width="0.7"/>'
            )
    bottom = 34 + (2 * reach + 1) * small
    first, second = conflicts.array.dimensions
    parts.append(text(20, bottom + 18, f"down: difference in {first}, across: difference in {second}"))
    parts.append(text(20, bottom + 36, "blue: conflicting, orange: sharing an address; no square is both"))
    return svg(max(520, 40 + (2 * reach + 1) * small), bottom + 50, parts)


def draw_static() -> str:
    """The cells of the hexagonal tile with their addresses, and cells that all conflict."""
    params = {"B": 4}
    result = af.fold(af.read("examples/hexagon-tile.toml"), params=params, method="static")["A"]
    assert isinstance(result.mapping, TableMapping)
    assert result.lower_bound.clique is not None
    conflicting = set(result.lower_bound.clique.cells)
    cells = result.size.at({})
    parts = [text(20, 22, f"hexagon-tile, B = 4: {cells} addresses; the outlined cells all conflict")]
    low = [min(cell[k] for cell, _ in result.mapping.table) for k in range(2)]
    high = [max(cell[k] for cell, _ in result.mapping.table) for k in range(2)]
    for (row, column), address in result.mapping.table:
        x, y = 20 + (column - low[1]) * CELL, 34 + (row - low[0]) * CELL
        is_chosen = (row, column) in conflicting
        colour = f"hsl({360 * address // cells}, 65%, {62 if address % 2 else 48}%)"
        parts.append(square(x, y, colour, 0.9 if is_chosen else 0.5, "#111" if is_chosen else "#888"))
        parts.append(text(x + (CELL - 3) / 2, y + 16, str(address), "middle").replace("#666", "#111"))
    bottom = 34 + (high[0] - low[0] + 1) * CELL
    first, second = result.conflicts.array.dimensions
    parts.append(text(20, bottom + 18, f"down: {first}, across: {second}; the numbers are addresses"))
    return svg(max(470, 40 + (high[1] - low[1] + 1) * CELL), bottom + 32, parts)


def draw_occupancy() -> str:
    """Cells along the affine occupancy vector of the stencil have one colour; the vector is drawn in."""
    params = {"m": 7, "n": 9}
    program = af.read("examples/occupancy-stencil.toml")
    assert isinstance(program, Program)
    (array,) = find_occupancy(program).arrays
    assert array.mapping is not None
    assert array.affine is not None
    count = array.mapping.size.at(params)
    parts = [text(20, 22, f"A[i, j] at m = 7, n = 9, and the vector {array.affine}")]

    def corner(i: int, j: int) -> tuple[int, int]:
        return 20 + (j - 1) * CELL, 34 + (i - 1) * CELL

    for i in range(1, params["m"] + 1):
        for j in range(1, params["n"] + 1):
            (address,) = array.mapping.address((i, j), params)
            colour = f"hsl({360 * address // count}, 65%, {62 if address % 2 else 48}%)"
            parts.append(square(*corner(i, j), colour, 0.8))
    for i, j in ((1, 2), (3, 5), (2, 7)):
        (x, y), (tip_x, tip_y) = corner(i, j), corner(i + array.affine[0], j + array.affine[1])
        middle = CELL // 2 - 1
        parts.append(
            f'<line x1="{x + middle}" y1="{y + middle}" x2="{tip_x + middle}" y2="{tip_y + middle}" '
            'stroke="#111" stroke-width="2.5"/>'
        )
        parts.append(f'<circle cx="{tip_x + middle}" cy="{tip_y + middle}" r="4" fill="#111"/>')
    parts.append(text(20, 60 + params["m"] * CELL, f"{array.mapping.size} = {count} addresses"))
    return svg(340, 80 + params["m"] * CELL, parts)


def draw_sharing() -> str:
    """Two arrays of a stencil in turn, step by step: cells of one colour share an address."""
    params = {"N": 8, "T": 2}
    program = af.read("examples/heat-1d.c")
    assert isinstance(program, Program)
    (memory,) = af.fold_shared(af.reallocate(program), "cells")
    cells = memory.size.at(params)
    colours = [f"hsl({360 * k // cells}, 65%, {62 if k % 2 else 48}%)" for k in range(cells)]
    members = {one.array: one for one in memory.members}
    steps: list[tuple[str, list[tuple[str, tuple[int, ...]]]]] = [
        ("A, from in", [("A_S_0", (i,)) for i in range(8)])
    ]
    for t in range(2):
        inner = [("B_S_2", (t, i)) for i in range(1, 7)]
        steps.append((f"B, t = {t}", [("B_S_1", (t,)), *inner, ("B_S_3", (t,))]))
        steps.append((f"A, t = {t}", [("A_S_4", (t, i)) for i in range(8)]))
    parts = [text(20, 22, f"heat-1d: 2 arrays of 8 cells in {memory.size} = {cells} cells")]
    for row, (label, line) in enumerate(steps):
        parts.append(text(20, 51 + row * CELL, label))
        for i, (array, cell) in enumerate(line):
            (address,) = members[array].address(cell, params)
            parts.append(square(120 + i * CELL, 34 + row * CELL, colours[address]))
    return svg(140 + 9 * CELL + 60, 50 + len(steps) * CELL, parts)


# What is drawn where, by column and row: packages, and what they hand on (in round boxes).
FLOW = {
    "C file": (0, 0.5),
    "problem file": (0, 1.5),
    "Python": (0, 2.5),
    "frontends/": (1, 1.5),
    "(Program)": (2, 1.5),
    "passes/": (2, 0.2),
    "order/": (3, 0.8),
    "conflicts/": (3, 2.5),
    "(Conflicts)": (4, 2.5),
    "methods/": (5, 1),
    "select/": (6, 1),
    "bounds/": (5, 2.5),
    "judge/": (6, 2.5),
    "(Mapping)": (7, 1),
    "(LowerBound)": (5, 3.5),
    "(Proof)": (7, 2.5),
    "codegen/": (7, 0),
    "validation/": (6, 0),
    "run/": (5, 0),
    "report/": (7, 3.5),
}
ARROWS = (
    *((source, "frontends/") for source in ("C file", "problem file", "Python")),
    ("frontends/", "(Program)"),
    ("order/", "passes/"),
    ("passes/", "(Program)"),
    ("(Program)", "order/"),
    ("(Program)", "conflicts/"),
    ("order/", "conflicts/"),
    ("conflicts/", "(Conflicts)"),
    *(("(Conflicts)", package) for package in ("methods/", "bounds/")),
    ("methods/", "select/"),
    ("select/", "judge/"),
    ("select/", "(Mapping)"),
    ("judge/", "(Proof)"),
    ("bounds/", "(LowerBound)"),
    ("(Mapping)", "codegen/"),
    ("codegen/", "validation/"),
    ("validation/", "run/"),
    ("(Proof)", "report/"),
    ("(LowerBound)", "report/"),
)


def draw_flow() -> str:
    """How data flows; the boxes bring their own background, so that they can be read on any page."""
    wide, high, step_x, step_y = 96, 34, 118, 62

    def centre(name: str) -> tuple[float, float]:
        column, row = FLOW[name]
        return 20 + wide / 2 + column * step_x, 20 + high / 2 + row * step_y

    def edge(name: str, towards: tuple[float, float]) -> tuple[float, float]:
        """Where the line to another box leaves this one."""
        x, y = centre(name)
        far = max(abs(towards[0] - x) / (wide / 2 + 3), abs(towards[1] - y) / (high / 2 + 3))
        return x + (towards[0] - x) / far, y + (towards[1] - y) / far

    head = '<path d="M0,0 L8,4 L0,8 z" fill="#888"/>'
    marker = (
        f'<marker id="tip" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">{head}</marker>'
    )
    parts = [f"<defs>{marker}</defs>"]
    for source, target in ARROWS:
        (x, y), (tip_x, tip_y) = edge(source, centre(target)), edge(target, centre(source))
        line = f'x1="{x:.1f}" y1="{y:.1f}" x2="{tip_x:.1f}" y2="{tip_y:.1f}"'
        parts.append(f'<line {line} stroke="#888" stroke-width="1.5" marker-end="url(#tip)"/>')
    for name in FLOW:
        x, y = centre(name)
        is_data = name.startswith("(") or FLOW[name][0] == 0
        colour = "#fbe3c4" if is_data else "#cfe0f3"
        parts.append(
            f'<rect x="{x - wide / 2}" y="{y - high / 2}" width="{wide}" height="{high}" '
            f'rx="{16 if is_data else 3}" fill="{colour}" stroke="#888"/>'
        )
        parts.append(text(x, y + 5, name.strip("()"), "middle").replace("#666", "#222"))
    return svg(round(40 + wide + 7 * step_x), round(40 + high + 3.5 * step_y), parts)


def figures() -> dict[str, str]:
    """All figures by file name."""
    return {
        **{f"{method}.svg": draw_lattice(method, *example) for method, example in LATTICES.items()},
        "flow.svg": draw_flow(),
        "fold.svg": draw_fold(),
        "static.svg": draw_static(),
        "occupancy.svg": draw_occupancy(),
        "sharing.svg": draw_sharing(),
        "successive-modulo.svg": draw_differences(
            "examples/diamond-tile.toml",
            "A",
            {"B": 5},
            "Differences of conflicting cells, diamond tile, B = 5",
        ),
        "identity.svg": draw_differences(
            "examples/blur-tiled.toml",
            "blurx",
            {"B": 6},
            "Differences of conflicting cells, tiled blur, B = 6",
        ),
    }


# name of the figure -> file, kind, sizes
PLOTS: dict[str, tuple[str, FigureKind, dict[str, int]]] = {
    "plot-conflicts.svg": ("blur-interleaved.toml", "conflicts", {"N": 8}),
    "plot-lattice.svg": ("diamond-tile.toml", "lattice", {"B": 5}),
    "plot-slices.svg": ("lbm-d2q9.toml", "lattice", {"N": 5}),
    "plot-lifetimes.svg": ("jacobi-1d.c", "lifetimes", {"N": 6, "T": 4}),
    "plot-blur-lifetimes.svg": ("blur-interleaved.c", "lifetimes", {"N": 5}),
    "plot-memory.svg": ("harris.c", "memory", {"N": 8}),
    "plot-methods.svg": ("reverse-l.toml", "methods", {"N": 64}),
}


if __name__ == "__main__":
    for file_name, drawing in figures().items():
        (HERE / file_name).write_text(drawing)
    for file_name, (example, what, sizes) in PLOTS.items():
        problem = af.read(f"examples/{example}")
        if what == "memory":
            assert isinstance(problem, af.Program)
            problem = af.reorder(problem, fuse="rows")
        save(plot_fold(problem, what, FoldOptions(sizes)), HERE / file_name)
