"""Newton steps on an inner problem: each minimizes the quadratic model of the loss plus the penalty, then searches along the line."""

from __future__ import annotations

from math import isfinite

import numpy as np

from dualgap.linalg import cholesky
from dualgap.linalg.gram import weighted_gram
from dualgap.losses import Loss
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.systems import square_rows
from dualgap.solvers.sparse_newton.inner import Inner, Point, inner_gap
from dualgap.solvers.sparse_newton.line_search import Step, line_search, penalty_slope
from dualgap.solvers.sparse_newton.quadratic import ColumnModel, DenseModel, Quadratic
from dualgap.solvers.sparse_newton.settings import SETTINGS


def newton_steps(inner: Inner, point: Point, target: float, primal: float) -> Point:
    """The point after Newton steps until the inner problem's gap is `target`, or small beside what kinks leave."""
    problem, smooth = inner.problem, inner.smooth
    floor = 0.0
    for _ in range(SETTINGS.inner_steps):
        duals, second = smooth.derivatives(problem, point.scores)
        weighted = problem.weighted(duals) / problem.total_weight
        gradient = -inner.working_set.combination(weighted)
        gap = inner_gap(problem, point, duals, gradient / -problem.strength, primal)
        if gap.columns <= max(target, SETTINGS.inner_part * gap.rows):
            break
        slope = -float(weighted.sum()) if problem.intercept else 0.0
        floor = _floor_for(floor, smooth.loss, second)
        curved = np.maximum(second, floor * smooth.loss.smoothness) if floor else second
        step = _newton_step(inner, point, curved, gradient, slope)
        point, size = line_search(inner, point, step)
        if size == 0.0 and (floor >= 1.0 or not isfinite(smooth.loss.smoothness)):
            break
        if size >= SETTINGS.good_step:
            floor = floor * SETTINGS.floor_decay if floor > SETTINGS.least_floor else 0.0
        elif size < SETTINGS.poor_step:
            floor = min(max(floor / SETTINGS.floor_decay, SETTINGS.least_floor), 1.0)
    return point


def _floor_for(floor: float, loss: Loss, second: Vector) -> float:
    """The floor of φ″, as a part of its largest value; with 1 a step needs no line search. No curved row at all has no Hessian."""
    if not isfinite(loss.smoothness):
        return 0.0
    return max(floor, SETTINGS.first_floor) if not second.any() else floor


def _newton_step(inner: Inner, point: Point, second: Vector, gradient: Vector, slope: float) -> Step:
    """The step to about the least of the quadratic model: the Hessian is Σ (s_i/S)φ_i″ x_i x_iᵀ, and `slope` the derivative by b.

    For any weights the model's best intercept is known, so the weights see the Hessian without its part along the intercept: the rows
    are centered, as it were.
    """
    problem, working_set = inner.problem, inner.working_set
    factors = problem.weighted(second) / problem.total_weight
    border, corner, centered = np.zeros_like(gradient), 1.0, gradient
    if problem.intercept:
        border, corner = working_set.combination(factors), float(factors.sum())
        centered = gradient - border * (slope / corner)
    model: Quadratic
    start = (centered, point.weights, inner.threshold, inner.ridge)
    if working_set.is_by_columns:
        model = ColumnModel(working_set.rows, factors, border, corner, SETTINGS.damping, *start)
    else:
        hessian = weighted_gram(working_set.rows, factors, square_rows(working_set.rows))
        hessian -= np.multiply.outer(border, border / corner)
        own = cholesky.diagonal(hessian)
        own[:] += SETTINGS.damping * float(own.mean()) + np.finfo(np.float64).tiny
        model = DenseModel(hessian, *start)
    direction = model.minimize(SETTINGS.quadratic_part) - point.weights
    shift = -(slope + float(border @ direction)) / corner if problem.intercept else 0.0
    penalty = penalty_slope(inner, point.weights, direction, 0.0)
    return Step(direction, shift, float(gradient @ direction) + slope * shift + penalty)
