"""The state of one execution: memory, steps, what data decides, calls of functions that are not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arrayfold.validation.faults import Fault, OutOfSteps, Spot, Unsupported
from arrayfold.validation.memory import NULL, Address, Object, is_address
from arrayfold.validation.races import Lanes, Races
from arrayfold.validation.terms import ORACLES, Oracle, Poison, Term, Terms
from arrayfold.validation.types import CType, Floating, Integer, Pointer


class Machine:
    """One execution. The closures of a program hold on to it, so that it is set back, not replaced.

    sizes        names of variables -> the whole numbers that they have where their value is unknown
    bounds       the environment's objects of unknown size -> which bytes of them may be touched
    environment  what the function is called with: objects by the term of their name
    events       calls of functions whose bodies are not seen, in order
    asked        how many conditions data has decided
    total        bytes of all variables and blocks that the function makes; `largest` of one of them
    """

    def __init__(self) -> None:
        self.terms = Terms()
        self.oracle = ORACLES[0]
        self.sizes: Mapping[str, int] = {}
        self.bounds: Mapping[Term, tuple[int, int]] | None = None
        self.backwards = 0
        self.limit = 0
        self._turn = 0
        self._begin()

    def _begin(self) -> None:
        self.steps = 0
        self.asked = 0
        self.depth = 0
        self.environment: dict[Term, Object] = {}
        self.lasting: dict[int, Any] = {}
        self.events: list[tuple[Any, ...]] = []
        self._races: Races | None = None
        self._lanes: Lanes | None = None
        self.is_watched = False
        self.calls = 0
        self.total = 0.0
        self.largest = 0.0
        self._objects = 0

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
        self._begin()

    # ------------------------------------------------ parallel code

    @property
    def races(self) -> Races | None:
        """What watches for races; None where one thread runs alone."""
        return self._races

    @races.setter
    def races(self, races: Races | None) -> None:
        self._races = races
        self.is_watched = races is not None or self._lanes is not None

    @property
    def lanes(self) -> Lanes | None:
        """What watches the innermost loop that is said to have independent iterations."""
        return self._lanes

    @lanes.setter
    def lanes(self, lanes: Lanes | None) -> None:
        self._lanes = lanes
        self.is_watched = lanes is not None or self._races is not None

    def saw(self, obj: Object, offset: int, place: int, spot: Spot, *, is_write: bool) -> None:
        """Tell those who watch of an access; place is where it stands in the text."""
        if self._races is not None:
            (self._races.write if is_write else self._races.read)(obj, offset, spot)
        if self._lanes is not None:
            self._lanes.see(obj, offset, place, spot, is_write=is_write)

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
        return self.oracle.decide(value.key)

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

    def zero(self, kind: CType) -> Any:
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
        self._objects += 1
        return Object(name, size, self._objects, self._turn)

    @property
    def objects(self) -> int:
        """How many objects there are so far; each has its number."""
        return self._objects

    def given(self, name: Term, label: str, size: float | None) -> Object:
        """Memory that exists before the function is called, by the term of its name."""
        found = self.environment.get(name)
        if found is None:
            found = self.environment[name] = self._new(label, 0 if size is None else size)
            found.initial = lambda offset, kind: self._initial(name, label, offset, kind)
            if size is None and self.bounds is None:
                found.is_open = True
            elif size is None and self.bounds is not None:
                low, high = self.bounds.get(name, (0, 0))
                found.low, found.size = low, high - low
        return found

    def _initial(self, name: Term, label: str, offset: int, kind: CType) -> Any:
        width = getattr(kind, "size", 1) or 1
        at = offset // width if offset % width == 0 else f"+{offset}"
        if isinstance(kind, Pointer):
            inner = self.terms.make("cell", "pointer", name, at)
            return self.given(inner, f"{label}[{at}]", None).pointer()
        if isinstance(kind, Integer | Floating):
            return self.terms.make("cell", kind.tag, name, at)
        raise Unsupported(f"{label} holds values of a kind that is not known")

    def outside(self, address: Address, width: int, spot: Spot) -> None:
        """The fault of an access that leaves its array."""
        obj, offset, low, high = address
        if obj is None:
            raise Fault("a null pointer is followed", spot)
        unit = width or 1
        count, at = int(high - low), offset - int(low)
        if count % unit == 0 and at % unit == 0:
            what, count = f"element {at // unit}", count // unit
        else:
            what = f"byte {at + unit - 1 if at >= 0 else at}"
        where = "" if (low, high) == (obj.low, obj.low + obj.size) else f" {obj.cell(int(low), unit)} in"
        raise Fault(f"{what} of {count} is accessed in{where} {obj.name}", spot)
