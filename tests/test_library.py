"""For authors of compilers: checked programs, subscripts as text, bounds of conflicts alone, one import."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import islpy as isl
import pytest

import arrayfold as af

SQUARE = isl.Set("[N] -> { A[y, x] : 0 <= y, x < N }")
MAPPINGS = [
    "A[y, x] -> [(N*y + x) mod (2*N + 1)]",
    "A[y, x] -> [y mod 3, x mod N]",
    "A[y, x] -> [(x - y) mod (2*N - 1), floor((x + 1)/2) mod 4]",
    "A[y, x] -> [(x - y - 7) mod max(N, 5)]",
    "A[y, x] -> [(y - x) mod N]",
    "A[y, x] -> []",
]
PROGRAM = af.Program.of(
    "square",
    [af.Statement.of("[N] -> { S[y, x] : 0 <= y, x < N }", writes=["{ S[y, x] -> A[y, x] }"])],
    schedule="{ S[y, x] -> [y, x] }",
    context="[N] -> { : N >= 2 }",
)
CELLS = SQUARE.intersect_params(PROGRAM.context)


def mapping_of(text: str) -> af.ModularMapping:
    (mapping,) = af.read_mappings(text, PROGRAM)
    assert isinstance(mapping, af.ModularMapping)
    return mapping


def linear(mapping: af.ModularMapping, cell: tuple[int, ...], n: int) -> list[int]:
    return list(mapping.address(cell, {"N": n})) or [0]


def test_c_subscripts_are_the_address(tmp_path: Path) -> None:
    """Also without the cells, where a coordinate may be negative."""
    rank = [max(1, len(mapping_of(text).moduli)) for text in MAPPINGS]
    lines: list[str] = []
    for text in MAPPINGS:
        mapping = mapping_of(text)
        for subscripts in (
            mapping.to_c(["i - 1", "j"]),
            mapping.to_c(["i - 1", "j"], CELLS.intersect_params(isl.Set("[N] -> { : N >= 1 }"))),
        ):
            parts = subscripts.removeprefix("[").removesuffix("]").split("][")
            is_safe = "1" if subscripts == mapping.to_c(["i - 1", "j"]) else "i >= 1 && j >= 0"
            lines.append(
                f"if ({is_safe}) " + "".join(f'printf("%lld ", (long long)({part}));' for part in parts)
            )
            lines[-1] = lines[-1].replace(") printf", ") { printf", 1) + ' } else printf("-"); puts("");'
    file = tmp_path / "addresses.c"
    file.write_text(
        "#include <stdio.h>\nint main(void) { for (int N = 2; N < 5; N++)\n"
        "for (int i = -2; i <= N; i++) for (int j = -2; j < N; j++) {\n" + "\n".join(lines) + "\n} }\n"
    )
    command = ["gcc", "-w", "-o", str(tmp_path / "addresses"), str(file)]
    subprocess.run(command, check=True)
    printed = subprocess.run([str(tmp_path / "addresses")], capture_output=True, text=True, check=True).stdout
    answers = iter(printed.splitlines())
    for n in range(2, 5):
        for i, j in itertools.product(range(-2, n + 1), range(-2, n)):
            for text, size in zip(MAPPINGS, rank, strict=True):
                expected = linear(mapping_of(text), (i - 1, j), n)
                assert len(expected) == size
                for answer in (next(answers), next(answers)):
                    assert answer == "-" or list(map(int, answer.split())) == expected, (text, n, i, j)


def test_cells_make_c_subscripts_simple() -> None:
    assert mapping_of(MAPPINGS[1]).to_c(["y", "x + 1"], CELLS) == "[y % 3][(x + 1)]"
    assert mapping_of(MAPPINGS[0]).to_c(["y", "x"], CELLS) == "[((long long)N * y + x) % (2LL * N + 1)]"
    with pytest.raises(af.InputError, match=r"dimensions \[y, x\], but 1 subscripts"):
        mapping_of(MAPPINGS[1]).to_c(["y"])


@pytest.mark.parametrize("text", MAPPINGS)
def test_python_subscripts_are_the_address(text: str) -> None:
    mapping = mapping_of(text)
    code = compile(mapping.to_python(["i - 1", "j"]), "subscripts", "eval")
    for n, i, j in itertools.product(range(2, 5), range(-3, 4), range(-3, 4)):
        assert eval(code, {"N": n, "i": i, "j": j}) == linear(mapping, (i - 1, j), n)


@pytest.mark.parametrize("text", [MAPPINGS[1], MAPPINGS[2], MAPPINGS[4], MAPPINGS[5]])
def test_relations_of_isl_are_the_address_on_all_cells(text: str) -> None:
    mapping = mapping_of(text)
    relation = mapping.to_isl(CELLS)
    assert relation.domain().is_equal(CELLS)
    assert relation.is_single_valued()
    for n in range(2, 5):
        for y, x in itertools.product(range(n), repeat=2):
            here = relation.intersect_params(isl.Set(f"[N] -> {{ : N = {n} }}"))
            address = ", ".join(map(str, mapping.address((y, x), {"N": n})))
            image = here.intersect_domain(isl.Set(f"{{ A[{y}, {x}] }}")).range()
            assert image.params().is_equal(isl.Set(f"[N] -> {{ : N = {n} }}"))
            assert image.is_subset(isl.Set(f"[N] -> {{ [{address}] }}"))


def test_what_no_affine_relation_says_is_refused() -> None:
    with pytest.raises(af.NotAffine, match="not affine for all parameter values"):
        mapping_of(MAPPINGS[0]).to_isl(CELLS)
    many = mapping_of("A[y, x] -> [(100*y + x) mod N]")
    with pytest.raises(af.NotAffine, match="more multiples of N"):
        many.to_isl(CELLS)


STAGE = af.Statement.of("[N] -> { S[y, x] : 0 <= y, x < N }", writes=["{ S[y, x] -> blurx[y, x] }"])
USE = af.Statement.of(
    "[N] -> { T[y, x] : 2 <= y < N and 0 <= x < N }",
    reads=["{ T[y, x] -> blurx[y', x] : y - 2 <= y' <= y }"],
    writes=["{ T[y, x] -> out[y, x] }"],
)
GOOD = {
    "context": "[N] -> { : N >= 3 }",
    "schedule": "{ S[y, x] -> [y, x, 0]; T[y, x] -> [y, x, 1] }",
    "live_out": "[N] -> { out[y, x] : 2 <= y < N and 0 <= x < N }",
}


def test_a_checked_program_is_that_of_a_problem_file() -> None:
    program = af.Program.of("blur", [STAGE, USE], **GOOD)
    assert [(array.name, array.dimensions) for array in program.arrays] == [
        ("blurx", ("y", "x")),
        ("out", ("y", "x")),
    ]
    written = af.read("examples/blur-interleaved.toml")
    assert str(af.fold(program)["blurx"]) == str(af.fold(written)["blurx"])
    again = af.read_problem("again", af.write_problem(program))
    assert af.fold(again)["blurx"].size == af.fold(program)["blurx"].size


def test_a_checked_program_takes_a_relation_as_its_order() -> None:
    order = GOOD | {"schedule": None, "happens_before": "{ S[y, x] -> T[y', x'] : y <= y' }"}
    program = af.Program.of("blur", [STAGE, USE], **order, dimensions={"out": ("row", "column")})
    assert program.schedule is None
    assert program.array("out").dimensions == ("row", "column")
    assert af.fold(program)["blurx"].proof


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": "{ S[y, x] -> [y, x, 0]; t[y, x] -> [y, x, 1] }"}, "'t'\n  Did you mean 'T'"),
        ({"schedule": "{ S[y] -> [y, 0]; T[y, x] -> [y, x] }"}, "gives S 1 iterators, but its domain has 2"),
        ({"schedule": "{ S[y, x] -> [y, x, 0] }"}, "does not say when T runs"),
        ({"schedule": "{ S[y, x] -> [y]; T[y, x] -> [y, x] }"}, "times differ in length"),
        ({"schedule": "{ S[y, x] -> [y, x }"}, "schedule:1:"),
        ({"schedule": None}, "the order is either a schedule or"),
        ({"live_out": "{ Out[0, 0] }"}, "'Out'\n  Did you mean 'out'"),
        ({"live_in": "{ out[0] }"}, "gives out 1 subscripts, but elsewhere it has 2"),
        ({"temporaries": ["blurX"]}, "'blurX'\n  Did you mean 'blurx'"),
        ({"dimensions": {"nothing": ("y", "x")}}, "'nothing'\n  The arrays are: blurx, out"),
        ({"dimensions": {"out": ("y", "y")}}, "as many different names"),
        ({"context": "{ S[i] : i > 2 }"}, "may mention only parameters"),
        ({"context": "[N] -> { : N > N }"}, "no parameter value satisfies"),
        ({"parallel": {7: "doall"}}, "there is no parallel 7"),
    ],
)
def test_what_is_misspelt_in_a_program_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(af.InputError) as error:
        af.Program.of("blur", [STAGE, USE], **{**GOOD, **change})  # pyright: ignore[reportArgumentType]
    assert message in str(error.value)


def test_what_is_misspelt_in_a_statement_is_named() -> None:
    with pytest.raises(af.InputError, match="'Q'"):
        af.Statement.of("{ S[i] : 0 <= i < 4 }", writes=["{ Q[i] -> A[i] }"])
    with pytest.raises(af.InputError, match="with a name"):
        af.Statement.of("{ [i] : 0 <= i < 4 }")
    with pytest.raises(af.InputError, match="not bounded"):
        af.Statement.of("{ S[i] : 0 <= i }")
    with pytest.raises(af.InputError, match="the array of an access has no name"):
        af.Access.of("{ S[i] -> [i] }", is_write=True)
    with pytest.raises(af.InputError, match="several pairs"):
        af.Access.of("{ S[i] -> A[i]; T[i] -> A[i] }", is_write=False)
    with pytest.raises(af.InputError, match="two statements S"):
        af.Program.of("twice", [STAGE, STAGE], schedule="{ S[y, x] -> [y, x] }")


def test_the_package_shows_its_public_names_only() -> None:
    assert dir(af) == sorted(af.__all__)
    assert {"Access", "Analysis", "read_mappings", "read_problem", "__version__"} <= set(dir(af))
    assert af.__version__.count(".") >= 1


def test_conflicts_alone_have_a_lower_bound() -> None:
    """Windows of cells that all conflict: 2N + 1 of the blur, and none where no window is one."""
    for file in ("examples/blur.smo.input", "examples/blur-differences.toml"):
        (folded,) = af.fold(af.read(file))
        assert str(folded.lower_bound.formula) == str(folded.size) == "2*N + 1"
        for n in (3, 4, 6):
            assert folded.lower_bound.at({"N": n}) == 2 * n + 1
    pentagon = af.read_problem(
        "pentagon", 'conflicts = "{ A[i] -> A[j] : 0 <= i, j < 5 and (j = i + 1 or (i = 4 and j = 0)) }"'
    )
    conflicts = af.Analysis.of(pentagon).conflicts("A")
    assert conflicts.moments is None
