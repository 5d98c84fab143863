"""A preconditioner for products with the Hessian: the inverse of a Hessian made from an importance sample of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.linalg import cholesky
from dualgap.linalg.krylov import Operator
from dualgap.linalg.partition import SETTINGS, partition, sum_slices
from dualgap.solvers.base import Vector


def sample_preconditioner(
    rows: Rows, hessian_weights: Vector, strength: float, count: int, intercept: bool = False
) -> Operator:
    """The inverse of λ·I + Σ c_k h_k x_k x_kᵀ over an importance sample: rows of a large h_i‖x_i‖² are drawn more often.

    It is made in float32: a preconditioner changes how many products a solve takes, not where it ends.
    """
    importance = hessian_weights * np.maximum(rows.squared_norms, np.finfo(np.float64).tiny)
    if not float(importance.sum()) > 0.0:
        return lambda vector: vector / strength
    numbers, counts = importance_sample(importance, count)
    roots = np.sqrt(counts * hessian_weights[numbers])
    width = rows.dimension + intercept

    def add(part: slice, out: Vector) -> None:
        values = np.ones((part.stop - part.start, width), dtype=np.float32)
        values[:, : rows.dimension] = rows.take(numbers[part]).dense().arrays[0]
        values *= roots[part, None].astype(np.float32)
        out += values.T @ values

    max_terms = min(SETTINGS.max_terms, numbers.size // width)
    matrix = sum_slices(add, partition(numbers.size, width), (width, width), max_terms)
    cholesky.diagonal(matrix)[: rows.dimension] += strength
    return cholesky.solver(matrix, first_jitter=float(np.finfo(np.float32).eps))


def importance_sample(importance: Vector, count: int) -> tuple[NDArray[np.intp], Vector]:
    """About `count` rows drawn systematically in proportion to their importance, and the weight of each; or all rows.

    Σ weight_k f(row_k) estimates Σ f(i) for f proportional to the importance; no random number is needed.
    """
    if count >= importance.size:
        return np.arange(importance.size), np.ones(importance.size)
    cumulative = np.cumsum(importance)
    interval = float(cumulative[-1]) / count
    drawn = np.searchsorted(cumulative, (np.arange(count) + 0.5) * interval)
    numbers, times = np.unique(np.minimum(drawn, importance.size - 1), return_counts=True)
    return numbers, times * (interval / importance[numbers])
