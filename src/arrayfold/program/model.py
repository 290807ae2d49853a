"""The program to fold: statements, accesses, arrays, order, and what is known around it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import islpy as isl

from arrayfold.base.choices import Favor
from arrayfold.base.errors import InputError
from arrayfold.c.source import CSource
from arrayfold.c.tree import Variable
from arrayfold.exact.formula import Formula
from arrayfold.exact.isl import coalesced, parameter_names
from arrayfold.exact.relations import union_of_maps, union_of_sets
from arrayfold.exact.signs import box_size
from arrayfold.program.assumptions import Assumption, without_implied
from arrayfold.program.checked import (
    check_array,
    check_levels,
    check_tuple,
    checked_parts,
    named_access,
    named_domain,
)
from arrayfold.program.signature import Signature

Parallelism: TypeAlias = Literal["doall", "forall"]


@dataclass(frozen=True, eq=False)
class Array:
    """An array, the names of its dimensions and the cells of it that matter.

    cells  { A[x] }  touched by the program, live before or after it, or declared
    """

    name: str
    dimensions: tuple[str, ...]
    cells: isl.Set

    @property
    def rank(self) -> int:
        """How many indices a cell has."""
        return len(self.dimensions)


@dataclass(frozen=True, eq=False)
class Access:
    """What a statement reads or writes of one array.

    relation  { S[i] -> A[x] }  clipped to the domain of S

    is_must       happens in every execution
    whenever_run  happens whenever the instance runs, which conditions on data around it may prevent
    """

    array: str
    relation: isl.Map
    is_write: bool
    is_must: bool = True
    whenever_run: bool = False

    @staticmethod
    def of(relation: isl.Map | str, *, is_write: bool, is_must: bool = True) -> Access:
        """The access of a relation { S[i] -> A[x] }, or of its text, to the array that it names.

        >>> Access.of("{ S[i] -> A[i + 1] : 0 <= i < 9 }", is_write=False).array
        'A'
        """
        array, part = named_access(relation)
        return Access(array, part, is_write, is_must)


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement and its instances.

    domain  { S[i] }
    """

    name: str
    domain: isl.Set
    accesses: tuple[Access, ...]

    @staticmethod
    def of(
        domain: isl.Set | str,
        *,
        writes: Sequence[isl.Map | str] = (),
        reads: Sequence[isl.Map | str] = (),
        may_writes: Sequence[isl.Map | str] = (),
    ) -> Statement:
        """The statement of a set of instances { S[i] } with its accesses { S[i] -> A[x] }, clipped to them.

        Relations and sets may be texts. A relation of another statement is an error, and so is another number
        of iterators.
        """
        name, instances = named_domain(domain)
        found = [Access.of(one, is_write=True) for one in writes]
        found += [Access.of(one, is_write=True, is_must=False) for one in may_writes]
        found += [Access.of(one, is_write=False) for one in reads]
        for one in found:
            check_tuple(f"an access of {one.array}", one.relation, isl.dim_type.in_, {name: instances})
        clipped = (
            replace(one, relation=coalesced(one.relation.intersect_domain(instances))) for one in found
        )
        return Statement(name, instances, tuple(clipped))

    @property
    def iterators(self) -> list[str]:
        """The names of its loops, made up where there are none."""
        domain = self.domain
        count = domain.dim(isl.dim_type.set)
        return [domain.get_dim_name(isl.dim_type.set, k) or f"i{k}" for k in range(count)]


@dataclass(frozen=True)
class TileBuffer:
    """An array whose values never leave a tile.

    array          what it is a buffer of
    dimensions     how many of its first coordinates say which tile it is
    borders        arrays of what tiles leave to each other, one for each side
    size           cells of the array that the two replace
    is_persistent  tiles last over the whole program and have a part each; otherwise the first dimensions of
                   the schedule say the tile, and one follows the other in the same memory
    """

    name: str
    array: str
    dimensions: int
    borders: tuple[str, ...]
    size: Formula
    is_persistent: bool = False


@dataclass(frozen=True, eq=False)
class Moved:
    """Where accesses of the original program find their cells, if that is not where the text says.

    reads   { [S[i] -> A[x]] -> B[y] }  what S[i] reads as A[x] is in B[y]
    writes  { [S[i] -> A[x]] -> B[y] }
    """

    reads: isl.UnionMap
    writes: isl.UnionMap


@dataclass(frozen=True, eq=False)
class Relocation:
    """Values in other arrays than the text of a program says.

    moved     where its accesses find their cells, None if all find them under the names of the text
    origins   array that the text does not know -> the array whose values it holds
    replaced  array of the text that is gone -> how many cells it had
    buffers   array inside of tiles -> what it is a buffer of; its values never leave a tile
    """

    moved: Moved | None = None
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    replaced: Mapping[str, Formula] = field(default_factory=dict[str, Formula])
    buffers: Mapping[str, TileBuffer] = field(default_factory=dict[str, TileBuffer])


@dataclass(frozen=True)
class Kept:
    """Why an array stays where it is; what is final stands even if the user calls the array temporary."""

    reason: str
    is_final: bool = False


@dataclass(frozen=True)
class MeasuredVersion:
    """A version of a program whose time was measured.

    name         what kind of order it has
    options      of the command line that give it; none for the order as written
    seconds      of one call; None if it could not be timed, for a reason
    size_bytes   of the arrays that are folded, in this version
    is_original  whether nothing is folded
    """

    name: str
    options: tuple[str, ...]
    seconds: float | None
    size_bytes: int
    reason: str = ""
    is_original: bool = False


@dataclass(frozen=True)
class ChosenOrder:
    """The order that was chosen for a program.

    name     what kind of order it is
    why      why this one
    options  of the command line that give it again; none for the order as written
    speed    how many times as fast as the order as written it is predicted to be; where orders were
             measured, how many times as fast as the original it was
    measured  the versions that were measured, the original among them
    favor     which mappings go with it: those with better loops may take up to twice as many cells
    """

    name: str
    why: str
    options: tuple[str, ...]
    speed: float = 1.0
    measured: tuple[MeasuredVersion, ...] = ()
    favor: Favor = "size"


@dataclass(frozen=True, eq=False)
class Program:
    """An affine loop program.

    context         { : }               what is known of the parameters
    schedule        { S[i] -> [t] }     when instances run, None when a relation says it
    parallel        dimension of the schedule -> meaning of its loop
    happens_before  { S[i] -> T[j] }    who surely runs before whom; a schedule beside it names one execution
    live_in         { A[x] }            cells with a value before the program, as declared
    live_out        { A[x] }            cells needed after it
    temporaries     arrays that may be folded; None leaves the choice to the analysis
    extra_temporaries  further ones, whatever the choice is
    kept            arrays that are no temporaries, each with the reason
    source          the C text behind it, if it has one
    exclusive       { S[i] -> T[j] }    instances of which no execution has both, None if there are none
    critical        { S[i] -> L[k] }    instances in section k under lock L: sections of one lock take turns
    optional        { S[i] }            further instances that need not run, None if there are none
    tiles           sizes of tiles along the first dimensions of the schedule, as text; none if there are none
    relocation      values that are in other arrays than the text says
    signature       how it is called, if it is a Python kernel
    assumptions     what is taken for granted of the parameters although nobody said so
    private         variable of C -> how many loops are around its declaration, each iteration with its own
    is_as_written     statements run in the order of the text, whatever else has changed
    chosen            why it runs in this order, if that was chosen for it
    evaluates_guards  guarded statements read the data of their conditions, also where they do not run
    """

    name: str
    context: isl.Set
    statements: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    schedule: isl.UnionMap | None
    parallel: Mapping[int, Parallelism]
    happens_before: isl.UnionMap | None
    live_in: isl.UnionSet
    live_out: isl.UnionSet
    temporaries: tuple[str, ...] | None
    extra_temporaries: tuple[str, ...] = ()
    kept: Mapping[str, Kept] = field(default_factory=dict[str, Kept])
    source: CSource | None = None
    exclusive: isl.UnionMap | None = None
    critical: isl.UnionMap | None = None
    optional: isl.UnionSet | None = None
    tiles: tuple[str, ...] = ()
    relocation: Relocation = field(default_factory=Relocation)
    signature: Signature | None = None
    assumptions: tuple[Assumption, ...] = ()
    private: Mapping[str, int] = field(default_factory=dict[str, int])
    is_as_written: bool = True
    chosen: ChosenOrder | None = None
    evaluates_guards: bool = False

    @staticmethod
    def of(
        name: str,
        statements: Sequence[Statement],
        *,
        schedule: isl.UnionMap | isl.Map | str | None = None,
        happens_before: isl.UnionMap | isl.Map | str | None = None,
        context: isl.Set | str = "{ : }",
        live_in: isl.UnionSet | isl.Set | str = "{ }",
        live_out: isl.UnionSet | isl.Set | str = "{ }",
        temporaries: Sequence[str] | None = None,
        parallel: Mapping[int, Parallelism] | None = None,
        dimensions: Mapping[str, Sequence[str]] | None = None,
    ) -> Program:
        """A program of statements, checked: whatever is named must be there, with as many coordinates.

        Its arrays are those that the statements access. Sets and relations may be texts. The parameters are
        the fields of a program that a caller may want to say.

        dimensions  names of the dimensions of arrays, where they should not be found by themselves
        """
        parts = checked_parts(
            statements, (schedule, happens_before), context, (live_in, live_out), dimensions or {}
        )
        for one in temporaries or ():
            check_array("temporaries", one, parts.arrays)
        check_levels(parts.schedule, parallel or {})
        return Program(
            name=name,
            context=parts.context,
            statements=tuple(parts.statements),
            arrays=tuple(Array(array, *of) for array, of in parts.arrays.items()),
            schedule=parts.schedule,
            parallel=dict(parallel or {}),
            happens_before=parts.happens_before,
            live_in=parts.live[0],
            live_out=parts.live[1],
            temporaries=None if temporaries is None else tuple(dict.fromkeys(temporaries)),
        )

    def __repr__(self) -> str:
        return (
            f"<program {self.name}: {_listed('statement', self.statements)}, {_listed('array', self.arrays)}>"
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the input."""
        return parameter_names(self.context)

    def array(self, name: str) -> Array:
        """The array of that name."""
        return find_array(self.arrays, name)

    @property
    def has_guards(self) -> bool:
        """Whether conditions on data decide if some statement runs."""
        return self.source is not None and any(one.guards for one in self.source.statements.values())

    def size_of(self, name: str) -> Formula:
        """The cells of the box around an array."""
        return box_size(self.array(name).cells, self.context)

    def domain(self) -> isl.UnionSet:
        """All instances, { S[i] }."""
        return self._domain

    @cached_property
    def _domain(self) -> isl.UnionSet:
        return union_of_sets(self.context.get_space(), (one.domain for one in self.statements))

    def running_sizes(self) -> isl.Set:
        """{ : }: the sizes at which it may run and does something; the context if there are none."""
        where = self.domain().params().intersect(self.context)
        if self.source is not None and self.source.legal is not None:
            where = where.intersect(self.source.legal)
        return self.context if where.is_empty() else where

    def may_not_run(self) -> isl.UnionSet:
        """{ S[i] }: the instances that some execution does without."""
        found = isl.UnionSet.empty(self.context.get_space()) if self.optional is None else self.optional
        if self.exclusive is not None:
            found = found.union(self.exclusive.domain()).union(self.exclusive.range())
        return found

    def private_variables(self) -> frozenset[Variable]:
        """The variables of C of which each iteration has its own."""
        if self.source is None:
            return frozenset()
        known = self.source.variables
        return frozenset(known[name] for name in self.private if name in known)

    def in_order(self, schedule: isl.UnionMap, parallel: Mapping[int, Parallelism]) -> Program:
        """The same program in another order, { S[i] -> [t] }."""
        return replace(self, schedule=schedule, parallel=parallel, critical=None, is_as_written=False)

    def accesses(self, *, writes: bool, must_only: bool = False, array: str | None = None) -> isl.UnionMap:
        """All reads or all writes, { S[i] -> A[x] }, of one array or of every one."""
        chosen = self._accesses[1] if array is None else self._accesses[0].get(array, ())
        return union_of_maps(
            self.context.get_space(),
            (
                access.relation
                for access in chosen
                if access.is_write == writes and (access.is_must or not must_only)
            ),
        )

    @cached_property
    def _accesses(self) -> tuple[Mapping[str, Sequence[Access]], Sequence[Access]]:
        """The accesses of each array, and all of them."""
        everything = [access for statement in self.statements for access in statement.accesses]
        by_array: dict[str, list[Access]] = {}
        for access in everything:
            by_array.setdefault(access.array, []).append(access)
        return by_array, everything

    def with_arrays(self, gone: Collection[str], new: Sequence[Array]) -> Program:
        """The same with new arrays, which may be folded, instead of others; its statements are to follow."""
        temporaries = self.temporaries
        if temporaries is not None:
            temporaries = (*(name for name in temporaries if name not in gone), *(one.name for one in new))
        return replace(
            self,
            arrays=(*(array for array in self.arrays if array.name not in gone), *new),
            temporaries=temporaries,
            extra_temporaries=tuple(name for name in self.extra_temporaries if name not in gone),
            kept={name: why for name, why in self.kept.items() if name not in gone},
        )

    def narrowed(self, context: isl.Set) -> Program:
        """The same program with more known of the parameters, which may make assumptions needless."""
        return replace(
            self,
            context=coalesced(self.context.intersect(context)),
            assumptions=without_implied(self.assumptions, context),
        )

    def without_aliases(self) -> Program:
        """The same program, and different names of arrays mean different memory."""
        source = replace(self.source, may_alias=None) if self.source else None
        return replace(
            self, source=source, assumptions=tuple(one for one in self.assumptions if not one.words)
        )

    def with_temporary(self, name: str) -> Program:
        """The same program in which an array may be folded; what was only assumed of it is dropped."""
        self.array(name)
        added = replace(self, extra_temporaries=(*self.extra_temporaries, name))
        if name not in self.kept:
            return added
        reason = self.kept[name]
        if reason.is_final:
            raise InputError(f"array {name} cannot be folded: {reason.reason}")
        cells = self.array(name).cells
        needed = self.live_out.subtract(isl.Set.universe(cells.get_space()))
        kept = {other: why for other, why in self.kept.items() if other != name}
        return replace(added, kept=kept, live_out=needed)


@dataclass(frozen=True, eq=False)
class ConflictProblem:
    """Conflicts that somebody else found, without a program.

    pairs        array -> { A[x] -> A[y] }  symmetric, where the input gave pairs
    differences  array -> { A[d] }          symmetric, where the input gave differences
    assumed      arrays of which the input gave differences and no cells: a box of them is assumed
    """

    name: str
    context: isl.Set
    arrays: tuple[Array, ...]
    pairs: Mapping[str, isl.Map]
    differences: Mapping[str, isl.Set]
    assumed: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<conflicts {self.name}: {_listed('array', self.arrays)}>"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the input."""
        return parameter_names(self.context)

    def array(self, name: str) -> Array:
        """The array of that name."""
        return find_array(self.arrays, name)

    def narrowed(self, context: isl.Set) -> ConflictProblem:
        """The same problem with more known of the parameters."""
        return replace(self, context=coalesced(self.context.intersect(context)))


Problem: TypeAlias = Program | ConflictProblem


def _listed(what: str, items: Sequence[Statement] | Sequence[Array]) -> str:
    names = ", ".join(item.name for item in items)
    return f"{what}{'s' * (len(items) != 1)} {names}" if items else f"no {what}"


def find_array(arrays: tuple[Array, ...], name: str) -> Array:
    """The array of that name, or an error that lists the names there are."""
    for array in arrays:
        if array.name == name:
            return array
    known = ", ".join(array.name for array in arrays)
    raise InputError(f"there is no array {name!r}; the arrays are: {known}")
