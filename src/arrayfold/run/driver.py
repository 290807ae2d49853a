"""A C program around a function: makes up its inputs, calls it, and puts out all that it leaves behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from arrayfold.base.errors import InputError
from arrayfold.c.calls import globals_of
from arrayfold.c.language import is_cplusplus
from arrayfold.c.printer import ExpressionPrinter
from arrayfold.c.source import CSource
from arrayfold.c.tree import Call, Expression, Member, Reference, Subscript, Variable, bare, walk
from arrayfold.exact.isl import fix_parameters
from arrayfold.exact.parameter_values import comfortable_parameters
from arrayfold.frontends.c.data import (
    ArrayData,
    DataType,
    FunctionData,
    PointerData,
    RecordData,
    ScalarData,
    function_data,
    is_constant,
)
from arrayfold.program.model import Program
from arrayfold.run.driver_cplusplus import ANY, vectors_of
from arrayfold.run.driver_support import DECLARATIONS
from arrayfold.run.driver_values import fill, point_to_new_memory, put, put_elements, type_name

COMFORTABLE_SIZE = 12
_FEWEST_ELEMENTS = 16
_ELEMENTS_FOR_DATA = 128

Unknown = tuple[Variable, int]
CallWith = Callable[[str], Sequence[str]]


def _field_of(variable: Variable, holder: Variable) -> str | None:
    """The field of a structure that a local variable is set to where it is declared: `->width`."""
    initial = None if variable.initial is None else bare(variable.initial)
    if variable.storage != "local" or not isinstance(initial, Member):
        return None
    base = bare(initial.base)
    if not isinstance(base, Reference) or base.variable is not holder:
        return None
    return f"{'->' if initial.is_arrow else '.'}{initial.name}"


def default_sizes(program: Program, params: Mapping[str, int]) -> dict[str, int]:
    """Sizes to run at: those given, others small but not tiny."""
    if program.context.intersect(fix_parameters(params)).is_empty():
        sizes = ", ".join(f"{name} = {value}" for name, value in params.items())
        raise InputError(f"{sizes} contradicts the context {program.context}")
    return comfortable_parameters(program.context, params, COMFORTABLE_SIZE)


@dataclass(frozen=True, eq=False)
class Driver:
    """A main program for the function of a region; numbers that depend on the sizes are its arguments."""

    program: Program

    @property
    def source(self) -> CSource:
        """The C file."""
        assert self.program.source is not None
        return self.program.source

    def text(self, kernel: str, sizes: Mapping[str, int], call_with: CallWith = lambda call: [call]) -> str:
        """The main program; it includes the file with the function, and needs the support beside it.

        sizes      those at which it runs when it is started without arguments
        call_with  the lines that call it, given the call as a statement; one call if nothing is said
        """
        setup = [*self._parameters(), *self._globals_set_up()]
        parameters = self.source.region.function.parameters
        names = [_argument(k) for k, _ in enumerate(parameters)]
        after: list[str] = []
        if is_cplusplus(self.source.text.file):
            data = self._data.parameters
            vectors = vectors_of(parameters, data, names, self._piece)
            setup += [line for one in vectors.values() for line in one.before]
            after = [line for one in vectors.values() for line in one.after]
            names = [vectors[k].name if k in vectors else one for k, one in enumerate(names)]
            names = [
                f"arrayfold_any{{{one}}}" if parameters[k].rank and k not in vectors else one
                for k, one in enumerate(names)
            ]
        call = f"{self._data.called}({', '.join(names)});"
        if self._data.returns is not None:
            setup.append(f"{type_name(self._data.returns, 'the result')} arrayfold_result;")
            call = f"arrayfold_result = {call}"
        defaults = " ".join(self.numbers(sizes))
        lines = [
            f'arrayfold_start(arrayfold_argc, arrayfold_argv, "{defaults}");',
            *setup,
            *call_with(call),
            *after,
            *self._put_out(),
            "arrayfold_finish();",
            "return 0;",
        ]
        escaped = kernel.replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            [
                "#define main arrayfold_original_main",
                f'#include "{escaped}"',
                "#undef main",
                DECLARATIONS,
                *([ANY] if is_cplusplus(self.source.text.file) else []),
                "int main(int arrayfold_argc, char **arrayfold_argv)",
                "{",
                *(f"  {line}" for line in lines),
                "}\n",
            ]
        )

    def numbers(self, sizes: Mapping[str, int]) -> list[str]:
        """The arguments of the program at these sizes: the sizes, then extents that no type tells."""
        wanted = {variable for variable, _ in self._unknown}
        cells = {
            variable: self.program.array(name).cells.intersect_params(fix_parameters(sizes))
            for name, variable in self.source.variables.items()
            if variable in wanted and any(array.name == name for array in self.program.arrays)
        }
        for variable, strides in self.source.flat.items():
            if variable in cells:
                cells[variable] = _flattened(cells[variable], [stride.at(sizes) for stride in strides])
        extents = [_needed(cells.get(variable), dimension) for variable, dimension in self._unknown]
        return [*(str(sizes[name]) for name in self.source.parameters), *map(str, extents)]

    # ------------------------------------------------ what the function takes

    @cached_property
    def _data(self) -> FunctionData:
        return function_data(self.source.text, self.source.region.function.name)

    @cached_property
    def _sizes(self) -> dict[Variable, int]:
        """Variables that are parameters of the program, and which number is theirs."""
        return {variable: k for k, variable in enumerate(self.source.parameters.values())}

    @cached_property
    def _unknown(self) -> list[Unknown]:
        """Dimensions whose length no type tells."""
        variables = [*self.source.region.function.parameters, *self._globals]
        return [
            (variable, dimension)
            for variable in variables
            for dimension, extent in enumerate(variable.extents)
            if extent is None
        ]

    @cached_property
    def _globals(self) -> tuple[Variable, ...]:
        """The global variables that the text of the function names, and sizes; no scratch memory of it."""
        found = [
            node.variable
            for node in walk(self.source.region.function.body)
            if isinstance(node, Reference) and node.variable.storage == "global"
        ]
        sizes = (one for one in self.source.parameters.values() if one.storage == "global")
        return tuple(one for one in dict.fromkeys([*found, *sizes]) if one not in self.source.scratch)

    def _parameters(self) -> Iterator[str]:
        function = self.source.region.function
        pairs = list(enumerate(zip(function.parameters, self._data.parameters, strict=True)))
        for k, (variable, data) in pairs:
            if isinstance(data, ScalarData):
                yield from self._scalar(_argument(k), variable, data)
        for k, (variable, data) in pairs:
            what = f"the argument {variable.name}"
            if isinstance(data, ArrayData | PointerData) and variable.rank:
                yield f"void *{_argument(k)};"
                yield from self._memory(_argument(k), variable, data, 0, what)
            elif not isinstance(data, ScalarData):
                yield f"{type_name(data, what)} {_argument(k)} = {{0}};"
                yield from fill(_argument(k), data, what)
        for k, (variable, data) in pairs:
            yield from self._fields(k, variable, data)

    def _structure(self, number: int, holder: Variable) -> str | None:
        """An argument that is a structure, or a pointer to some, as C; None if it is none."""
        data = self._data.parameters[number]
        if not isinstance(data, ArrayData | PointerData):
            return _argument(number) if isinstance(data, RecordData) else None
        record = data.target if isinstance(data, PointerData) else data.element
        if not isinstance(record, RecordData):
            return None
        return f"(({type_name(record, holder.name)} *){_argument(number)})"

    def _fields(self, number: int, holder: Variable, data: DataType) -> Iterator[str]:
        """Lines that give fields of an argument their sizes, and memory for what they point to."""
        place = self._structure(number, holder)
        used = (*self._sizes, *self.source.variables.values())
        for variable in dict.fromkeys(one for one in used if one.holder is holder and len(one.pieces) == 1):
            path = variable.name.removeprefix(holder.name)
            inner = _field_data(data, path)
            if variable in self._sizes:
                yield f"{place}{path} = arrayfold_number({self._sizes[variable]});"
                yield from _check_size(f"{place}{path}", self._sizes[variable], variable.name)
            elif isinstance(inner, PointerData) and variable.is_array:
                yield from self._memory(f"{place}{path}", variable, inner, 0, variable.name)
        for variable, size in self._sizes.items():
            if (path := _field_of(variable, holder)) is not None:
                yield f"{place}{path} = arrayfold_number({size});"

    def _scalar(self, place: str, variable: Variable, data: ScalarData) -> Iterator[str]:
        number = self._sizes.get(variable)
        if number is None and data.kind in ("integer", "truth"):
            yield f"{data.name} {place} = {COMFORTABLE_SIZE};"
        elif number is None:
            yield f"{data.name} {place};"
            yield from fill(place, ScalarData(data.name, data.kind), variable.name)
        else:
            yield f"{data.name} {place} = ({data.name})arrayfold_number({number});"
            yield from _check_size(place, number, variable.name)

    def _memory(
        self, place: str, variable: Variable, data: DataType, dimension: int, what: str
    ) -> Iterator[str]:
        """Lines that make a pointer point to memory for an array: one piece, or rows that pointers reach."""
        lengths, element, after = self._piece(variable, data, dimension)
        count = " * ".join(lengths)
        if not isinstance(element, PointerData) or after >= variable.rank:
            yield from point_to_new_memory(place, element, count, what)
            return
        rows, number, index = (f"arrayfold_{word}{dimension}" for word in ("rows", "count", "row"))
        name = type_name(element, what)
        yield "{"
        yield f"  __SIZE_TYPE__ {number} = {count};"
        yield f"  {name} *{rows} = arrayfold_allocate({number}, sizeof({name}));"
        yield f"  for (__SIZE_TYPE__ {index} = 0; {index} < {number}; {index}++)"
        for line in self._memory(f"{rows}[{index}]", variable, element, after, what):
            yield f"    {line}"
        yield f"  {place} = (void *){rows};"
        yield "}"

    def _piece(self, variable: Variable, data: DataType, dimension: int) -> tuple[list[str], DataType, int]:
        """Lengths of the dimensions that lie in one piece of memory, their element, the next dimension."""
        lengths: list[str] = []
        while dimension < variable.rank and isinstance(data, ArrayData | PointerData):
            if lengths and isinstance(data, PointerData):
                break
            lengths.append(f"arrayfold_extent({self._extent(variable, dimension)})")
            data = data.target if isinstance(data, PointerData) else data.element
            dimension += 1
        return lengths, data, dimension

    def _extent(self, variable: Variable, dimension: int) -> str:
        extent = variable.extents[dimension]
        if extent is None:
            return f"arrayfold_number({len(self._sizes) + self._unknown.index((variable, dimension))})"
        return str(extent) if isinstance(extent, int) else self._print(extent)

    def _print(self, extent: Expression) -> str:
        arguments = {
            variable: _argument(k) for k, variable in enumerate(self.source.region.function.parameters)
        }

        places = {variable: self._structure(k, variable) for k, variable in enumerate(arguments)}

        def element(variable: Variable, texts: Sequence[str], node: Reference | Subscript) -> str:
            del node
            field = places.get(variable.holder) if variable.holder is not None else None
            if variable.holder is not None and field is not None:
                return field + variable.text(texts).removeprefix(variable.holder.name)
            return arguments.get(variable, variable.name) + "".join(f"[{text}]" for text in texts)

        return ExpressionPrinter(self.source.text, element).text(extent)

    # ------------------------------------------------ global variables

    def _globals_set_up(self) -> Iterator[str]:
        """Sizes get theirs; what has a value of its own keeps it, and so do constants."""
        for variable in self._globals:
            known = self._data.globals.get(variable.name)
            if known is None or is_constant(known.type):
                continue
            if variable in self._sizes:
                yield f"{variable.name} = arrayfold_number({self._sizes[variable]});"
                yield from _check_size(variable.name, self._sizes[variable], variable.name)
            elif not known.has_value:
                yield from self._filled(variable, known.type, f"the global {variable.name}")

    def _filled(self, variable: Variable, data: DataType, what: str) -> Iterator[str]:
        match data:
            case ScalarData(kind="integer" | "truth"):
                return
            case PointerData() if variable in self.source.variables.values():
                yield from self._memory(variable.name, variable, data, 0, what)
            case ArrayData(element=ArrayData() | ScalarData() | RecordData()) | ScalarData() | RecordData():
                yield from fill(variable.name, data, what)
            case _:
                return

    # ------------------------------------------------ what is left behind

    def _put_out(self) -> Iterator[str]:
        known = self.source.variables
        unneeded = {known[name] for name in self.program.extra_temporaries if name in known}
        # What is left in an array that is gone, all values of which are elsewhere, counts no more than that.
        unneeded |= set(self.source.replaced.values())
        function = self.source.region.function
        for k, (variable, data) in enumerate(zip(function.parameters, self._data.parameters, strict=True)):
            if variable not in unneeded and isinstance(data, ArrayData | PointerData):
                yield f'arrayfold_name("{variable.name}");'
                yield from self._array_put_out(_argument(k), variable, data)
            elif variable.is_reference and not is_constant(data):
                yield f'arrayfold_name("{variable.name}");'
                yield from put(_argument(k), data)
        for name, variable in self._named_globals().items():
            known = self._data.globals.get(name)
            if known is None or is_constant(known.type) or variable in unneeded:
                continue
            yield f'arrayfold_name("{name}");'
            if not isinstance(known.type, PointerData):
                yield from put(name, known.type)
            elif variable in self.source.variables.values():
                yield f"if ({name}) {{"
                yield from self._array_put_out(name, variable, known.type)
                yield "}"
        if self._data.returns is not None:
            yield 'arrayfold_name("the result");'
            yield from put("arrayfold_result", self._data.returns)

    def _array_put_out(self, place: str, variable: Variable, data: DataType) -> Iterator[str]:
        lengths, element, _ = self._piece(variable, data, 0)
        if is_constant(element):
            return
        name = type_name(element, variable.name)
        yield from put_elements(f"(({name} *){place})", element, " * ".join(lengths))

    def _named_globals(self) -> dict[str, Variable]:
        """Global variables that the function uses, by itself or through what it calls."""
        found: dict[str, Variable] = {variable.name: variable for variable in self._globals}
        for node in walk(self.source.region.function.body):
            if isinstance(node, Call):
                called = (one for one in globals_of(node.function) if one.storage == "global")
                found = {**{one.name: one for one in called}, **found}
        return found


def _field_data(data: DataType, path: str) -> DataType | None:
    """The type of a field of an argument, such as `->size`; None if it is not known."""
    inner: DataType | None = data
    for name in re.findall(r"\w+", path):
        inner = inner.target if isinstance(inner, PointerData) else inner
        fields = dict(inner.fields) if isinstance(inner, RecordData) else {}
        inner = fields.get(name)
    return inner


def _argument(number: int) -> str:
    return f"arrayfold_argument_{number}"


def _check_size(place: str, number: int, name: str) -> Iterator[str]:
    """A size may be too large for the type of its variable."""
    yield f"if ((long long){place} != arrayfold_number({number}))"
    yield f'  arrayfold_fail("the size is too large for", "{name}");'


def _flattened(cells: isl.Set, strides: Sequence[int]) -> isl.Set:
    """{ [x] }: where cells { A[y, x] } of a flat array are in it."""
    coordinates = [f"x{k}" for k in range(len(strides))]
    place = " + ".join(f"{stride}{name}" for stride, name in zip(strides, coordinates, strict=True))
    flatten = isl.Map(f"{{ [{', '.join(coordinates)}] -> [{place}] }}")
    return cells.reset_tuple_id().apply(flatten)


def _needed(cells: isl.Set | None, dimension: int) -> int:
    """How many elements a dimension needs."""
    if cells is None or cells.is_empty() or dimension >= cells.dim(isl.dim_type.set):
        return _FEWEST_ELEMENTS
    largest = cells.dim_max_val(dimension)
    # Subscripts that are made up are no more than a hundred.
    return max(largest.to_python() + 1, _FEWEST_ELEMENTS) if largest.is_int() else _ELEMENTS_FOR_DATA
