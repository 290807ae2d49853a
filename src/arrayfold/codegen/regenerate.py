"""A region with loops written anew: isl's loops around the user's own statements."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import CSource, StatementSource
from arrayfold.c.tree import Declare, Evaluate, Expression, Variable
from arrayfold.codegen.edits import NotInText, Rewriter, apply_edits
from arrayfold.codegen.expressions import ExpressionPrinter
from arrayfold.codegen.formulas import parenthesised
from arrayfold.codegen.guards import check_guards
from arrayfold.codegen.loops import LoopStyle, loop_lines
from arrayfold.codegen.storage import Storage, parameter_text, plain_type
from arrayfold.errors import InputError
from arrayfold.program import Program


def generated_lines(
    program: Program, source: CSource, storages: Sequence[Storage]
) -> tuple[list[str], list[Variable]]:
    """The lines of the region in the program's order, and the iterators that are not used any more."""
    check_guards(program)
    schedule = program.schedule
    assert schedule is not None
    runs = [name for name, statement in source.statements.items() if not _is_condition(statement)]
    domain = isl.UnionSet.empty(program.context.get_space())
    for statement in program.statements:
        if statement.name in runs:
            domain = domain.union(isl.UnionSet.from_set(statement.domain))
    schedule = schedule.intersect_domain(domain).intersect_params(program.context)
    depth = max((m.dim(isl.dim_type.out) for m in _maps(schedule)), default=0)
    taken = set(source.text.identifiers)
    iterators = [variable for name in runs for variable in source.statements[name].iterators]
    is_wide = any(iterator.type.bits > 32 for iterator in iterators)
    to_text = parameter_text(source.parameters)
    style = LoopStyle(
        tuple(_fresh(f"c{k}", taken) for k in range(depth)),
        "long long" if is_wide else "int",
        frozenset(program.parallel),
        {name: to_text(name) for name in source.parameters},
    )
    hoisted = _hoisted(source, storages, taken)
    writer = _StatementWriter(
        source, {storage.variable: storage for storage in storages}, hoisted, style.type
    )
    lines = loop_lines(schedule, program.context, style, writer.lines)
    declarations = [_declaration(variable, name, source) for variable, name in hoisted.items()]
    outside = [
        variable
        for variable in dict.fromkeys(iterators)
        if variable.storage == "local" and not source.region.holds(variable.span.start)
    ]
    return [*declarations, *lines], outside


def _is_condition(statement: StatementSource) -> bool:
    return not isinstance(statement.node, Evaluate | Variable)


def _maps(schedule: isl.UnionMap) -> list[isl.Map]:
    maps = schedule.get_map_list()
    return [maps.get_at(k) for k in range(maps.n_map())]


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _hoisted(source: CSource, storages: Sequence[Storage], taken: set[str]) -> dict[Variable, str]:
    """Variables that the region declares, with the names under which they are declared before the loops."""
    folded = {storage.variable for storage in storages}
    iterators = {variable for statement in source.statements.values() for variable in statement.iterators}
    found: dict[Variable, str] = {}
    used: set[str] = set()
    for node in source.region.nodes():
        if isinstance(node, Declare):
            for variable in node.variables:
                if variable not in folded and variable not in iterators and variable not in found:
                    is_free = variable.name not in used
                    found[variable] = variable.name if is_free else _fresh(f"{variable.name}_2", taken)
                    used.add(variable.name)
    return found


def _declaration(variable: Variable, name: str, source: CSource) -> str:
    if variable.storage == "static":
        raise InputError(
            f"static variable {variable.name} inside the region cannot be moved",
            source.text.place(variable.span.start),
            "Declare it before the region.",
        )
    texts: list[str] = []
    for extent in variable.extents:
        if extent is None:
            raise InputError(
                f"the size of {variable.name} is not known", source.text.place(variable.span.start)
            )
        texts.append(
            str(extent) if isinstance(extent, int) else ExpressionPrinter(_name, _element).text(extent)
        )
    return f"{plain_type(variable.element)} {name}{''.join(f'[{text}]' for text in texts)};"


def _name(variable: Variable) -> str:
    return variable.name


def _element(variable: Variable, texts: Sequence[str], trees: Sequence[Expression]) -> str:
    del trees
    return variable.name + "".join(f"[{text}]" for text in texts)


@dataclass(frozen=True, eq=False)
class _StatementWriter:
    """Statements with new iterators: the user's text where there is one, otherwise from the tree."""

    source: CSource
    storages: Mapping[Variable, Storage]
    hoisted: Mapping[Variable, str]
    type: str

    def lines(self, name: str, arguments: Sequence[str]) -> list[str]:
        """The lines of one statement."""
        statement = self.source.statements[name]
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
        return text if kind in ("int", self.type) else f"({kind}){parenthesised(text)}"

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
        lines = apply_edits(text.text, rewriter.found, node.span.start, end).splitlines()
        rest = textwrap.dedent("\n".join(lines[1:])).splitlines()
        return [lines[0].rstrip(), *(f"    {line.rstrip()}" for line in rest)]

    def _folded_element(
        self, variable: Variable, texts: Sequence[str], trees: Sequence[Expression]
    ) -> str | None:
        storage = self.storages.get(variable)
        if storage is not None and len(texts) == variable.rank:
            return storage.element(texts, trees)
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
