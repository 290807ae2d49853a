"""Which of the proved mappings: the smallest, contiguous inner dimensions, cases."""
