"""Fields that are sizes or pointers: what else the region writes that C would allow to be the same memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from arrayfold.c.source import CText
from arrayfold.c.tree import Variable
from arrayfold.frontends.c.arrays import may_be_one
from arrayfold.frontends.c.effects import Effect
from arrayfold.program.assumptions import Assumption

_CHARACTER = 8


def untouched_fields(
    text: CText, fields: Iterable[Variable], effects: Iterable[Effect]
) -> Iterator[Assumption]:
    """One assumption for each array through which fields that must stay the same might be written.

    fields  sizes and pointers that the region finds in structures
    """
    shared = [one for one in fields if one.holder is not None and one.storage == "global"]
    seen: set[Variable] = set()
    for effect in effects:
        array = effect.variable
        if not effect.is_write or array in seen:
            continue
        seen.add(array)
        names = ", ".join(dict.fromkeys(one.name for one in shared if _may_write(array, one)))
        if names:
            yield Assumption(
                isl.Set("{ : }"),
                "their types do not tell them apart",
                text.place(effect.offset),
                f"writes to {array.name} change none of {names}",
            )


def _may_write(array: Variable, field: Variable) -> bool:
    """Whether C lets a write to an array be one to a field."""
    assert field.holder is not None
    if array is field or array.is_restrict or field.holder.is_restrict:
        return False
    is_field = array.holder is not None and array.type.kind != "pointer"
    if is_field:
        return array.name.split(".")[-1].split(">")[-1] == field.name.split(".")[-1].split(">")[-1]
    if not array.is_pointer and array.storage != "global":
        return False
    if field.type.kind == "pointer":
        return array.element.kind in ("pointer", "other") or 0 < array.element.bits <= _CHARACTER
    return may_be_one(array.element, field.element)
