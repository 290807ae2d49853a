"""Values of the parameters in a context: the least ones, a few, and some that are far away."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from arrayfold.exact.isl import (
    coordinate,
    fix_parameters,
    image,
    integer,
    linear_form,
    parameter_names,
    points,
    smallest_point,
)

_LARGE = 10**6


def smallest_parameters(where: isl.Set) -> dict[str, int]:
    """Parameter values in the set with a small sum, then lexicographically smallest.

    >>> smallest_parameters(isl.Set("[N, M] -> { : N >= 3 and M > N }"))
    {'N': 3, 'M': 4}
    """
    names = parameter_names(where)
    values = _parameters_as_dimensions(where)
    total = linear_form(values.get_space(), [1] * len(names))
    sums = image(values, total)
    if not sums.dim_min_val(0).is_int():
        point = values.sample_point()
        return {name: coordinate(point, isl.dim_type.set, k) for k, name in enumerate(names)}
    (least,) = smallest_point(sums)
    nearest = values.intersect(total.add_constant_val(integer(-least)).zero_set())
    return dict(zip(names, smallest_point(nearest), strict=True))


def comfortable_parameters(context: isl.Set, given: Mapping[str, int], size: int) -> dict[str, int]:
    """A value for each parameter: those given, others about as large as a size, as far as the context allows.

    >>> comfortable_parameters(isl.Set("[N, M] -> { : N >= 3 and M > N }"), {"N": 4}, 8)
    {'N': 4, 'M': 8}
    """
    where = context.intersect(fix_parameters(given))
    for name in parameter_names(context):
        if name not in given:
            larger = where.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {size} }}"))
            where = where if larger.is_empty() else larger
    found = smallest_parameters(where)
    return {name: found[name] for name in parameter_names(context)}


def _parameters_as_dimensions(where: isl.Set) -> isl.Set:
    count = where.dim(isl.dim_type.param)
    flat = where.params()
    return (
        isl.Map.from_domain(isl.Set.from_params(flat))
        .move_dims(isl.dim_type.out, 0, isl.dim_type.param, 0, count)
        .range()
    )


def parameter_minima(context: isl.Set) -> dict[str, int] | None:
    """The least value of each parameter; None where one is not bounded from below.

    >>> parameter_minima(isl.Set("[N, M] -> { : N >= 3 and M > N }"))
    {'N': 3, 'M': 4}
    """
    values = _parameters_as_dimensions(context)
    least = {name: values.dim_min_val(k) for k, name in enumerate(parameter_names(context))}
    if not all(value.is_int() for value in least.values()):
        return None
    return {name: value.to_python() for name, value in least.items()}


def are_finite(where: isl.Set) -> bool:
    """Whether a set { : } has finitely many parameter values."""
    return bool(_parameters_as_dimensions(where).is_bounded())


def few_parameter_points(where: isl.Set, most: int) -> list[dict[str, int]]:
    """All parameter values in a set, if it is finite and has no more than `most`; otherwise none of them."""
    names = parameter_names(where)
    values = _parameters_as_dimensions(where)
    if not values.is_bounded() or int(str(values.count_val())) > most:
        return []
    return [dict(zip(names, point, strict=True)) for point in points(values)]


def first_parameter_points(where: isl.Set, most: int) -> list[dict[str, int]]:
    """The first parameter values in a set, those near the least value of each; none if there is no least.

    >>> first_parameter_points(isl.Set("[N] -> { : N >= 3 }"), 2)
    [{'N': 3}, {'N': 4}]
    """
    least = None if where.is_empty() else parameter_minima(where)
    if not least:
        return []
    reach = max(1, int(most ** (1 / len(least))) - 1)
    near = " and ".join(f"{name} <= {value + reach}" for name, value in least.items())
    box = where.intersect(isl.Set(f"[{', '.join(least)}] -> {{ : {near} }}"))
    return sorted(few_parameter_points(box, most), key=lambda point: tuple(point.values()))


def large_parameters(context: isl.Set) -> dict[str, int]:
    """A far point of the context: the parameters that can grow are near a million, slightly apart.

    Formulas are compared there when the user fixes no sizes (asymptotic comparison).

    >>> large_parameters(isl.Set("[N, B] -> { : N >= 3 and 1 <= B <= 8 }"))
    {'N': 1000000, 'B': 8}
    """
    where = context.params()
    names = parameter_names(where)
    for k, name in enumerate(names):
        for least in (_LARGE + 1000 * k, _LARGE, _LARGE // 100, _LARGE // 10_000):
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


def parameter_range(context: isl.Set, name: str) -> tuple[int | None, int | None]:
    """The smallest and the largest value of a parameter in a context { : }; None where there is none.

    >>> parameter_range(isl.Set("[N, M] -> { : 3 <= N <= M }"), "N")
    (3, None)
    """
    where = context.params()
    names = parameter_names(where)
    if name not in names or where.is_empty():
        return None, None
    values = _parameters_as_dimensions(where)
    ends = values.dim_min_val(names.index(name)), values.dim_max_val(names.index(name))
    low, high = (end.to_python() if end.is_int() else None for end in ends)
    return low, high


def far_parameters(context: isl.Set) -> list[dict[str, int]]:
    """Far points of the context: `large_parameters`, and from there each parameter as small as it can be.

    Of a size such as `hi - lo` a point alone says nothing: where lo is as large as it can be, it is small.

    >>> far_parameters(isl.Set("[lo, hi] -> { : 0 <= lo <= hi < 64 }"))
    [{'lo': 63, 'hi': 63}, {'lo': 0, 'hi': 63}]
    """
    far = large_parameters(context)
    found = [far]
    for name in far:
        rest = fix_parameters({other: value for other, value in far.items() if other != name})
        least = smallest_parameters(context.params().intersect(rest))
        point = {one: least[one] for one in far}
        if point not in found:
            found.append(point)
    return found
