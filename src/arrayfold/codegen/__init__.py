"""C out of a program, its order and its mappings."""

from __future__ import annotations

from arrayfold.codegen.region import FoldedRegion, StorageFold
from arrayfold.codegen.write import allocated_cells, write_c

__all__ = ["FoldedRegion", "StorageFold", "allocated_cells", "write_c"]
