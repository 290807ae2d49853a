"""Functions for users: arguments of another type are told, and errors that nobody foresaw are reported."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Mapping
from inspect import signature
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from arrayfold.base.budget import is_limited
from arrayfold.base.defects import internal
from arrayfold.base.errors import ArrayfoldError, InternalError, WrongType

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_LONGEST_VALUE = 60


def reported(function: Callable[_Given, _Answer]) -> Callable[_Given, _Answer]:
    """The function, for users: whatever it raises is an ArrayfoldError, or what they can do about.

    Inside of work with a limit errors stay as they are, because the limit knows more about them.
    """

    @functools.wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Answer:
        try:
            return function(*given, **named)
        except InternalError as error:
            # A process of its own has found it already.
            wrong = None if is_limited() else wrong_argument(function, given, named)
            if wrong is None:
                raise
            raise WrongType(wrong) from error
        except (ArrayfoldError, OSError):
            raise
        except Exception as error:
            if is_limited():
                raise
            wrong = wrong_argument(function, given, named)
            raise (internal(error) if wrong is None else WrongType(wrong)) from error

    return call


def wrong_argument(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """The first argument that the function does not take, in words; None if there is none.

    >>> def double(number: int) -> int: return 2 * number
    >>> wrong_argument(double, ("x",), {})
    "double takes int as number, but 'x' was given"
    >>> wrong_argument(double, (3,), {})
    >>> wrong_argument(double, (3,), {"times": 2})
    "double got an unexpected keyword argument 'times'; it takes number"
    """
    takes = signature(function)
    try:
        arguments = takes.bind(*given, **named).arguments
    except TypeError as error:
        return f"{function.__name__} {error}; it takes {', '.join(takes.parameters)}"
    try:
        hints = get_type_hints(function)
    except (TypeError, NameError):
        return None
    for name, value in arguments.items():
        if name in hints and not _is_a(value, hints[name]):
            shown = repr(value)
            shown = shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}..."
            return f"{function.__name__} takes {_words(hints[name])} as {name}, but {shown} was given"
    return None


def _is_a(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return any(_is_a(value, part) for part in parts)
    if kind is Literal:
        return value in parts
    if hint is int:
        return _is_whole(value)
    if hint is float:
        return isinstance(value, float) or _is_whole(value)
    if hint is None:
        return value is None
    if isinstance(kind, type) and issubclass(kind, Mapping):
        items = cast(Mapping[Any, Any], value).items() if isinstance(value, Mapping) else [(None, None)]
        return all(_is_a(key, parts[0]) and _is_a(one, parts[1]) for key, one in items)
    if isinstance(kind, type) and issubclass(kind, Collection):
        is_one = isinstance(value, kind) and not isinstance(value, str | bytes)
        return is_one and all(_is_a(one, parts[0]) for one in cast(Collection[Any], value))
    if kind is Callable or hint is Callable:
        return callable(value)
    return not isinstance(kind or hint, type) or isinstance(value, kind or hint)


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number, also one of NumPy."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def _words(hint: Any) -> str:
    """A type as a user writes it, without the modules of its parts."""
    parts = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_words(part) for part in parts if part is not type(None))
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, parts))
    name = getattr(get_origin(hint) or hint, "__name__", str(hint))
    return f"{name}[{', '.join(map(_words, parts))}]" if parts and name != "Callable" else name
