"""The certificate of a point of the softmax model: sums over the rows in float64 or in pairs, and bounds on their rounding."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dualgap.certificate import softmax_candidates
from dualgap.certificate.bounds import (
    REFERENCE_PART,
    UNDERFLOW,
    Model,
    PenaltyParts,
    Precision,
    RowSums,
    certificate,
    gamma,
    norm_bound,
)
from dualgap.certificate.point import Evaluation, Point, score_errors
from dualgap.certificate.precise import (
    PAIR_ERROR,
    DualSide,
    dual_side,
    matrix_of,
    pair_scores,
    precise_certificate,
    row_norms,
)
from dualgap.certificate.verdict import Certificate
from dualgap.linalg.double_double import Pair, pair_error, two_sum
from dualgap.linalg.parallel import parallel_map
from dualgap.losses.base import LOSS_OPERATIONS, SLACK
from dualgap.losses.multinomial import Matrix, Vector, terms
from dualgap.problem import MultinomialProblem, root_of_squares


class SoftmaxPoint(Point[MultinomialProblem]):
    """A point of the softmax model."""

    make_feasible = staticmethod(softmax_candidates.make_feasible)

    def evaluate(self, duals: Matrix, combination: Matrix) -> Evaluation:
        problem, rows, facts = self.problem, self.problem.rows, self.facts
        errors = score_errors(facts, self._weight_norm(), self._intercept_size)
        sums = self._row_sums(self.scores, duals, np.full(rows.count, errors.largest), errors.root_mean_square)
        # A row's own dual is minus the sum of its others, which k operations compute.
        operations = facts.dual_operations + problem.class_count
        lost = rows.count * UNDERFLOW * (sqrt(rows.dimension) + facts.matrix_norm) / problem.lambda_n
        dual_error = gamma(operations) * sums.dual * facts.row_norm / problem.strength + lost
        precision = Precision(
            errors.root_mean_square,
            dual_error if sums.dual else 0.0,
            self._sum_operations,
            self._infeasibility(duals),
        )
        dual_penalty = problem.penalty_conjugate(combination)
        found = certificate(
            self._model(),
            sums,
            precision,
            PenaltyParts(
                problem.penalty_value(self.weights),
                dual_penalty,
                root_of_squares(None, (self.weights - combination).ravel()),
            ),
        )
        return Evaluation(found, dual_penalty)

    def evaluate_precisely(self, duals: Matrix) -> Certificate | None:
        problem, rows = self.problem, self.problem.rows
        matrix, norms = matrix_of(rows), row_norms(rows)
        each = np.arange(rows.count)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            pairs = [
                pair_scores(matrix, np.ascontiguousarray(self.weights[:, j]), float(self.intercept[j]))
                for j in range(problem.class_count)
            ]
            high, low = np.stack([p.high for p in pairs], axis=1), np.stack([p.low for p in pairs], axis=1)
            # The loss depends on differences from the own class's score alone, and these are rounded only once.
            differences, error = two_sum(high, -high[each, problem.labels][:, None])
            differences += error + (low - low[each, problem.labels][:, None])
            size = 2.0 * norms * self._weight_norm() + 2.0 * self._intercept_size
            errors = (pair_error(rows.longest) + PAIR_ERROR) * size + 2.0 * rows.longest * UNDERFLOW
            sums = self._row_sums(differences, duals, errors, None)
            sides = self._dual_sides(matrix, duals, norms)
            precision = Precision(
                root_of_squares(problem.normalized_weights, errors) * SLACK,
                sqrt(sum(side.error**2 for side in sides)),
                self._sum_operations,
                self._moved_part(np.array([side.dual_sum for side in sides]) / problem.total_weight),
            )
            proven = certificate(
                self._model(),
                sums,
                precision,
                PenaltyParts(
                    problem.penalty_value(self.weights),
                    sum(problem.penalty_conjugate(side.combination) for side in sides),
                    root_of_squares(None, np.concatenate([side.difference for side in sides])),
                ),
            )
        return precise_certificate(proven)

    def best_factor(self, duals: Matrix, combination: Matrix, dual_penalty: float, limit: float) -> float:
        return softmax_candidates.best_factor(self.problem, duals, 2.0 * dual_penalty)

    def scaled(self, duals: Matrix, factor: float) -> Matrix:
        out = factor * duals
        softmax_candidates.keep_all_inside(self.problem, out)
        return out

    @property
    def _intercept_size(self) -> float:
        """The largest |b_j|."""
        return float(np.abs(self.intercept).max())

    @property
    def _sum_operations(self) -> int:
        """Operations that a row's term passes through in a mean, in which s_i/S is rounded too."""
        return self.facts.sum_operations + 1

    def _weight_norm(self) -> float:
        """An upper bound on the norm of every class's weights; 0 for zero weights."""
        if not self.weights.any():
            return 0.0
        squares = np.einsum("ij,ij->j", self.weights, self.weights)
        return norm_bound(float(squares.max()), self.weights.shape[0])

    def _dual_sides(self, matrix: Any, duals: Matrix, norms: Vector) -> list[DualSide]:
        """W(A) and its difference from W, class by class; a row's own entry is minus the exact sum of the others."""
        problem = self.problem
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
            product_size = float(problem.normalized_weights @ (np.abs(entries.high) * norms))
            sides.append(dual_side(problem, matrix, np.ascontiguousarray(self.weights[:, j]), entries, product_size))
        return sides

    def _row_sums(self, scores: Matrix, duals: Matrix, reach: Vector, score_error: float | None) -> RowSums:
        """Means over the rows; each score may be off by `reach`, and where its root mean square is known, by that in the mean."""
        problem, k = self.problem, self.problem.class_count

        def totals(c: slice) -> tuple[Vector, Vector]:
            found = terms(scores[c], duals[c], problem.labels[c])
            s = problem.normalized_weights[c]
            # φ″ changes a sum over the classes by at most the square of the largest change of a score.
            rates = found.rates + reach[c]
            linear = [
                s @ found.values,
                s @ found.entropies,
                s @ found.sizes,
                s @ found.gaps,
                0.0 if score_error is not None else float((s * reach[c]) @ rates),
                s @ (found.values + found.ranges),
            ]
            return np.array(linear), np.array([root_of_squares(s, rates), root_of_squares(s, found.duals)])

        found = list(parallel_map(totals, problem.formula_slices()))
        sums = np.sum([linear for linear, _ in found], axis=0)
        # Sums over the classes are a part of each term.
        relative = (k + LOSS_OPERATIONS) / LOSS_OPERATIONS
        grown = 1.0 + gamma(self._sum_operations + k + 4)
        roots = np.hypot.reduce([root for _, root in found])
        rate, dual = (float(root) * sqrt(grown) * SLACK for root in roots)
        cost = float(sums[4]) * grown if score_error is None else rate * score_error
        return RowSums(
            float(sums[0]),
            float(sums[1]),
            float(sums[2]) * relative * grown,
            float(sums[3]),
            cost * SLACK,
            rate,
            dual,
            0.0,
            float(sums[5]),
            sqrt(2.0) * SLACK,
        )

    def _infeasibility(self, duals: Matrix) -> float:
        """The part of the probability that has to move for Σ s_i A_i to vanish exactly; 0 without free intercepts."""
        problem = self.problem
        if not problem.intercept or not duals.any():
            return 0.0
        sizes = problem.total_of(lambda c: problem.normalized_weights[c] @ np.abs(duals[c]))
        relative = gamma(self._sum_operations + problem.class_count + 8)
        return self._moved_part(np.abs(problem.dual_sums(duals)) + relative * sizes)

    def _moved_part(self, amounts: Vector) -> float:
        """The part of the probability that has to move where each class holds up to `amounts` too much or too little.

        A class that holds q too much of its n_c gives up the part q/(n_c + q) ≤ q/n_c of its probability in every row.
        """
        problem = self.problem
        if not problem.intercept:
            return 0.0
        amounts = amounts + problem.rows.count * UNDERFLOW
        return float((amounts / problem.class_weights).max()) * (1.0 + gamma(2 * problem.rows.count + 8))

    def _model(self) -> Model:
        problem = self.problem
        return Model(
            problem.strength,
            self.facts.row_norm,
            0.0,
            REFERENCE_PART * problem.baseline,
            False,
            0.0,
            self.weights.size,
            self._intercept_size,
        )
