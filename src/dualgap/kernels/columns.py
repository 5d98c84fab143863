"""Columns of sparse rows."""

from __future__ import annotations

import numpy as np

from dualgap.kernels.compile import kernel


@kernel
def take_columns(rows, places, ends, data, indices):
    """Write every value of some columns, and the number of its row, after the others of its column.

    Column j is the one numbered places[j] of those taken, or is left out where that is negative. `ends` begins with the places where
    the columns begin in `data` and `indices`, and ends with those where they end.
    """
    for i in range(rows.indptr.size - 1):
        for p in range(rows.indptr[i], rows.indptr[np.uint64(i) + np.uint64(1)]):
            k = places[rows.indices[p]]
            if k >= 0:
                q = ends[k]
                data[q], indices[q] = rows.data[p], i
                ends[k] = q + 1
