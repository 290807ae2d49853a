"""Results: folded arrays with their proofs, C code, and calls of folded kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import islpy as isl

from arrayfold.base.choices import Loops, Style
from arrayfold.base.errors import InputError
from arrayfold.base.html import html_table
from arrayfold.base.reported import reported
from arrayfold.bounds.minimal import Gap, gap_of, is_above_somewhere, not_above
from arrayfold.codegen.groups import find_groups, growth_words, is_in_group
from arrayfold.codegen.region import STRIP, FoldedRegion, StorageFold
from arrayfold.codegen.sizes import has_unknown_extents, is_never_larger
from arrayfold.exact.formula_isl import extents
from arrayfold.exact.isl import parameter_names
from arrayfold.mapping.modular import EmittableMapping, ModularMapping, TableMapping
from arrayfold.order.code_order import CodeOrder
from arrayfold.program.model import Problem, Program

if TYPE_CHECKING:
    from arrayfold.bounds.moments import LowerBound
    from arrayfold.codegen.lowering import Lowered
    from arrayfold.conflicts.conflicts import Conflicts
    from arrayfold.exact.formula import Formula
    from arrayfold.judge.verify import Proof
    from arrayfold.program.assumptions import Assumption
    from arrayfold.run.callable import CompiledKernel
    from arrayfold.select.mapping_case import MappingCase
    from arrayfold.select.smaller_lattices import SmallestLattice
    from arrayfold.sharing.footprint import Footprint, SharedBlock

NO_TEMPORARY = "There is no temporary array to fold; name one with --temporary."


@dataclass(frozen=True, eq=False)
class FoldedArray:
    """One array, its mapping, the proof, and the lower bound beside it.

    replaced_cells  of other arrays, where it replaces these; zero beside another one that replaces them
    role            what it is for, where it replaces no array alone, such as a tile
    members         the mappings of the arrays that it holds, where these are several
    where           which cells each of the members has, in words, where they are parts of one array
    cut_short       what was not looked at for want of time, in words
    smallest_lattice  why no lattice mapping is smaller, where the size is above the lower bound
    """

    name: str
    method: str
    mapping: EmittableMapping
    proof: Proof
    lower_bound: LowerBound
    conflicts: Conflicts
    seconds: float
    params: Mapping[str, int]
    cases: tuple[MappingCase, ...] = ()
    replaced_cells: Formula | None = None
    role: str | None = None
    members: tuple[ModularMapping, ...] = ()
    where: tuple[str, ...] = ()
    cut_short: str = ""
    smallest_lattice: SmallestLattice | None = None

    def __post_init__(self) -> None:
        # A bound above a size that was proved to suffice is wrong, and nobody gets to see it.
        object.__setattr__(self, "lower_bound", self.gap.bound)
        if self.cut_short and self.is_optimal:
            # Nothing is lost where the answer is the smallest there is.
            object.__setattr__(self, "cut_short", "")

    @cached_property
    def gap(self) -> Gap:
        """The size beside the lower bound."""
        bound = self.lower_bound
        for case in self.cases:
            bound = not_above(bound, case.size, case.when)
        return gap_of(self.mapping, bound, self.conflicts, self.params)

    @property
    def size(self) -> Formula:
        """Cells after folding, for every parameter value of the problem."""
        return self.gap.size

    @property
    def size_here(self) -> int | None:
        """Cells at the parameter values of the request, if it fixed all."""
        return self.gap.size_here

    @property
    def original_size(self) -> Formula:
        """Cells that the fold replaces: those of the box that the array spans."""
        return self.conflicts.original_size if self.replaced_cells is None else self.replaced_cells

    def original_size_at(self, params: Mapping[str, int]) -> int:
        """Cells that the fold replaces, at these parameter values."""
        return (
            self.conflicts.original_size_at(params)
            if self.replaced_cells is None
            else self.replaced_cells.at(params)
        )

    @property
    def is_optimal(self) -> bool:
        """Whether the size equals the lower bound: no mapping whatsoever is smaller.

        For all of the context, or at the parameter values of the request.
        """
        return self.gap.is_minimal

    @property
    def is_by_cases(self) -> bool:
        """Whether there is a case for all sizes, so that they are the answer."""
        covered = isl.Set.empty(self.conflicts.context.get_space())
        for case in self.cases:
            covered = covered.union(case.when)
        return bool(self.cases) and bool(self.conflicts.context.is_subset(covered))

    def is_least_case(self, case: MappingCase) -> bool:
        """Whether no mapping is smaller than that of a case, for all parameter values of the case."""
        where = case.when.params()
        return bool(where.is_subset(self.lower_bound.reached(case.size, where)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of its conflicts and of smaller lattices, and what else to try."""
        advice = self.conflicts.advice
        least = self.smallest_lattice
        lattice = () if least is None or not least.is_everywhere else (least.words,)
        advices = (advice,) if advice and not self.is_optimal else ()
        return (*self.conflicts.notes, *lattice, *advices)

    @property
    def limits(self) -> str:
        """The only sizes at which the mapping holds, in words; nothing if it holds for all of the context."""
        return self.mapping.where

    @property
    def shrinks(self) -> bool:
        """Whether there are fewer cells than before."""
        if isinstance(self.mapping, TableMapping):
            return self.size.at({}) < self.original_size_at(self.mapping.params)
        return self.size != self.original_size

    @property
    def is_sized(self) -> bool:
        """Whether the request fixed every parameter, so that numbers can be shown."""
        return set(parameter_names(self.conflicts.context)) <= set(self.params)

    @property
    def remark(self) -> str:
        """What the fold is worth, in words."""
        proved = f"proved {self.gap.words}".strip()
        cells = "1 cell" if str(self.size) == "1" else f"{self.size} cells"
        return ", ".join(filter(None, (f"{cells} {self._instead}", proved, self.limits)))

    @property
    def _instead(self) -> str:
        """What the cells replace, in words."""
        return f"instead of {self.original_size}" if self.role is None else f"for {self.role}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return html_table(_TITLES, [_row(self)])

    def __str__(self) -> str:
        minimal = f" ({self.gap.words})" if self.gap.words else ""
        limits = f" {self.limits}" if self.limits else ""
        return f"{self.mapping}: {self.size} cells{minimal} {self._instead}{limits}"


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The folded arrays of a problem, and why the others were kept.

    footprint  of all arrays together, where that was asked for
    cut_short  arrays for which there was not even time to prove that they can stay as they are, and why
    """

    problem: Problem
    arrays: tuple[FoldedArray, ...]
    kept: Mapping[str, str]
    params: Mapping[str, int]
    live_in: frozenset[str] = frozenset()
    footprint: Footprint | None = None
    cut_short: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is taken for granted of the parameters although neither the file nor the user says so."""
        return self.problem.assumptions if isinstance(self.problem, Program) else ()

    @property
    def growth(self) -> list[str]:
        """At which sizes the code takes more memory than the arrays that it replaces, in words.

        Not where the footprint of all arrays says why it does.
        """
        program = self.problem
        if not isinstance(program, Program) or program.source is None:
            return []
        mappings = {array.name: array.mapping for array in self.arrays}
        is_told = self.footprint is not None and bool(self.footprint.why_larger)
        groups = (
            group for group in find_groups(program, mappings, self._blocks) if group.pays or not is_told
        )
        return [words for group in groups if (words := growth_words(program, group))]

    @reported
    def to_c(
        self,
        *,
        loops: Loops | None = None,
        style: Style = "fast",
        slack: int = STRIP,
    ) -> str:
        """The C file with this region folded.

        loops  "keep" leaves them as written, "generate" writes them anew; without a choice they are kept
               where the order is the one as written and nothing is gained by new ones
        style  "fast" writes innermost loops without a modulo, "readable" says the mapping in subscripts
        slack  cells that an array may have more than its mapping so that innermost loops vectorise
        """
        from arrayfold.codegen import write_c

        return write_c([self.region(loops, style, slack)]).decode("utf-8", "surrogateescape")

    def region(
        self,
        loops: Loops | None = None,
        style: Style = "fast",
        slack: int = STRIP,
        *,
        is_off_stack: bool = False,
    ) -> FoldedRegion:
        """The region to write: the arrays that really shrink, with a remark on each.

        is_off_stack  all arrays of the function are allocated, also those that are not folded
        """
        from arrayfold.codegen.alternative import can_stand_twice
        from arrayfold.codegen.lowering import Lowered, lower

        program = self.problem
        if not isinstance(program, Program):
            raise InputError(f"{program.name} gives conflicts and no program, so there is no C to write")
        shrinking = [array for array in self.arrays if is_off_stack or self._gets_storage(array)]
        forms = {array.name: Lowered(array.mapping) for array in shrinking}
        if style == "fast" and loops != "keep" and program.source is not None and shrinking:
            conflicts = {array.name: array.conflicts for array in shrinking}
            order = CodeOrder.of(program, program.source)
            # In a block there is room for the cells of the mapping, and for no more.
            slack = 0 if self._blocks else slack
            forms = lower(program, order, conflicts, {n: f.mapping for n, f in forms.items()}, slack)
            forms = self._without_slack_in_groups(program, forms)
        grown: set[str] = set()
        may_choose = not is_off_stack and program.source is not None and can_stand_twice(program.source)
        for array in shrinking:
            is_together = program.source is not None and is_in_group(program, array.name, self._blocks)
            if is_together or is_never_larger(program, forms[array.name].mapping):
                continue
            forms[array.name] = Lowered(array.mapping)
            if not (may_choose or is_never_larger(program, array.mapping)):
                grown.add(array.name)
        folds = tuple(
            StorageFold(form.mapping, f"{array.remark}{form.remark}", array.name in self.live_in)
            for array, form in ((array, forms[array.name]) for array in shrinking)
            if array.name not in grown
        )
        kept = tuple(self._unfolded(program, grown)) if is_off_stack else ()
        is_padded = style == "fast" and loops != "keep" and slack > 0
        return FoldedRegion(
            program,
            (*folds, *kept),
            loops,
            style,
            self._blocks,
            is_off_stack,
            is_padded,
            tuple(sorted(grown)),
        )

    def _gets_storage(self, array: FoldedArray) -> bool:
        """Whether an array gets other memory than it had: less, of other cells, elsewhere, or in a block."""
        assert isinstance(self.problem, Program)
        is_moved = array.replaced_cells is not None or array.name in self.problem.relocation.origins
        return array.shrinks or is_moved or any(array.name in block.offsets for block in self._blocks)

    def has_unknown_extents(self, array: FoldedArray) -> bool:
        """Whether cells before are only those that the program uses, because no declaration says more."""
        return isinstance(self.problem, Program) and has_unknown_extents(self.problem, array.name)

    def is_cut_to_old_size(self, array: FoldedArray) -> bool:
        """Whether the size of an array is somewhere above the old one, and the code yet never takes more.

        A few cells are not worth the comparison in the code, so nothing is said of a constant number.
        """
        program = self.problem
        if not isinstance(program, Program) or program.source is None or array.size.is_constant:
            return False
        if is_in_group(program, array.name, self._blocks):
            return False
        return is_above_somewhere(array.size, array.original_size, array.conflicts.whole_context)

    def _without_slack_in_groups(self, program: Program, forms: dict[str, Lowered]) -> dict[str, Lowered]:
        """The forms, without slack for arrays that with it may take more than what they replace together."""
        for group in find_groups(program, {n: f.mapping for n, f in forms.items()}, self._blocks):
            if not group.is_within:
                forms = {n: f.without_slack() if n in group.sizes else f for n, f in forms.items()}
        return forms

    def _unfolded(self, program: Program, grown: Collection[str]) -> Iterator[StorageFold]:
        """Storage for the arrays of the function itself that are not folded, as large as they are."""
        folded = {array.name for array in self.arrays} - set(grown)
        moved = folded | set(program.relocation.origins.values()) | set(program.relocation.replaced)
        for name, variable in program.source.variables.items() if program.source else ():
            if variable.is_array and variable.storage == "local" and name not in moved:
                array = program.array(name)
                box = extents(array.cells.intersect_params(program.context), program.context)
                mapping = ModularMapping.identity(name, array.dimensions, box)
                yield StorageFold(mapping, self.kept.get(name, "not folded"))

    @reported
    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        """Run a folded Python kernel on NumPy arrays, in place; compiled at the first call."""
        self._compiled(*arguments, **keywords)

    @cached_property
    def _compiled(self) -> CompiledKernel:
        program = self.problem
        if not isinstance(program, Program) or program.signature is None or program.source is None:
            raise InputError(
                f"{program.name} is not a Python kernel, so it cannot be called",
                hint="Write the code with to_c(), or make it a kernel: see docs/python.md.",
            )
        from arrayfold.codegen import write_c
        from arrayfold.run.callable import CompiledKernel

        region = self.region(is_off_stack=True)
        widths = {name: max(1, one.element.bits // 8) for name, one in program.source.variables.items()}
        fixed: dict[str, int] = {}
        for array in self.arrays:
            if isinstance(array.mapping, TableMapping):
                fixed.update(array.mapping.params)
        return CompiledKernel.of(
            program.signature,
            write_c([region]).decode("utf-8", "surrogateescape"),
            program.context,
            fixed=fixed,
            memory=[(fold.mapping.size, widths[fold.mapping.array]) for fold in region.folds],
            is_parallel=bool(program.parallel),
        )

    @property
    def _blocks(self) -> tuple[SharedBlock, ...]:
        return () if self.footprint is None else self.footprint.blocks

    def __getitem__(self, name: str) -> FoldedArray:
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def __iter__(self) -> Iterator[FoldedArray]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __str__(self) -> str:
        assumed = (f"assumed: {one}" for one in self.assumptions)
        return "\n".join([*(map(str, self.arrays) if self.arrays else ["nothing to fold"]), *assumed])

    def __repr__(self) -> str:
        return f"<fold of {self.problem.name}: {'; '.join(str(self).splitlines())}>"

    @property
    def why_nothing(self) -> str:
        """Why it has no array, as a sentence."""
        if self.cut_short:
            return "No array could be folded; the reasons are below."
        return NO_TEMPORARY

    def _repr_html_(self) -> str:
        kept = [f"`{name}` is kept: {reason}" for name, reason in self.kept.items()]
        nothing = [] if self.arrays else [self.why_nothing]
        assumed = [f"Assumed: {one}" for one in self.assumptions]
        return html_table(_TITLES, [_row(array) for array in self.arrays], [*nothing, *kept, *assumed])


_TITLES = ("array", "mapping", "cells", "instead of", "lower bound", "verdict")


def _row(array: FoldedArray) -> list[str]:
    """A line of the table of a notebook."""
    gap = array.gap
    is_sized = bool(array.params) and array.is_sized
    was = array.original_size_at(array.params) if is_sized else None

    def shown(size: Formula, value: int | None) -> str:
        is_said = value is None or (size.is_constant and size.as_number() == value)
        return f"`{size}`" if is_said or not is_sized else f"`{size}` = {value}"

    verdict = ", ".join(filter(None, ("proved", gap.words, array.limits)))
    replaces = shown(array.original_size, was) if array.role is None else array.role
    bound = array.lower_bound.formula
    lower = "unknown" if bound is None else shown(bound, gap.bound_here)
    lower += f", shown for {gap.shown_for}" if gap.shown_for else ""
    now = shown(array.size, gap.size_here)
    return [f"`{array.name}`", f"`{array.mapping}`", now, replaces, lower, verdict]
