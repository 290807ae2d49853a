"""What the C front end extracts, against models derived by hand and against what the compiled C does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.relations import close
from arrayfold.frontends.files import read_all
from arrayfold.program.model import Program

KERNELS = Path(__file__).resolve().parent / "c_kernels"
NAMES = sorted(path.stem for path in [*KERNELS.glob("*.c"), *KERNELS.glob("*.cpp")])
WITHOUT_MODEL = {"included", "label-clash"}


@cache
def extract(name: str) -> list[Program]:
    c, cplusplus = KERNELS / f"{name}.c", KERNELS / f"{name}.cpp"
    programs = read_all(c if c.exists() else cplusplus)
    found = [program for program in programs if isinstance(program, Program)]
    assert len(found) == len(programs)
    return found


def expected_files(name: str) -> list[Path]:
    return sorted([*KERNELS.glob(f"{name}.toml"), *KERNELS.glob(f"{name}.[0-9].toml")])


@cache
def expect(name: str) -> list[Program]:
    programs = [problem for file in expected_files(name) for problem in read_all(file)]
    found = [program for program in programs if isinstance(program, Program)]
    assert len(found) == len(programs)
    return found


# ---------------------------------------------------------------- against models derived by hand


CASES = [
    pytest.param(name, number, id=name if len(files) == 1 else f"{name}.{number + 1}")
    for name in NAMES
    for files in [expected_files(name)]
    for number in range(len(files))
]


def pair(name: str, number: int) -> tuple[Program, Program]:
    return extract(name)[number], expect(name)[number]


def test_every_kernel_has_its_models() -> None:
    expected = {file for name in NAMES for file in expected_files(name)}
    assert expected == set(KERNELS.glob("*.toml"))
    assert [name for name in NAMES if not expected_files(name)] == sorted(WITHOUT_MODEL)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_MODEL])
def test_number_of_regions(name: str) -> None:
    assert len(extract(name)) == len(expected_files(name))


@pytest.mark.parametrize(("name", "number"), CASES)
def test_context_covers_the_sizes_that_are_right(name: str, number: int) -> None:
    found, expected = pair(name, number)
    assert not expected.context.is_empty()
    assert expected.context.is_subset(found.context)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_statements_and_domains(name: str, number: int) -> None:
    found, expected = pair(name, number)
    assert [item.name for item in found.statements] == [item.name for item in expected.statements]
    for mine, theirs in zip(expected.statements, found.statements, strict=True):
        domain = theirs.domain.intersect_params(expected.context)
        assert domain.is_equal(mine.domain), f"{mine.name}: {domain} instead of {mine.domain}"


@pytest.mark.parametrize("must", [True, False], ids=["must", "may"])
@pytest.mark.parametrize("writes", [True, False], ids=["writes", "reads"])
@pytest.mark.parametrize(("name", "number"), CASES)
def test_accesses(name: str, number: int, writes: bool, must: bool) -> None:
    found, expected = pair(name, number)
    theirs = found.accesses(writes=writes, must_only=must).intersect_params(expected.context)
    mine = expected.accesses(writes=writes, must_only=must)
    assert theirs.is_subset(mine), f"too much: {theirs.subtract(mine).coalesce()}"
    assert mine.is_subset(theirs), f"missing: {mine.subtract(theirs).coalesce()}"


@pytest.mark.parametrize(("name", "number"), CASES)
def test_order(name: str, number: int) -> None:
    found, expected = pair(name, number)
    theirs = happens_before(found).intersect_params(expected.context)
    mine = happens_before(expected)
    assert theirs.is_subset(mine), f"too much: {theirs.subtract(mine).coalesce()}"
    assert mine.is_subset(theirs), f"missing: {mine.subtract(theirs).coalesce()}"


def happens_before(program: Program) -> isl.UnionMap:
    """{ S[i] -> T[j] }: the first dimension where the times differ is sequential, and S is earlier in it.

    Where there are tasks, the program says it.
    """
    if program.happens_before is not None:
        inside = program.happens_before.intersect_domain(program.domain()).intersect_range(program.domain())
        return close(inside).relation
    assert program.schedule is not None
    depths = {times.dim(isl.dim_type.out) for times in maps_of(program.schedule)}
    assert len(depths) == 1
    (depth,) = depths
    assert set(program.parallel.values()) <= {"doall"}
    before, after = [f"s{k}" for k in range(depth)], [f"t{k}" for k in range(depth)]
    earlier = isl.UnionMap("{ }")
    for dimension in range(depth):
        if dimension not in program.parallel:
            equal = [f"s{k} = t{k}" for k in range(dimension)]
            condition = " and ".join([*equal, f"s{dimension} < t{dimension}"])
            text = f"{{ [{', '.join(before)}] -> [{', '.join(after)}] : {condition} }}"
            earlier = earlier.union(isl.UnionMap(text))
    times = program.schedule.intersect_domain(program.domain())
    return times.apply_range(earlier).apply_range(times.reverse())


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def test_a_label_never_takes_the_name_of_another_statement() -> None:
    (program,) = extract("label-clash")
    first, second = program.statements
    assert first.name == "S_1"
    assert second.name != first.name
    order = happens_before(program)
    same_iteration = isl.UnionMap(f"[n] -> {{ {first.name}[i] -> {second.name}[i] : 0 <= i < n }}")
    assert same_iteration.intersect_params(isl.Set("[n] -> { : n >= 1 }")).is_subset(order)


def test_statements_from_another_file_are_not_lost() -> None:
    """Reading them and refusing them are both right."""
    try:
        (program,) = extract("included")
    except InputError:
        return
    assert len(program.statements) == 3
    assert program.accesses(writes=True).domain().is_equal(program.domain())


def test_crlf_kernel_has_such_lines_and_no_other() -> None:
    data = (KERNELS / "crlf.c").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 0


# ---------------------------------------------------------------- against the compiled C


@dataclass(frozen=True)
class Run:
    """How to call a kernel so that its accesses can be watched.

    sizes   values of the parameters
    arrays  what is watched: element type and extents; the kernel's file declares those in `known`
    call    the arguments, or a whole call
    """

    sizes: Mapping[str, int]
    arrays: Mapping[str, tuple[str, ...]]
    call: str
    known: tuple[str, ...] = ()


RUNS = {
    "assigned": Run({"n": 6}, {"a": ("double", "33"), "b": ("double", "6", "10")}, "assigned(n, a, b)"),
    "descending": Run(
        {"N": 6},
        {"U": ("double", "6", "6"), "b": ("double", "6"), "x": ("double", "6")},
        "descending(N, U, b, x)",
    ),
    "strides": Run(
        {"n": 17, "m": 4},
        dict.fromkeys("abc", ("double", "20")),
        "strides(n, m, a, b, c)",
    ),
    "tiled": Run(
        {"N": 11, "M": 19},
        dict.fromkeys("AB", ("double", "11", "19")),
        "tiled(N, M, A, B)",
    ),
    "comparisons": Run({"n": 7, "m": 3}, dict.fromkeys("ab", ("double", "12")), "comparisons(n, m, a, b)"),
    "not-equal-shifted": Run({"n": 6}, dict.fromkeys("ab", ("double", "6")), "not_equal_shifted(n, a, b)"),
    "constant-step": Run({"N": 19}, {"a": ("double", "19")}, "constant_step(N, a)"),
    "imperfect": Run(
        {"n": 5},
        {"A": ("double", "5", "5"), "result": ("double", "2"), "det": ("double",)},
        "imperfect(n, A, result)",
        known=("det",),
    ),
    "conditions": Run(
        {"N": 6, "M": 2},
        dict.fromkeys("ufvw", ("double", "6", "6")),
        "conditions(N, M, u, (const double (*)[6]) f, v, w)",
    ),
    "operators": Run(
        {"n": 5},
        {"a": ("double", "5"), "b": ("double", "5"), "c": ("float", "5"), "k": ("int", "5")},
        "operators(n, a, b, c, k)",
    ),
    "choices": Run(
        {"n": 8},
        {**dict.fromkeys("abc", ("double", "8")), "k": ("int", "8")},
        "choices(n, a, b, c, k)",
    ),
    "calls": Run(
        {"n": 4},
        {"x": ("float", "4"), "y": ("double", "4"), "norm": ("double",)},
        "calls(n, 3, 2, x, y)",
        known=("norm",),
    ),
    "pointers": Run(
        {"N": 4},
        {
            "A": ("double", "4", "4"),
            "v": ("double", "4"),
            "R": ("double", "4", "8"),
            "B": ("double", "5", "8"),
            "u": ("double", "4"),
            "image": ("double", "64"),
        },
        "pointers(N, A, v, R, B, u, image)",
    ),
    "macros": Run({}, {"in": ("double", "12", "12"), "out": ("double", "10", "10")}, "macros(in, out)"),
    "comments": Run({"n": 5}, {"a": ("double", "5"), "b": ("double", "5")}, "comments(n, a, b)"),
    "crlf": Run({"n": 5}, {"a": ("double", "5"), "b": ("double", "5")}, "crlf(n, a, b)"),
    "keyword-iterators": Run({"N": 5}, {"A": ("double", "5", "5")}, "keyword_iterators(N, A)"),
    "nan-iterator": Run({"N": 5}, {"A": ("double", "5")}, "nan_iterator(N, A)"),
    "unicode-iterator": Run({"N": 5}, {"A": ("double", "5")}, "unicode_iterator(N, A)"),
    "shadowing": Run(
        {"N": 5},
        {"A": ("double", "5"), "B": ("double", "5"), "t": ("double",)},
        "shadowing(N, A, B)",
        known=("t",),
    ),
    "truncation": Run({"N": 7}, dict.fromkeys("ab", ("double", "15")), "truncation(N, a, b)"),
    "unsigned": Run({"n": 9, "steps": 2}, dict.fromkeys("AB", ("double", "9")), "stencil(n, steps, A, B)"),
    "enums": Run(
        {}, {"p": ("double", "20", "3"), "v": ("double", "16", "3")}, "enums((const double (*)[3]) v)", ("p",)
    ),
    "locals": Run({"N": 7}, dict.fromkeys("ab", ("double", "14")), "locals(N, a, b)"),
    "labels": Run({"T": 2, "N": 6}, dict.fromkeys("AB", ("double", "6")), "labels(T, N, A, B)"),
    "openmp": Run({"N": 5, "T": 2}, dict.fromkeys("AB", ("double", "5", "5")), "openmp(N, T, A, B)"),
    "decisions": Run({"n": 9}, dict.fromkeys("ab", ("double", "9")), "decisions(n, a, b, 0.25)"),
    "sorting": Run(
        {"n": 7},
        {"a": ("double", "7"), "swaps": ("int",), "tests": ("int",)},
        "sorting(n, a)",
        known=("swaps", "tests"),
    ),
    "skewed": Run(
        {"N": 6, "M": 3},
        {"A": ("double", "28", "18"), "s": ("double", "28")},
        "skewed(N, M, A, s)",
    ),
    "clamped": Run(
        {"N": 7},
        dict.fromkeys(("out", "in", "tmp"), ("double", "7")),
        "clamped(N, out, in, tmp)",
    ),
    "inline-if": Run({"N": 4, "M": 6}, {"a": ("double", "10")}, "inline_if(N, M, a)"),
    "chosen-divisor": Run(
        {"n": 9, "wide": 1}, dict.fromkeys("ab", ("double", "9")), "chosen_divisor(n, wide, a, b)"
    ),
    "scalar-parameter": Run({"N": 5}, {"x": ("double", "5")}, "scalar_parameter(N, 1.5, 0, x)"),
}

# gcc's thread sanitizer puts a call before every access to memory; these functions note it instead.
RUNTIME = """
#include <stdio.h>
int watching;
static void note(char kind, void *address, int size)
{
    if (watching)
        printf("%c %lu %d\\n", kind, (unsigned long) address, size);
}
#define BOTH(n)                                                      \\
    void __tsan_read##n(void *address) { note('R', address, n); }    \\
    void __tsan_write##n(void *address) { note('W', address, n); }
BOTH(1) BOTH(2) BOTH(4) BOTH(8) BOTH(16)
void __tsan_init(void) {}
void __tsan_func_entry(void *address) { (void) address; }
void __tsan_func_exit(void) {}
"""

Event = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Instance:
    """What one instance of a statement does to the arrays that are watched."""

    name: str
    must: frozenset[Event]
    may: frozenset[Event]


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_compiled_kernel_does_what_the_model_says(name: str, tmp_path: Path) -> None:
    run = RUNS[name]
    (program,) = extract(name)
    events = trace(KERNELS / f"{name}.c", run, tmp_path)
    assert events
    mismatch = first_mismatch(list(instances(program, run)), events)
    assert mismatch is None, mismatch


def first_mismatch(order: list[Instance], events: list[Event]) -> str | None:
    """Where the events are no run of the instances in their order; None if they are.

    An instance takes a run of events, all of which it may do, among them all that it must. The search keeps
    every number of events that the instances so far can have taken.
    """
    reached = {0}
    for number, instance in enumerate(order):
        following: set[int] = set()
        for start in reached:
            done: set[Event] = set()
            position = start
            while True:
                if instance.must <= done:
                    following.add(position)
                if position == len(events) or not can_do(instance, done, events[position]):
                    break
                done.add(events[position])
                position += 1
        if not following:
            last = max(reached)
            return f"instance {number}, {instance}, cannot begin with event {last}: {events[last : last + 4]}"
        reached = following
    return None if len(events) in reached else f"no instance left for {events[max(reached) :][:4]}"


def can_do(instance: Instance, done: set[Event], event: Event) -> bool:
    """Whether the event is the instance's own; unoptimised, `a = b = x` reads b again after its write."""
    kind, array, cell = event
    return event in instance.may or (kind == "R" and ("W", array, cell) in done)


def instances(program: Program, run: Run) -> Iterator[Instance]:
    """The instances at the run's sizes, in the order of their times."""
    assert program.schedule is not None
    sizes = fix_parameters(run.sizes)
    times = program.schedule.intersect_domain(program.domain()).intersect_params(sizes)
    timed: list[tuple[tuple[int, ...], str, tuple[int, ...]]] = []
    for item in maps_of(times):
        name, depth = item.get_tuple_name(isl.dim_type.in_), item.dim(isl.dim_type.in_)
        assert name is not None
        timed += [(point[depth:], name, point[:depth]) for point in points(item.wrap())]
    done: dict[bool, dict[tuple[str, tuple[int, ...]], set[Event]]] = {
        must: cells_of(program, run, must) for must in (True, False)
    }
    for _, name, iteration in sorted(timed):
        key = (name, iteration)
        must, may = done[True].get(key, set[Event]()), done[False].get(key, set[Event]())
        yield Instance(f"{name}{list(iteration)}", frozenset(must), frozenset(may))


def cells_of(program: Program, run: Run, must: bool) -> dict[tuple[str, tuple[int, ...]], set[Event]]:
    found: dict[tuple[str, tuple[int, ...]], set[Event]] = {}
    for kind, writes in (("R", False), ("W", True)):
        union = program.accesses(writes=writes, must_only=must).intersect_params(fix_parameters(run.sizes))
        for item in maps_of(union):
            name, depth = item.get_tuple_name(isl.dim_type.in_), item.dim(isl.dim_type.in_)
            array = item.get_tuple_name(isl.dim_type.out)
            assert name is not None
            if array in run.arrays:
                for point in points(item.wrap()):
                    found.setdefault((name, point[:depth]), set()).add((kind, array, point[depth:]))
    return found


def points(cells: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []

    def add(point: isl.Point) -> None:
        count = cells.dim(isl.dim_type.set)
        found.append(tuple(int(str(point.get_coordinate_val(isl.dim_type.set, k))) for k in range(count)))

    cells.foreach_point(add)
    return found


def trace(kernel: Path, run: Run, folder: Path) -> list[Event]:
    """Every access to a watched array while the kernel runs, in order."""
    (folder / "runtime.c").write_text(RUNTIME)
    (folder / "driver.c").write_text(driver(kernel, run))
    for file, options in (("runtime", []), ("driver", ["-fsanitize=thread"])):
        command = ["gcc", "-std=gnu11", "-w", "-O0", *options, "-c", f"{file}.c", "-o", f"{file}.o"]
        subprocess.run(command, cwd=folder, check=True, timeout=60)
    subprocess.run(["gcc", "runtime.o", "driver.o", "-lm", "-o", "run"], cwd=folder, check=True, timeout=60)
    output = subprocess.run([folder / "run"], check=True, timeout=60, capture_output=True, text=True).stdout
    lines = [line.split() for line in output.splitlines()]
    places = {words[1]: (int(words[2]), int(words[3]), int(words[4])) for words in lines if words[0] == "A"}
    assert places.keys() == run.arrays.keys()
    events = [
        located(kind, int(address), places, run) for kind, address, _ in (w for w in lines if w[0] != "A")
    ]
    return [event for event in events if event is not None]


def located(kind: str, address: int, places: Mapping[str, tuple[int, int, int]], run: Run) -> Event | None:
    for array, (start, element, size) in places.items():
        if start <= address < start + size:
            assert (address - start) % element == 0
            rest, cell = (address - start) // element, list[int]()
            for extent in reversed(run.arrays[array][1:]):
                cell.insert(0, rest % int(extent))
                rest //= int(extent)
            return kind, array, tuple(cell)
    return None


def driver(kernel: Path, run: Run) -> str:
    """A program that fills the arrays, says where they are, and calls the kernel."""
    declared, filled, shown = [], [], []
    for name, (element, *extents) in run.arrays.items():
        if name not in run.known:
            declared.append(f"static {element} {name}{''.join(f'[{extent}]' for extent in extents)};")
        first = f"(({element} *) &{name})"
        filled.append(
            f"for (unsigned q = 0; q < sizeof {name} / sizeof({element}); q++) "
            f"{first}[q] = 1 + (int) (q * 7 % 5) - 2 * (int) (q % 3);"
        )
        shown.append(
            f'printf("A {name} %lu %d %d\\n", (unsigned long) &{name}, '
            f"(int) sizeof({element}), (int) sizeof {name});"
        )
    sizes = [f"int {name} = {value};" for name, value in run.sizes.items()]
    lines = [
        f'#include "{kernel}"',
        "#include <stdio.h>",
        "extern int watching;",
        '__attribute__((no_sanitize("thread"))) int main(void)',
        "{",
        *declared,
        *filled,
        *shown,
        *sizes,
        "watching = 1;",
        f"{run.call};",
        "watching = 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"
