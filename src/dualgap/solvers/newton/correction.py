"""Chebyshev's third-order correction of a Newton step: the step of the system whose right-hand side is −Xᵀ(q·½φ‴Δz²)."""

from __future__ import annotations

import numpy as np

from dualgap.problem import each
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.line_search import Direction, Step, score_direction
from dualgap.solvers.newton.point import Point
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem
from dualgap.solvers.newton.systems import DenseSystem


def corrected(
    sub: Subproblem, point: Point, system: DenseSystem, step: Step, settings: Settings
) -> tuple[Direction, Vector | None]:
    """The direction of a step with its correction, and ½φ‴Δz² of each row; without, and None, where the correction is too large.

    The correction costs two passes over the rows and no matrix.
    """
    third = _third_derivatives(sub, point)
    if third is None:
        return step.direction(sub.rows), None

    def weighted_change(part: slice, scores: Vector) -> Vector:
        if step.intercept:
            scores += step.intercept
        # In place: φ‴ becomes ½φ‴Δz².
        for factor in (scores, scores, 0.5):
            third[part] *= factor
        return sub.normalized_weights[part] * third[part]

    along, combination = sub.rows.through(step.weights, weighted_change)
    weights, shift = system.solve(combination, sub.mean(third) if sub.intercept else 0.0)
    slope = float(point.gradient @ weights) + point.gradient_intercept * shift
    if not settings.correction_lengthening * step.slope <= slope <= -settings.correction_shortening * step.slope:
        return Direction(step.weights, step.intercept, along, step.slope), None
    along += score_direction(sub.rows, weights, shift)
    return Direction(step.weights + weights, step.intercept + shift, along, step.slope + slope), third


def _third_derivatives(sub: Subproblem, point: Point) -> Vector | None:
    """φ‴ of each row; None where it is zero between the corners of φ′."""
    loss, labels, duals, second = sub.loss, sub.labels, point.duals, point.second_derivatives
    if loss.third_derivative(duals[:1], second[:1], labels[:1]) is None:
        return None
    return each(duals.size, lambda c: np.asarray(loss.third_derivative(duals[c], second[c], labels[c])))
