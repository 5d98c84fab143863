"""The least of a quadratic model with an L1 part: coordinate descent finds the support, a Cholesky factor the numbers on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.linalg import cholesky
from dualgap.linalg.parallel import checkpoint

Vector = NDArray[np.float64]

# Passes of coordinate descent between two solves on the support, at least; a solve takes as long as one pass for this many coordinates.
PASSES, PASS_COORDINATES = 4, 32
# Passes and solves together, after which the line search takes what there is.
ROUNDS = 40


class Quadratic(NamedTuple):
    """½uᵀMu + ⟨c, u⟩ + threshold·‖u‖₁ + ridge·‖u‖²/2."""

    matrix: NDArray[np.float64]
    threshold: float
    ridge: float


def minimize(model: Quadratic, gradient: Vector, start: Vector, part: float) -> Vector:
    """About the u of the least value, where no coordinate is off by more than `part` of the largest at the start.

    `gradient` is Mu + c at the start, and is spent.
    """
    weights = start.copy()
    tolerance = part * _violation(model, gradient, weights)
    for _ in range(ROUNDS):
        checkpoint()
        passes = max(PASSES, np.count_nonzero(weights) // PASS_COORDINATES)
        largest = kernels.quadratic.coordinate_passes(*model, passes, tolerance, gradient, weights)
        if largest <= tolerance:
            break
        _solve_on_support(model, gradient, weights)
    return weights


def _violation(model: Quadratic, gradient: Vector, weights: Vector) -> float:
    """How far the coordinate that is farthest from its optimality condition is from it."""
    slope = gradient + model.ridge * weights
    at_zero = np.maximum(np.abs(slope) - model.threshold, 0.0)
    off = np.where(weights == 0.0, at_zero, np.abs(slope + model.threshold * np.sign(weights)))
    return float(off.max(initial=0.0))


def compile_passes() -> None:
    """Compile the kernel, by passing over nothing."""
    none = np.empty(0)
    kernels.quadratic.coordinate_passes(np.empty((0, 0)), 0.0, 0.0, 1, 0.0, none, none)


def _solve_on_support(model: Quadratic, gradient: Vector, weights: Vector) -> None:
    """In place: the Newton step on the coordinates that are not zero, up to the first that changes its sign."""
    support = np.flatnonzero(weights)
    if not support.size:
        return
    own = weights[support]
    signs = np.sign(own)
    hessian = model.matrix[np.ix_(support, support)]
    cholesky.diagonal(hessian)[:] += model.ridge
    step = -cholesky.solver(hessian)(gradient[support] + model.threshold * signs + model.ridge * own)
    if not np.isfinite(step).all():
        return
    crossing = (own + step) * signs < 0.0
    size = float((-own[crossing] / step[crossing]).min(initial=1.0))
    moved = np.zeros_like(weights)
    moved[support] = size * step
    reached = own + moved[support]
    reached[reached * signs <= 0.0] = 0.0
    moved[support] = reached - own
    weights[support] = reached
    gradient += model.matrix @ moved
