"""Storage mappings, and the ways people write them."""
