"""C files: a region of loops -> Program."""
