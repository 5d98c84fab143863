"""Newton's method: the solver, and the five ways it takes: squared, smooth and kinked losses, many columns, the softmax model."""

from dualgap.solvers.newton.solver import Newton

__all__ = ["Newton"]
