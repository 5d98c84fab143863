"""Leave-one-out errors of ridge regression for many strengths, from one eigendecomposition.

Rows are centered by their weighted mean μ and scaled by √s: x̃ = √s(x − μ), ỹ = √s(y − ȳ). A fit to all rows but i errs on row i by

    √s_i e_i = (ỹ_i − ⟨x̃_i, w⟩)/(1 − h_i) ,    h_i = x̃_iᵀ(X̃ᵀX̃ + alpha·I)⁻¹x̃_i + s_i/S

where the last term is the free intercept's, and 0 without one (Rifkin & Lippert 2007, Notes on regularized least squares). The
eigendecomposition is that of X̃ᵀX̃, or of X̃X̃ᵀ where columns are more than rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Vector = NDArray[np.float64]

# Without a penalty, the smallest eigenvalue of columns of norm 1, and the smallest 1 − h: below it fewer than about six digits are left.
LEAST_EIGENVALUE = 1e-10
# Rows that are made dense and rotated at a time: some megabytes for a thousand columns.
BLOCK = 1024


def leave_one_out(X: Any, targets: Vector, weights: Vector | None, alphas: Vector, intercept: bool) -> Vector:
    """√s_i e_i, of shape (rows, targets, alphas); `targets` has a column for each target.

    alpha = 0 is least squares without a penalty, and is refused where the columns are dependent, or are without some row.
    """
    count, dimension = X.shape
    if count <= dimension and not alphas.all():
        raise _dependent()
    s = np.ones(count) if weights is None else weights
    total, roots = s.sum(), np.sqrt(s)[:, None]
    mean = np.asarray(s @ X).ravel() / total if intercept else np.zeros(dimension)
    center = s @ targets / total if intercept else np.zeros(targets.shape[1])
    errors = roots * (targets - center)
    own = s / total if intercept else np.zeros(count)
    if count <= dimension:
        return _by_rows(_rows_product(X, mean, roots), errors, alphas, own)
    return _by_columns(X, mean, roots, errors, alphas, own)


def _blocks(X: Any, mean: Vector, roots: Vector) -> Iterator[tuple[slice, Vector]]:
    """x̃ of some rows at a time, dense."""
    for begin in range(0, X.shape[0], BLOCK):
        part = slice(begin, begin + BLOCK)
        block = X[part].toarray() if issparse(X) else X[part]
        yield part, roots[part] * (block.astype(np.float64) - mean)


def _rows_product(X: Any, mean: Vector, roots: Vector) -> Vector:
    """X̃X̃ᵀ."""
    product = np.empty((X.shape[0], X.shape[0]))
    for part, block in _blocks(X, mean, roots):
        # X̃ without its centering, minus what the centering takes from each row.
        product[part] = roots.T * (np.asarray(X @ block.T).T - (block @ mean)[:, None])
    return product


def _by_rows(product: Vector, errors: Vector, alphas: Vector, own: Vector) -> Vector:
    """For at most as many rows as columns: the residual is alpha·(X̃X̃ᵀ + alpha·I)⁻¹ỹ, and 1 − h alpha times the diagonal less s/S."""
    values, vectors = np.linalg.eigh(product)
    values, rotated, squares = np.maximum(values, 0.0), vectors.T @ errors, vectors * vectors
    found = np.empty((*errors.shape, alphas.size))
    for j, alpha in enumerate(alphas):
        kept = alpha / (values + alpha)
        found[:, :, j] = (vectors @ (kept[:, None] * rotated)) / (squares @ kept - own)[:, None]
    return found


def _by_columns(X: Any, mean: Vector, roots: Vector, errors: Vector, alphas: Vector, own: Vector) -> Vector:
    """For more rows than columns."""
    dimension = X.shape[1]
    gram, right = np.zeros((dimension, dimension)), np.zeros((dimension, errors.shape[1]))
    for part, block in _blocks(X, mean, roots):
        gram += block.T @ block
        right += block.T @ errors[part]
    found = np.empty((*errors.shape, alphas.size))
    squares = np.diagonal(gram)
    if not alphas.all() and (squares <= LEAST_EIGENVALUE**2 * float((roots * roots).sum()) * mean * mean).any():
        raise _dependent()  # a column of zeros, or a constant beside the intercept
    for chosen, is_scaled in ((alphas > 0.0, False), (alphas == 0.0, True)):
        if not chosen.any():
            continue
        # A fit without a penalty does not depend on scales, and columns of norm 1 show what is dependent.
        scales = 1.0 / np.sqrt(squares) if is_scaled else np.ones(dimension)
        values, vectors = np.linalg.eigh(scales[:, None] * gram * scales)
        if is_scaled and values[0] <= LEAST_EIGENVALUE:
            raise _dependent()
        values, vectors = np.maximum(values, 0.0), scales[:, None] * vectors
        along = vectors.T @ right
        for part, block in _blocks(X, mean, roots):
            rotated = block @ vectors
            for j in np.flatnonzero(chosen):
                inverse = 1.0 / (values + alphas[j])
                left = 1.0 - own[part] - (rotated * rotated) @ inverse
                if is_scaled and left.min() <= LEAST_EIGENVALUE:
                    raise _dependent()
                found[part, :, j] = (errors[part] - rotated @ (inverse[:, None] * along)) / left[:, None]
    return found


def _dependent() -> ValueError:
    return ValueError(
        "RidgeCV needs alphas > 0 for leave-one-out where columns are dependent with or without some row, got 0; leave 0 out, or pass a "
        "number of folds as cv"
    )
