"""Kernels of loopy with folded temporaries: `arrayfold.loopy.fold_temporaries(kernel)`."""

from __future__ import annotations

from arrayfold.base.public_names import load_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arrayfold.loopy.fold import FoldedKernel, fold_kernel, fold_temporaries
    from arrayfold.loopy.read import read_kernel

__all__ = ["FoldedKernel", "fold_kernel", "fold_temporaries", "read_kernel"]

load_on_demand(__name__, {"fold": "FoldedKernel fold_kernel fold_temporaries", "read": "read_kernel"})
