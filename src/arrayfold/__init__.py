"""arrayfold: fold temporary arrays, prove the fold, and say how far it is from the minimum.

>>> import arrayfold as af
>>> result = af.fold(af.read("examples/blur-interleaved.toml"), params={"N": 1024})
>>> print(result["blurx"].mapping)
blurx[y, x] -> [(N*y + x) mod (2*N + 1)]
>>> result["blurx"].size, result["blurx"].lower_bound.formula
(2*N + 1, 2*N + 1)
"""

from __future__ import annotations

from arrayfold.base.errors import ArrayfoldError, BudgetExceeded, InputError, MethodNotApplicable, NotAffine
from arrayfold.conflicts.conflicts import Conflicts
from arrayfold.exact.formula import Formula
from arrayfold.fold.arrays import fold, fold_shared
from arrayfold.fold.result import FoldedArray, FoldResult
from arrayfold.frontends import read, read_all
from arrayfold.frontends.kernel import Kernel, empty, kernel
from arrayfold.judge.verify import Counterexample, Proof, Undecided, verify
from arrayfold.mapping.modular import ModularMapping
from arrayfold.passes.reallocation import reallocate
from arrayfold.passes.reorder import reorder
from arrayfold.program.model import Array, ConflictProblem, Program, Statement

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
    "MethodNotApplicable",
    "ModularMapping",
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
