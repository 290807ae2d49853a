"""Options whose values are a few words, with the words; the command line and the library share them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Favor: TypeAlias = Literal["size", "speed"]
Share: TypeAlias = Literal["none", "arrays", "offsets", "cells", "auto"]
Mode: TypeAlias = Literal["contract", "reallocate"]
Loops: TypeAlias = Literal["keep", "generate"]
Style: TypeAlias = Literal["fast", "readable"]
Fuse: TypeAlias = Literal["rows", "cells"]
AnyOrder: TypeAlias = Literal["dependences", "tilings"]
OrderChoice: TypeAlias = Literal["auto", "dependences", "tilings"]
Construction: TypeAlias = Literal["values", "live-write", "live-live", "butterfly"]
FigureKind: TypeAlias = Literal["conflicts", "lattice", "lifetimes", "memory", "methods"]

FUSES: tuple[Fuse, ...] = get_args(Fuse)
FAVORS: tuple[Favor, ...] = get_args(Favor)
SHARES: tuple[Share, ...] = get_args(Share)
CONSTRUCTIONS: tuple[Construction, ...] = get_args(Construction)
Tool: TypeAlias = Literal["halide", "exo", "devito", "tvm", "hls", "mlir"]
