"""Errors with their places, budgets of work, files in and out, caches; nothing of the subject itself."""
