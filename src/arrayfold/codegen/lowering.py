"""The form of a mapping that makes fast code: the same cells share addresses, but in another order.

Renumbering lets innermost loops walk through memory (see `renumbering`).

Slack: a modulus that is exact may put a write right behind a read, so that the iterations of the innermost
loop depend on each other. A strip of further cells keeps them apart, and the strip runs as a vector loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import islpy as isl

from arrayfold.base.budget import Budget
from arrayfold.base.errors import ArrayfoldError
from arrayfold.codegen.independence import STRIPS, Independence
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.lattice import Vector
from arrayfold.exact.parameter_values import large_parameters
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.layout import wraps
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.order.code_order import CodeOrder
from arrayfold.passes.guard_reads import with_guard_reads
from arrayfold.program.model import Program
from arrayfold.select.innermost_loops import InnermostLoops
from arrayfold.select.renumbering import renumbered, slope_of

_OPERATIONS = 6_000_000
_OPERATIONS_AN_ARRAY = 1_500_000
_MOST_RELAXED = 3


@dataclass(frozen=True, eq=False)
class Lowered:
    """A mapping for code, and how many cells more than the smallest it has; None for none.

    tight  the same without these
    """

    mapping: EmittableMapping
    slack: Formula | None = None
    tight: EmittableMapping | None = None

    def without_slack(self) -> Lowered:
        """The same with the smallest number of cells."""
        return self if self.tight is None else Lowered(self.tight)

    @property
    def remark(self) -> str:
        """What was traded, in words."""
        return f"; {self.slack} more so that loops vectorise" if self.slack is not None else ""


def lower(
    program: Program,
    order: CodeOrder,
    conflicts: Mapping[str, Conflicts],
    mappings: Mapping[str, EmittableMapping],
    slack: int,
) -> dict[str, Lowered]:
    """Mappings for fast loops; each one that changes is proved again, and left as it is otherwise.

    slack      cells that a modulus may grow by
    """
    lowered = {name: Lowered(mapping) for name, mapping in mappings.items()}
    program = with_guard_reads(program)
    budget = Budget.of_work(max(_OPERATIONS, _OPERATIONS_AN_ARRAY * len(mappings)))
    with suppress(ArrayfoldError), budget.limit("the form of mappings"):
        loops = InnermostLoops.of(program, order)
        for name, mapping in mappings.items():
            if isinstance(mapping, ModularMapping):
                lowered[name] = Lowered(renumbered(mapping, loops.steps(name), conflicts[name]))
        _add_slack(program, order.schedule, conflicts, lowered, loops, slack)
    return lowered


def _add_slack(
    program: Program,
    schedule: isl.UnionMap,
    conflicts: Mapping[str, Conflicts],
    lowered: dict[str, Lowered],
    loops: InnermostLoops,
    slack: int,
) -> None:
    """Let moduli grow until the iterations of innermost loops are independent, where that helps."""
    for dimension, statements in loops.groups() if slack else ():
        known = Independence(program, schedule, {name: one.mapping for name, one in lowered.items()})
        if known.strip(dimension, statements)[0]:
            continue
        relaxed: dict[str, Lowered | None] = {}
        changes: list[dict[str, Lowered]] = []
        for length in STRIPS:
            harmful = known.harmful(dimension, statements, length, first_only=False)
            if harmful is None or len(harmful) > _MOST_RELAXED:
                continue
            for name in harmful:
                if name not in relaxed and name in lowered:
                    steps = [step for item in statements for step in loops.moves[item].get(name, ())]
                    relaxed[name] = _with_slack(lowered[name], steps, slack, conflicts[name])
            change = {name: one for name in harmful if (one := relaxed.get(name)) is not None}
            if len(change) == len(harmful) and all(
                known.is_harmless(one.mapping, dimension, statements, length) for one in change.values()
            ):
                changes.append(change)
        if changes:
            lowered.update(min(changes, key=len))


def _with_slack(one: Lowered, steps: Sequence[Vector], slack: int, conflicts: Conflicts) -> Lowered | None:
    """The mapping with a larger modulus, if there is one and it is proved."""
    if not steps or one.slack is not None:
        return None
    relaxed = _relaxed(one.mapping, steps, slack, conflicts)
    if relaxed is None or not isinstance(verify(conflicts, relaxed), Proof):
        return None
    return Lowered(relaxed, relaxed.size - one.mapping.size, one.mapping)


def _relaxed(
    mapping: EmittableMapping, steps: Sequence[Vector], slack: int, conflicts: Conflicts
) -> ModularMapping | None:
    """The mapping with a larger modulus in the row that the innermost loop moves, if sizes grow anyway.

    Where no address wraps, a larger modulus changes none. And nothing may become larger than it was.
    """
    if not isinstance(mapping, ModularMapping) or not wraps(mapping, conflicts.cells):
        return None
    far = large_parameters(conflicts.context)
    for k, modulus in enumerate(mapping.moduli):
        moves = any(slope_of(mapping.matrix[k], step) != Formula.constant(0) for step in steps)
        if moves and not modulus.is_constant:
            moduli = (*mapping.moduli[:k], modulus + slack, *mapping.moduli[k + 1 :])
            relaxed = replace(mapping, moduli=moduli)
            is_smaller = relaxed.size.evaluate(far) < conflicts.original_size.evaluate(far)
            return relaxed if is_smaller else None
    return None
