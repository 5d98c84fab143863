"""A point that is judged: weights, intercept and their scores, and what each kind of problem says about duals there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import UNDERFLOW, gamma, norm_bound
from dualgap.certificate.verdict import Certificate
from dualgap.linalg.partition import SETTINGS, partition
from dualgap.problem import BaseProblem, Intercept

Vector = NDArray[np.float64]
AProblem = TypeVar("AProblem", bound=BaseProblem)


class Facts(NamedTuple):
    """Numbers of a problem that the bounds need."""

    row_norm: float
    """An upper bound on √⟨‖x‖²⟩."""
    matrix_norm: float
    """An upper bound on the norm of X, and so on that of every row."""
    row_length: int
    """The largest number of values stored for one row."""
    score_operations: int
    """Operations that a product passes through in a score."""
    sum_operations: int
    """Operations that a row's term passes through in a mean over the rows."""
    dual_operations: int
    """Operations that a product passes through in w(α)."""


def facts_of(problem: BaseProblem) -> Facts:
    """The facts of a problem; none of them takes a pass over the data."""
    rows = problem.rows
    # Σ s_i passes through n operations; S = n without weights.
    weight_operations = 0 if problem.sample_weight is None else rows.count
    partitions = (problem.formula_slices(), partition(rows.count, SETTINGS.certificate_values))
    slice_operations = max(max(int(c.stop - c.start) for c in slices) + len(slices) for slices in partitions)
    sum_operations = slice_operations + 2 + weight_operations
    mean_square = problem.mean_squared_norm * (1.0 + gamma(rows.count + rows.dimension + sum_operations))
    return Facts(
        norm_bound(mean_square, rows.longest),
        norm_bound(rows.squared_size, rows.stored),
        rows.longest,
        rows.score_operations,
        sum_operations,
        rows.combination_operations(prod(problem.weights_shape[1:])) + weight_operations + 8,
    )


class ScoreErrors(NamedTuple):
    """How far the computed scores can be from ⟨x_i, w⟩ + b."""

    largest: float
    """For every row."""
    root_mean_square: float


def score_errors(facts: Facts, weight_norm: float, intercept_size: float) -> ScoreErrors:
    """e_i ≤ γ_{k+3}(‖x_i‖‖w‖ + |b|) for k operations in a score; zero weights give b exactly."""
    if weight_norm == 0.0:
        return ScoreErrors(0.0, 0.0)
    relative, lost = gamma(facts.score_operations + 3), facts.row_length * UNDERFLOW
    return ScoreErrors(
        relative * (weight_norm * facts.matrix_norm + intercept_size) + lost,
        relative * (weight_norm * facts.row_norm + intercept_size) + lost,
    )


class Evaluation(NamedTuple):
    """A certificate, and g*(v) as computed."""

    certificate: Certificate
    dual_penalty: float


class Point(ABC, Generic[AProblem]):
    """Weights and intercept of a problem, and the scores they give, as computed."""

    def __init__(self, problem: AProblem, weights: Vector, intercept: Intercept, scores: Vector) -> None:
        self.problem, self.weights, self.intercept, self.scores = problem, weights, intercept, scores
        self.facts = facts_of(problem)

    @staticmethod
    @abstractmethod
    def make_feasible(problem: AProblem, duals: Vector) -> None:
        """In place: empty rows go to their optimum, and with a free intercept Σ s_i α_i becomes zero."""

    @abstractmethod
    def evaluate(self, duals: Vector, combination: Vector) -> Evaluation:
        """The certificate of the point and feasible duals; `combination` is x(α) as computed."""

    @abstractmethod
    def evaluate_precisely(self, duals: Vector) -> Certificate | None:
        """The same with every sum that can cancel in double-double arithmetic; None where a product leaves float64's range."""

    @abstractmethod
    def best_factor(self, duals: Vector, combination: Vector, dual_penalty: float, limit: float) -> float:
        """About the t ≤ limit that maximizes D(tα); `dual_penalty` is g*(v). D bounds P* at any t, so a few digits are enough."""

    def largest_factor(self, duals: Vector, combination: Vector) -> float:
        """A t up to which t·x(α) is in the domain of r* for sure; infinite where the domain is everything."""
        return float("inf")

    @abstractmethod
    def scaled(self, duals: Vector, factor: float) -> Vector:
        """The duals times a factor, inside their domain."""
