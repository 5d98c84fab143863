"""A subproblem: some rows of a problem with their labels and normalized weights, and a linear term for the rows left out.

    F(w, b) = Σ q_i φ(z_i) + (λ/2)‖w‖² − ⟨linear_term, w⟩ − linear_term_intercept·b ,    z_i = ⟨x_i, w⟩ + b

All rows and a subsample have no linear term. In a working set the rows left out are those whose loss is linear near their
score: each adds the constant −q_i α_i x_i to the gradient, and the linear term is Σ q_i α_i x_i over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.losses import Loss
from dualgap.problem import EVERY, Problem
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.settings import Settings


@dataclass(frozen=True)
class Subproblem:
    """Rows, labels, normalized weights q_i = s_i/S and a linear term, with the loss, λ and whether b is free."""

    rows: Rows
    labels: Vector
    normalized_weights: Vector
    linear_term: Vector
    linear_term_intercept: float
    loss: Loss
    strength: float
    intercept: bool
    row_numbers: NDArray[Any] | None = None
    """Which rows of the problem these are; None for all of them."""

    @property
    def count(self) -> int:
        return self.rows.count

    def smoothed(self, gamma: float) -> Loss:
        """The loss smoothed by γ; the loss itself for γ = 0."""
        return self.loss.smoothed(gamma) if gamma else self.loss

    def mean(self, values: Vector, part: slice = EVERY) -> float:
        """Σ q_i v_i over a part of the rows."""
        weights = self.normalized_weights[part]
        # A vector of stride 0, one number that stands for all rows, is slow in BLAS.
        return float(weights @ values) if weights.strides[0] else float(values.sum()) * float(weights[0])

    def dot(self, values: Vector, others: Vector) -> float:
        """Σ q_i v_i u_i."""
        weights = self.normalized_weights
        return float((weights * values) @ others) if weights.strides[0] else float(values @ others) * float(weights[0])


def with_all_rows(problem: Problem) -> Subproblem:
    """All rows of a problem."""
    return _subproblem(problem, problem.rows, None, normalized_weights(problem, None))


def subsample(problem: Problem, interval: int) -> Subproblem:
    """Every k-th row, k the sampling interval, with weights that sum to 1."""
    numbers = np.arange(interval // 2, problem.rows.count, interval)
    weights = normalized_weights(problem, numbers)
    return _subproblem(problem, problem.rows.take(numbers), numbers, weights / float(weights.sum()))


def subsample_count(problem: Problem, interval: int) -> int:
    """How many rows a subsample has."""
    return len(range(interval // 2, problem.rows.count, interval))


def working_set(problem: Problem, numbers: NDArray[Any], duals: Vector, combination: Vector) -> Subproblem:
    """The given rows, with a linear term for the others; `combination` is Σ q_i α_i x_i over all rows of the problem."""
    rows, weights = problem.rows.take(numbers), normalized_weights(problem, numbers)
    weighted_duals = weights * duals[numbers]
    term = combination - rows.combination(weighted_duals)
    term_intercept = problem.mean(duals) - float(weighted_duals.sum())
    return _subproblem(problem, rows, numbers, weights, term, term_intercept)


def subsample_intervals(problem: Problem, settings: Settings) -> tuple[int, ...]:
    """Sampling intervals k of the subsamples to start on, the smallest subsample first; none where all rows are few."""
    count, dimension = problem.rows.count, problem.rows.dimension
    if not problem.loss.has_kink and count < settings.many_rows_per_column * dimension:
        return ()
    saving = count / max(settings.few_rows, settings.subsample_rows_per_column * dimension)
    if saving < settings.subsample_saving:
        return ()
    intervals, interval = [], min(saving, float(settings.subsample_growth))
    while interval <= saving:
        intervals.append(int(interval))
        interval *= settings.subsample_growth
    return tuple(intervals[::-1])


def normalized_weights(problem: Problem, numbers: NDArray[Any] | None) -> Vector:
    """s_i/S for all rows or for some; a view of stride 0 without sample weights."""
    count = problem.rows.count if numbers is None else numbers.size
    if problem.sample_weight is None:
        weights: Vector = np.ndarray((count,), buffer=np.array([1.0 / problem.rows.count]), strides=(0,))
        weights.flags.writeable = False
        return weights
    return (problem.sample_weight if numbers is None else problem.sample_weight[numbers]) / problem.total_weight


def _subproblem(
    problem: Problem,
    rows: Rows,
    numbers: NDArray[Any] | None,
    weights: Vector,
    linear_term: Vector | None = None,
    linear_term_intercept: float = 0.0,
) -> Subproblem:
    labels = problem.labels if numbers is None else problem.labels[numbers]
    term = np.zeros(problem.rows.dimension) if linear_term is None else linear_term
    return Subproblem(
        rows, labels, weights, term, linear_term_intercept, problem.loss, problem.strength, problem.intercept, numbers
    )
