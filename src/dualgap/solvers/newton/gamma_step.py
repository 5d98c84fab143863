"""One Newton step under a loss smoothed by γ, at the point's own γ or at a smaller one.

A step to a smaller γ first keeps every row on the segment of φ_γ it is on: on a curved segment the dual is (kink − z)/γ, on a
linear one it is constant. The model that follows is exact as long as no row leaves its segment.
"""

from __future__ import annotations

import numpy as np

from dualgap.solvers.base import Vector
from dualgap.solvers.newton.line_search import Direction, line_search, score_direction, search, step
from dualgap.solvers.newton.point import Point, derivatives, evaluate_from_duals
from dualgap.solvers.newton.subproblem import Subproblem
from dualgap.solvers.newton.systems import DenseSystem


def gamma_step(sub: Subproblem, point: Point, gamma: float) -> Point:
    """The point after one Newton step at γ, which is the point's own or smaller."""
    if gamma != point.gamma:
        extended = _extended_to(sub, point, gamma)
        found = _step_on_segments(sub, extended)
        if found is not None:
            return found
        point = _clipped(sub, extended)
    return line_search(sub, point, DenseSystem(sub, point).newton_step(point).direction(sub.rows))


def _extended_to(sub: Subproblem, point: Point, gamma: float) -> Point:
    """The point at a smaller γ with every row on the segment it is on, so that duals may leave their domain.

    The dual of a curved row is scaled and not computed from its score: in kink − z nothing is left of a distance as small as γ.
    """
    scale = point.gamma / gamma
    duals = np.where(point.second_derivatives > 0.0, point.duals * scale, point.duals)
    return evaluate_from_duals(
        sub, point.weights, point.intercept, gamma, point.scores, duals, point.second_derivatives * scale
    )


def _clipped(sub: Subproblem, extended: Point) -> Point:
    """The point with duals inside their domain; a row that leaves its curved segment is on a linear one."""
    duals = sub.loss.clip(extended.duals, sub.labels)
    second = np.where(duals == extended.duals, extended.second_derivatives, 0.0)
    return evaluate_from_duals(
        sub, extended.weights, extended.intercept, extended.gamma, extended.scores, duals, second
    )


def _step_on_segments(sub: Subproblem, extended: Point) -> Point | None:
    """The point after the step of the model in which rows stay on their segments; None where it leads uphill."""
    weights, shift = DenseSystem(sub, extended).solve(extended.gradient, extended.gradient_intercept)
    score_change = score_direction(sub.rows, weights, shift)
    duals = sub.loss.clip(extended.duals, sub.labels)
    linear = float(sub.linear_term @ weights) + sub.linear_term_intercept * shift
    slope = sub.strength * float(extended.weights @ weights) - linear - sub.dot(duals, score_change)
    if not slope < 0.0:
        return None
    return line_search(sub, extended, Direction(weights, shift, score_change, slope))


def step_towards(all_rows: Subproblem, start: Point, sub: Subproblem, end: Point, end_scores: Vector) -> Point:
    """The best point on all rows on the segment from `start`, on all rows, to `end`, found on a working set at its γ.

    `end_scores` are the scores of all rows at the end.
    """
    weights, shift = end.weights - start.weights, end.intercept - start.intercept
    score_change = end_scores - start.scores
    if shift:
        score_change += shift
    duals, second = derivatives(all_rows.smoothed(end.gamma), all_rows.labels, start.scores, start.intercept)
    slope = min(all_rows.strength * float(start.weights @ weights) - all_rows.dot(duals, score_change), 0.0)
    begin = Point(
        start.weights, start.intercept, end.gamma, start.scores, duals, second, start.gradient, start.gradient_intercept
    )
    direction = Direction(weights, shift, score_change, slope)
    found = search(all_rows, begin, direction)
    if found.step_size == 1.0:
        # The working set knows its duals without the cancellation in kink − z.
        found.duals[sub.row_numbers] = end.duals
    return step(all_rows, begin, direction, found)
