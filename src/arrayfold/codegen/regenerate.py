"""A region with loops written anew: isl's loops around the user's own statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import islpy as isl

from arrayfold.base.choices import Style
from arrayfold.base.errors import InputError
from arrayfold.c.arithmetic import formula_text
from arrayfold.c.calls import only_computes
from arrayfold.c.source import CSource, loop_variable, variables_with_address
from arrayfold.c.tree import Call, Declare, For, Reference, Variable, walk
from arrayfold.codegen.independence import Independence
from arrayfold.codegen.loops import LoopStyle, LoopTree, loop_lines
from arrayfold.codegen.names import Names
from arrayfold.codegen.ranges import Range, Ranges
from arrayfold.codegen.relocations import Relocations
from arrayfold.codegen.statements import StatementWriter, times_of
from arrayfold.codegen.storage import Storage, parameter_text, written_type
from arrayfold.codegen.unused import is_plain_value
from arrayfold.conflicts.liveness import analyse
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import maps_of
from arrayfold.exact.parameter_values import parameter_range
from arrayfold.exact.signs import is_at_least
from arrayfold.frontends.c.integers import limits
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping
from arrayfold.order.code_order import CodeOrder
from arrayfold.order.reductions import exchangeable_updates
from arrayfold.passes.borders import SplitBorders
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.program.guards import check_guards, refuse_uncertain_loops
from arrayfold.program.model import Program

_INT_BITS = 32
_LARGEST_OBJECT = 2**63 - 1
_ABOUT = 64
_MULTIPLES = (8, 6, 4, 3, 2, 1)
_MOST_COPIES = 8


@dataclass(frozen=True)
class GeneratedRegion:
    """A region with new loops.

    declarations  what must stand before it
    lines         the region itself
    iterators     variables outside it that it does not use any more
    is_affine     it could be analysed again
    """

    declarations: list[str]
    lines: list[str]
    iterators: list[Variable]
    is_affine: bool


def generate_region(
    program: Program,
    source: CSource,
    storages: Sequence[Storage],
    mappings: Sequence[EmittableMapping],
    replaced: Sequence[Variable],
    names: Names,
    style: Style = "fast",
) -> GeneratedRegion:
    """The region in the program's order.

    It is longer than other functions because what it knows of the region is shared by functions inside of it.

    replaced  variables that it does not use any more
    """
    check_new_loops(program, source)
    _check_conditions_survive(program, source, mappings)
    program = SplitBorders().apply(program) if style == "fast" else program
    assert program.source is not None
    source = program.source
    order = CodeOrder.of(program, source)
    iterators = [variable for name in order.statements for variable in source.statements[name].iterators]
    of_threads = source.of_threads if program.is_as_written else program.private_variables()
    users = _users(program, source, of_threads)
    new = tuple(names.fresh(f"c{k}") for k in range(order.depth))
    is_cut = bool(users) and bool(order.parallel)
    with_instances = is_cut or (style == "fast" and any(one.choices for one in source.statements.values()))
    by_array = {mapping.array: storage for mapping, storage in zip(mappings, storages, strict=True)}
    stored = {mapping.array: mapping for mapping in mappings}
    blocks = {array for array, storage in by_array.items() if storage.is_in_block}
    hoisted = _hoisted(source, replaced, names)

    def declarations_for(statements: frozenset[str]) -> list[str]:
        used = (variable for variable in users if variable in hoisted and users[variable] & statements)
        return [_declaration(variable, hoisted[variable], source, program) for variable in used]

    def private(dimension: int, statements: frozenset[str]) -> tuple[list[str], list[str]]:
        begin, end = _private_lines(storages, dimension)
        return [*declarations_for(statements), *begin], end

    def write(order: CodeOrder) -> tuple[list[str], frozenset[str]]:
        tree = _loop_tree(program, source, order, new, style, with_instances=with_instances)
        ranges = Ranges.of(_parameter_ranges(program, source), tree.root)
        is_wide = any(map(_is_wide, iterators)) or not ranges.all_fit(
            tree.root, {new[d] for d in order.parallel}
        )
        to_text = parameter_text(source.parameters)
        loop_style = LoopStyle(
            new,
            "long long" if is_wide else "int",
            order.parallel,
            {name: to_text(name) for name in source.parameters},
            ranges,
            names.shared if style == "fast" else None,
            private,
            partial(_is_whole, order.schedule, list(users.values())) if is_cut else None,
            _statements_of_threads(program, by_array),
            lambda formula: is_at_least(formula, 1, program.context),
            Independence(with_guard_reads(program), order.schedule, stored, blocks).strip,
        )
        writer = _statement_writer(program, source, stored, by_array, hoisted, loop_style)
        return loop_lines(tree, loop_style, writer.lines)

    lines, outside_of_threads = write(order)
    while unread := [one for one in hoisted if _is_unread(source, one, hoisted[one], lines)]:
        for one in unread:
            del hoisted[one]
        order = order.without({name for name in order.statements if source.statements[name].node in unread})
        lines, outside_of_threads = write(order)
    shared = [(variable, name) for variable, name in hoisted.items() if variable not in users]
    declarations = [_declaration(variable, name, source, program) for variable, name in shared]
    declarations += declarations_for(outside_of_threads)
    return GeneratedRegion(declarations, lines, _outer(iterators, source), style == "readable")


def _statements_of_threads(program: Program, storages: Mapping[str, Storage]) -> frozenset[str]:
    """The statements that access what each thread has for itself."""
    own = {array for array, storage in storages.items() if storage.is_private}
    return frozenset(item.name for item in program.statements if own & {one.array for one in item.accesses})


def _outer(iterators: Iterable[Variable], source: CSource) -> list[Variable]:
    """The iterators that are local variables declared outside of the region."""
    local = (variable for variable in dict.fromkeys(iterators) if variable.storage == "local")
    return [variable for variable in local if not source.region.holds(variable.span.start)]


def _loop_tree(
    program: Program,
    source: CSource,
    order: CodeOrder,
    iterators: Sequence[str],
    style: Style,
    *,
    with_instances: bool,
) -> LoopTree:
    """isl's loops for the order, at the sizes at which the program may run: those that are assumed, too."""
    sizes = _assumed_sizes(program)
    sizes = sizes if source.legal is None else sizes.intersect(source.legal)
    make = partial(LoopTree.of, order.schedule, sizes, iterators, with_instances=with_instances)
    if style != "fast":
        return make(isl.UnionMap.empty(order.schedule.get_space()))
    plain = make(order.options())
    if not plain.conditions_inside:
        return plain
    try:
        cut = make(order.options().union(order.separation()))
    except isl.Error:
        # isl does not cut all loops with strides apart.
        return plain
    is_better = cut.conditions_inside < plain.conditions_inside
    return cut if is_better and cut.places <= _MOST_COPIES * plain.places else plain


def _is_wide(iterator: Variable) -> bool:
    """Whether an int does not hold all values of an iterator's type."""
    return iterator.type.bits > _INT_BITS - (iterator.type.kind == "unsigned")


def _statement_writer(
    program: Program,
    source: CSource,
    mappings: Mapping[str, EmittableMapping],
    storages: Mapping[str, Storage],
    hoisted: Mapping[Variable, str],
    style: LoopStyle,
) -> StatementWriter:
    """What writes the statements, given where arrays are, by their names in the model."""
    deepest = max((storage.tile for storage in storages.values()), default=0)
    users = {
        item.name: {
            source.variables[access.array]: storages[access.array]
            for access in item.accesses
            if access.array in storages and access.array not in program.relocation.origins
        }
        for item in with_guard_reads(program).statements
    }
    times = {item.name: times_of(program, item.name, deepest) for item in program.statements}
    places = Relocations(program, mappings)
    return StatementWriter(source, places, storages, users, times, hoisted, style.type, style.iterators)


def check_new_loops(program: Program, source: CSource) -> None:
    """Raise if the loops of a region cannot be written anew, wherever its values are stored."""
    refuse_uncertain_loops(program, "its loops must stay")
    check_guards(program, exchangeable_updates(program))
    _refuse_repeated_conditions(source)
    _refuse_lost_values(program, source)
    _refuse_hidden_values(source)


def _check_conditions_survive(
    program: Program, source: CSource, mappings: Sequence[EmittableMapping]
) -> None:
    """Raise if a fold may overwrite what a condition reads before what it guards has run."""
    if program.evaluates_guards or not (program.has_guards and program.is_as_written):
        return
    liveness = analyse(with_guard_reads(program))
    for mapping in mappings:
        if not isinstance(verify(liveness.conflicts(mapping.array), mapping), Proof):
            raise InputError(
                f"folding {mapping.array} may overwrite what a condition reads before all that it guards ran",
                source.text.place(source.region.before),
                "The loops of this region can be kept, but not written anew.",
            )


def _refuse_repeated_conditions(source: CSource) -> None:
    """Every guarded statement evaluates its conditions once more, which must not be noticed."""
    for statement in source.statements.values():
        for guard in statement.guards:
            volatile = any(
                isinstance(node, Reference) and node.variable.is_volatile for node in walk(guard.condition)
            )
            calls = (node.function for node in walk(guard.condition) if isinstance(node, Call))
            if volatile or not all(only_computes(function, source.pure) for function in calls):
                raise InputError(
                    "this condition does more than look at data, so its loops must stay",
                    source.text.place(guard.condition.span.start),
                    "The loops of this region can be kept, but not written anew.",
                )


def _refuse_lost_values(program: Program, source: CSource) -> None:
    """New loops set no iterator that is read later, and make no variable private to threads."""
    iterators = {variable for statement in source.statements.values() for variable in statement.iterators}
    seen = variables_with_address(source.region.function)
    for variable in iterators:
        if variable.storage in ("global", "static") or variable in seen:
            raise InputError(
                f"{variable.name} may be used outside the region, so its loop must stay",
                source.text.place(source.region.before),
                "Use a local iterator in the region.",
            )
    for node in walk(source.region.function.body):
        if (
            isinstance(node, Reference)
            and node.variable in source.pointers
            and not source.region.holds(node.span.start)
        ):
            raise InputError(
                f"pointer {node.variable.name} is used outside the region, so its loop must stay",
                source.text.place(node.span.start),
                "Use another pointer in the region.",
            )
        if not isinstance(node, Reference) or node.variable not in iterators:
            continue
        if not source.region.holds(node.span.start) and not _is_set_again(source, node.variable, node):
            raise InputError(
                f"{node.variable.name} is used outside the region, so its loop must stay",
                source.text.place(node.span.start),
                "Use another iterator in the region.",
            )
    if program.critical is not None:
        raise InputError(
            f"the critical sections of {source.name} must stay as they are written",
            source.text.place(source.region.before),
        )
    if source.has_tasks and program.is_as_written:
        raise InputError(
            f"the OpenMP constructs of {source.name} must stay as they are written",
            source.text.place(source.region.before),
            f"Only parallel for can be written anew, as {_needs_new_loops(program)}.",
        )
    written = {access.array for item in program.statements for access in item.accesses if access.is_write}
    others = sorted(name for name in written if source.variables[name] not in source.of_threads)
    single = [name for name in others if _has_clause(source, name) or program.array(name).rank == 0]
    if single and program.is_as_written and source.parallel:
        raise InputError(
            f"{source.name} sets {single[0]} and has parallel loops, which must stay as they are written",
            source.text.place(source.region.before),
        )


def _refuse_hidden_values(source: CSource) -> None:
    """New loops set variables that clauses keep from being set."""
    if source.hidden:
        name = min(source.hidden)
        raise InputError(
            f"{name} has a value of its own in each thread, and the one from before may be used behind, "
            "so its loop must stay",
            source.text.place(source.region.before),
            f"Declare {name} inside of the parallel loop.",
        )


def _has_clause(source: CSource, array: str) -> bool:
    """Whether threads have an array each by a clause, which new loops do without."""
    return source.variables[array].name in source.of_clauses


def _needs_new_loops(program: Program) -> str:
    """What makes new loops necessary in the order as written, and what does not."""
    if program.relocation.buffers:
        return "--local needs it"
    if program.relocation.moved is not None:
        return "--mode reallocate and --share cells need it; --share offsets does not"
    return "--loops generate and subscripts inside of macros need it"


def _users(
    program: Program, source: CSource, variables: Iterable[Variable]
) -> dict[Variable, frozenset[str]]:
    """Variable -> statements that access it, in the order of the text."""
    found = {variable: frozenset[str]() for variable in sorted(variables, key=lambda one: one.span.start)}
    for statement in with_guard_reads(program).statements:
        for access in statement.accesses:
            variable = source.variables[access.array]
            if variable in found:
                found[variable] |= {statement.name}
    return found


def _parameter_ranges(program: Program, source: CSource) -> dict[str, Range]:
    """Parameter -> the smallest and the largest value that types, context, assumptions and memory allow."""
    known = _assumed_sizes(program)
    found: dict[str, Range] = {}
    for name, variable in source.parameters.items():
        low, high = limits(variable.type)
        least, most = parameter_range(known, name)
        most = min(high if most is None else most, _largest_in_memory(program, source, name))
        most = min(most, _largest_in_extents(program, source, name))
        found[name] = low if least is None else max(low, least), min(high, most)
    return found


def _assumed_sizes(program: Program) -> isl.Set:
    """{ : }: the parameter values of the context for which all holds that is assumed."""
    return reduce(isl.Set.intersect, (one.where for one in program.assumptions), program.context)


def _largest_in_memory(program: Program, source: CSource, name: str) -> int:
    """The largest value of a parameter at which arrays with several such extents can exist."""
    found = _LARGEST_OBJECT
    for array, box in source.declared.items():
        extents = [box.dim_max(k) for k in range(box.dim(isl.dim_type.set))]
        multiples = [multiple for one in extents if (multiple := _multiple(one, name, program.context))]
        if len(multiples) > 1:
            variable = {**source.variables, **source.replaced}[array]
            cells = _LARGEST_OBJECT // max(1, variable.element.bits // 8) // math.prod(multiples)
            found = min(found, int(cells ** (1 / len(multiples))) + 2 * _ABOUT)
    return found


def _largest_in_extents(program: Program, source: CSource, name: str) -> int:
    """The largest value of a parameter at which no extent of an array overflows."""
    found = _LARGEST_OBJECT
    for array, box in source.declared.items():
        variable = {**source.variables, **source.replaced}[array]
        if box.dim(isl.dim_type.set) != len(variable.extents):
            continue
        for k, extent in enumerate(variable.extents):
            if extent is None or isinstance(extent, int) or extent.type.kind != "signed":
                continue
            _, most = limits(extent.type)
            last = box.dim_max(k)
            multiple, beyond = _multiple_and_rest(last, name, program.context)
            if multiple:
                found = min(found, (most - 1 - beyond) // multiple)
    return found


def _multiple(extent: isl.PwAff, name: str, context: isl.Set) -> int:
    """How many times as large as a parameter an extent is at least, but for a few; 0 if it may be smaller."""
    return _multiple_and_rest(extent, name, context)[0]


def _multiple_and_rest(extent: isl.PwAff, name: str, context: isl.Set) -> tuple[int, int]:
    """The same, and how far the extent is beyond that multiple at least, which may be negative."""
    if extent.find_dim_by_name(isl.dim_type.param, name) < 0:
        return 0, 0
    for multiple in _MULTIPLES:
        parameter = isl.PwAff(f"[{name}] -> {{ [({multiple}{name})] }}")
        least = extent.sub(parameter).intersect_params(context).min_val()
        if least.is_int() and least.to_python() >= -_ABOUT:
            return multiple, least.to_python()
    return 0, 0


def _is_whole(
    schedule: isl.UnionMap,
    users: Sequence[frozenset[str]],
    dimension: int,
    inside: isl.UnionSet,
    outside: isl.UnionSet,
) -> bool:
    """Whether no thread of a loop has instances both inside and outside that use the same variable.

    users            for each variable of threads, the statements that access it
    inside, outside  { S[i] }  the instances in the loop, and the others
    """
    for statements in users:
        begun, rest = (_threads(schedule, one, statements, dimension) for one in (inside, outside))
        if not begun.intersect(rest).is_empty():
            return False
    return True


def _threads(
    schedule: isl.UnionMap, instances: isl.UnionSet, statements: frozenset[str], dimension: int
) -> isl.UnionSet:
    """{ [t] }: the iterations of the loop of a dimension, and of those around it, that run some instances."""
    found = isl.UnionSet.empty(schedule.get_space())
    for part in maps_of(schedule.intersect_domain(instances)):
        if part.get_tuple_name(isl.dim_type.in_) in statements:
            times = part.range()
            inner = times.dim(isl.dim_type.set) - dimension - 1
            times = times.project_out(isl.dim_type.set, dimension + 1, inner)
            found = found.union(isl.UnionSet.from_set(times))
    return found


def _private_lines(storages: Sequence[Storage], dimension: int) -> tuple[list[str], list[str]]:
    """Lines that make the buffers of a thread in a parallel loop, and lines that end them."""
    mine = [storage for storage in storages if storage.is_private and dimension < storage.tile]
    begin = [line for storage in mine for line in storage.declaration()]
    return begin, [line for storage in mine for line in storage.release()]


def _is_set_again(source: CSource, variable: Variable, use: Reference) -> bool:
    """Whether a use outside the region lies in a for loop of its own over the variable."""
    return any(
        isinstance(node, For)
        and loop_variable(node) is variable
        and node.span.start <= use.span.start < node.span.end
        and not node.span.start < source.region.start < node.span.end
        for node in walk(source.region.function.body)
    )


def _hoisted(source: CSource, replaced: Sequence[Variable], names: Names) -> dict[Variable, str]:
    """Variables that the region declares, with the names under which they are declared before the loops."""
    accessed = set(source.variables.values())
    found: dict[Variable, str] = {}
    for node in source.region.nodes():
        if isinstance(node, Declare):
            for variable in node.variables:
                if variable in accessed and variable not in replaced:
                    found[variable] = names.own_or_fresh(variable, source.region.function)
    return found


def _is_unread(source: CSource, variable: Variable, name: str, lines: Sequence[str]) -> bool:
    """Whether all that new loops do with a variable is to set it to its initial value."""
    mention = re.compile(rf"\b{re.escape(name)}\b(?! = )|(?<=\S)\s*\b{re.escape(name)}\b")
    return is_plain_value(source, variable) and not any(map(mention.search, lines))


def _declaration(variable: Variable, name: str, source: CSource, program: Program) -> str:
    if variable.storage == "static":
        raise InputError(
            f"static variable {variable.name} inside the region cannot be moved",
            source.text.place(variable.span.start),
            "Declare it before the region.",
        )
    text = f"{written_type(variable)} {name}"
    if variable.is_array:
        to_text = parameter_text(source.parameters)
        (model_name,) = (key for key, other in source.variables.items() if other is variable)
        cells = program.array(model_name).cells.intersect_params(program.context)
        for low, length in extents(cells, program.context):
            size = Formula.extreme("max", [low + length, Formula.constant(1)])
            text += f"[{formula_text(size, to_text)}]"
    return f"{text};"
