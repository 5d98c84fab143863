"""Newton's method on a working set of columns, for penalties with an L1 part."""

from dualgap.solvers.sparse_newton.solver import SparseNewton

__all__ = ["SparseNewton"]
