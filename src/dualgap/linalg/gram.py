"""Gram matrices of rows: Σ c_i x_i x_iᵀ and X Xᵀ; dense rows by BLAS, sums over sparse rows by a kernel that is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.parallel import checkpoint
from dualgap.linalg.partition import SETTINGS, partition, run_slices, sum_slices

if TYPE_CHECKING:
    from dualgap.data.rows import Rows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
SquareRows = Callable[..., None]
"""The kernel square_rows(arrays, begin, end, c, out): the lower triangle of out += Σ c_i x_i x_iᵀ over sparse rows."""


def weighted_gram(rows: Rows, coefficients: Vector, square_rows: SquareRows | None) -> Matrix:
    """Σ c_i x_i x_iᵀ for c_i ≥ 0; `square_rows` is needed for sparse rows alone."""

    def add(part: slice, out: Matrix) -> None:
        if square_rows is not None:
            square_rows(rows.arrays, np.uint64(part.start), np.uint64(part.stop), coefficients, out)
        else:
            out += _scaled_gram(rows.block(part), coefficients[part])

    shape = (rows.dimension, rows.dimension)
    # The terms of the sum together are no larger than dense rows are.
    total = sum_slices(add, rows.partition, shape, min(SETTINGS.max_terms, rows.count // rows.dimension))
    return total if square_rows is None else _mirrored(total)


def compile_gram(rows: Rows, square_rows: SquareRows) -> None:
    """Compile the kernel for rows of this kind, by calling it over none of them."""
    none = np.uint64(0)
    square_rows(rows.arrays, none, none, np.zeros(rows.count), np.zeros((rows.dimension, rows.dimension)))


def row_gram(rows: Rows) -> Matrix:
    """X Xᵀ."""
    if not rows.is_sparse and rows.dimension > rows.count:
        return _gram_by_columns(rows.arrays[0])
    if rows.is_sparse:
        rows = rows.without_empty_columns()
    out = np.empty((rows.count, rows.count))

    def fill(part: slice) -> None:
        # Sparse rows times a dense matrix are far quicker than times sparse rows.
        own = rows.block(part).toarray().T if rows.is_sparse else rows.block(part).T
        for others in rows.partition:
            if others.stop > part.start:
                checkpoint()
                out[others, part] = rows.block(others) @ own

    # As large as a slice may be are both the rows that are made dense and the part of the matrix that they fill.
    strips = partition(rows.count, max(rows.count, rows.dimension))
    run_slices(fill, strips)

    def mirror(part: slice) -> None:
        corner = out[part, part]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        out[part, part.stop :] = out[part.stop :, part].T

    run_slices(mirror, strips)
    return out


def _gram_by_columns(values: NDArray[np.float64]) -> Matrix:
    """X Xᵀ of few long rows, as a sum over slices of columns."""
    count, dimension = values.shape

    def add(columns: slice, out: Matrix) -> None:
        part = values[:, columns].astype(np.float64, copy=False)
        out += part @ part.T

    max_terms = min(SETTINGS.max_terms, dimension // count)
    return sum_slices(add, partition(dimension, count), (count, count), max_terms)


def _scaled_gram(values: Matrix, coefficients: Vector) -> Matrix:
    """Σ c_i x_i x_iᵀ over the rows of a matrix; rows whose coefficient is zero are left out."""
    if not coefficients.all():
        kept = np.flatnonzero(coefficients)
        values, coefficients = values[kept], coefficients[kept]
    if coefficients.size and coefficients.min() == coefficients.max():
        return np.asarray(values.T @ values) * float(coefficients[0])  # no row needs to be scaled
    scaled = values * np.sqrt(coefficients)[:, None]
    return np.asarray(scaled.T @ scaled)


def _mirrored(lower: Matrix) -> Matrix:
    """The symmetric matrix whose lower triangle is given; the other one is zero."""
    upper = lower.T.copy()
    np.fill_diagonal(upper, 0.0)
    return lower + upper
