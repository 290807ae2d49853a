"""C functions for what Python has and C has not."""

from __future__ import annotations

from arrayfold.frontends.python.types import C_TYPES, dtype_called

# Those for positive divisors that are numbers as such read as affine; the others do what NumPy does for any.
_HELPERS = {
    "floor_div": """\
static long long floor_div(long long a, long long b)
{
    return a % b < 0 ? a / b - 1 : a / b;
}
""",
    "floor_div_any": """\
static long long floor_div_any(long long a, long long b)
{
    long long q = b == 0 ? 0 : b == -1 ? -a : a / b;
    if (b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0))
        q--;
    return q;
}
""",
    "floor_mod": """\
static long long floor_mod(long long a, long long b)
{
    return a % b < 0 ? a % b + b : a % b;
}
""",
    "floor_mod_any": """\
static long long floor_mod_any(long long a, long long b)
{
    long long r = b == 0 || b == -1 ? 0 : a % b;
    if (r != 0 && (a < 0) != (b < 0))
        r += b;
    return r;
}
""",
}
_SIGNS = {"min": "<", "max": ">"}


def helper_text(name: str) -> str:
    """The function of that name: floor_div and the like, or min, max and abs of one type."""
    if name in _HELPERS:
        return _HELPERS[name]
    word, _, dtype = name.partition("_")
    kind = dtype_called(dtype)
    assert kind is not None
    c_type = C_TYPES[kind]
    if word == "abs":
        head, value = f"{c_type} a", "a < 0 ? -a : a"
    else:
        head, value = f"{c_type} a, {c_type} b", f"b {_SIGNS[word]} a ? b : a"
    return f"static {c_type} {name}({head})\n{{\n    return {value};\n}}\n"
