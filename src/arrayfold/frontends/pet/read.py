"""What pet prints of a C region (YAML) -> Program.

Both forms are read: a schedule tree for the whole region and `index` for accesses, and the older one with a
schedule for each statement and `relation`. What it says of arrays decides what may be folded: an array that
is declared in the region and not exposed is a temporary; others may be needed afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.source_text import SourceText
from arrayfold.exact.isl import coalesced, fresh_name, is_bounded, maps_by_domain, parameter_names, tuple_name
from arrayfold.exact.isl_text import read_isl
from arrayfold.exact.relations import union_of_sets
from arrayfold.frontends.pet.accesses import Touches, read_touches
from arrayfold.frontends.pet.schedule import padded, read_schedule_tree, with_late_reads
from arrayfold.frontends.pet.yaml import YamlNode, read_yaml
from arrayfold.program.model import Access, Array, Kept, Program, Statement

_MADE_BY_PET = "__pet_"
_LIMITS = frozenset(limit for bits in (15, 16, 31, 32, 63, 64) for limit in (2**bits, 2**bits - 1))


@dataclass(frozen=True, eq=False)
class _Array:
    """An entry of the list of arrays.

    extent  { A[x] }  its cells, or all with indices from 0 on if the file does not know more
    """

    name: str
    extent: isl.Set
    context: isl.Set
    kept: Kept | None


@dataclass(frozen=True, eq=False)
class _Statement:
    """A statement before all parameters are known.

    domain    { S[i] }
    schedule  { S[i] -> [t] }  of the older form, None where the region has one
    touches   what it accesses
    """

    name: str
    domain: isl.Set
    text: SourceText
    schedule: isl.Map | None
    touches: Touches


def read_pet(file: str, text: str) -> Program:
    """The program that a file of pet states; every complaint points into the text."""
    root = read_yaml(SourceText.of(text, file))
    arrays = [_array(node) for node in root.need("arrays", "a file of pet").items()]
    extents = {array.name: array.extent for array in arrays}
    listed = root.need("statements", "a file of pet").items()
    found = [_statement(node, extents) for node in listed]
    statements = [statement for statement in found if statement is not None]
    idle = [tuple_name(_instances(node)) for node, one in zip(listed, found, strict=True) if one is None]
    _refuse_equal_names(statements)
    if not statements:
        raise root.need("statements", "a file of pet").error("there is no statement that does anything")
    order = _order(root, statements, [name for name in idle if name is not None])
    context = _context(root, arrays, statements, order)
    space = context.get_space()
    made = tuple(_aligned(statement, context) for statement in statements)
    touched = {array.name: _touched(array, made, context) for array in arrays}
    used = [array for array in arrays if not touched[array.name].is_empty()]
    schedule = _checked_order(order.align_params(space), made, statements)
    mixed = [statement.name for statement in statements if statement.touches.are_mixed]
    if mixed:
        made, schedule = with_late_reads(made, schedule, mixed)
    written = {access.array for statement in made for access in statement.accesses if access.is_write}
    kept = (touched[one.name] for one in used if one.kept is not None and one.name in written)
    live_out = union_of_sets(space, kept)
    return Program(
        name=file,
        context=context,
        statements=made,
        arrays=tuple(_model_array(array, touched[array.name], made) for array in used),
        schedule=schedule,
        parallel={},
        happens_before=None,
        live_in=isl.UnionSet.empty(space),
        live_out=live_out,
        temporaries=None,
        kept={array.name: array.kept for array in used if array.kept is not None},
    )


def _set(node: YamlNode) -> isl.Set:
    return read_isl(isl.Set, node.text())


def _array(node: YamlNode) -> _Array:
    place = node.need("extent", "an array")
    extent = _set(place)
    name = tuple_name(extent)
    if name is None or extent.is_wrapping():
        hint = "A fold moves whole elements: state the structure as one."
        raise place.error("expected an array such as { A[i] : 0 <= i < 9 }; fields are not read", hint)
    given = node.get("context")
    context = isl.Set("{ : }") if given is None else _parameters_only(given)
    return _Array(name, extent, context, _kept(node, name))


def _kept(node: YamlNode, name: str) -> Kept | None:
    """Why the values of an array may be needed after the region, None if they are not."""
    if node.says("live_out"):
        return Kept("live-out, says the file")
    if name.startswith(_MADE_BY_PET):
        return None
    if not node.says("declared"):
        return Kept("declared outside of the region")
    return Kept("visible after the region") if node.says("exposed") else None


def _parameters_only(node: YamlNode) -> isl.Set:
    found = _set(node)
    if not found.is_params():
        raise node.error("the context may mention only parameters")
    return found


def _statement(node: YamlNode, extents: Mapping[str, isl.Set]) -> _Statement | None:
    """A statement; None for one that does nothing."""
    place = node.need("domain", "a statement")
    domain = _instances(node)
    name = tuple_name(domain)
    if name is None:
        raise place.error("expected a named statement, such as { S_0[i] : 0 <= i < 9 }")
    touches = read_touches(node.need("body", "a statement"), node.arguments(), extents)
    if touches is None:
        return None
    given = node.get("schedule")
    schedule = None
    if given is not None:
        times = maps_by_domain(read_isl(isl.UnionMap, given.text()))
        if list(times) != [name]:
            raise given.error(f"expected the schedule of {name}")
        schedule = times[name]
    return _Statement(name, domain, place.text(), schedule, touches)


def _instances(node: YamlNode) -> isl.Set:
    """{ S[i] }: the domain of a statement, without values that decide whether it runs."""
    domain = _set(node.need("domain", "a statement"))
    return domain.unwrap().domain() if domain.is_wrapping() else domain


def _refuse_equal_names(statements: Sequence[_Statement]) -> None:
    seen: set[str] = set()
    for statement in statements:
        if statement.name in seen:
            place = statement.text.find(rf"\b{statement.name}\b")
            raise statement.text.error(f"there is a statement {statement.name} before this one", place)
        seen.add(statement.name)


def _order(root: YamlNode, statements: Sequence[_Statement], idle: Sequence[str]) -> isl.UnionMap:
    """The schedule, { S[i] -> [t] }, times of one length; idle statements do nothing."""
    given = root.get("schedule")
    if given is not None:
        return read_schedule_tree(given.text(), idle)
    times: list[isl.UnionMap] = []
    for statement in statements:
        if statement.schedule is None:
            raise statement.text.error(f"the file does not say when {statement.name} runs")
        times.append(isl.UnionMap.from_map(statement.schedule))
    return padded(times)


def _context(
    root: YamlNode, arrays: Sequence[_Array], statements: Sequence[_Statement], order: isl.UnionMap
) -> isl.Set:
    """What is known of the parameters; all of them are named in it."""
    known = [node for key in ("context", "context_value") if (node := root.get(key)) is not None]
    context = isl.Set("{ : }")
    for item in (*map(_parameters_only, known), *(array.context for array in arrays)):
        context = context.align_params(item.get_space()).intersect(item)
    spaces = [order.get_space(), *(statement.domain.get_space() for statement in statements)]
    spaces += [touch.relation.get_space() for statement in statements for touch in statement.touches.accesses]
    for space in spaces:
        context = context.align_params(space.params())
    if context.is_empty():
        raise root.error("no parameter value satisfies the context")
    return without_limits_of_types(context)


def without_limits_of_types(context: isl.Set) -> isl.Set:
    """The context with bounds such as `n <= 2147483647` left out.

    They are the range of an `int`, and a proof for every larger value is a proof for these; but with them no
    parameter grows without end, and sizes could not be compared by how they grow.

    >>> without_limits_of_types(isl.Set("[n] -> { : 4 <= n <= 2147483647 }"))
    Set("[n] -> {  : n >= 4 }")
    """
    wider = isl.Set.empty(context.get_space())
    for piece in context.get_basic_sets():
        kept = isl.BasicSet.universe(piece.get_space())
        for constraint in piece.get_constraints():
            if not _is_limit(constraint):
                kept = kept.add_constraint(constraint)
        wider = wider.union(isl.Set.from_basic_set(kept))
    return coalesced(wider)


def _is_limit(constraint: isl.Constraint) -> bool:
    if constraint.is_equality() or constraint.is_div_constraint():
        return False
    parameters = range(constraint.dim(isl.dim_type.param))
    coefficients = (constraint.get_coefficient_val(isl.dim_type.param, k).to_python() for k in parameters)
    entries = [coefficient for coefficient in coefficients if coefficient]
    bound = constraint.get_constant_val().to_python()
    return len(entries) == 1 and abs(entries[0]) == 1 and bound in _LIMITS


def _aligned(statement: _Statement, context: isl.Set) -> Statement:
    """The statement with all parameters; whatever it touches must be finite."""
    space = context.get_space()
    domain = coalesced(statement.domain.align_params(space).intersect_params(context))
    if not is_bounded(domain):
        raise statement.text.error(f"the domain of {statement.name} is unbounded", statement.text.find(r"\{"))
    accesses: list[Access] = []
    for touch in statement.touches.accesses:
        relation = touch.relation.align_params(space)
        if relation.get_tuple_name(isl.dim_type.in_) != statement.name:
            raise touch.text.error(f"expected an access of {statement.name}", touch.text.find(r"\{"))
        if relation.dim(isl.dim_type.in_) != domain.dim(isl.dim_type.set):
            message = f"{statement.name} has another number of iterators in its domain"
            raise touch.text.error(message, touch.text.find(r"\{"))
        relation = coalesced(relation.intersect_domain(domain))
        if not is_bounded(relation.range()):
            message = f"what {statement.name} accesses of {touch.array} is unbounded"
            raise touch.text.error(message, touch.text.find(rf"\b{touch.array}\b"))
        accesses.append(Access(touch.array, relation, touch.is_write, touch.is_must))
    return Statement(statement.name, domain, tuple(accesses))


def _touched(array: _Array, statements: Sequence[Statement], context: isl.Set) -> isl.Set:
    """{ A[x] }: the cells that the program accesses."""
    cells = isl.Set.empty(array.extent.get_space()).align_params(context.get_space())
    for statement in statements:
        for access in statement.accesses:
            if access.array == array.name:
                cells = cells.union(access.relation.range())
    return coalesced(cells.intersect_params(context))


def _model_array(array: _Array, cells: isl.Set, statements: Sequence[Statement]) -> Array:
    """The array, its dimensions named after the iterators of the first write, or as in its extent."""
    rank, taken = array.extent.dim(isl.dim_type.set), parameter_names(cells)
    for statement in statements:
        for access in statement.accesses:
            if access.array == array.name and access.is_write:
                names = _subscripts(access.relation)
                if len(set(names)) == rank and set(names) <= set(statement.iterators):
                    return Array(array.name, names, cells)
    given = [array.extent.get_dim_name(isl.dim_type.set, k) for k in range(rank)]
    return Array(array.name, tuple(fresh_name(name or f"i{k}", taken) for k, name in enumerate(given)), cells)


def _subscripts(relation: isl.Map) -> tuple[str, ...]:
    """The indices of the cells as isl prints them.

    >>> _subscripts(isl.Map("{ S[i, j] -> A[i, j + 1] : i > 0 }"))
    ('i', '1 + j')
    """
    shown = re.search(r"\] -> \w+\[([^\[\]]*)\]", str(relation))
    return tuple(part.strip() for part in shown[1].split(",")) if shown else ()


def _checked_order(
    order: isl.UnionMap, statements: Sequence[Statement], texts: Sequence[_Statement]
) -> isl.UnionMap:
    """The schedule on the domain; every instance must have one time."""
    schedule = isl.UnionMap.empty(order.get_space())
    times = maps_by_domain(order)
    for statement, text in zip(statements, texts, strict=True):
        own = times.get(statement.name)
        if own is None or own.dim(isl.dim_type.in_) != statement.domain.dim(isl.dim_type.set):
            raise text.text.error(f"the schedule does not say when {statement.name} runs")
        own = own.reset_tuple_id(isl.dim_type.out).intersect_domain(statement.domain)
        missing = statement.domain.subtract(own.domain())
        if not missing.is_empty():
            message = f"the schedule does not say when {statement.name} runs"
            raise text.text.error(f"{message}, for example {missing.sample_point()}")
        if not own.is_single_valued():
            raise text.text.error(f"the schedule gives some instance of {statement.name} more than one time")
        schedule = schedule.union(own)
    return coalesced(schedule)
