"""Names in Python kernels: what imports and constants mean, which functions are kernels, names for C."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from arrayfold.frontends.c.arrays import is_isl_name

_MODULES = ("math", "numpy", "arrayfold")

_C_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm
linux unix i386 NULL EOF BUFSIZ FILENAME_MAX FOPEN_MAX L_tmpnam SEEK_CUR SEEK_END SEEK_SET TMP_MAX RAND_MAX
EXIT_FAILURE EXIT_SUCCESS MB_CUR_MAX HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL
FP_SUBNORMAL FP_ZERO DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS math_errhandling MAXFLOAT errno assert
stdin stdout stderr size_t ptrdiff_t wchar_t max_align_t float_t double_t div_t ldiv_t lldiv_t fpos_t FILE
fpclassify isfinite isinf isnan isnormal signbit isgreater isless islessgreater isunordered main
floor_div floor_mod floor_div_any floor_mod_any
abort abs atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv malloc mblen
mbstowcs mbtowc qsort quick_exit rand random realloc setenv srand srandom strtod strtof strtol strtold strtoll
strtoul strtoull system wcstombs wctomb aligned_alloc alloca putenv
clearerr dprintf fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno fopen fprintf fputc fputs fread
freopen fscanf fseek fsetpos ftell fwrite getc getchar getdelim getline gets open_memstream pclose perror
popen printf putc putchar puts remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf tmpfile
tmpnam ungetc vfprintf vprintf vsprintf
bcmp bcopy bzero ffs index memccpy memchr memcmp memcpy memmove memset rindex strcat strchr strcmp strcoll
strcpy strcspn strdup strerror strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs
fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10
log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round
roundeven scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
_RESERVED = frozenset(_C_WORDS.split())
_FLOAT_FUNCTIONS = frozenset(f"{name}f" for name in _RESERVED) | frozenset(f"{name}l" for name in _RESERVED)


def is_c_name(name: str) -> bool:
    """Whether a name may stand in C as it is: no keyword, nothing of the C library, nothing reserved."""
    return (
        re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
        and name not in _RESERVED
        and name not in _FLOAT_FUNCTIONS
        and is_isl_name(name)
        and not re.fullmatch(r"arrayfold_.*|(min|max|abs)_(int|float)(32|64)", name)
    )


@dataclass
class CNames:
    """C names for Python names: the same where C allows it, never one for two."""

    taken: set[str] = field(default_factory=set[str])
    _given: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, name: str) -> str:
        """The C name of a Python name."""
        if name not in self._given:
            plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
            plain = plain if plain[:1].isalpha() else f"v{plain}"
            self._given[name] = self.fresh(plain)
        return self._given[name]

    def reserve(self, names: Iterable[str]) -> None:
        """Give Python names their C names before others are made up."""
        for name in sorted(names, key=lambda name: not is_c_name(name)):
            self.of(name)

    def fresh(self, wanted: str) -> str:
        """A name like the one wanted that is not taken."""
        name = wanted
        while name in self.taken or not is_c_name(name):
            name += "_"
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class ImportedNames:
    """What names outside the kernels mean.

    paths      name -> what it was imported as: math, math.sqrt, numpy, arrayfold.frontends.kernel
    constants  name -> number
    """

    paths: Mapping[str, str]
    constants: Mapping[str, int | float]

    def path(self, node: ast.AST) -> str | None:
        """`np.sqrt` as numpy.sqrt; None if it is nothing imported from a module that is known."""
        if isinstance(node, ast.Name):
            return self.paths.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.path(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    def kernel_decorator(self, function: ast.FunctionDef) -> ast.expr | None:
        """The decorator that makes a function a kernel."""
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.path(called) == "arrayfold.kernel":
                return decorator
        return None


def stored_names(node: ast.AST) -> Iterator[ast.Name]:
    """The names inside a node that get a value there."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner


def names_of_file(tree: ast.Module) -> ImportedNames:
    """What a file imports, wherever it does so, and the numbers that it names once at its top."""
    paths: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _MODULES:
                    paths[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module in _MODULES and not node.level:
            for alias in node.names:
                paths[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    assigned = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)
    ]
    constants: dict[str, int | float] = {}
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                number = _number(value)
                if number is not None and assigned.count(name) == 1:
                    constants[name] = number
            case _:
                pass
    return ImportedNames(paths, constants)


def names_of_values(values: Mapping[str, Any]) -> ImportedNames:
    """What the names mean that a function sees while it runs."""
    paths: dict[str, str] = {}
    constants: dict[str, int | float] = {}
    for name, value in values.items():
        if isinstance(value, ModuleType):
            if value.__name__ in _MODULES:
                paths[name] = value.__name__
        elif type(value) in (int, float):
            constants[name] = value
        else:
            origin, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
            root = origin.split(".")[0] if isinstance(origin, str) else None
            if type(value).__name__ == "ufunc":
                root = "numpy"
            if root in _MODULES and isinstance(own, str):
                paths[name] = f"{root}.{own}"
    return ImportedNames(paths, constants)


def _number(node: ast.expr) -> int | float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case _:
            return None
