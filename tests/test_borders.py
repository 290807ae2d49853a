"""Borders: clamps, minima, wrap-around and conditions leave innermost loops of the interior."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from arrayfold import fold, read, read_all, reorder
from arrayfold.base.choices import Loops
from arrayfold.codegen import write_c
from arrayfold.exact.isl import maps_of
from arrayfold.exact.relations import union_of_sets
from arrayfold.frontends.c.read import read_c
from arrayfold.passes.borders import SplitBorders
from arrayfold.program.model import Program
from arrayfold.run.compiler import find_compiler
from arrayfold.validation.subjects import validate_code
from inner_loops import dividing_loops, innermost_loops
from support.runs import run_both

MACROS = """
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
static inline int lesser(int a, int b) { return a < b ? a : b; }
"""
# Two stages, of which the second reads neighbours; what is read of the row is the placeholder.
TWO_STAGES = (
    MACROS
    + """
void stages(int h, int w, const float in[restrict h][w], float out[restrict h][w])
{
    float t[h][w];
#pragma scop
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++)
            t[y][x] = in[y][x] * 0.5f;
        for (int x = 0; x < w; x++)
            out[y][x] = %s;
    }
#pragma endscop
}
"""
)
NEIGHBOURS = {
    "conditional": "t[y][x > 0 ? x - 1 : 0] + t[y][x]",
    "macros": "t[y][MAX(x - 1, 0)] + t[y][MIN(x + 1, w - 1)]",
    "nested": "t[y][CLAMP(x - 1, 0, w - 1)] + t[y][CLAMP(x + 2, 0, w - 1)]",
    "function": "t[y][lesser(x + 1, w - 1)]",
    "wrap-around": "t[y][(x + 1) % w] + t[y][(x + w - 1) % w]",
    "of another array": "t[y][x] + in[MAX(y - 1, 0)][MIN(x + 3, w - 1)]",
    "of a value": "x == 0 || x == w - 1 ? 0 : t[y][x]",
    "of another type": "t[y][x > 1 ? x - 2u : 0] + t[y][x]",
}


def program_of(text: str) -> Program:
    (program,) = read_c("test.c", text.encode())
    return program


def interior_loops(code: str) -> list[str]:
    """The innermost loops of a file without conditions in their bodies."""
    loops = innermost_loops(code)
    return [loop for loop in loops if not re.search(r"\?|%|\bif\b|lesser", loop.partition("{")[2] or loop)]


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_both_parts_are_the_whole(name: str) -> None:
    """Every instance is in one part, at its time, with its accesses."""
    program = program_of(TWO_STAGES % NEIGHBOURS[name])
    split = SplitBorders().apply(program)
    assert len(split.statements) == len(program.statements) + 1
    names = {one.name: one.name.removesuffix("_inside") for one in split.statements}
    assert split.source is not None
    assert split.schedule is not None
    assert split.schedule.is_equal(split.source.schedule)
    assert program.schedule is not None
    assert split.schedule is not None

    def renamed(relation: isl.UnionMap) -> isl.UnionMap:
        parts = [
            one.set_tuple_name(isl.dim_type.in_, names[one.get_tuple_name(isl.dim_type.in_)])
            for one in maps_of(relation)
        ]
        found = isl.UnionMap.empty(relation.get_space())
        for part in parts:
            found = found.union(part)
        return found

    domain = program.domain().intersect_params(program.context)
    inside, border = (
        union_of_sets(
            program.context.get_space(),
            (
                one.domain.set_tuple_name(names[one.name])
                for one in split.statements
                if ("_inside" in one.name) == kind
            ),
        )
        for kind in (True, False)
    )
    assert inside.intersect(border).is_empty()
    assert inside.union(border).is_equal(domain)
    assert (
        renamed(split.schedule).intersect_domain(domain).is_equal(program.schedule.intersect_domain(domain))
    )
    for writes in (True, False):
        expected = program.accesses(writes=writes).intersect_params(program.context)
        assert renamed(split.accesses(writes=writes)).is_equal(expected)


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("sizes", [{"h": 1, "w": 1}, {"h": 3, "w": 2}, {"h": 4, "w": 9}])
def test_the_interior_has_no_conditions(name: str, sizes: dict[str, int]) -> None:
    result = fold(program_of(TWO_STAGES % NEIGHBOURS[name]))
    code = result.to_c()
    inside = [loop for loop in interior_loops(code) if "out[" in loop]
    assert inside, code
    assert run_both(result, code.encode(), params=sizes).is_equal


def test_conditions_of_statements_leave_innermost_loops() -> None:
    text = """
void edge(int n, int m, const double in[restrict n][m], double out[restrict n][m])
{
    double t[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            t[i][j] = in[i][j] * 0.5;
            if (j > 0 && j < m - 1)
                out[i][j] = t[i][j] + in[i][j + 1];
            else
                out[i][j] = t[i][j];
        }
#pragma endscop
}
"""
    result = fold(program_of(text))
    code = result.to_c()
    loops = innermost_loops(code)
    assert any("out[" in loop for loop in loops)
    assert not any(re.search(r"\bif\b|\?", loop.partition("{")[2]) for loop in loops)
    assert run_both(result, code.encode(), params={"n": 3, "m": 7}).is_equal


def test_halves_have_no_interior() -> None:
    """Where a condition holds about as often as it fails, nothing is gained by two statements."""
    program = program_of(TWO_STAGES % "x < y ? t[y][x] : 0")
    assert SplitBorders().apply(program) is program


def test_conditions_on_data_are_no_borders() -> None:
    program = program_of(TWO_STAGES % "t[y][x] > 0 ? t[y][x] : 0")
    assert SplitBorders().apply(program) is program


def test_what_is_decided_everywhere_makes_no_second_statement() -> None:
    program = program_of(TWO_STAGES % "t[y][x >= 0 ? x : 0]")
    split = SplitBorders().apply(program)
    assert [one.name for one in split.statements] == [one.name for one in program.statements]
    lines = fold(program).to_c(loops="generate").splitlines()
    assert [line.strip() for line in lines if "out[" in line and "=" in line] == ["out[c0][c2] = t[c2];"]


def test_relations_between_instances_know_both_parts() -> None:
    program = program_of(TWO_STAGES % NEIGHBOURS["macros"])
    names = [one.name for one in program.statements]
    pairs = isl.UnionMap(f"[h, w] -> {{ {names[0]}[y, x] -> {names[1]}[y, x] : 0 <= y < h and 0 <= x < w }}")
    split = SplitBorders().apply(
        replace(program, happens_before=pairs, exclusive=pairs, optional=pairs.range())
    )
    for relation in (split.happens_before, split.exclusive):
        assert relation is not None
        targets = {one.get_tuple_name(isl.dim_type.out) for one in maps_of(relation)}
        assert targets == {names[1], f"{names[1]}_inside"}
    assert split.optional is not None
    assert len(maps_of(split.optional.identity())) == 2


@pytest.mark.parametrize("order", [{"fuse": "cells"}, {"tile": (4,)}, {"parallel": True}])
def test_other_orders_have_interiors_too(order: dict[str, object]) -> None:
    text = TWO_STAGES % "t[MAX(y - 1, 0)][x] + t[y][MIN(x + 1, w - 1)]"
    result = fold(reorder(program_of(text), **order))  # type: ignore[arg-type]
    code = result.to_c()
    for sizes in ({"h": 1, "w": 1}, {"h": 9, "w": 6}):
        assert run_both(result, code.encode(), params=sizes).is_equal


def test_an_element_of_interior_and_border_moves_with_each_of_their_loops() -> None:
    """The border has one iteration, in which a subscript is a number; in the interior it is an iterator."""
    text = """
void steps(int n, const float in[restrict n], float out[restrict n])
{
    float t[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = in[i];
        out[i] = t[i] + (i ? t[i - 1] : 0);
    }
#pragma endscop
}
"""
    result = fold(program_of(text))
    assert str(result["t"].size) == "2"
    code = result.to_c().encode()
    assert validate_code([result.region()], code, "test.c").is_equal


@pytest.mark.parametrize("divisor", ["2 * w", "w"])
@pytest.mark.parametrize("operator", ["%", "/"])
def test_division_by_a_size_is_affine_where_the_quotient_is_small(divisor: str, operator: str) -> None:
    """C's quotients and remainders of -w < x + k < 3w by enumeration."""
    text = TWO_STAGES % f"t[y][x] + in[y][0 * (int)((x + 3 - w) {operator} ({divisor}))]"
    program = program_of(text)
    assert program.context.is_equal(program_of(TWO_STAGES % "t[y][x]").context)


def test_a_quotient_that_may_be_anything_may_mean_any_element() -> None:
    text = (TWO_STAGES % "t[y][x] + in[y][(x * x) % w]").replace("x * x", "17 * x")
    assert "affine only with a constant" in program_of(text).kept["in"].reason


NEIGHBOURS_BY_NAME = TWO_STAGES.replace(
    "            out[y]",
    """        {
            int first = x - 1, left = MAX(first, 0), right = MIN(x + 1, w - 1);
            int seen = x;
            out[y]""",
).replace("%s;", "t[y][left] + t[y][right] + seen; }")


@pytest.mark.parametrize("loops", ["keep", "generate"])
def test_variables_that_only_subscripts_use_go_with_them(loops: Loops) -> None:
    (result,) = (fold(problem) for problem in read_all("examples/gauss-malloc.c"))
    code = write_c([result.region(loops)])
    assert not re.search(r"\b(left|right)\b", code.decode())
    assert bool(re.search(r"\bup = ", code.decode())) == (loops == "keep")
    assert validate_code([result.region(loops)], code, "gauss-malloc.c").is_equal


@pytest.mark.parametrize("loops", ["keep", "generate"])
def test_what_a_macro_names_stays(loops: Loops) -> None:
    text = NEIGHBOURS_BY_NAME.replace("t[y][left]", "t[y][LEFT]").replace(
        "void stages", "#define LEFT left\nvoid stages"
    )
    result = fold(program_of(text))
    code = write_c([result.region(loops)])
    assert re.search(r"\bleft = ", code.decode())
    assert validate_code([result.region(loops)], code, "test.c").is_equal


def test_a_cell_that_conditions_on_data_set_begins_with_a_value() -> None:
    text = TWO_STAGES.replace("float t[h][w];", "float t[h][w], u[h][w];").replace(
        "            out[y]",
        """        {
            if (t[y][x] > 1) u[y][x] = 1; else u[y][x] = t[y][x];
            out[y]""",
    )
    code = fold(program_of(text.replace("%s;", "u[y][x]; }"))).to_c()
    assert "float u = 0;" in code


CLAMPED = ["edge-filter", "edge-openmp"]
PROGRAMS = [
    *("attention", "column-physics", "filter-chain", "gauss-malloc", "heat-swap"),
    *("needleman-wunsch", "smith-waterman", *CLAMPED),
]


def asks_for_its_counter(loop: str) -> bool:
    """Whether a condition, a minimum or a maximum in the body of a loop is about its counter."""
    header, _, body = loop.partition("\n")
    counter = re.match(r"for \((?:\w+ )*(\w+) = ", header)
    assert counter is not None, header
    subscripts: list[str] = []
    while (found := re.search(r"\[([^][]*)\]", body)) is not None:
        subscripts.append(found.group(1))
        body = body.replace(found.group(), "", 1)
    name = rf"\b{counter.group(1)}\b"
    compared = rf"{name}(?: [-+] \d+)?\)* (?:[<>]=?|[=!]=) |(?:[<>]=?|[=!]=) \(*{name}"
    chosen = rf"(?i:min|max|clamp)\w*\([^()]*{name}"
    return any(re.search(f"{compared}|{chosen}", one) for one in (body, *subscripts))


def counted(code: str, file: Path) -> str:
    """The code, writing to a file how many turns its innermost loops take, plain ones and others."""
    for loop in innermost_loops(code):
        turn = f" {{ turns[{int(asks_for_its_counter(loop))}]++; "
        header, _, body = loop.partition("\n")
        is_block = header.rstrip().endswith("{")
        text = header.rstrip().removesuffix("{") + turn + body + ("" if is_block else " }")
        code = code.replace(loop, text, 1)
    shown = f'FILE *to = fopen("{file}", "a"); fprintf(to, "%ld %ld\\n", turns[0], turns[1]); fclose(to);'
    return (
        "#include <stdio.h>\nstatic long turns[2];\n"
        f"__attribute__((destructor)) static void show_turns(void) {{ {shown} }}\n{code}"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_inner_loops_of_programs_as_people_write_them(name: str) -> None:
    results = [fold(problem) for problem in read_all(f"examples/{name}.c")]
    assert all(any(array.shrinks for array in result.arrays) for result in results)
    code = write_c([result.region() for result in results]).decode()
    assert innermost_loops(code)
    assert not dividing_loops(code)
    asking = [loop for loop in innermost_loops(code) if asks_for_its_counter(loop)]
    assert bool(asking) == (name in CLAMPED)


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
@pytest.mark.parametrize("name", CLAMPED)
def test_only_few_turns_of_inner_loops_are_at_borders(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (result,) = (fold(problem) for problem in read_all(f"examples/{name}.c"))
    file = tmp_path / "turns"
    code = counted(result.to_c(), file)
    assert run_both(result, code.encode(), params={"h": 40, "w": 50}).is_equal
    inside, border = max(tuple(map(int, line.split())) for line in file.read_text().splitlines())
    assert inside > 3000
    assert border < inside / 8


@pytest.mark.parametrize("value", ["t[y][x] + (x > 0 ? t[y][x - 1] : 0)", "t[y][MAX(x - 1, 0)] - in[y][x]"])
def test_a_value_of_data_between_the_stages_is_not_taken_apart(value: str) -> None:
    """An integer that is set to data is no text that may stand in its place."""
    text = (TWO_STAGES % "g < 255 ? g : 255").replace("float", "short").replace(" * 0.5f", "")
    text = text.replace("            out[y]", f"        {{ int g = {value};\n            out[y]").replace(
        "255;", "255; }"
    )
    result = fold(program_of(text))
    code = result.to_c()
    assert validate_code([result.region()], code.encode(), "test.c").is_equal


@pytest.mark.parametrize("name", ["edge-filter", "edge-openmp"])
def test_interior_loops_of_a_filter_are_plain(name: str) -> None:
    """Each of the three stages has an innermost loop from border to border without conditions."""
    code = fold(read(f"examples/{name}.c")).to_c()
    plain = interior_loops(code)
    assert any("luma[" in loop and "rgb[" in loop for loop in plain)
    assert any("smooth[" in loop and "luma[" in loop for loop in plain)
    assert any("edges[" in loop and "abs(gx)" in loop for loop in plain)
    assert not dividing_loops(code)
    assert code.count("#pragma omp parallel for") == (len(innermost_loops(code)) if "openmp" in name else 0)


def test_loops_that_isl_does_not_cut_apart_stay_whole() -> None:
    """Strided interiors of which isl's code generator says that they are not disjoint."""
    text = """
void f(short n, float out[restrict n + 1][3][n], float res[restrict n + 1])
{
    float t[n];
    int j;
#pragma scop
    for (unsigned i = 1; i < n + 1; i++)
        t[i - 1] = 0.5 * (n + 1 > i + 1 && 0 >= i + 1 ? res[i] : 0.5)
            + 0.25 * (1 >= i && n + 1 > i + 2 ? out[i][i + 1][i + 1] : 0.5);
    for (unsigned char i = 1; i < n + 1; i++)
        for (j = 2; j >= 0; j -= 1)
            for (unsigned char k = 0; k <= n - 1; k += 3) {
                int q = k - 1;
                if (k >= j)
                    if (k % 2 == 0)
                        out[i][j][k - j] = 0.5 * (n - 1 >= q + 3 ? t[q + 3] : 0.5);
            }
#pragma endscop
}
"""
    result = fold(program_of(text))
    code = result.to_c(loops="generate")
    assert run_both(result, code.encode(), params={"n": 9}).is_equal
