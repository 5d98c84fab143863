"""Products with a stretch of rows: X v, Xᵀ c, Xᵀ B X v, the part of a Hessian that the rows make, and Xᵀ C X itself."""

from __future__ import annotations

import numpy as np

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import FOUR, ONE, THREE, TWO, add_to, dot


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
def hessian_rows(rows, begin, end, hessian_weights, vector, shift, score_direction, out):
    """score_direction_i = ⟨x_i, v⟩ + shift and out += Σ hessian_weights_i·score_direction_i·x_i over begin ≤ i < end.

    Between its two uses a row stays in the nearest cache. Rows of weight zero are not read; their scores are left alone.
    """
    for i in range(begin, end):
        weight = hessian_weights[i]
        if weight != 0.0:
            move = dot(rows, i, vector) + shift
            score_direction[i] = move
            add_to(rows, i, weight * move, out)


@kernel
def square_rows(rows, begin, end, factors, out):
    """The lower triangle of out += Σ c_i x_i x_iᵀ over sparse rows begin ≤ i < end, whose indices rise in every row.

    Four lines of it at a time: a value and its column are read once for all of them.
    """
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for i in range(begin, end):
        factor = factors[i]
        if factor == 0.0:
            continue
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        p = first
        while p + FOUR <= last:
            a, b, c, d = p, p + ONE, p + TWO, p + THREE
            of_a, of_b, of_c, of_d = factor * data[a], factor * data[b], factor * data[c], factor * data[d]
            line_a, line_b = out[np.uint64(indices[a])], out[np.uint64(indices[b])]
            line_c, line_d = out[np.uint64(indices[c])], out[np.uint64(indices[d])]
            for q in range(first, b):
                j, value = np.uint64(indices[q]), data[q]
                line_a[j] += of_a * value
                line_b[j] += of_b * value
                line_c[j] += of_c * value
                line_d[j] += of_d * value
            at_b, at_c, at_d = np.uint64(indices[b]), np.uint64(indices[c]), np.uint64(indices[d])
            line_b[at_b] += of_b * data[b]
            line_c[at_b] += of_c * data[b]
            line_c[at_c] += of_c * data[c]
            line_d[at_b] += of_d * data[b]
            line_d[at_c] += of_d * data[c]
            line_d[at_d] += of_d * data[d]
            p += FOUR
        while p < last:
            scale, line = factor * data[p], out[np.uint64(indices[p])]
            for q in range(first, p + ONE):
                line[np.uint64(indices[q])] += scale * data[q]
            p += ONE
