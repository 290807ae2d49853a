"""The only home of islpy's quirks: parameters, points, bounds of parametric sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import TypeVar, cast

import islpy as isl

_MACHINE_WORD = 2**31
_MOST_STEPS = 100
_MOST_PIECES = 150
_GROUP = 100

# ---------------------------------------------------------------- spaces, parameters, points


def parameter_names(item: isl.Set | isl.Map | isl.UnionSet | isl.UnionMap) -> tuple[str, ...]:
    """The parameters of an isl object, in its order."""
    space = item.get_space()
    names = (space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param)))
    return tuple(name for name in names if name is not None)


def parameter_space(names: Sequence[str]) -> isl.Space:
    """The space of parameter sets `[names] -> { : }`."""
    return isl.Set(f"[{', '.join(names)}] -> {{ : }}").get_space()


def fresh_names(prefix: str, count: int, taken: Collection[str]) -> list[str]:
    """Names that are not taken, for indices in isl text.

    >>> fresh_names("d", 2, ["d0", "N"])
    ['d_0', 'd_1']
    """
    while any(f"{prefix}{k}" in taken for k in range(count)):
        prefix += "_"
    return [f"{prefix}{k}" for k in range(count)]


def fresh_name(name: str, taken: Collection[str]) -> str:
    """The name, or one like it where it is taken.

    >>> fresh_name("A", ["B"]), fresh_name("A", ["A"])
    ('A', 'A0')
    """
    return name if name not in taken else fresh_names(name, 1, taken)[0]


def fix_parameters(params: Mapping[str, int]) -> isl.Set:
    """The parameter set that holds these values only.

    >>> fix_parameters({"N": 3})
    Set("[N] -> {  : N = 3 }")
    """
    equations = " and ".join(f"{name} = {value}" for name, value in params.items()) or "true"
    return isl.Set(f"[{', '.join(params)}] -> {{ : {equations} }}")


def without_parameters(cells: isl.Set) -> isl.Set:
    """The points for any value of the parameters.

    >>> without_parameters(isl.Set("[N] -> { [i] : 0 <= i <= N and N <= 5 }"))
    Set("{ [i] : 0 <= i <= 5 }")
    """
    return cells.project_out(isl.dim_type.param, 0, cells.dim(isl.dim_type.param))


def at_sizes(cells: isl.Set, params: Mapping[str, int]) -> isl.Set:
    """The points at these values of all parameters, without them."""
    return without_parameters(cells.intersect_params(fix_parameters(params)))


def at_point(cells: isl.Set, values: Sequence[int]) -> isl.Set:
    """The points whose first coordinates have these values."""
    for k, value in enumerate(values):
        cells = cells.fix_val(isl.dim_type.set, k, integer(value))
    return cells


def origin(space: isl.Space) -> isl.Set:
    """The zero vector of a set space."""
    return at_point(isl.Set.universe(space), [0] * space.dim(isl.dim_type.set))


def nonzero(space: isl.Space) -> isl.Set:
    """All vectors of a set space but zero, in few disjoint pieces; subtracting zero would make many more."""
    total = isl.Set.empty(space)
    zero_so_far = isl.Set.universe(space)
    for k in range(space.dim(isl.dim_type.set)):
        total = total.union(zero_so_far.lower_bound_val(isl.dim_type.set, k, isl.Val(1)))
        total = total.union(zero_so_far.upper_bound_val(isl.dim_type.set, k, isl.Val(-1)))
        zero_so_far = zero_so_far.fix_val(isl.dim_type.set, k, isl.Val(0))
    return total


def points(cells: isl.Set) -> list[tuple[int, ...]]:
    """Every point of a bounded set without free parameters, in no particular order.

    >>> sorted(points(isl.Set("{ A[i, j] : 0 <= i <= j < 2 }")))
    [(0, 0), (0, 1), (1, 1)]
    """
    found: list[tuple[int, ...]] = []
    visit_points(cells, found.append)
    return found


def few_points(cells: isl.Set, most: int) -> set[tuple[int, ...]] | None:
    """The points of a bounded set without parameters; None if there are more than `most`.

    Piece by piece, because isl makes pieces disjoint before it counts, which takes long where they are many.

    >>> few_points(isl.Set("{ [i] : 0 <= i < 2 or 1 <= i < 3 }"), 3) == {(0,), (1,), (2,)}
    True
    """
    found: set[tuple[int, ...]] = set()
    for basic in cells.get_basic_sets():
        piece = isl.Set.from_basic_set(basic)
        if int(str(piece.count_val())) > most:
            return None
        found.update(points(piece))
    return found if len(found) <= most else None


def visit_points(cells: isl.Set, visit: Callable[[tuple[int, ...]], None]) -> None:
    """Call a function with every point of a bounded set without free parameters.

    islpy prints and forgets exceptions in callbacks, so they are kept and raised afterwards.
    """
    rank = cells.dim(isl.dim_type.set)
    failures: list[Exception] = []

    def visit_one(point: isl.Point) -> None:
        if not failures:
            try:
                visit(tuple(coordinate(point, isl.dim_type.set, k) for k in range(rank)))
            except Exception as error:
                failures.append(error)

    cells.foreach_point(visit_one)
    if failures:
        raise failures[0]


def coordinate(point: isl.Point, kind: isl.dim_type, position: int) -> int:
    """One integer coordinate of a point."""
    return point.get_coordinate_val(kind, position).to_python()


def smallest_point(cells: isl.Set) -> tuple[int, ...]:
    """The lexicographically smallest point of a set that is bounded from below and has no free parameter.

    One dimension after the other, because isl's own lexmin fails on some sets; see `first_images`.

    >>> smallest_point(isl.Set("{ A[i, j] : 1 <= i <= 2 and 3 - i <= j < 9 }"))
    (1, 2)
    """
    for k in range(cells.dim(isl.dim_type.set)):
        cells = _fix_to_least(cells, k)
    point = cells.sample_point()
    return tuple(coordinate(point, isl.dim_type.set, k) for k in range(cells.dim(isl.dim_type.set)))


def _fix_to_least(cells: isl.Set, position: int) -> isl.Set:
    """The points with the least coordinate; isl's own minimum is sometimes one that no point attains."""
    for _ in range(_MOST_STEPS):
        least = cells.dim_min_val(position)
        if not least.is_int():
            break
        fixed = cells.fix_val(isl.dim_type.set, position, least)
        if not fixed.is_empty():
            return fixed
        cells = cells.lower_bound_val(isl.dim_type.set, position, least.add(isl.Val(1)))
    return cells


# ---------------------------------------------------------------- sets, bounds


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one a tuple."""
    sets = union.get_set_list()
    return [sets.get_at(k) for k in range(sets.n_set())]


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The relations of a union, one a pair of tuples."""
    maps = union.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def maps_by_domain(union: isl.UnionMap) -> dict[str, isl.Map]:
    """The maps of a union, by the name of what they map; that name must tell them apart.

    >>> list(maps_by_domain(isl.UnionMap("{ S[i] -> [i, 0]; T[i] -> [i, 1] }")))
    ['S', 'T']
    """
    return {str(part.get_tuple_name(isl.dim_type.in_)): part for part in maps_of(union)}


def is_bounded(cells: isl.Set) -> bool:
    """Whether the set is finite for every value of the parameters."""
    return bool(cells.is_bounded())


def integer(value: int) -> isl.Val:
    """A whole number of any size; islpy takes only those of a machine word as they are.

    >>> integer(10**30)
    Val("1000000000000000000000000000000")
    """
    return isl.Val(value) if abs(value) < _MACHINE_WORD else isl.Val(str(value))


def linear_form(space: isl.Space, coefficients: Sequence[int]) -> isl.PwAff:
    """`coefficients . x` on a set space.

    >>> linear_form(isl.Set("{ A[i, j] }").get_space(), [2, -1])
    PwAff("{ A[i, j] -> [(2i - j)] }")
    """
    form = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    for k, value in enumerate(coefficients):
        form = form.set_coefficient_val(isl.dim_type.in_, k, integer(value))
    return isl.PwAff.from_aff(form)


def polyhedron(
    inequalities: Sequence[Sequence[int]], equations: Sequence[Sequence[int]] = ()
) -> isl.BasicSet:
    """{ [x] : line . (1, x) >= 0 or = 0 }, by matrices: parsing text takes longer than solving.

    >>> polyhedron([(-1, 1, 0), (3, -1, 0)], [(0, 1, -1)])
    BasicSet("{ [i0, i1] : i1 = i0 and 0 < i0 <= 3 }")
    """
    width = len((*inequalities, *equations)[0])
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, width - 1)
    kinds = (isl.dim_type.cst, isl.dim_type.set, isl.dim_type.param, isl.dim_type.div)
    matrices = (_matrix(equations, width), _matrix(inequalities, width))
    return isl.BasicSet.from_constraint_matrices(space, *matrices, *kinds)


def _matrix(lines: Sequence[Sequence[int]], width: int) -> isl.Mat:
    matrix = isl.Mat.alloc(isl.DEFAULT_CONTEXT, len(lines), width)
    for j, line in enumerate(lines):
        for k, entry in enumerate(line):
            matrix = matrix.set_element_val(j, k, integer(entry))
    return matrix


def image(cells: isl.Set, form: isl.PwAff) -> isl.Set:
    """The values that the form takes on the cells, as a one-dimensional set."""
    return cells.apply(isl.Map.from_pw_aff(form))


def tuple_name(cells: isl.Set) -> str | None:
    """The name in front of the brackets, which islpy's types promise but need not be there."""
    return cast("str | None", cells.get_tuple_name())


def first_images(relation: isl.Map) -> isl.Map:
    """The lexicographically smallest image of each element.

    isl's own lexmin fails on some relations ("affine expression involves some of the domain dimensions");
    then the smallest images are those that no other image precedes.
    """
    try:
        return relation.lexmin()
    except isl.Error:
        return relation.subtract(relation.apply_range(isl.Map.lex_lt(relation.get_space().range())))


def last_images(relation: isl.Map) -> isl.Map:
    """The lexicographically largest image of each element; see `first_images`."""
    try:
        return relation.lexmax()
    except isl.Error:
        return relation.subtract(relation.apply_range(isl.Map.lex_gt(relation.get_space().range())))


_FewOrMany = TypeVar("_FewOrMany", isl.Set, isl.Map)
_Joinable = TypeVar("_Joinable", isl.Set, isl.Map, isl.UnionSet, isl.UnionMap, isl.PwAff, isl.PwMultiAff)


def coalesced(item: _Joinable) -> _Joinable:
    """The same with fewer pieces; as it is where isl fails to join them (which it does on strided sets)."""
    try:
        return item.coalesce()
    except isl.Error:
        return item


def unshared(relation: isl.Map) -> isl.Map:
    """A copy that has no piece in common with the original, not even inside of isl."""
    return isl.Map(str(relation))


def joined(vectors: isl.Set) -> isl.Set:
    """The same with fewer pieces, unless it has strides: isl may crash on joining pieces with strides."""
    return vectors if strided_pieces(vectors) else coalesced(vectors)


def strided_pieces(vectors: isl.Set) -> int:
    """How many pieces have strides, or other variables of their own.

    >>> strided_pieces(isl.Set("{ [x] : x < 0 or x mod 2 = 0 }"))
    1
    """
    return sum(basic.dim(isl.dim_type.div) > 0 for basic in vectors.get_basic_sets())


def coalesced_if_few(item: _FewOrMany, most: int = _MOST_PIECES) -> _FewOrMany:
    """The same with fewer pieces, unless there are so many that looking for pairs to join takes seconds."""
    pieces = item.n_basic_map() if isinstance(item, isl.Map) else item.n_basic_set()
    return coalesced(item) if pieces <= most else item


def coalesced_in_groups(cells: isl.Set, most: int) -> isl.Set:
    """The same with fewer pieces; where there are too many to join all, groups of them at first."""
    while cells.n_basic_set() > most:
        pieces = [isl.Set.from_basic_set(piece) for piece in cells.get_basic_sets()]
        groups = (pieces[k : k + _GROUP] for k in range(0, len(pieces), _GROUP))
        fewer = reduce(isl.Set.union, (coalesced(reduce(isl.Set.union, group)) for group in groups))
        if fewer.n_basic_set() == cells.n_basic_set():
            return cells
        cells = fewer
    return coalesced(cells)


# ---------------------------------------------------------------- counting


def can_count() -> bool:
    """Whether exact parametric counting (barvinok) is part of the installed islpy."""
    return hasattr(isl.Set, "card")
