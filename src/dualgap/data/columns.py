"""How large the columns of some rows are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows

Vector = NDArray[np.float64]

# The variance of a column, as a fraction of its mean square, up to which the column counts as constant. The computed variance of a
# constant column is some 1e-16 of it; a larger bound would drop columns that differ in their seventh digit.
CONSTANT_PART = 1e-13


def mean_squares(rows: Rows, sample_weight: Vector | None = None, centered: bool = False) -> Vector:
    """The mean of s_i x_ij² for each column j; with `centered`, of the squares of differences from the column's mean."""
    sums, squares = np.zeros(rows.dimension), np.zeros(rows.dimension)
    total = float(rows.count if sample_weight is None else sample_weight.sum())
    for part, block in rows.blocks():
        s = np.ones(part.stop - part.start) if sample_weight is None else sample_weight[part]
        sums += s @ block
        squares += s @ (block.multiply(block) if rows.is_sparse else block * block)
    squares /= total
    if not centered:
        return squares
    variances = squares - (sums / total) ** 2
    variances[variances <= CONSTANT_PART * squares] = 0.0
    return np.asarray(variances)
