"""How much memory arrays get that take the place of others together: if possible no more than those had.

Arrays of statements, buffers of tiles, one array for the cells of several, and blocks replace arrays of the
text as a group. All of one type of elements are compared: the cells that they have together, and the cells of
the arrays that are gone. What is left between the two is shared out among them, for alignment and padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.codegen.sizes import (
    Sizes,
    at_least_one,
    cells_of_line,
    declared_extents,
    is_tiny,
    legal_cells,
    plain_sizes,
    reach_of,
)
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import to_pw_aff
from arrayfold.exact.parameter_values import first_parameter_points
from arrayfold.exact.parameter_words import in_words
from arrayfold.exact.signs import below, is_at_most
from arrayfold.mapping.layout import Row, TableRow
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.program.model import Program
from arrayfold.sharing.footprint import SharedBlock, farthest

_FIRST = 64


@dataclass(frozen=True, eq=False)
class StorageGroup:
    """Arrays with elements of one type that take the place of others.

    sizes      array -> its rows; arrays in a block are counted with that
    counted    the arrays of these with more cells than a cache line holds, which others cost nothing
    now        cells of all that count
    before     cells of the arrays that are gone, as far as they are known at all sizes; None if they are not
    is_within  it is shown that there are never more than before
    pays       far out, where loops run, there are no more than before
    """

    sizes: Mapping[str, Sizes]
    counted: Sequence[str]
    now: Formula
    before: Formula | None
    is_within: bool
    pays: bool

    def with_limits(self) -> dict[str, Sizes]:
        """The sizes, with an equal part of the spare cells for each array that is counted."""
        if self.before is None:
            return dict(self.sizes)
        choice = (self.now, self.before) if self.pays and not self.is_within else None
        limits = {name: Formula.constant(0) for name in self.sizes}
        spare = self.before - self.now
        for left, name in zip(range(len(self.counted), 0, -1), self.counted, strict=True):
            part = Formula.floor(self.before - self.now, len(self.counted)) if left > 1 else spare
            limits[name] = Formula.product(self.sizes[name].extents) + part
            spare -= part
        return {
            name: replace(one, limit=limits[name], is_within=self.is_within, choice=choice)
            for name, one in self.sizes.items()
        }


def is_in_group(program: Program, name: str, blocks: Iterable[SharedBlock] = ()) -> bool:
    """Whether an array takes the place of others, or of one together with others."""
    source = program.source
    if name in program.relocation.origins or any(name in block.offsets for block in blocks):
        return True
    return source is not None and source.variables[name] in source.replaced.values()


def find_groups(
    program: Program, mappings: Mapping[str, EmittableMapping], blocks: Sequence[SharedBlock] = ()
) -> list[StorageGroup]:
    """The groups of the arrays with these mappings, one for each type of elements."""
    kinds: dict[str, dict[str, EmittableMapping]] = {}
    for name, mapping in mappings.items():
        if is_in_group(program, name, blocks):
            kinds.setdefault(_kind(program, name), {})[name] = mapping
    return [_group(program, members, blocks) for members in kinds.values()]


def _group(
    program: Program, members: Mapping[str, EmittableMapping], blocks: Sequence[SharedBlock]
) -> StorageGroup:
    before = _before(program, members, blocks)
    here = [block for block in blocks if any(name in members for name in block.offsets)]
    placed = {name for block in here for name in block.offsets}
    own = {
        name: plain_sizes(program, mapping)
        for name, mapping in members.items()
        if name not in placed and isinstance(mapping, ModularMapping)
    }
    tables = (one.size for one in members.values() if not isinstance(one, ModularMapping))
    others = Formula.sum((*tables, *(at_least_one(block.size, program.context) for block in here)))

    def group(sizes: Mapping[str, Sizes], most: Mapping[str, Formula]) -> StorageGroup:
        cells = {name: Formula.product(one.extents) for name, one in sizes.items()}
        counted = [name for name, size in cells.items() if not is_tiny(program, name, size)]
        now, bound = (Formula.sum((others, *(some[name] for name in counted))) for some in (cells, most))
        is_within = before is None or any(_is_within(program, one, before, members) for one in (now, bound))
        far = farthest(now, program.running_sizes())
        pays = before is None or now.evaluate(far) <= before.evaluate(far)
        return StorageGroup(sizes, counted, now, before, is_within, pays)

    found = group(own, {name: Formula.product(one.extents) for name, one in own.items()})
    if found.is_within:
        return found
    found = group(*_capped(program, own, to_reach=False))
    if found.is_within:
        return found
    reaching = group(*_capped(program, own, to_reach=True))
    return reaching if reaching.is_within else found


def _capped(
    program: Program, sizes: Mapping[str, Sizes], *, to_reach: bool
) -> tuple[dict[str, Sizes], dict[str, Formula]]:
    """The sizes with extents that are no larger than what is accessed needs, and what these never exceed.

    to_reach  also where that depends on the sizes
    """
    found: dict[str, Sizes] = {}
    most: dict[str, Formula] = {}
    for name, one in sizes.items():
        cells = legal_cells(program, name)
        capped = [
            _capped_row(row, modulus, cells, program.context, to_reach=to_reach)
            for row, modulus in zip(one.layout.rows, one.moduli, strict=True)
        ]
        layout = replace(one.layout, rows=tuple(row for row, _, _ in capped))
        found[name] = replace(one, layout=layout, extents=tuple(extent for _, extent, _ in capped))
        most[name] = Formula.product(bound for _, _, bound in capped)
    return found, most


def _capped_row(
    row: Row | TableRow, modulus: Formula, cells: isl.Set, context: isl.Set, *, to_reach: bool
) -> tuple[Row | TableRow, Formula, Formula]:
    """A row with its extent, and what that never exceeds."""
    reach = reach_of(row, cells, context) if to_reach and isinstance(row, Row) else None
    if reach is not None:
        moved, above = reach
        extent = _smaller(modulus, at_least_one(above, context), context)
        return moved, extent, extent
    bound = _greatest(modulus, cells.params())
    if bound is None:
        return row, modulus, modulus
    # Where loops run the modulus is no larger, and elsewhere there are no addresses.
    return row, _smaller(modulus, bound, context), bound


def _smaller(first: Formula, second: Formula, context: isl.Set) -> Formula:
    for one, other in ((first, second), (second, first)):
        if is_at_most(one, other, context):
            return one
    return Formula.extreme("min", [first, second])


def _greatest(formula: Formula, where: isl.Set) -> Formula | None:
    """The greatest value of a formula at parameter values { : }, at least 1, if it is seen to have one."""
    if where.is_empty():
        return Formula.constant(1)
    if not formula.is_affine:
        return None
    value = to_pw_aff(formula).intersect_params(where).max_val()
    return Formula.constant(max(1, value.to_python())) if value.is_int() else None


def _is_within(program: Program, now: Formula, before: Formula, members: Iterable[str]) -> bool:
    """Whether there are never more cells than before, unless they fit into a cache line."""
    where = program.context
    if now.is_affine:
        where = where.subtract(below(now, cells_of_line(program, next(iter(members))) + 1))
    return is_at_most(now, before, where)


def _kind(program: Program, name: str) -> str:
    assert program.source is not None
    known = {**program.source.replaced, **program.source.variables}
    return known[name].element.canonical.replace("const ", "")


def _before(
    program: Program, members: Mapping[str, EmittableMapping], blocks: Sequence[SharedBlock]
) -> Formula | None:
    """Cells of the arrays whose place the members take."""
    kind = _kind(program, next(iter(members)))
    gone = {
        **program.relocation.replaced,
        **{one.array: one.size for one in program.relocation.buffers.values()},
    }
    total = Formula.constant(0)
    for name, size in gone.items():
        if _kind(program, name) == kind:
            total += _declared_size(program, name) or size
    placed = {name for block in blocks for name in block.offsets if name in members}
    for name in sorted(placed - program.relocation.origins.keys()):
        size = _declared_size(program, name)
        if size is None:
            return None
        total += size
    return total


def _declared_size(program: Program, name: str) -> Formula | None:
    extents = declared_extents(program, name)
    return None if extents is None else Formula.product(extents)


def growth_words(program: Program, group: StorageGroup) -> str:
    """At which sizes the code takes more memory for a group than before; nothing if it never does.

    Where the loops as written can stand beside the new ones, they run at such sizes.
    """
    from arrayfold.codegen.alternative import can_stand_twice

    before = group.before
    may_choose = group.pays and program.source is not None and can_stand_twice(program.source)
    if before is None or group.is_within or may_choose:
        return ""
    where = _where(group.now, before, program.running_sizes())
    return f"larger than before{where}: {group.now} cells instead of {before}" if where else ""


def _where(now: Formula, before: Formula, sizes: isl.Set) -> str:
    """The sizes { : } at which there are more cells, as far as they are found."""
    if (before - now).is_affine:
        larger = sizes.intersect(below(before - now, 0))
        words = in_words(larger, sizes)
        return "" if larger.is_empty() else f" for {words}" if words else " at all sizes"

    def is_larger(point: dict[str, int]) -> bool:
        return now.evaluate(point) > before.evaluate(point)

    larger = [point for point in first_parameter_points(sizes, _FIRST) if is_larger(point)]
    far = farthest(now, sizes)
    if not is_larger(far):
        return f" at some sizes, such as {_values(larger[-1])}" if larger else ""
    if len(far) == 1 and larger:
        ((name, least),) = larger[0].items()
        beyond = sizes.intersect(isl.Set(f"[{name}] -> {{ : {name} >= {least} }}"))
        if is_at_most(before + 1, now, beyond):
            return f" for {name} >= {least}"
    is_far = any(value > _FIRST for value in far.values())
    return " at large sizes" if is_far else f" at some sizes, such as {_values(far)}"


def _values(point: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())
