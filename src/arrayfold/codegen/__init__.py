"""C out of a program, its order and its mappings."""

from __future__ import annotations

from arrayfold.base.public_names import load_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arrayfold.codegen.region import FoldedRegion, StorageFold
    from arrayfold.codegen.write import allocated_cells, write_c

__all__ = ["FoldedRegion", "StorageFold", "allocated_cells", "write_c"]

load_on_demand(__name__, {"region": "FoldedRegion StorageFold", "write": "allocated_cells write_c"})
