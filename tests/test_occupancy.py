"""Occupancy vectors and schedules: TVA07's examples, and plain enumeration of schedules at small sizes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.budget import Budget
from arrayfold.base.errors import MethodNotApplicable
from arrayfold.exact.isl import fix_parameters, maps_of, points, sets_of
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.methods.occupancy_vectors import find_occupancy
from arrayfold.methods.occupancy_vectors.parse import occupancy_of, read_vectors
from arrayfold.order.dataflow import find_dataflow
from arrayfold.order.events import order_of
from arrayfold.passes.all_orders import AllOrders
from arrayfold.program.model import Program
from support.command import run as run_command

Point = tuple[int, ...]
Capture = pytest.CaptureFixture[str]


def example(name: str) -> Program:
    program = read(f"examples/{name}.toml")
    assert isinstance(program, Program)
    return program


# ---------------------------------------------------------------- the paper's examples

# Array: for the best schedule, for all affine ones, for all.
VECTORS = {
    ("occupancy-stencil", False): {"A": [(1, 0), (2, 1), (3, 0)]},
    ("occupancy-stencil", True): {"A": [(2, 0), (2, 1), (3, 0)]},
    ("two-statement-stencil", False): {"A": [(0, 1), (1, 1), (1, 1)], "B": [(0, 1), (1, 1), (1, 1)]},
    ("alignment-3d", False): {"A": [(1, 1, 1), (1, 1, 1), (1, 1, 1)]},
    ("nonuniform", False): {"A": [(1, 0), (1, 0), None], "B": [(1,), (1,), None]},
}
SCHEDULES = {
    "occupancy-stencil": {"S": "i"},
    "two-statement-stencil": {"S1": "2*j + 1", "S2": "2*j"},
    "nonuniform": {"S1": "2*i", "S2": "2*i + 1"},
}
SIZES = {
    "occupancy-stencil": {"A": "m + 2*n - 2"},
    "two-statement-stencil": {"A": "m + n - 1", "B": "m + n - 1"},
    "nonuniform": {"A": "n", "B": "1"},
}


@pytest.mark.parametrize(("name", "is_strict"), VECTORS)
def test_vectors_of_the_paper(name: str, is_strict: bool) -> None:
    result = find_occupancy(example(name), is_strict=is_strict)
    found = {array.name: [array.given, array.affine, array.universal] for array in result.arrays}
    assert found == VECTORS[name, is_strict]
    assert all(array.is_proved for array in result.arrays)
    if name in SCHEDULES:
        assert result.schedule == SCHEDULES[name]
        assert {array.name: str(array.mapping and array.mapping.size) for array in result.arrays} == SIZES[
            name
        ]


def test_the_schedules_for_a_vector() -> None:
    program = example("occupancy-stencil")
    result = find_occupancy(program, vectors=read_vectors(program, ["A=2,0"]))
    assert result.constraints is not None
    expected = isl.Set("{ [a, b, c, d, e] : a - 2b >= 0 and a + 2b >= 1 and a - b >= 1 }")
    assert isl.Set.from_basic_set(result.constraints).is_equal(expected)
    assert result.names == ("S.i", "S.j", "S.m", "S.n", "S.1")


def test_a_schedule_for_a_range_of_vectors() -> None:
    program = example("occupancy-stencil")
    both = find_occupancy(program, vectors=read_vectors(program, ["A=1..2,0"]))
    each = [find_occupancy(program, vectors=read_vectors(program, [f"A={k},0"])) for k in (1, 2)]
    sets = [isl.Set.from_basic_set(result.constraints) for result in each if result.constraints is not None]
    assert both.constraints is not None
    assert isl.Set.from_basic_set(both.constraints).is_equal(sets[0].intersect(sets[1]))
    assert both.schedule == {"S": "i"}


def test_a_vector_that_no_schedule_allows() -> None:
    program = example("occupancy-stencil")
    result = find_occupancy(program, vectors=read_vectors(program, ["A=0,1"]))
    assert result.schedule == {}
    assert "the vector of A" in result.why
    assert "S reads A from S" in result.why


# ---------------------------------------------------------------- enumeration


@dataclass
class Table:
    """A program at fixed sizes: who writes which cell, and who reads it."""

    writers: dict[Point, tuple[str, Point]]
    readers: dict[Point, list[tuple[str, Point]]]

    @staticmethod
    def of(program: Program, array: str, params: Mapping[str, int]) -> Table:
        here = fix_parameters(params)
        writers: dict[Point, tuple[str, Point]] = {}
        for statement in program.statements:
            if any(a.is_write and a.array == array for a in statement.accesses):
                for point in points(statement.domain.intersect_params(here)):
                    writers[point] = (statement.name, point)
        readers: dict[Point, list[tuple[str, Point]]] = {}
        for part in maps_of(find_dataflow(program, order_of(program)).flows.intersect_params(here)):
            reads = part.range().unwrap()
            if reads.get_tuple_name(isl.dim_type.out) == array:
                rank = part.dim(isl.dim_type.in_)
                sink = part.range_factor_domain()
                for point in points(sink.wrap()):
                    reader = str(sink.get_tuple_name(isl.dim_type.out)), point[rank:]
                    readers.setdefault(point[:rank], []).append(reader)
        return Table(writers, readers)

    def is_valid(self, time: Callable[[str, Point], int], vector: Point, *, is_strict: bool) -> bool:
        for cell, source in self.writers.items():
            tip = tuple(a + b for a, b in zip(cell, vector, strict=True))
            if tip not in self.writers:
                continue
            overwritten = time(*self.writers[tip])
            if overwritten <= time(*source):
                return False
            if any(time(*reader) + is_strict > overwritten for reader in self.readers.get(cell, [])):
                return False
        return True

    def is_legal(self, time: Callable[[str, Point], int]) -> bool:
        return all(
            time(*self.writers[cell]) < time(*reader)
            for cell, list_ in self.readers.items()
            for reader in list_
        )


def linear_times(statements: list[tuple[str, int]], most: int) -> Iterator[Callable[[str, Point], int]]:
    """Schedules with small coefficients: one for each iterator, and a constant for each statement."""
    widths = [rank + 1 for _, rank in statements]
    for entries in itertools.product(range(-most, most + 1), repeat=sum(widths)):
        table: dict[str, Point] = {}
        at = 0
        for (name, _), width in zip(statements, widths, strict=True):
            table[name] = entries[at : at + width]
            at += width

        def time(name: str, point: Point, table: dict[str, Point] = table) -> int:
            *slopes, constant = table[name]
            return sum(a * x for a, x in zip(slopes, point, strict=True)) + constant

        yield time


CASES = [
    ("occupancy-stencil", {"m": 5, "n": 7}, 3),
    ("two-statement-stencil", {"m": 3, "n": 3}, 2),
    ("nonuniform", {"n": 5}, 2),
    ("alignment-3d", {"I": 4, "J": 4, "K": 4}, 1),
]


@pytest.mark.parametrize(("name", "params", "most"), CASES)
@pytest.mark.parametrize("is_strict", [False, True])
def test_affine_vectors_against_all_small_schedules(
    name: str, params: dict[str, int], most: int, is_strict: bool
) -> None:
    program = example(name)
    result = find_occupancy(program, is_strict=is_strict)
    tables = {array.name: Table.of(program, array.name, params) for array in result.arrays}
    statements = [(item.name, item.domain.dim(isl.dim_type.set)) for item in program.statements]
    legal = [
        time for time in linear_times(statements, most) if all(t.is_legal(time) for t in tables.values())
    ]
    assert legal
    for array in result.arrays:
        assert array.affine is not None
        table = tables[array.name]
        assert all(table.is_valid(time, array.affine, is_strict=is_strict) for time in legal)
        for shorter in itertools.product(range(-3, 4), repeat=len(array.affine)):
            if 0 < sum(map(abs, shorter)) < sum(map(abs, array.affine)):
                assert not all(table.is_valid(time, shorter, is_strict=is_strict) for time in legal)


class Precedence:
    """Which instances run before which in every legal order, at fixed sizes: the closure of the flows."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        after: dict[tuple[str, Point], set[tuple[str, Point]]] = {}
        for table in tables.values():
            for cell, readers in table.readers.items():
                after.setdefault(table.writers[cell], set()).update(readers)
        self.after = after
        self.known: dict[tuple[str, Point], set[tuple[str, Point]]] = {}

    def later(self, instance: tuple[str, Point]) -> set[tuple[str, Point]]:
        if instance not in self.known:
            direct = self.after.get(instance, set())
            self.known[instance] = direct.union(*(self.later(other) for other in direct))
        return self.known[instance]

    def is_universal(self, table: Table, vector: Point) -> bool:
        """Whether every order overwrites a cell after its write and its reads; a reader may do it itself."""
        for cell, writer in table.writers.items():
            tip = tuple(a + b for a, b in zip(cell, vector, strict=True))
            if tip in table.writers:
                overwriter = table.writers[tip]
                if overwriter not in self.later(writer):
                    return False
                for reader in table.readers.get(cell, []):
                    if overwriter != reader and overwriter not in self.later(reader):
                        return False
        return True


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("occupancy-stencil", {"m": 7, "n": 9}),
        ("two-statement-stencil", {"m": 4, "n": 4}),
        ("alignment-3d", {"I": 4, "J": 4, "K": 4}),
        ("nonuniform", {"n": 6}),
    ],
)
def test_universal_vectors_against_all_orders(name: str, params: dict[str, int]) -> None:
    program = example(name)
    result = find_occupancy(program)
    tables = {array.name: Table.of(program, array.name, params) for array in result.arrays}
    precedence = Precedence(tables)
    for array in result.arrays:
        table = tables[array.name]
        rank = program.array(array.name).rank
        assert any(table.readers.values())
        if array.universal is not None:
            assert precedence.is_universal(table, array.universal)
        length = 4 if array.universal is None else sum(map(abs, array.universal))
        for shorter in itertools.product(range(-3, 4), repeat=rank):
            if 0 < sum(map(abs, shorter)) < length:
                assert not precedence.is_universal(table, shorter), shorter


REVERSED = """
context  = "[n] -> { : n >= 3 }"
domain   = "[n] -> { S[i] : 1 <= i <= n; R[i] : 1 <= i <= n }"
write    = "[n] -> { S[i] -> A[i]; R[i] -> out[i] }"
read     = "[n] -> { R[i] -> A[n - i + 1] }"
schedule = "[n] -> { S[i] -> [0, i]; R[i] -> [1, i] }"
live_out = "[n] -> { out[i] : 1 <= i <= n }"
"""


def test_bounded_parameters_allow_more_schedules() -> None:
    """Without bounds, the reader must start later the larger n is; with them, a constant delay is enough."""
    legal: list[isl.Set] = []
    for context in ("n >= 3", "3 <= n <= 6"):
        program = read_problem("reversed.toml", REVERSED.replace("n >= 3", context))
        assert isinstance(program, Program)
        result = find_occupancy(program)
        assert result.names == ("S.i", "S.n", "S.1", "R.i", "R.n", "R.1")
        assert result.constraints is not None
        legal.append(isl.Set.from_basic_set(result.constraints))
    delayed = isl.Set("{ [1, 0, 0, 0, 0, d] : d >= 7 }")
    assert delayed.is_disjoint(legal[0])
    assert delayed.is_subset(legal[1])
    assert isl.Set("{ [1, 0, 0, 0, 0, 6] }").is_disjoint(legal[1])
    assert legal[0].is_strict_subset(legal[1])


def test_a_chain_of_statements_has_a_schedule() -> None:
    """Each statement one step after the one before: latency first, then small coefficients."""
    count = 4
    box = "1 <= i <= n and 1 <= j <= n"
    around = "i - 1 <= k <= i + 1 and 1 <= k <= n"
    lines = {
        "context": ": n >= 3",
        "domain": "; ".join(f"S{k}[i, j] : {box}" for k in range(count)),
        "write": "; ".join(f"S{k}[i, j] -> A{k}[i, j]" for k in range(count)),
        "read": "; ".join(f"S{k}[i, j] -> A{k - 1}[k, j] : {around}" for k in range(1, count)),
        "schedule": "; ".join(f"S{k}[i, j] -> [{k}, i, j]" for k in range(count)),
        "live_out": f"A{count - 1}[i, j] : {box}",
    }
    program = read_problem("chain.toml", "\n".join(f'{k} = "[n] -> {{ {v} }}"' for k, v in lines.items()))
    assert isinstance(program, Program)
    assert find_occupancy(program).schedule == {f"S{k}": str(k) for k in range(count)}


@pytest.mark.parametrize("text", ["S[i, j] -> [i]", "S[i, j] -> [2*i + j]", "S[i, j] -> [3*i - j]"])
@pytest.mark.parametrize("is_strict", [False, True])
def test_the_vector_of_a_given_schedule(text: str, is_strict: bool) -> None:
    program = example("occupancy-stencil")
    result = occupancy_of(program, text, [], is_strict, False, Budget(None))
    (array,) = result.arrays
    table = Table.of(program, "A", {"m": 6, "n": 8})
    slopes = {"S[i, j] -> [i]": (1, 0), "S[i, j] -> [2*i + j]": (2, 1), "S[i, j] -> [3*i - j]": (3, -1)}[text]

    def time(_: str, point: Point) -> int:
        return slopes[0] * point[0] + slopes[1] * point[1]

    assert array.given is not None
    assert table.is_valid(time, array.given, is_strict=is_strict)
    for shorter in itertools.product(range(-3, 4), repeat=2):
        if 0 < sum(map(abs, shorter)) < sum(map(abs, array.given)):
            assert not table.is_valid(time, shorter, is_strict=is_strict)


# ---------------------------------------------------------------- programs of other kinds


def problem_of(domain: str, write: str, read_: str, extra: str = "") -> Program:
    text = (
        'context = "[N] -> { : N >= 4 }"\n'
        f'domain = "[N] -> {{ {domain} }}"\nwrite = "[N] -> {{ {write} }}"\nread = "[N] -> {{ {read_} }}"\n'
    )
    program = read_problem("program.toml", text + extra)
    assert isinstance(program, Program)
    return program


def test_a_program_without_a_one_dimensional_schedule() -> None:
    program = problem_of(
        "S[i, j] : 0 <= i, j < N",
        "S[i, j] -> A[i, j]",
        "S[i, j] -> A[i, j - 1] : j >= 1; S[i, j] -> A[i - 1, N - 1] : i >= 1 and j = 0",
        'schedule = "{ S[i, j] -> [i, j] }"',
    )
    result = find_occupancy(program)
    assert result.schedule == {}
    assert "no one-dimensional affine schedule satisfies together" in result.why
    (array,) = result.arrays
    assert (array.given, array.affine) == (None, None)
    assert array.why["affine"] == "there is no one-dimensional affine schedule"


def test_lifetimes_that_grow() -> None:
    program = problem_of(
        "S[i] : 1 <= i <= N; R[i] : 1 <= i <= N",
        "S[i] -> A[i]; R[i] -> out[i]",
        "R[i] -> A[i]; R[i] -> A[N - i + 1]",
        'schedule = "{ S[i] -> [0, i]; R[i] -> [1, i] }"\nlive_out = "{ out[i] }"',
    )
    (array,) = find_occupancy(program).arrays
    assert (array.given, array.affine, array.universal) == (None, None, None)
    assert "lifetimes may grow" in array.why["given_schedule"]


def test_an_array_nobody_reads_is_dropped() -> None:
    program = problem_of(
        "S[i] : 1 <= i <= N; R[i] : 1 <= i <= N",
        "S[i] -> A[i]; R[i] -> B[i]",
        "R[i] -> A[i]",
        'schedule = "{ S[i] -> [i, 0]; R[i] -> [i, 1] }"',
    )
    arrays = {array.name: array for array in find_occupancy(program).arrays}
    assert (arrays["B"].given, arrays["B"].affine, arrays["B"].universal) == ((0,), (0,), (0,))
    assert arrays["B"].is_dropped
    # All of A is computed at once by the fastest schedule, so nothing of it can be shared.
    assert arrays["A"].affine is None
    assert not arrays["A"].is_dropped


def test_live_out_cells_survive() -> None:
    text = (
        'context = "[m, n] -> { : m >= 2 and n >= 4 }"\n'
        'domain = "[m, n] -> { S[i, j] : 1 <= i <= m and 1 <= j <= n }"\n'
        'write = "[m, n] -> { S[i, j] -> A[i, j] }"\n'
        'read = "[m, n] -> { S[i, j] -> A[i - 1, j] : i >= 2 }"\n'
        'schedule = "[m, n] -> { S[i, j] -> [i, j] }"\ntemporary = ["A"]\n'
    )
    program = read_problem("live.toml", text + 'live_out = "[m, n] -> { A[m, j] }"')
    assert isinstance(program, Program)
    (array,) = find_occupancy(program).arrays
    assert array.affine == (1, 0)
    whole = read_problem("live.toml", text + 'live_out = "[m, n] -> { A[i, j] }"')
    assert isinstance(whole, Program)
    (array,) = find_occupancy(whole).arrays
    assert array.affine is None


IN_PLACE = (
    "S[t, i] : 0 <= t < N and 1 <= i < N; R[i] : 1 <= i < N",
    "S[t, i] -> A[i]; R[i] -> out[i]",
    "S[t, i] -> A[i - 1] : i >= 2; S[t, i] -> A[i] : t >= 1; R[i] -> A[i]",
    'schedule = "{ S[t, i] -> [0, t, i]; R[i] -> [1, i, 0] }"\nlive_out = "{ out[i] }"\ntemporary = ["A"]',
)


def test_other_forms_are_refused_or_expanded() -> None:
    program = problem_of(*IN_PLACE)
    with pytest.raises(MethodNotApplicable, match="iteration vector of their statement"):
        find_occupancy(program)
    result = occupancy_of(program, None, [], False, True, Budget(None))
    (array,) = result.arrays
    assert array.name == "A_S"
    assert array.is_proved
    table = Table.of(result.program, "A_S", {"N": 5})
    assert {cell for cell, readers in table.readers.items() if readers} == {
        (t, i) for t in range(5) for i in range(1, 5)
    }


def test_expansion_follows_values() -> None:
    program = problem_of(*IN_PLACE)
    expanded = occupancy_of(program, None, [], False, True, Budget(None)).program
    reads = expanded.accesses(writes=False).intersect_params(fix_parameters({"N": 4}))
    found = {
        (str(part.get_tuple_name(isl.dim_type.in_)), point)
        for part in maps_of(reads)
        for point in points(part.wrap())
    }
    expected = {("S", (t, i, t, i - 1)) for t in range(4) for i in range(2, 4)}
    expected |= {("S", (t, i, t - 1, i)) for t in range(1, 4) for i in range(1, 4)}
    expected |= {("R", (i, 3, i)) for i in range(1, 4)}
    assert found == expected
    assert [str(group.get_tuple_name()) for group in sets_of(expanded.live_out)] == ["out"]


# ---------------------------------------------------------------- the command


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    return run_command(monkeypatch, "occupancy", *arguments)


STENCIL = "examples/occupancy-stencil.toml"


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, STENCIL, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    (array,) = data["arrays"]
    assert (array["name"], array["given_schedule"], array["affine"], array["universal"]) == (
        "A",
        [1, 0],
        [2, 1],
        [3, 0],
    )
    assert (array["proved"], array["size"]) == (True, "m + 2*n - 2")
    assert data["schedule"] == {"S": "i"}


def test_tables(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, STENCIL, "--vector", "A=2,0") == 0
    output = capsys.readouterr().out
    assert "A[i, j] -> [" in output
    assert "S.i - 2*S.j >= 0" in output
    assert run(monkeypatch, STENCIL, "--vector", "A=0,1") == 1
    assert "no schedule: no one-dimensional affine schedule" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vector", "A=2"], "A has 2 dimensions"),
        (["--vector", "A=x,0"], "expected an array and whole numbers"),
        (["--vector", "B=1,0"], "there is no array 'B'"),
        (["--schedule", "S[i, j] -> [i, j]"], "one dimension"),
        (["--schedule", "S[i, j] -> [j]"], "not legal"),
        (["--schedule", "T[i, j] -> [j]"], "T"),
    ],
)
def test_complaints(
    options: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run(monkeypatch, STENCIL, *options) == 2
    assert message in capsys.readouterr().err


def test_code_along_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The alignment in wavefronts, and blur row by row: stored along vectors, run against the original."""
    target = tmp_path / "alignment.c"
    command = ["occupancy", "examples/alignment-3d.c", "-o", str(target), "--run", "--budget", "600"]
    assert run_command(monkeypatch, *command) == 0
    assert "results equal bit for bit" in capsys.readouterr().out
    assert "#pragma omp parallel for" in target.read_text()
    rows = "S_0[x, y] -> [2*x]; S_1[x, y] -> [2*x + 1]"
    options = ["occupancy", "examples/blur.c", "--schedule", rows, "--run"]
    assert run_command(monkeypatch, *options, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schedule"] == {"S_0": "2*x", "S_1": "2*x + 1"}
    assert data["code"]["arrays"][0]["size"] == "N"
    assert data["code"]["runs"][0]["equal"]


TWO_WRITES = """void f(int M, int N, const double in[restrict M][N], double out[restrict M][N])
{
#pragma scop
  double r[N];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      r[j] = in[i][j] * 2;
      out[i][j] = r[j] + 1;
    }
#pragma endscop
}
"""


def test_code_of_expanded_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    source, target = tmp_path / "rows.c", tmp_path / "expanded.c"
    source.write_text(TWO_WRITES)
    rows = "S_0[i, j] -> [2*i]; S_1[i, j] -> [2*i + 1]"
    command = ["occupancy", str(source), "--expand", "--schedule", rows, "-o", str(target), "--run"]
    assert run_command(monkeypatch, *command) == 0
    output = capsys.readouterr().out
    assert "r_S_0[i, j] -> [j mod N]" in output
    assert "results equal bit for bit" in output
    assert "r_S_0[c3]" in target.read_text()


# ---------------------------------------------------------------- the method


@pytest.mark.parametrize(
    ("order", "any_order", "size"),
    [
        ("", False, "2*n"),
        ('parallel = { 1 = "forall" }', False, "n"),
        ("", True, "3*n"),
    ],
)
def test_the_method_takes_the_order_that_is_analysed(order: str, any_order: bool, size: str) -> None:
    """Example 1 of TVA07 along (2, 0), with its schedule along (1, 0), in all orders along (3, 0)."""
    problem = read_problem("example.toml", f"{Path(STENCIL).read_text()}\n{order}\n")
    assert isinstance(problem, Program)
    if any_order:
        problem = AllOrders("dependences").apply(problem)
    (array,) = fold(problem, method="occupancy").arrays
    assert str(array.size) == size


def test_a_longer_vector_may_have_the_smaller_store() -> None:
    """On diagonals of doall loops (2, 0), (0, 2) and (1, 1) are vectors; the smaller side decides."""
    text = """
    context  = "[m, n] -> { : m >= 3 and n >= 3 }"
    domain   = "[m, n] -> { S[i, j] : 0 <= i < m and 0 <= j < n }"
    write    = "[m, n] -> { S[i, j] -> A[i, j] }"
    read     = "[m, n] -> { S[i, j] -> A[i - 1, j] : i >= 1; S[i, j] -> A[i, j - 1] : j >= 1 }"
    schedule = "[m, n] -> { S[i, j] -> [i + j, i] }"
    parallel = { 1 = "doall" }
    """
    problem = read_problem("diagonals.toml", text)
    found: dict[tuple[int, int], object] = {}
    for m, n in ((4, 100), (100, 4)):
        (array,) = fold(problem, method="occupancy", params={"m": m, "n": n}).arrays
        found[m, n] = array.size.evaluate({"m": m, "n": n})
    assert found == {(4, 100): 8, (100, 4): 8}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["examples/occupancy-stencil.toml", "-o", "never.c"], "no C code to rewrite"),
        (["examples/blur.c", "-o", "never.c"], "blurx: no vector of moderate length"),
        (["examples/occupancy-stencil.toml", "--vector", "A=3..1,0"], "the range 3..1 is empty"),
        (["examples/alignment-3d.c", "--vector", "best=1"], "best is not a temporary array; the temporaries"),
    ],
)
def test_what_cannot_be_written(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert run_command(monkeypatch, "occupancy", *arguments) in (1, 2)
    assert message in capsys.readouterr().err
    assert not Path("never.c").exists()


def test_conflicts_have_no_schedules(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert run(monkeypatch, "examples/blur-differences.toml") == 2
    assert "need a program" in capsys.readouterr().err
