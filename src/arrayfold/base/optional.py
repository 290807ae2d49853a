"""Packages that arrayfold does without, as long as nobody asks for what they do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arrayfold.base.errors import InputError


def optional_module(name: str, extra: str) -> Any:
    """A module of an optional package; raises with the command that installs it where it is missing."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise InputError(
            f"this needs {package}, which is not installed", hint=f"pip install 'arrayfold[{extra}]'"
        ) from None
