"""The commands, as functions that the command line calls. Heavy imports happen inside them."""
