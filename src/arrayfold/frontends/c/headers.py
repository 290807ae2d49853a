"""Declarations that libclang needs and that its wheel does not bring: the compiler's own headers.

Those of the C library are used only where the machine has none, so that files parse without a compiler.
They declare what kernels use, no more.
"""

from __future__ import annotations

from pathlib import Path

DIRECTORY = "/arrayfold-headers"
SYSTEM_HEADER = "/usr/include/stdlib.h"

_INTEGERS = [f"{sign}int{size}" for sign in ("", "u") for size in ("8", "16", "32", "64", "ptr", "max")]


def _builtin(*names: str) -> str:
    """Macros that the compiler knows with underscores around their names."""
    return "".join(f"#define {name} __{name}__\n" for name in names)


_COMPILER_HEADERS = {
    "stddef.h": """
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef struct { long long a; long double b; } max_align_t;
#undef NULL
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
""",
    "stdarg.h": """
typedef __builtin_va_list va_list;
typedef __builtin_va_list __gnuc_va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define va_copy(to, from) __builtin_va_copy(to, from)
""",
    "stdbool.h": """
#define bool _Bool
#define true 1
#define false 0
""",
    "stdalign.h": "#define alignas _Alignas\n#define alignof _Alignof\n",
    "stdnoreturn.h": "#define noreturn _Noreturn\n",
    "iso646.h": "#define and &&\n#define or ||\n#define not !\n",
    "float.h": _builtin(
        *(f"{kind}_{what}" for kind in ("FLT", "DBL", "LDBL") for what in ("EPSILON", "MAX", "MIN")),
    ),
    "limits.h": _builtin("CHAR_BIT", "SCHAR_MAX", "SHRT_MAX", "INT_MAX", "LONG_MAX")
    + """
#define SCHAR_MIN (-__SCHAR_MAX__ - 1)
#define UCHAR_MAX (__SCHAR_MAX__ * 2 + 1)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MIN (-__SHRT_MAX__ - 1)
#define USHRT_MAX (__SHRT_MAX__ * 2 + 1)
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define ULONG_MAX (__LONG_MAX__ * 2UL + 1UL)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ULL + 1ULL)
""",
    "stdint.h": "".join(f"typedef __{name.upper()}_TYPE__ {name}_t;\n" for name in _INTEGERS)
    + _builtin(*(f"{name.upper()}_MAX" for name in _INTEGERS if name[-1].isdigit()), "SIZE_MAX")
    + """
typedef __INT64_TYPE__ int_fast64_t;
typedef __INT32_TYPE__ int_fast32_t;
#define INT32_MIN (-__INT32_MAX__ - 1)
#define INT64_MIN (-__INT64_MAX__ - 1)
""",
    "omp.h": """
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int);
double omp_get_wtime(void);
""",
}

_ONE_ARGUMENT = (
    "sqrt cbrt fabs exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf erfc tgamma lgamma floor ceil round trunc rint nearbyint"
)
_TWO_ARGUMENTS = "pow atan2 hypot fmod fmin fmax fdim remainder copysign nextafter"


def _math() -> str:
    lines = ["#define M_PI 3.14159265358979323846", "#define M_E 2.7182818284590452354"]
    lines += ["#define INFINITY __builtin_inff()", '#define NAN __builtin_nanf("")']
    lines += ["#define HUGE_VAL __builtin_huge_val()"]
    for suffix, real in (("", "double"), ("f", "float"), ("l", "long double")):
        lines += [f"{real} {name}{suffix}({real});" for name in _ONE_ARGUMENT.split()]
        lines += [f"{real} {name}{suffix}({real}, {real});" for name in _TWO_ARGUMENTS.split()]
        lines += [f"{real} fma{suffix}({real}, {real}, {real});", f"long lround{suffix}({real});"]
    return "\n".join(lines) + "\n"


_LIBRARY_HEADERS = {
    "math.h": _math(),
    "stdlib.h": """
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void *aligned_alloc(size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void free(void *);
_Noreturn void abort(void);
_Noreturn void exit(int);
int abs(int);
long labs(long);
long long llabs(long long);
int atoi(const char *);
long atol(const char *);
double atof(const char *);
long strtol(const char *, char **, int);
double strtod(const char *, char **);
int rand(void);
void srand(unsigned);
char *getenv(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
""",
    "stdio.h": """
#include <stddef.h>
#include <stdarg.h>
typedef struct arrayfold_file FILE;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
int printf(const char *, ...);
int fprintf(FILE *, const char *, ...);
int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
int scanf(const char *, ...);
int fscanf(FILE *, const char *, ...);
int puts(const char *);
int fputs(const char *, FILE *);
int putchar(int);
int fputc(int, FILE *);
int getchar(void);
char *fgets(char *, int, FILE *);
FILE *fopen(const char *, const char *);
int fclose(FILE *);
int fflush(FILE *);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
void perror(const char *);
""",
    "alloca.h": "#include <stddef.h>\nvoid *alloca(size_t);\n#define alloca(size) __builtin_alloca(size)\n",
    "string.h": """
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *);
char *strncpy(char *, const char *, size_t);
char *strcat(char *, const char *);
char *strchr(const char *, int);
char *strstr(const char *, const char *);
""",
    "assert.h": "#define assert(condition) ((void)0)\n",
    "time.h": """
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCKS_PER_SEC 1000000L
time_t time(time_t *);
clock_t clock(void);
""",
    "sys/time.h": """
struct timezone;
struct timeval { long tv_sec; long tv_usec; };
int gettimeofday(struct timeval *, struct timezone *);
""",
    "unistd.h": "#include <stddef.h>\nunsigned sleep(unsigned);\n",
    "errno.h": "extern int errno;\n",
    "inttypes.h": "#include <stdint.h>\n",
    "complex.h": "#define complex _Complex\n#define I (__extension__ 1.0iF)\n",
}


def provided_headers() -> list[tuple[str, str]]:
    """Paths and texts of the headers that libclang is given."""
    headers = dict(_COMPILER_HEADERS)
    if not Path(SYSTEM_HEADER).exists():
        headers |= _LIBRARY_HEADERS
    guard = "#pragma once\n"
    return [(f"{DIRECTORY}/{name}", guard + text) for name, text in headers.items()]
