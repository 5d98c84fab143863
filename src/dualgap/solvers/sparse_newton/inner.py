"""Newton steps on the columns of a working set, for a loss without kinks and a penalty with an L1 part.

A loss with kinks enters as φ_γ at scores that are shifted by −γ·α_c: its conjugate is φ* + γ(α − α_c)²/2, the proximal term of the
multipliers α_c. φ_γ(t) is a function of t = 1 − yz or y − z, and a shift of z by −γα_c moves t by γ times the dual in t's own sign.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from dualgap.data.rows import Rows
from dualgap.linalg import cholesky
from dualgap.linalg.gram import weighted_gram
from dualgap.losses import Loss
from dualgap.problem import Problem
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.systems import square_rows
from dualgap.solvers.sparse_newton.quadratic import Quadratic, minimize
from dualgap.solvers.sparse_newton.settings import SETTINGS

# A line search ends where the slope is at most 0.1 times the slope at the start, or after 30 trials.
SLOPE_PART, TRIALS = 0.1, 30


class Smooth(NamedTuple):
    """The loss of the inner problem, and by how much it shifts the scores of each row."""

    loss: Loss
    shift: Vector | None

    def derivatives(self, problem: Problem, scores: Vector) -> tuple[Vector, Vector]:
        """−φ′ and φ″ of each row."""
        second = np.empty_like(scores)

        def part(c: slice) -> Vector:
            duals, second[c] = self.loss.derivatives(self._shifted(scores, c), problem.labels[c])
            return duals

        return problem.each(part), second

    def duals(self, problem: Problem, scores: Vector) -> Vector:
        """−φ′ of each row."""
        return problem.each(lambda c: self.loss.dual_candidate(self._shifted(scores, c), problem.labels[c]))

    def _shifted(self, scores: Vector, c: slice) -> Vector:
        return scores[c] if self.shift is None else scores[c] - self.shift[c]


class Point(NamedTuple):
    """Weights of the working set's columns, the intercept, and the scores of all rows."""

    weights: Vector
    intercept: float
    scores: Vector


def newton_steps(problem: Problem, rows: Rows, smooth: Smooth, point: Point, target: float, primal: float) -> Point:
    """The point after Newton steps until the inner gap is about `target`; `rows` have the columns of the working set alone.

    `primal` is about P: duals that have to be scaled by 1 − q to be feasible lose about that part of it.
    """
    penalty, strength = problem.penalty, problem.strength
    thresholds = np.full(rows.dimension, strength * penalty.l1_ratio)
    ridges = np.full(rows.dimension, strength * penalty.l2_ratio)
    if problem.intercept:
        thresholds, ridges = np.append(thresholds, 0.0), np.append(ridges, 0.0)
    floor = 0.0
    for _ in range(SETTINGS.inner_steps):
        duals, second = smooth.derivatives(problem, point.scores)
        weighted = problem.weighted(duals) / problem.total_weight
        gradient = -rows.combination(weighted)
        unknowns = point.weights
        if problem.intercept:
            gradient = np.append(gradient, -weighted.sum())
            unknowns = np.append(unknowns, point.intercept)
        largest = _violation(gradient, unknowns, thresholds, ridges)
        imbalance = abs(float(weighted.sum())) / float(np.abs(weighted).sum() or 1.0) if problem.intercept else 0.0
        x = gradient[: rows.dimension] / -strength
        estimated = strength * penalty_gap(problem, point.weights, x) + (overshoot(problem, x) + imbalance) * primal
        if largest == 0.0 or estimated <= target:
            break
        floor = _floor_for(floor, smooth.loss, second)
        curved = np.maximum(second, floor * smooth.loss.smoothness) if floor else second
        model = Quadratic(_hessian(problem, rows, curved), thresholds, ridges)
        proposal = minimize(model, gradient.copy(), unknowns, SETTINGS.quadratic_part * largest)
        moved, size = _line_search(problem, rows, smooth, point, proposal - unknowns, gradient)
        if moved is not None:
            point = moved
        elif floor >= 1.0 or not isfinite(smooth.loss.smoothness):
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


def penalty_gap(problem: Problem, weights: Vector, combination: Vector) -> float:
    """r(w) + r*(x) − ⟨w, x⟩, as if x were inside the domain of r*."""
    parts = problem.penalty.gap(weights, combination)
    return parts.linear + 0.5 * problem.penalty.l2_ratio * float(parts.difference @ parts.difference)


def overshoot(problem: Problem, combination: Vector) -> float:
    """The part of the duals that has to go for x(α) to be in the domain of r*."""
    if problem.penalty.has_dual_weights:
        return 0.0
    return max(1.0 - 1.0 / max(float(np.abs(combination).max(initial=0.0)), 1.0), 0.0)


def _violation(gradient: Vector, unknowns: Vector, thresholds: Vector, ridges: Vector) -> float:
    """How far the coordinate that is farthest from its optimality condition is from it."""
    slope = gradient + ridges * unknowns
    at_zero = np.maximum(np.abs(slope) - thresholds, 0.0)
    off = np.where(unknowns == 0.0, at_zero, np.abs(slope + thresholds * np.sign(unknowns)))
    return float(off.max(initial=0.0))


def _hessian(problem: Problem, rows: Rows, second: Vector) -> Vector:
    """Σ (s_i/S)φ_i″ x_i x_iᵀ, bordered where the intercept is free."""
    hessian_weights = problem.weighted(second) / problem.total_weight
    hessian = weighted_gram(rows, hessian_weights, square_rows(rows))
    if problem.intercept:
        border = rows.combination(hessian_weights)
        hessian = np.block([[hessian, border[:, None]], [border, float(hessian_weights.sum())]])
    own = cholesky.diagonal(hessian)
    own[:] += SETTINGS.damping * float(own.mean()) + np.finfo(np.float64).tiny
    return np.ascontiguousarray(hessian)


def _line_search(
    problem: Problem, rows: Rows, smooth: Smooth, point: Point, step: Vector, gradient: Vector
) -> tuple[Point | None, float]:
    """The point where the slope along a step is about zero, and the step size, at most 1; None where a step leads nowhere."""
    penalty, strength = problem.penalty, problem.strength
    direction = step[: rows.dimension]
    shift = float(step[-1]) if problem.intercept else 0.0
    used = np.flatnonzero(direction)
    w, d = point.weights[used], direction[used]
    score_direction = rows.scores(direction)
    score_direction += shift

    def slope_of(t: float, loss_slope: float) -> float:
        """The slope of P from the left: a weight that becomes zero at t counts as not there yet."""
        at = w + t * d
        sign = (
            np.where(at == 0.0, -np.sign(d), np.sign(at)) if t > 0.0 else np.where(at == 0.0, np.sign(d), np.sign(at))
        )
        return loss_slope + strength * float((penalty.l1_ratio * sign + penalty.l2_ratio * at) @ d)

    start = slope_of(0.0, float(gradient @ step))
    if not (start < 0.0 and np.isfinite(score_direction).all()):
        return None, 0.0
    low, slope_low, high, slope_high = 0.0, start, np.inf, np.inf
    rise = float(score_direction.max())
    t = 1.0
    if isfinite(smooth.loss.largest_score_step) and rise > smooth.loss.largest_score_step:
        t = smooth.loss.largest_score_step / rise
    whole = t
    for trial in range(TRIALS):
        scores = point.scores + t * score_direction
        duals = smooth.duals(problem, scores)
        slope = slope_of(t, -problem.mean(duals * score_direction))
        if (slope <= 0.0 and t == whole) or abs(slope) <= SLOPE_PART * abs(start):
            break
        if slope < 0.0:
            low, slope_low = t, slope
        else:
            high, slope_high = t, slope
        # The secant is exact on a parabola; the middle always halves the bracket.
        secant = low + (high - low) * slope_low / (slope_low - slope_high)
        t = secant if trial % 2 == 0 and low < secant < high else 0.5 * (low + high)
    if t == 1.0:
        weights = point.weights + direction
        weights[used] = np.where(w == -d, 0.0, w + d)
    else:
        weights = point.weights + t * direction
    return Point(weights, point.intercept + t * shift, point.scores + t * score_direction), t
