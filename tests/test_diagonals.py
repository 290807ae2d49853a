"""Reductions that are exact in any order, and tables of dynamic programming along their diagonals."""

from __future__ import annotations

import pytest

from arrayfold.base.errors import InputError
from arrayfold.codegen import write_c
from arrayfold.fold.arrays import fold
from arrayfold.frontends.c.read import read_c
from arrayfold.order.reductions import exact_updates
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.passes.reorder import Reorder
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code

REDUCTION = """
{kind} f(int n, const {kind} a[restrict n], {kind} out[restrict n])
{{
  {kind} r = 0;
#pragma scop
  for (int i = 0; i < n; i++) {{
    {update}
  }}
#pragma endscop
  return r;
}}
"""

TABLE = """
#include <stdlib.h>
int f(int n, int m, const int x[restrict n], const int y[restrict m])
{
  int (*s)[m] = malloc(sizeof(int[n][m]));
  int best = 0;
#pragma scop
  for (int i = 0; i < n; i++) s[i][0] = x[i];
  for (int j = 1; j < m; j++) s[0][j] = y[j];
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++) {
      s[i][j] = (s[i - 1][j] > s[i][j - 1] ? s[i - 1][j] : s[i][j - 1]) + x[i] * y[j];
      if (s[i][j] > best) best = s[i][j];
    }
#pragma endscop
  free(s);
  return best;
}
"""


def program_of(text: str) -> Program:
    (program,) = read_c("f.c", text.encode())
    return program


def reduction_of(kind: str, update: str) -> Program:
    return program_of(REDUCTION.format(kind=kind, update=update))


@pytest.mark.parametrize(
    ("kind", "update", "operation"),
    [
        ("int", "if (a[i] > r) r = a[i];", "max"),
        ("int", "if (r > a[i]) r = a[i];", "min"),
        ("int", "r = r > a[i] ? r : a[i];", "max"),
        ("int", "r = a[i] <= r ? a[i] : r;", "min"),
        ("int", "r = a[i] <= r ? r : a[i];", "max"),
        ("int", "r |= a[i];", "|"),
        ("unsigned", "r = a[i] + r;", "+"),
        ("unsigned", "r *= a[i];", "*"),
        # Another order of signed sums may overflow; floating-point numbers round, and may be no numbers.
        ("int", "r += a[i];", None),
        ("unsigned char", "r += a[i];", None),
        ("float", "r += a[i];", None),
        ("float", "if (a[i] > r) r = a[i];", None),
        # These are no reductions.
        ("unsigned", "r = a[i] - r;", None),
        ("unsigned char", "r |= a[i];", None),
        ("int", "r |= a[i] + r;", None),
        ("int", "if (a[i] > r) r = a[i] + 1;", None),
        ("int", "if (a[i] > r) { int a = 3; r = a; }", None),
        ("int", "if (a[i] > r) { r = a[i]; out[0] = i; }", None),
        ("_Bool", "r ^= 2;", None),
    ],
)
def test_updates_that_may_change_places(kind: str, update: str, operation: str | None) -> None:
    found = exact_updates(with_guard_reads(reduction_of(kind, update)))
    assert [one.operation for one in found] == ([] if operation is None else [operation])


def test_who_sees_the_values_in_between_keeps_their_order() -> None:
    backwards = Reorder(schedule="S_0[i] -> [-i]")
    assert not backwards.apply(reduction_of("int", "r |= a[i];")).is_as_written
    with pytest.raises(InputError, match="the order runs"):
        backwards.apply(reduction_of("int", "r += a[i];"))
    seen = reduction_of("int", "r |= a[i]; out[i] = r;")
    with pytest.raises(InputError, match="the order runs"):
        Reorder(schedule="S_0[i] -> [-i, 0]; S_1[i] -> [-i, 1]").apply(seen)


def test_exchanged_updates_run_one_after_the_other() -> None:
    program = reduction_of("int", "r |= a[i];")
    assert not Reorder(schedule="S_0[i] -> [-i]", parallel=True).apply(program).parallel


def test_a_table_runs_along_its_diagonals_and_has_two_of_them() -> None:
    result = fold(program_of(TABLE), params={"n": 500, "m": 500}, order="auto")
    assert isinstance(result.problem, Program)
    assert result.problem.chosen is not None
    assert result.problem.chosen.name == "diagonals"
    assert result.problem.chosen.options[-2:] == ("--favor", "speed")
    code = result.to_c()
    assert "s[i, j] -> [(i + j) mod 2, j mod m]: 2*m cells" in code
    assert validate_code([result.region()], code.encode(), "f.c").is_equal


@pytest.mark.parametrize("update", ["if (a[i] > r) r = a[i];", "r = r < a[i] ? r : a[i];", "r ^= a[i];"])
def test_updates_in_another_order_pass_the_check(update: str) -> None:
    program = reduction_of("int", update)
    name = "S_1" if update.startswith("if") else "S_0"
    times = "; ".join(f"S_{k}[i] -> [-i, {k}]" for k in range(2 if name == "S_1" else 1))
    region = fold(Reorder(schedule=times).apply(program)).region()
    found = validate_code([region], write_c([region]), "f.c")
    assert found.is_equal
    assert any(found.compared.values())
