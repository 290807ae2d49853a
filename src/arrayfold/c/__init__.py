"""C programs as trees with their places in the file, and back to text."""
