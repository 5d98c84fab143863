"""The command line: what is printed, asked and exited with."""
