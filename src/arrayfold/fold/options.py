"""What a fold is asked for, in one record that goes through all of its parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias

from arrayfold.base.choices import FAVORS, SHARES, Favor, Share
from arrayfold.base.errors import InputError
from arrayfold.exact.isl import fix_parameters
from arrayfold.program.model import Problem, Program
from arrayfold.select.choose import checked_method

Progress: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class FoldOptions:
    """What a fold is asked for.

    params        sizes at which candidates are compared and numbers are shown
    arrays        only these; all temporaries if none are named
    method        how to look for mappings
    power_of_two  constant moduli are rounded up to powers of two
    favor         the smallest mapping, or one with better loops and at most twice as many cells
    share         how arrays share memory with each other; "none" counts them together, None does not
    local         how many outer loops make a tile with a buffer of its own, or the name of the loop whose
                  iterations have a part of each array
    linear_form   mappings have one row
    pieces        arrays may be in two parts with a mapping each
    jobs          how many processes look at arrays at the same time, which changes no answer
    """

    params: Mapping[str, int] = field(default_factory=dict[str, int])
    arrays: tuple[str, ...] = ()
    method: str = "auto"
    power_of_two: bool = False
    favor: Favor = "size"
    share: Share | None = None
    local: int | str | None = None
    linear_form: bool = False
    pieces: bool = False
    jobs: int = 1

    def __post_init__(self) -> None:
        checked_method(self.method)
        if self.favor not in FAVORS:
            raise InputError(f"there is no way to favor {self.favor!r}; it is {' or '.join(FAVORS)}")
        if self.share is not None and self.share not in SHARES:
            raise InputError(f"there is no way to share {self.share!r}; it is one of {', '.join(SHARES)}")
        given = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        check_together([*given, *(["local LOOPS"] if isinstance(self.local, int) else [])], INCOMPATIBLE)

    def for_problem(self, problem: Problem) -> FoldOptions:
        """The same, after the sizes were checked against the parameters of a problem.

        Mappings are those that go with its order, if that was chosen for it and nothing else is asked for.
        """
        found = replace(self, params=checked_params(problem, self.params))
        chosen = problem.chosen if isinstance(problem, Program) else None
        return found if chosen is None else found.favoring(chosen.favor)

    def favoring(self, favor: Favor) -> FoldOptions:
        """The same with a way to favor mappings, where it goes with what else is asked for."""
        if favor == self.favor or self.favor != "size":
            return self
        try:
            return replace(self, favor=favor)
        except InputError:
            return self

    def of_problem(self, problem: Problem) -> FoldOptions:
        """The same, without the sizes and arrays that a problem does not have."""
        names = [array.name for array in problem.arrays]
        return replace(
            self,
            params={name: value for name, value in self.params.items() if name in problem.parameters},
            arrays=tuple(name for name in self.arrays if name in names),
        )


# Two options that do not go together, and why.
INCOMPATIBLE = (
    ("local", "power-of-two", "buffers and bands choose their rows themselves"),
    ("local LOOPS", "favor", "buffers choose their rows themselves"),
    ("local", "linear-form", "buffers and bands choose their rows themselves"),
    ("favor", "linear-form", "what is faster is chosen among all forms of a mapping"),
    ("favor", "method", "what is faster is chosen among the mappings of all methods"),
    ("share", "local", "whole arrays share memory, not parts of them"),
    ("pieces", "local", "buffers and bands are not split"),
    ("pieces", "share", "arrays that share memory are not split"),
    ("share", "power-of-two", "shared memory is made as small as can be"),
    ("share", "favor", "shared memory is made as small as can be"),
)


def check_together(given: Collection[str], table: Iterable[tuple[str, str, str]]) -> None:
    """Raise for the first two of the options given that do not go together."""
    named = {name.replace("_", "-") for name in given}
    for first, second, why in table:
        if {first, second} <= named:
            raise InputError(f"--{first} and --{second} do not go together: {why}")


def checked_params(problem: Problem, params: Mapping[str, int]) -> dict[str, int]:
    """The parameter values, after their names and the context were checked."""
    for name in params:
        if name not in problem.parameters:
            known = ", ".join(problem.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; the parameters are: {known}")
    if problem.context.intersect(fix_parameters(params)).is_empty():
        values = ", ".join(f"{name} = {value}" for name, value in params.items())
        raise InputError(f"{values} contradicts the context {problem.context}")
    return dict(params)
