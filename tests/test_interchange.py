"""Files of pet and SMO, JSON, and that `model` turns every input into a problem file that reads back."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from arrayfold.base.errors import InputError
from arrayfold.base.source_text import SourceText
from arrayfold.conflicts.liveness import analyse, with_temporaries
from arrayfold.fold.arrays import fold
from arrayfold.fold.check import check
from arrayfold.frontends import read, read_all, write_problem
from arrayfold.frontends.pet.read import read_pet, without_limits_of_types
from arrayfold.frontends.pet.schedule import read_schedule_tree
from arrayfold.frontends.pet.yaml import read_yaml
from arrayfold.frontends.smo import read_smo
from arrayfold.frontends.toml.problem import read_problem
from arrayfold.program.model import ConflictProblem, Program
from support.command import run
from support.equal import are_equal

Capture = pytest.CaptureFixture[str]


# ---------------------------------------------------------------- round trips

FILES = [
    "examples/blur-interleaved.c",
    "examples/blur.pet.yaml",
    "examples/blur.smo.input",
    "examples/wave-1d.toml",
]


@pytest.mark.parametrize("file", sorted(Path("examples").glob("*.c")), ids=lambda file: file.stem)
def test_a_model_of_c_is_an_equal_problem(file: Path) -> None:
    for original in map(with_temporaries, read_all(file)):
        assert are_equal(read_problem("model.toml", write_problem(original)), original)


@pytest.mark.parametrize("file", FILES)
def test_model_reads_back_as_an_equal_problem(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    original = with_temporaries(read(file))
    for name, options in (("model.toml", []), ("model.json", ["--json"])):
        assert run(monkeypatch, "model", file, *options) == 0
        (tmp_path / name).write_text(capsys.readouterr().out)
        assert are_equal(read(tmp_path / name), original)


@pytest.mark.parametrize("file", ["examples/blur.pet.yaml", "examples/blur.smo.input"])
def test_a_changed_model_is_no_equal_problem(file: str) -> None:
    original = with_temporaries(read(file))
    text = write_problem(original)
    changed = text.replace("blurx[-2 + y, x]", "blurx[-1 + y, x]").replace("-2 + y <= y' <= 2 + y", "y = y'")
    assert changed != text
    assert not are_equal(read_problem("changed.toml", changed), original)


# ---------------------------------------------------------------- pet

PET = """\
start: 10
end: 90
context: '[n] -> {{ : 3 <= n <= 2147483647 }}'
{schedule}arrays:
- context: '[n] -> {{ : n >= 0 }}'
  extent: '[n] -> {{ A[i0] : 0 <= i0 < n }}'
  element_type: float
  element_size: 4
  {flags}
- extent: '[n] -> {{ B[i0] : 0 <= i0 < n }}'
  element_type: int
  element_size: 4
statements:
- line: 3
  domain: '[n] -> {{ S[i] : 0 <= i < n }}'
{own}  body:
    type: op
    operation: =
    arguments:
    - type: access
      index: '[n] -> {{ S[i] -> A[(i)] }}'
      read: 0
      write: 1
    - type: int
      value: 1
- line: 4
{statement}
"""

OWN = "  schedule: '[n] -> { S[i] -> [0, i] }'\n"

READER = """\
  domain: '[n] -> { T[i] : 0 <= i < n }'
  schedule: '[n] -> { T[i] -> [1, i, 0] }'
  body:
    type: expression
    expr:
      type: op
      operation: +=
      arguments:
      - type: access
        index: '[n] -> { T[i] -> B[(i)] }'
        read: 1
        write: 1
      - type: access
        index: '[n] -> { T[i] -> A[(-1 + n - i)] }'
        read: 1
        write: 0
"""


def pet(
    statement: str = READER, *, flags: str = "declared: 1", schedule: str = "", own: str = OWN
) -> Program:
    text = PET.format(statement=statement, flags=flags, schedule=schedule, own=own)
    return read_pet("test.yaml", text)


EXPECTED = """
context   = "[n] -> { : n >= 3 }"
domain    = "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }"
write     = "{ S[i] -> A[i]; T[i] -> B[i] }"
read      = "[n] -> { T[i] -> A[n - 1 - i]; T[i] -> B[i] }"
schedule  = "{ S[i] -> [0, i, 0]; T[i] -> [1, i, 0] }"
temporary = ["A"]
live_out  = "[n] -> { B[i] : 0 <= i < n }"
"""


def test_schedules_of_statements_and_a_read_in_a_target() -> None:
    assert are_equal(with_temporaries(pet()), read_problem("expected.toml", EXPECTED))


def test_a_schedule_tree_says_the_same() -> None:
    tree = (
        'schedule: \'{ domain: "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }", child: { sequence: [\n'
        '  { filter: "{ S[i] }", child: { schedule: "L_0[{ S[i] -> [(i)] }]" } },\n'
        '  { filter: "{ T[i] }", child: { schedule: "L_1[{ T[i] -> [(i)] }]" } } ] } }\'\n'
    )
    statement = "\n".join(line for line in READER.splitlines() if "schedule" not in line)
    program = pet(statement, schedule=tree, own="")
    expected = EXPECTED.replace("[0, i, 0]", "[0, i]").replace("[1, i, 0]", "[1, i]")
    assert are_equal(with_temporaries(program), read_problem("expected.toml", expected))


@pytest.mark.parametrize(
    "tree",
    [
        (
            '{ domain: "[n] -> { S[i] : 0 <= i < n; T[i, j] : 0 <= i, j < n; R[] }", child: { sequence: ['
            '{ filter: "{ R[] }" }, { filter: "{ S[i]; T[i, j] }", child: { schedule: "L_0[{ S[i] -> [(-i)]; '
            'T[i, j] -> [(-i)] }]", permutable: 1, child: { sequence: [ { filter: "{ T[i, j] }", child: { '
            'schedule: "[n] -> L_1[{ T[i, j] -> [(n - j)] }]" } }, { filter: "{ S[i] }" } ] } } } ] } }'
        ),
        (
            '{ domain: "{ S[i, j] : 0 <= i, j < 5 }", child: { mark: "here", child: { schedule: '
            '"[{ S[i, j] -> [(i + j)] }, { S[i, j] -> [(i)] }]", coincident: [ 0, 1 ] } } }'
        ),
        '{ domain: "{ S[i] : 0 <= i < 5 }", child: { schedule: "[{ S[i] -> [(floor((i)/2))] }]" } }',
        '{ domain: "{ S[] }" }',
    ],
)
def test_trees_order_instances_as_isl_does(tree: str) -> None:
    schedule = isl.Schedule(tree)
    theirs = schedule.get_map().intersect_domain(schedule.get_domain())
    ours = read_schedule_tree(SourceText.of(tree, "tree"))
    assert ours.domain().is_equal(theirs.domain())
    assert ours.lex_lt_union_map(ours).is_equal(theirs.lex_lt_union_map(theirs))


def test_the_older_form_of_accesses() -> None:
    older = READER.replace("index:", "relation:").replace("(i)", "i").replace("(-1 + n - i)", "-1 + n - i")
    assert are_equal(pet(older), pet())


@pytest.mark.parametrize(
    ("flags", "temporaries", "reason"),
    [
        ("declared: 1", ("A",), None),
        ("declared: 0", (), "declared outside of the region"),
        ("element_is_record: 0", (), "declared outside of the region"),
        ("declared: 1\n  exposed: 1", (), "visible after the region"),
        ("declared: 1\n  live_out: 1", (), "live-out, says the file"),
    ],
)
def test_what_is_temporary(flags: str, temporaries: tuple[str, ...], reason: str | None) -> None:
    program = pet(flags=flags)
    assert analyse(program).temporaries == temporaries
    assert program.kept["B"].reason == "declared outside of the region"
    assert (program.kept["A"].reason if "A" in program.kept else None) == reason
    assert analyse(program.with_temporary("A")).temporaries == ("A",)


def accesses(program: Program, statement: str) -> list[tuple[str, str, bool, bool]]:
    """Array, relation, whether it writes and whether it surely happens, of every access of a statement."""
    (found,) = (one for one in program.statements if one.name == statement)
    return [
        (access.array, str(access.relation.gist_domain(found.domain)), access.is_write, access.is_must)
        for access in found.accesses
    ]


def touches_all_of_it(program: Program) -> bool:
    """Whether the only access of T to A is a read that may be of any cell."""
    (access,) = (one for one in program.statements[1].accesses if one.array == "A")
    everything = isl.Map("[n] -> { T[i] -> A[k] : n >= 3 and 0 <= i, k < n }")
    return access.relation.is_equal(everything) and not access.is_write and not access.is_must


def test_what_depends_on_data_may_touch_everything_left_open() -> None:
    nested = READER.replace(
        "        index: '[n] -> { T[i] -> A[(-1 + n - i)] }'\n",
        """        index: '[n] -> { [T[i] -> [k]] -> A[(i + k)] }'
        arguments:
        - type: access
          index: '[n] -> { T[i] -> B[(i)] }'
          read: 1
          write: 0
""",
    )
    program = pet(nested)
    assert touches_all_of_it(program)
    assert [array for array, *_ in accesses(program, "T")] == ["B", "B", "B", "A"]


def test_a_filtered_statement_may_not_run() -> None:
    filtered = READER.replace("{ T[i] : 0 <= i < n }", "{ [T[i] -> [1]] : 0 <= i < n }") + (
        "  arguments:\n  - type: access\n    index: '[n] -> { T[i] -> A[(i)] }'\n    read: 1\n    write: 0\n"
    )
    found = accesses(pet(filtered), "T")
    assert [(array, is_write, is_must) for array, _, is_write, is_must in found] == [
        ("A", False, True),
        ("B", False, False),
        ("B", True, False),
        ("A", False, False),
    ]


def test_a_part_of_the_indices_means_the_rest_of_the_array() -> None:
    program = pet(READER.replace("A[(-1 + n - i)]", "A[]").replace("operation: +=", "operation: ="))
    assert touches_all_of_it(program)


def test_must_and_may_writes_apart() -> None:
    written = READER.replace(
        "        index: '[n] -> { T[i] -> B[(i)] }'\n        read: 1\n",
        """        may_write: '[n] -> { T[i] -> B[i]; T[i] -> B[0] }'
        must_write: '[n] -> { T[i] -> B[i] }'
        index: '[n] -> { T[i] -> B[] }'
        read: 0
""",
    )
    writes = [
        (is_must, relation) for _, relation, is_write, is_must in accesses(pet(written), "T") if is_write
    ]
    assert [is_must for is_must, _ in writes] == [True, False]
    assert (
        isl.Map(writes[0][1])
        .intersect_params(isl.Set("[n] -> { : n >= 3 }"))
        .is_equal(isl.Map("[n] -> { T[i] -> B[i] : n >= 3 }"))
    )
    assert "B[0] : i > 0" in writes[1][1]


@pytest.mark.parametrize("operation", ["?:", "&&", "||"])
def test_the_branches_of_a_condition_may_not_be_read(operation: str) -> None:
    access = """
          - type: access
            index: '[n] -> {{ T[i] -> A[({})] }}'
            read: 1
            write: 0"""
    condition = READER[: READER.index("      - type: access\n        index: '[n] -> { T[i] -> A[")]
    condition += f"      - type: op\n        operation: '{operation}'\n        arguments:"
    condition += access.format("i") + access.format("0")
    reads = [(relation, must) for array, relation, _, must in accesses(pet(condition), "T") if array == "A"]
    assert [must for _, must in reads] == [True, False]


def test_a_chain_of_assignments_writes_both() -> None:
    chain = """\
  domain: '[n] -> { T[i] : 0 <= i < n }'
  schedule: '[n] -> { T[i] -> [1, i] }'
  body:
    type: op
    operation: OUTER
    arguments:
    - type: access
      index: '[n] -> { T[i] -> B[(i)] }'
      read: 0
      write: 1
    - type: op
      operation: =
      arguments:
      - type: access
        index: '[n] -> { T[i] -> A[(i)] }'
        read: 0
        write: 1
      - type: int
        value: 1
"""
    found = accesses(pet(chain.replace("OUTER", "=")), "T")
    assert [(array, is_write) for array, _, is_write, _ in found] == [("B", True), ("A", True)]
    assert [statement.name for statement in pet(chain.replace("OUTER", "=")).statements] == ["S", "T"]


SHIFT = """\
context: '[n] -> {{ : n >= 3 }}'
arrays:
- extent: '[n] -> {{ A[i0] : 0 <= i0 <= n }}'
  declared: 1
- extent: '[n] -> {{ out[i0] : 0 <= i0 < n }}'
statements:
- domain: '[n] -> {{ I[] }}'
  schedule: '{{ I[] -> [0] }}'
  body: {{ type: op, operation: =, arguments: [{{ type: access, index: '{{ I[] -> A[(0)] }}', write: 1 }}] }}
- domain: '[n] -> {{ S[i] : 0 <= i < n }}'
  schedule: '{{ S[i] -> [1, i] }}'
  body:
    {how}
    arguments:
    - {{ type: access, index: '{{ S[i] -> A[(i + 1)] }}', read: 0, write: 1 }}
    - {{ type: access, index: '{{ S[i] -> A[(i)] }}', read: 1, write: 0 }}
- domain: '[n] -> {{ O[] }}'
  schedule: '{{ O[] -> [2] }}'
  body:
    type: op
    operation: =
    arguments:
    - {{ type: access, index: '{{ O[] -> out[(0)] }}', read: 0, write: 1 }}
    - {{ type: access, index: '[n] -> {{ O[] -> A[(n)] }}', read: 1, write: 0 }}
"""


@pytest.mark.parametrize(
    ("how", "size", "statements"),
    [
        ("type: op\n    operation: =", "1", ["I", "S", "O"]),
        ("type: call\n    name: step", "2", ["I", "S", "S_end", "O"]),
        ("type: op\n    operation: +", "2", ["I", "S", "S_end", "O"]),
    ],
)
def test_a_call_may_read_after_it_writes(how: str, size: str, statements: list[str]) -> None:
    """An assignment may overwrite what it reads; a call that writes one cell and reads another needs both."""
    program = read_pet("shift.yaml", SHIFT.format(how=how))
    assert [statement.name for statement in program.statements] == statements
    assert str(fold(program)["A"].size) == size
    assert are_equal(
        read_problem("model.toml", write_problem(with_temporaries(program))), with_temporaries(program)
    )


def test_kills_are_left_out() -> None:
    killed = """\
  domain: '[n] -> { K[] }'
  schedule: '[n] -> { K[] -> [2] }'
  body:
    type: expression
    expr:
      type: op
      operation: kill
      arguments:
      - type: access
        killed: '[n] -> { K[] -> A[o0] : 0 <= o0 < n }'
        index: '[n] -> { K[] -> A[] }'
        kill: 1
"""
    assert [statement.name for statement in pet(killed).statements] == ["S"]


def test_limits_of_types_are_no_knowledge() -> None:
    context = isl.Set("[n, m] -> { : -2147483648 <= n <= 2147483647 and 2 <= m <= 40000 and n <= m + 5 }")
    expected = isl.Set("[n, m] -> { : 2 <= m <= 40000 and n <= m + 5 }")
    assert without_limits_of_types(context).is_equal(expected)
    assert isl.Set("[n] -> { : n <= 100 }").is_equal(
        without_limits_of_types(isl.Set("[n] -> { : n <= 100 }"))
    )


def test_pet_and_c_fold_alike() -> None:
    of_pet, of_c = fold(read("examples/blur.pet.yaml")), fold(read("examples/blur-interleaved.c"))
    assert str(of_pet["blurx"].mapping) == str(of_c["blurx"].mapping)
    assert str(of_pet["blurx"].size) == "2*N + 1"


def test_places_in_every_style_of_scalar() -> None:
    text = "a: plain text\nb: 'it''s\n  here'\nc: \"tab\\tend\"\nd: >\n  folded\n  text\n"
    root = read_yaml(SourceText.of(text, "x.yaml"))
    for key, value, word in (
        ("a", "plain text", "text"),
        ("b", "it's here", "here"),
        ("d", "folded text\n", "text"),
    ):
        found = root.need(key, "x").text()
        assert found.value == value
        place = found.place(found.value.index(word))
        assert place.line_text[place.column - 1 :].startswith(word)
    assert root.need("c", "x").text().value == "tab\tend"


# ---------------------------------------------------------------- SMO


def smo(
    relations: str, *, statements: int = 1, cells: str = "[N] -> { [i] : 0 <= i < N }"
) -> ConflictProblem:
    count = relations.count("->") // 2
    return read_smo(
        "test.smo.input", f"# a comment\n{cells}\n\n{cells}\nj\n{statements}\n{count}\n{relations}"
    )


def test_conflicts_are_clipped_and_symmetric() -> None:
    problem = smo("0 0\n[N] -> { [i] -> [j] : i <= j <= i + 1 }\n")
    assert problem.pairs["A"].is_equal(
        isl.Map("[N] -> { A[i] -> A[j] : 0 <= i, j < N and (j = i + 1 or i = j + 1) }")
    )
    assert problem.context.is_equal(isl.Set("[N] -> { : N >= 1 }"))
    assert problem.array("A").dimensions == ("i",)


def test_no_relation_is_no_conflict() -> None:
    problem = smo("")
    assert problem.pairs["A"].is_empty()
    assert fold(problem)["A"].size.at({"N": 9}) == 1


def test_a_name_in_front_of_the_cells() -> None:
    assert smo("", cells="[N] -> { B[i] : 0 <= i < N }").array("B").rank == 1


def test_cells_that_several_statements_share_get_a_dimension() -> None:
    relations = "0 1\n[N] -> { [i] -> [j] : j = i }\n1 1\n[N] -> { [i] -> [j] : j = i + 1 }\n"
    problem = smo(relations, statements=2)
    expected = isl.Map("[N] -> { A[0, i] -> A[1, i] : 0 <= i < N; A[1, i] -> A[1, i + 1] : 0 <= i < N - 1 }")
    assert problem.pairs["A"].is_equal(expected.union(expected.reverse()))
    assert problem.array("A").dimensions == ("s", "i")
    assert problem.array("A").cells.is_equal(isl.Set("[N] -> { A[s, i] : 0 <= s <= 1 and 0 <= i < N }"))


def test_cells_that_a_dimension_tells_apart_stay_as_they_are() -> None:
    cells = "[N] -> { [s, i] : 0 <= i < N and 0 <= s <= 1 }"
    text = f"{cells}\n{cells}\nt j\n2\n1\n0 1\n[N] -> {{ [s, i] -> [t, j] : s = 0 and t = 1 and j = i }}\n"
    assert read_smo("test.smo.input", text).array("A").dimensions == ("s", "i")


def test_a_parameter_that_only_a_relation_has() -> None:
    problem = smo("0 0\n[N, K] -> { [i] -> [j] : i < j <= i + K }\n")
    assert problem.parameters == ("N", "K")
    (checked,) = check(
        problem.narrowed(isl.Set("[N, K] -> { : N >= 9 and 1 <= K <= 2 }")), "A.fold_storage(i, 3)"
    )
    assert checked.is_valid


def test_the_shipped_file_states_the_conflicts_of_the_blur() -> None:
    """At the borders a program has fewer conflicts than SMO's relations; the differences are the same."""
    stated = read("examples/blur.smo.input")
    assert isinstance(stated, ConflictProblem)
    program = read("examples/blur-interleaved.toml")
    assert isinstance(program, Program)
    found = analyse(program).conflicts("blurx")
    large = isl.Set("[N] -> { : N >= 5 }")
    pairs = (
        stated.pairs["A"].set_tuple_name(isl.dim_type.in_, "blurx").set_tuple_name(isl.dim_type.out, "blurx")
    )
    assert found.pairs.is_subset(pairs)
    assert found.differences.intersect_params(large).is_equal(pairs.deltas().intersect_params(large))


# ---------------------------------------------------------------- parts of a tree in any order

_KILLS = """
context: '[n] -> { : n >= 1 }'
schedule: '{ domain: "[n] -> { K[]; L[]; S[i] : 0 <= i < n; T[i] : 0 <= i < n }", child: { set: [
  { filter: "[n] -> { K[]; L[] }", child: { set: [ { filter: "{ K[] }" }, { filter: "{ L[] }" } ] } },
  { filter: "[n] -> { S[i]; T[i] }", child: { schedule: "[n] -> L_0[{ S[i] -> [(i)]; T[i] -> [(i)] }]", child:
  { sequence: [ { filter: "[n] -> { S[i] }" }, { filter: "[n] -> { T[i] }" } ] } } } ] } }'
arrays:
- extent: '[n] -> { a[x] : 0 <= x < n }'
  declared: 1
- extent: '[n] -> { b[x] : 0 <= x < n }'
statements:
"""
_KILL = """
- domain: '{ %s[] }'
  body:
    type: expression
    expr:
      type: op
      operation: kill
      arguments:
      - type: access
        killed: '[n] -> { %s[] -> a[x] : 0 <= x < n }'
        index: '[n] -> { %s[] -> a[] }'
        depth: 1
        reference: __pet_ref_%s
        kill: 1
"""
_COPY = """
- domain: '[n] -> { %s[i] : 0 <= i < n }'
  body:
    type: expression
    expr:
      type: op
      operation: =
      arguments:
      - type: access
        index: '[n] -> { %s[i] -> %s[(i)] }'
        reference: __pet_ref_%s_0
        read: 0
        write: 1
      - type: access
        index: '[n] -> { %s[i] -> %s[(i)] }'
        reference: __pet_ref_%s_1
        read: 1
        write: 0
"""


def _set_of_kills() -> str:
    kills = "".join(_KILL % ((name,) * 4) for name in "KL")
    return _KILLS + kills + _COPY % (*"SSaSSbS",) + _COPY % (*"TTbTTaT",)


def test_kills_of_local_variables_may_stand_in_a_set(tmp_path: Path) -> None:
    file = tmp_path / "local.scop"
    file.write_text(_set_of_kills())
    program = read(file)
    assert isinstance(program, Program)
    assert [statement.name for statement in program.statements] == ["S", "T"]
    times = isl.UnionMap("[n] -> { S[i] -> [1, i, 0] : 0 <= i < n; T[i] -> [1, i, 1] : 0 <= i < n }")
    assert program.schedule.is_equal(times.intersect_params(isl.Set("[n] -> { : n >= 1 }")))
    assert fold(program)["a"].size.is_constant


def test_statements_in_any_order_are_refused() -> None:
    text = _set_of_kills().replace("{ sequence: [ {", "{ set: [ {")
    with pytest.raises(InputError, match="in any order"):
        read_pet("any.scop", text)
