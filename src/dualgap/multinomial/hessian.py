"""The Hessian of the softmax model in (W, b): as one matrix, as products with it, and as a preconditioner for them.

(1/S) Σ s_i (diag(p_i) − p_i p_iᵀ) ⊗ x_i x_iᵀ + λI   with a 1 appended to x_i, unpenalized, for free intercepts. Moves are
matrices with a row for each column of X (and one for the intercepts) and a column for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg import cholesky
from dualgap.linalg.parallel import checkpoint
from dualgap.losses.multinomial import Matrix, bends_of, probabilities
from dualgap.multinomial.problem import MultinomialProblem

# Rows are worked through in blocks of about this many bytes of what a block is turned into.
BLOCK_BYTES = 1 << 22
# The preconditioner is diagonal beyond so many columns. Up to them it looks at so many rows for each column at least, and
# at as many as cost no more than so many products with the Hessian.
BLOCK_COLUMNS, SAMPLED_ROWS, SAMPLED_PRODUCTS = 1500, 8, 8
# The sampled Hessian is never trusted to be better than λ plus this part of its own mean diagonal.
DAMPING = 1e-3


def height_of(problem: MultinomialProblem) -> int:
    """Columns of X, and one for free intercepts."""
    return problem.rows.dimension + problem.intercept


def _blocks(problem: MultinomialProblem, row_bytes: int) -> Iterator[tuple[slice, Any]]:
    """Blocks of rows that grow to about BLOCK_BYTES when each row becomes `row_bytes`."""
    size = max(1, BLOCK_BYTES * 8 * problem.rows.stored // (max(row_bytes, 1) * problem.rows.count))
    for block in problem.rows.blocks(small=True, size=size):
        checkpoint()
        yield block


def full(problem: MultinomialProblem, duals: Matrix) -> Matrix:
    """The whole matrix, of side k·height, by class and then by column; Σ p⊗p⊗x⊗x is the square of rows p⊗x."""
    k, d, height = problem.class_count, problem.rows.dimension, height_of(problem)
    out, diagonal = np.zeros((k * height, k * height)), np.zeros((height, k * height))
    for rows, block in _blocks(problem, 8 * k * height):
        x = np.ones((rows.stop - rows.start, height))
        x[:, :d] = block.toarray() if problem.rows.is_sparse else block
        roots = np.sqrt(problem.shares[rows])
        x *= roots[:, None]
        p = probabilities(duals[rows], problem.labels[rows])
        products = (p[:, :, None] * x[:, None, :]).reshape(x.shape[0], k * height)
        diagonal += x.T @ products
        out -= products.T @ products
    by_class = out.reshape(k, height, k, height)
    for a in range(k):
        by_class[a, :, a, :] += diagonal[:, a * height : (a + 1) * height]
        penalized = np.arange(d)
        by_class[a, penalized, a, penalized] += problem.strength
    if problem.intercept:
        # Equal shifts of all intercepts change nothing; a gradient never points there, so any curvature will do.
        by_class[:, d, :, d] += 1.0 / k
    return out


def product(problem: MultinomialProblem, p: Matrix, move: Matrix) -> Matrix:
    """The Hessian at probabilities p times a move, in one pass over the rows."""
    d = problem.rows.dimension
    out = np.zeros_like(move)
    out[:d] = problem.strength * move[:d]
    for rows, block in _blocks(problem, 8 * problem.rows.stored // problem.rows.count):
        moved = block @ move[:d]
        if problem.intercept:
            moved += move[d]
        pulls = bends_of(p[rows], moved)
        pulls *= problem.shares[rows][:, None]
        out[:d] += block.T @ pulls
        if problem.intercept:
            out[d] += pulls.sum(axis=0)
    return out


def centered(move: Matrix) -> Matrix:
    """The move without what is common to all classes: the penalty alone speaks there, and W(A) never has it."""
    return np.asarray(move - move.mean(axis=1, keepdims=True))


def preconditioner(problem: MultinomialProblem, duals: Matrix) -> Callable[[Matrix], Matrix]:
    """An approximate inverse: each class by itself, from a sample of the rows, or from the diagonal where X is wide."""
    if problem.rows.dimension > BLOCK_COLUMNS:
        inverse = 1.0 / _diagonal(problem, duals)
        return lambda move: centered(inverse * move)
    solvers = [cholesky.solver(block) for block in _class_blocks(problem, duals)]

    def apply(move: Matrix) -> Matrix:
        out = np.empty_like(move)
        for a, solve in enumerate(solvers):
            out[:, a] = solve(move[:, a])
        return centered(out)

    return apply


def _variances(problem: MultinomialProblem, duals: Matrix, rows: slice) -> Matrix:
    """s_i p_ia (1 − p_ia)/S."""
    p = probabilities(duals[rows], problem.labels[rows])
    return np.asarray(p * (1.0 - p) * problem.shares[rows][:, None])


def _class_blocks(problem: MultinomialProblem, duals: Matrix) -> Iterator[NDArray[np.float64]]:
    """For each class (1/S) Σ s_i p_ia (1 − p_ia) x_i x_iᵀ + λI, from every few rows."""
    d, height, k = problem.rows.dimension, height_of(problem), problem.class_count
    wanted = max(SAMPLED_ROWS * height, 4 * SAMPLED_PRODUCTS * problem.rows.count // height)
    stride = max(1, problem.rows.count // wanted)
    kept, shares = [], []
    for rows, block in _blocks(problem, 8 * problem.rows.stored // problem.rows.count):
        offset = -rows.start % stride
        part = block[offset::stride]
        kept.append(part.toarray() if problem.rows.is_sparse else part.copy())
        shares.append(_variances(problem, duals, rows)[offset::stride])
    x, roots = np.vstack(kept), np.sqrt(np.vstack(shares) * stride)
    if problem.intercept:
        x = np.hstack([x, np.ones((x.shape[0], 1))])
    for a in range(k):
        weighted = x * roots[:, a, None]
        block = weighted.T @ weighted
        diagonal = np.einsum("ii->i", block)
        mean = float(diagonal.mean())
        diagonal[:d] += problem.strength
        if stride > 1:
            diagonal += DAMPING * mean * d / max(x.shape[0], 1)
        diagonal += np.finfo(np.float64).eps * (mean + problem.strength)
        yield block


def _diagonal(problem: MultinomialProblem, duals: Matrix) -> Matrix:
    """The diagonal of the Hessian."""
    d = problem.rows.dimension
    out = np.zeros((height_of(problem), problem.class_count))
    for rows, block in _blocks(problem, 8 * problem.rows.stored // problem.rows.count):
        variances = _variances(problem, duals, rows)
        out[:d] += (block.multiply(block) if problem.rows.is_sparse else block * block).T @ variances
        if problem.intercept:
            out[d] += variances.sum(axis=0)
    out[:d] += problem.strength
    return np.maximum(out, np.finfo(np.float64).tiny)
