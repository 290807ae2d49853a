"""The part of C++'s standard library that kernels use, as declarations for libclang, which comes without.

They stand in front of what the machine has, so that a file means the same with and without a compiler.
"""

from __future__ import annotations

DIRECTORY = "/arrayfold-cplusplus-headers"

_ONE_ARGUMENT = (
    "sqrt cbrt fabs exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf erfc tgamma lgamma floor ceil round trunc rint nearbyint"
)
_TWO_ARGUMENTS = "pow atan2 hypot fmod fmin fmax fdim remainder copysign nextafter"
_REALS = ("float", "double", "long double")


def _math() -> str:
    lines = ["#include <math.h>", "namespace std {"]
    for real in _REALS:
        lines += [f"{real} {name}({real});" for name in _ONE_ARGUMENT.split()]
        lines += [f"{real} {name}({real}, {real});" for name in _TWO_ARGUMENTS.split()]
        lines += [f"{real} fma({real}, {real}, {real}); long lround({real}); long long llround({real});"]
        lines += [f"bool {name}({real});" for name in ("isnan", "isinf", "isfinite", "signbit")]
        lines += [f"{real} abs({real});"]
    # Whole numbers become double; pow(float, int) does as well.
    whole = "template <class T, class = typename __arrayfold::whole<T>::type> double"
    lines += [f"{whole} {name}(T);" for name in _ONE_ARGUMENT.split() if name != "fabs"]
    lines += ["double pow(float, int); double pow(double, int); double pow(int, int); }"]
    return "\n".join(lines) + "\n"


_ABS = "namespace std { int abs(int); long abs(long); long long abs(long long); }\n"
_WHOLE = "\n".join(
    [
        "namespace __arrayfold {",
        "template <class T> struct whole {};",
        *(
            f"template <> struct whole<{kind}> {{ using type = double; }};"
            for sign in ("", "unsigned ")
            for kind in (f"{sign}char", f"{sign}short", f"{sign}int", f"{sign}long", f"{sign}long long")
        ),
        "}\n",
    ]
)
_INTEGERS = [f"{sign}int{size}_t" for sign in ("", "u") for size in ("8", "16", "32", "64", "ptr", "max")]
_PRINTED = (
    *("int", "long", "unsigned", "unsigned long", "double", "char", "const char *", "const string &"),
    "ostream &(*)(ostream &)",
)
_CONTAINER = """
  using value_type = T; using size_type = size_t; using iterator = T *; using const_iterator = const T *;
  T &operator[](size_t); const T &operator[](size_t) const; T &at(size_t); const T &at(size_t) const;
  size_t size() const; bool empty() const; T *data(); const T *data() const;
  T *begin(); const T *begin() const; T *end(); const T *end() const;
  T &front(); const T &front() const; T &back(); const T &back() const;
"""


def _using(*names: str) -> str:
    return f"namespace std {{ {' '.join(f'using ::{name};' for name in names)} }}\n"


def _in_std(text: str) -> str:
    return f"#include <cstddef>\nnamespace std {{\n{text}}}\n"


HEADERS = {
    "cstddef": """#include <stddef.h>
namespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }
""",
    "stddef.h": """
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef struct { long long a; long double b; } max_align_t;
#undef NULL
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)
""",
    "stdbool.h": "",
    "stdalign.h": "",
    "iso646.h": "",
    "cstdint": "#include <stdint.h>\n" + _using(*_INTEGERS),
    "climits": "#include <limits.h>\n",
    "cfloat": "#include <float.h>\n",
    "cassert": "#include <assert.h>\n",
    "cstdlib": "#include <stdlib.h>\n" + _using("malloc", "calloc", "free", "abort", "exit", "size_t") + _ABS,
    "cstring": "#include <string.h>\n" + _using("memcpy", "memmove", "memset", "memcmp", "strlen"),
    "cstdio": "#include <stdio.h>\n" + _using("printf", "fprintf", "puts", "snprintf"),
    "cmath": _WHOLE + _math() + _ABS,
    "initializer_list": _in_std(
        "template <class T> class initializer_list {\n  const T *first; size_t count;\npublic:\n"
        "  const T *begin() const; const T *end() const; size_t size() const;\n};\n"
    ),
    "utility": _in_std(
        "template <class A, class B> struct pair { A first; B second; };\n"
        "template <class T> void swap(T &, T &);\n"
        "template <class T> struct __plain { using type = T; };\n"
        "template <class T> struct __plain<T &> { using type = T; };\n"
        "template <class T> struct __plain<T &&> { using type = T; };\n"
        "template <class T> typename __plain<T>::type &&move(T &&);\n"
    ),
    "vector": "#include <initializer_list>\n"
    + _in_std(
        "template <class T> class vector {\n  T *values; size_t count;\npublic:"
        + _CONTAINER
        + "  vector(); explicit vector(size_t); vector(size_t, const T &); vector(initializer_list<T>);\n"
        "  vector(const T *, const T *); vector(const vector &); vector(vector &&); ~vector();\n"
        "  vector &operator=(const vector &); vector &operator=(vector &&);\n"
        "  void resize(size_t); void resize(size_t, const T &); void assign(size_t, const T &);\n"
        "  void reserve(size_t); void push_back(const T &); void pop_back(); void clear();\n"
        "  void swap(vector &);\n"
        "};\n"
    ),
    "array": _in_std(
        "template <class T, size_t N> struct array {\n  T values[N];"
        + _CONTAINER
        + "  void fill(const T &); void swap(array &);\n};\n"
    ),
    "memory": _in_std(
        "template <class T> class unique_ptr {\n  T *value;\npublic:\n  explicit unique_ptr(T *);"
        " T &operator*() const; T *operator->() const; T *get() const; ~unique_ptr();\n};\n"
        "template <class T> class unique_ptr<T[]> {\n  T *values;\npublic:\n"
        "  unique_ptr(); explicit unique_ptr(T *); unique_ptr(unique_ptr &&);\n"
        "  T &operator[](size_t) const; T *get() const; void reset(T * = nullptr);"
        " ~unique_ptr();\n};\n"
        "template <class T> struct __unique { };\n"
        "template <class T> struct __unique<T[]> { using type = unique_ptr<T[]>; };\n"
        "template <class T> typename __unique<T>::type make_unique(size_t);\n"
    ),
    "algorithm": "#include <initializer_list>\n#include <utility>\n"
    + _in_std(
        "template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }\n"
        "template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }\n"
        "template <class T> constexpr const T &clamp(const T &v, const T &low, const T &high)"
        " { return v < low ? low : high < v ? high : v; }\n"
        "template <class T> T min(initializer_list<T>);\ntemplate <class T> T max(initializer_list<T>);\n"
        "template <class I, class T> void fill(I, I, const T &);\n"
        "template <class I, class T> void fill_n(I, size_t, const T &);\n"
        "template <class I, class O> O copy(I, I, O);\ntemplate <class I> void sort(I, I);\n"
    ),
    "numeric": _in_std("template <class I, class T> T accumulate(I, I, T);\n"),
    "limits": _in_std(
        "template <class T> struct numeric_limits {\n  static T min() noexcept;\n"
        "  static T max() noexcept; static T lowest() noexcept; static T epsilon() noexcept;\n"
        "  static T infinity() noexcept; static T quiet_NaN() noexcept;\n};\n"
    ),
    "string": "#include <cstring>\n"
    + _in_std(
        "class string {\n  char *text; size_t count;\npublic:\n"
        "  string(); string(const char *); string(const string &);\n"
        "  ~string(); string &operator=(const string &); string &operator+=(const string &);\n"
        "  size_t size() const; size_t length() const; const char *c_str() const;\n"
        "  char &operator[](size_t);\n};\n"
        "string operator+(const string &, const string &); bool operator==(const string &, const string &);\n"
        "string to_string(int); string to_string(long); string to_string(double);\n"
    ),
    "stdexcept": "#include <string>\n"
    + _in_std(
        "class exception {\npublic:\n  exception(); virtual ~exception();\n"
        "  virtual const char *what() const noexcept;\n};\n"
        + "".join(
            f"class {name} : public exception {{\npublic:\n  explicit {name}(const string &);\n}};\n"
            for name in ("runtime_error", "invalid_argument", "logic_error", "out_of_range", "length_error")
        )
    ),
    "iostream": "#include <string>\n"
    + _in_std(
        "class ostream {\npublic:\n"
        + "".join(f"  ostream &operator<<({kind});\n" for kind in _PRINTED)
        + "};\nostream &endl(ostream &); extern ostream cout, cerr;\n"
    ),
}


def provided_headers() -> list[tuple[str, str]]:
    """Paths and texts of the headers that libclang is given for C++, besides those for C."""
    return [(f"{DIRECTORY}/{name}", f"#pragma once\n{text}") for name, text in HEADERS.items()]
