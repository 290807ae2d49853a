"""Guard reads: in a new order a guarded statement evaluates its conditions again, at its own time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from arrayfold.base.budget import Budget
from arrayfold.base.errors import InputError
from arrayfold.program.conditions import same_iteration
from arrayfold.program.model import Access, Problem, Program, Statement


@dataclass(frozen=True)
class GuardReads:
    """Guarded statements read the data of their conditions themselves, as loops written anew make them do."""

    name: ClassVar[str] = "guard-reads"
    flags: ClassVar[tuple[str, ...]] = ()

    def apply(self, program: Problem, budget: Budget | None = None) -> Program:
        """The program with these reads; the same one if it has them already, or has no conditions on data."""
        del budget
        if not isinstance(program, Program):
            raise InputError("only the statements of a program have conditions, but the file gives conflicts")
        return with_guard_reads(program)


def with_guard_reads(program: Program) -> Program:
    """The program whose guarded statements read the data of their conditions once more, themselves."""
    if program.evaluates_guards or not program.has_guards:
        return program
    assert program.source is not None
    by_name = {statement.name: statement for statement in program.statements}
    statements: list[Statement] = []
    for statement in program.statements:
        extra: list[Access] = []
        for guard in program.source.statements[statement.name].guards:
            condition = by_name[guard.evaluated]
            link = same_iteration(condition.domain, statement.domain).reverse()
            extra += [
                Access(access.array, link.apply_range(access.relation), is_write=False, is_must=False)
                for access in condition.accesses
                if not access.is_write
            ]
        statements.append(replace(statement, accesses=(*statement.accesses, *extra)))
    return replace(program, statements=tuple(statements), evaluates_guards=True)
