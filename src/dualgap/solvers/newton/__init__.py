"""Newton's method: the solver, and the four ways it takes for the squared, smooth and kinked losses and for many columns."""

from dualgap.solvers.newton.solver import Newton

__all__ = ["Newton"]
