"""A point (w, b) with everything that the rows of a subproblem say about it under the loss smoothed by γ.

duals = −φ_γ′(z) ,   gradient = λw − linear_term − Σ q_i α_i x_i ,   Hessian = λ·I + Σ q_i φ_γ″ x_i x_iᵀ
gap   = Σ q_i (φ(z_i) + φ*(−α_i) + α_i z_i)  +  ‖gradient‖²/(2λ)        (fenchel_gap + gradient_gap)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualgap.data.rows import Rows
from dualgap.linalg.parallel import parallel_map
from dualgap.linalg.partition import partition, run_slices
from dualgap.losses import Loss
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.subproblem import Subproblem

Combine = Callable[[Rows, Vector], Vector]
"""Xᵀ c: `Rows.combination`, or a compiled form of it."""


@dataclass(frozen=True)
class Point:
    """Weights and intercept, and the scores, derivatives and gradient there; γ is 0 for a smooth loss."""

    weights: Vector
    intercept: float
    gamma: float
    scores: Vector
    """⟨x_i, w⟩, without b."""
    duals: Vector
    second_derivatives: Vector
    """φ_γ″ of each row."""
    gradient: Vector
    gradient_intercept: float
    """0 where b is not free."""


def evaluate(sub: Subproblem, weights: Vector, intercept: float, gamma: float) -> Point:
    """The point at given weights, in one pass over the rows."""
    loss = sub.smoothed(gamma)
    duals, second = np.empty(sub.count), np.empty(sub.count)

    def weighted_duals(part: slice, scores: Vector) -> Vector:
        duals[part], second[part] = loss.derivatives(scores + intercept, sub.labels[part])
        return sub.normalized_weights[part] * duals[part]

    scores, combination = sub.rows.through(weights, weighted_duals)
    return _with_gradient(sub, weights, intercept, gamma, scores, duals, second, combination)


def evaluate_from_scores(sub: Subproblem, weights: Vector, intercept: float, scores: Vector, gamma: float) -> Point:
    """The point at given weights whose scores ⟨x_i, w⟩ are known."""
    duals, second = derivatives(sub.smoothed(gamma), sub.labels, scores, intercept)
    return evaluate_from_duals(sub, weights, intercept, gamma, scores, duals, second)


def evaluate_from_duals(
    sub: Subproblem, weights: Vector, intercept: float, gamma: float, scores: Vector, duals: Vector, second: Vector,
    combine: Combine = Rows.combination,
) -> Point:  # fmt: skip
    """The point at given weights whose scores, duals and second derivatives are known."""
    combination = combine(sub.rows, sub.normalized_weights * duals)
    return _with_gradient(sub, weights, intercept, gamma, scores, duals, second, combination)


def _with_gradient(
    sub: Subproblem, weights: Vector, intercept: float, gamma: float, scores: Vector, duals: Vector, second: Vector,
    combination: Vector,
) -> Point:  # fmt: skip
    gradient = sub.strength * weights - sub.linear_term - combination
    gradient_intercept = -sub.linear_term_intercept - sub.mean(duals) if sub.intercept else 0.0
    return Point(weights, intercept, gamma, scores, duals, second, gradient, gradient_intercept)


def derivatives(
    loss: Loss,
    labels: Vector,
    scores: Vector,
    intercept: float,
    step_size: float = 0.0,
    direction: Vector | None = None,
) -> tuple[Vector, Vector]:
    """−φ′ and φ″ of each row at scores + b + step_size·direction; temporaries have the size of a slice."""

    def at(c: slice) -> tuple[Vector, Vector]:
        z = scores[c] + intercept
        if direction is not None:
            z += step_size * direction[c]
        return loss.derivatives(z, labels[c])

    slices = partition(scores.size)
    if len(slices) == 1:
        return at(slices[0])
    duals, second = np.empty(scores.size), np.empty(scores.size)

    def fill(c: slice) -> None:
        duals[c], second[c] = at(c)

    run_slices(fill, slices)
    return duals, second


def fenchel_gap(sub: Subproblem, point: Point) -> float:
    """Σ q_i (φ(z_i) + φ*(−α_i) + α_i z_i) of the loss itself; 0 for a smooth loss, whose duals are those of the scores."""
    if not point.gamma:
        return 0.0
    loss = sub.loss

    def terms(c: slice) -> float:
        z, duals, labels = point.scores[c] + point.intercept, point.duals[c], sub.labels[c]
        return sub.mean(loss.value(z, labels) - loss.negative_conjugate(duals, labels) + duals * z, c)

    return max(sum(parallel_map(terms, partition(point.duals.size))), 0.0)


def gradient_gap(sub: Subproblem, gradient: Vector, gradient_intercept: float, intercept: float) -> float:
    """‖gradient‖²/(2λ), and for a free intercept about what it costs to make Σ q_i α_i zero."""
    gap = float(gradient @ gradient) / (2.0 * sub.strength)
    if sub.intercept:
        gap += abs(gradient_intercept) * (1.0 + abs(intercept))
    return gap


def primal(sub: Subproblem, point: Point) -> float:
    """F at the point, which is P on all rows and on a subsample; a working set's linear term is left out."""
    loss, labels = sub.loss, sub.labels

    def total(c: slice) -> float:
        return sub.mean(loss.value(point.scores[c] + point.intercept, labels[c]), c)

    values = sum(parallel_map(total, partition(sub.count)))
    return values + 0.5 * sub.strength * float(point.weights @ point.weights)
