"""A text compared with a new one, as it is before it is written."""

from __future__ import annotations

import islpy as isl

from arrayfold.validation import Subject, Validation, validate


def compared(
    original: str, new: str, function: str = "k", context: str = "{ : }", gone: str = "", arguments: str = ""
) -> Validation:
    """Both texts at the sizes of a context; every int parameter is a size."""
    at = original.index("#pragma scop") if "#pragma scop" in original else 0
    subject = Subject(function, (at,), (isl.Set(context),), frozenset(gone.split()))
    texts = (("original.c", original.encode()), ("new.c", new.encode()))
    return validate(*texts, arguments.split(), [subject])


def agree(original: str, new: str, context: str = "[N] -> { : N >= 0 }", **options: str) -> int:
    """At how many sizes two texts agree."""
    found = compared(original, new, context=context, **options)
    assert found.is_equal, found
    assert not found.unchecked, found
    return len(found.compared["k"])


def difference(original: str, new: str, context: str = "[N] -> { : N >= 0 }", **options: str) -> str:
    """What two texts do differently."""
    found = compared(original, new, context=context, **options)
    assert not found.is_equal, found
    return str(found.difference)
