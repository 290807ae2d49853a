"""The writes whose values a read may see, beside plain enumeration; isl loses some of them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import islpy as isl
import pytest

from arrayfold import Program, fold, read
from arrayfold.exact.isl import maps_of, points
from arrayfold.order.last_sources import last_sources

WRITES = (
    "{ S2[i] -> u[o] : 0 <= i <= 5 and (o - i) mod 4 = 0; "
    "S4[i] -> u[o] : 0 <= i <= 1 and (2*i + o) mod 4 = 0 }"
)
READS = "{ S3[i] -> u[o] : 2 <= i <= 5 and i - 1 <= 2*o <= i }"
TIMES = "{ S2[i] -> [i, 2, 0]; S4[i] -> [i, 3, 1]; S3[i] -> [i, 3, 0] }"

Instance = tuple[str, tuple[int, ...]]


def listed(relation: isl.UnionMap) -> set[tuple[Instance, tuple[int, ...]]]:
    found: set[tuple[Instance, tuple[int, ...]]] = set()
    for one in maps_of(relation):
        name = one.get_tuple_name(isl.dim_type.in_)
        depth = one.dim(isl.dim_type.in_)
        for point in points(one.wrap().flatten()):
            found.add(((name, point[:depth]), point[depth:]))
    return found


def by_enumeration(
    sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, schedule: isl.UnionMap
) -> set[tuple[Instance, Instance, tuple[int, ...]]]:
    """(write, read, cell) for each write that no sure write follows before the read."""
    times = dict(listed(schedule))
    sure = listed(must)
    writes = sure | listed(may)
    found: set[tuple[Instance, Instance, tuple[int, ...]]] = set()
    for reader, cell in listed(sinks):
        before = [one for one, other in writes if other == cell and times[one] < times[reader]]
        last = max((times[one] for one in before if (one, cell) in sure), default=())
        found |= {(one, reader, cell) for one in before if times[one] >= last}
    return found


def found_by_name(flows: isl.UnionMap) -> set[tuple[Instance, Instance, tuple[int, ...]]]:
    found: set[tuple[Instance, Instance, tuple[int, ...]]] = set()
    for one in maps_of(flows):
        writer = one.get_tuple_name(isl.dim_type.in_)
        depth = one.dim(isl.dim_type.in_)
        inner = one.range().unwrap()
        reader, width = inner.get_tuple_name(isl.dim_type.in_), inner.dim(isl.dim_type.in_)
        for point in points(one.wrap().flatten()):
            read = point[depth : depth + width]
            found.add(((writer, point[:depth]), (reader, read), point[depth + width :]))
    return found


def test_no_source_is_lost_where_subscripts_have_strides() -> None:
    must, sinks, schedule = isl.UnionMap(WRITES), isl.UnionMap(READS), isl.UnionMap(TIMES)
    must = must.intersect_range(isl.UnionSet("{ u[o] : 0 <= o <= 10 }"))
    schedule = schedule.intersect_domain(must.union(sinks).domain())
    none = must.subtract(must)
    flows = found_by_name(last_sources(sinks, must, none, schedule))
    assert flows == by_enumeration(sinks, must, none, schedule)
    assert (("S2", (1,)), ("S3", (2,)), (1,)) in flows


def test_no_source_is_lost_where_nothing_has_strides() -> None:
    must = isl.UnionMap("{ S1[1] -> u[0]; S2[i] -> u[3] : 0 <= i <= 5; S0[0] -> u[0] }")
    sinks = isl.UnionMap("{ R[i] -> u[0] : 0 < i <= 4 }")
    times = "{ S2[i] -> [0, i, 3]; S0[i] -> [0, i, 5]; S1[i] -> [0, i, 1]; R[i] -> [0, i, 4] }"
    schedule = isl.UnionMap(times).intersect_domain(must.union(sinks).domain())
    none = must.subtract(must)
    flows = found_by_name(last_sources(sinks, must, none, schedule))
    assert flows == by_enumeration(sinks, must, none, schedule)
    assert len(flows) == 4


@pytest.mark.parametrize("seed", range(60))
def test_sources_are_those_of_enumeration(seed: int) -> None:
    chance = random.Random(seed)
    box = isl.UnionSet("{ u[o] : 0 <= o <= 7 }")

    def accesses(name: str, *, is_strided: bool) -> isl.UnionMap:
        step, shift = chance.randint(-2, 2), chance.randint(-1, 3)
        if is_strided:
            rest = f"(o - {step}*i - {shift}) mod {chance.randint(2, 4)} = 0"
        else:
            low = f"{step}*i + {shift}"
            rest = f"{low} <= {chance.randint(1, 2)}*o <= {low} + {chance.randint(0, 2)}"
        first = chance.randint(0, 2)
        found = isl.UnionMap(
            f"{{ {name}[i] -> u[o] : {first} <= i <= {first + chance.randint(1, 4)} and {rest} }}"
        )
        return found.intersect_range(box)

    names = ["S0", "S1", "S2"]
    must, may = (isl.UnionMap("{ }") for _ in range(2))
    for name in names:
        if chance.random() < 0.8:
            must = must.union(accesses(name, is_strided=chance.random() < 0.7))
        else:
            may = may.union(accesses(name, is_strided=chance.random() < 0.7))
    sinks = accesses("R", is_strided=chance.random() < 0.4)
    places = chance.sample(list(itertools.product(range(2), range(4))), 4)
    pieces = [
        f"{name}[i] -> [{a}, i, {b}]" if chance.random() < 0.3 else f"{name}[i] -> [0, i, {4 * a + b}]"
        for name, (a, b) in zip([*names, "R"], places, strict=True)
    ]
    schedule = isl.UnionMap(f"{{ {'; '.join(pieces)} }}")
    schedule = schedule.intersect_domain(must.union(may).union(sinks).domain())
    may = may.subtract(must)
    expected = by_enumeration(sinks, must, may, schedule)
    assert found_by_name(last_sources(sinks, must, may, schedule)) == expected


def test_a_value_whose_source_isl_loses_keeps_its_cell(tmp_path: Path) -> None:
    file = tmp_path / "strides.toml"
    file.write_text(
        'domain = "{ S2[i] : 0 <= i <= 5; S4[i] : 0 <= i <= 1; S3[i] : 2 <= i <= 5 }"\n'
        'write = """{ S2[i] -> u[o] : (o - i) mod 4 = 0 and 0 <= o <= 10;'
        ' S4[i] -> u[o] : (2*i + o) mod 4 = 0 and 0 <= o <= 10; S3[i] -> out[i] }"""\n'
        'read = "{ S3[i] -> u[o] : i - 1 <= 2*o <= i }"\n'
        f'schedule = "{TIMES}"\n'
        'live_out = "{ out[i] : 2 <= i <= 5 }"\n'
        'temporary = ["u"]\n'
    )
    program = read(file)
    assert isinstance(program, Program)
    # u[1] waits for S3 while S2 writes u[10].
    mapping = fold(program)["u"].mapping
    assert mapping.address((1,), {}) != mapping.address((10,), {})
