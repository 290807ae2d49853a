"""Functions that are called once for each object: what several steps ask of one program is found once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

_Of = TypeVar("_Of")
_Answer = TypeVar("_Answer")


def remembered(function: Callable[[_Of], _Answer]) -> Callable[[_Of], _Answer]:
    """The function, whose answer is kept as long as there is its argument, an object that never changes.

    Objects are told apart by identity, so it is for classes that leave equality alone. Where the function
    raises, nothing is kept.

    >>> class Program: pass
    >>> calls = []
    >>> order_of = remembered(lambda program: calls.append(program) or len(calls))
    >>> one = Program()
    >>> order_of(one), order_of(one), order_of(Program())
    (1, 1, 2)
    """
    known: WeakKeyDictionary[_Of, _Answer] = WeakKeyDictionary()

    @functools.wraps(function)
    def call(of: _Of) -> _Answer:
        if of not in known:
            known[of] = function(of)
        return known[of]

    return call
