"""Σ c_i x_i x_iᵀ over the rows: dense ones by BLAS, scaled a block at a time, sparse ones by a kernel that is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.parallel import checkpoint, parallel_map

if TYPE_CHECKING:
    from dualgap.data.rows import Rows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
SquareRows = Callable[..., None]
"""The kernel square_rows(arrays, begin, end, c, out): the lower triangle of out += Σ c_i x_i x_iᵀ over sparse rows."""

# Scaled copies of dense rows have about this many bytes, which stay in the cache.
BLOCK_BYTES = 1 << 20
# Every part of the rows makes a matrix of its own; more parts than this would cost memory and bring no speed.
MAX_PARTS = 8


def weighted_gram(rows: Rows, coefficients: Vector, square_rows: SquareRows | None) -> Matrix:
    """Σ c_i x_i x_iᵀ for c_i ≥ 0; `square_rows` is needed for sparse rows alone."""
    common = float(coefficients[0])
    is_constant = square_rows is None and bool((coefficients == common).all())

    def part_gram(part: slice) -> Matrix:
        out = np.zeros((rows.dimension, rows.dimension))
        if square_rows is not None:
            square_rows(rows.arrays, np.uint64(part.start), np.uint64(part.stop), coefficients, out)
            return out
        for run in rows.runs(part, BLOCK_BYTES):
            checkpoint()
            block = rows.block(run)
            out += block.T @ block if is_constant else _block_gram(block, coefficients[run])
        return out

    grams = parallel_map(part_gram, rows.parts(MAX_PARTS))
    total = next(grams)
    for other in grams:
        total += other
    if square_rows is not None:
        return _mirrored(total)
    return total * common if is_constant else total


def compile_gram(rows: Rows, square_rows: SquareRows) -> None:
    """Compile the kernel for rows of this kind, by calling it over none of them."""
    none = np.uint64(0)
    square_rows(rows.arrays, none, none, np.zeros(rows.count), np.zeros((rows.dimension, rows.dimension)))


def _block_gram(block: Matrix, coefficients: Vector) -> Matrix:
    """Σ c_i x_i x_iᵀ over the rows of a matrix; rows whose coefficient is zero are left out."""
    if not coefficients.all():
        kept = np.flatnonzero(coefficients)
        block, coefficients = block[kept], coefficients[kept]
    scaled = block * np.sqrt(coefficients)[:, None]
    return np.asarray(scaled.T @ scaled)


def _mirrored(lower: Matrix) -> Matrix:
    """The symmetric matrix whose lower triangle is given; the other one is zero."""
    upper = lower.T.copy()
    np.fill_diagonal(upper, 0.0)
    return lower + upper
