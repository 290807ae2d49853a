"""Problem files: isl notation in TOML -> Program or ConflictProblem, and back."""
