"""The certificate of least squares without a penalty, where the columns are independent: ‖∇P‖²/(2σ) for σ ≤ the Hessian's eigenvalues.

Rows enter as u = (D(x − c), 1), with a shift c and powers of two D, so that columns of any scale and mean have a Hessian 2A,
A = ⟨uuᵀ⟩, of moderate condition; without an intercept u = Dx. docs/certificate.md proves the bounds on rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from dualgap.certificate.bounds import REFERENCE_PART, UNDERFLOW, gamma, norm_bound
from dualgap.certificate.point import facts_of
from dualgap.certificate.verdict import Certificate
from dualgap.data.columns import mean_squares
from dualgap.linalg.floats import UNIT
from dualgap.losses.base import SLACK
from dualgap.problem import Problem

Vector = NDArray[np.float64]

# A matrix with more columns takes longer to make and to factor than the fit.
MOST_COLUMNS = 2000
# The Cholesky factorization is tried after EIGENVALUE_PART times the computed smallest eigenvalue was subtracted from the diagonal.
EIGENVALUE_PART = 0.5
# Refinement steps; each gains the digits that the matrix has.
STEPS = 3


@dataclass(frozen=True)
class FullRank:
    """A least-squares problem whose columns are proven to be independent."""

    problem: Problem
    shift: Vector
    scales: Vector
    """D."""
    column_sizes: Vector
    """Upper bounds on √⟨x_j²⟩ of the columns as given."""
    factor: tuple[Vector, bool]
    """The Cholesky factor of the computed A."""
    trace: float
    """An upper bound on ⟨‖u‖²⟩."""
    eigenvalue: float
    """σ/2: a lower bound on the smallest eigenvalue of A, rounding included."""

    def certify(self, weights: Vector, intercept: float) -> tuple[Certificate, Vector, float]:
        """The certificate of P without a penalty at these weights, then the weights and the intercept after a Newton step."""
        problem, facts = self.problem, facts_of(self.problem)
        operations = problem.rows.count + facts.sum_operations
        residuals = problem.labels - problem.scores(weights, intercept)
        gradient = np.zeros(self.scales.size + bool(problem.intercept))
        for part, rows in _shifted(problem, self.shift, self.scales):
            gradient += rows.T @ (_weights(problem, part) * residuals[part])
        gradient /= problem.total_weight
        size = sqrt(float(problem.mean(residuals * residuals)) * (1.0 + gamma(operations)))
        # Column by column, because a norm of all columns would be far too large where their scales differ.
        products = float(np.abs(weights) @ self.column_sizes) * SLACK + abs(intercept)
        error = gamma(facts.score_operations + 4) * products + 2.0 * UNIT * (size + problem.label_size)
        root = norm_bound(float(gradient @ gradient), gradient.size)
        # Half of the gradient, and what rounding can have hidden of it.
        lost = (gamma(operations + 8) * size + error) * sqrt(self.trace)
        gap = (root + lost) ** 2 / self.eigenvalue * SLACK
        primal = float(problem.mean(residuals * residuals))
        primal_error = (2.0 * error * size + error * error + gamma(operations + 4) * primal) * SLACK
        certificate = Certificate(
            primal,
            max(primal - gap, 0.0),
            gap if np.isfinite(gap) else float("inf"),
            gap - root * root / self.eigenvalue,
            primal_error,
            primal_error,
            REFERENCE_PART * problem.baseline,
        )
        step = scipy.linalg.cho_solve(self.factor, gradient, check_finite=False)
        moved = self.scales * step[: self.scales.size]
        if problem.intercept:
            intercept += float(step[-1] - self.shift @ moved)
        return certificate, weights + moved, intercept

    def refined(self, weights: Vector, intercept: float) -> tuple[Certificate, Vector, float]:
        """The best of a few Newton steps from these weights, with its certificate."""
        best = None
        for _ in range(STEPS):
            certificate, next_weights, next_intercept = self.certify(weights, intercept)
            if best is None or certificate.gap < best[0].gap:
                best = (certificate, weights, intercept)
            weights, intercept = next_weights, next_intercept
        assert best is not None
        return best


def full_rank(problem: Problem) -> FullRank | None:
    """The proof that the columns are independent, or None where there is none."""
    rows = problem.rows
    dimension = rows.dimension + bool(problem.intercept)
    if rows.count < dimension or rows.dimension > MOST_COLUMNS:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        shift = rows.combination(_weights(problem, slice(None)) / problem.total_weight)
        shift = shift if problem.intercept else np.zeros(rows.dimension)
        squares = np.zeros(rows.dimension)
        operations = rows.count + facts_of(problem).sum_operations
        sizes = np.sqrt(mean_squares(rows, problem.sample_weight) * (1.0 + gamma(operations))) + UNDERFLOW
        for part, shifted in _shifted(problem, shift, np.ones(rows.dimension)):
            squares += _weights(problem, part) @ (shifted[:, : rows.dimension] ** 2)
        if not (np.isfinite(squares).all() and (squares > 0.0).all()):
            return None
        # Powers of two change no digit.
        scales = np.exp2(-np.round(0.5 * np.log2(squares / problem.total_weight)))
        matrix = np.zeros((dimension, dimension))
        for part, shifted in _shifted(problem, shift, scales):
            matrix += shifted.T @ (_weights(problem, part)[:, None] * shifted)
        matrix /= problem.total_weight
    if not np.isfinite(matrix).all():
        return None
    return _proven(problem, shift, scales, sizes, matrix)


def _proven(problem: Problem, shift: Vector, scales: Vector, sizes: Vector, matrix: Vector) -> FullRank | None:
    """Smallest eigenvalue: a Cholesky factorization that runs to its end proves A − τI ≥ −γ·tr(A) (Rump 2006)."""
    dimension, trace = matrix.shape[0], float(np.trace(matrix))
    subtracted = EIGENVALUE_PART * float(scipy.linalg.eigvalsh(matrix, subset_by_index=[0, 0])[0])
    try:
        scipy.linalg.cho_factor(matrix - subtracted * np.eye(dimension), lower=True)
        factor = scipy.linalg.cho_factor(matrix, lower=True)
    except scipy.linalg.LinAlgError:
        return None
    operations = problem.rows.count + facts_of(problem).sum_operations
    lost = 2.0 * (gamma(operations + 8) + gamma(dimension + 4)) * trace
    eigenvalue = subtracted - lost
    if not eigenvalue > 0.5 * subtracted > 0.0:
        return None
    return FullRank(
        problem, shift, scales, sizes, factor, trace * (1.0 + 2.0 * gamma(operations + 8)), eigenvalue / SLACK
    )


def _shifted(problem: Problem, shift: Vector, scales: Vector) -> Iterator[tuple[slice, Vector]]:
    """u of some rows at a time, dense."""
    for part, block in problem.rows.blocks():
        values = block.toarray() if problem.rows.is_sparse else block
        rows = (values.astype(np.float64, copy=False) - shift) * scales
        yield part, np.column_stack([rows, np.ones(rows.shape[0])]) if problem.intercept else rows


def _weights(problem: Problem, part: slice) -> Vector:
    return np.ones(problem.rows.count)[part] if problem.sample_weight is None else problem.sample_weight[part]
