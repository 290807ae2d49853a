"""A region in simpler C: calls inlined, side effects in statements of their own, loops that count."""
