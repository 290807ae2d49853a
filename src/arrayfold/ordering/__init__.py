"""Which order to run a program in: candidates, what each would cost on this machine, and the choice."""
