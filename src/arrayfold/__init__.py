"""arrayfold: fold temporary arrays, prove the fold, and say how far it is from the minimum.

>>> import arrayfold as af
>>> result = af.fold(af.read("examples/blur-interleaved.toml"), params={"N": 1024})
>>> print(result["blurx"].mapping)
blurx[y, x] -> [(N*y + x) mod (2*N + 1)]
>>> result["blurx"].size, result["blurx"].lower_bound.formula
(2*N + 1, 2*N + 1)
"""

from __future__ import annotations

from arrayfold.base.public_names import load_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from arrayfold.base.errors import (
        ArrayfoldError,
        BudgetExceeded,
        InputError,
        MethodNotApplicable,
        NotAffine,
    )
    from arrayfold.base.installed import __version__
    from arrayfold.bounds.moments import LowerBound, find_lower_bound
    from arrayfold.conflicts.conflicts import Conflicts
    from arrayfold.exact.formula import Formula
    from arrayfold.fold.analysis import Analysis
    from arrayfold.fold.arrays import fold, fold_shared
    from arrayfold.fold.result import FoldedArray, FoldResult
    from arrayfold.frontends import read, read_all
    from arrayfold.frontends.kernel import Kernel, empty, kernel, prange
    from arrayfold.frontends.toml.problem import read_problem, write_problem
    from arrayfold.judge.verify import Counterexample, Proof, Undecided, verify
    from arrayfold.mapping.modular import ModularMapping
    from arrayfold.mapping.parse import read_mappings
    from arrayfold.passes.reallocation import reallocate
    from arrayfold.passes.reorder import reorder
    from arrayfold.program.model import Access, Array, ConflictProblem, Program, Statement

__all__ = [
    "Access",
    "Analysis",
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
    "LowerBound",
    "MethodNotApplicable",
    "ModularMapping",
    "NotAffine",
    "Program",
    "Proof",
    "Statement",
    "Undecided",
    "__version__",
    "empty",
    "find_lower_bound",
    "fold",
    "fold_shared",
    "kernel",
    "prange",
    "read",
    "read_all",
    "read_mappings",
    "read_problem",
    "reallocate",
    "reorder",
    "verify",
    "write_problem",
]

_MODULES = {
    "base.errors": "ArrayfoldError BudgetExceeded InputError MethodNotApplicable NotAffine",
    "base.installed": "__version__",
    "bounds.moments": "LowerBound find_lower_bound",
    "conflicts.conflicts": "Conflicts",
    "exact.formula": "Formula",
    "fold.analysis": "Analysis",
    "fold.arrays": "fold fold_shared",
    "fold.result": "FoldedArray FoldResult",
    "frontends": "read read_all",
    "frontends.kernel": "Kernel empty kernel prange",
    "frontends.toml.problem": "read_problem write_problem",
    "judge.verify": "Counterexample Proof Undecided verify",
    "mapping.modular": "ModularMapping",
    "mapping.parse": "read_mappings",
    "passes.reallocation": "reallocate",
    "passes.reorder": "reorder",
    "program.model": "Access Array ConflictProblem Program Statement",
}

load_on_demand(__name__, _MODULES)
