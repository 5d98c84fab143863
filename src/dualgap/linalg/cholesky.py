"""Cholesky factors of positive definite matrices that rounding may have left indefinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

Vector = NDArray[np.float64]

TINY = float(np.finfo(np.float64).tiny)
EPSILON = float(np.finfo(np.float64).eps)


def diagonal(matrix: NDArray[Any]) -> Vector:
    """The numbers on the diagonal of a matrix, which can be written to."""
    return matrix.ravel(order="K")[:: matrix.shape[0] + 1]


def solver(matrix: NDArray[Any], first_jitter: float = EPSILON) -> Callable[[Vector], Vector]:
    """Multiplication by the inverse of a positive definite matrix, scaled to unit diagonal.

    `first_jitter` is about the rounding error of the matrix. It is added to the unit diagonal where the factorization fails, then
    twice as much each time. Beyond 1 only a matrix that is not finite fails, and its diagonal alone is used.
    """
    scale = 1.0 / np.sqrt(np.maximum(diagonal(matrix), TINY))
    matrix = matrix * scale
    matrix *= scale[:, None]
    jitter = 0.0
    while jitter <= 1.0:
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        # OpenBLAS does not report a pivot that is NaN.
        if not failed and np.isfinite(diagonal(factor)).all():
            return lambda right: np.asarray(scale * dpotrs(factor, scale * right, lower=1)[0])
        more = max(2.0 * jitter, first_jitter)
        diagonal(matrix)[:] += more - jitter
        jitter = more
    return lambda right: np.asarray(scale * (scale * right))
