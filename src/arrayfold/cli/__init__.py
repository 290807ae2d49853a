"""The command line: options, input, output, and a function for each command. Heavy imports happen late."""
