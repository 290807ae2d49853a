"""arrayfold: fold temporary arrays, prove the fold, and say how far it is from the minimum.

>>> import arrayfold as af
>>> result = af.fold(af.read("examples/blur-interleaved.toml"), params={"N": 1024})
>>> print(result["blurx"].mapping)
blurx[y, x] -> [(N*y + x) mod (2*N + 1)]
>>> result["blurx"].size, result["blurx"].lower_bound.formula
(2*N + 1, 2*N + 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arrayfold.base.public_names import load_on_demand

if TYPE_CHECKING:
    from arrayfold.base.errors import (
        ArrayfoldError,
        BudgetExceeded,
        InputError,
        MethodNotApplicable,
        NotAffine,
    )
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

_MODULES = {
    "base.errors": "ArrayfoldError BudgetExceeded InputError MethodNotApplicable NotAffine",
    "conflicts.conflicts": "Conflicts",
    "exact.formula": "Formula",
    "fold.arrays": "fold fold_shared",
    "fold.result": "FoldedArray FoldResult",
    "frontends": "read read_all",
    "frontends.kernel": "Kernel empty kernel",
    "judge.verify": "Counterexample Proof Undecided verify",
    "mapping.modular": "ModularMapping",
    "passes.reallocation": "reallocate",
    "passes.reorder": "reorder",
    "program.model": "Array ConflictProblem Program Statement",
}

load_on_demand(__name__, _MODULES)
