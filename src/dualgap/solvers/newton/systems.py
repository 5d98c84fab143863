"""The Newton system Hessian · direction = −gradient as a dense Cholesky factor.

Hessian = λ·I + Σ q_i φ_i″ x_i x_iᵀ ;  a free intercept is one more column of ones, which nothing penalizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.data.rows import Rows
from dualgap.linalg import cholesky
from dualgap.linalg.gram import weighted_gram
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.line_search import Step
from dualgap.solvers.newton.point import Point
from dualgap.solvers.newton.subproblem import Subproblem


class DenseSystem:
    """The Hessian at a point as a Cholesky factor, with which several right-hand sides are solved."""

    def __init__(self, sub: Subproblem, point: Point) -> None:
        self.sub = sub
        self.second_derivatives = point.second_derivatives
        hessian_weights = sub.normalized_weights * self.second_derivatives
        hessian = weighted_gram(sub.rows, hessian_weights, square_rows(sub.rows))
        cholesky.diagonal(hessian)[:] += sub.strength
        corner = _intercept_second_derivative(sub, point, float(hessian_weights.sum())) if sub.intercept else 0.0
        self.is_bordered = corner > 0.0
        if self.is_bordered:
            border = sub.rows.combination(hessian_weights)
            hessian = np.block([[hessian, border[:, None]], [border, corner]])
        self.factor = cholesky.solver(hessian)

    def solve(self, gradient: Vector, gradient_intercept: float) -> tuple[Vector, float]:
        """−Hessian⁻¹·gradient, in w and in b."""
        if self.is_bordered:
            step = -self.factor(np.append(gradient, gradient_intercept))
            return step[:-1], float(step[-1])
        # Without a curved row the Hessian says nothing about b; its gradient gives the sign of the step.
        shift = -gradient_intercept / self.sub.strength if self.sub.intercept else 0.0
        return -self.factor(gradient), shift

    def newton_step(self, point: Point) -> Step:
        """The Newton step at the point."""
        weights, shift = self.solve(point.gradient, point.gradient_intercept)
        return Step(weights, shift, float(point.gradient @ weights) + point.gradient_intercept * shift)


def square_rows(rows: Rows) -> Any:
    """The kernel that makes Σ c_i x_i x_iᵀ of sparse rows; None for dense ones, which need no compiler."""
    if not rows.is_sparse:
        return None
    from dualgap import kernels

    return kernels.products.square_rows


def _intercept_second_derivative(sub: Subproblem, point: Point, total: float) -> float:
    """The second derivative of F in b, `total`; more where the step in b would leave the range of the residuals.

    Where all scores are far from their labels, φ″ is 1e-80 or less, and a step of gradient/φ″ is beyond any line search.
    """
    slope = abs(point.gradient_intercept)
    # Residuals are at least 0, so the bound is at most `slope`.
    if point.gamma or total == 0.0 or total >= slope:
        return total
    largest_residual = float(np.abs(sub.labels - point.scores - point.intercept).max())
    return max(total, slope / (1.0 + largest_residual))
