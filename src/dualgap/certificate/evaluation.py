"""The certificate of a point with one score a row: sums over the rows in float64 or in pairs, and bounds on their rounding."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import candidates
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
from dualgap.certificate.precise import PAIR_ERROR, dual_side, matrix_of, pair_scores, precise_certificate, row_norms
from dualgap.certificate.row_sums import Totals, row_sums, row_totals, sum_of
from dualgap.certificate.verdict import Certificate
from dualgap.linalg.double_double import Pair, pair_error
from dualgap.linalg.floats import UNIT
from dualgap.linalg.parallel import parallel_map
from dualgap.linalg.partition import SETTINGS, partition
from dualgap.losses.base import SLACK
from dualgap.problem import Problem, root_of_squares

Vector = NDArray[np.float64]


class OneScorePoint(Point[Problem]):
    """A point of a problem with one score a row."""

    make_feasible = staticmethod(candidates.make_feasible)

    def evaluate(self, duals: Vector, combination: Vector) -> Evaluation:
        problem, scores, operations = self.problem, self.scores, self.facts.sum_operations
        errors = score_errors(self.facts, self._weight_norm(), abs(self.intercept))
        sums = self._row_sums(
            duals,
            lambda c: problem.loss.argument(scores[c], problem.labels[c]),
            errors.largest,
            errors.root_mean_square,
        )
        precision = Precision(
            errors.root_mean_square,
            self._combination_error(sums.dual),
            operations,
            2.0 * gamma(operations + 12) if problem.intercept and sums.dual else 0.0,
        )
        column_errors = self._column_errors(sums.dual, gamma(self.facts.dual_operations + 4) + precision.dual_sum)
        dual_penalty = self._dual_penalty(combination, column_errors)
        linear, difference = problem.penalty.gap(self.weights, combination)
        found = certificate(
            self._model(), sums, precision, self._penalty_parts(linear, difference, dual_penalty, column_errors)
        )
        return Evaluation(found, dual_penalty)

    def evaluate_precisely(self, duals: Vector) -> Certificate | None:
        problem, rows = self.problem, self.problem.rows
        matrix = matrix_of(rows)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            norms = row_norms(rows)
            scores = pair_scores(matrix, self.weights, self.intercept)
            errors = self._pair_errors(norms, scores)
            arguments = problem.loss.argument(scores.high, problem.labels, scores.low)
            sums = self._row_sums(duals, lambda c: arguments[c], errors)
            product_size = problem.mean(np.abs(duals) * norms)
            found = dual_side(problem, matrix, self.weights, Pair(duals, np.zeros_like(duals)), product_size)
            infeasible = found.dual_sum / found.heavier if problem.intercept and found.heavier else 0.0
            precision = Precision(
                root_of_squares(problem.sample_weight, errors) / sqrt(problem.total_weight) * SLACK,
                found.error,
                self.facts.sum_operations,
                infeasible * (1.0 + gamma(rows.count + 4)),
            )
            column_errors = self._column_errors(sums.dual, found.relative + precision.dual_sum)
            if column_errors is not None:
                column_errors += PAIR_ERROR * np.abs(found.combination)
            dual_penalty = self._dual_penalty(found.combination, column_errors)
            proven = certificate(
                self._model(),
                sums,
                precision,
                self._penalty_parts(found.linear, found.difference, dual_penalty, column_errors),
            )
        return precise_certificate(proven)

    def _dual_penalty(self, combination: Vector, column_errors: Vector | None) -> float:
        """g*(v); infinite where rounding may hide that x(α) is outside the domain of r*."""
        if column_errors is not None and float((np.abs(combination) + column_errors).max(initial=0.0)) > 1.0:
            return np.inf
        return self.problem.penalty_conjugate(combination)

    def _penalty_parts(
        self, linear: float, difference: Vector, dual_penalty: float, column_errors: Vector | None
    ) -> PenaltyParts:
        """The penalty's parts of the gap; `column_errors` bound the error of each x_j(α) for ρ = 1."""
        problem = self.problem
        linear_error = 0.0
        if column_errors is not None:
            # Duals outside the domain prove nothing.
            linear_error = float(np.abs(self.weights) @ column_errors) if dual_penalty < np.inf else np.inf
        is_mixed = problem.penalty.is_sparse and problem.penalty.has_dual_weights
        return PenaltyParts(
            problem.penalty_value(self.weights),
            dual_penalty,
            root_of_squares(None, difference),
            linear,
            linear_error,
            (self._weight_norm() + root_of_squares(None, difference)) * SLACK if is_mixed else 0.0,
        )

    def _column_errors(self, dual: float, relative: float) -> Vector | None:
        """δ_j ≥ |x̂_j(α) − x_j(α)| of exactly feasible duals: `relative` of ⟨|α||x_j|⟩/λ ≤ √⟨α²⟩√⟨x_j²⟩/λ; None unless ρ = 1."""
        problem, facts = self.problem, self.facts
        if problem.penalty.has_dual_weights:
            return None
        if dual == 0.0:
            return np.zeros(problem.rows.dimension)
        count = problem.rows.count
        sizes = problem.column_sizes * (1.0 + gamma(facts.dual_operations + 8)) + sqrt(count * UNDERFLOW)
        lost = count * UNDERFLOW * (1.0 + facts.matrix_norm) / problem.lambda_n
        return np.asarray((relative * dual / problem.strength * sizes + lost) * SLACK)

    def largest_factor(self, duals: Vector, combination: Vector) -> float:
        problem = self.problem
        if problem.penalty.has_dual_weights:
            return np.inf
        dual = root_of_squares(problem.sample_weight, duals) / sqrt(problem.total_weight) * SLACK
        dual *= 1.0 + gamma(self.facts.sum_operations + 2)
        relative = gamma(self.facts.dual_operations + 4)
        if problem.intercept:
            relative += 2.0 * gamma(self.facts.sum_operations + 12)
        errors = self._column_errors(dual, relative)
        assert errors is not None
        largest = float((np.abs(combination) + errors).max(initial=0.0))
        return 1.0 / (largest * SLACK) if largest > 0.0 else np.inf

    def best_factor(self, duals: Vector, combination: Vector, dual_penalty: float, limit: float) -> float:
        penalty = self.problem.penalty
        if not penalty.is_sparse:
            return candidates.best_factor(self.problem, duals, lambda t: t * (2.0 * dual_penalty), limit)
        if not penalty.has_dual_weights:
            return candidates.best_factor(self.problem, duals, lambda t: 0.0, limit)
        used = combination[np.abs(combination) > 0.0]

        def slope(t: float) -> float:
            return self.problem.strength * float(penalty.dual_weights(t * used) @ used)

        return candidates.best_factor(self.problem, duals, slope, limit)

    def scaled(self, duals: Vector, factor: float) -> Vector:
        loss, labels = self.problem.loss, self.problem.labels
        return self.problem.each(lambda c: loss.clip(factor * duals[c], labels[c]))

    def _weight_norm(self) -> float:
        """An upper bound on ‖w‖; 0 for zero weights."""
        bound = norm_bound(float(self.weights @ self.weights), self.weights.size)
        return bound if self.weights.any() else 0.0

    def _pair_errors(self, norms: Vector, scores: Pair) -> Vector:
        """How far the argument of the loss can be off, for each row, besides its own rounding in the loss."""
        problem = self.problem
        size = norms * norm_bound(float(self.weights @ self.weights), self.weights.size)
        errors = pair_error(problem.rows.longest) * size + problem.rows.longest * UNDERFLOW
        errors += PAIR_ERROR * (size + abs(self.intercept) + np.abs(problem.labels) + 1.0)
        if not problem.loss.has_product_form:
            # The argument is the score itself, rounded to one number.
            errors += 2.0 * UNIT * np.abs(scores.high)
        return np.asarray(errors)

    def _combination_error(self, dual: float) -> float:
        """‖x̂(α) − x(α)‖ ≤ γ_K ⟨|α|‖x‖⟩/λ ≤ γ_K √⟨α²⟩√⟨‖x‖²⟩/λ, for K operations a product passes through."""
        if dual == 0.0:
            return 0.0
        problem, facts = self.problem, self.facts
        lost = problem.rows.count * UNDERFLOW * (sqrt(problem.rows.dimension) + facts.matrix_norm) / problem.lambda_n
        return gamma(facts.dual_operations) * dual * facts.row_norm / problem.strength + lost

    def _model(self) -> Model:
        """What the bounds need to know of the problem and of the point."""
        problem = self.problem
        is_labels = problem.classes is not None
        return Model(
            problem.strength,
            self.facts.row_norm,
            # Labels and the constants inside the loss are both multiplied by duals in the conjugates.
            1.0
            if is_labels
            else max(problem.label_size * (1.0 + gamma(self.facts.sum_operations)), problem.loss.argument_scale),
            REFERENCE_PART * problem.baseline,
            problem.loss.has_product_form,
            problem.loss.argument_scale,
            # The terms of a penalty with an L1 part take some more operations.
            problem.rows.dimension + (8 if problem.penalty.is_sparse else 0),
            abs(self.intercept),
            problem.penalty.l2_ratio,
        )

    def _row_sums(
        self,
        duals: Vector,
        argument: Callable[[slice], Vector],
        reach: float | Vector,
        score_error: float | None = None,
    ) -> RowSums:
        """Means over the rows at given arguments of the loss and duals; each argument may be off by `reach`.

        Where the score errors are known by their root mean square alone, ⟨e·rate⟩ ≤ √⟨e²⟩√⟨rate²⟩.
        """
        problem = self.problem
        loss, labels = problem.loss, problem.labels

        def totals(c: slice) -> Totals:
            t, alpha = argument(c), duals[c]
            own = reach if isinstance(reach, float) else reach[c]
            s = None if problem.sample_weight is None else problem.sample_weight[c]
            return row_totals(loss.terms(t, alpha, labels[c], own), t, alpha, s, own)

        found = sum_of(parallel_map(totals, partition(labels.size, SETTINGS.certificate_values)))
        return row_sums(found, problem.total_weight, self.facts.sum_operations, score_error)
