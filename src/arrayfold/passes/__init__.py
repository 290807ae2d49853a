"""Program -> Program: other orders, expansion, reallocation, tiles, bands, merged arrays."""
