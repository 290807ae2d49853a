"""The program: statements, accesses, arrays, context, and what is assumed of it."""
