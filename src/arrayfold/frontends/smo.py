"""Input files of the storage optimizer SMO (`.smo.input`) -> ConflictProblem.

One item per line, in this order; empty lines and those that begin with `#` are ignored [BBC16]:

    [N0] -> { [x0, x1] : ... }               the cells of the array
    [N0] -> { [y0, y1] : ... }               the same cells, as the other side of a conflict
    y0 y1                                    the names on that side
    1                                        how many statements write cells
    2                                        how many relations follow
    0 0                                      whose cells the next relation is about: from, to
    [N0] -> { [x0, x1] -> [y0, y1] : ... }   conflicting cells
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, fresh_name, is_bounded, maps_of, parameter_names, tuple_name
from arrayfold.exact.isl_text import read_isl
from arrayfold.frontends.toml.parts import counted
from arrayfold.program.model import Array, ConflictProblem

_ARRAY = "A"
_STATEMENT = "s"


@dataclass(frozen=True, eq=False)
class _Relation:
    """Conflicts between cells that two statements write.

    pairs  { A[x] -> A[y] }
    """

    source: int
    target: int
    pairs: isl.Map


def read_smo(file: str, text: str) -> ConflictProblem:
    """The conflicts that an input file of SMO states, made symmetric and free of the zero difference.

    The context is that the array has a cell. The cells of several statements are one array, which SMO's
    own files tell apart by a dimension; where none does, the statement becomes the first dimension.
    """
    lines = _Lines(file, text)
    space = _cells(lines, "the cells of the array")
    other = _cells(lines, "the cells on the other side", space.dim(isl.dim_type.set))
    _check_names(lines, space.dim(isl.dim_type.set))
    statements = lines.number("the number of statements", 1)
    count = lines.number("the number of conflict relations", 0)
    name = tuple_name(space) or _ARRAY
    space = space.set_tuple_name(name).align_params(other.get_space())
    other = other.set_tuple_name(name).align_params(space.get_space())
    relations = [_relation(lines, statements, space, other) for _ in range(count)]
    lines.finish(count)
    for relation in relations:
        space = space.align_params(relation.pairs.get_space())
    cells = coalesced(space.union(other))
    if statements > 1 and not _are_apart(relations):
        cells = _tagged(cells, name, statements)
        relations = [_tagged_relation(relation, name) for relation in relations]
    pairs = isl.Map.empty(cells.get_space().map_from_set())
    for relation in relations:
        pairs = pairs.union(relation.pairs).union(relation.pairs.reverse())
    pairs = coalesced(pairs.subtract(isl.Map.identity(pairs.get_space())))
    context = coalesced(cells.params())
    array = Array(name, _dimension_names(cells), cells.align_params(context.get_space()))
    return ConflictProblem(file, context, (array,), {name: pairs.align_params(context.get_space())}, {})


class _Lines:
    """The lines that say something, one after the other."""

    def __init__(self, file: str, text: str) -> None:
        self.whole = SourceText.of(text, file)
        self.lines = [
            self.whole.slice(match.start(), match.end())
            for match in re.finditer(r"[^\s#][^\n]*", re.sub(r"(?m)^[ \t]*#.*$", _blank, text))
        ]
        self.position = 0

    def next(self, what: str) -> SourceText:
        """The next line, which must be there."""
        if self.position == len(self.lines):
            end = len(self.whole.value.rstrip())
            raise self.whole.error(f"the file ends here; expected {what}", end)
        self.position += 1
        return self.lines[self.position - 1]

    def number(self, what: str, least: int) -> int:
        """The next line as a number."""
        line = self.next(what)
        if not re.fullmatch(r"\d{1,6}\s*", line.value) or int(line.value) < least:
            raise line.error(f"expected {what}, a whole number from {least} up, found {line.value.strip()!r}")
        return int(line.value)

    def finish(self, count: int) -> None:
        """Raise if anything is left."""
        if self.position < len(self.lines):
            line = self.lines[self.position]
            hint = "Their number stands above the first one."
            raise line.error(f"unexpected text after {counted(count, 'conflict relation')}", 0, hint)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _cells(lines: _Lines, what: str, rank: int | None = None) -> isl.Set:
    line = lines.next(what)
    cells = read_isl(isl.Set, line)
    if cells.is_params():
        raise line.error(f"expected {what}, such as [N] -> {{ [x0, x1] : 0 <= x0, x1 < N }}", line.find("{"))
    found = cells.dim(isl.dim_type.set)
    if rank is not None and found != rank:
        raise line.error(f"{what} have {counted(found, 'dimension')}, the array has {rank}", line.find("{"))
    if not is_bounded(cells):
        raise line.error(f"{what} are not finitely many", line.find("{"))
    if cells.is_empty():
        raise line.error("the array has no cell", line.find("{"))
    return cells


def _check_names(lines: _Lines, rank: int) -> None:
    line = lines.next("a name for each index on the other side")
    names = line.value.split()
    if len(names) != rank or not all(re.fullmatch(r"[A-Za-z_]\w*'*", name) for name in names):
        message = f"expected {counted(rank, 'name')} for the other side, such as y0 y1"
        raise line.error(f"{message}, found {line.value.strip()!r}")


def _relation(lines: _Lines, statements: int, space: isl.Set, other: isl.Set) -> _Relation:
    """The next two lines; the relation is clipped to the cells."""
    line = lines.next("the numbers of two statements")
    numbers = line.value.split()
    if len(numbers) != 2 or not all(re.fullmatch(r"\d{1,6}", number) for number in numbers):
        raise line.error(f"expected the numbers of two statements, such as 0 0, found {line.value.strip()!r}")
    for number in numbers:
        if int(number) >= statements:
            message = f"there is no statement {number}: there are {statements}, counted from 0"
            raise line.error(message, line.find(rf"\b{number}\b"))
    text = lines.next("a conflict relation")
    found = maps_of(read_isl(isl.UnionMap, text))
    rank = space.dim(isl.dim_type.set)
    for part in found:
        if {part.dim(isl.dim_type.in_), part.dim(isl.dim_type.out)} != {rank}:
            message = f"a conflict relates cells with {counted(rank, 'dimension')} each"
            raise text.error(message, text.find(r"\{"))
    name = tuple_name(space)
    pairs = isl.Map.empty(space.get_space().map_from_set())
    for part in found:
        for side in (isl.dim_type.in_, isl.dim_type.out):
            part = part.set_tuple_name(side, str(name))
        pairs = pairs.union(part)
    return _Relation(int(numbers[0]), int(numbers[1]), pairs.intersect_domain(space).intersect_range(other))


def _are_apart(relations: Sequence[_Relation]) -> bool:
    """Whether the cells that different statements write are different cells."""
    written: dict[int, isl.Set] = {}
    for relation in relations:
        ends = ((relation.source, relation.pairs.domain()), (relation.target, relation.pairs.range()))
        for statement, cells in ends:
            written[statement] = written[statement].union(cells) if statement in written else cells
    return all(one.is_disjoint(other) for one, other in combinations(written.values(), 2))


def _tagged(cells: isl.Set, name: str, statements: int) -> isl.Set:
    """{ A[s, x] }: the cells of every statement."""
    many = cells.insert_dims(isl.dim_type.set, 0, 1).set_tuple_name(name)
    taken = [*parameter_names(cells), *_dimension_names(cells)]
    many = many.set_dim_name(isl.dim_type.set, 0, fresh_name(_STATEMENT, taken))
    many = many.lower_bound_val(isl.dim_type.set, 0, isl.Val(0))
    return many.upper_bound_val(isl.dim_type.set, 0, isl.Val(statements - 1))


def _tagged_relation(relation: _Relation, name: str) -> _Relation:
    pairs = relation.pairs
    for side, statement in ((isl.dim_type.in_, relation.source), (isl.dim_type.out, relation.target)):
        pairs = pairs.insert_dims(side, 0, 1).set_tuple_name(side, name)
        pairs = pairs.fix_val(side, 0, isl.Val(statement))
    return replace(relation, pairs=pairs)


def _dimension_names(cells: isl.Set) -> tuple[str, ...]:
    names = [cells.get_dim_name(isl.dim_type.set, k) for k in range(cells.dim(isl.dim_type.set))]
    return tuple(name or fresh_name(f"i{k}", parameter_names(cells)) for k, name in enumerate(names))
