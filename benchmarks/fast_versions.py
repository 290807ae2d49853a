"""The versions of a program that `folded_code.py` measures, folded on all cores before any of them runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from arrayfold import fold, reorder
from arrayfold.base.budget import Budget
from arrayfold.base.choices import Style
from arrayfold.bounds.moments import UNKNOWN
from arrayfold.codegen import write_c
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.exact.signs import box_size
from arrayfold.fold.analysis import Analysis
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.judge.verify import Proof, verify
from arrayfold.mapping.modular import EmittableMapping, ModularMapping
from arrayfold.methods import Request
from arrayfold.program.model import Program
from arrayfold.select.choose import choose
from fast_kernels import BY_HAND, IVDEP, MODULO, TWO_STEPS, UNFOLDED, Kernel


@dataclass(frozen=True)
class Version:
    """One program: how it is called, its code, and the bytes of its temporaries, for all sizes."""

    label: str
    code: bytes
    temporaries: Formula


def all_versions(kernels: Sequence[Kernel]) -> Iterator[tuple[str, list[Version]]]:
    """The versions of each kernel by its name, as they get ready. The last kernels take longest."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(versions_of, kernel): kernel.name for kernel in reversed(kernels)}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def versions_of(kernel: Kernel) -> list[Version]:
    """The programs of a kernel: by hand if there is one, unfolded, simple, naive and ours."""
    program, plain = kernel.program(), kernel.plain_program()
    source, original = program.source, plain.source
    assert source is not None
    assert original is not None
    ordered = reorder(program, budget=Budget(30), **kernel.order) if kernel.order else program
    if isinstance(kernel.local, str):
        smallest = ours = fold(ordered, local=kernel.local, budget=kernel.budget(), favor=kernel.favor)
    elif kernel.local:
        smallest = _mapped(ordered, _by("auto"), kernel.budget())
        ours = fold(ordered, local=kernel.local, budget=kernel.budget())
    else:
        smallest = ours = fold(ordered, budget=kernel.budget(), favor=kernel.favor)
    used = set(source.variables) & {access.array for one in program.statements for access in one.accesses}
    own = [name for name in used if source.variables[name].storage == "local"]
    unfolded = _sum(
        _bytes(box_size(program.array(name).cells, program.context), program, name) for name in own
    )

    def version(label: str, result: FoldResult, style: Style) -> Version:
        region = result.region(None, style)
        used = _sum(_bytes(item.mapping.size, region.program, item.mapping.array) for item in region.folds)
        return Version(label, write_c([region]), used)

    rows = plain if kernel.rows[0] else ordered
    if kernel.simple == TWO_STEPS:
        simple = version(TWO_STEPS, _mapped(rows, _two_steps, kernel.budget()), "fast")
    elif kernel.simple == IVDEP:
        same = _mapped(plain, _by("identity"), kernel.budget())
        simple = Version(IVDEP, write_c([same.region("generate")]), unfolded)
    else:
        simple = version(MODULO, _mapped(rows, _by(MODULO), kernel.budget()), "fast")
    written = kernel.by_hand()
    by_hand = [] if written is None else [Version(BY_HAND, written, Formula.constant(0))]
    return [
        *by_hand,
        Version(UNFOLDED, original.text.data, unfolded),
        simple,
        version("naive", smallest, "readable"),
        version("arrayfold", ours, "fast"),
    ]


_Choice = Callable[[Conflicts, Request], EmittableMapping]


def _mapped(program: Program, choice: _Choice, budget: Budget) -> FoldResult:
    """A fold to compare with: proved mappings, without the lower bounds of a report."""
    analysis = Analysis.of(program, budget)
    assert analysis.liveness is not None
    folded: list[FoldedArray] = []
    for name in analysis.foldable():
        conflicts = analysis.liveness.conflicts(name, with_moments=False)
        mapping = choice(conflicts, Request.of(conflicts, {}, budget))
        proof = verify(conflicts, mapping)
        assert isinstance(proof, Proof)
        folded.append(FoldedArray(name, "given", mapping, proof, UNKNOWN, conflicts, 0.0, {}))
    return FoldResult(program, tuple(folded), analysis.kept(), {}, analysis.live_in_arrays())


def _by(method: str) -> _Choice:
    """What a method finds."""

    def found(conflicts: Conflicts, request: Request) -> EmittableMapping:
        mapping = choose(method, conflicts, request).mapping
        assert mapping is not None
        return mapping

    return found


def _two_steps(conflicts: Conflicts, _: Request) -> EmittableMapping:
    """The first dimension modulo two, the others as they are: what is written by hand most often."""
    rank = conflicts.array.rank
    rows = [[int(k == axis) for k in range(rank)] for axis in range(rank)]
    moduli = [Formula.constant(2), *(length for _, length in conflicts.box[1:])]
    return ModularMapping.of(conflicts.name, conflicts.array.dimensions, rows, moduli)


def _bytes(cells: Formula, program: Program, array: str) -> Formula:
    assert program.source is not None
    return cells * max(1, program.source.variables[array].element.bits // 8)


def _sum(formulas: Iterable[Formula]) -> Formula:
    return sum(formulas, Formula.constant(0))
