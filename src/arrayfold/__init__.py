"""arrayfold: fold temporary arrays, prove the fold, and say how far it is from the minimum.

>>> import arrayfold as af
>>> result = af.fold(af.read("examples/blur-interleaved.toml"), params={"N": 1024})
>>> print(result["blurx"].mapping)
blurx[y, x] -> [(N*y + x) mod (2*N + 1)]
>>> result["blurx"].size, result["blurx"].lower_bound.formula
(2*N + 1, 2*N + 1)
"""

from __future__ import annotations

from arrayfold.conflicts import Conflicts
from arrayfold.errors import ArrayfoldError, BudgetExceeded, InputError, MethodNotApplicable, NotAffine
from arrayfold.fold import fold
from arrayfold.fold_shared import fold_shared
from arrayfold.folded import FoldedArray, FoldResult
from arrayfold.formula import Formula
from arrayfold.frontends import read, read_all
from arrayfold.kernel import Kernel, empty, kernel
from arrayfold.mapping import Mapping
from arrayfold.program import Array, ConflictProblem, Program, Statement
from arrayfold.reallocation import reallocate
from arrayfold.schedule import reorder
from arrayfold.verify import Counterexample, Proof, Undecided, verify

__all__ = [
    "Array",
    "ArrayfoldError",
    "BudgetExceeded",
    "ConflictProblem",
    "Conflicts",
    "Counterexample",
    "FoldResult",
    "FoldedArray",
    "Formula",
    "InputError",
    "Kernel",
    "Mapping",
    "MethodNotApplicable",
    "NotAffine",
    "Program",
    "Proof",
    "Statement",
    "Undecided",
    "empty",
    "fold",
    "fold_shared",
    "kernel",
    "read",
    "read_all",
    "reallocate",
    "reorder",
    "verify",
]
