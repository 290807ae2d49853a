"""Structures in C: fields as sizes, as data and as arrays; what may alias; what stays and why."""

from __future__ import annotations

import pytest

from arrayfold import fold
from arrayfold.base.errors import InputError
from arrayfold.codegen.write import write_c
from arrayfold.frontends.c.read import read_c
from arrayfold.program.model import Program
from arrayfold.validation.subjects import validate_code

HEAD = """
struct size { int n; short m[3]; };
struct view { struct size size; %s *data; };
union both { int n; float f; };
struct bits { unsigned n : 4; int k; };
struct pair { float a, b; };
struct list { struct list *next; int n; };
void g(void);
"""


def program_of(parameters: str, body: str, element: str = "float") -> Program:
    text = HEAD % element + f"void f({parameters})\n{{\n{body}\n}}\n"
    (program,) = read_c("f.c", text.encode())
    return program


def region(body: str, before: str = "", after: str = "") -> str:
    return f"{before}\n#pragma scop\n{body}\n#pragma endscop\n{after}"


def kept(program: Program, array: str) -> str | None:
    return program.kept[array].reason if array in program.kept else None


def assumed(program: Program) -> list[str]:
    return [one.text for one in program.assumptions]


def test_sizes_are_parameters() -> None:
    body = region("for (int i = v->size.m[1]; i < v->size.n; i++) v->data[i] = s.n + 1;")
    program = program_of("struct view *v, struct size s", body)
    assert set(program.parameters) == {"v_size_n", "v_size_m_1"}
    assert kept(program, "v_data") == "a part of v"


@pytest.mark.parametrize(
    ("element", "parameters", "is_said"),
    [
        ("float", "struct view *v, float *x", False),
        ("int", "struct view *v, int *x", True),
        ("unsigned", "struct view *v, unsigned *x", True),
        ("unsigned char", "struct view *v, unsigned char *x", True),
        ("int", "struct view *v, int *restrict x", False),
        ("int", "struct view *restrict v, int *x", False),
    ],
)
def test_what_may_write_a_size_is_said(element: str, parameters: str, is_said: bool) -> None:
    program = program_of(
        parameters, region("for (int i = 0; i < v->size.n; i++) x[i] = v->data[i];"), element
    )
    said = [text for text in assumed(program) if text.startswith("writes to x change none of v->size.n")]
    assert bool(said) == is_said
    assert not [text for text in assumed(program.without_aliases()) if "writes" in text]


def test_the_same_field_of_another_structure() -> None:
    body = region("o->n = 3; o->m[0] = 4; for (int i = 0; i < v->n; i++) x[i] = 0;")
    program = program_of("struct size *v, struct size *o, float *x", body)
    assert assumed(program) == ["writes to o->n change none of v->n"]


@pytest.mark.parametrize(
    "body",
    [
        "v->n++; for (int i = 0; i < v->n; i++) x[i] = 0;",
        "for (int i = 0; i < v->n; i++) { x[i] = 0; g(); }",
        "for (int i = 0; i < u.n; i++) x[i] = 0;",
        "for (int i = 0; i < b.n; i++) x[i] = 0;",
    ],
)
def test_what_is_no_size(body: str) -> None:
    program = program_of("struct size *v, union both u, struct bits b, float x[restrict 100]", region(body))
    assert "v_n" not in program.parameters
    assert program.source is not None
    assert program.source.uncertain is not None


def test_pointers_that_move_lead_to_no_sizes() -> None:
    body = region("for (int i = 0; i < l->n; i++) { x[i] = 0; l = l->next; }")
    with pytest.raises(InputError, match="depends on data"):
        program_of("struct list *l, float x[restrict 100]", body)


def test_a_temporary_of_structures_folds_and_its_declaration_goes() -> None:
    body = region(
        "for (int i = 0; i < n; i++) { t[i].a = x[i]; t[i].b = 2; x[i] = t[i].a + t[i].b; }",
        "struct pair t[n], other[n];",
        "other[0].a = 1; x[0] = other[0].a;",
    )
    program = program_of("int n, float x[restrict n]", body)
    result = fold(program)
    assert [str(result[name].size) for name in ("t_a", "t_b")] == ["1", "1"]
    folded = [result.region(style="readable")]
    code = write_c(folded)
    assert b"struct pair other[n];" in code
    assert b"float t_a;" in code
    assert str(validate_code(folded, code, "f.c")).startswith("checked")


@pytest.mark.parametrize(
    ("inside", "after", "reason"),
    [
        ("t[i].b = t[i].b;", "x[0] = t[0].b;", "a part of t"),
        ("s += t[i].a;", "t[0] = t[1];", "a part of t"),
    ],
)
def test_fields_that_stay(inside: str, after: str, reason: str) -> None:
    body = region(
        f"for (int i = 0; i < n; i++) {{ t[i].a = x[i]; {inside} x[i] = t[i].a; }}",
        "struct pair t[n]; float s = 0;",
        after,
    )
    reasons = kept(program_of("int n, float x[restrict n]", body), "t_a")
    assert reasons is not None
    assert reasons.startswith(reason)


def test_whole_elements_and_fields_of_one_array() -> None:
    body = region("for (int i = 0; i < n; i++) { t[i] = p[i]; x[i] = t[i].a; }", "struct pair t[n];")
    program = program_of("int n, struct pair *restrict p, float x[restrict n]", body)
    assert kept(program, "t") is None


def test_rows_behind_pointers_are_read_only() -> None:
    text = "for (int i = 0; i < 4; i++) for (int j = 0; j < n; j++) %s;"
    parameters = "int n, struct view p[restrict 4], float x[restrict 4][n]"
    program = program_of(parameters, region(text % "x[i][j] = p[i].data[j]"))
    assert kept(program, "p_data") == "a part of p"
    with pytest.raises(InputError, match="what this is a part of"):
        program_of(parameters, region(text % "p[i].data[j] = x[i][j]"))


def test_declarations_inside_name_the_same_arrays() -> None:
    body = region(
        "for (int i = 0; i < s->n; i++) t[i] = x[i]; "
        "for (int i = 0; i < s->n; i++) { const float v = t[i]; x[i] = v; }",
        "float t[s->n];",
    )
    program = program_of("struct size *s, float x[restrict s->n]", body)
    assert sorted(one.name for one in program.arrays) == ["t", "v", "x"]
