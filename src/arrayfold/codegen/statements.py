"""Statements in new loops: the user's own text with other iterators and elements."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.arithmetic import formula_text, parenthesised, subscripted
from arrayfold.c.edits import INDENT, NotInText, Rewriter, apply_edits, indented
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.printer import ExpressionPrinter
from arrayfold.c.source import Copy, CSource, StatementSource
from arrayfold.c.tree import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Evaluate,
    Expression,
    Number,
    Opaque,
    Parentheses,
    Reference,
    Subscript,
    Unary,
    Variable,
    bare,
    subscripts_of,
    walk,
)
from arrayfold.codegen.cells import CellText, cells_of_text, is_of_cells, is_set
from arrayfold.codegen.decided import decided
from arrayfold.codegen.inner_loop import InnerLoop
from arrayfold.codegen.loops import LoopSite, condition_text
from arrayfold.codegen.relocations import Alternative, Relocations, iterator_names
from arrayfold.codegen.storage import Storage, parameter_text, written_type
from arrayfold.codegen.subscript_types import is_only_in_subscripts
from arrayfold.exact.formula import Formula
from arrayfold.exact.formula_isl import from_aff
from arrayfold.exact.isl import maps_by_domain
from arrayfold.program.model import Program

_WIDEST = "long long"
_PURE = (Number, Binary, Unary, Cast, Conditional, Parentheses)


@dataclass(frozen=True, eq=False)
class StatementWriter:
    """Statements with new iterators: the user's text where there is one, otherwise from the tree.

    subscripts  those of elements in statements as formulas of the iterators around them, as far as they were
                asked for; an interior and its border have elements in common and run for other iterators
    evaluated   the statement of the condition that is being written, if it is one
    """

    source: CSource
    places: Relocations
    arrays: Mapping[str, Storage]
    users: Mapping[str, Mapping[Variable, Storage]]
    times: Mapping[str, Sequence[Formula | None]]
    hoisted: Mapping[Variable, str]
    type: str
    iterators: tuple[str, ...]
    subscripts: dict[tuple[str, Expression], list[Formula | None]] = field(
        default_factory=dict[tuple[str, Expression], "list[Formula | None]"]
    )
    inner: InnerLoop | None = None
    known: Mapping[Variable, Formula | None] = field(default_factory=dict[Variable, "Formula | None"])
    storages: Mapping[Variable, Storage] = field(default_factory=dict[Variable, Storage])
    tile: Sequence[tuple[str, Formula | None]] = ()
    name: str = ""
    arguments: Sequence[tuple[str, Formula | None]] = ()
    evaluated: str | None = None

    def lines(
        self,
        name: str,
        arguments: Sequence[str],
        place: LoopSite | None,
        loops: Mapping[int, str],
        where: isl.Set | None,
    ) -> list[str]:
        """The lines of one statement, for the instances { S[i] } that run there."""
        statement = self.source.statements[name]
        if where is not None:
            statement = decided(statement, where)
        parameters = {name: Formula.name(name) for name in self.source.parameters}
        formulas = place.iterators if place is not None else (None,) * len(arguments)
        known = {variable: parameters[name] for name, variable in self.source.parameters.items()}
        known |= dict(zip(statement.iterators, formulas, strict=False))
        tile = [
            (loops[k], Formula.name(loops[k])) if k in loops else self._coordinate(time, arguments, formulas)
            for k, time in enumerate(self.times[name])
        ]
        inner = None if place is None else place.inner
        writer = replace(
            self,
            source=replace(self.source, statements={**self.source.statements, name: statement}),
            inner=inner,
            known=known,
            storages=self.users[name],
            tile=tile,
            name=name,
            arguments=tuple(zip(arguments, formulas, strict=True)),
        )
        if isinstance(statement.node, Copy):
            return writer.copy_lines(statement.node, arguments, formulas)
        return writer.statement_lines(statement, arguments)

    def _coordinate(
        self, time: Formula | None, arguments: Sequence[str], formulas: Sequence[Formula | None]
    ) -> tuple[str, Formula | None]:
        """A coordinate of a tile as C and as a formula, from the iterators of a statement."""
        if time is None:
            raise InputError("the tiles are not an affine function of the loops, so they cannot be written")
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

        def element(array: str, at: Sequence[int]) -> str:
            storage = self.arrays[array]
            texts = [text for text, _ in self.tile[: storage.tile]] + [arguments[k] for k in at]
            values = [value for _, value in self.tile[: storage.tile]] + [formulas[k] for k in at]
            return storage.element(list(map(parenthesised, texts)), self.inner, values, may_move=True)

        target, origin = element(copy.target, copy.target_at), element(copy.origin, copy.origin_at)
        return [f"{target} = {origin};"]

    def statement_lines(self, statement: StatementSource, arguments: Sequence[str]) -> list[str]:
        """A statement of the user, guarded as it was."""
        values = {
            iterator: self._converted(statement, iterator, argument)
            for iterator, argument in zip(statement.iterators, arguments, strict=True)
        }
        body = self._body(statement, values)
        conditions = [
            text if guard.must_hold else f"!{parenthesised(text)}"
            for guard in statement.guards
            for text in [replace(self, evaluated=guard.evaluated)._printer(values).text(guard.condition)]
        ]
        if not conditions:
            return body
        joined = " && ".join(map(parenthesised, conditions)) if len(conditions) > 1 else conditions[0]
        return [f"if ({joined}) {{", *indented(body), "}"]

    def _converted(self, statement: StatementSource, iterator: Variable, text: str) -> str:
        """The value of an iterator, of the type that it had where that makes a difference."""
        kind = iterator.type.spelling
        is_wide = self.type == _WIDEST or kind == self.type
        if iterator.type.kind == "signed" and is_wide and is_only_in_subscripts(statement, iterator):
            return text
        sizes = (variable.type for variable in self.source.parameters.values())
        has_int_sizes = all(size.kind == "signed" and size.bits <= 32 for size in sizes)
        is_plain = kind == self.type and (has_int_sizes or text in self.iterators)
        return text if is_plain else f"({kind}){parenthesised(text)}"

    def _body(self, statement: StatementSource, values: Mapping[Variable, str]) -> list[str]:
        node = statement.node
        if isinstance(node, Variable):
            assert node.initial is not None
            if isinstance(node.initial, Opaque):
                raise self.source.text.error(
                    f"the initial values of {node.name} cannot be written again in new loops",
                    node.span.start,
                    "Declare it before the region, or assign them one by one.",
                )
            target = self._moved_element(node, is_write=True) or self.hoisted[node]
            return [f"{target} = {self._printer(values).text(node.initial, -1)};"]
        assert isinstance(node, Evaluate)
        try:
            return self._updated(node, values) or self._edited(node, values)
        except NotInText:
            return [f"{self._printer(values, _targets(node.expression)).text(node.expression)};"]

    def _updated(self, node: Evaluate, values: Mapping[Variable, str]) -> list[str] | None:
        """`a += b` where the new value has another place than the old one."""
        change: Expression | None = None
        match bare(node.expression):
            case Assign(operator=operator, target=target, value=change) if operator != "=":
                operator = operator.removesuffix("=")
            case Unary(operator="x++" | "x--" | "++" | "--" as operator, operand=target):
                operator = operator[-1]
            case _:
                return None
        if all(self._places_of(bare(target), is_write=writes) is None for writes in (True, False)):
            return None
        printer = self._printer(values)
        place = self._printer(values, {bare(target)}).text(target)
        inner = self._printer(values, set() if change is None else _targets(change))
        new = "1" if change is None else parenthesised(inner.text(change))
        return [f"{place} = {printer.text(target)} {operator} {new};"]

    def _edited(self, node: Evaluate, values: Mapping[Variable, str]) -> list[str]:
        """The user's own text, with iterators and subscripts exchanged."""
        text = self.source.text
        end = end_of_statement(text.plain, node.span.start) if node.span.is_text else None
        # What begins as an argument of a macro ends elsewhere.
        if end is None or text.plain[: node.span.start].rstrip().endswith(("(", ",")):
            raise NotInText(text.file)
        new_names = {**self.hoisted, **values}
        targets = _targets(node.expression)

        def element(variable: Variable, texts: Sequence[str], tree: Reference | Subscript) -> str | None:
            return self._folded_element(variable, texts, tree, is_write=tree in targets)

        rewriter = Rewriter(
            text,
            lambda variable: new_names.get(variable) if variable not in self.storages else None,
            element,
            lambda tree: self._reached_element(tree, is_write=tree in targets),
        )
        rewriter.visit(node)
        lines = apply_edits(text.text, rewriter.found, node.span.start, end).split("\n")
        rest = textwrap.dedent("\n".join(lines[1:])).split("\n") if len(lines) > 1 else []
        return [lines[0].rstrip(), *(f"{INDENT}{line.rstrip()}" for line in rest)]

    def _folded_element(
        self, variable: Variable, texts: Sequence[str], tree: Reference | Subscript, *, is_write: bool
    ) -> str | None:
        stays = None if variable in self.source.pointers else (variable, texts)
        moved = self._moved_element(tree, is_write=is_write, stays=stays)
        if moved is not None:
            return moved
        by_cell = self._element_by_cell(tree)
        if by_cell is not None:
            return by_cell
        pointer = self._pointer(variable)
        if pointer is not None:
            return subscripted(pointer, texts)
        storage = self.storages.get(variable)
        is_folded = any(
            one.variable is variable
            for name, one in self.arrays.items()
            if name not in self.places.program.relocation.origins
        )
        is_gone = is_folded or variable in self.source.replaced.values()
        if storage is None and is_gone and len(texts) == variable.rank:
            # No iteration gets here, so the statement has no such access.
            known = [one.cells[tree] for one in self._evaluated() if tree in one.cells]
            assert all(one.intersect_params(self.places.program.context).is_empty() for one in known)
            return f"(({written_type(variable)})0)"
        if storage is not None and len(texts) == variable.rank:
            if texts and not any(texts):
                return storage.name
            trees, outer = subscripts_of(tree), self.tile[: storage.tile]
            factors = [*(parenthesised(text) for text, _ in outer), *storage.factors(texts, trees)]
            values = [*(value for _, value in outer), *self._subscript_values(tree)]
            return storage.element(factors, self.inner, values, may_move=all(map(self._may_move, trees)))
        new = self.hoisted.get(variable)
        if new is not None and variable.is_array and new != variable.name:
            return subscripted(new, texts)
        return None

    def _reached_element(self, tree: Expression, *, is_write: bool) -> str | None:
        """What stands for an element that is no chain of subscripts on a variable, such as `*p`."""
        return self._moved_element(tree, is_write=is_write) or self._element_by_cell(tree)

    def _element_by_cell(self, tree: Expression) -> str | None:
        """What stands for an element of a flat array that folds, or for one that a pointer reaches."""
        relation = cells_of_text(self._evaluated(), tree)
        array = None if relation is None else relation.get_tuple_name(isl.dim_type.out)
        base = None if array is None else self.source.variables.get(array)
        if relation is None or array is None or base is None or not is_of_cells(self.source, tree, base):
            return None
        storage = self.storages.get(base)
        if storage is None:
            return f"(({written_type(base)})0)" if array in self.arrays else None
        is_target = any(is_set(one, tree) for one in self._evaluated())
        return self._cell_text().element(relation, storage, is_target=is_target)

    def _pointer(self, variable: Variable) -> str | None:
        """What stands for a pointer that the region sets: the place in its array."""
        if variable not in self.source.pointers:
            return None
        known = (one.pointers[variable] for one in self._evaluated() if variable in one.pointers)
        pointer = next(known, None)
        if pointer is None:
            raise InputError(
                f"where pointer {variable.name} points is not known well enough to write it in new loops",
                self.source.text.place(self.source.region.before),
                "The loops of this region can be kept, but not written anew.",
            )
        domain = next(one for one in self.places.program.statements if one.name == self.name).domain
        offset = self._cell_text().offset(pointer, domain)
        return f"({pointer.array.name} + {offset})" if offset else pointer.array.name

    def _cell_text(self) -> CellText:
        named = self._named_arguments()
        texts = {name: text for name, (text, _) in named.items()}
        values = {name: value for name, (_, value) in named.items() if value is not None}
        return CellText(self.places.program, self.source, texts, values, self.inner)

    def _evaluated(self) -> list[StatementSource]:
        """The statement, and those that evaluate its conditions; what is being written comes first."""
        own = self.source.statements[self.name]
        conditions = [self.source.statements[guard.evaluated] for guard in own.guards]
        if self.evaluated is not None:
            return [self.source.statements[self.evaluated], own, *conditions]
        return [own, *conditions]

    def _subscript_values(self, tree: Reference | Subscript) -> list[Formula | None]:
        """The subscripts of an element in the iterators of new loops, by what the model says of its cell."""
        for statement in self._evaluated():
            relation = statement.cells.get(tree)
            if relation is None:
                continue
            key = (self.name, tree)
            if key not in self.subscripts:
                self.subscripts[key] = _affine_coordinates(relation, relation.dim(isl.dim_type.out))
            iterators = {_iterator(k): self.known.get(one) for k, one in enumerate(statement.iterators)}
            known = {name: value for name, value in iterators.items() if value is not None}
            return [
                None
                if form is None or form.names() & iterators.keys() - known.keys()
                else form.replace_names(known)
                for form in self.subscripts[key]
            ]
        return [None] * len(subscripts_of(tree))

    def _may_move(self, subscript: Expression) -> bool:
        """Whether a subscript is made of nothing but iterators of its loops and parameters, whose values are
        the same before a loop that does not change them."""
        own = {*self.source.statements[self.name].iterators, *self.source.parameters.values()}
        return all(
            node.variable in own if isinstance(node, Reference) else isinstance(node, _PURE)
            for node in walk(subscript)
        )

    def _moved_element(
        self,
        node: Expression | Variable,
        *,
        is_write: bool,
        stays: tuple[Variable, Sequence[str]] | None = None,
    ) -> str | None:
        """What stands for an element or a variable whose values have other places; None if they stayed.

        stays  its text where some of the values stayed
        """
        alternatives = self._places_of(node, is_write=is_write)
        if alternatives is None:
            return None
        texts: list[str] = []
        for one in alternatives:
            if one.array is not None:
                texts.append(self._place(one))
            else:
                if stays is None:
                    raise InputError(
                        "some values that a pointer reaches have other places, and some do not",
                        self.source.text.place(self.source.region.before),
                        "Another --mode or --share leaves all of them in one array.",
                    )
                texts.append(stays[0].text(stays[1]))
        text = texts[-1]
        names = {name: parenthesised(value) for name, (value, _) in self._named_arguments().items()}
        to_text = parameter_text(self.source.parameters)
        names |= {name: to_text(name) for name in self.source.parameters}
        # A choice is no place in C, but one of addresses leads to one.
        is_target = is_write and len(texts) > 1
        address = "&" * is_target
        text = f"{address}{text}"
        for one, other in zip(reversed(alternatives[:-1]), reversed(texts[:-1]), strict=True):
            condition = condition_text(one.when, names)
            text = f"({parenthesised(condition)} ? {address}{other} : {text})"
        return f"{'*' * is_target}{text}"

    def _places_of(self, node: Expression | Variable, *, is_write: bool) -> list[Alternative] | None:
        text = self.source.statements[self.name]
        return self.places.of(self.name, text, node, is_write=is_write)

    def _named_arguments(self) -> dict[str, tuple[str, Formula | None]]:
        """The iterators by the names that formulas of cells know."""
        names = iterator_names(self.places.program, len(self.arguments))
        return dict(zip(names, self.arguments, strict=True))

    def _place(self, one: Alternative) -> str:
        assert one.array is not None
        named = self._named_arguments()
        to_text = parameter_text(self.source.parameters)
        texts = {name: parenthesised(text) for name, (text, _) in named.items()}
        values = {name: value for name, (_, value) in named.items() if value is not None}

        def text(formula: Formula) -> str:
            return formula_text(formula, lambda name: texts.get(name) or to_text(name))

        def known(formula: Formula) -> Formula | None:
            is_known = formula.names() & named.keys() <= values.keys()
            return formula.replace_names(values) if is_known else None

        return self.arrays[one.array].element_of_cell(one.cell, text, known, self.inner)

    def _printer(
        self, values: Mapping[Variable, str], targets: Collection[Expression] = ()
    ) -> ExpressionPrinter:
        def text(variable: Variable, texts: Sequence[str], tree: Reference | Subscript) -> str:
            found = self._folded_element(variable, texts, tree, is_write=tree in targets)
            if found is not None:
                return found
            if texts:
                return variable.text(texts)
            return values.get(variable, self.hoisted.get(variable, variable.name))

        def other(tree: Expression) -> str | None:
            return self._reached_element(tree, is_write=tree in targets)

        return ExpressionPrinter(self.source.text, text, other)


def _targets(expression: Expression) -> set[Expression]:
    """What a chain of assignments assigns to."""
    found: set[Expression] = set()
    inner = bare(expression)
    while isinstance(inner, Assign):
        found.add(bare(inner.target))
        inner = bare(inner.value)
    return found


def _iterator(position: int) -> str:
    """The name of an iterator in formulas of times; no parameter is called like that."""
    return f"@{position}"


def times_of(program: Program, statement: str, count: int) -> list[Formula | None]:
    """The first coordinates of the time of a statement, in its iterators; None where one is not affine."""
    assert program.schedule is not None
    time = maps_by_domain(program.schedule).get(statement)
    return [] if time is None else _affine_coordinates(time, count)


def _affine_coordinates(relation: isl.Map, count: int) -> list[Formula | None]:
    """The first coordinates of { S[i] -> A[x] } in the iterators; None where one is not affine."""
    return [_affine_coordinate(relation, k) for k in range(count)]


def _affine_coordinate(relation: isl.Map, k: int) -> Formula | None:
    """Coordinate k of { S[i] -> [x] } in the iterators, if one affine form says it everywhere."""
    others = relation.dim(isl.dim_type.out) - k - 1
    one = relation.project_out(isl.dim_type.out, k + 1, others).project_out(isl.dim_type.out, 0, k)
    if not one.is_single_valued():
        return None
    pieces = (piece for _, piece in one.as_pw_multi_aff().get_at(0).get_pieces())
    form = next((piece for piece in pieces if one.is_subset(isl.Map.from_aff(piece))), None)
    return None if form is None or form.dim(isl.dim_type.div) else _formula_of_iterators(form)


def _formula_of_iterators(form: isl.Aff) -> Formula:
    total = Formula.constant(0)
    rest = form
    for k in range(form.dim(isl.dim_type.in_)):
        slope = form.get_coefficient_val(isl.dim_type.in_, k).to_python()
        total += Formula.name(_iterator(k)) * slope
        rest = rest.set_coefficient_val(isl.dim_type.in_, k, isl.Val(0))
    return total + from_aff(rest)
