"""Pointers that change places in every turn of a loop: one case for each way in which they may lie.

`for (t = 0; t < n; t++) { b[i] = a[i]; tmp = a; a = b; b = tmp; }` becomes
`for (t = 0; t < n; t++) if (t % 2 == 0) b[i] = a[i]; else a[i] = b[i];`, where pointers stay what they are.
What uses them behind the loop has a case for each number of turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arrayfold.base.errors import InputError
from arrayfold.c import tree as c
from arrayfold.c.edits import Edit, NotInText, Rewriter, apply_edits, removal, whole_line
from arrayfold.c.lexer import end_of_statement
from arrayfold.c.source import assigned_in, assigned_variable
from arrayfold.c.tree import CStatement, Expression, Node, Variable, bare, declared_in, walk
from arrayfold.frontends.c.allocations import allocating_call, is_null
from arrayfold.frontends.c.normal.scene import RegionScene, Rewriting
from arrayfold.frontends.c.normal.texts import end_of
from arrayfold.frontends.c.normal.turns import (
    CountedLoop,
    is_nested,
    mentions,
    statements_in,
    turns_of,
)
from arrayfold.frontends.c.pointers import is_repeated

_LONGEST_PERIOD = 4
Pointers = Mapping[Variable, Variable]


def rotating_pointers(scene: RegionScene) -> Iterator[Rewriting]:
    """Loops whose turns end with assignments that only let pointers change places."""
    for loop in scene.statements():
        if isinstance(loop, c.For) and loop not in scene.kept:
            try:
                found = _Rotation.of(scene, loop)
                rewriting = None if found is None else found.rewriting()
            except (NotInText, InputError):
                continue
            if rewriting is not None:
                yield rewriting


@dataclass(frozen=True, eq=False)
class _Piece:
    """A statement of a loop body, and where pointers point in it, in terms of the beginning of the turn."""

    statement: CStatement
    pointers: Pointers


@dataclass(frozen=True, eq=False)
class _Rotation:
    """A loop in which pointers change places.

    pieces  the statements of its body that do more than that
    swaps   those that do nothing else
    after   pointer -> the one whose place it has after a turn
    spare   pointers that are used for nothing but that
    """

    scene: RegionScene
    loop: c.For
    turns: CountedLoop
    pieces: tuple[_Piece, ...]
    swaps: tuple[CStatement, ...]
    after: Pointers
    spare: frozenset[Variable]
    origins: Pointers = field(default_factory=dict[Variable, Variable])

    @classmethod
    def of(cls, scene: RegionScene, loop: c.For) -> _Rotation | None:
        """The pointers that change places in a loop; None if none do, or if not only that happens."""
        pieces: list[_Piece] = []
        swaps: list[CStatement] = []
        pointers: dict[Variable, Variable] = {}
        early: set[Variable] = set()
        inside = set(declared_in(walk(loop.body)))
        for statement in statements_in(loop.body):
            moves = _moves(statement)
            if moves is None:
                pieces.append(_Piece(statement, dict(pointers)))
                early |= {one for one in _named(statement) if one not in pointers}
                continue
            swaps.append(statement)
            for target, value in moves:
                if value not in pointers and value not in inside:
                    early.add(value)
                pointers[target] = pointers.get(value, value)
        changed = {one: origin for one, origin in pointers.items() if one not in inside and origin is not one}
        spare = frozenset(one for one in changed if one not in early)
        after = {one: origin for one, origin in changed.items() if one not in spare}
        if not after or set(after.values()) != set(after):
            return None
        if any(_is_set(piece.statement, {*after, *spare}) for piece in pieces):
            return None
        if any(not _is_own(scene, one) for one in {*after, *spare}):
            return None
        turns = turns_of(scene, loop)
        if turns is None or is_nested(scene.region, loop) or not _are_spare(scene, loop, spare):
            return None
        found = cls(scene, loop, turns, tuple(pieces), tuple(swaps), after, spare)
        origins = {one: found.origin(one) for one in after}
        names = [*pointers, *after, *spare, *origins.values()]
        if not _are_clear(scene, names) or found.period > _LONGEST_PERIOD:
            return None
        return cls(scene, loop, turns, tuple(pieces), tuple(swaps), after, spare, origins)

    @property
    def period(self) -> int:
        """After how many turns all pointers are where they were."""
        places = dict(self.after)
        period = 1
        while any(one is not other for one, other in places.items()) and period <= _LONGEST_PERIOD:
            places = {one: self.after[other] for one, other in places.items()}
            period += 1
        return period

    def origin(self, pointer: Variable) -> Variable:
        """An array or a pointer that stays as it is, and that a pointer is set to at first; or itself."""
        function = self.scene.region.function
        initial = None if pointer.initial is None else bare(pointer.initial)
        is_local = pointer.storage == "local" and not is_repeated(self.scene.region)
        if not isinstance(initial, c.Reference) or not is_local:
            return pointer
        value = initial.variable
        nodes = list(walk(function.body))
        sets = [node for node in nodes if assigned_variable(node) is pointer]
        are_here = all(any(node is one for swap in self.swaps for one in walk(swap)) for node in sets)
        is_same = value.element.canonical == pointer.element.canonical and value.rank == pointer.rank
        is_fixed = value not in set(assigned_in(nodes)) or _is_allocated_once(nodes, value, pointer)
        is_fixed = is_fixed and value.storage in ("local", "parameter") and value.is_array
        return value if are_here and is_same and is_fixed and value not in self.scene.escaped else pointer

    def _places(self, phase: int) -> dict[Variable, Variable]:
        """Where pointers point after so many turns."""
        places = {one: one for one in self.after}
        for _ in range(phase):
            places = {one: self.after[other] for one, other in places.items()}
        return {one: self.origins[other] for one, other in places.items()}

    # ------------------------------------------------ text

    def rewriting(self) -> Rewriting | None:
        """The loop, what uses the pointers behind it, and what is left of their declarations."""
        scene, loop = self.scene, self.loop
        conditions = [self.turns.is_turn(phase, self.period) for phase in range(self.period - 1)]
        known = [one for one in conditions if one is not None]
        if len(known) < len(conditions):
            return None
        bodies = [self._body(phase) for phase in range(self.period)]
        start, end = loop.body.span.start, end_of(scene.text, loop)
        indent = _indentation(scene, loop)
        new = _cases(known, bodies, f"{indent}  ")
        edits = [Edit(start, end, f"{{\n{indent}  {new}\n{indent}}}")]
        users = self._users_behind()
        if users is None:
            return None
        inside, later = users
        totals = self._totals() if inside or later else []
        if totals is None or (totals and not self._is_known_behind()):
            return None
        last = end
        # The number of turns that changes nothing comes last.
        places = [self._places(phase % self.period) for phase in range(1, self.period + 1)]
        for statement in inside:
            last = end_of(scene.text, statement)
            texts = [self._statement(statement, one) for one in places]
            edits.append(
                Edit(statement.span.start, last, _cases(totals, texts, _indentation(scene, statement)))
            )
        lines = [self._assignments(one, later) for one in places] if later else []
        if any(lines):
            lines = [f"{{ {one} }}" if one else ";" for one in lines]
            after = scene.region.after
            newline = "" if scene.text.text[:after].endswith("\n") else "\n"
            new = indent + _cases(totals, lines, indent)
            edits.append(Edit(after, after, f"{newline}{new}\n"))
        return Rewriting(loop.span.start, last, (*edits, *self._needless(inside, later)))

    def _totals(self) -> list[str] | None:
        """The conditions that the number of turns leaves a remainder of 1, 2 and so on."""
        total = self.turns.total()
        if total is None:
            return None
        number, are_any = total
        return [f"{are_any} && {number} % {self.period} == {phase}" for phase in range(1, self.period)]

    def _is_known_behind(self) -> bool:
        """Whether the variables that say how many turns there were keep their values until the end."""
        region, loop = self.scene.region, self.loop
        parts = [one for one in (loop.start, loop.condition) if one is not None]
        named = {one for part in parts for one in _named(part)} - {self.turns.count.variable}
        behind = [node for node in region.nodes() if node.span.start > loop.span.start]
        at_top = [one for node in region.statements if isinstance(node, c.Declare) for one in node.variables]
        return all(
            one not in set(assigned_in(behind)) and (one in at_top or not region.holds(one.span.start))
            for one in named
        )

    def _body(self, phase: int) -> str:
        """The body of the loop in turns of a kind."""
        places, text = self._places(phase), self.scene.text
        edits: list[Edit] = []
        for piece in self.pieces:
            names = {
                one: places.get(value, value)
                for one, value in {**places_of(places), **piece.pointers}.items()
            }
            edits += _renamed(self.scene, piece.statement, names)
        ranges: list[tuple[int, int]] = []
        for swap in self.swaps:
            start, end = swap.span.start, end_of(text, swap)
            if ranges and not text.text[ranges[-1][1] : start].strip():
                start = ranges.pop()[0]
            ranges.append((start, end))
        edits += [whole_line(text.text, *one) for one in ranges]
        return apply_edits(text.text, edits, self.loop.body.span.start, end_of(text, self.loop))

    def _statement(self, statement: CStatement, places: dict[Variable, Variable]) -> str:
        """A statement behind the loop: what compares pointers is decided, what sets them changes places."""
        start, end = statement.span.start, end_of(self.scene.text, statement)
        moves = _moves(statement)
        if moves is not None:
            for target, value in moves:
                places[target] = places.get(value, value)
            return ";"
        if isinstance(statement, c.If):
            outcome = self._compared(statement.condition, places)
            if outcome is not None:
                chosen = statement.then if outcome else statement.otherwise
                return ";" if chosen is None else self._statement(chosen, places)
        if _is_set(statement, set(places)):
            if not isinstance(statement, c.Block):
                raise NotInText(self.scene.text.file)
            return f"{{ {' '.join(self._statement(one, places) for one in statement.statements)} }}"
        return apply_edits(self.scene.text.text, _renamed(self.scene, statement, places), start, end)

    def _compared(self, condition: Expression, places: Pointers) -> bool | None:
        inner = bare(condition)
        if not isinstance(inner, c.Binary) or inner.operator not in ("==", "!="):
            return None
        sides = [bare(side) for side in (inner.left, inner.right)]
        named = [side.variable for side in sides if isinstance(side, c.Reference)]
        if len(named) < 2:
            return None
        first, second = (places.get(one, one) for one in named)
        nodes = list(walk(self.scene.region.function.body))
        if not is_repeated(self.scene.region):
            # The places are those before the loop, whatever sets the pointers there or later.
            nodes = [node for node in nodes if node.span.start < self.loop.span.start]
        if first is second:
            return inner.operator == "=="
        if _is_fresh(nodes, first) or _is_fresh(nodes, second):
            return inner.operator == "!="
        raise NotInText(self.scene.text.file)

    def _assignments(self, places: Pointers, later: Collection[Variable]) -> str:
        """What gives the pointers that are used later their places."""
        moved = [one for one in self.after if one in later and places[one] is not one]
        if not {places[one] for one in moved} & set(moved):
            return " ".join(f"{one.name} = {places[one].name};" for one in moved)
        saved = {one: self.scene.fresh(one.name) for one in moved}
        first = " ".join(f"void *{name} = {places[one].name};" for one, name in saved.items())
        return " ".join([first, *(f"{one.name} = {name};" for one, name in saved.items())])

    # ------------------------------------------------ who looks at the pointers

    def _users_behind(self) -> tuple[list[CStatement], frozenset[Variable]] | None:
        """The statements of the region behind the loop that use the pointers, and the pointers used later."""
        region = self.scene.region
        pointers = set(self.after)
        outside = [
            node
            for node in walk(region.function.body)
            if isinstance(node, c.Reference)
            and node.variable in pointers
            and not region.holds(node.span.start)
        ]
        used = {node.variable for node in outside if node.span.start > region.start}
        if self._are_only_freed():
            used.clear()
        later = frozenset(pointers if is_repeated(region) else used)
        behind = self._behind()
        if behind is None:
            rest = (one for one in region.statements if one.span.end > self.loop.span.end)
            is_free = not later and not any(_named(one) & pointers for one in rest)
            return ([], later) if is_free else None
        users = [one for one in behind if _named(one) & pointers]
        if any(isinstance(one, c.Declare) for one in users):
            return None
        return users, later

    def _behind(self) -> list[CStatement] | None:
        """The statements of the region that run behind the loop; None if conditions are around it."""
        found: list[CStatement] = []
        statement: CStatement = self.loop
        while True:
            parent = self.scene.parents.get(statement)
            if parent is not None and not isinstance(parent, c.Block):
                return None
            siblings = self.scene.region.statements if parent is None else parent.statements
            found += siblings[next(k for k, one in enumerate(siblings) if one is statement) + 1 :]
            if parent is None:
                return found
            statement = parent

    def _are_only_freed(self) -> bool:
        """Whether all that happens after the region is that each of the pointers is freed."""
        region = self.scene.region
        nodes = [node for node in walk(region.function.body) if node.span.start > region.end]
        freed: list[Variable | None] = []
        harmless: list[Variable | None] = []
        for node in nodes:
            match node:
                case c.Call(function=function, arguments=(argument,)) if function.name == "free":
                    inner = bare(argument)
                    freed.append(_bare_pointer(inner.operand if isinstance(inner, c.Cast) else inner))
                case c.If(condition=condition, then=then) if _named(then) == _named(condition):
                    harmless.append(_bare_pointer(condition))
                case c.Assign(operator="=", target=target, value=value) if is_null(value):
                    harmless.append(_bare_pointer(target))
                case _:
                    pass
        named = [node.variable for node in nodes if isinstance(node, c.Reference)]
        return all(
            freed.count(one) == 1 and named.count(one) == 1 + harmless.count(one) for one in self.after
        )

    def _needless(self, inside: Sequence[CStatement], later: Collection[Variable]) -> list[Edit]:
        """What takes out the declarations of pointers that nothing names any more."""
        scene = self.scene
        gone = [one for one in self.after if self.origins[one] is not one and one not in later]
        gone += self.spare
        nodes = [*walk(self.loop), *(node for one in inside for node in walk(one))]
        edits: list[Edit] = []
        everything = list(walk(scene.region.function.body))
        doomed = [
            one
            for one in gone
            if one.storage == "local"
            and (one.initial is None or self.origins.get(one, one) is not one)
            and sum(isinstance(node, c.Reference) and node.variable is one for node in everything)
            == sum(isinstance(node, c.Reference) and node.variable is one for node in nodes)
        ]
        for node in everything:
            if isinstance(node, c.Declare) and any(one in node.variables for one in doomed):
                end = end_of_statement(scene.text.plain, node.span.start) or node.span.end
                edits += removal(scene.text, node, [one for one in node.variables if one in doomed], end)
        return edits


def places_of(places: Pointers) -> dict[Variable, Variable]:
    """Every pointer as itself."""
    return {one: one for one in places}


# ---------------------------------------------------------------- statements


def _moves(statement: CStatement) -> list[tuple[Variable, Variable]] | None:
    """The assignments of pointers to pointers that a statement consists of; None if it does more."""
    match statement:
        case c.Declare(variables=variables):
            values = [None if one.initial is None else _pointer(one.initial) for one in variables]
            known = [(one, value) for one, value in zip(variables, values, strict=True) if value is not None]
            are_pointers = all(one.type.kind == "pointer" for one in variables)
            return known if are_pointers and len(known) == len(variables) else None
        case c.Evaluate(expression=expression):
            return _moves_of(expression)
        case c.Block(statements=statements) if statements:
            found = [_moves(one) for one in statements]
        case c.While(is_late=True, body=body, condition=c.Number(value=0)):
            found = [_moves(body)]
        case _:
            return None
    known = [one for one in found if one is not None]
    return [pair for one in known for pair in one] if len(known) == len(found) else None


def _moves_of(expression: Expression) -> list[tuple[Variable, Variable]] | None:
    match bare(expression):
        case c.Assign(operator="=", target=target, value=value):
            left, right = _pointer(target), _pointer(value)
            return None if left is None or right is None else [(left, right)]
        case c.Binary(operator=",", left=left, right=right):
            first, second = _moves_of(left), _moves_of(right)
            return None if first is None or second is None else [*first, *second]
        case _:
            return None


def _pointer(expression: Expression) -> Variable | None:
    """The pointer or array that an expression is by name."""
    inner = _bare_pointer(expression)
    return inner if inner is not None and inner.type.kind in ("pointer", "array") else None


def _bare_pointer(expression: Expression) -> Variable | None:
    inner = bare(expression)
    return inner.variable if isinstance(inner, c.Reference) else None


def _named(statement: Node) -> set[Variable]:
    return {node.variable for node in walk(statement) if isinstance(node, c.Reference)}


def _is_set(statement: Node, pointers: set[Variable]) -> bool:
    return any(one in pointers for one in assigned_in(walk(statement)))


def _renamed(scene: RegionScene, statement: CStatement, names: Pointers) -> list[Edit]:
    """The edits that let a statement name other pointers."""
    new = {one: value.name for one, value in names.items() if one.name != value.name}

    def element(variable: Variable, subscripts: Sequence[str], _node: Expression) -> str | None:
        if variable not in new or not subscripts:
            return None
        return new[variable] + "".join(f"[{one}]" for one in subscripts)

    rewriter = Rewriter(scene.text, new.get, element)
    rewriter.visit(statement)
    return rewriter.found


def _cases(conditions: Sequence[str], texts: Sequence[str], indent: str = "") -> str:
    """A chain of conditions, and what is done where none of them holds, if there is one text more."""
    lines = [
        f"{'else ' if k else ''}if ({condition}) {text}"
        for k, (condition, text) in enumerate(zip(conditions, texts, strict=False))
    ]
    lines += [f"else {text}" for text in texts[len(conditions) :] if text != ";"]
    return f"\n{indent}".join(lines)


def _indentation(scene: RegionScene, statement: CStatement) -> str:
    """The blanks before a statement that is the first of its line."""
    start = statement.span.start
    line = scene.text.text[scene.text.text.rfind("\n", 0, start) + 1 : start]
    return line if not line.strip() else ""


# ---------------------------------------------------------------- what must hold


def _is_own(scene: RegionScene, pointer: Variable) -> bool:
    return (
        pointer.storage in ("local", "parameter")
        and pointer.is_pointer
        and not pointer.is_volatile
        and pointer not in scene.escaped
    )


def _are_clear(scene: RegionScene, variables: Sequence[Variable]) -> bool:
    """Whether each name means one variable in the whole function."""
    function = scene.region.function
    declared = [*function.parameters, *declared_in(walk(function.body))]
    return all(sum(one.name == other.name for other in declared) <= 1 for one in variables)


def _are_spare(scene: RegionScene, loop: c.For, spare: frozenset[Variable]) -> bool:
    """Whether no value that the loop leaves in pointers is looked at elsewhere."""
    inside = list(walk(loop))
    for one in spare:
        for node in mentions(scene.region.function.body, one):
            if not any(node is other for other in inside) and not _is_set_just_before(scene, node):
                return False
    return True


def _is_set_just_before(scene: RegionScene, reference: c.Reference) -> bool:
    """Whether a mention of a pointer is an assignment to it, or stands behind one in the same block."""
    variable = reference.variable
    for block in (node for node in walk(scene.region.function.body) if isinstance(node, c.Block)):
        is_set = False
        for statement in block.statements:
            moves = _moves(statement) or []
            if any(node is reference for node in walk(statement)):
                return is_set or any(target is variable for target, _ in moves)
            is_set = is_set or any(target is variable for target, _ in moves)
    return False


def _is_allocated_once(nodes: Sequence[Node], value: Variable, pointer: Variable) -> bool:
    """Whether a pointer is only set to allocated memory, before another one is set to it."""
    sets = [node for node in nodes if assigned_variable(node) is value]
    return all(
        isinstance(node, c.Assign)
        and (allocating_call(node.value) is not None or is_null(node.value))
        and node.span.end <= pointer.span.start
        for node in sets
    )


def _is_fresh(nodes: Sequence[Node], variable: Variable) -> bool:
    """Whether a variable is an array of the function, or points to what it allocates."""
    if not variable.is_pointer:
        return variable.is_array and variable.storage == "local"
    values = [
        node.value for node in nodes if isinstance(node, c.Assign) and assigned_variable(node) is variable
    ]
    values += [variable.initial] if variable.initial is not None else []
    if variable.storage != "local" or len(values) < len(
        [node for node in nodes if assigned_variable(node) is variable]
    ):
        return False
    calls = [one for one in values if allocating_call(one) is not None]
    return bool(calls) and all(one in calls or is_null(one) for one in values)
