"""Async and finish in problem files: against the graph of starts and ends of an unrolled tree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import maps_of, points
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import Program
from support.interleavings import Parallel, related
from support.reference import Instance
from test_paper_programs import pairs_at

_SIDES = (isl.dim_type.in_, isl.dim_type.out)

# ---------------------------------------------------------------- the reference

Tree = tuple[str, object]


@dataclass
class Graph:
    """Starts and ends of everything, and what must come before what."""

    edges: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])
    runs: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def node(self) -> int:
        self.edges[len(self.edges)] = set()
        return len(self.edges) - 1

    def build(self, tree: Tree, start: int, waiting: list[list[int]]) -> int:
        """Hang a tree behind a node; the node at which its own control flow ends.

        waiting  for each finish around, the ends of what was started inside
        """
        kind, inside = tree
        if kind == "run":
            run = self.node()
            self.edges[start].add(run)
            assert isinstance(inside, str)
            self.runs.append((inside, run))
            return run
        if kind == "block":
            assert isinstance(inside, tuple)
            for part in inside:
                start = self.build(part, start, waiting)
            return start
        assert isinstance(inside, tuple)
        if kind == "async":
            waiting[-1].append(self.build(inside, start, waiting))
            return start
        ends: list[int] = []
        last = self.build(inside, start, [*waiting, ends])
        join = self.node()
        for end in (last, *ends):
            self.edges[end].add(join)
        return join

    def before(self) -> set[tuple[str, str]]:
        names = {node: name for name, node in self.runs}
        found: set[tuple[str, str]] = set()
        for name, node in self.runs:
            seen, todo = set[int](), [*self.edges[node]]
            while todo:
                here = todo.pop()
                if here not in seen:
                    seen.add(here)
                    todo += self.edges[here]
            found |= {(name, names[other]) for other in seen if other in names}
        return found


def expected(tree: Tree) -> set[tuple[str, str]]:
    graph = Graph()
    graph.build(tree, graph.node(), [[]])
    return graph.before()


# ---------------------------------------------------------------- random trees


@st.composite
def trees(draw: st.DrawFn, depth: int = 0, loops: int = 0) -> str:
    """The text of a task, with @ where a statement runs."""
    kinds = ["run"] if depth > 3 else ["run", "block", "block", "async", "async", "finish", "loop"]
    kind = draw(st.sampled_from(kinds))
    if kind == "run":
        return "@;"
    if kind == "loop" and loops < 2:
        body = draw(trees(depth + 1, loops + 1))
        name = f"v{loops}"
        return f"for {name} : 0 <= {name} < 2 {{ {body} }}"
    if kind in ("async", "finish"):
        return f"{kind} {draw(trees(depth + 1, loops))}"
    parts = draw(st.lists(trees(depth + 1, loops), min_size=1, max_size=3))
    return f"{{ {' '.join(parts)} }}"


def named(text: str) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """The text with a statement of its own at each place, and the statements with their loops."""
    pieces, found = text.split("@"), list[tuple[str, tuple[str, ...]]]()
    whole = pieces[0]
    for number, piece in enumerate(pieces[1:]):
        open_loops: list[tuple[str, int]] = []
        depth = 0
        words = whole.replace("{", " { ").replace("}", " } ").split()
        for k, word in enumerate(words):
            if word == "for":
                open_loops.append((words[k + 1], depth))
            depth += {"{": 1, "}": -1}.get(word, 0)
            while word == "}" and open_loops and open_loops[-1][1] >= depth:
                open_loops.pop()
        loops = tuple(name for name, _ in open_loops)
        found.append((f"S{number}", loops))
        whole += f"S{number}[{', '.join(loops)}]" + piece
    return whole, found


def unroll(text: str) -> Tree:
    """The tree of a text, with every loop unrolled, by reading it once more."""
    words = text.replace("{", " { ").replace("}", " } ").replace(";", " ; ").replace("[", " [ ").split()

    def task(at: int, values: dict[str, int]) -> tuple[Tree, int]:
        word = words[at]
        if word == "{":
            parts: list[Tree] = []
            at += 1
            while words[at] != "}":
                if words[at] == ";":
                    at += 1
                    continue
                part, at = task(at, values)
                parts.append(part)
            return ("block", tuple(parts)), at + 1
        if word in ("async", "finish"):
            inside, after = task(at + 1, values)
            return (word, inside), after
        if word == "for":
            name = words[at + 1]
            body = words.index("{", at)
            turns = [task(body, {**values, name: turn}) for turn in range(2)]
            return ("block", tuple(tree for tree, _ in turns)), turns[0][1]
        end = next(k for k in range(at, len(words)) if words[k].endswith("]"))
        inside = "".join(words[at + 1 : end + 1]).strip("[]")
        numbers = [str(values[name]) for name in inside.split(",") if name]
        return ("run", f"{word}[{', '.join(numbers)}]"), end + 1

    tree, _ = task(0, {})
    return tree


@settings(max_examples=150)
@given(trees())
def test_random_trees(drawn: str) -> None:
    text, statements = named("{ " + drawn + " }")
    assume(1 <= len(statements) <= 6)
    domain = "; ".join(
        f"{name}[{', '.join(loops)}] : {' and '.join(f'0 <= {v} < 2' for v in loops) or 'true'}"
        for name, loops in statements
    )
    problem = read_problem("random.toml", f'domain = "{{ {domain} }}"\ntasks = "{text}"')
    assert isinstance(problem, Program)
    assert problem.happens_before is not None
    found = set(pairs_of(problem))
    assert found == expected(unroll(text))
    assert all(b != c or (a, d) in found for (a, b), (c, d) in itertools.product(found, repeat=2))


def pairs_of(program: Program) -> Iterator[tuple[str, str]]:
    assert program.happens_before is not None
    for relation in maps_of(program.happens_before):
        left, right = (relation.get_tuple_name(side) for side in _SIDES)
        rank = relation.dim(_SIDES[0])
        for point in points(relation.wrap()):
            first, second = ", ".join(map(str, point[:rank])), ", ".join(map(str, point[rank:]))
            yield f"{left}[{first}]", f"{right}[{second}]"


# ---------------------------------------------------------------- the papers' pipelines


@pytest.mark.parametrize("name", ["blocks", "overlap"])
def test_pipelines_as_code_and_as_relation_have_equal_conflicts(name: str) -> None:
    code = Analysis.of(read(f"examples/pipeline-{name}.toml"))
    relation = Analysis.of(read(f"examples/pipeline-{name}-relation.toml"))
    for array in ("in", "out"):
        pairs = code.conflicts(array).pairs
        assert not pairs.is_empty()
        assert pairs.is_equal(relation.conflicts(array).pairs)


@pytest.mark.parametrize("name", ["blocks", "blocks-relation", "overlap", "overlap-relation"])
def test_pipelines_need_two_buffers(name: str) -> None:
    result = fold(read(f"examples/pipeline-{name}.toml"))
    assert [(array.name, str(array.size)) for array in result] == [("in", "2"), ("out", "2")]


Task = tuple[str, int]


def layers_of_blocks(rounds: int) -> list[list[list[Task]]]:
    """DIY16 Fig. 2a: layers one after the other, each with sequences that run side by side."""
    layers: list[list[list[Task]]] = []
    for i in range(0, 2 * rounds, 2):
        layers += [[[("L", i)]], [[("C", i)], [("L", i + 1)]], [[("S", i)], [("C", i + 1)]], [[("S", i + 1)]]]
    return layers


def layers_of_overlap(blocks: int) -> list[list[list[Task]]]:
    """DIY16 Fig. 2b."""
    layers: list[list[list[Task]]] = [[[("L", 0)]]]
    for i in range(blocks + 1):
        sides = [[("C", i)], [("S", i - 1), ("L", i + 1)]]
        layers.append([[task for task in side if 0 <= task[1] < blocks] for side in sides])
    return layers


@pytest.mark.parametrize(
    ("file", "params", "layers"),
    [
        ("pipeline-blocks", {"M": 2}, layers_of_blocks(2)),
        ("pipeline-overlap", {"N": 4}, layers_of_overlap(4)),
    ],
)
@pytest.mark.parametrize(("array", "writer", "reader"), [("in", "L", "C"), ("out", "C", "S")])
def test_pipelines_in_all_interleavings(
    file: str, params: dict[str, int], layers: list[list[list[Task]]], array: str, writer: str, reader: str
) -> None:
    tasks = [task for layer in layers for side in layer for task in side]
    number = {task: k for k, task in enumerate(tasks)}
    ordered = {
        (number[a], number[b])
        for first, second in itertools.pairwise(layer for layer in layers)
        for a in itertools.chain(*first)
        for b in itertools.chain(*second)
    }
    ordered |= {
        (number[a], number[b]) for layer in layers for side in layer for a, b in itertools.pairwise(side)
    }
    instances = [
        Instance(
            name,
            (i,),
            ((array, (i,)),) if name == reader else (),
            ((array, (i,)),) if name == writer else (),
        )
        for name, i in tasks
    ]
    program = Parallel(instances, related(ordered), array=array)
    conflicts = Analysis.of(read(f"examples/{file}.toml")).conflicts(array)
    expected = program.conflicts()
    assert expected
    assert pairs_at(conflicts, params) == expected
    assert not program.shows_wrong_values(lambda cell: (cell[0] % 2,))
    assert program.shows_wrong_values(lambda _: (0,))


def test_the_double_diamond_in_all_executions() -> None:
    """One branch runs, twice the same one; sharing the cell changes no value."""
    for branch in (0, 1):
        cell = ("v", (0, branch))
        taken = [Instance("W", (branch,), (), (cell,)), Instance("U", (branch,), (cell,), ())]
        program = Parallel(taken, related({(0, 1)}), array="v")
        assert not program.shows_wrong_values(lambda _: (0,))


def test_the_double_diamond_shares_one_cell() -> None:
    problem = read("examples/double-diamond.toml")
    assert str(fold(problem)["v"].size) == "1"
    assert fold(problem)["v"].conflicts.notes
    lines = Path("examples/double-diamond.toml").read_text().splitlines()
    always = read_problem("always.toml", "\n".join(line for line in lines if "exclu" not in line))
    assert str(fold(always)["v"].size) == "2"


# ---------------------------------------------------------------- complaints

HEAD = 'domain = "[N] -> { S[i] : 0 <= i < N }"\nwrite = "[N] -> { S[i] -> A[i] }"\n'


@pytest.mark.parametrize(
    ("tasks", "message", "column"),
    [
        ("for i : 0 <= i < N { S[i]", "'}' is missing", 35),
        ("for i 0 <= i < N { S[i]; }", "expected ':'", 16),
        ("for i : 0 <= i < N { S[i, i]; }", "has 1 iterator", 31),
        ("for i : 0 <= i < N { T[i]; }", "does not occur", 31),
        ("for i : 0 <= i < N - 1 { S[i]; }", "no task runs S", 35),
        ("for i : 0 <= i < N { S[i]; S[i]; }", "run twice", 31),
        ("for i : 0 <= i < N { for j : 0 <= j < 2 { S[i]; } }", "run twice", 52),
        ("for i : 0 <= i < N { S[k]; }", "unknown name 'k'", 33),
        ("for i : 0 <= k < N { S[i]; }", "unknown name 'k'", 23),
        ("for N : 0 <= N < 3 { S[N]; }", "name of something else", 18),
        ("async 5", "expected a task", 16),
        ("for 3", "expected the variable", 14),
        ("S[0", "']' is missing", 12),
    ],
)
def test_complaints_point_into_the_text(tasks: str, message: str, column: int) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_problem("tasks.toml", HEAD + f'tasks = "{tasks}"\n')
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (3, column)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ('tasks = "for i : 0 <= i < N { S[i]; }"\nschedule = "{ S[i] -> [i] }"', "not both"),
        ('execution = "{ S[i] -> [i] }"\nschedule = "{ S[i] -> [i] }"', "belongs to happens_before"),
        ('happens_before = "{ S[i] -> S[i + 1] }"\nexecution = "{ S[i] -> [-i] }"', "breaks happens_before"),
        ('happens_before = "{ S[i] -> S[i + 1] }"\ntiles = [3]', "tiles cut a schedule"),
        ('schedule = "{ S[i] -> [i] }"\ntiles = [3, 3]', "2 tile sizes"),
        ('schedule = "{ S[i] -> [i] }"\ntiles = [0]', "not always positive"),
        ('schedule = "{ S[i] -> [i] }"\ntiles = ["N*N"]', "not a tile size"),
        ('schedule = "{ S[i] -> [i] }"\ntiles = 3', "list of sizes"),
    ],
)
def test_orders_that_make_no_sense(order: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_problem("order.toml", HEAD + order)
