"""Row space: a problem with more columns than rows, in as many columns as rows, and the way back.

Every w(α) lies in the span of the rows. With X Xᵀ = Q Λ Qᵀ the rows of R = Q √Λ have the same inner products as those of X, so
w = Xᵀ Q Λ^(−½) u has the scores R u and the norm of u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.problem import Problem
from dualgap.solvers.base import Vector


class RefinementPoint(NamedTuple):
    """The same weights in row space and in the problem's columns.

    Mapping back only the difference from it keeps the rounding error proportional to that difference.
    """

    reduced: Vector
    weights: Vector


class RowSpace:
    """The basis of a problem's row space; for a problem with no more columns than rows its own columns."""

    def __init__(self, problem: Problem, basis: Vector | None, reduced: Problem, largest_eigenvalue: float) -> None:
        self.problem = problem
        self.basis = basis
        """Q Λ^(−½); None for the problem's own columns."""
        self.reduced = reduced
        """The problem in row space."""
        self.largest_eigenvalue = largest_eigenvalue

    @property
    def is_identity(self) -> bool:
        return self.basis is None

    def to_row_space(self, weights: Vector) -> Vector:
        """The part of the weights that the rows can see, in row space."""
        return weights if self.basis is None else self.basis.T @ self.problem.rows.scores(weights)

    def from_row_space(self, reduced: Vector, known: RefinementPoint | None = None) -> Vector:
        """Weights in the problem's columns."""
        if self.basis is None:
            return reduced
        if known is None:
            return self.problem.rows.combination(self.basis @ reduced)
        return known.weights + self.problem.rows.combination(self.basis @ (reduced - known.reduced))

    def score_error(self, reduced: Vector, known: RefinementPoint | None) -> float:
        """How far scores in row space may be from those of the mapped weights: rounding in X Xᵀ, mapped by the basis."""
        if self.basis is None:
            return 0.0
        coefficients = self.basis @ (reduced if known is None else reduced - known.reduced)
        size = self.largest_eigenvalue * float(np.sqrt(np.mean(coefficients * coefficients)))
        return float(np.finfo(np.float64).eps) * size


def row_space(problem: Problem) -> RowSpace:
    """The row space of a problem."""
    found = reduced_rows(problem.rows)
    if found is None:
        return RowSpace(problem, None, problem, 0.0)
    return RowSpace(problem, found.basis, problem.with_rows(found.rows), found.largest_eigenvalue)


class ReducedRows(NamedTuple):
    """Rows with as many columns as rows, and the basis that leads back."""

    rows: Rows
    basis: Vector
    largest_eigenvalue: float
    """Of X Xᵀ."""


def reduced_rows(rows: Rows) -> ReducedRows | None:
    """Rows with the same inner products in as many columns as rows; None for rows that have no more columns already."""
    if rows.dimension <= rows.count:
        return None
    products = rows.gram()
    # SciPy 1.13 asks for too little room where the quicker driver gets a matrix of one number.
    values, vectors = eigh(products, check_finite=False, driver="evd" if rows.count > 1 else "ev")
    # Smaller eigenvalues are rounding, as in `numpy.linalg.matrix_rank`: the rows do not span those directions.
    rounding = rows.count * float(np.finfo(np.float64).eps)
    kept = values > rounding * max(float(values[-1]), np.finfo(np.float64).tiny)
    if not kept.any():
        kept[-1] = True  # rows of zeros: one column of zeros stands for all
    roots = np.sqrt(np.maximum(values[kept], 0.0))
    vectors = np.ascontiguousarray(vectors[:, kept])
    basis = vectors / np.where(roots > 0.0, roots, 1.0)
    return ReducedRows(as_rows(vectors * roots), basis, float(max(values[-1], 0.0)))
