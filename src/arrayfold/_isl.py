"""The only home of islpy's quirks: reading text, budgets, bounds of parametric sets, counting."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

import islpy as isl

from arrayfold._text import SourceText
from arrayfold.errors import BudgetExceeded, InputError, IslFailure, NotAffine

_OPERATIONS_PER_SECOND = 4_000_000

Readable = TypeVar("Readable", isl.Set, isl.UnionSet, isl.UnionMap)

_WHAT_IS_READ = {
    isl.Set: "a set",
    isl.UnionSet: "a set such as [N] -> { A[i] : 0 <= i < N }",
    isl.UnionMap: "a relation such as [N] -> { S[i] -> A[i + 1] }",
}


# ---------------------------------------------------------------- text


def read_isl(kind: type[Readable], text: SourceText) -> Readable:
    """The isl object that the text denotes, all of it.

    isl itself stops at the closing brace and drops what follows; here that is an error.

    >>> read_isl(isl.UnionSet, SourceText.of("{ A[i] : 0 <= i < 3 }", "example"))
    UnionSet("{ A[i] : 0 <= i <= 2 }")
    """
    _refuse_text_after_the_end(text)
    try:
        return kind(text.value)
    except isl.Error:
        raise _located_syntax_error(kind, text) from None


def _refuse_text_after_the_end(text: SourceText) -> None:
    start = text.value.find("{")
    if start < 0:
        raise text.error("expected isl notation in braces, such as [N] -> { A[i] : 0 <= i < N }")
    depth = 0
    for position in range(start, len(text.value)):
        depth += {"{": 1, "}": -1}.get(text.value[position], 0)
        if depth == 0:
            rest = text.value[position + 1 :]
            if rest.strip():
                garbage = position + 1 + len(rest) - len(rest.lstrip())
                raise text.error(f"unexpected text after the closing brace: {rest.strip()!r}", garbage)
            return
    raise text.error("the opening brace is never closed", start)


def _located_syntax_error(kind: type[Readable], text: SourceText) -> InputError:
    messages = _what_isl_prints(lambda: kind(text.value))
    found = re.search(r"syntax error \((\d+), (\d+)\): (.*)\n(?:got (.*))?", messages)
    if not found:
        return text.error(f"expected {_WHAT_IS_READ[kind]}", text.find("{"))
    line, column, message, token = found.groups()
    line_starts = [0, *(m.end() for m in re.finditer("\n", text.value))]
    position = line_starts[min(int(line), len(line_starts)) - 1] + int(column) - 1
    token = (token or "").removeprefix("ident ")
    if message == "unknown identifier":
        return text.error(
            f"unknown name {token}", position, "Parameters are declared in front: [N] -> { ... }"
        )
    if message == "expecting constant value":
        return NotAffine("a product of two variables is not affine", text.place(position))
    message = message.replace("isl_token", "token")
    return text.error(f"syntax error: {message}" + (f", found {token}" if token else ""), position)


def _what_isl_prints(action: Callable[[], object]) -> str:
    """What isl writes to file descriptor 2 while the action fails; positions are only found there."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_on_error()
    with tempfile.TemporaryFile() as capture:
        saved = os.dup(2)
        os.dup2(capture.fileno(), 2)
        context.set_on_error(isl.on_error.WARN)
        try:
            action()
        except isl.Error:
            pass
        finally:
            context.set_on_error(before)
            os.dup2(saved, 2)
            os.close(saved)
        capture.seek(0)
        return capture.read().decode(errors="replace")


# ---------------------------------------------------------------- budget


class Budget:
    """Wall time that a piece of work may take, kept by isl's own operation counter inside isl calls."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left; infinite without a limit."""
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()

    def check(self, work: str) -> None:
        """Raise if the time is over."""
        if self.remaining() <= 0:
            raise BudgetExceeded(
                f"{work}: the budget of {self.seconds:g} s is used up; raise it with --budget"
            )

    @contextmanager
    def limit(self, work: str, share: float = 1.0) -> Generator[None]:
        """Stop isl inside the block once its share of what is left of the budget is spent."""
        self.check(work)
        context = isl.DEFAULT_CONTEXT
        outer = context.get_max_operations()
        context.reset_operations()
        if self._deadline is not None:
            context.set_max_operations(max(1, int(self.remaining() * share * _OPERATIONS_PER_SECOND)))
        try:
            yield
        except isl.Error as error:
            if self._deadline is None or not _is_exhausted():
                raise IslFailure(f"{work}: isl failed: {error}") from error
            message = f"{work} needs more isl operations than the budget of {self.seconds:g} s allows"
            raise BudgetExceeded(f"{message}; raise it with --budget") from error
        finally:
            context.set_max_operations(outer)
            context.reset_operations()


def _is_exhausted() -> bool:
    """Past its operation limit isl refuses even the smallest thing."""
    try:
        isl.Set("{ [] }")
    except isl.Error:
        return True
    return False


# ---------------------------------------------------------------- spaces, parameters, points


def parameter_names(item: isl.Set | isl.Map | isl.UnionSet | isl.UnionMap) -> tuple[str, ...]:
    """The parameters of an isl object, in its order."""
    space = item.get_space()
    names = (space.get_dim_name(isl.dim_type.param, k) for k in range(space.dim(isl.dim_type.param)))
    return tuple(name for name in names if name is not None)


def parameter_space(names: Sequence[str]) -> isl.Space:
    """The space of parameter sets `[names] -> { : }`."""
    return isl.Set(f"[{', '.join(names)}] -> {{ : }}").get_space()


def fix_parameters(params: Mapping[str, int]) -> isl.Set:
    """The parameter set that holds these values only.

    >>> fix_parameters({"N": 3})
    Set("[N] -> {  : N = 3 }")
    """
    equations = " and ".join(f"{name} = {value}" for name, value in params.items()) or "true"
    return isl.Set(f"[{', '.join(params)}] -> {{ : {equations} }}")


def origin(space: isl.Space) -> isl.Set:
    """The zero vector of a set space."""
    zero = isl.Set.universe(space)
    for k in range(space.dim(isl.dim_type.set)):
        zero = zero.fix_val(isl.dim_type.set, k, isl.Val(0))
    return zero


def points(cells: isl.Set) -> list[tuple[int, ...]]:
    """Every point of a bounded set without free parameters, in no particular order.

    >>> sorted(points(isl.Set("{ A[i, j] : 0 <= i <= j < 2 }")))
    [(0, 0), (0, 1), (1, 1)]
    """
    found: list[tuple[int, ...]] = []
    rank = cells.dim(isl.dim_type.set)

    def keep(point: isl.Point) -> None:
        found.append(tuple(coordinate(point, isl.dim_type.set, k) for k in range(rank)))

    cells.foreach_point(keep)
    return found


def coordinate(point: isl.Point, kind: isl.dim_type, position: int) -> int:
    """One integer coordinate of a point."""
    return point.get_coordinate_val(kind, position).to_python()


def smallest_point(cells: isl.Set) -> tuple[int, ...]:
    """The lexicographically smallest point of a set that is bounded from below and has no free parameter.

    One dimension after the other, because isl's own lexmin fails on some sets; see `first_images`.

    >>> smallest_point(isl.Set("{ A[i, j] : 1 <= i <= 2 and 3 - i <= j < 9 }"))
    (1, 2)
    """
    found: list[int] = []
    for k in range(cells.dim(isl.dim_type.set)):
        least = cells.dim_min_val(k)
        cells = cells.fix_val(isl.dim_type.set, k, least)
        found.append(least.to_python())
    return tuple(found)


def smallest_parameters(where: isl.Set) -> dict[str, int]:
    """Parameter values in the set with a small sum, then lexicographically smallest.

    >>> smallest_parameters(isl.Set("[N, M] -> { : N >= 3 and M > N }"))
    {'N': 3, 'M': 4}
    """
    names = parameter_names(where)
    values = _parameters_as_dimensions(where)
    total = linear_form(values.get_space(), [1] * len(names))
    least = image(values, total).dim_min_val(0)
    if not least.is_int():
        point = values.sample_point()
        return {name: coordinate(point, isl.dim_type.set, k) for k, name in enumerate(names)}
    nearest = values.intersect(total.add_constant_val(least.neg()).zero_set())
    return dict(zip(names, smallest_point(nearest), strict=True))


def _parameters_as_dimensions(where: isl.Set) -> isl.Set:
    count = where.dim(isl.dim_type.param)
    flat = where.params()
    return (
        isl.Map.from_domain(isl.Set.from_params(flat))
        .move_dims(isl.dim_type.out, 0, isl.dim_type.param, 0, count)
        .range()
    )


def few_parameter_points(where: isl.Set, most: int) -> list[dict[str, int]]:
    """All parameter values in a set, if it is finite and has no more than `most`; otherwise none of them."""
    names = parameter_names(where)
    values = _parameters_as_dimensions(where)
    if not values.is_bounded() or int(str(values.count_val())) > most:
        return []
    return [dict(zip(names, point, strict=True)) for point in points(values)]


def large_parameters(context: isl.Set, scale: int = 10**6) -> dict[str, int]:
    """A far point of the context: the parameters that can grow are near `scale`, slightly apart.

    Formulas are compared there when the user fixes no sizes (asymptotic comparison).

    >>> large_parameters(isl.Set("[N, B] -> { : N >= 3 and 1 <= B <= 8 }"))
    {'N': 1000000, 'B': 8}
    """
    where = context.params()
    names = parameter_names(where)
    for k, name in enumerate(names):
        for least in (scale + 1000 * k, scale, scale // 100, scale // 10_000):
            grown = where.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {least} }}"))
            if not grown.is_empty():
                where = grown
                break
        else:
            position = parameter_names(where).index(name)
            largest = _parameters_as_dimensions(where).dim_max_val(position)
            if largest.is_int():
                where = where.intersect(fix_parameters({name: largest.to_python()}))
    found = smallest_parameters(where)
    return {name: found[name] for name in names}


# ---------------------------------------------------------------- sets, bounds


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """The sets of a union, one a tuple."""
    sets = union.get_set_list()
    return [sets.get_at(k) for k in range(sets.n_set())]


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """The relations of a union, one a pair of tuples."""
    maps = union.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def is_bounded(cells: isl.Set) -> bool:
    """Whether the set is finite for every value of the parameters."""
    return bool(cells.is_bounded())


def linear_form(space: isl.Space, coefficients: Sequence[int]) -> isl.PwAff:
    """`coefficients . x` on a set space.

    >>> linear_form(isl.Set("{ A[i, j] }").get_space(), [2, -1])
    PwAff("{ A[i, j] -> [(2i - j)] }")
    """
    form = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    for k, value in enumerate(coefficients):
        form = form.set_coefficient_val(isl.dim_type.in_, k, isl.Val(value))
    return isl.PwAff.from_aff(form)


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


# ---------------------------------------------------------------- counting


def can_count() -> bool:
    """Whether exact parametric counting (barvinok) is part of the installed islpy."""
    return hasattr(isl.Set, "card")
