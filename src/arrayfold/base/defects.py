"""The last resort for errors that nobody foresaw: a short message that asks for a report."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from arrayfold.base.errors import InternalError

_PACKAGE = Path(__file__).parents[1]
_LONGEST = 200


def internal(error: BaseException) -> InternalError:
    """What to tell of an error that should not be able to happen."""
    if os.environ.get("ARRAYFOLD_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    message = f"this is a defect of arrayfold, please report it: {what[:_LONGEST]} (in {_place(error)})"
    return InternalError(f"{message}; ARRAYFOLD_DEBUG=1 shows where it comes from")


def _place(error: BaseException) -> str:
    """The last place in this package that the error passed, and the last one of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    places = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in (ours or frames)[-1:])
    return next(places, "an unknown place")
