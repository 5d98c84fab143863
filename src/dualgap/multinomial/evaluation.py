"""The certificate of one point of the softmax model and one matrix of duals, in float64 and in double-double arithmetic."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate import Certificate
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
from dualgap.certificate.precise import PAIR_ERROR, dual_side, matrix_of, pair_scores, row_norms
from dualgap.linalg.double_double import Pair, pair_error, two_sum
from dualgap.losses.multinomial import Matrix, Vector, terms
from dualgap.multinomial.problem import MultinomialProblem
from dualgap.problem import root_of_squares


class Point(NamedTuple):
    """The weights and intercepts that are judged, and the scores they give, as computed."""

    problem: MultinomialProblem
    weights: Matrix
    intercept: Vector
    scores: Matrix


def evaluate(point: Point, duals: Matrix, dual_weights: Matrix) -> Certificate:
    """The certificate of a point and feasible duals; `dual_weights` is W(A) as computed."""
    problem, rows = point.problem, point.problem.rows
    weight_norm = _weight_norm(point)
    relative, lost = gamma(rows.longest + 3), rows.longest * UNDERFLOW
    size = float(np.abs(point.intercept).max())
    largest = root_mean_square = 0.0
    if weight_norm:
        largest = relative * (weight_norm * norm_bound(rows.squared_size, rows.stored) + size) + lost
        root_mean_square = relative * (weight_norm * _row_norm(problem) + size) + lost
    sums = _row_sums(problem, point.scores, duals, np.full(rows.count, largest), root_mean_square)
    operations = 3 * rows.count + _weight_operations(problem) + problem.class_count + 8
    underflow = rows.count * UNDERFLOW * (sqrt(rows.dimension) + sqrt(rows.squared_size)) / problem.lambda_n
    dual_error = gamma(operations) * sums.dual * _row_norm(problem) / problem.strength + underflow
    precision = Precision(
        root_mean_square,
        dual_error if sums.dual else 0.0,
        _sum_operations(problem),
        _infeasibility(problem, duals),
    )
    difference = point.weights - dual_weights
    return certificate(
        _model(point),
        sums,
        precision,
        problem.penalty(point.weights),
        problem.penalty(dual_weights),
        root_of_squares(None, difference.ravel()),
    )


def evaluate_precisely(point: Point, duals: Matrix) -> Certificate | None:
    """The same with every sum that can cancel in double-double arithmetic; None where a product leaves float64's range."""
    problem, rows = point.problem, point.problem.rows
    matrix, norms = matrix_of(rows), row_norms(rows)
    each = np.arange(rows.count)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        pairs = [
            pair_scores(matrix, np.ascontiguousarray(point.weights[:, j]), float(point.intercept[j]))
            for j in range(problem.class_count)
        ]
        high, low = np.stack([p.high for p in pairs], axis=1), np.stack([p.low for p in pairs], axis=1)
        # The loss depends on differences from the own class's score alone, and these are rounded only once.
        differences, error = two_sum(high, -high[each, problem.labels][:, None])
        differences += error + (low - low[each, problem.labels][:, None])
        size = 2.0 * norms * _weight_norm(point) + 2.0 * float(np.abs(point.intercept).max())
        errors = (pair_error(rows.longest) + PAIR_ERROR) * size + 2.0 * rows.longest * UNDERFLOW
        sums = _row_sums(problem, differences, duals, errors, None)
        sides = _dual_sides(point, matrix, duals, norms)
        distance = root_of_squares(None, np.concatenate([side.difference for side in sides]))
        penalty = sum(problem.penalty(side.weights[:, None]) for side in sides)
        precision = Precision(
            root_of_squares(problem.shares, errors) * SLACK,
            sqrt(sum(side.error**2 for side in sides)),
            _sum_operations(problem),
            _moving_part(problem, np.array([side.dual_sum for side in sides]) / problem.total_weight),
        )
        proven = certificate(_model(point), sums, precision, problem.penalty(point.weights), penalty, distance)
    if not (isfinite(proven.gap) and isfinite(proven.primal)):
        return None
    # P and D summed apart would cancel; their difference is known far better.
    dual = max(proven.primal - (proven.gap - proven.rounding), 0.0)
    return replace(proven, dual=dual, dual_error=proven.primal_error + proven.rounding)


def _dual_sides(point: Point, matrix: Any, duals: Matrix, norms: Vector) -> list[Any]:
    """W(A) and its difference from W, class by class; a row's own entry is minus the exact sum of the others."""
    problem = point.problem
    each = np.arange(problem.rows.count)
    others = -duals
    others[each, problem.labels] = 0.0
    own, rest = np.zeros(each.size), np.zeros(each.size)
    for j in range(problem.class_count):
        own, error = two_sum(own, others[:, j])
        rest += error
    sides = []
    for j in range(problem.class_count):
        is_own = problem.labels == j
        entries = Pair(np.where(is_own, own, -others[:, j]), np.where(is_own, rest, 0.0))
        product_size = float(problem.shares @ (np.abs(entries.high) * norms))
        sides.append(dual_side(problem, matrix, np.ascontiguousarray(point.weights[:, j]), entries, product_size))
    return sides


def _row_sums(
    problem: MultinomialProblem, scores: Matrix, duals: Matrix, reach: Vector, score_error: float | None
) -> RowSums:
    """Means over the rows; each score may be off by `reach`, and where only its root mean square is known, by that in the mean."""
    k = problem.class_count
    # Sums over the classes are a part of each term.
    relative = (k + LOSS_OPERATIONS) / LOSS_OPERATIONS
    totals, roots = np.zeros(6), np.zeros(2)
    for c in problem.chunks():
        found = terms(scores[c], duals[c], problem.labels[c])
        s = problem.shares[c]
        # φ″ changes a sum over the classes by at most the square of the largest change of a score.
        rates = found.rates + reach[c]
        totals += np.array(
            [
                s @ found.values,
                s @ found.entropies,
                s @ found.sizes,
                s @ found.gaps,
                0.0 if score_error is not None else float((s * reach[c]) @ rates),
                s @ (found.values + found.ranges),
            ]
        )
        roots = np.hypot(roots, [root_of_squares(s, rates), root_of_squares(s, found.duals)])
    operations = _sum_operations(problem)
    grown = 1.0 + gamma(operations + k + 4)
    rate, dual = (float(root) * sqrt(grown) * SLACK for root in roots)
    cost = float(totals[4]) * grown if score_error is None else rate * score_error
    return RowSums(
        float(totals[0]),
        float(totals[1]),
        float(totals[2]) * relative * grown,
        float(totals[3]),
        cost * SLACK,
        rate,
        dual,
        0.0,
        float(totals[5]),
        sqrt(2.0) * SLACK,
    )


def _infeasibility(problem: MultinomialProblem, duals: Matrix) -> float:
    """The part of the probability that has to move for Σ s_i A_i to vanish exactly; 0 without free intercepts."""
    if not problem.intercept or not duals.any():
        return 0.0
    sizes = np.zeros(problem.class_count)
    for c in problem.chunks():
        sizes += problem.shares[c] @ np.abs(duals[c])
    relative = gamma(_sum_operations(problem) + problem.class_count + 8)
    return _moving_part(problem, np.abs(problem.dual_sums(duals)) + relative * sizes)


def _moving_part(problem: MultinomialProblem, amounts: Vector) -> float:
    """The part of the probability that has to move where each class holds up to `amounts` too much or too little.

    A class that holds q too much of its n_c gives up the part q/(n_c + q) ≤ q/n_c of its probability in every row.
    """
    if not problem.intercept:
        return 0.0
    amounts = amounts + problem.rows.count * UNDERFLOW
    return float((amounts / problem.class_shares).max()) * (1.0 + gamma(2 * problem.rows.count + 8))


def _weight_norm(point: Point) -> float:
    """An upper bound on the norm of every class's weights; 0 for zero weights."""
    if not point.weights.any():
        return 0.0
    squares = np.einsum("ij,ij->j", point.weights, point.weights)
    return norm_bound(float(squares.max()), point.weights.shape[0])


def _row_norm(problem: MultinomialProblem) -> float:
    """An upper bound on √⟨‖x‖²⟩."""
    rows = problem.rows
    summed = problem.mean_squared_norm * (1.0 + gamma(rows.count + rows.longest + _weight_operations(problem) + 4))
    return norm_bound(summed, rows.longest)


def _weight_operations(problem: MultinomialProblem) -> int:
    """Operations in the shares s_i/S."""
    return 1 if problem.sample_weight is None else problem.rows.count + 1


def _sum_operations(problem: MultinomialProblem) -> int:
    """Operations that a row's term passes through in a mean over the rows."""
    chunks = list(problem.chunks())
    return max(int(c.stop - c.start) for c in chunks) + len(chunks) + 2 + _weight_operations(problem)


def _model(point: Point) -> Model:
    problem = point.problem
    return Model(
        problem.strength,
        _row_norm(problem),
        0.0,
        1e-12 * problem.baseline,
        False,
        0.0,
        point.weights.size,
        float(np.abs(point.intercept).max()),
    )
