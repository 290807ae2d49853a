"""Statements as closures; they give back None, or how the flow of control goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arrayfold.validation.declarations import Declarations
from arrayfold.validation.faults import BREAK, CONTINUE, RETURN, OutOfSteps, Unsupported
from arrayfold.validation.nodes import TextNode
from arrayfold.validation.operators import Run, convert, in_order
from arrayfold.validation.parallel import Constructs
from arrayfold.validation.scope import TypedClosure
from arrayfold.validation.types import VOID, Frame, Integer, ValueType, promoted

_LABELS = ("LABEL_STMT", "CASE_STMT", "DEFAULT_STMT")


class Statements:
    """The statements of a function.

    probe       gets called where the region begins, and says what to run there
    """

    def __init__(
        self,
        declarations: Declarations,
        constructs: Constructs,
        result: ValueType,
        probe: Callable[[TextNode], Run | None] = lambda _: None,
    ) -> None:
        self.declarations = declarations
        self.expressions = declarations.expressions
        self.scope = declarations.scope
        self.m = declarations.m
        self.constructs = constructs
        self._result = result
        self._probe = probe
        self.expressions.statements = self
        constructs.statements = self
        self._kinds: dict[str, Callable[[TextNode], Run]] = {
            "COMPOUND_STMT": self._compound,
            "DECL_STMT": self._declarations,
            "NULL_STMT": lambda _: _nothing,
            "IF_STMT": self._if,
            "FOR_STMT": self.loop,
            "WHILE_STMT": self._while,
            "DO_STMT": self._do,
            "SWITCH_STMT": self._switch,
            "RETURN_STMT": self._return,
            "BREAK_STMT": lambda _: lambda _: BREAK,
            "CONTINUE_STMT": lambda _: lambda _: CONTINUE,
            "GOTO_STMT": self._goto,
            **dict.fromkeys(_LABELS, lambda node: self.statement(node.parts[-1])),
        }

    def statement(self, node: TextNode) -> Run:
        """A statement with the pragmas in front of it."""
        directives = self.constructs.in_front_of(node)
        probe = self._probe(node)
        run = self.constructs.construct(directives, node) if directives else self.plain(node)
        return run if probe is None else in_order(probe, run)

    def plain(self, node: TextNode) -> Run:
        """A statement without its pragmas."""
        if node.is_expression:
            run = self.expressions.value(node).run

            def evaluate(f: Frame) -> None:
                run(f)

            return evaluate
        if node.kind == "UNEXPOSED_STMT" and len(node.parts) == 1:
            return self.statement(node.parts[0])
        make = self._kinds.get(node.kind)
        if make is None:
            what = {"ASM_STMT": "inline assembly", "MS_ASM_STMT": "inline assembly"}.get(
                node.kind, node.kind.lower().removesuffix("_stmt").replace("_", " ")
            )
            raise Unsupported(what, node.spot)
        return make(node)

    # ------------------------------------------------ blocks

    def _compound(self, node: TextNode) -> Run:
        self.scope.by_name.append({})
        steps, labels = self._steps(node)
        self.scope.by_name.pop()
        return _sequence(steps, labels)

    def _steps(self, node: TextNode) -> tuple[list[Run], dict[str, int]]:
        steps: list[Run] = []
        labels: dict[str, int] = {}
        for part in node.parts:
            steps += self.constructs.alone_before(part.start)
            inner = part
            while inner.kind in _LABELS and inner.parts:
                if inner.kind == "LABEL_STMT":
                    labels[inner.name] = len(steps)
                inner = inner.parts[-1]
            steps.append(self.statement(part))
        steps += self.constructs.alone_before(node.end)
        return steps, labels

    def block_value(self, node: TextNode) -> TypedClosure:
        """A block in parentheses: its value is that of its last statement."""
        self.scope.by_name.append({})
        *first, last = node.parts
        steps = [self.statement(part) for part in first]
        value = (
            self.expressions.value(last) if last.is_expression else TypedClosure(self.statement(last), VOID)
        )
        self.scope.by_name.pop()

        def run(f: Frame) -> Any:
            for step in steps:
                if step(f) is not None:
                    raise Unsupported("a jump out of a block in parentheses", node.spot)
            return value.run(f)

        return TypedClosure(run, value.type)

    def _declarations(self, node: TextNode) -> Run:
        steps = [step for part in node.parts if (step := self.declarations.declaration(part)) is not None]
        return in_order(*steps, _nothing)

    # ------------------------------------------------ branches

    def _if(self, node: TextNode) -> Run:
        if len(node.parts) not in (2, 3):
            raise Unsupported("this condition", node.spot)
        holds = self.expressions.condition(node.parts[0])
        then = self.statement(node.parts[1])
        otherwise = self.statement(node.parts[2]) if len(node.parts) > 2 else _nothing
        return lambda f: then(f) if holds(f) else otherwise(f)

    def _switch(self, node: TextNode) -> Run:
        body = node.parts[-1]
        if body.kind != "COMPOUND_STMT":
            raise Unsupported("a switch without a block", node.spot)
        cases: dict[int | None, int] = {}
        for at, part in enumerate(body.parts):
            inner = part
            while inner.kind in _LABELS:
                if inner.kind == "CASE_STMT":
                    constant = inner.parts[0].constant
                    if not isinstance(constant, int) or len(inner.parts) != 2:
                        raise Unsupported("this case", inner.spot)
                    cases[constant] = at
                elif inner.kind == "DEFAULT_STMT":
                    cases[None] = at
                inner = inner.parts[-1]
            if any(one.kind in ("CASE_STMT", "DEFAULT_STMT") for one in _deep_cases(inner)):
                raise Unsupported("a case inside of another statement", inner.spot)
        self.scope.by_name.append({})
        steps = [self.statement(part) for part in body.parts]
        self.scope.by_name.pop()
        choose = self._choice(node, cases)

        def run(f: Frame) -> Any:
            start = choose(f)
            for step in steps[start:] if start is not None else ():
                signal = step(f)
                if signal is not None:
                    return None if signal == BREAK else signal
            return None

        return run

    def _choice(self, node: TextNode, cases: Mapping[int | None, int]) -> Callable[[Frame], int | None]:
        """Where a switch goes on; data is compared with one constant after the other."""
        value, m, spot = self.expressions.value(node.parts[0]), self.m, node.spot
        if not isinstance(value.type, Integer):
            raise Unsupported("this switch", spot)
        kind, otherwise = promoted(value.type), cases.get(None)
        read = convert(m, value.run, value.type, kind, spot)
        at = {kind.wrapped(number): k for number, k in cases.items() if number is not None}

        def choose(f: Frame) -> int | None:
            found = read(f)
            if type(found) is int:
                return at.get(found, otherwise)
            for number, k in at.items():
                if k != otherwise and m.truth(m.combine("==", kind.tag, found, number), spot):
                    return k
            return otherwise

        return choose

    # ------------------------------------------------ loops

    def header(self, node: TextNode) -> tuple[TextNode | None, TextNode | None, TextNode | None, TextNode]:
        """Start, condition, step and body of a for loop; where parts are missing, the text says which."""
        *parts, body = node.parts
        if len(parts) == 3:
            return parts[0], parts[1], parts[2], body
        if not parts:
            return None, None, None, body
        stops = self._semicolons(node)
        found: list[TextNode | None] = [None, None, None]
        for part in parts:
            found[sum(part.start > stop for stop in stops)] = part
        if sum(part is not None for part in found) != len(parts):
            raise Unsupported("this loop in a macro", node.spot)
        return found[0], found[1], found[2], body

    @staticmethod
    def _semicolons(node: TextNode) -> list[int]:
        depth, found = 0, list[int]()
        for word, at in node.tokens():
            depth += (word in "([{") - (word in ")]}")
            if word == ";" and depth == 1:
                found.append(at)
            if len(found) == 2:
                break
        return found

    def loop(self, node: TextNode, each: Run | None = None) -> Run:
        """A for loop; each runs before every iteration."""
        start, condition, step, body = self.header(node)
        self.scope.by_name.append({})
        begin = self.plain(start) if start is not None else _nothing
        holds = self.expressions.condition(condition) if condition is not None else _always
        advance = self.expressions.value(step).run if step is not None else _nothing
        run = self.statement(body)
        self.scope.by_name.pop()
        if each is not None:
            run = in_order(each, run)
        return self._loop(begin, holds, advance, run, _weight(node))

    def _while(self, node: TextNode) -> Run:
        holds = self.expressions.condition(node.parts[0])
        return self._loop(_nothing, holds, _nothing, self.statement(node.parts[-1]), _weight(node))

    def _do(self, node: TextNode) -> Run:
        body, holds = self.statement(node.parts[0]), self.expressions.condition(node.parts[-1])
        return self._loop(_nothing, holds, _nothing, body, _weight(node), is_late=True)

    def _loop(
        self, begin: Run, holds: Run, advance: Run, body: Run, weight: int, *, is_late: bool = False
    ) -> Run:
        """A loop; one whose condition is late runs once before it is asked."""
        m = self.m

        def run(f: Frame) -> Any:
            begin(f)
            goes_on = is_late or holds(f)
            while goes_on:
                m.steps += weight
                if m.steps > m.limit:
                    raise OutOfSteps(f"more than {m.limit:,} steps")
                signal = body(f)
                if signal is not None:
                    if signal == BREAK:
                        break
                    if signal != CONTINUE:
                        return signal
                advance(f)
                goes_on = holds(f)
            return None

        return run

    # ------------------------------------------------ jumps

    def _return(self, node: TextNode) -> Run:
        if not node.parts:
            return lambda _: RETURN
        value = self.expressions.converted(node.parts[0], self._result)

        def run(f: Frame) -> int:
            f[0] = value(f)
            return RETURN

        return run

    @staticmethod
    def _goto(node: TextNode) -> Run:
        target = next((part.name for part in node.parts if part.kind == "LABEL_REF"), "")
        return lambda _: target


def _deep_cases(node: TextNode) -> list[TextNode]:
    if node.kind == "SWITCH_STMT" or node.is_expression:
        return []
    return [node, *(inner for part in node.substatements() for inner in _deep_cases(part))]


def _weight(node: TextNode) -> int:
    """The number of nodes in a loop outside of its loops and branches: what an iteration costs at least."""
    total = 1
    waiting = list(node.parts)
    while waiting:
        part = waiting.pop()
        total += 1
        if part.kind == "IF_STMT":
            waiting += part.parts[:1]
        elif part.kind not in ("FOR_STMT", "WHILE_STMT", "DO_STMT"):
            waiting += part.parts
    return total


def _sequence(steps: Sequence[Run], labels: dict[str, int]) -> Run:
    if labels:
        return _with_labels(steps, labels)
    if len(steps) == 1:
        return steps[0]

    def run(f: Frame) -> Any:
        for step in steps:
            signal = step(f)
            if signal is not None:
                return signal
        return None

    return run


def _with_labels(steps: Sequence[Run], labels: dict[str, int]) -> Run:
    def run(f: Frame) -> Any:
        at = 0
        while at < len(steps):
            signal = steps[at](f)
            at += 1
            if signal in labels:
                at = labels[signal]
            elif signal is not None:
                return signal
        return None

    return run


def _nothing(_: Frame) -> None:
    return None


def _always(_: Frame) -> bool:
    return True
