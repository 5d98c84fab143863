"""Products with a stretch of rows: X v, Xᵀ c, Xᵀ B X v, the part of a Hessian that the rows make, and Xᵀ C X itself."""

from __future__ import annotations

import numpy as np

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot


@kernel
def score_rows(rows, begin, end, vector, out):
    """out_i = ⟨x_i, v⟩ for begin ≤ i < end; other places are left alone."""
    for i in range(begin, end):
        out[i] = dot(rows, i, vector)


@kernel
def combine_rows(rows, begin, end, coefficients, out):
    """out += Σ c_i x_i over begin ≤ i < end; rows whose coefficient is zero are not read."""
    for i in range(begin, end):
        scale = coefficients[i]
        if scale != 0.0:
            add_to(rows, i, scale, out)


@kernel
def curve_rows(rows, begin, end, bends, vector, shift, moves, out):
    """moves_i = ⟨x_i, v⟩ + shift and out += Σ bends_i moves_i x_i over begin ≤ i < end.

    Between its two uses a row stays in the nearest cache. Rows without curvature are not read; their moves are left alone.
    """
    for i in range(begin, end):
        bend = bends[i]
        if bend != 0.0:
            move = dot(rows, i, vector) + shift
            moves[i] = move
            add_to(rows, i, bend * move, out)


@kernel
def square_rows(rows, begin, end, factors, out):
    """The lower triangle of out += Σ c_i x_i x_iᵀ over sparse rows begin ≤ i < end, whose indices rise in every row."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for i in range(begin, end):
        factor = factors[i]
        if factor == 0.0:
            continue
        first = np.uint64(indptr[i])
        for p in range(first, np.uint64(indptr[i + np.uint64(1)])):
            scale = factor * data[p]
            target = out[np.uint64(indices[p])]
            for q in range(first, p + np.uint64(1)):
                target[np.uint64(indices[q])] += scale * data[q]
