"""Loops that count become `for (int i_1 = start; i_1 < end; i_1++)`, with the last value assigned behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText, apply_edits
from arrayfold.c.source import assigned_variable, loop_variable
from arrayfold.c.tree import Expression, Variable, bare, declared_in, named_in, walk
from arrayfold.frontends.c.normal.counting import (
    Count,
    Limit,
    conjuncts,
    count_of,
    limit_of,
    own_breaks,
    step_amount,
    value_behind,
)
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import TreeText, end_of, header_of, literal, with_node


def counting_loops(scene: RegionScene) -> Iterator[Rewriting]:
    """Loops that are no plain for loops, but count: each written as one that is."""
    shared = _shared_iterators(scene)
    for loop in scene.statements():
        if not isinstance(loop, c.For | c.While) or loop in scene.kept:
            continue
        try:
            found = _split_header(scene, loop) if isinstance(loop, c.For) else None
            found = found or (_counted(scene, loop) if _needs(loop, shared) else None)
        except (NotInText, InputError):
            continue
        if found is not None:
            yield found


def _shared_iterators(scene: RegionScene) -> frozenset[Variable]:
    """Iterators that the region also uses outside of their loops."""
    inside: set[c.Node] = set()
    iterators: set[Variable] = set()
    for loop in scene.statements():
        variable = loop_variable(loop) if isinstance(loop, c.For) else None
        if variable is not None:
            iterators.add(variable)
            inside |= {
                node for node in walk(loop) if isinstance(node, c.Reference) and node.variable is variable
            }
    mentions = (node for node in scene.region.nodes() if isinstance(node, c.Reference))
    return frozenset(node.variable for node in mentions if node.variable in iterators and node not in inside)


def _needs(loop: c.For | c.While, shared: frozenset[Variable]) -> bool:
    if isinstance(loop, c.While):
        return True
    return loop.start is None or loop.step is None or loop_variable(loop) in shared


# ---------------------------------------------------------------- several variables in a header


def _split_header(scene: RegionScene, loop: c.For) -> Rewriting | None:
    """`for (i = 0, j = n; i < n; i++, j--)`: what is no matter of the loop's own variable moves out."""
    starts, steps = _starts(loop), _parts(loop.step)
    if len(starts) < 2 and len(steps) < 2:
        return None
    if loop.condition is None:
        return None
    primary = next(
        (
            variable
            for variable in dict.fromkeys(named_in(walk(loop.condition)))
            if scene.is_own_integer(variable) and _is_primary(variable, steps, loop)
        ),
        None,
    )
    others = [one for one in steps if assigned_variable(bare(one)) is not primary]
    if primary is None or any(primary in named_in(walk(one)) for one in others):
        return None
    named = {name for one in others for name in named_in(walk(one))}
    if any(_own_continues(loop.body)) and _declares_names(loop.body, named):
        return None
    texts, text = TreeText(scene.text), scene.text
    (own,) = (one for one in steps if assigned_variable(bare(one)) is primary)
    first = _text_of_starts(scene, loop)
    head = f"{first[1]}; {texts.expression(loop.condition)}; {texts.expression(own)}"
    more = " ".join(f"{texts.expression(one)};" for one in others)
    start, end = loop.span.start, end_of(text, loop)
    edits = [Edit(*header_of(text, loop), head), *_at_every_end(scene, loop, more)]
    if first[0]:
        edits = [Edit(start, start, f"{{ {first[0]} "), *edits, Edit(end, end, " }")]
    return Rewriting(start, end, tuple(edits))


def _declares_names(body: c.CStatement, variables: Collection[Variable]) -> bool:
    """Whether names of variables mean something else somewhere in the body of a loop."""
    names = {one.name for one in variables}
    return any(one.name in names for one in declared_in(walk(body)))


def _is_primary(variable: Variable, steps: list[Expression], loop: c.For) -> bool:
    own = [one for one in steps if assigned_variable(bare(one)) is variable]
    changes = any(assigned_variable(node) is variable for node in walk(loop.body))
    return len(own) == 1 and not changes and bool(step_amount(bare(own[0]), variable))


def _parts(expression: Expression | None) -> list[Expression]:
    """The parts of an expression joined by commas, in order."""
    if expression is None:
        return []
    inner = bare(expression)
    if isinstance(inner, c.Binary) and inner.operator == ",":
        return [*_parts(inner.left), *_parts(inner.right)]
    return [expression]


def _starts(loop: c.For) -> list[Expression | Variable]:
    match loop.start:
        case c.Declare(variables=variables):
            return [*variables]
        case c.Evaluate(expression=expression):
            return [*_parts(expression)]
        case _:
            return []


def _text_of_starts(scene: RegionScene, loop: c.For) -> tuple[str, str]:
    """What of the start of a header moves in front of the loop, and what stays in it."""
    texts = TreeText(scene.text)
    match loop.start:
        case c.Declare(variables=(_, _, *_)):
            return texts.statement(loop.start), ""
        case c.Evaluate(expression=expression) if len(_parts(expression)) > 1:
            return " ".join(f"{texts.expression(one)};" for one in _parts(expression)), ""
        case c.Declare():
            return "", texts.statement(loop.start).rstrip().removesuffix(";")
        case c.Evaluate(expression=expression):
            return "", texts.expression(expression)
        case _:
            return "", ""


def _at_every_end(scene: RegionScene, loop: c.For, more: str) -> Iterator[Edit]:
    """More statements at the end of the body of a loop, and at each of its continue statements."""
    if not more:
        return
    body = loop.body
    start, end = body.span.start, end_of(scene.text, body)
    yield Edit(start, start, "{ ")
    yield Edit(end, end, f" {more} }}")
    for jump in _own_continues(body):
        at = jump.span.start
        yield Edit(at, end_of(scene.text, jump), f"{{ {more} continue; }}")


def _own_continues(statement: c.CStatement) -> Iterator[c.Jump]:
    """The continue statements in the body of a loop that go on with its next turn."""
    match statement:
        case c.Jump(what="continue"):
            yield statement
        case c.For() | c.While():
            return
        case _:
            for child in c.children(statement):
                if isinstance(child, c.CStatement):
                    yield from _own_continues(child)


# ---------------------------------------------------------------- a loop that counts


def _counted(scene: RegionScene, loop: c.For | c.While) -> Rewriting | None:
    count = count_of(scene, loop)
    if count is None or loop.condition is None:
        return None
    parts = conjuncts(loop.condition)
    limit = limit_of(scene, parts[0], count, loop)
    is_late = isinstance(loop, c.While) and loop.is_late
    if limit is None or (len(parts) > 1 and (count.place == "condition" or is_late)):
        return None
    if is_late and count.place != "body":
        return None
    breaks = list(own_breaks(loop.body)) if _outlasts(scene, loop, count.variable) else []
    is_earlier = bool(breaks) or len(parts) > 1
    if breaks and _declares_names(loop.body, {count.variable}):
        return None
    new = scene.fresh(count.variable.name)
    is_fixed = count.start.isdigit() or (
        count.start == count.variable.name and not breaks and len(parts) == 1
    )
    start = count.start if is_fixed else scene.fresh(f"{count.variable.name}_start")
    tested = count.after(start) if is_late else start
    behind = value_behind(count, limit, tested, _compared(scene, count, limit, tested))
    is_needed = is_earlier and _outlasts(scene, loop, count.variable)
    if not behind or (is_needed and (limit.is_beyond or abs(count.amount) > 1)):
        # Before the loop it is not known whether it comes as far as that.
        return None
    kind = count.variable.type.spelling.replace("const", "").strip()
    first = "" if is_fixed else f"{kind} {start} = {count.start}; "
    code = f"for ({kind} {new} = {start}; {_head(scene, loop, count, limit, new, start)}) "
    code += f"{{ {_guards(scene, loop, count, parts, new)}{_body(scene, loop, count, new, breaks)} }}"
    last = _last(count, behind) if _outlasts(scene, loop, count.variable) else ""
    # Where the loop may end otherwise, that sets the value once more.
    pieces = [first, last, " ", code] if is_earlier else [first, code, " ", last]
    begin, end = loop.span.start, end_of(scene.text, loop)
    return Rewriting(begin, end, (Edit(begin, end, f"{{ {''.join(pieces)} }}"),))


def _outlasts(scene: RegionScene, loop: c.For | c.While, variable: Variable) -> bool:
    """Whether the value of a variable may matter behind a loop."""
    if isinstance(loop, c.For) and isinstance(loop.start, c.Declare):
        return False
    inside = set(walk(loop))
    mentions = (node for node in walk(scene.region.function.body) if node not in inside)
    return any(one is variable for one in named_in(mentions))


def _last(count: Count, behind: str) -> str:
    name = count.variable.name
    again = f" {name} = {count.after(name)};" if count.place == "condition" else ""
    return f"{name} = {behind};{again}"


def _guards(
    scene: RegionScene, loop: c.For | c.While, count: Count, parts: Sequence[Expression], new: str
) -> str:
    """Further conditions of a loop as breaks at the start of its body."""
    texts = TreeText(scene.text, {count.variable: new})
    is_needed = _outlasts(scene, loop, count.variable)
    leave = f"{count.variable.name} = {new}; break;" if is_needed else "break;"
    return "".join(f"if (!({texts.expression(part)})) {{ {leave} }} " for part in parts[1:])


def _head(scene: RegionScene, loop: c.For | c.While, count: Count, limit: Limit, new: str, start: str) -> str:
    """The condition and the step of the new loop."""
    text = _compared(scene, count, limit, new)
    if isinstance(loop, c.While) and loop.is_late:
        text = f"{new} == {start} || {text}"
    amount = count.amount
    step = (
        f"{new}{'++' if amount > 0 else '--'}"
        if abs(amount) == 1
        else f"{new} {'+' if amount > 0 else '-'}= {abs(amount)}"
    )
    return f"{text}; {step}"


def _compared(scene: RegionScene, count: Count, limit: Limit, value: str) -> str:
    """The comparison of a loop for a value of what it counts, before the change that the condition makes."""
    if count.place != "condition":
        return TreeText(scene.text, {count.variable: value}).expression(limit.comparison)
    text = literal(count.node, count.after(value) if count.is_early else value)
    return TreeText(scene.text).expression(with_node(limit.comparison, count.node, text))


def _body(scene: RegionScene, loop: c.For | c.While, count: Count, new: str, breaks: list[c.Jump]) -> str:
    """The body of a loop with the new variable, and without the step."""
    text, name = scene.text, count.variable.name
    start, end = loop.body.span.start, end_of(text, loop.body)
    edits: list[Edit] = []
    is_after = count.place == "condition"
    statements = loop.body.statements if isinstance(loop.body, c.Block) else (loop.body,)
    for statement in statements:
        value = count.after(new) if is_after else new
        if statement is count.statement:
            edits.append(Edit(statement.span.start, end_of(text, statement), ""))
            is_after = True
            continue
        own = [one for one in breaks if any(node is one for node in walk(statement))]
        leave = f"{{ {name} = {value}; break; }}"
        edits += [Edit(jump.span.start, end_of(text, jump), leave) for jump in own]
        if any(one is count.variable for one in named_in(walk(statement))):
            edits += _mentions(scene, statement, count.variable, value)
    return apply_edits(text.text, edits, start, end)


def _mentions(scene: RegionScene, statement: c.CStatement, variable: Variable, value: str) -> Iterator[Edit]:
    """The edits that put a value in for a variable in a statement."""
    plain = scene.text.plain
    for node in walk(statement):
        if isinstance(node, c.Reference) and node.variable is variable:
            at = node.span.start
            if not node.span.is_text or not plain.startswith(variable.name, at):
                raise NotInText(variable.name)
            yield Edit(at, at + len(variable.name), value)
