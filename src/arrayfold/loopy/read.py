"""The program in a kernel of loopy, in the order that loopy chose for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.base.optional import optional_module
from arrayfold.exact.isl import fresh_name
from arrayfold.loopy.expressions import condition_set, uses
from arrayfold.program.model import Program, Statement

_SEQUENTIAL = ("ForceSequentialTag", "InOrderSequentialSequentialTag", "UnrollTag", "UnrollHintTag")
_STRIDES = ("FixedStrideArrayDimTag", "ComputedStrideArrayDimTag")


@dataclass(frozen=True, eq=False)
class LinearKernel:
    """A kernel with its order.

    unit     the translation unit, linearized, of which it is the entry point
    program  the statements that access temporaries that can be folded; None if there are none
    refused  other temporaries, each with the reason
    """

    unit: Any
    kernel: Any
    program: Program | None
    refused: Mapping[str, str]


def read_kernel(kernel: Any) -> Program:
    """The program of a kernel: accesses of its temporary arrays, which are what may be folded.

    kernel  what lp.make_kernel() returns, with one entry point
    """
    read = linearized(kernel)
    if read.program is None:
        reasons = "".join(f"; {name}: {why}" for name, why in read.refused.items())
        raise InputError(f"kernel {read.kernel.name} has no temporary array that could be folded{reasons}")
    return read.program


def linearized(unit: Any) -> LinearKernel:
    """A kernel in the order in which loopy runs it, and what is read of it."""
    lp: Any = optional_module("loopy", "loopy")
    if not isinstance(unit, lp.TranslationUnit):
        raise InputError(
            f"expected a kernel of loopy, as lp.make_kernel() returns it, not {type(unit).__name__}"
        )
    if len(unit.entrypoints) != 1:
        names = ", ".join(sorted(unit.entrypoints)) or "none"
        raise InputError(f"expected one entry point, here are {names}", hint="unit.with_entrypoints('name')")
    _check_tags(unit.default_entrypoint)
    ordered = lp.linearize(lp.preprocess_program(lp.expand_subst(unit)))
    kernel = ordered.default_entrypoint
    reader = _Reader(kernel, {one.id: one for one in kernel.instructions})
    times = dict(reader.times())
    refused = dict(reader.unusual_arrays())
    arrays = [name for name, one in kernel.temporary_variables.items() if one.shape and name not in refused]
    read = [reader.instruction(one, times[one.id], arrays, refused) for one in kernel.instructions]
    context = isl.Set.from_basic_set(kernel.assumptions)
    return LinearKernel(ordered, kernel, _program(kernel.name, read, context, refused), refused)


def _check_tags(kernel: Any) -> None:
    for iname in sorted(kernel.all_inames()):
        for tag in kernel.inames[iname].tags:
            if type(tag).__module__.startswith("loopy.") and type(tag).__name__ not in _SEQUENTIAL:
                message = f"the loop over {iname} is tagged {tag}: it runs in parallel, or in vectors"
                raise InputError(f"kernel {kernel.name}: {message}", hint=_HINT)


def _program(
    name: str, read: Sequence[_Instruction | None], context: isl.Set, refused: Mapping[str, str]
) -> Program | None:
    """The program of instructions, with arrays that are not refused; None if there are none."""
    statements: list[Statement] = []
    schedule = isl.UnionMap("{ }")
    length = max((len(one.time) for one in read if one is not None), default=0)
    for one in read:
        if one is None or all(access.array in refused for access in one.accesses):
            continue
        label = fresh_name(re.sub(r"\W", "_", one.name), {other.name for other in statements})
        statements.append(_statement(label, one, refused))
        time = [*one.time, *("0" for _ in range(length - len(one.time)))]
        iterators = [
            one.domain.get_dim_name(isl.dim_type.set, k) for k in range(one.domain.dim(isl.dim_type.set))
        ]
        order = isl.Map(f"{{ [{', '.join(map(str, iterators))}] -> [{', '.join(time)}] }}")
        order = order.intersect_domain(one.domain).set_tuple_name(isl.dim_type.in_, label)
        schedule = schedule.union(isl.UnionMap.from_map(order))
    if not statements:
        return None
    program = Program.of(name, statements, schedule=schedule, context=context)
    return replace(program, temporaries=tuple(array.name for array in program.arrays))


@dataclass(frozen=True, eq=False)
class _Access:
    """An access of an array, { [i] -> [x] }, which surely happens or may."""

    array: str
    relation: isl.Map
    is_write: bool
    is_sure: bool


@dataclass(frozen=True, eq=False)
class _Instruction:
    """An instruction, its iterations { [i] }, and when they run."""

    name: str
    domain: isl.Set
    time: Sequence[str]
    accesses: Sequence[_Access]


def _statement(label: str, one: _Instruction, refused: Mapping[str, str]) -> Statement:
    """The statement of an instruction, with its accesses of arrays that are not refused."""
    reads: list[isl.Map | str] = []
    writes: list[isl.Map | str] = []
    may_writes: list[isl.Map | str] = []
    for access in one.accesses:
        if access.array not in refused:
            relation = access.relation.set_tuple_name(isl.dim_type.in_, label)
            kind = (writes if access.is_sure else may_writes) if access.is_write else reads
            kind.append(relation.set_tuple_name(isl.dim_type.out, access.array))
    return Statement.of(one.domain.set_tuple_name(label), reads=reads, writes=writes, may_writes=may_writes)


@dataclass(frozen=True, eq=False)
class _Reader:
    """A linearized kernel, and its instructions by their ids."""

    kernel: Any
    instructions: Mapping[str, Any]

    def error(self, message: str, instruction: Any = None) -> InputError:
        """An error at an instruction, as loopy prints that."""
        return InputError(f"kernel {self.kernel.name}{_place(instruction)}: {message}", hint=_HINT)

    def times(self) -> Iterator[tuple[str, list[str]]]:
        """When instructions run: positions and loop variables in turn, from the outside."""
        path: list[str] = []
        position = [0]
        for item in self.kernel.linearization:
            match type(item).__name__:
                case "EnterLoop":
                    path += [str(position[-1]), item.iname]
                    position.append(0)
                case "LeaveLoop":
                    del path[-2:]
                    position.pop()
                    position[-1] += 1
                case "RunInstruction":
                    instruction = self.instructions[item.insn_id]
                    self._check_nest(instruction, path[1::2])
                    yield item.insn_id, [*path, str(position[-1])]
                    position[-1] += 1
                case "Barrier":
                    raise self.error("a barrier orders work items that run in parallel")
                case _:  # CallKernel and ReturnFromKernel run one after the other
                    position[-1] += 1

    def _check_nest(self, instruction: Any, loops: Sequence[str]) -> None:
        for iname in sorted(instruction.within_inames - set(loops)):
            raise self.error(f"there is no loop over {iname}", instruction)

    def unusual_arrays(self) -> Iterator[tuple[str, str]]:
        """Temporary arrays that have no storage of their own, row after row."""
        for name, one in self.kernel.temporary_variables.items():
            if one.initializer is not None or one.read_only:
                yield name, "it has values from the start"
            elif one.base_storage is not None:
                yield name, f"it shares the storage {one.base_storage}"
            elif one.offset:
                yield name, "it has an offset"
            elif any(type(tag).__name__ not in _STRIDES for tag in one.dim_tags or ()):
                yield name, "a dimension of it is tagged vec or sep"

    def instruction(
        self, instruction: Any, time: Sequence[str], arrays: Sequence[str], refused: dict[str, str]
    ) -> _Instruction | None:
        """What an instruction accesses of arrays, None if nothing; what is not known of one refuses it."""
        names = instruction.read_dependency_names() | set(instruction.assignee_var_names())
        touched = [name for name in arrays if name in names]
        if not touched:
            return None
        if type(instruction).__name__ != "Assignment":
            refused |= {name: f"it is passed on{_place(instruction)}" for name in touched}
            return None
        domain = self._domain(instruction, time[1::2])
        where, is_sure = domain, True
        found = [(use, False) for one in instruction.predicates for use in uses(one, domain)]
        for predicate in instruction.predicates:
            holds = condition_set(predicate, domain)
            is_sure &= holds is not None
            where = where if holds is None else where.intersect(holds)
        target, *inside = uses(instruction.assignee, where)
        found += [(use, False) for use in (*inside, *uses(instruction.expression, where))]
        accesses: list[_Access] = []
        for use, is_write in (*found, (target, True)):
            if use.name not in touched:
                continue
            relation = None if use.subscript is None else self._relation(use.subscript, use.where)
            if relation is None or instruction.atomicity:
                why = (
                    "is updated atomically"
                    if relation
                    else "is not affine"
                    if use.subscript
                    else "is taken whole"
                )
                refused[use.name] = f"{use.text} {why}{_place(instruction)}"
            else:
                accesses.append(_Access(use.name, relation, is_write, is_sure))
        return _Instruction(instruction.id, where, time, accesses)

    def _domain(self, instruction: Any, loops: Sequence[str]) -> isl.Set:
        """{ [i] }: the iterations of an instruction, its loops from the outside."""
        found: Any = self.kernel.get_inames_domain(instruction.within_inames)
        domain = isl.Set.from_basic_set(found) if isinstance(found, isl.BasicSet) else found
        for name in domain.get_var_names(isl.dim_type.param):
            if name in self.kernel.temporary_variables:
                raise self.error(f"a loop runs to {name}, which is computed in the kernel", instruction)
        domain = domain.intersect_params(isl.Set.from_basic_set(self.kernel.assumptions))
        for k in reversed(range(domain.dim(isl.dim_type.set))):
            if domain.get_dim_name(isl.dim_type.set, k) not in loops:
                domain = domain.project_out(isl.dim_type.set, k, 1)
        names = [domain.get_dim_name(isl.dim_type.set, k) for k in range(domain.dim(isl.dim_type.set))]
        order = isl.Map(f"{{ [{', '.join(map(str, names))}] -> [{', '.join(loops)}] }}")
        ordered = domain.apply(order)
        for k, name in enumerate(loops):
            ordered = ordered.set_dim_name(isl.dim_type.set, k, name)
        return ordered

    def _relation(self, subscript: tuple[Any, ...], where: isl.Set) -> isl.Map | None:
        """{ [i] -> [x] }: the cells of a subscript; None if it is not affine."""
        symbolic: Any = optional_module("loopy.symbolic", "loopy")
        constants = [one.name for one in self.kernel.args if type(one).__name__ == "ValueArg"]
        try:
            return symbolic.get_access_map(where, subscript, allowed_constant_names=constants)
        except (
            symbolic.UnableToDetermineAccessRangeError,
            symbolic.ExpressionToAffineConversionError,
            isl.Error,
        ):
            return None


_HINT = "Fold a kernel whose loops run one after the other, before they are tagged."


def _place(instruction: Any) -> str:
    return "" if instruction is None else f", instruction {instruction}"
