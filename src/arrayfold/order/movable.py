"""Whether the values of an array may live elsewhere, in arrays of the statements that write them."""

from __future__ import annotations

from arrayfold.c.source import updated_inside
from arrayfold.order.dataflow import certain_flows
from arrayfold.order.events import order_of
from arrayfold.program.model import Array, Program


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
    for statement in program.statements:
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
        if program.source is not None:
            if program.source.variables[array] in updated_inside(program.source.statements[statement.name]):
                return f"{statement.name} updates it inside of another assignment"
            for guard in program.source.statements[statement.name].guards:
                evaluated = next(one for one in program.statements if one.name == guard.evaluated)
                if any(access.array == array for access in evaluated.accesses):
                    return f"a condition around {statement.name} looks at it"
    return None
