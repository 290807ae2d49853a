"""Searches of `auto` itself, beside the published methods. Adding one is one file and one line here.

A search takes the conflicts, the request, and the best size so far.
"""

from __future__ import annotations

from arrayfold.methods.auto.common_lattice import search_common_lattice
from arrayfold.methods.auto.fitted_lattice import search_fitted_lattice
from arrayfold.methods.auto.several_parameters import search_several_parameters
from arrayfold.methods.auto.small_rows import search_small_rows

SEARCHES = (search_small_rows, search_common_lattice, search_fitted_lattice, search_several_parameters)

__all__ = ["SEARCHES"]
