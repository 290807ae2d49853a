"""The state of one execution: memory, steps, what data decides, calls of functions that are not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arrayfold.validation.faults import Fault, OutOfSteps, Spot, Unsupported
from arrayfold.validation.memory import NULL, Address, Object, is_address
from arrayfold.validation.races import Lanes, Races
from arrayfold.validation.terms import ORACLES, Oracle, Poison, Term, Terms
from arrayfold.validation.types import Floating, Integer, Pointer, ValueType


class Interpreter:
    """One execution. The closures of a program refer to it, so it is reset and not replaced.

    sizes        names of variables -> the whole numbers that they have where their value is unknown
    bounds       the environment's objects of unknown size -> which bytes of them may be touched
    environment  what the function is called with: objects by the term of their name
    events       calls of functions whose bodies are not seen, in order
    open_call    the first of those calls whose order is left open, and where it is
    objects      how many objects there are so far; each has its number
    races        what watches for races; None where one thread runs alone
    lanes        what watches the innermost loop that is said to have independent iterations
    asked        how many conditions data has decided
    total        bytes of all variables and blocks that the function makes; `largest` of one of them
    """

    def __init__(self) -> None:
        self.start(Terms(), ORACLES[0], {}, 0)

    def start(
        self,
        terms: Terms,
        oracle: Oracle,
        sizes: Mapping[str, int],
        limit: int,
        bounds: Mapping[Term, tuple[int, int]] | None = None,
        backwards: int = 0,
        turn: int = 0,
    ) -> None:
        """Begin an execution.

        backwards  decides the order of parallel iterations
        turn       decides how memory is aligned
        """
        self.terms, self.oracle, self.sizes, self.limit = terms, oracle, sizes, limit
        self.bounds, self.backwards, self._turn = bounds, backwards, turn
        self.steps = self.asked = self.depth = self.calls = self.objects = 0
        self.environment: dict[Term, Object] = {}
        self.lasting: dict[int, Any] = {}
        self.events: list[tuple[Any, ...]] = []
        self.open_call: tuple[str, Spot] | None = None
        self.races: Races | None = None
        self.lanes: Lanes | None = None
        self.total = self.largest = 0.0

    # ------------------------------------------------ parallel code

    @property
    def team(self) -> Races:
        """What watches for races, in parallel code."""
        assert self.races is not None
        return self.races

    def saw(self, obj: Object, offset: int, place: int, spot: Spot, *, is_write: bool) -> None:
        """Tell those who watch of an access; place is where it stands in the text."""
        if self.races is not None:
            (self.races.write if is_write else self.races.read)(obj, offset, spot)
        if self.lanes is not None:
            self.lanes.see(obj, offset, place, spot, is_write=is_write)

    def called(self, event: tuple[Any, ...], spot: Spot) -> Term:
        """Note a call of a function that is not seen, with its arguments: the term of this call."""
        if self.races is not None and not self.races.call():
            self.open_call = self.open_call or (event[0], spot)
        self.spend(4)
        self.events.append(event)
        self.calls += 1
        return self.terms.make(event[0], "call", self.calls)

    # ------------------------------------------------ work

    def spend(self, steps: int) -> None:
        """Count work."""
        self.steps += steps
        if self.steps > self.limit:
            raise OutOfSteps(f"more than {self.limit:,} steps")

    # ------------------------------------------------ values

    def name(self, text: str) -> Term:
        """The term of something that has a name outside of the function."""
        return self.terms.make("name", "", text)

    def combine(self, op: str, tag: str, *args: Any) -> Any:
        """The result of an operation on data."""
        for arg in args:
            if arg.__class__ is Poison:
                return arg
            if arg.__class__ is tuple:
                return self.terms.make(op, tag, *(self.as_term(one) for one in args))
        return self.terms.make(op, tag, *args)

    def as_term(self, value: Any) -> Any:
        """A value as an argument of a term."""
        if is_address(value):
            obj, offset = value[0], value[1]
            return self.terms.make("address", "", "null" if obj is None else obj.name, offset)
        return value

    def truth(self, value: Any, spot: Spot) -> bool:
        """Whether a condition holds; data decides as the oracle says."""
        if type(value) is int:
            return value != 0
        if type(value) is tuple:
            return value[0] is not None
        if type(value) is Poison:
            raise Fault(f"a condition depends on a value that is not there: {value.reason}", spot)
        if value.op == "!":
            return not self.truth(value.args[0], spot)
        if value in self.terms.known:
            return self.terms.known[value] != 0
        self.asked += 1
        return self.oracle.decide(value)

    def whole(self, value: Any, spot: Spot) -> int:
        """A whole number where one is needed; data that decides one gets a small one, always the same."""
        if type(value) is int:
            return value
        if type(value) is Poison:
            raise Fault(f"a subscript or a size depends on a value that is not there: {value.reason}", spot)
        if type(value) is not Term:
            raise Unsupported("an address is used as a number", spot)
        found = self.terms.known.get(value)
        if found is None:
            self.asked += 1
            largest = max(self.sizes.values(), default=3) + 1 if value.op == "name" else 0
            found = self.terms.known[value] = largest + value.key % 3
        return found

    def sized(self, name: str, value: Any) -> Any:
        """A value that a variable gets: a size of the context, if it is one and the value is unknown."""
        if type(value) is not Term or name not in self.sizes:
            return value
        return self.terms.known.setdefault(value, self.sizes[name])

    def zero(self, kind: ValueType) -> Any:
        """The value of zero bytes."""
        if isinstance(kind, Integer):
            return 0
        if isinstance(kind, Pointer):
            return NULL
        return self.terms.make("convert", kind.tag, 0)

    # ------------------------------------------------ objects

    def allocate(self, name: str, size: float) -> Object:
        """New memory; what it holds was never set."""
        self.total += size
        self.largest = max(self.largest, size)
        return self._new(name, size)

    def _new(self, name: str, size: float) -> Object:
        self.objects += 1
        return Object(name, size, self.objects, self._turn)

    def given(self, name: Term, label: str, size: float | None) -> Object:
        """Memory that exists before the function is called, by the term of its name."""
        found = self.environment.get(name)
        if found is None:
            found = self.environment[name] = self._new(label, 0 if size is None else size)
            found.initial = lambda offset, kind: self._initial(name, label, offset, kind)
            if size is None:
                found.is_open = self.bounds is None
                low, high = (self.bounds or {}).get(name, (0, 0))
                found.low, found.size = low, high - low
        return found

    def _initial(self, name: Term, label: str, offset: int, kind: ValueType) -> Any:
        width = getattr(kind, "size", 1) or 1
        at = offset // width if offset % width == 0 else f"+{offset}"
        if not isinstance(kind, Integer | Floating | Pointer):
            raise Unsupported(f"{label} holds values of a kind that is not known")
        return self.unknown("cell", f"{label}[{at}]", kind, name, at)

    def unknown(self, op: str, label: str, kind: ValueType, *args: Any) -> Any:
        """A value that nothing is known of but its term; a pointer leads to memory of its own."""
        term = self.terms.make(op, kind.tag, *args)
        return self.given(term, label, None).pointer() if isinstance(kind, Pointer) else term

    def outside(self, address: Address, width: int, spot: Spot) -> None:
        """The fault of an access that leaves its array."""
        obj, offset, low, high = address
        if obj is None:
            raise Fault("a null pointer is dereferenced", spot)
        unit = width or 1
        count, at = int(high - low), offset - int(low)
        if count % unit == 0 and at % unit == 0:
            what, count = f"element {at // unit}", count // unit
        else:
            what = f"byte {at + unit - 1 if at >= 0 else at}"
        where = "" if (low, high) == (obj.low, obj.low + obj.size) else f" {obj.cell(int(low), unit)} in"
        raise Fault(f"{what} of {count} is accessed in{where} {obj.name}", spot)
