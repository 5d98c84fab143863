"""What the bounds need to know of row blocks, and the certificate of zero duals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import gamma, norm_bound
from dualgap.certificate.point import Facts
from dualgap.certificate.verdict import Certificate
from dualgap.problem.block_base import BaseBlockProblem

Vector = NDArray[np.float64]


def facts_of(problem: BaseBlockProblem, squared_size: float, row_operations: int) -> Facts:
    """What the bounds need of the rows: `squared_size` is Σ ‖x_i‖², and each term passes through `row_operations` additions."""
    operations = row_operations + 2
    mean_square = problem.mean_squared_norm * (1.0 + gamma(problem.weight_operations + problem.longest + operations))
    return Facts(
        norm_bound(mean_square, problem.longest),
        norm_bound(squared_size, problem.stored),
        problem.longest,
        problem.longest,
        operations,
        operations + 8,
    )


def weight_norm(weights: Vector) -> float:
    """An upper bound on ‖w‖, or on that of every class; 0 for zero weights."""
    if not weights.any():
        return 0.0
    squares = np.einsum("i...,i...->...", weights, weights)
    return norm_bound(float(np.max(squares)), weights.shape[0])


def of_zero_duals(proven: Certificate) -> Certificate | None:
    """The certificate of the same point and zero duals, which are always feasible and give D = 0, where that proves more."""
    if proven.gap < proven.primal or proven.contradicts_weak_duality:
        return None
    gap = proven.primal + proven.primal_error
    return replace(proven, dual=0.0, gap=gap, rounding=proven.primal_error, dual_error=0.0)
