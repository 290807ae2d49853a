"""pet's interchange files -> Program."""
