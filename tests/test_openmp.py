"""OpenMP constructs in C: which instances surely come first, against what the specification says."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.exact.isl import fix_parameters, maps_of, points, sets_of
from arrayfold.exact.relations import close
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program

Instance = tuple[str, tuple[int, ...]]
Before = Callable[[Instance, Instance], bool]
N = 3


def program_of(body: str) -> Program:
    text = (
        "void f(int N, int T, double A[restrict N][N], double B[restrict N], double C[restrict N])\n"
        f"{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    (program,) = read_c("openmp.c", text.encode())
    return program


def instances(program: Program) -> list[Instance]:
    here = program.domain().intersect_params(fix_parameters({"N": N, "T": N}))
    return [(str(part.get_tuple_name()), point) for part in sets_of(here) for point in points(part)]


def before(program: Program) -> set[tuple[Instance, Instance]]:
    assert program.happens_before is not None
    closure = close(program.happens_before)
    assert closure.is_exact
    found: set[tuple[Instance, Instance]] = set()
    for part in maps_of(closure.relation.intersect_params(fix_parameters({"N": N, "T": N}))):
        left, right = (str(part.get_tuple_name(side)) for side in (isl.dim_type.in_, isl.dim_type.out))
        rank = part.dim(isl.dim_type.in_)
        found |= {((left, p[:rank]), (right, p[rank:])) for p in points(part.wrap())}
    return found


CASES: dict[str, tuple[str, Before]] = {
    "shared loops with a barrier each": (
        """#pragma omp parallel
        {
        #pragma omp for
        for (int i = 0; i < N; i++) X: B[i] = 1;
        #pragma omp for
        for (int i = 0; i < N; i++) Y: C[i] = 1;
        }
        Z: B[0] = C[0];""",
        lambda a, b: a[0] < b[0],
    ),
    "without a barrier": (
        """#pragma omp parallel
        {
        #pragma omp for nowait
        for (int i = 0; i < N; i++) X: B[i] = 1;
        #pragma omp for nowait
        for (int i = 0; i < N; i++) Y: C[i] = 1;
        }
        Z: B[0] = C[0];""",
        lambda a, b: b[0] == "Z" != a[0],
    ),
    "an explicit barrier": (
        """#pragma omp parallel
        {
        #pragma omp for nowait
        for (int i = 0; i < N; i++) X: B[i] = 1;
        #pragma omp barrier
        #pragma omp for nowait
        for (int i = 0; i < N; i++) Y: C[i] = 1;
        }""",
        lambda a, b: a[0] < b[0],
    ),
    "a time loop in a team": (
        """#pragma omp parallel
        for (int t = 0; t < T; t++) {
        #pragma omp for nowait
        for (int i = 0; i < N; i++) { X: B[i] = 1; Y: C[i] = B[i]; }
        #pragma omp single
        Z: B[0] = 2;
        }""",
        lambda a, b: a[1][0] < b[1][0] or (a[1] == b[1] and (a[0], b[0]) == ("X", "Y")),
    ),
    "master has no barrier": (
        """#pragma omp parallel
        {
        #pragma omp master
        X: B[0] = 1;
        #pragma omp single
        { Y: C[0] = 1; Z: C[1] = 1; }
        #pragma omp for
        for (int i = 0; i < N; i++) W: B[i] = 1;
        }""",
        lambda a, b: (a[0], b[0]) == ("Y", "Z") or (b[0] == "W" != a[0]),
    ),
    "sections": (
        """for (int i = 0; i < N; i++) {
        #pragma omp parallel sections
        {
        X: B[i] = 1;
        #pragma omp section
        { Y: C[i] = 1; Z: A[i][0] = C[i]; }
        }
        }""",
        lambda a, b: a[1] < b[1] or (a[1] == b[1] and (a[0], b[0]) == ("Y", "Z")),
    ),
    "tasks and taskwait": (
        """#pragma omp parallel
        #pragma omp single
        {
        for (int i = 0; i < N; i++)
        #pragma omp task
        X: B[i] = 1;
        #pragma omp taskwait
        for (int i = 0; i < N; i++)
        #pragma omp task
        Y: C[i] = B[i];
        Z: A[0][0] = 1;
        }""",
        lambda a, b: a[0] == "X" != b[0],
    ),
    "a taskwait after a loop is not one inside of it": (
        """#pragma omp parallel
        #pragma omp single
        {
        for (int i = 0; i < N; i++)
        #pragma omp task
        X: B[i] = 1;
        #pragma omp taskwait
        }
        Z: A[0][0] = 1;""",
        lambda a, b: (a[0], b[0]) == ("X", "Z"),
    ),
    "a taskwait in every iteration": (
        """#pragma omp parallel
        #pragma omp single
        for (int i = 0; i < N; i++) {
        #pragma omp task
        X: B[i] = 1;
        #pragma omp task
        Y: C[i] = 1;
        #pragma omp taskwait
        }""",
        lambda a, b: a[1] < b[1],
    ),
    "a group of tasks": (
        """#pragma omp taskgroup
        {
        #pragma omp task
        X: B[0] = 1;
        Y: C[0] = 1;
        }
        Z: A[0][0] = 1;""",
        lambda a, b: b[0] == "Z" != a[0],
    ),
    "a loop of tasks": (
        """#pragma omp taskloop
        for (int i = 0; i < N; i++) { X: B[i] = 1; Y: C[i] = B[i]; }
        Z: A[0][0] = 1;""",
        lambda a, b: (b[0] == "Z" != a[0]) or ((a[0], b[0]) == ("X", "Y") and a[1] == b[1]),
    ),
    "depend": (
        """#pragma omp parallel
        #pragma omp single
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(out: B[i])
        X: B[i] = 1;
        #pragma omp task depend(in: B[i]) depend(inout: C[0])
        Y: C[0] += B[i];
        }""",
        lambda a, b: (a[0] == b[0] == "Y" and a[1] < b[1]) or ((a[0], b[0]) == ("X", "Y") and a[1] <= b[1]),
    ),
    "two that only read depend on nothing": (
        """#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(in: B[0])
        X: C[i] = B[0];
        }""",
        lambda *_: False,
    ),
    "a loop that goes down": (
        """#pragma omp taskgroup
        for (int i = N - 1; i >= 0; i--) {
        #pragma omp task depend(inout: B[0])
        X: B[0] += i;
        }""",
        lambda a, b: a[1] > b[1],
    ),
    "tasks of different makers": (
        """#pragma omp parallel for
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(inout: B[0])
        X: C[i] = 1;
        #pragma omp task depend(inout: B[0])
        Y: A[0][i] = 1;
        }""",
        lambda a, b: (a[0], b[0]) == ("X", "Y") and a[1] == b[1],
    ),
    "collapsed loops": (
        """#pragma omp parallel
        {
        #pragma omp for collapse(2)
        for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) { X: A[i][j] = 1; Y: A[i][j] += 1; }
        #pragma omp single
        Z: B[0] = 1;
        }""",
        lambda a, b: (b[0] == "Z" != a[0]) or ((a[0], b[0]) == ("X", "Y") and a[1] == b[1]),
    ),
    "only one of two loops is collapsed": (
        """#pragma omp taskgroup
        #pragma omp parallel
        {
        #pragma omp for
        for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) X: A[i][j] = 1;
        }""",
        lambda a, b: a[1][0] == b[1][0] and a[1][1] < b[1][1],
    ),
    "tasks inside tasks": (
        """#pragma omp parallel
        #pragma omp single
        for (int i = 0; i < N; i++) {
        #pragma omp task
        {
        #pragma omp task
        X: B[i] = 1;
        #pragma omp task
        Y: C[i] = 1;
        #pragma omp taskwait
        Z: A[0][i] = B[i] + C[i];
        }
        }""",
        lambda a, b: a[1] == b[1] and a[0] != "Z" == b[0],
    ),
    "taskwait does not wait for the tasks of tasks": (
        """#pragma omp taskgroup
        {
        #pragma omp task
        {
        #pragma omp task
        X: B[0] = 1;
        Y: B[1] = 1;
        }
        #pragma omp taskwait
        Z: C[0] = 1;
        }
        V: C[1] = 1;""",
        lambda a, b: b[0] == "V" or (a[0], b[0]) == ("Y", "Z"),
    ),
    "a task that waits for its own is waited for": (
        """#pragma omp task
        {
        #pragma omp task
        X: B[0] = 1;
        #pragma omp taskwait
        }
        #pragma omp taskwait
        Z: C[0] = 1;""",
        lambda a, b: (a[0], b[0]) == ("X", "Z"),
    ),
    "depend orders tasks, and of the tasks inside those that are waited for": (
        """#pragma omp taskgroup
        {
        #pragma omp task depend(out: B[0])
        {
        #pragma omp task depend(out: C[0])
        X: C[0] = 1;
        Y: B[0] = 1;
        }
        #pragma omp task depend(in: B[0], C[0])
        {
        #pragma omp task depend(in: C[0])
        Z: C[1] = 1;
        #pragma omp taskwait
        V: C[2] = 1;
        }
        #pragma omp task depend(inout: B[0])
        W: B[0] = 2;
        }""",
        lambda a, b: a[0] != b[0] and a[0] + b[0] in ("YZ", "YV", "ZV", "YW", "ZW", "VW"),
    ),
    "sections of arrays in depend": (
        """#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(out: A[i][0:N])
        X: A[i][0] = 1;
        #pragma omp task depend(in: A[i][0:N])
        Y: B[i] = A[i][0];
        #pragma omp task depend(in: A[i][:])
        Z: C[i] = 1;
        #pragma omp task depend(out: A[i][0:])
        W: C[i] = 1;
        }""",
        lambda a, b: a[0] + b[0] in ("XY", "ZW") and a[1] == b[1],
    ),
    "ordered": (
        """#pragma omp parallel for ordered schedule(dynamic)
        for (int i = 0; i < N; i++) {
        X: B[i] = 1;
        #pragma omp ordered
        { Y: C[0] += B[i]; Z: C[1] += 1; }
        W: A[0][i] = 1;
        }""",
        lambda a, b: (
            (a[1] == b[1] and "XYZW".index(a[0]) < "XYZW".index(b[0]))
            or (a[1] < b[1] and a[0] != "W" and b[0] != "X")
        ),
    ),
    "ordered in collapsed loops that go down": (
        """for (int t = 0; t < T; t++)
        #pragma omp parallel for collapse(2) ordered
        for (int i = N - 1; i >= 0; i--)
        for (int j = 0; j < N; j++) {
        #pragma omp ordered
        X: C[0] += A[i][j];
        }""",
        lambda a, b: (a[1][0], -a[1][1], a[1][2]) < (b[1][0], -b[1][1], b[1][2]),
    ),
    "branches": (
        """for (int i = 0; i < N; i++) {
        #pragma omp parallel sections
        {
        if (i < 1) { X: B[i] = 1; } else { Y: B[i] = 2; }
        #pragma omp section
        Z: C[i] = 1;
        }
        }""",
        lambda a, b: a[1] < b[1],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_constructs(name: str) -> None:
    body, expected = CASES[name]
    program = program_of(body)
    found = instances(program)
    assert found
    pairs = itertools.permutations(found, 2)
    assert before(program) == {(a, b) for a, b in pairs if expected(a, b)}


def test_the_text_itself_is_one_of_the_executions() -> None:
    for body, _ in CASES.values():
        program = program_of(body)
        assert program.schedule is not None
        assert program.happens_before is not None
        assert program.happens_before.is_subset(program.schedule.lex_lt_union_map(program.schedule))
        assert Analysis.of(program).liveness is not None


def test_loops_alone_stay_parallel_dimensions() -> None:
    program = program_of("#pragma omp parallel for\nfor (int i = 0; i < N; i++) B[i] = 1;")
    assert program.happens_before is None
    assert list(program.parallel.values()) == ["doall"]


# ---------------------------------------------------------------- what must not be taken for an order

# Labels of statements that may overlap, so that neither comes first in different iterations.
RACES = {
    "a pragma on the braces of a loop's body": (
        "XY",
        """#pragma omp parallel
        #pragma omp single
        for (int i = 0; i < N; i++)
        #pragma omp task
        { X: tmp[i] = B[i]; Y: C[i] = tmp[i]; }""",
    ),
    "nowait in a block of a team": (
        "YV",
        """#pragma omp parallel
        {
        {
        #pragma omp for nowait
        for (int i = 0; i < N; i++) { X: tmp[0] = B[i]; Y: C[i] = tmp[0]; }
        }
        #pragma omp for
        for (int i = 0; i < N; i++) { V: tmp[1] = B[i]; W: A[0][i] = tmp[1]; }
        }""",
    ),
    "a loop that may run no iteration is no barrier": (
        "YV",
        """#pragma omp parallel
        {
        #pragma omp for nowait
        for (int i = 0; i < N; i++) { X: tmp[0] = B[i]; Y: C[i] = tmp[0]; }
        for (int t = 0; t < T; t++) {
        #pragma omp for
        for (int i = 0; i < N; i++) U: A[1][i] = t;
        }
        #pragma omp for
        for (int i = 0; i < N; i++) { V: tmp[1] = B[i]; W: A[0][i] = tmp[1]; }
        }""",
    ),
    "a taskwait for some tasks only": (
        "YV",
        """#pragma omp taskgroup
        {
        #pragma omp task depend(out: B[0])
        { X: tmp[0] = 1; Y: B[0] = tmp[0]; }
        #pragma omp taskwait depend(in: C[0])
        #pragma omp task
        { V: tmp[1] = 1; W: C[1] = tmp[1]; }
        }""",
    ),
    "a labelled master": (
        "YV",
        """#pragma omp parallel
        {
        L:
        #pragma omp master
        { X: tmp[0] = B[0]; Y: C[0] = tmp[0]; }
        #pragma omp single
        { V: tmp[1] = B[0]; W: C[1] = tmp[1]; }
        }""",
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_what_may_overlap_is_not_ordered(name: str) -> None:
    labels, body = RACES[name]
    text = (
        "void f(int N, int T, double A[restrict N][N], double B[restrict N], double C[restrict N])\n"
        f"{{\ndouble tmp[N];\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    (program,) = read_c("openmp.c", text.encode())
    assert set(labels) <= {label for label, _ in instances(program)}
    ordered = [(a, b) for a, b in before(program) if {a[0], b[0]} == set(labels)]
    assert all(a[1] == b[1] and labels == "XY" for a, b in ordered)


REFUSED = {
    "tasks of a whole team": (
        """#pragma omp parallel
        {
        #pragma omp taskgroup
        { X: B[0] = 1; }
        }""",
        "every thread of the team runs this omp taskgroup",
    ),
    "a team in a team": (
        """#pragma omp parallel
        {
        #pragma omp parallel sections
        { X: B[0] = 1; }
        }""",
        "every thread of the team runs this omp parallel sections",
    ),
    "ordered in a loop of an iteration": (
        """#pragma omp parallel for ordered
        for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
        #pragma omp ordered
        X: B[j] = 1;
        }""",
        "may come to omp ordered more than once",
    ),
    "ordered in a loop that is not": (
        """#pragma omp parallel for
        for (int i = 0; i < N; i++) {
        #pragma omp ordered
        X: B[i] = 1;
        }""",
        "belongs to no loop of the region with an ordered clause",
    ),
    "iterations that wait for others": (
        """#pragma omp parallel for ordered(1)
        for (int i = 0; i < N; i++) {
        #pragma omp ordered depend(sink: i - 1)
        X: B[i] = 1;
        #pragma omp ordered depend(source)
        }""",
        "ordered with a number of loops or depend",
    ),
    "tasks of tasks that nothing waits for": (
        """#pragma omp task
        {
        #pragma omp task
        X: B[0] = 1;
        }
        #pragma omp taskwait""",
        "nothing in the region waits for this task",
    ),
    "an unknown name in depend": (
        """#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(out: B[unknown])
        X: C[i] = 1;
        }""",
        "depend clause",
    ),
    "a remainder in depend": (
        """#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(out: B[(i - 3) % 4])
        X: C[i] = 1;
        }""",
        "depend clause",
    ),
    "a row in depend": (
        """#pragma omp taskgroup
        for (int i = 0; i < N; i++) {
        #pragma omp task depend(out: A[i])
        X: A[i][0] = 1;
        }""",
        "depend clause",
    ),
    "a barrier that the preprocessor leaves out": (
        """#pragma omp parallel
        {
        #pragma omp single nowait
        X: B[0] = 1;
        #if 0
        #pragma omp barrier
        #endif
        #pragma omp single nowait
        Y: C[0] = 1;
        }""",
        "the preprocessor leaves out this omp barrier",
    ),
    "a pragma in a macro with arguments": (
        """#define PFOR(i) _Pragma("omp parallel for") for (int i = 0; i < N; i++)
        PFOR(i) X: B[i] = 1;""",
        "PFOR may hide an OpenMP pragma",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_constructs_that_are_refused(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        program_of(body)


@pytest.mark.parametrize(
    "body", ["#pragma omp parallel\n{ }", "#pragma omp taskloop\nfor (int i = 5; i < 5; i++) B[i] = 1;"]
)
def test_regions_in_which_nothing_runs(body: str) -> None:
    assert Analysis.of(program_of(body)).foldable() == ()


CRITICAL = """double t[N][2];
#pragma scop
#pragma omp parallel for
for (int i = 0; i < N; i++) {
    #pragma omp critical (first)
    { t[i][0] = B[i] * 2; C[i] = t[i][0]; }
    #pragma omp critical (second)
    { t[i][1] = B[i] + 1; C[i] += t[i][1]; }
}
#pragma endscop"""


@pytest.mark.parametrize(
    ("change", "size"),
    [
        (("(second)", "(second)"), "2"),
        (("(second)", "(first)"), "1"),
        (("#pragma omp critical (second)", ";"), "N"),
        (("#pragma omp critical (second)", "#pragma omp atomic"), "N"),
        (("+ 1;", "+ t[i][0];"), "N"),
    ],
)
def test_what_critical_sections_keep_to_themselves_needs_one_cell(change: tuple[str, str], size: str) -> None:
    body = CRITICAL.replace(*change).replace("atomic\n    {", "atomic write\n    ;{")
    text = f"void f(int N, double B[restrict N], double C[restrict N])\n{{\n{body}\n}}\n"
    (program,) = read_c("critical.c", text.encode())
    result = fold(program)
    assert str(result["t"].size) == size
    if size != "N":
        with pytest.raises(InputError, match="must stay as they are written"):
            write_c([result.region("generate")])


def test_sections_with_threads_of_their_own_keep_nobody_out() -> None:
    body = "#pragma omp task\n{ t[i] = B[i]; C[i] = t[i]; }"
    text = (
        "void f(int N, double B[restrict N], double C[restrict N])\n{\ndouble t[N];\n#pragma scop\n"
        "#pragma omp parallel for\nfor (int i = 0; i < N; i++) {\n#pragma omp critical\n"
        f"{{ {body} }} }}\n#pragma endscop\n}}\n"
    ).replace("{ #pragma", "{\n#pragma")
    (program,) = read_c("critical.c", text.encode())
    assert program.critical is None
