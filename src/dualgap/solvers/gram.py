"""Σ c_i x_i x_iᵀ over the rows: dense ones by BLAS in blocks, sparse ones by a kernel; on threads, and no copy of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from dualgap.rows import Rows
from dualgap.solvers.base import Vector
from dualgap.threads import mapped, runs

# Scaled copies of dense rows are this many bytes at a time; so many rows where they are long, because each block brings a
# matrix of its own, and then at most this part of the data.
BLOCK_BYTES, BLOCK_ROWS, BLOCK_PART = 1 << 20, 1 << 10, 32
# Threads share the work where it is more than this many products, of dense rows or of sparse ones: fewer take no longer than
# a thread that slept for a while to wake. Each part brings a matrix, so they are few.
DENSE_PRODUCTS, SPARSE_PRODUCTS, MOST_PARTS = 5 << 22, 3 << 21, 8
# Up to so many columns BLAS is quicker to multiply two matrices than one with itself, with so many bytes of rows at a time.
NARROW, NARROW_BYTES = 32, 1 << 19
# Of few rows those without a factor are left out where they are all but one in so many.
WORTH_PICKING = 4
# Scaling a value costs as much as so many products with it.
SCALING = 44

Matrix = NDArray[np.float64]


def weighted_gram(rows: Rows, factors: Vector) -> Matrix:
    """Σ c_i x_i x_iᵀ over the rows whose factor c_i ≥ 0 is not zero."""
    if rows.is_sparse:
        return _mirrored(_added(rows, lambda part, out: _add_sparse(rows, part, factors, out)))
    # On small data the calls of the other branches cost more than the product.
    small = rows.plain if 8 * rows.stored <= (NARROW_BYTES if rows.dimension <= NARROW else BLOCK_BYTES) else None
    low, high = factors.min(), factors.max()
    if low == high:
        # All rows count alike, as with the squared loss: nothing needs scaling, and float64 rows no copy.
        if small is not None:
            return _square(small) * float(low)
        return _added(rows, lambda part, out: _add_plain(rows, part, out)) * float(low)
    if small is not None and (low > 0.0 or WORTH_PICKING * np.count_nonzero(factors) >= factors.size):
        return _product(small, factors)
    return _added(rows, lambda part, out: _add_scaled(rows, part, factors, out, has_zeros=not low > 0.0))


def compile_for(rows: Rows, nothing: Vector) -> None:
    """Compile what sparse rows of this kind need, over none of them; `nothing` is a zero a row."""
    _add_sparse(rows, slice(0, 0), nothing, np.zeros((rows.dimension, rows.dimension)))


def _parts(rows: Rows) -> list[slice]:
    """Runs of rows to share between threads; they depend on the size alone, so that sums have the same bits."""
    if rows.is_sparse:
        worth = rows.stored * rows.stored // rows.count // SPARSE_PRODUCTS
    else:
        worth = rows.stored * (rows.dimension + SCALING) // DENSE_PRODUCTS
    pieces = min(max(1, worth), MOST_PARTS, rows.count)
    # A power of two: three parts keep two threads waiting for one.
    return runs(rows.count, 1 << (pieces.bit_length() - 1))


def _added(rows: Rows, add: Any) -> Matrix:
    """The sum over the parts of what `add` makes of each, in their order."""

    def made(part: slice) -> Matrix:
        out = np.zeros((rows.dimension, rows.dimension))
        add(part, out)
        return out

    parts = mapped(made, _parts(rows))
    total = next(parts)
    for other in parts:
        total += other
    return total


def _is_alone(rows: Rows, part: slice) -> bool:
    """Whether no other thread works on other rows: two would wait for the interpreter after every short call."""
    return len(range(part.start, part.stop)) == rows.count


def _add_plain(rows: Rows, part: slice, out: Matrix) -> None:
    for run in rows.ready(part):
        block = rows.block(run)
        out += _square(block) if _is_alone(rows, part) else block.T @ block


def _add_scaled(rows: Rows, part: slice, factors: Vector, out: Matrix, has_zeros: bool) -> None:
    size = max(BLOCK_BYTES, min(8 * BLOCK_ROWS * rows.dimension, 8 * rows.stored // BLOCK_PART))
    if rows.dimension <= NARROW and _is_alone(rows, part):
        size = NARROW_BYTES
    for run in rows.runs(part, size):
        own, block = factors[run], rows.block(run)
        if has_zeros and not own.all():
            kept = np.flatnonzero(own)
            own, block = own[kept], block[kept]
        out += _product(block, own)


def _square(block: Matrix) -> Matrix:
    """Σ x_i x_iᵀ over the rows of a matrix."""
    columns = block.shape[1]
    if columns > NARROW:
        return np.asarray(block.T @ block)
    height, total = NARROW_BYTES // (8 * columns), np.zeros((columns, columns), order="F")
    for begin in range(0, block.shape[0], height):
        # NumPy would see a matrix times itself and call the slower one.
        run = block[begin : begin + height].T
        total = dgemm(1.0, run, run, beta=1.0, c=total, trans_b=1, overwrite_c=1)
    return np.asarray(total)


def _product(block: Matrix, factors: Vector) -> Matrix:
    """Σ c_i x_i x_iᵀ over the rows of a matrix."""
    if block.shape[1] <= NARROW:
        return np.asarray(block.T @ (block * factors[:, None]))
    scaled = block * np.sqrt(factors)[:, None]
    return np.asarray(scaled.T @ scaled)


def _add_sparse(rows: Rows, part: slice, factors: Vector, out: Matrix) -> None:
    # Imported only where it is used: dense problems need no compiler.
    from dualgap import kernels

    kernels.products.square_rows(rows.arrays, np.uint64(part.start), np.uint64(part.stop), factors, out)


def _mirrored(lower: Matrix) -> Matrix:
    """The symmetric matrix whose lower triangle is given; the other one is zero."""
    upper = lower.T.copy()
    np.fill_diagonal(upper, 0.0)
    return lower + upper
