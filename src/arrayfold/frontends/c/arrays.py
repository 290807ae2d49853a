"""Which arrays a region uses, how large they are, and which of them may move."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from arrayfold.base.errors import NotAffine
from arrayfold.c import tree as c
from arrayfold.c.source import CText, Region, assigned_variable
from arrayfold.c.tree import (
    CStatement,
    CType,
    Expression,
    FunctionTree,
    Variable,
    array_access,
    children,
    declared_in,
    named_in,
    walk,
)
from arrayfold.frontends.c.affine import AffineReader, Scope
from arrayfold.frontends.c.allocations import OwnMemory, is_null
from arrayfold.frontends.c.initial import initial_values
from arrayfold.frontends.c.pointers import is_repeated
from arrayfold.program.model import Kept

_ISL_WORDS = (
    *("exists", "and", "or", "implies", "not", "infty", "infinity", "nan", "min", "max", "rat", "true"),
    *("false", "ceild", "floord", "mod", "ceil", "floor"),
)
_FROM_OUTSIDE: Mapping[str, str] = {
    "parameter": "comes from the caller",
    "global": "global: if nothing else uses its values, say --temporary {name}",
    "static": "static: if nothing else uses its values, say --temporary {name}",
}
_CHARACTER = 8
_ALLOCATORS = ("malloc", "calloc", "aligned_alloc", "realloc")


# ---------------------------------------------------------------- names


def is_isl_name(name: str) -> bool:
    """Whether isl reads the name as a name."""
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)) and name.lower() not in _ISL_WORDS


def _without_punctuation(name: str) -> str:
    """The name of a field, such as `p->size[2]`, as one word."""
    return re.sub(r"->|[][.]+", "_", name.removesuffix("]"))


def model_names(variables: Iterable[Variable]) -> dict[Variable, str]:
    """A name for each variable that isl can read and that no other one has."""
    names: dict[Variable, str] = {}
    taken: set[str] = set()
    for variable in variables:
        name = re.sub(r"[^A-Za-z0-9_]", "_", _without_punctuation(variable.name))
        name += "_" * (name.lower() in _ISL_WORDS)
        number = 2
        unique = name
        while unique in taken:
            unique = f"{name}_{number}"
            number += 1
        taken.add(unique)
        names[variable] = unique
    return names


def variables_of(function: FunctionTree, region: Region) -> list[Variable]:
    """The variables that the region names, those of its function's parameters first."""
    nodes = list(region.nodes())
    used = list(named_in(nodes))
    initial = initial_values(region)
    for variable in used:
        value = variable.initial if variable.is_pointer else initial.get(variable)
        if value is not None:
            used += [one for one in named_in(walk(value)) if one not in used]
    sizes = [size for variable in used for size in named_in(extent_nodes(variable))]
    inlined = [
        variable
        for call in nodes
        if isinstance(call, c.Call) and call.function.returned is not None
        for part in (call.function.returned, *(local.initial for local in call.function.locals))
        if part is not None
        for variable in named_in(walk(part))
        if variable.storage == "global"
    ]
    mentioned = dict.fromkeys([*used, *declared_in(nodes), *sizes, *inlined])
    first = [variable for variable in function.parameters if variable in mentioned]
    return list(dict.fromkeys([*first, *mentioned]))


# ---------------------------------------------------------------- uses


@dataclass(frozen=True)
class Use:
    """A place where an array is named; `how` is empty for elements, else what is done to it as a whole."""

    how: str
    offset: int


def uses_of_arrays(
    function: FunctionTree, understood: Collection[c.Node] = (), harmless: Collection[c.Node] = ()
) -> dict[Variable, list[Use]]:
    """Every mention of every array in a function.

    understood  mentions of which it is known what becomes of the pointer
    harmless    mentions that are left out
    """
    found: dict[Variable, list[Use]] = {}
    for variable, use in _uses(function.body, "used as a pointer", understood, harmless):
        found.setdefault(variable, []).append(use)
    return found


def _uses(
    node: Expression | CStatement, how: str, understood: Collection[c.Node], harmless: Collection[c.Node]
) -> Iterator[tuple[Variable, Use]]:
    if node in harmless:
        return
    if isinstance(node, c.Reference | c.Subscript):
        access = array_access(node)
        if access is not None:
            variable, subscripts = access
            named = next((one for one in walk(node) if isinstance(one, c.Reference)), None)
            if variable.is_array and named not in harmless:
                is_element = len(subscripts) == variable.rank and how != "address taken"
                is_known = is_element or node in understood
                yield variable, Use("" if is_known else how, node.span.start)
            for subscript in subscripts:
                yield from _uses(subscript, "used as a pointer", understood, harmless)
            return
    if isinstance(node, c.Call):
        inner_how = f"given to {node.function.name}()"
    elif isinstance(node, c.Unary) and node.operator == "&":
        inner_how = "address taken"
    elif isinstance(node, c.Opaque) and node.what == "sizeof":
        inner_how = "measured by sizeof"
    elif isinstance(node, c.Parentheses | c.Cast):
        inner_how = how
    else:
        inner_how = "used as a pointer"
    for child in children(node):
        yield from _uses(child, inner_how, understood, harmless)


# ---------------------------------------------------------------- who may move


def find_kept(
    text: CText,
    region: Region,
    arrays: Sequence[Variable],
    loops: Mapping[Variable, tuple[Variable, ...]],
    private: Mapping[str, int],
    parallel_start: int | None,
    own: OwnMemory,
    understood: Collection[c.Node] = (),
) -> dict[Variable, Kept]:
    """Why arrays stay where they are; those that are missing are temporaries.

    own         what the function allocates for itself
    understood  mentions of arrays of which it is known what becomes of the pointer
    """
    uses = uses_of_arrays(region.function, understood, own.mentions)
    typed = _declared_with_their_type(text, region.function)
    reasons: dict[Variable, Kept] = {}
    for array in arrays:
        reason = _reason(text, region, array, uses.get(array, []), loops, private, own)
        if array in typed or array.holder in typed:
            reason = Kept("declared together with its type", is_final=True)
        is_of_all = array.storage in _FROM_OUTSIDE or array.span.start < (parallel_start or 0)
        if parallel_start is not None and is_of_all:
            reason = Kept(f"shared by the threads of line {text.line(parallel_start)}", is_final=True)
        if reason is not None:
            reasons[array] = reason
    return reasons | _parts_that_stay(region, arrays, reasons)


def _parts_that_stay(
    region: Region, arrays: Sequence[Variable], reasons: Mapping[Variable, Kept]
) -> dict[Variable, Kept]:
    """Why arrays stay because other fields of their structures do: memory is less only without all of it."""
    fields = dict.fromkeys(one for one in named_in(region.nodes()) if one.holder is not None)
    stays = {one.holder: one for one in fields if one in reasons or not one.is_array}
    return {
        one: Kept(f"a part of {one.holder.name}, of which {stays[one.holder].name} stays", is_final=True)
        for one in arrays
        if one.holder in stays and one.holder is not None and one not in reasons
    }


def _declared_with_their_type(text: CText, function: FunctionTree) -> set[Variable]:
    """Variables of declarations like `struct pair { ... } tmp[N];`, which cannot be taken apart."""
    return {
        variable
        for node in walk(function.body)
        if isinstance(node, c.Declare) and node.variables
        if "{" in text.plain[node.span.start : node.variables[0].at]
        for variable in node.variables
    }


def _reason(
    text: CText,
    region: Region,
    array: Variable,
    uses: Sequence[Use],
    loops: Mapping[Variable, tuple[Variable, ...]],
    private: Mapping[str, int],
    own: OwnMemory,
) -> Kept | None:
    for use in uses:
        if use.how and region.holds(use.offset):
            return Kept(f"{use.how} in line {text.line(use.offset)}", is_final=True)
    if array.name in private:
        return Kept(f"private to each thread (line {text.line(private[array.name])})", is_final=True)
    if array.initial is not None and not array.is_pointer and region.holds(array.span.start):
        return Kept("has initial values", is_final=True)
    if array.is_volatile:
        return Kept("volatile", is_final=True)
    if any(isinstance(node, c.Call) or assigned_variable(node) is not None for node in extent_nodes(array)):
        return Kept("its extents do more than say a size", is_final=True)
    if loops.get(array):
        innermost = loops[array][-1].name
        return Kept(f"declared inside the loop over {innermost}", is_final=True)
    if array.holder is not None and array.storage != "local":
        return Kept(f"a part of {array.holder.name}", is_final=True)
    if array.storage in _FROM_OUTSIDE and array not in own.scratch:
        return Kept(_FROM_OUTSIDE[array.storage].format(name=array.name))
    if array in own.reasons:
        return Kept(own.reasons[array])
    if array.is_pointer and array not in own.allocations:
        return Kept("a pointer to memory from elsewhere")
    if array.initial is not None and not array.is_pointer:
        return Kept("has initial values")
    for use in uses:
        if not region.holds(use.offset):
            what = use.how or "used outside the region"
            return Kept(f"{what} in line {text.line(use.offset)}")
    return None


def refuse_unknown_pointers(text: CText, region: Region, arrays: Sequence[Variable], own: OwnMemory) -> None:
    """Local pointers must come from an allocation: otherwise two names may mean the same memory."""
    for array in arrays:
        if not array.is_pointer or array.is_restrict or array.type.kind == "array":
            continue
        if array.storage in ("parameter", "global") or array in own.allocations:
            continue
        initial = array.initial
        while isinstance(initial, c.Parentheses | c.Cast):
            initial = initial.inner if isinstance(initial, c.Parentheses) else initial.operand
        is_fresh = isinstance(initial, c.Call) and initial.function.name in _ALLOCATORS
        is_fresh = is_fresh or (isinstance(initial, c.Opaque) and initial.what == "new")
        is_fresh = is_fresh or (array.initial is not None and is_null(array.initial))
        changes = (
            node
            for node in walk(region.function.body)
            if assigned_variable(node) is array and (node.span.start < region.end or is_repeated(region))
        )
        if (not is_fresh and initial is not None) or not all(map(_is_allocation, changes)):
            mentions = (node for node in region.nodes() if isinstance(node, c.Reference))
            # It may be used only through another pointer that points to the same place.
            offset = next((node.span.start for node in mentions if node.variable is array), array.span.start)
            raise text.error(
                f"pointer {array.name} may point into another array, so aliasing cannot be excluded",
                offset,
                "Name the array itself, or declare the pointer with restrict.",
            )


def _is_allocation(node: Expression | CStatement) -> bool:
    inside = walk(node.value) if isinstance(node, c.Assign) else ()
    is_cleared = isinstance(node, c.Assign) and is_null(node.value)
    return is_cleared or any(
        isinstance(inner, c.Call) and inner.function.name in _ALLOCATORS for inner in inside
    )


def possible_alias(
    arrays: Sequence[Variable], written: frozenset[Variable], own: OwnMemory
) -> tuple[str, str] | None:
    """Two arrays from outside that may overlap, one of them written; None if there are none."""
    outside = [one for one in arrays if one.is_pointer or one.is_reference or one.storage == "global"]
    outside = [array for array in outside if array not in own.allocations and array not in own.scratch]
    for array in outside:
        for other in outside:
            is_same = array is other or (array.name > other.name and other in written)
            if array not in written or is_same or array.is_restrict or other.is_restrict:
                continue
            is_open = any(one.is_pointer or one.is_reference for one in (array, other))
            if is_open and may_be_one(array.element, other.element):
                return array.name, other.name
    return None


def may_be_one(element: CType, other: CType) -> bool:
    """Whether C lets an object be accessed as both types: only numbers of different kinds are told apart."""
    numbers = ("signed", "unsigned", "floating")
    is_number = element.kind in numbers and other.kind in numbers
    if not is_number or min(element.bits, other.bits) <= _CHARACTER:
        return True
    return element.bits == other.bits and (element.kind == "floating") == (other.kind == "floating")


# ---------------------------------------------------------------- sizes


def hidden_variables(function: FunctionTree, arrays: Iterable[Variable]) -> frozenset[Variable]:
    """Variables in extents of arrays that others of the same name may hide where the region stands."""
    declared = {*function.parameters, *declared_in(walk(function.body))}
    used = {variable for array in arrays for variable in named_in(extent_nodes(array))}
    return frozenset(one for one in used if any(other.name == one.name for other in declared - {one}))


def extent_nodes(array: Variable) -> Iterator[Expression]:
    """All expressions in the extents that an array is declared with."""
    for extent in array.extents:
        if extent is not None and not isinstance(extent, int):
            yield from (node for node in walk(extent) if isinstance(node, Expression))


def read_extents(
    array: Variable, affine: AffineReader, changed: frozenset[Variable]
) -> list[isl.PwAff | None]:
    """The extents that are affine in parameters which hold still from the declaration to the region."""
    extents: list[isl.PwAff | None] = []
    for extent in array.extents:
        known: isl.PwAff | None = None
        if isinstance(extent, int):
            known = isl.PwAff(f"{{ [] -> [{extent}] }}")
        elif extent is not None and changed.isdisjoint(named_in(walk(extent))):
            with suppress(NotAffine):
                known = affine.extent(extent, Scope.outside())
        extents.append(known)
    return extents


def extent_box(name: str, extents: Sequence[isl.PwAff | None]) -> isl.Set:
    """{ A[x] : 0 <= x < extent } in the dimensions whose extent is known."""
    box = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(extents)))
    for k, extent in enumerate(extents):
        if extent is None:
            continue
        below = isl.Map.from_pw_aff(extent)
        shift = isl.Map("{ [e] -> [x] : 0 <= x < e }")
        line = below.apply_range(shift).range()
        placed = line.insert_dims(isl.dim_type.set, 1, len(extents) - k - 1)
        box = box.intersect(placed.insert_dims(isl.dim_type.set, 0, k))
    return box.set_tuple_name(name)
