"""Python kernels: a function -> C text -> Program."""
