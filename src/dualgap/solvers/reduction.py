"""Few rows, many columns: the same problem in as many columns as there are rows, and the way back.

Every w(α) lies in the span of the rows. With X Xᵀ = Q Λ Qᵀ the rows of R = Q √Λ have the same products with each other as
those of X, so w = Xᵀ Q Λ^(−½) u has the scores R u and the length of u. So have those of L where X Xᵀ = L Lᵀ, which is found
sooner: w = Xᵀ L^(−T) u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dtrtri

from dualgap.intake import as_rows
from dualgap.problem import Problem
from dualgap.solvers.base import Vector

# Eigenvalues below this part of the largest are rounding: the rows do not span those directions.
SMALLEST_EIGENVALUE = 1e-14
# With a smaller pivot, beside the largest, L is not trusted.
SMALLEST_PIVOT = 1e-6


class Anchor(NamedTuple):
    """The same weights in few columns and in the problem's own: others are restored from there, with the rounding of the way
    between alone. It grows with what X Xᵀ is large by, which small steps do not suffer from."""

    reduced: Vector
    own: Vector


def reduced(problem: Problem, is_smooth: bool) -> tuple[Problem, Vector | None]:
    """The problem in at most n columns and the n × r matrix that leads back, Q Λ^(−½) or L^(−T); itself where d ≤ n."""
    if problem.rows.dimension <= problem.rows.count:
        return problem, None
    products = problem.rows.gram()
    # Along a path of smoothed losses it counts how large the largest eigenvalue is, which L does not tell.
    found = _triangular(products) if is_smooth else None
    if found is not None:
        return problem.with_rows(as_rows(found[0])), found[1]
    # SciPy 1.13 asks for too little room where the quicker driver gets a matrix of one number.
    values, vectors = eigh(products, check_finite=False, driver="evd" if problem.rows.count > 1 else "ev")
    kept = values > SMALLEST_EIGENVALUE * max(float(values[-1]), np.finfo(np.float64).tiny)
    if not kept.any():
        kept[-1] = True  # rows of zeros: one column of zeros stands for all
    roots = np.sqrt(np.maximum(values[kept], 0.0))
    vectors = np.ascontiguousarray(vectors[:, kept])
    back = vectors / np.where(roots > 0.0, roots, 1.0)
    return problem.with_rows(as_rows(vectors * roots)), back


def _triangular(products: Vector) -> tuple[Vector, Vector] | None:
    """L and L^(−T) with products = L Lᵀ; None where rows nearly repeat each other, so that rounding would show."""
    factor, failed = dpotrf(products, lower=1, clean=1)
    pivots = np.einsum("ii->i", factor)
    if failed or not float(pivots.min()) > SMALLEST_PIVOT * float(pivots.max()):
        return None
    inverse, _ = dtrtri(factor, lower=1)
    return factor, inverse.T


def scores_error(inner: Problem, back: Vector, weights: Vector, anchor: Anchor | None) -> float:
    """How far scores in few columns may be from those of the restored weights: rounding in X Xᵀ, seen through Q Λ^(−½)."""
    largest = inner.rows.block(slice(0, inner.rows.count))[:, -1]
    coefficients = back @ (weights if anchor is None else weights - anchor.reduced)
    size = float(largest @ largest) * float(np.sqrt(np.mean(coefficients * coefficients)))
    return float(np.finfo(np.float64).eps) * size


def restored(problem: Problem, back: Vector | None, weights: Vector, anchor: Anchor | None = None) -> Vector:
    """The weights in the problem's own columns."""
    if back is None:
        return weights
    if anchor is None:
        return problem.rows.combination(back @ weights)
    return anchor.own + problem.rows.combination(back @ (weights - anchor.reduced))


def lowered(problem: Problem, back: Vector | None, weights: Vector) -> Vector:
    """The weights in the reduced columns: the part of them that the rows can see."""
    return weights if back is None else back.T @ problem.rows.scores(weights)
