"""Functions of the C library: those that only compute, and those that do something that is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayfold.validation.faults import ExecutionEnded, Fault, Spot, Stopped
from arrayfold.validation.interpreter import Interpreter
from arrayfold.validation.memory import is_address
from arrayfold.validation.types import Integer, ValueType

_REAL = """
    sqrt cbrt fabs exp exp2 exp10 expm1 log log2 log10 log1p logb sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh erf erfc tgamma lgamma floor ceil round trunc rint nearbyint pow atan2 hypot fmod fmin
    fmax fdim remainder copysign nextafter fma ldexp scalbn lround llround lrint llrint ilogb
"""
_OTHER = """
    abs labs llabs isnan isinf isfinite signbit atoi atol atof toupper tolower isdigit isalpha isspace
    div ldiv __builtin_isnan __builtin_isinf __builtin_isinf_sign __builtin_isfinite __builtin_signbit
    __builtin_clz __builtin_popcount __builtin_ctz __builtin_abs __builtin_constant_p __builtin_inf
    __builtin_inff __builtin_infl __builtin_nan __builtin_nanf __builtin_nanl __builtin_huge_val
    __builtin_huge_valf __builtin_huge_vall
"""
PURE = frozenset(
    [
        f"{before}{name}{after}"
        for name in _REAL.split()
        for before in ("", "__builtin_")
        for after in ("", "f", "l")
    ]
    + _OTHER.split()
)

Known = Callable[[Interpreter, Sequence[Any], ValueType, Spot], Any]


def _malloc(m: Interpreter, arguments: Sequence[Any], _: ValueType, spot: Spot) -> Any:
    return _allocated(m, m.whole(arguments[-1], spot), spot)


def _allocated(m: Interpreter, size: int, spot: Spot) -> Any:
    if size > (1 << 62):
        raise Fault(f"{size} bytes are allocated", spot)
    block = m.allocate(f"what is allocated in line {spot.line}", size)
    block.is_heap = True
    return block.pointer()


def _calloc(m: Interpreter, arguments: Sequence[Any], _: ValueType, spot: Spot) -> Any:
    size = m.whole(arguments[0], spot) * m.whole(arguments[1], spot)
    pointer = _allocated(m, size, spot)
    pointer[0].fills.append((0, size))
    return pointer


def _posix_memalign(m: Interpreter, arguments: Sequence[Any], _: ValueType, spot: Spot) -> Any:
    obj, offset, *_rest = arguments[0]
    if obj is None:
        raise Fault("a null pointer is dereferenced", spot)
    obj.cells[offset] = _aligned(m, arguments[1:], _, spot)
    return 0


def _aligned(m: Interpreter, arguments: Sequence[Any], _: ValueType, spot: Spot) -> Any:
    pointer = _malloc(m, arguments, _, spot)
    alignment = m.whole(arguments[0], spot)
    pointer[0].base += -pointer[0].base % max(alignment, 1)
    return pointer


def _free(_: Interpreter, arguments: Sequence[Any], _kind: ValueType, spot: Spot) -> Any:
    (pointer,) = arguments
    if not is_address(pointer):
        raise Fault("free of what is not a pointer", spot)
    obj, offset = pointer[0], pointer[1]
    if obj is None:
        return 0
    if obj.gone:
        raise Fault(f"{obj.name} is freed twice", spot)
    if not obj.is_heap and obj.initial is None:
        raise Fault(f"free of {obj.name}, which was not allocated", spot)
    if offset != 0:
        raise Fault("free of a pointer into the middle of a block", spot)
    obj.end(f"{obj.name} is used after it was freed in line {spot.line}")
    return 0


def _end(ended: type[ExecutionEnded], why: str) -> Known:
    def end(_: Interpreter, _arguments: Sequence[Any], _kind: ValueType, spot: Spot) -> Any:
        raise ended(why, spot)

    return end


def _stop(name: str) -> Known:
    return _end(Stopped, f"the program ends with {name}")


def _absolute(m: Interpreter, arguments: Sequence[Any], kind: ValueType, spot: Spot) -> Any:
    (value,) = arguments
    if type(value) is not int or not isinstance(kind, Integer):
        return m.combine("abs", kind.tag, value)
    if value == kind.low:
        raise Fault(f"the absolute value of {value} overflows", spot)
    return abs(value)


def _first(_: Interpreter, arguments: Sequence[Any], _kind: ValueType, _spot: Spot) -> Any:
    return arguments[0]


KNOWN: dict[str, Known] = {
    "malloc": _malloc,
    "alloca": _malloc,
    "__builtin_alloca": _malloc,
    "calloc": _calloc,
    "aligned_alloc": _aligned,
    "memalign": _aligned,
    "posix_memalign": _posix_memalign,
    "free": _free,
    "abort": _stop("abort"),
    "exit": _stop("exit"),
    "_Exit": _stop("_Exit"),
    "__assert_fail": _stop("a failed assertion"),
    "__assert_rtn": _stop("a failed assertion"),
    "__builtin_trap": _stop("a trap"),
    "__builtin_unreachable": _end(Fault, "a place is reached that the program says is never reached"),
    "abs": _absolute,
    "labs": _absolute,
    "llabs": _absolute,
    "__builtin_expect": _first,
    "__builtin_assume_aligned": _first,
}
