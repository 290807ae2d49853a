"""Which cells are live together: liveness, the conflicts that follow, one execution step by step."""
