"""Variables of which each thread or task has its own: private, firstprivate, linear and reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayfold.validation.faults import Unsupported
from arrayfold.validation.memory import is_address
from arrayfold.validation.nodes import Node
from arrayfold.validation.operators import Run
from arrayfold.validation.pragmas import Directive
from arrayfold.validation.scope import Scope, Variable
from arrayfold.validation.terms import Poison
from arrayfold.validation.types import Array, Frame, Struct, shape_of, size_of, value_of


class PrivateVariables:
    """The variables of a function that OpenMP's clauses make private.

    teams  where the parallel constructs begin that are around what is read
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.m = scope.machine
        self.teams: list[int] = []

    def around(self, body: Run, directive: Directive, copied: Sequence[Variable] = ()) -> Run:
        """A body that runs with variables of its own."""
        private = self.of(directive, copied)

        def run(f: Frame) -> Any:
            undo = private(f)
            signal = body(f)
            undo()
            return signal

        return run

    def of(
        self, directive: Directive, copied: Sequence[Variable] = (), further: Sequence[Variable] = ()
    ) -> Callable[[Frame], Callable[[], None]]:
        """What gives a thread its own variables, and gives back what takes them away again."""
        fresh = [self._named(name, directive) for name in directive.names("private", "lastprivate")]
        kept = [self._named(name, directive) for name in directive.names("firstprivate", "linear")]
        reduced = [self._named(name, directive) for name in directive.names("reduction")]
        if "lastprivate" in directive.clauses:
            raise Unsupported("OpenMP's lastprivate", directive.spot)
        m = self.m
        plan = [(one, False) for one in (*fresh, *further)] + [(one, True) for one in (*kept, *copied)]

        def enter(f: Frame) -> Callable[[], None]:
            saved: list[tuple[int, Any]] = []
            for variable, keeps in plan:
                old = f[variable.slot]
                saved.append((variable.slot, old))
                if variable.is_register:
                    f[variable.slot] = old if keeps else Poison(f"{variable.name} was never set")
                    continue
                size = size_of(variable.type)
                assert size is not None
                own = m.allocate(variable.name, value_of(size, f))
                own.shape = shape_of(variable.type, f)
                if keeps and is_address(old) and old[0] is not None:
                    own.cells, own.widths, own.unit = dict(old[0].cells), dict(old[0].widths), old[0].unit
                    own.initial, own.fills = old[0].initial, list(old[0].fills)
                f[variable.slot] = own.pointer()

            def leave() -> None:
                for slot, old in reversed(saved):
                    f[slot] = old

            return leave

        if not reduced:
            return enter
        return lambda f: self._reducing(enter, reduced, f)

    def _reducing(
        self, enter: Callable[[Frame], Callable[[], None]], reduced: Sequence[Variable], f: Frame
    ) -> Callable[[], None]:
        """Variables of a reduction are shared, in one order of the iterations, and do not race."""
        races = self.m.races
        if races is not None:
            for variable in reduced:
                if variable.slot >= 0 and type(f[variable.slot]) is tuple:
                    races.ignored.add(f[variable.slot][0])
        return enter(f)

    def _named(self, name: str, directive: Directive) -> Variable:
        found = self.scope.named(name)
        if found is None or found.lasting is not None:
            raise Unsupported(f"{name} in this pragma", directive.spot)
        return found

    def copied_by_task(self, node: Node) -> list[Variable]:
        """Variables that are private to the thread that makes a task: the task has copies."""
        start = self.teams[-1] if self.teams else -1
        found: dict[int, Variable] = {}
        for inner in node.walk():
            declared = inner.referenced if inner.kind == "DECL_REF_EXPR" else None
            if declared is None or declared.kind not in ("VAR_DECL", "PARM_DECL"):
                continue
            variable = self.scope.variables.get(declared.key)
            is_plain = variable is not None and not isinstance(variable.type, Array | Struct)
            if variable is not None and is_plain and variable.slot >= 0 and declared.start > start >= 0:
                found[variable.slot] = variable
        return list(found.values())
