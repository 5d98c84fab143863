"""Coordinate descent on a quadratic function with an L1 part, whose matrix is given itself or by the columns it is made of."""

from __future__ import annotations

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_weighted, dot


@kernel
def coordinate_passes(matrix, threshold, ridge, passes, tolerance, gradient, weights):
    """Passes over u for the least ½uᵀMu + ⟨c, u⟩ + threshold·‖u‖₁ + ridge·‖u‖²/2, until no gradient is off by tolerance.

    Updates weights and gradient in place; gradient = Mu + c still holds. Returns how far the last pass found a coordinate off.
    """
    largest = 0.0
    for _ in range(passes):
        largest = 0.0
        for j in range(weights.size):
            own, old = matrix[j, j], weights[j]
            if own + ridge <= 0.0:
                continue
            target = own * old - gradient[j]
            new = (max(target - threshold, 0.0) + min(target + threshold, 0.0)) / (own + ridge)
            delta = new - old
            if delta != 0.0:
                weights[j] = new
                row = matrix[j]
                for k in range(weights.size):
                    gradient[k] += delta * row[k]
                largest = max(largest, abs(delta) * (own + ridge))
        if largest <= tolerance:
            break
    return largest


@kernel
def column_passes(
    columns, factors, border, corner, diagonal, threshold, ridge, passes, tolerance, linear, scores, weights
):
    """As `coordinate_passes`, for M = Σ c_i x_i x_iᵀ − bbᵀ/corner with b = Σ c_i x_i; the rows of `columns` are the columns x_·j.

    Updates weights and scores in place; scores = C X (u − u₀) still holds, and `linear` is the gradient at u₀. `diagonal` is M's.
    """
    total = scores.sum()
    largest = 0.0
    for _ in range(passes):
        largest = 0.0
        for j in range(weights.size):
            own, old = diagonal[j], weights[j]
            if own + ridge <= 0.0:
                continue
            gradient = linear[j] + dot(columns, j, scores) - border[j] * (total / corner)
            target = own * old - gradient
            new = (max(target - threshold, 0.0) + min(target + threshold, 0.0)) / (own + ridge)
            delta = new - old
            if delta != 0.0:
                weights[j] = new
                add_weighted(columns, j, delta, factors, scores)
                total += delta * border[j]
                largest = max(largest, abs(delta) * (own + ridge))
        if largest <= tolerance:
            break
    return largest
