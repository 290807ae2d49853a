"""What the C front end has to say of a Python kernel, in words of Python."""

from __future__ import annotations

from arrayfold.base.errors import InputError

_AFFINE = "Only names of loops, sizes, whole numbers, and sums of their multiples may stand here."
_HINTS = {
    "changes inside the region": ("changes in the kernel", _AFFINE),
    "the product of two variables is not affine": (
        "the product of two names is not affine",
        "If one of them is a fixed size, make it a number at the top of the file: TILE = 16",
    ),
    "this depends on data that the program computes": (
        "this depends on data",
        "Bounds of loops and indices must be affine in names of loops and sizes.",
    ),
    "is affine only with a constant on its right": (
        "is affine only with a number as such on its right",
        _AFFINE,
    ),
    "is outside": ("is outside", "Change the bounds of the loop; negative indices are not analysed."),
    "the value of ": ("the value of ", _AFFINE),
    "this is not affine": ("this is not affine", _AFFINE),
    "is no integer variable": ("is no whole number", _AFFINE),
}
_NAMES = {"floor_div_any()": "//", "floor_mod_any()": "%", "floor_div()": "//", "floor_mod()": "%"}


def in_python(error: InputError) -> InputError:
    """The same error with a message and a hint that speak of Python."""
    message, hint = error.message, None
    for words, (better, advice) in _HINTS.items():
        if words in message:
            message, hint = message.replace(words, better), advice
            break
    for name, operator in _NAMES.items():
        message = message.replace(name, operator)
    return type(error)(message, error.place, hint)
