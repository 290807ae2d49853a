from __future__ import annotations

import itertools

import islpy as isl
import pytest

from arrayfold.base.errors import InputError, NotAffine
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_parse import read_formula as f
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.arrays import fold
from arrayfold.frontends import read
from arrayfold.mapping.modular import ModularMapping, RelationMapping
from arrayfold.mapping.parse import read_mappings
from support.reference import is_valid

BLUR = read("examples/blur-interleaved.toml")


def test_trivial_rows_are_dropped() -> None:
    mapping = ModularMapping.of("A", ("i", "j"), [[1, 0], [0, 1]], [f("1"), f("N")])
    assert str(mapping) == "A[i, j] -> [j mod N]"
    assert mapping.size == f("N")


def test_a_single_cell() -> None:
    mapping = ModularMapping.of("A", ("i",), [[1]], [f("1")])
    assert (str(mapping), mapping.size, mapping.address((7,), {})) == ("A[i] -> []", f("1"), ())


@pytest.mark.parametrize(
    ("row", "offset", "text"),
    [
        (["-1", "1"], "0", "(i - t) mod 5"),
        (["-1", "0"], "0", "(-t) mod 5"),
        (["0", "0"], "2", "2 mod 5"),
        (["2", "-3"], "-1", "(2*t - 3*i - 1) mod 5"),
        (["N", "1"], "0", "(N*t + i) mod 5"),
        (["N + 1", "0"], "N", "((N + 1)*t + N) mod 5"),
    ],
)
def test_printing(row: list[str], offset: str, text: str) -> None:
    mapping = ModularMapping.of("A", ("t", "i"), [[f(entry) for entry in row]], [f("5")], [f(offset)])
    assert str(mapping) == f"A[t, i] -> [{text}]"
    again = read_mappings(str(mapping).replace("A[", "blurx["), BLUR)[0]
    assert isinstance(again, ModularMapping)
    assert (again.matrix, again.offset, again.moduli) == (mapping.matrix, mapping.offset, mapping.moduli)


def test_address_is_never_negative() -> None:
    mapping = ModularMapping.of("A", ("t", "i"), [[-1, 1]], [f("2*N - 1")])
    assert mapping.address((3, 0), {"N": 4}) == (4,)


def test_isl_form_agrees_with_evaluation() -> None:
    mapping = ModularMapping.of("A", ("t", "i"), [[-1, 2], [1, 0]], [f("5"), f("2")], [f("1"), f("0")])
    relation = mapping.to_isl()
    for cell in itertools.product(range(-3, 4), repeat=2):
        address = mapping.address(cell, {})
        text = f"{{ A[{cell[0]}, {cell[1]}] -> [{address[0]}, {address[1]}] }}"
        assert isl.Map(text).is_subset(relation)
    assert relation.is_single_valued()


def test_parametric_moduli_have_no_isl_form_until_fixed() -> None:
    mapping = ModularMapping.of("A", ("i",), [[1]], [f("N")])
    with pytest.raises(NotAffine):
        mapping.to_isl()
    assert mapping.at({"N": 3}).to_isl().is_equal(isl.Map("{ A[i] -> [i mod 3] }"))


def test_linearised_form_depends_on_the_order_of_rows() -> None:
    """DIY15 Fig. 1: `x - y + (2N-1) y` is valid, `2x - y mod (4N-2)` is not (errata of DIY15, 6)."""
    size = 5
    cells = [c for c in itertools.product(range(size), repeat=2) if max(c) >= size - 2]
    pairs = list(itertools.permutations(cells, 2))
    rows: list[tuple[tuple[int, int], Formula]] = [((1, -1), f("2*N - 1")), ((0, 1), f("2"))]
    right = ModularMapping.of("A", ("x", "y"), [r for r, _ in rows], [b for _, b in rows])
    wrong = ModularMapping.of("A", ("x", "y"), [r for r, _ in rows[::-1]], [b for _, b in rows[::-1]])
    assert str(right.linearised()) == "A[x, y] -> [(x + (2*N - 2)*y) mod (4*N - 2)]"
    assert str(wrong.linearised()) == "A[x, y] -> [(2*x - y) mod (4*N - 2)]"
    values = {"N": size}
    for mapping in (right, wrong, right.linearised()):
        assert is_valid(pairs, lambda cell, m=mapping: m.address(cell, values))
    assert not is_valid(pairs, lambda cell: wrong.linearised().address(cell, values))


def test_linearised_successive_modulo_is_valid() -> None:
    for name in ("diamond-tile", "jacobi-1d", "lbm-d2q9", "parallelogram-tile"):
        result = fold(read(f"examples/{name}.toml"), method="successive-modulo")["A"]
        (parameter,) = result.size.names()
        params = {parameter: 4}
        line = result.mapping.linearised()
        assert len(line.moduli) == 1
        assert line.size == result.size
        from test_paper_programs import pairs_at

        pairs = pairs_at(Analysis.of(read(f"examples/{name}.toml")).conflicts("A"), params)
        assert is_valid(pairs, lambda cell, m=line, p=params: m.address(cell, p))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("blurx[y, x] -> [y mod 3, x]", ["y mod 3", "x mod N"]),
        ("{ blurx[a, b] -> [a mod 3, b] }", ["y mod 3", "x mod N"]),
        ("[N] -> { blurx[a, b] -> folded[a mod 3, b] }", ["y mod 3", "x mod N"]),
        ("blurx[y % 3][x]", ["y mod 3", "x mod N"]),
        ("blurx[r % 3][c]", ["y mod 3", "x mod N"]),
        ("blurx[(2*x - y) % (2*N + 1)]", ["(2*x - y) mod (2*N + 1)"]),
        ("blurx[y, x] -> [x - y]", ["(x - y) mod (2*N - 1)"]),
        ("blurx[y, x] -> []", []),
    ],
)
def test_forms_in_which_people_write_mappings(text: str, rows: list[str]) -> None:
    (mapping,) = read_mappings(text, BLUR)
    assert str(mapping) == f"blurx[y, x] -> [{', '.join(rows)}]"


def test_several_arrays_in_one_text() -> None:
    found = read_mappings("{ blurx[y, x] -> [y mod 3, x]; out[y, x] -> [y, x] }", BLUR)
    assert [mapping.array for mapping in found] == ["blurx", "out"]


def test_other_relations_are_kept_as_they_are() -> None:
    (mapping,) = read_mappings("blurx[y, x] -> [floor(y/2), x, y mod 2]", BLUR)
    assert isinstance(mapping, RelationMapping)


@pytest.mark.parametrize(
    "text",
    [
        "blurx[(p + q) % 3]",
        "blurx[y, x] -> [y mod 3, x",
        "blurx[y, x] -> [z]",
        "blurx[y % 3][x] and more",
        "{ blurx[y, x] -> [y]",
        "-> [y]",
        "blurx[y, x] -> [N*y]",
    ],
)
def test_unclear_mappings_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_mappings(text, BLUR)
