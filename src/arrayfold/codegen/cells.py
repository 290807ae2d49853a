"""Elements of flat arrays and elements that pointers reach: written by their cells, which the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from arrayfold.c.arithmetic import NameText, formula_text, parenthesised, sum_of
from arrayfold.c.source import CSource, PointerSource, StatementSource
from arrayfold.c.tree import Assign, Evaluate, Expression, Unary, Variable, array_access, bare, walk
from arrayfold.codegen.inner_loop import InnerLoop
from arrayfold.codegen.loops import condition_text
from arrayfold.codegen.relocations import Alternative, cell_alternatives, iterator_names
from arrayfold.codegen.storage import Storage, parameter_text, written_type
from arrayfold.exact.formula import Formula
from arrayfold.program.model import Program

_SMALL = 1 << 15


@dataclass(frozen=True, eq=False)
class CellText:
    """Texts of cells in one place of the code.

    texts   iterator, as formulas of cells name it -> what it is in C
    values  the same as a formula of the loops, where it is one
    """

    program: Program
    source: CSource
    texts: Mapping[str, str]
    values: Mapping[str, Formula] = field(default_factory=dict[str, Formula])
    inner: InnerLoop | None = None

    def element(self, relation: isl.Map, storage: Storage, *, is_target: bool) -> str:
        """The element that a statement means by { S[i] -> A[x] }, in its new place.

        is_target  something is assigned to it
        """
        return self._chosen(
            relation,
            lambda one: storage.element_of_cell(one.cell, self._text, self._known, self.inner),
            is_target=is_target,
        )

    def offset(self, pointer: PointerSource, domain: isl.Set) -> str:
        """How far a pointer is from the first element of its array, as a sum of products."""
        terms: list[str] = []
        for stride, value in pointer.terms:
            relation = isl.Map.from_pw_aff(value).intersect_domain(domain.reset_tuple_id())
            relation = relation.set_tuple_name(isl.dim_type.out, "distance")
            text = self._chosen(relation, lambda one: self._text(one.cell[0]))
            if stride != Formula.constant(1):
                factor = formula_text(stride, parameter_text(self.source.parameters))
                wide = "" if text.startswith("(long long)") else "(long long)"
                text = f"{wide}{parenthesised(text)} * {parenthesised(factor)}"
            terms.append(text)
        return " + ".join(text for text in terms if text != "0")

    def _chosen(
        self, relation: isl.Map, write: Callable[[Alternative], str], *, is_target: bool = False
    ) -> str:
        """The text of one alternative, or a choice among several; among their addresses, if it is set."""
        names = iterator_names(self.program, relation.dim(isl.dim_type.in_))
        relation = relation.intersect_params(self.program.context)
        *others, last = cell_alternatives(relation, names)
        text = write(last)
        known = {name: parenthesised(self.texts[name]) for name in names}
        to_text = parameter_text(self.source.parameters)
        known |= {name: to_text(name) for name in self.source.parameters}
        single, address = text, "&" if is_target else ""
        text = f"{address}{text}"
        for one in reversed(others):
            other = write(one)
            if other == single:
                continue
            single = ""
            text = f"({parenthesised(condition_text(one.when, known))} ? {address}{other} : {text})"
        return single or f"{'*' * is_target}{text}"

    def _text(self, formula: Formula) -> str:
        to_text: NameText = parameter_text(self.source.parameters)

        def name(one: str) -> str:
            return parenthesised(self.texts[one]) if one in self.texts else to_text(one)

        (names, constant) = formula.names(), formula.substitute(dict.fromkeys(formula.names(), 0))
        is_near = len(names) == 1 and formula - constant == Formula.name(next(iter(names)))
        if is_near and constant.is_whole and abs(constant.as_number()) < _SMALL:
            return sum_of([(1, name(next(iter(names)))), (int(constant.as_number()), "")])
        return formula_text(formula, name)

    def _known(self, formula: Formula) -> Formula | None:
        is_known = formula.names() & self.texts.keys() <= self.values.keys()
        return formula.replace_names(self.values) if is_known else None


def is_of_cells(source: CSource, tree: Expression, array: Variable) -> bool:
    """Whether the text of an element has other subscripts than the model, or a pointer for its array."""
    access = array_access(tree)
    return access is None or access[0] is not array or array in source.flat


def is_set(statement: StatementSource, tree: Expression) -> bool:
    """Whether a statement assigns to an element of its text, so that this must remain a place."""
    if not isinstance(statement.node, Evaluate):
        return False
    for node in walk(statement.node.expression):
        match node:
            case Assign(target=target) if bare(target) == tree:
                return True
            case Unary(operator="x++" | "x--" | "++" | "--", operand=operand) if bare(operand) == tree:
                return True
            case _:
                continue
    return False


def cells_of_text(statements: Sequence[StatementSource], tree: Expression) -> isl.Map | None:
    """{ S[i] -> A[x] } of an element in one of some statements."""
    return next((one.cells[tree] for one in statements if tree in one.cells), None)


@dataclass(eq=False)
class KeptCells:
    """Elements in loops that stay as they are written, in which the statements keep their iterators."""

    program: Program
    source: CSource
    storages: Mapping[Variable, Storage]

    @cached_property
    def _statements(self) -> dict[Expression | Variable, StatementSource]:
        """Element -> the statement that it is in."""
        sources = self.source.statements.values()
        return {node: one for one in reversed(list(sources)) for node in one.cells}

    def element(self, tree: Expression) -> str | None:
        """The new text of an element of a flat array that folds, or of one that a pointer reaches."""
        statement = self._statements.get(tree)
        if statement is None:
            return None
        relation = statement.cells[tree]
        base = self.source.variables[relation.get_tuple_name(isl.dim_type.out)]
        storage = self.storages.get(base)
        if storage is None or not is_of_cells(self.source, tree, base):
            return None
        relation = relation.intersect_params(self.program.context)
        if relation.is_empty():
            return f"(({written_type(base)})0)"
        names = iterator_names(self.program, len(statement.iterators))
        texts = {
            name: one.name if one.type.kind == "signed" else f"(long long){one.name}"
            for name, one in zip(names, statement.iterators, strict=True)
        }
        cells = CellText(self.program, self.source, texts)
        return cells.element(relation, storage, is_target=is_set(statement, tree))
