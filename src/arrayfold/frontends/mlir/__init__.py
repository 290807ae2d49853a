"""Functions of MLIR -> Program."""
