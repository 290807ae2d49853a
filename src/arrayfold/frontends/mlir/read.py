"""Functions of MLIR in the affine, memref and scf dialects -> Program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl
from xdsl.dialects import func

from arrayfold.base.errors import InputError
from arrayfold.exact.isl import coalesced
from arrayfold.exact.relations import union_of_maps, union_of_sets
from arrayfold.frontends.mlir.indices import Indices
from arrayfold.frontends.mlir.module import MlirModule
from arrayfold.frontends.mlir.walk import Link, LoopLink, Step, Storage, Touch, Walk
from arrayfold.program.assumptions import Assumption, without_implied
from arrayfold.program.model import Access, Array, Kept, Parallelism, Program, Statement


def read_mlir(
    file: str, text: str, sizes: Mapping[str, int] | None = None, *, with_undefined: bool = False
) -> list[Program]:
    """The programs in a module of MLIR, one for each function that accesses memory.

    Loads from fresh memory that nothing was stored to get no value, and are left out.

    sizes           values of parameters, which are then none
    with_undefined  those loads are there all the same
    """
    module = MlirModule.read(file, text)
    functions = module.functions()
    if not functions:
        raise module.whole.error("there is no function with a body in this module")
    found = [program_of(walk_function(module, one, sizes)) for one in functions]
    programs = [program for program in found if program is not None]
    if not programs:
        raise module.error(functions[0], "no function of this module loads or stores anything")
    return programs if with_undefined else [_without_undefined_reads(program) for program in programs]


def _without_undefined_reads(program: Program) -> Program:
    """The program without reads of local arrays which no write can come before.

    In parallel loops a write may come before a read that it follows in the text: there all stay.
    """
    schedule = program.schedule
    if program.parallel or schedule is None:
        return program

    def defined(access: Access) -> Access:
        if access.is_write or access.array in program.kept:
            return access
        info = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(access.relation))
        info = info.set_may_source(program.accesses(writes=True, array=access.array))
        flow = info.set_schedule_map(schedule).compute_flow().get_full_may_dependence()
        relation = access.relation
        if flow.is_empty():
            return replace(access, relation=relation.subtract(relation))
        return replace(access, relation=coalesced(isl.Map.from_union_map(flow.range().unwrap())))

    statements = (
        replace(one, accesses=tuple(defined(access) for access in one.accesses)) for one in program.statements
    )
    return replace(program, statements=tuple(statements))


def walk_function(module: MlirModule, one: func.FuncOp, sizes: Mapping[str, int] | None = None) -> Walk:
    """What a function does."""
    if len(one.body.blocks) > 1:
        message = f"{one.sym_name.data} has several blocks, so that its loops cannot be seen"
        raise module.error(one, message, "Fold before --convert-scf-to-cf.")
    walk = Walk(module, Indices(dict(sizes or {})), one.sym_name.data)
    walk.function(one)
    return walk


def program_of(walk: Walk) -> Program | None:
    """The program of a function; None where it accesses nothing."""
    return _Builder(walk).program() if walk.steps else None


@dataclass(frozen=True, eq=False)
class _Builder:
    walk: Walk

    def program(self) -> Program:
        """The program."""
        context = self._context()
        statements: list[Statement] = []
        assumptions: list[Assumption] = []
        for number, step in enumerate(self.walk.steps):
            statements.append(self._statement(f"S{number}", step, context, assumptions))
        for one in assumptions:
            context = coalesced(context.intersect(one.where))
        if all(one.domain.is_empty() for one in statements):
            raise InputError(f"{self.walk.module.whole.file}: no loop of {self.walk.name} runs")
        schedule, parallel = self._schedule(statements)
        used = {access.array for one in statements for access in one.accesses}
        storages = [one for one in self.walk.storages.values() if one.name in used]
        outside = [one for one in storages if one.kept]
        program = Program.of(
            self.walk.name,
            statements,
            schedule=schedule,
            context=context,
            live_in=union_of_sets(context.get_space(), (self._cells(one) for one in outside)),
            live_out=union_of_sets(context.get_space(), (self._cells(one) for one in outside)),
            parallel=parallel,
        )
        arrays = tuple(self._array(one) for one in program.arrays)
        kept = {one.name: Kept(one.kept, is_final=True) for one in outside}
        known = without_implied(assumptions, self._context())
        return replace(program, arrays=arrays, kept=kept, assumptions=known)

    def _parameters(self) -> str:
        names = [name for name in self.walk.indices.parameters if name not in self.walk.indices.sizes]
        return f"[{', '.join(names)}] -> "

    def _context(self) -> isl.Set:
        """Sizes of memory are not negative."""
        found = [
            f"{extent} >= 0"
            for one in self.walk.storages.values()
            for extent in one.extents
            if isinstance(extent, str)
        ]
        return isl.Set(f"{self._parameters()}{{ : {' and '.join(dict.fromkeys(found)) or 'true'} }}")

    def _array(self, array: Array) -> Array:
        """With all the cells that it is declared with."""
        cells = self._cells(self.walk.storages[array.name])
        return replace(array, cells=cells) if cells.dim(isl.dim_type.set) == array.rank else array

    def _cells(self, storage: Storage) -> isl.Set:
        """{ A[x] }: the cells; one cell stands for all of them where sizes are unknown."""
        if not storage.is_shaped:
            return isl.Set(f"{self._parameters()}{{ {storage.name}[] }}")
        names = [f"d{k}" for k in range(len(storage.extents))]
        names = [f"{name}_" if name in self.walk.indices.parameters else name for name in names]
        inside = [f"0 <= {name} < {size}" for name, size in zip(names, storage.extents, strict=True)]
        there = storage.cell(names)
        box = f"[{', '.join(names)}] -> {storage.name}[{', '.join(map(str, there))}]"
        return self._map(f"{{ {box} : {' and '.join(inside) or 'true'} }}").range()

    def _map(self, text: str) -> isl.Map:
        return isl.Map(self._parameters() + text)

    def _statement(self, name: str, step: Step, context: isl.Set, assumptions: list[Assumption]) -> Statement:
        nest = step.nest
        instance = f"{name}[{', '.join(nest.iterators)}]"
        condition = " and ".join(f"({one})" for one in nest.conditions) or "true"
        domain = self._map(f"{{ {instance} -> [] : {condition} }}").domain()
        accesses: list[Access] = []
        for touch in step.touches:
            storage = self.walk.storages[touch.array]
            cells = self._cells(storage)
            if touch.subscripts is None:
                relation = isl.Map.from_domain_and_range(domain, cells)
            else:
                cell = f"{storage.name}[{', '.join(map(str, touch.subscripts))}]"
                relation = self._map(f"{{ {instance} -> {cell} }}").intersect_domain(domain)
                self._check_inside(touch, relation, cells, context, assumptions)
            relation = coalesced(relation.intersect_range(cells))
            accesses.append(Access(touch.array, relation, touch.is_write, not touch.may_not_happen))
        return Statement(name, coalesced(domain), tuple(accesses))

    def _check_inside(
        self, touch: Touch, relation: isl.Map, cells: isl.Set, context: isl.Set, found: list[Assumption]
    ) -> None:
        """Note what keeps an access inside of its memref; an error where nothing does."""
        wrong = relation.subtract_range(cells).params().intersect(context)
        if wrong.is_empty():
            return
        does = "stores to" if touch.is_write else "loads from"
        where = context.subtract(wrong)
        if where.is_empty():
            name = self.walk.storages[touch.array].name
            message = f"this {does} {name} outside of its sizes"
            raise self.walk.module.error(touch.operation, message)
        place = self.walk.module.whole.place(self.walk.module.places.get(touch.operation, 0))
        found.append(Assumption(coalesced(where).gist(context), f"sizes of {touch.array}", place))

    def _schedule(self, statements: Sequence[Statement]) -> tuple[isl.UnionMap, dict[int, Parallelism]]:
        """{ S[i] -> [t] } and its parallel dimensions; dimensions that say nothing are left out.

        Where loops of one level are partly parallel, sequential ones and parallel ones get a dimension each.
        """
        paths = [step.nest.path for step in self.walk.steps]
        columns: list[tuple[list[str], bool]] = []
        for level in range(max(map(len, paths))):
            for is_parallel in (False, True):
                column = [
                    _time(path[level] if level < len(path) else 0, is_parallel=is_parallel) for path in paths
                ]
                if len(set(column)) > 1 or not column[0].isdigit():
                    columns.append((column, is_parallel))
        times: list[isl.Map] = []
        for row, (step, one) in enumerate(zip(self.walk.steps, statements, strict=True)):
            time = f"[{', '.join(column[row] for column, _ in columns)}]"
            instance = f"{one.name}[{', '.join(step.nest.iterators)}]"
            times.append(isl.Map(f"{{ {instance} -> {time} }}").intersect_domain(one.domain))
        schedule = union_of_maps(statements[0].domain.get_space().params(), times)
        return schedule, {k: "doall" for k, (_, is_parallel) in enumerate(columns) if is_parallel}


def _time(link: Link, *, is_parallel: bool) -> str:
    match link:
        case LoopLink(iterator=iterator, is_parallel=kind):
            return iterator if kind == is_parallel else "0"
        case _:
            return "0" if is_parallel else str(link)
