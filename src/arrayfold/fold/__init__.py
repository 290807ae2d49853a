"""The jobs behind the commands: analyse, fold, share, compare, check; results as data."""
