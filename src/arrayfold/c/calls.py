"""What the bodies of functions show, and what their calls may do beside computing a value.

That is the state which a function and those that it calls share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from arrayfold.c import tree as c
from arrayfold.c.source import assigned_variable, changed_operand
from arrayfold.c.tree import CStatement, Expression, Function, Variable, bare, named_in, walk

_NUMERIC = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh"),
    *("erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod"),
    *("hypot", "ilogb", "j0", "j1", "jn", "ldexp", "llrint", "llround", "log", "log10", "log1p", "log2"),
    *("logb", "lrint", "lround", "nearbyint", "nextafter", "nexttoward", "pow", "pow10", "remainder", "rint"),
    *("round", "roundeven", "scalbln", "scalbn", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma"),
    *("trunc", "y0", "y1", "yn", "inf", "huge_val", "nan"),
    *("cabs", "carg", "cexp", "cimag", "clog", "conj", "cpow", "creal", "csqrt", "ccos", "csin"),
)
_PURE = frozenset(
    [
        *(name + suffix for name in _NUMERIC for suffix in ("", "f", "l")),
        *("abs", "labs", "llabs", "imaxabs", "div", "ldiv", "lldiv", "imaxdiv"),
        *("fpclassify", "finite", "isfinite", "isinf", "isinf_sign", "isnan", "isnormal", "issubnormal"),
        *("isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"),
        *("finitef", "finitel", "isinff", "isinfl", "isnanf", "isnanl"),
        *("fpclassifyf", "fpclassifyl", "signbitf", "signbitl"),
        *("isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint"),
        *("ispunct", "isspace", "isupper", "isxdigit", "toascii", "tolower", "toupper"),
        *("strlen", "strnlen", "strcmp", "strncmp", "memcmp", "strchr", "strrchr", "strstr", "memchr"),
        *("expect", "popcount", "popcountl", "popcountll", "clz", "clzl", "clzll", "ctz", "ctzl", "ctzll"),
        *("ffs", "ffsl", "ffsll", "parity", "parityl", "parityll", "bswap16", "bswap32", "bswap64"),
        *("constant_p", "omp_get_max_threads", "omp_get_num_procs"),
    ]
)
_OWN_STATE = frozenset(
    [
        *("printf", "fprintf", "sprintf", "snprintf", "puts", "fputs", "putchar", "putc", "fputc", "fwrite"),
        *("vprintf", "vfprintf", "vsprintf", "vsnprintf", "perror", "fflush", "getchar", "getc", "fgetc"),
        *("fgets", "fread", "scanf", "fscanf", "sscanf", "fopen", "fclose", "rand", "srand", "random"),
        *("srandom", "rand_r", "drand48", "lrand48", "mrand48", "erand48", "srand48", "time", "clock"),
        *("clock_gettime", "gettimeofday", "malloc", "calloc", "realloc", "aligned_alloc", "free", "memcpy"),
        *("memmove", "memset", "strcpy", "strncpy", "strcat", "strncat", "strtol", "strtod", "atoi", "atol"),
        *("atof", "frexp", "modf", "remquo", "sincos", "lgamma", "omp_get_wtime", "usleep", "sleep"),
        *("omp_get_thread_num", "omp_get_num_threads", "omp_in_parallel", "exit", "_Exit", "abort"),
    ]
)
_TWICE = frozenset(["setjmp", "sigsetjmp", "savectx", "vfork", "getcontext"])

# ---------------------------------------------------------------- bodies


def facts_of(body: c.Block) -> dict[str, Any]:
    """What a body shows, by the names of the fields of a `Function`."""
    nodes = list(walk(body))
    named = dict.fromkeys(named_in(nodes))
    outside = [one for one in named if one.storage in ("global", "static") and not _is_constant(one)]
    assigned = {assigned_variable(node) for node in nodes}
    operands = (changed_operand(node) for node in nodes)
    holders = {_holder(operand) for operand in operands if operand is not None}
    locals_, returned = _simple_body(body.statements) or ((), None)
    return {
        "locals": locals_,
        "returned": returned,
        "globals": tuple(outside),
        "changed": tuple(variable for variable in outside if variable in assigned),
        "stored": tuple(variable for variable in outside if variable in holders),
        "calls": tuple(dict.fromkeys(node.function for node in nodes if isinstance(node, c.Call))),
        "has_body": True,
        "has_assembly": any(map(_is_hidden, nodes)),
    }


def _is_constant(variable: Variable) -> bool:
    return not variable.is_pointer and "const" in variable.element.canonical.split()


def _is_hidden(node: Expression | CStatement) -> bool:
    """Whether a node is assembly, or calls what cannot be named."""
    if isinstance(node, c.Opaque):
        return node.what.startswith("call")
    return isinstance(node, c.OtherStatement) and node.what == "asm"


def _simple_body(
    statements: Sequence[CStatement],
) -> tuple[tuple[Variable, ...], Expression] | None:
    """Variables and the returned expression of a body that only declares, tests and returns."""
    variables: list[Variable] = []
    for position, statement in enumerate(statements):
        match statement:
            case c.Declare(variables=declared) if all(item.initial is not None for item in declared):
                variables += declared
            case c.If(condition=condition, then=then, otherwise=otherwise):
                others = statements[position + 1 :] if otherwise is None else [otherwise]
                first, rest = _simple_body([then]), _simple_body(others)
                if first and rest and not first[0] and not rest[0]:
                    both = c.Conditional(statement.span, first[1].type, condition, first[1], rest[1])
                    return tuple(variables), both
                return None
            case c.Block(statements=inner) if len(statements) == 1:
                return _simple_body(inner)
            case c.OtherStatement(what="return", parts=(value,)) if isinstance(value, Expression):
                return tuple(variables), value
            case _:
                return None
    return None


def _holder(expression: Expression) -> Variable | None:
    """The variable of which something is a part, or to which it leads."""
    inner = bare(expression)
    while True:
        match inner:
            case c.Subscript(base=base) | c.Member(base=base) | c.Unary(operator="*", operand=base):
                inner = bare(base)
            case c.Reference(variable=variable):
                return variable
            case _:
                return None


# ---------------------------------------------------------------- calls


def is_known_pure(name: str) -> bool:
    """Whether a function of the C library, by its name, only computes a value from what it is given."""
    return _plain(name) in _PURE


def returns_twice(function: Function) -> bool:
    """Whether a call may return again later, as that of setjmp does."""
    return _plain(function.name) in _TWICE


def _plain(name: str) -> str:
    return name.removeprefix("__builtin_").strip("_")


def only_computes(function: Function, trusted: Collection[str] = ()) -> bool:
    """Whether nothing can tell how often a function is called, and when: it looks at its arguments alone.

    trusted  functions of which the user says so
    """
    return all(
        (inner.returned is not None and not inner.globals)
        if inner.has_body
        else inner.declared == "const" or is_known_pure(inner.name)
        for inner in _reached(function, trusted)
    )


def hidden_state(
    function: Function, shared: Collection[Variable], trusted: Collection[str] = ()
) -> str | None:
    """Why calls of a function must stay in order, in words; None if they need not.

    shared   variables from outside that the region writes, which a function that is only pure may look at
    trusted  functions that depend on their arguments alone, because the user says so
    """
    for inner in _reached(function, trusted):
        # What a pure function calls keeps the promise with it, if that can be seen.
        is_pure = inner.declared == "pure" or (function.declared == "pure" and inner.has_body)
        what = _looked_at(inner, shared) if is_pure else _state_of(inner)
        if what is not None and inner is function:
            return f"{function.name}() {what}"
        if what is not None:
            return f"{function.name}() calls {inner.name}(), which {what}"
    return None


def _looked_at(function: Function, shared: Collection[Variable]) -> str | None:
    """What a function that changes nothing may look at, as the rest of a sentence."""
    if function.declared == "const" or (not function.has_body and is_known_pure(function.name)):
        return None
    changed = {*function.changed, *function.stored}
    state = next((one for one in function.globals if one in changed or one.is_volatile), None)
    if state is not None:
        return f"uses {state.name}"
    is_seen = function.has_body and not function.has_assembly and all(map(_holds_numbers, function.globals))
    if is_seen:
        # Pointers of the region may lead to what the body names.
        named = function.globals
        shared = [one for one in shared if one in named or (named and one.is_pointer)]
    return f"may look at {min(variable.name for variable in shared)}" if shared else None


def _holds_numbers(variable: Variable) -> bool:
    """Whether a variable leads to no other memory than its own."""
    return not variable.is_pointer and variable.element.kind in ("signed", "unsigned", "floating")


def _state_of(function: Function) -> str | None:
    """What a function uses beside its arguments, as the rest of a sentence; what it calls does not count."""
    if function.has_body:
        if function.globals:
            return f"uses {function.globals[0].name}"
        return "has code that cannot be read" if function.has_assembly else None
    if function.declared == "const" or is_known_pure(function.name):
        return None
    return "has no body here"


def may_use_any_global(function: Function, trusted: Collection[str] = ()) -> bool:
    """Whether a call may read and write variables of the file that nothing here shows it to use."""
    return any(
        not inner.has_body
        and inner.declared is None
        and not is_known_pure(inner.name)
        and _plain(inner.name) not in _OWN_STATE
        for inner in _reached(function, trusted)
    )


def globals_of(function: Function, trusted: Collection[str] = ()) -> Iterator[Variable]:
    """The variables from outside that the body, or what it calls, is seen to use; constants do not count."""
    for inner in _reached(function, trusted):
        yield from inner.globals


def changed_by(function: Function, trusted: Collection[str] = ()) -> Iterator[Variable]:
    """The variables from outside that the body, or what it calls, is seen to change."""
    for inner in _reached(function, trusted):
        yield from inner.changed


def _reached(function: Function, trusted: Collection[str]) -> Iterator[Function]:
    """The function and all that it may call, each once."""
    pending, seen = [function], set[Function]()
    while pending:
        one = pending.pop(0)
        if one not in seen and one.name not in trusted:
            seen.add(one)
            yield one
            if one.declared != "const":
                pending += one.calls
