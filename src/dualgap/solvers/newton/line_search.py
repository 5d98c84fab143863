"""The line search: the step size t that about minimizes F along a direction, from slopes alone, on stored scores.

The slope of F at t is λ⟨w + t·d, d⟩ − ⟨linear_term, d⟩ − Σ q_i α_i(t) ⟨x_i, d⟩; each trial costs the derivatives of the rows and
no product with them.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.linalg.line_search import SLOPE_REDUCTION, bracket, is_lower, next_trial
from dualgap.linalg.root_finding import MAX_STEPS
from dualgap.losses.base import Loss, QuadraticFamily
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.point import Combine, Point, derivatives, evaluate_from_duals
from dualgap.solvers.newton.subproblem import Subproblem


class Step(NamedTuple):
    """A step in (w, b), and the slope of F along it at its beginning."""

    weights: Vector
    intercept: float
    slope: float

    def direction(self, rows: Rows) -> Direction:
        """The step with its scores."""
        return Direction(self.weights, self.intercept, score_direction(rows, self.weights, self.intercept), self.slope)


class Direction(NamedTuple):
    """A direction in (w, b), how the scores change along it, and the slope of F along it at t = 0."""

    weights: Vector
    intercept: float
    scores: Vector
    """⟨x_i, direction⟩ plus the direction's part in b."""
    slope: float


class Search(NamedTuple):
    """What a line search ended with: the step size, and the derivatives of the rows there."""

    step_size: float
    duals: Vector
    second_derivatives: Vector


def score_direction(rows: Rows, weights: Vector, intercept: float) -> Vector:
    """How the scores change along a direction."""
    out = rows.scores(weights)
    if intercept:
        out += intercept
    return out


def line_search(sub: Subproblem, point: Point, direction: Direction, combine: Combine = Rows.combination) -> Point:
    """The point at the step size that about minimizes F along a direction."""
    return step(sub, point, direction, search(sub, point, direction), combine)


def step(
    sub: Subproblem, point: Point, direction: Direction, found: Search, combine: Combine = Rows.combination
) -> Point:
    """The point after a step of the size found."""
    t, shift = found.step_size, direction.intercept
    scores = point.scores + t * (direction.scores - shift if shift else direction.scores)
    weights, intercept = point.weights + t * direction.weights, point.intercept + t * shift
    return evaluate_from_duals(
        sub, weights, intercept, point.gamma, scores, found.duals, found.second_derivatives, combine
    )


def search(sub: Subproblem, point: Point, direction: Direction) -> Search:
    """The step size that about minimizes F along a direction, and the derivatives of the rows there."""
    loss, labels = sub.smoothed(point.gamma), sub.labels
    weights, shift, score_change, slope = direction
    constant = sub.strength * float(point.weights @ weights)
    constant -= float(sub.linear_term @ weights) + sub.linear_term_intercept * shift
    quadratic = sub.strength * float(weights @ weights)
    tolerance = SLOPE_REDUCTION * abs(slope)
    has_corners = isinstance(loss, QuadraticFamily)
    curved = np.flatnonzero(point.second_derivatives) if point.gamma else None
    t, known = _first_trial(loss, score_change), bracket(slope)
    for trial in range(MAX_STEPS):
        duals, second = derivatives(loss, labels, point.scores, point.intercept, t, score_change)
        if curved is not None:
            _carry_curved(sub, point, t, score_change, curved, duals, second)
        slope_here = constant + t * quadratic - sub.dot(score_change, duals)
        if abs(slope_here) <= tolerance and has_corners:
            break
        slope_derivative = quadratic + sub.dot(score_change * score_change, second)
        if abs(slope_here) <= tolerance and is_lower(known, t, slope_here, slope_derivative):
            break
        known, proposal = next_trial(known, t, slope_here, slope_derivative, not has_corners)
        if isnan(proposal) or trial + 1 == MAX_STEPS:
            if not has_corners and slope_here > tolerance:
                # No step size with a small slope was found; the last one whose slope is negative lowers F for sure.
                t = known.low
                duals, second = derivatives(loss, labels, point.scores, point.intercept, t, score_change)
            break
        t = proposal
    return Search(t, duals, second)


def _first_trial(loss: Loss, score_change: Vector) -> float:
    """A full step, or a shorter one that raises no score by more than the loss allows."""
    steepest = float(score_change.max(initial=0.0)) if isfinite(loss.largest_score_step) else 0.0
    return min(1.0, loss.largest_score_step / steepest) if steepest > 0.0 else 1.0


def _carry_curved(
    sub: Subproblem, point: Point, t: float, score_change: Vector, curved: NDArray[Any], duals: Vector, second: Vector
) -> None:
    """In place: derivatives of the rows that are curved at t = 0, from their duals there and not from their scores.

    On the curved segment the dual is (kink − z)/γ, in which nothing is left of a distance as small as γ; its change along the
    direction has no such cancellation.
    """
    own, own_second = point.duals[curved], point.second_derivatives[curved]
    reached = own - own_second * (t * score_change[curved])
    if len(sub.loss.kinks(np.zeros(1))) > 1:
        # Across the flat segment between two kinks lies another curved segment, which only the score tells.
        same = own * reached > 0.0
        curved, own_second, reached = curved[same], own_second[same], reached[same]
    inside = sub.loss.clip(reached, sub.labels[curved])
    duals[curved], second[curved] = inside, np.where(inside == reached, own_second, 0.0)
