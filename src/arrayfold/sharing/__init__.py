"""Several arrays in one memory: cell by cell, or whole arrays beside and after each other."""
