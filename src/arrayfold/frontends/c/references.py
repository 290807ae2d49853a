"""Sizes of C++ that are references: what the region writes must not be able to change them."""

from __future__ import annotations

from arrayfold.c.source import CText
from arrayfold.frontends.c.arrays import may_be_one
from arrayfold.frontends.c.region_reader import RegionReader


def refuse_changed_sizes(text: CText, reader: RegionReader) -> None:
    """Raise where a size may be an element of what the region writes, as both come from the caller."""
    written = {effect.variable for item in reader.found for effect in item.effects if effect.is_write}
    outside = [
        one
        for one in written
        if (one.is_pointer or one.is_reference or one.storage == "global") and not one.is_restrict
    ]
    for size in reader.affine.parameters.values():
        if not size.is_reference:
            continue
        for other in sorted(outside, key=lambda one: one.name):
            if other is not size and may_be_one(other.element, size.element):
                raise text.error(
                    f"{size.name} is a reference, and may refer to what the region writes into {other.name}",
                    size.at,
                    f"Take {size.name} by value, or say #pragma arrayfold no_alias.",
                )
