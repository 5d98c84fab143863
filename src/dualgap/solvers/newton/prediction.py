"""Predicted duals: the duals that the model of a Newton step gives at its end, which prove the new point before it is evaluated.

A step by a Hessian λ·I + Xᵀ B X, of this point or of an earlier one, predicts α − BΔz. After a whole step w(α) of the predicted duals is
the new point, so the gap is the Fenchel gap of the rows alone, about ½ Σ q_i (error of α_i)²/φ_i″.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.linalg.floats import TINY
from dualgap.linalg.parallel import parallel_map
from dualgap.linalg.partition import partition
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.line_search import Direction
from dualgap.solvers.newton.point import Point
from dualgap.solvers.newton.subproblem import Subproblem


class Prediction(NamedTuple):
    """Weights after a whole step, the duals that its model predicts there, and about the gap between them."""

    weights: Vector
    intercept: float
    duals: Vector
    gap: float


def predict(sub: Subproblem, point: Point, direction: Direction, second_derivatives: Vector) -> Prediction:
    """What a whole step leads to; `second_derivatives` are those of the Hessian that the step was made by."""
    duals, score_change = np.empty(point.duals.size), direction.scores

    def fill(c: slice) -> tuple[float, float]:
        model = point.duals[c] - second_derivatives[c] * score_change[c]
        labels, z = sub.labels[c], point.scores[c] + point.intercept + score_change[c]
        is_inside = sub.loss.holds(model, labels)
        duals[c] = own = model if is_inside else sub.loss.clip(model, labels)
        actual, second = sub.loss.derivatives(z, labels)
        gaps = own - actual
        gaps *= gaps
        gaps /= np.maximum(second, TINY, out=second)  # no error is no gap, whatever the curvature
        gaps *= 0.5
        if is_inside:
            return sub.mean(gaps, c), 0.0
        clipped = np.flatnonzero(own != model)
        # At the end of its domain the conjugate is steeper than a parabola.
        at, y = own[clipped], labels[clipped]
        gaps[clipped] = sub.loss.value(z[clipped], y) - sub.loss.negative_conjugate(at, y) + at * z[clipped]
        return sub.mean(gaps, c), sub.mean((own - model) ** 2, c)

    parts = list(parallel_map(fill, partition(duals.size)))
    gap, clipped = (sum(values) for values in zip(*parts, strict=True))
    if clipped:
        # Clipping moves w(α) by at most √(Σ q δ²)·√(Σ q‖x‖²)/λ.
        gap += clipped * sub.rows.squared_size / sub.count / (2.0 * sub.strength)
    weights, intercept = point.weights + direction.weights, point.intercept + direction.intercept
    return Prediction(weights, intercept, duals, gap if gap >= 0.0 else np.inf)
