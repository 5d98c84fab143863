"""The inner problem: a loss without kinks plus the penalty, on the columns of a working set.

A loss with kinks enters as φ_γ at scores that are shifted by −γ·α_c: its conjugate is φ* + γ(α − α_c)²/2, the proximal term of the
multipliers α_c. φ_γ(t) is a function of t = 1 − yz or y − z, and a shift of z by −γα_c moves t by γ times the dual in t's own sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.losses import Loss
from dualgap.problem import Problem
from dualgap.solvers.base import Vector
from dualgap.solvers.sparse_newton.working_set import WorkingSet


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


class Inner(NamedTuple):
    """The inner problem: the smooth loss plus the penalty, on the columns of the working set."""

    problem: Problem
    working_set: WorkingSet
    smooth: Smooth

    @property
    def threshold(self) -> float:
        """λρ."""
        return self.problem.strength * self.problem.penalty.l1_ratio

    @property
    def ridge(self) -> float:
        """λ(1 − ρ)."""
        return self.problem.strength * self.problem.penalty.l2_ratio


class InnerGap(NamedTuple):
    """The gap of a point of an inner problem and of the duals that it gives, in its two parts."""

    rows: float
    """(1/S) Σ s(φ + φ* + αz) with the problem's own loss: what kinks leave, and zero for a smooth loss."""
    columns: float
    """What is lost because the point does not minimize the inner problem."""


def inner_gap(problem: Problem, point: Point, duals: Vector, combination: Vector, primal: float) -> InnerGap:
    """The gap of weights and duals, with x(α) of the columns of these weights.

    `primal` is about P: duals that have to be scaled by 1 − q to be feasible lose about that part of it.
    """
    q = overshoot(problem, combination)
    if problem.intercept:
        weighted = problem.weighted(duals)
        q += abs(float(weighted.sum())) / float(np.abs(weighted).sum() or 1.0)
    columns = problem.strength * penalty_gap(problem, point.weights, combination) + q * primal
    if not problem.loss.has_kink:
        return InnerGap(0.0, columns)
    loss, labels, scores = problem.loss, problem.labels, point.scores

    def row_gaps(c: slice) -> Vector:
        values, conjugates = loss.value(scores[c], labels[c]), loss.negative_conjugate(duals[c], labels[c])
        return values - conjugates + duals[c] * scores[c]

    return InnerGap(max(problem.mean_of(row_gaps), 0.0), columns)


def penalty_gap(problem: Problem, weights: Vector, combination: Vector) -> float:
    """r(w) + r*(x) − ⟨w, x⟩, as if x were inside the domain of r*."""
    parts = problem.penalty.gap(weights, combination)
    return parts.linear + 0.5 * problem.penalty.l2_ratio * float(parts.difference @ parts.difference)


def overshoot(problem: Problem, combination: Vector) -> float:
    """The part of the duals that has to go for x(α) to be in the domain of r*."""
    if problem.penalty.has_dual_weights:
        return 0.0
    return max(1.0 - 1.0 / max(float(np.abs(combination).max(initial=0.0)), 1.0), 0.0)
