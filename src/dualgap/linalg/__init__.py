"""Linear algebra that several solvers share: each method exists once."""
