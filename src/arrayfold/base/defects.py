"""The last resort for errors that nobody foresaw: a short message that asks for a report."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from arrayfold.base.argument_types import wrong_argument
from arrayfold.base.budget import is_limited
from arrayfold.base.errors import ArrayfoldError, InternalError, WrongType

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_PACKAGE = Path(__file__).parents[1]


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


def internal(error: BaseException) -> InternalError:
    """What to tell of an error that should not be able to happen."""
    if os.environ.get("ARRAYFOLD_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    message = f"this is a defect of arrayfold, please report it: {what[:_LONGEST]} (in {_place(error)})"
    return InternalError(f"{message}; ARRAYFOLD_DEBUG=1 shows where it comes from")


_LONGEST = 200


def _place(error: BaseException) -> str:
    """The last place in this package that the error passed, and the last one of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    places = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in (ours or frames)[-1:])
    return next(places, "an unknown place")
