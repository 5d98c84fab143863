"""The Hessian of the softmax model in (W, b): as one matrix, as products with it, and as a preconditioner for them.

(1/S) Σ s_i (diag(p_i) − p_i p_iᵀ) ⊗ x_i x_iᵀ + λI   with a 1 appended to x_i, unpenalized, for free intercepts. Steps are
matrices with a row for each column of X (and one for the intercepts) and a column for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.linalg import cholesky
from dualgap.linalg.parallel import checkpoint
from dualgap.linalg.partition import SETTINGS, partition, sum_slices
from dualgap.losses.multinomial import Matrix, Vector, hessian_product
from dualgap.problem import MultinomialProblem
from dualgap.solvers.newton.settings import SETTINGS as NEWTON
from dualgap.solvers.newton.softmax_settings import SoftmaxSettings


def height_of(problem: MultinomialProblem) -> int:
    """Columns of X, and one for free intercepts."""
    return problem.rows.dimension + problem.intercept


def centered(step: Matrix) -> Matrix:
    """The step without what is common to all classes: there P has the penalty alone, and W(A) is zero."""
    return np.asarray(step - step.mean(axis=1, keepdims=True))


def full_hessian(problem: MultinomialProblem, p: Matrix) -> Matrix:
    """The matrix of side k·height at probabilities p, by class and then by column."""
    sums = class_gram(problem.rows, problem.normalized_weights, p, problem.intercept)
    return with_penalty(sums, problem.class_count, problem.strength, problem.intercept)


def with_penalty(sums: Matrix, class_count: int, strength: float, intercept: bool) -> Matrix:
    """In place: the Hessian of Σ s_i (diag(p_i) − p_i p_iᵀ) ⊗ x_i x_iᵀ, for weights that add up to 1."""
    height = sums.shape[0] // class_count
    d = height - intercept
    by_class = sums.reshape(class_count, height, class_count, height)
    penalized = np.arange(d)
    for a in range(class_count):
        by_class[a, penalized, a, penalized] += strength
    if intercept:
        # Equal shifts of all intercepts change nothing; a gradient never points there, so any positive number will do.
        by_class[:, d, :, d] += 1.0 / class_count
    return sums


def class_gram(rows: Rows, weights: Vector, p: Matrix, intercept: bool) -> Matrix:
    """Σ s_i (diag(p_i) − p_i p_iᵀ) ⊗ x_i x_iᵀ, by class and then by column; Σ p⊗p⊗x⊗x is the square of rows p⊗x."""
    k, d, height = p.shape[1], rows.dimension, rows.dimension + intercept

    def add(part: slice, out: Matrix) -> None:
        """Minus the sum of the squares, and below it the class blocks of the diagonal."""
        block = rows.block(part)
        x = np.ones((part.stop - part.start, height))
        x[:, :d] = block.toarray() if rows.is_sparse else block
        x *= np.sqrt(weights[part])[:, None]
        products = (p[part][:, :, None] * x[:, None, :]).reshape(x.shape[0], k * height)
        out[k * height :] += x.T @ products
        out[: k * height] -= products.T @ products

    # Together the terms take no more memory than the products of all rows.
    max_terms = min(SETTINGS.max_terms, rows.count // (k * height))
    sums = sum_slices(add, partition(rows.count, k * height), ((k + 1) * height, k * height), max_terms)
    out, diagonal = sums[: k * height], sums[k * height :]
    by_class = out.reshape(k, height, k, height)
    for a in range(k):
        by_class[a, :, a, :] += diagonal[:, a * height : (a + 1) * height]
    return out


def product(problem: MultinomialProblem, p: Matrix, step: Matrix, score_direction: Matrix) -> Matrix:
    """The Hessian at probabilities p times a step, in one pass over the rows; `score_direction` receives the change of the scores."""
    d = problem.rows.dimension

    def add(rows: slice, out: Matrix) -> None:
        block = problem.rows.block(rows)
        change = block @ step[:d]
        if problem.intercept:
            change += step[d]
        score_direction[rows] = change
        gradient_change = hessian_product(p[rows], change)
        gradient_change *= problem.normalized_weights[rows][:, None]
        out[:d] += block.T @ gradient_change
        if problem.intercept:
            out[d] += gradient_change.sum(axis=0)

    out = sum_slices(add, _slices(problem), step.shape)
    out[:d] += problem.strength * step[:d]
    return out


def preconditioner(problem: MultinomialProblem, p: Matrix, settings: SoftmaxSettings) -> Callable[[Matrix], Matrix]:
    """An approximate inverse: each class by itself, from a sample of the rows, or from the diagonal where X is wide."""
    if problem.rows.dimension > settings.block_columns:
        inverse = 1.0 / _diagonal(problem, p)
        return lambda step: centered(inverse * step)
    solvers = [cholesky.solver(block) for block in _class_blocks(problem, p, settings)]

    def apply(step: Matrix) -> Matrix:
        out = np.empty_like(step)
        for a, solve in enumerate(solvers):
            out[:, a] = solve(step[:, a])
        return centered(out)

    return apply


def _class_blocks(problem: MultinomialProblem, p: Matrix, settings: SoftmaxSettings) -> Iterator[NDArray[np.float64]]:
    """For each class (1/S) Σ s_i p_ia (1 − p_ia) x_i x_iᵀ + λI, from every few rows."""
    rows, d, height = problem.rows, problem.rows.dimension, height_of(problem)
    # At least as many rows as take 16 times the multiplications of a product.
    sampled = NEWTON.preconditioner_rows_per_column * max(height, 4 * rows.count // height)
    interval = max(1, rows.count // sampled)
    numbers = np.arange(0, rows.count, interval)
    x = np.asarray(rows.take(numbers).dense().arrays[0], dtype=np.float64)
    variances = p[numbers] * (1.0 - p[numbers]) * (interval * problem.normalized_weights[numbers][:, None])
    if problem.intercept:
        x = np.hstack([x, np.ones((numbers.size, 1))])
    for root in np.sqrt(variances).T:
        checkpoint()
        weighted = x * root[:, None]
        block = weighted.T @ weighted
        diagonal = np.einsum("ii->i", block)
        mean = float(diagonal.mean())
        diagonal[:d] += problem.strength
        if interval > 1:
            diagonal += settings.damping * mean * d / numbers.size
        diagonal += np.finfo(np.float64).eps * (mean + problem.strength)
        yield block


def _diagonal(problem: MultinomialProblem, p: Matrix) -> Matrix:
    """The diagonal of the Hessian."""
    d = problem.rows.dimension

    def add(rows: slice, out: Matrix) -> None:
        block = problem.rows.block(rows)
        variances = p[rows] * (1.0 - p[rows]) * problem.normalized_weights[rows][:, None]
        out[:d] += (block.multiply(block) if problem.rows.is_sparse else block * block).T @ variances
        if problem.intercept:
            out[d] += variances.sum(axis=0)

    out = sum_slices(add, _slices(problem), (height_of(problem), problem.class_count))
    out[:d] += problem.strength
    return np.maximum(out, np.finfo(np.float64).tiny)


def _slices(problem: MultinomialProblem) -> list[slice]:
    """The partition of the rows for a sum with one number for each column and class."""
    rows = problem.rows
    return partition(rows.count, rows.stored / rows.count, height_of(problem) * problem.class_count)
