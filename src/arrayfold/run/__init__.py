"""Compile C, call it, run it, compare what it leaves behind."""
