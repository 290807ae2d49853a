"""A region with loops written anew: isl's loops around the user's own statements."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from arrayfold._isl import maps_of
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import Copy, CSource, StatementSource, loop_variable, variables_with_address
from arrayfold.c.tree import Call, Declare, Evaluate, Expression, For, Function, Reference, Variable, walk
from arrayfold.codegen.address import is_never_negative
from arrayfold.codegen.code_order import CodeOrder
from arrayfold.codegen.edits import NotInText, Rewriter, apply_edits
from arrayfold.codegen.expressions import ExpressionPrinter
from arrayfold.codegen.formulas import formula_text, parenthesised
from arrayfold.codegen.independence import Independence
from arrayfold.codegen.inner_loop import InnerLoop
from arrayfold.codegen.linear_forms import formula_in_c
from arrayfold.codegen.loops import LoopStyle, Place, Style, loop_lines
from arrayfold.codegen.names import Names
from arrayfold.codegen.storage import Storage, parameter_text, plain_type
from arrayfold.errors import InputError
from arrayfold.formula import Formula
from arrayfold.formula_isl import extents, from_aff
from arrayfold.guards import check_guards, with_guard_reads
from arrayfold.liveness import analyse
from arrayfold.mapping import FoldMapping
from arrayfold.program import Program
from arrayfold.verify import Proof, verify

_NUMERIC = frozenset(
    [
        *("abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1"),
        *("fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "isfinite", "isinf", "isnan"),
        *("labs", "log", "log10", "log1p", "log2", "pow", "remainder", "rint", "round", "sin", "sinh"),
        *("sqrt", "tan", "tanh", "trunc"),
    ]
)


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
    mappings: Sequence[FoldMapping],
    names: Names,
    style: Style = "fast",
) -> GeneratedRegion:
    """The region in the program's order."""
    check_guards(program)
    _refuse_repeated_conditions(source)
    _check_conditions_survive(program, source, mappings)
    _refuse_lost_values(program, source)
    order = CodeOrder.of(program, source)
    iterators = [variable for name in order.statements for variable in source.statements[name].iterators]
    is_wide = any(iterator.type.bits > 32 for iterator in iterators)
    to_text = parameter_text(source.parameters)
    loop_style = LoopStyle(
        tuple(names.fresh(f"c{k}") for k in range(order.depth)),
        "long long" if is_wide else "int",
        order.parallel,
        {name: to_text(name) for name in source.parameters},
        order.options() if style == "fast" else isl.UnionMap.empty(order.schedule.get_space()),
    )
    if style == "fast":
        stored = {mapping.array: mapping for mapping in mappings}
        known = Independence(with_guard_reads(program), order.schedule, stored)

        def is_positive(formula: Formula) -> bool:
            return is_never_negative(formula - 1, program.context)

        loop_style = replace(loop_style, name=names.shared, is_positive=is_positive, strips=known.strip)
    hoisted = _hoisted(source, storages, names)
    by_array = {mapping.array: storage for mapping, storage in zip(mappings, storages, strict=True)}
    deepest = max((storage.tile for storage in storages), default=0)
    writer = _StatementWriter(
        source,
        by_array,
        {
            item.name: {
                source.variables[access.array]: by_array[access.array]
                for access in item.accesses
                if access.array in by_array
            }
            for item in with_guard_reads(program).statements
        },
        {item.name: _times(program, item.name, deepest) for item in program.statements},
        hoisted,
        loop_style.type,
        loop_style.iterators,
    )

    def private(dimension: int) -> tuple[list[str], list[str]]:
        return _private_lines(storages, dimension)

    own = {array for array, storage in by_array.items() if storage.is_private}
    threads = (item.name for item in program.statements if own & {one.array for one in item.accesses})
    loop_style = replace(loop_style, private=private, threads=frozenset(threads))
    lines = loop_lines(order.schedule, program.context, loop_style, writer.lines)
    declarations = [_declaration(variable, name, source, program) for variable, name in hoisted.items()]
    outside = [
        variable
        for variable in dict.fromkeys(iterators)
        if variable.storage == "local" and not source.region.holds(variable.span.start)
    ]
    return GeneratedRegion(declarations, lines, outside, style == "readable")


def _check_conditions_survive(program: Program, source: CSource, mappings: Sequence[FoldMapping]) -> None:
    """Raise if a fold may overwrite what a condition reads before what it guards has run."""
    guarded = with_guard_reads(program)
    if guarded is program or program.schedule is not source.schedule:
        return
    liveness = analyse(guarded)
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
            if volatile or not all(map(_only_computes, calls)):
                raise InputError(
                    "this condition does more than look at data, so its loops must stay",
                    source.text.place(guard.condition.span.start),
                    "The loops of this region can be kept, but not written anew.",
                )


def _only_computes(function: Function) -> bool:
    """Whether a call has no effect: a function of the C library for numbers, or one with a simple body."""
    base = function.name.removesuffix("f") if function.name not in _NUMERIC else function.name
    return base in _NUMERIC or (function.returned is not None and not function.globals)


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
        if not isinstance(node, Reference) or node.variable not in iterators:
            continue
        if not source.region.holds(node.span.start) and not _is_set_again(source, node.variable, node):
            raise InputError(
                f"{node.variable.name} is used outside the region, so its loop must stay",
                source.text.place(node.span.start),
                "Use another iterator in the region.",
            )
    is_as_written = program.schedule is source.schedule or bool(program.buffers)
    if source.has_tasks and is_as_written:
        raise InputError(
            f"the OpenMP constructs of {source.name} must stay as they are written",
            source.text.place(source.region.before),
            "Only parallel for can be written anew; leave out --loops generate.",
        )
    written = {access.array for item in program.statements for access in item.accesses if access.is_write}
    scalars = [name for name in sorted(written) if program.array(name).rank == 0]
    if scalars and is_as_written and source.parallel:
        raise InputError(
            f"the parallel loops of {source.name} set {scalars[0]}, so they must stay as they are written",
            source.text.place(source.region.before),
        )


def _private_lines(storages: Sequence[Storage], dimension: int) -> tuple[list[str], list[str]]:
    """Lines that make the buffers of a thread in a parallel loop, and lines that end them."""
    mine = [storage for storage in storages if storage.is_private and dimension < storage.tile]
    begin = [line for storage in mine for line in storage.declaration()]
    return begin, [line for storage in mine for line in storage.release()]


def _iterator(position: int) -> str:
    """The name of an iterator in formulas of times; no parameter is called like that."""
    return f"@{position}"


def _times(program: Program, statement: str, count: int) -> list[Formula | None]:
    """The first coordinates of the time of a statement, in its iterators; None where one is not affine."""
    assert program.schedule is not None
    found: list[Formula | None] = []
    for part in maps_of(program.schedule):
        if count == 0 or part.get_tuple_name(isl.dim_type.in_) != statement:
            continue
        for k in range(count):
            others = part.dim(isl.dim_type.out) - k - 1
            one = part.project_out(isl.dim_type.out, k + 1, others).project_out(isl.dim_type.out, 0, k)
            pieces = (piece for _, piece in one.as_pw_multi_aff().get_at(0).get_pieces())
            fitting = [piece for piece in pieces if one.is_subset(isl.Map.from_aff(piece))]
            is_affine = bool(fitting) and not fitting[0].dim(isl.dim_type.div)
            found.append(_formula_of_iterators(fitting[0]) if is_affine else None)
    return found


def _formula_of_iterators(form: isl.Aff) -> Formula:
    total = Formula.constant(0)
    rest = form
    for k in range(form.dim(isl.dim_type.in_)):
        slope = form.get_coefficient_val(isl.dim_type.in_, k).to_python()
        total += Formula.name(_iterator(k)) * slope
        rest = rest.set_coefficient_val(isl.dim_type.in_, k, isl.Val(0))
    return total + from_aff(rest)


def _is_set_again(source: CSource, variable: Variable, use: Reference) -> bool:
    """Whether a use outside the region lies in a for loop of its own over the variable."""
    return any(
        isinstance(node, For)
        and loop_variable(node) is variable
        and node.span.start <= use.span.start < node.span.end
        and not node.span.start < source.region.start < node.span.end
        for node in walk(source.region.function.body)
    )


def _hoisted(source: CSource, storages: Sequence[Storage], names: Names) -> dict[Variable, str]:
    """Variables that the region declares, with the names under which they are declared before the loops."""
    folded = {storage.variable for storage in storages}
    accessed = set(source.variables.values())
    found: dict[Variable, str] = {}
    for node in source.region.nodes():
        if isinstance(node, Declare):
            for variable in node.variables:
                if variable in accessed and variable not in folded:
                    found[variable] = names.own_or_fresh(variable, source.region.function)
    return found


def _declaration(variable: Variable, name: str, source: CSource, program: Program) -> str:
    if variable.storage == "static":
        raise InputError(
            f"static variable {variable.name} inside the region cannot be moved",
            source.text.place(variable.span.start),
            "Declare it before the region.",
        )
    text = f"{plain_type(variable.element)} {name}"
    if variable.is_array:
        to_text = parameter_text(source.parameters)
        (model_name,) = (key for key, other in source.variables.items() if other is variable)
        cells = program.array(model_name).cells.intersect_params(program.context)
        for low, length in extents(cells, program.context):
            size = Formula.extreme("max", [low + length, Formula.constant(1)])
            text += f"[{formula_text(size, to_text)}]"
    return f"{text};"


def _element(variable: Variable, texts: Sequence[str], trees: Sequence[Expression]) -> str:
    del trees
    return variable.name + "".join(f"[{text}]" for text in texts)


@dataclass(frozen=True, eq=False)
class _StatementWriter:
    """Statements with new iterators: the user's text where there is one, otherwise from the tree."""

    source: CSource
    arrays: Mapping[str, Storage]
    users: Mapping[str, Mapping[Variable, Storage]]
    times: Mapping[str, Sequence[Formula | None]]
    hoisted: Mapping[Variable, str]
    type: str
    iterators: tuple[str, ...]
    inner: InnerLoop | None = None
    known: Mapping[Variable, Formula | None] = field(default_factory=dict[Variable, "Formula | None"])
    storages: Mapping[Variable, Storage] = field(default_factory=dict[Variable, Storage])
    tile: Sequence[tuple[str, Formula | None]] = ()

    def lines(
        self, name: str, arguments: Sequence[str], place: Place | None, loops: Mapping[int, str]
    ) -> list[str]:
        """The lines of one statement."""
        statement = self.source.statements[name]
        parameters = {name: Formula.name(name) for name in self.source.parameters}
        formulas = place.iterators if place is not None else (None,) * len(arguments)
        known = {variable: parameters[name] for name, variable in self.source.parameters.items()}
        known |= dict(zip(statement.iterators, formulas, strict=False))
        tile = [
            (loops[k], Formula.name(loops[k])) if k in loops else self._coordinate(time, arguments, formulas)
            for k, time in enumerate(self.times[name])
        ]
        inner = None if place is None else place.inner
        writer = replace(self, inner=inner, known=known, storages=self.users[name], tile=tile)
        if isinstance(statement.node, Copy):
            return writer.copy_lines(statement.node, arguments, formulas)
        return writer.statement_lines(statement, arguments)

    def _coordinate(
        self, time: Formula | None, arguments: Sequence[str], formulas: Sequence[Formula | None]
    ) -> tuple[str, Formula | None]:
        """A coordinate of a tile as C and as a formula, from the iterators of a statement."""
        if time is None:
            raise InputError("tiles are no affine function of the loops, so they cannot be written")
        to_text = parameter_text(self.source.parameters)
        texts = {_iterator(k): parenthesised(argument) for k, argument in enumerate(arguments)}
        text = formula_text(time, lambda one: texts[one] if one in texts else to_text(one))
        values = {_iterator(k): formula for k, formula in enumerate(formulas) if formula is not None}
        is_known = all(one in values for one in time.names() & texts.keys())
        return text, time.replace_names(values) if is_known else None

    def copy_lines(
        self, copy: Copy, arguments: Sequence[str], formulas: Sequence[Formula | None]
    ) -> list[str]:
        """A copy from one array to another."""

        def element(array: str) -> str:
            storage = self.arrays[array]
            texts = [text for text, _ in self.tile[: storage.tile]] + list(arguments[copy.skip :])
            values = [value for _, value in self.tile[: storage.tile]] + list(formulas[copy.skip :])
            return storage.element_at([parenthesised(text) for text in texts], self.inner, values)

        return [f"{element(copy.target)} = {element(copy.origin)};"]

    def statement_lines(self, statement: StatementSource, arguments: Sequence[str]) -> list[str]:
        """A statement of the user, guarded as it was."""
        values = {
            iterator: self._converted(iterator, argument)
            for iterator, argument in zip(statement.iterators, arguments, strict=True)
        }
        body = self._body(statement, values)
        conditions = [
            text if guard.must_hold else f"!{parenthesised(text)}"
            for guard in statement.guards
            for text in [self._printer(values).text(guard.condition)]
        ]
        if not conditions:
            return body
        joined = " && ".join(map(parenthesised, conditions)) if len(conditions) > 1 else conditions[0]
        return [f"if ({joined}) {{", *(f"  {line}" for line in body), "}"]

    def _converted(self, iterator: Variable, text: str) -> str:
        kind = iterator.type.spelling
        sizes = (variable.type for variable in self.source.parameters.values())
        has_int_sizes = all(size.kind == "signed" and size.bits <= 32 for size in sizes)
        is_plain = kind == self.type and (has_int_sizes or text in self.iterators)
        return text if is_plain else f"({kind}){parenthesised(text)}"

    def _body(self, statement: StatementSource, values: Mapping[Variable, str]) -> list[str]:
        node = statement.node
        if isinstance(node, Variable):
            assert node.initial is not None
            return [f"{self.hoisted[node]} = {self._printer(values).text(node.initial, -1)};"]
        assert isinstance(node, Evaluate)
        try:
            return self._edited(node, values)
        except NotInText:
            return [f"{self._printer(values).text(node.expression)};"]

    def _edited(self, node: Evaluate, values: Mapping[Variable, str]) -> list[str]:
        """The user's own text, with iterators and subscripts exchanged."""
        text = self.source.text
        end = end_of_statement(text.plain, node.span.start) if node.span.is_text else None
        if end is None:
            raise NotInText(text.file)
        new_names = {**self.hoisted, **values}
        rewriter = Rewriter(
            text,
            lambda variable: new_names.get(variable) if variable not in self.storages else None,
            self._folded_element,
        )
        rewriter.visit(node)
        lines = apply_edits(text.text, rewriter.found, node.span.start, end).split("\n")
        rest = textwrap.dedent("\n".join(lines[1:])).split("\n") if len(lines) > 1 else []
        return [lines[0].rstrip(), *(f"    {line.rstrip()}" for line in rest)]

    def _folded_element(
        self, variable: Variable, texts: Sequence[str], trees: Sequence[Expression]
    ) -> str | None:
        storage = self.storages.get(variable)
        is_folded = any(one.variable is variable for one in self.arrays.values())
        assert storage is not None or not is_folded, f"{variable.name} is folded, but not for this statement"
        if storage is not None and len(texts) == variable.rank:
            if texts and not any(texts):
                return storage.name
            values = [formula_in_c(tree, self.known) for tree in trees]
            if not storage.tile:
                return storage.element(texts, trees, self.inner, values)
            outer, known = zip(*self.tile[: storage.tile], strict=True)
            factors = [*map(parenthesised, outer), *storage.factors(texts, trees)]
            return storage.element_at(factors, self.inner, [*known, *values])
        new = self.hoisted.get(variable)
        if new is not None and variable.is_array and new != variable.name:
            return new + "".join(f"[{text}]" for text in texts)
        return None

    def _printer(self, values: Mapping[Variable, str]) -> ExpressionPrinter:
        def variable_text(variable: Variable) -> str:
            return values.get(variable, self.hoisted.get(variable, variable.name))

        def element_text(variable: Variable, texts: Sequence[str], trees: Sequence[Expression]) -> str:
            return self._folded_element(variable, texts, trees) or _element(variable, texts, trees)

        return ExpressionPrinter(variable_text, element_text)
