"""Whether the values of an array may live elsewhere, in arrays of the statements that write them."""

from __future__ import annotations

from collections.abc import Mapping

from arrayfold.base.remembered import remembered
from arrayfold.c.source import updated_inside
from arrayfold.order.dataflow import certain_flows
from arrayfold.order.events import order_of
from arrayfold.program.model import Array, Program, Statement


def may_move(program: Program, array: Array) -> bool:
    """Whether values of an array may live elsewhere: nothing else looks at them inside the program."""
    source = program.source
    if source is None:
        return True
    variable = source.variables[array.name]
    if array.rank == 0:
        return variable in source.own_variables() and not variable.is_volatile
    if array.name in program.kept:
        is_alone = source.may_alias is None and source.impure is None
        return is_alone and not program.kept[array.name].is_final and not variable.is_volatile
    return True


def find_obstacle(program: Program, array: str) -> str | None:
    """Why the statements that write an array cannot have arrays of their own, if they cannot."""
    if program.source is not None and program.source.uncertain is not None:
        return "data decides how often a loop runs"
    order = order_of(program)
    if not order.is_total and certain_flows(program, order, [array]) is None:
        return "whose value is read depends on which of its parallel parts runs first"
    return _obstacles_in_statements(program).get(array)


@remembered
def _obstacles_in_statements(program: Program) -> Mapping[str, str]:
    """array -> what the first statement that is in the way does with it."""
    found: dict[str, str] = {}
    arrays_of: dict[str, set[str]] = {}
    for statement in program.statements:
        arrays_of[statement.name] = {access.array for access in statement.accesses}
    for statement in program.statements:
        for array in sorted(arrays_of[statement.name]):
            reason = _obstacle_in_accesses(program, statement, array)
            if reason is not None:
                found.setdefault(array, reason)
        if program.source is None:
            continue
        text = program.source.statements[statement.name]
        updated = updated_inside(text)
        for array, variable in program.source.variables.items() if updated else ():
            if variable in updated:
                found.setdefault(array, f"{statement.name} updates it inside of another assignment")
        for guard in text.guards:
            for array in sorted(arrays_of[guard.evaluated]):
                found.setdefault(array, f"a condition around {statement.name} looks at it")
    return found


def _obstacle_in_accesses(program: Program, statement: Statement, array: str) -> str | None:
    mine = [access for access in statement.accesses if access.array == array]
    written = [access for access in mine if access.is_write]
    if len(written) > 1:
        return f"{statement.name} writes it more than once"
    if any(not access.is_must for access in written):
        return f"{statement.name} has a write that need not happen"
    if program.source is not None and not all(access.relation.is_single_valued() for access in mine):
        return f"{statement.name} uses a part of it as a whole"
    if any(not access.relation.is_single_valued() for access in written):
        return f"{statement.name} writes more than one cell"
    return None
