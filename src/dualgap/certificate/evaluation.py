"""The certificate of one point and one vector of duals: sums over the rows in float64, and bounds on their rounding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import (
    LOSS_OPERATIONS,
    SLACK,
    UNDERFLOW,
    Model,
    Precision,
    RowSums,
    certificate,
    gamma,
    norm_bound,
)
from dualgap.certificate.verdict import Certificate
from dualgap.linalg.double_double import UNIT
from dualgap.linalg.parallel import parallel_map
from dualgap.problem import Problem, root_of_squares, total

Vector = NDArray[np.float64]


# The terms of this part of the rows are computed at once, within these counts: a dozen vectors of them are small beside the
# data, and longer ones take less time in calls.
PART_AT_ONCE, FEWEST_AT_ONCE, MOST_AT_ONCE = 1 / 16, 1 << 13, 1 << 15
# Weights with a norm below this may be all zero.
ALMOST_ZERO = 1e-100


class Facts(NamedTuple):
    """What the bounds need to know of a problem."""

    row_norm: float
    """An upper bound on √⟨‖x‖²⟩."""
    matrix_norm: float
    """An upper bound on the norm of X, and so on that of every row."""
    row_length: int
    """The most values that are stored for one row."""
    sum_operations: int
    """Operations that a row's term passes through in a mean over the rows."""
    dual_operations: int
    """Operations that a product passes through in w(α)."""
    label: float
    """An upper bound on √⟨y²⟩."""


class Point(NamedTuple):
    """The weights and intercept that are judged, and the scores they give, as computed."""

    problem: Problem
    weights: Vector
    intercept: float
    scores: Vector
    facts: Facts


def facts_of(problem: Problem) -> Facts:
    """What the bounds need to know of a problem; nothing in it takes a pass over the data."""
    rows, chunks = problem.rows, problem.chunks()
    # Σ s_i passes through n operations; S = n without weights.
    of_weights = 0 if problem.sample_weight is None else rows.count
    sum_operations = max(int(c.stop - c.start) for c in chunks) + len(chunks) + 2 + of_weights
    mean_square = problem.mean_squared_norm * (1.0 + gamma(rows.count + rows.dimension + sum_operations))
    return Facts(
        norm_bound(mean_square, rows.longest),
        norm_bound(rows.squared_size, rows.stored),
        rows.longest,
        sum_operations,
        rows.combination_operations + of_weights + 8,
        1.0 if problem.classes is not None else problem.label_size * (1.0 + gamma(sum_operations)),
    )


class Evaluation(NamedTuple):
    """A certificate, and g(w(α)) as computed."""

    certificate: Certificate
    dual_penalty: float


def evaluate(point: Point, duals: Vector, dual_weights: Vector) -> Evaluation:
    """The certificate of a point and feasible duals; `dual_weights` is w(α) as computed."""
    problem, scores, operations = point.problem, point.scores, point.facts.sum_operations
    errors = score_errors(point)
    sums = row_sums(
        point,
        duals,
        lambda c: problem.loss.argument(scores[c], problem.labels[c]),
        errors.largest,
        errors.root_mean_square,
    )
    precision = Precision(
        errors.root_mean_square,
        dual_weights_error(point, sums.dual),
        operations,
        2.0 * gamma(operations + 12) if problem.intercept and sums.dual else 0.0,
    )
    dual_penalty = problem.penalty(dual_weights)
    found = certificate(
        model_of(point),
        sums,
        precision,
        problem.penalty(point.weights),
        dual_penalty,
        root_of_squares(None, point.weights - dual_weights),
    )
    return Evaluation(found, dual_penalty)


class ScoreErrors(NamedTuple):
    """How far the computed scores can be from ⟨x_i, w⟩ + b."""

    largest: float
    """For every row."""
    root_mean_square: float


def score_errors(point: Point) -> ScoreErrors:
    """e_i ≤ γ_{k+3}(‖x_i‖‖w‖ + |b|) for k stored values in a row; zero weights give b exactly."""
    facts, size = point.facts, abs(point.intercept)
    weight_norm = norm_bound(float(point.weights @ point.weights), point.weights.size)
    if weight_norm < ALMOST_ZERO and not point.weights.any():
        return ScoreErrors(0.0, 0.0)
    relative, lost = gamma(facts.row_length + 3), facts.row_length * UNDERFLOW
    return ScoreErrors(
        relative * (weight_norm * facts.matrix_norm + size) + lost,
        relative * (weight_norm * facts.row_norm + size) + lost,
    )


def dual_weights_error(point: Point, dual: float) -> float:
    """‖ŵ(α) − w(α)‖ ≤ γ_K ⟨|α|‖x‖⟩/λ ≤ γ_K √⟨α²⟩√⟨‖x‖²⟩/λ, for K operations a product passes through."""
    if dual == 0.0:
        return 0.0
    problem, facts = point.problem, point.facts
    lost = problem.rows.count * UNDERFLOW * (sqrt(problem.rows.dimension) + facts.matrix_norm) / problem.lambda_n
    return gamma(facts.dual_operations) * dual * facts.row_norm / problem.strength + lost


def slices(chunk: slice, count: int) -> list[slice]:
    """Shorter slices that cover a chunk of `count` rows."""
    height = min(max(int(PART_AT_ONCE * count), FEWEST_AT_ONCE), MOST_AT_ONCE)
    return [slice(k, min(k + height, chunk.stop)) for k in range(chunk.start, chunk.stop, height)]


def model_of(point: Point) -> Model:
    """What the bounds need to know of the problem and of the point."""
    problem = point.problem
    return Model(
        problem.strength,
        point.facts.row_norm,
        point.facts.label,
        1e-12 * problem.baseline,
        problem.loss.has_product_form,
        problem.loss.argument_scale,
        problem.rows.dimension,
        abs(point.intercept),
    )


def row_sums(
    point: Point,
    duals: Vector,
    argument: Callable[[slice], Vector],
    reach: float | Vector,
    score_error: float | None = None,
) -> RowSums:
    """Means over the rows at given arguments of the loss and duals; each argument may be off by `reach`.

    Where the score errors are known by their root mean square alone, ⟨e·rate⟩ ≤ √⟨e²⟩√⟨rate²⟩.
    """
    problem, operations = point.problem, point.facts.sum_operations
    loss, labels = problem.loss, problem.labels

    def totals(c: slice) -> tuple[NDArray[np.float64], list[float]]:
        t, alpha = argument(c), duals[c]
        own = reach if isinstance(reach, float) else reach[c]
        values, conjugates, gaps, rates = loss.terms(t, alpha, labels[c], own)
        s = None if problem.sample_weight is None else problem.sample_weight[c]
        cost = 0.0 if isinstance(own, float) else total(s, own * rates)
        linear = [total(s, values), total(s, conjugates), total(s, np.abs(conjugates, out=conjugates)), total(s, gaps)]
        return np.array([*linear, cost]), [root_of_squares(s, v) for v in (rates, alpha, t)]

    flat = list(
        chain.from_iterable(parallel_map(lambda c: [totals(s) for s in slices(c, labels.size)], problem.chunks()))
    )
    means = np.sum([linear for linear, _ in flat], axis=0) / problem.total_weight
    per_row = sqrt(1.0 + gamma(operations + 2)) * SLACK / sqrt(problem.total_weight)
    rate, dual, size = (hypot(*roots) * per_row for roots in zip(*(roots for _, roots in flat), strict=True))
    cost = float(means[4]) * (1.0 + gamma(operations + 2)) if score_error is None else rate * score_error
    # Rates are computed within LOSS_OPERATIONS·u of themselves and of the duals.
    cost *= 1.0 + 2 * LOSS_OPERATIONS * UNIT
    values, conjugates, sizes, gaps = map(float, means[:4])
    return RowSums(values, conjugates, sizes, gaps, cost, rate, dual, size, values, dual)
