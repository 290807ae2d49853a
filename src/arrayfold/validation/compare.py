"""Two texts executed side by side: whether they leave the same behind, at which sizes, or what differs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import islpy as isl

from arrayfold.exact.isl import parameter_names
from arrayfold.validation.faults import ExecutionEnded, Fault, OutOfSteps, Spot, Stopped, Unsupported
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.memory import Object, is_address, is_structure
from arrayfold.validation.sizes import extreme_sizes, first_sizes, further_sizes, holds_at, is_extreme
from arrayfold.validation.terms import ORACLES, Oracle, Poison, Term, Terms, difference, readable
from arrayfold.validation.text import Text
from arrayfold.validation.types import VOID, Floating, Integer, Pointer, ValueType

_STEPS = 600_000
_OF_ONE = 400_000
_OF_EXTREME = 5_000
_LINE = 64
_SERIES = (first_sizes, extreme_sizes, further_sizes)
_FEWEST = 4


@dataclass(frozen=True)
class Subject:
    """A function with folded regions.

    function  its name
    regions   where they begin in the original text, in bytes
    context   { : }  what is known of the parameters where the regions begin
    gone      arrays from outside that are folded: what is left in them does not matter
    fixed     sizes for which alone the folds hold
    more      bytes by which an array may be larger than all together were, beyond a line of the cache
    """

    function: str
    regions: tuple[int, ...]
    contexts: tuple[isl.Set, ...]
    gone: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    more: int = 64 * 1024


@dataclass(frozen=True)
class Difference:
    """What the new text does otherwise, and at which size."""

    function: str
    sizes: Mapping[str, int]
    what: str

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        return f"{self.function}{f' at {at}' if at else ''}: {self.what}"


@dataclass(frozen=True)
class Validation:
    """What executing two texts has shown.

    compared    function -> the sizes at which both agree
    difference  the first difference, if there is one
    unchecked   function -> why it could not be executed
    """

    compared: Mapping[str, tuple[Mapping[str, int], ...]]
    difference: Difference | None = None
    unchecked: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_equal(self) -> bool:
        """Whether no difference was found."""
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is not None:
            return f"the original and the folded text differ: {self.difference}"
        agreed = {name: sizes for name, sizes in self.compared.items() if sizes}
        is_one = len(agreed.keys() | self.unchecked.keys()) == 1
        names = {name: "" if is_one else f"{name} " for name in (*agreed, *self.unchecked)}
        missing = [f"{names[name]}not checked: {reason}" for name, reason in self.unchecked.items()]
        if not agreed:
            return "; ".join(missing)
        texts = [f"{names[name]}{_sizes_text(sizes)}" for name, sizes in agreed.items()]
        return "; ".join([f"checked: original and folded text agree {'; '.join(texts)}", *missing])


def _sizes_text(sizes: Sequence[Mapping[str, int]]) -> str:
    """At which sizes, in a few words."""
    if not sizes[0]:
        return "at the size of the text"
    small = [one for one in sizes if not is_extreme(one)]
    ranges = [_range_text(name, sorted({one[name] for one in small})) for name in sizes[0] if small]
    if len(small) < len(sizes):
        ranges.append(f"{len(sizes) - len(small)} of them extreme")
    return f"at {len(sizes)} size{'s' * (len(sizes) > 1)} ({', '.join(ranges)})"


def _range_text(name: str, values: Sequence[int]) -> str:
    if len(values) > 2:
        return f"{name} from {values[0]} to {values[-1]}"
    return f"{name} = {' and '.join(map(str, values))}"


def validate(
    original: tuple[str, bytes],
    new: tuple[str, bytes],
    arguments: Sequence[str],
    subjects: Sequence[Subject],
    deadline: float = float("inf"),
) -> Validation:
    """Execute the original and the new text of functions at small sizes, and compare what is left.

    original, new  names and texts of the files
    arguments      options for the C parser
    deadline       from then on a function whose smallest size is compared is done
    """
    compared: dict[str, tuple[Mapping[str, int], ...]] = {}
    unchecked: dict[str, str] = {}
    for subject in subjects:
        try:
            found = _TextComparison(original, new, arguments, subject).run(deadline)
        except Unsupported as reason:
            unchecked[subject.function] = str(reason)
            continue
        if isinstance(found, Difference):
            return Validation(compared, found, unchecked)
        sizes, reason = found
        compared[subject.function] = tuple(sizes)
        if not sizes:
            unchecked[subject.function] = reason
    return Validation(compared, None, unchecked)


class _Excluded(Exception):
    """The sizes are not in the context."""


class _TextComparison:
    def __init__(
        self,
        original: tuple[str, bytes],
        new: tuple[str, bytes],
        arguments: Sequence[str],
        subject: Subject,
    ) -> None:
        names = sorted({name for context in subject.contexts for name in parameter_names(context)})
        self._subject = subject
        self._names = names
        self._original = Text(*original, arguments, names, subject.regions, self._look)
        self._label = new[0]
        # Includes are looked for where the original is.
        self._new = Text(original[0], new[1], arguments, names)
        self._spent = 0
        self._turn = 0
        self._limit = _OF_ONE
        self._endless: set[int] = set()

    def run(self, deadline: float) -> Difference | tuple[list[Mapping[str, int]], str]:
        """The sizes at which both agree and, if there is none, why; or the first difference."""
        error = self._original.error()
        if error is not None:
            raise Unsupported(error.message, error.spot)
        error = self._new.error()
        if error is not None:
            return Difference(self._subject.function, {}, self._told(error))
        compared: list[Mapping[str, int]] = []
        reasons: list[ExecutionEnded] = []
        tried: list[Mapping[str, int]] = []
        for series in _SERIES:
            self._limit = _OF_EXTREME if series is extreme_sizes else _OF_ONE
            for sizes in series(self._subject.contexts, self._names, self._subject.fixed):
                is_late = bool(compared) and time.monotonic() > deadline
                is_enough = is_late or (series is further_sizes and len(compared) >= _FEWEST)
                if is_enough or (self._spent > _STEPS and series is not extreme_sizes):
                    break
                if sizes in tried:
                    continue
                tried.append(sizes)
                self._turn = len(tried)
                try:
                    found = self._at(sizes)
                except Unsupported:
                    raise
                except ExecutionEnded as reason:
                    if series is not extreme_sizes:
                        reasons.append(reason)
                    continue
                except _Excluded:
                    continue
                if found is not None:
                    return found
                compared.append(sizes)
        if not reasons:
            return compared, "no small size is in the context"
        if isinstance(reasons[0], OutOfSteps):
            return compared, f"its smallest size takes {reasons[0].message}"
        return compared, f"the original itself fails at small sizes: {reasons[0]}"

    def _look(self, value: Any) -> None:
        """Raise if the variables where a region begins are outside of the context."""
        for context in self._subject.contexts:
            values = {name: value(name) for name in parameter_names(context)}
            if all(type(one) is int for one in values.values()) and not holds_at(context, values):
                raise _Excluded

    def _at(self, sizes: Mapping[str, int]) -> Difference | None:
        """Compare at one size, with conditions on data decided in several ways."""
        has_choices = False
        first: ExecutionEnded | None = None
        agreed = False
        for k, oracle in enumerate(ORACLES):
            if k and not has_choices:
                break
            if k in self._endless:
                has_choices = True
                continue
            terms = Terms()
            try:
                before = self._execute(self._original, terms, oracle, sizes, k)
            except Unsupported:
                raise
            except ExecutionEnded as reason:
                first = first or reason
                has_choices = True
                if isinstance(reason, OutOfSteps) and self._original.machine.asked:
                    self._leave_out(k)
                continue
            has_choices = self._original.machine.asked > 0
            found = self._compare_with(before, terms, oracle, sizes, k)
            if found is not None:
                return Difference(self._subject.function, sizes, found)
            agreed = True
        if not agreed and first is not None:
            raise first
        return None

    def _leave_out(self, oracle: int) -> None:
        """Ask an oracle no more, with which loops on data do not end; what that took does not count."""
        self._spent -= self._original.machine.steps
        self._endless.add(oracle)

    def _execute(
        self,
        text: Text,
        terms: Terms,
        oracle: Oracle,
        sizes: Mapping[str, int],
        order: int,
        bounds: Mapping[Term, tuple[int, int]] | None = None,
        limit: int | None = None,
    ) -> Any:
        m = text.machine
        m.start(terms, oracle, sizes, limit or self._limit, bounds, order, self._turn)
        try:
            return text.run(self._subject.function)
        except RecursionError:
            raise Unsupported("expressions that are nested too deeply") from None
        finally:
            self._spent += m.steps

    def _compare_with(
        self, result: Any, terms: Terms, oracle: Oracle, sizes: Mapping[str, int], order: int
    ) -> str | None:
        old, new = self._original.machine, self._new.machine
        bounds = {name: one.touched() for name, one in old.environment.items() if one.is_open}
        try:
            other = self._execute(self._new, terms, oracle, sizes, order, bounds, 200 * old.steps + 1_000_000)
        except OutOfSteps as fault:
            if is_extreme(sizes):
                # Loops in another order may turn often with nothing to do; that is slow, and right.
                raise _Excluded from None
            return self._told(fault)
        except (Fault, Stopped) as fault:
            return self._told(fault)
        except Unsupported as unknown:
            raise Unsupported(unknown.message, self._relabelled(unknown.spot)) from None
        if _differ(result, other):
            return f"the function returns {difference(result, other)}"
        if new.largest > old.total + _LINE + self._subject.more:
            return f"an array takes {new.largest:,.0f} bytes where all together took {old.total:,.0f}"
        if new.open_call is not None and old.open_call is None:
            name, spot = new.open_call
            return f"{self._relabelled(spot)}: {name} is called in any order, where its calls had one"
        return _first_call(old, new) or self._first_cell(old, new)

    def _told(self, fault: ExecutionEnded) -> str:
        """A fault of the new text, with the name that the text will have."""
        spot = self._relabelled(fault.spot)
        return f"{spot}: {fault.message}" if spot is not None else fault.message

    def _relabelled(self, spot: Spot | None) -> Spot | None:
        is_own = spot is not None and spot.file == self._new.file
        return Spot(self._label, spot.line) if is_own and spot is not None else spot

    def _first_cell(self, old: Interpreter, new: Interpreter) -> str | None:
        for name in dict.fromkeys([*old.environment, *new.environment]):
            before, after = old.environment.get(name), new.environment.get(name)
            one = before or after
            assert one is not None
            if one.name.split("[")[0].rpartition(".")[2] in self._subject.gone:
                continue
            found = _cell_that_differs(before, after, old)
            if found is not None:
                offset, width, left, right = found
                return f"{one.cell(offset, width)} holds {difference(left, right)}"
        return None


def _differ(left: Any, right: Any) -> bool:
    """Whether a value of the original is another one in the new text; what was never set may be anything."""
    if isinstance(left, Poison) or left is right:
        return False
    if is_address(left) and is_address(right):
        return (left[0] and left[0].name, left[1]) != (right[0] and right[0].name, right[1])
    if is_structure(left) and is_structure(right):
        return any(_differ(a[1], b[1]) for a, b in zip(left, right, strict=True))
    return type(left) is not type(right) or left != right


def _cell_that_differs(
    before: Object | None, after: Object | None, m: Interpreter
) -> tuple[int, int, Any, Any] | None:
    """A cell with its width, what it holds in the original and what in the new text."""
    if before is not None and after is not None and before.fills != after.fills:
        return 0, 1, "zeros in one part", "zeros in another part"
    for offset in sorted({*(before.cells if before else ()), *(after.cells if after else ())}):
        left, right, width = _cells(before, after, offset, m)
        if _differ(left, right):
            return offset, width, left, right
    return None


def _cells(before: Object | None, after: Object | None, offset: int, m: Interpreter) -> tuple[Any, Any, int]:
    """What a cell holds in both; where nothing was stored, what it held at the start."""
    stored = next(one for one in (before, after) if one is not None and offset in one.cells)
    width = stored.unit if stored.unit > 0 else stored.widths.get(offset, 1)
    kind = _kind_of(stored.cells[offset], width)

    def held(one: Object | None) -> Any:
        if one is not None and offset in one.cells:
            return one.cells[offset]
        return (one or stored).missing(offset, kind, m.zero)

    return held(before), held(after), width


def _kind_of(value: Any, width: int) -> ValueType:
    if isinstance(value, Term):
        return Floating(value.tag, width)
    return Pointer(VOID) if type(value) is tuple else Integer(8 * width, is_signed=True)


def _first_call(old: Interpreter, new: Interpreter) -> str | None:
    for k, (before, after) in enumerate(zip_longest(old.events, new.events)):
        if before is None:
            return f"{after[0]} is called once more than before"
        if after is None:
            return f"{before[0]} is called once less than before"
        if before != after:
            return f"call {k + 1} is {_call_text(after)} instead of {_call_text(before)}"
    return None


def _call_text(event: tuple[Any, ...]) -> str:
    shown = ["an array" if isinstance(one, tuple) else readable(one) for one in event[1:]]
    return f"{event[0]}({', '.join(shown)})"
