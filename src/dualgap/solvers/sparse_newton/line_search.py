"""The line search of the sparse Newton solver: a step size at most 1 that lowers the loss plus the penalty, from slopes alone."""

from __future__ import annotations

from math import isfinite, isnan
from typing import NamedTuple

import numpy as np

from dualgap.linalg.line_search import bracket, is_lower, next_trial
from dualgap.solvers.base import Vector
from dualgap.solvers.sparse_newton.inner import Inner, Point
from dualgap.solvers.sparse_newton.settings import SETTINGS


class Step(NamedTuple):
    """A step in the weights of the working set and in b, and the slope of loss and penalty along it at its beginning."""

    weights: Vector
    intercept: float
    slope: float


def line_search(inner: Inner, point: Point, step: Step) -> tuple[Point, float]:
    """The point after a part of a step, and that part; the same point and 0 where the step leads nowhere.

    The function is convex, so a negative slope at t shows that it is lower there than at 0. At a kink of the penalty the slope
    jumps over zero: the search then ends with the lower end of its bracket.
    """
    direction, shift, start = step
    score_direction = inner.working_set.scores(direction)
    score_direction += shift
    used = np.flatnonzero(direction)
    w, d = point.weights[used], direction[used]
    if not (start < 0.0 and np.isfinite(score_direction).all()):
        return point, 0.0
    quadratic = inner.problem.strength * inner.problem.penalty.l2_ratio * float(d @ d)
    t = whole = _first_trial(inner, score_direction)
    known = bracket(start)
    for _ in range(SETTINGS.trials):
        duals, second = inner.smooth.derivatives(inner.problem, point.scores + t * score_direction)
        slope = penalty_slope(inner, w, d, t) - inner.problem.mean(duals * score_direction)
        is_flat = abs(slope) <= SETTINGS.slope_part * abs(start) and is_lower(known, t, slope, 0.0)
        if is_flat or (slope <= 0.0 and t == whole):
            known = known._replace(low=t)
            break
        derivative = quadratic + inner.problem.mean(second * score_direction * score_direction)
        known, t = next_trial(known, t, slope, derivative, is_smooth=False)
        if isnan(t) or known.high - known.low <= SETTINGS.slope_part * known.low:
            break
    if known.low == 0.0:
        return point, 0.0
    weights = point.weights + known.low * direction
    if known.low == 1.0:
        weights[used[w == -d]] = 0.0
    moved = Point(weights, point.intercept + known.low * shift, point.scores + known.low * score_direction)
    return moved, known.low


def penalty_slope(inner: Inner, w: Vector, d: Vector, t: float) -> float:
    """The slope of the penalty at w + t·d: from the right at 0, and from the left elsewhere."""
    at = w + t * d
    sign = np.where(at == 0.0, -np.sign(d) if t > 0.0 else np.sign(d), np.sign(at))
    penalty = inner.problem.penalty
    return inner.problem.strength * float((penalty.l1_ratio * sign + penalty.l2_ratio * at) @ d)


def _first_trial(inner: Inner, score_direction: Vector) -> float:
    """A full step, or a shorter one that raises no score by more than the loss allows."""
    largest, rise = inner.smooth.loss.largest_score_step, float(score_direction.max())
    return largest / rise if isfinite(largest) and rise > largest else 1.0
