"""The least of a quadratic model with an L1 part: coordinate descent finds the support, a Cholesky factor the numbers on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.linalg import cholesky
from dualgap.linalg.parallel import checkpoint

Vector = NDArray[np.float64]

# Passes of coordinate descent between two solves on the support; and of both together, after which the line search takes what there is.
PASSES, ROUNDS = 4, 40


class Quadratic(NamedTuple):
    """½uᵀMu + ⟨c, u⟩ + Σ (threshold_j·|u_j| + ridge_j·u_j²/2)."""

    matrix: NDArray[np.float64]
    thresholds: Vector
    ridges: Vector


def minimize(model: Quadratic, gradient: Vector, start: Vector, tolerance: float) -> Vector:
    """About the u of the least value; `gradient` is Mu + c at the start, and is spent."""
    weights = start.copy()
    for _ in range(ROUNDS):
        checkpoint()
        largest = kernels.quadratic.coordinate_passes(*model, PASSES, tolerance, gradient, weights)
        if largest <= tolerance:
            break
        _solve_on_support(model, gradient, weights)
    return weights


def compile_passes() -> None:
    """Compile the kernel, by passing over nothing."""
    none = np.empty(0)
    kernels.quadratic.coordinate_passes(np.empty((0, 0)), none, none, 1, 0.0, none, none)


def _solve_on_support(model: Quadratic, gradient: Vector, weights: Vector) -> None:
    """In place: the Newton step on the coordinates that are not zero, up to the first that changes its sign."""
    support = np.flatnonzero((weights != 0.0) | (model.thresholds == 0.0))
    if not support.size:
        return
    signs = np.sign(weights[support])
    ridges, thresholds = model.ridges[support], model.thresholds[support]
    rows = model.matrix[support]
    hessian = rows[:, support]
    cholesky.diagonal(hessian)[:] += ridges
    slope = gradient[support] + thresholds * signs + ridges * weights[support]
    step = -cholesky.solver(hessian)(slope)
    crossing = (thresholds > 0.0) & ((weights[support] + step) * signs < 0.0)
    size, first = 1.0, -1
    if crossing.any():
        ratios = np.where(crossing, -weights[support] / np.where(crossing, step, 1.0), np.inf)
        first = int(ratios.argmin())
        size = float(ratios[first])
    if not np.isfinite(step).all():
        return
    moved = size * step
    if first >= 0:
        moved[first] = -weights[support[first]]
    weights[support] += moved
    gradient += moved @ rows
