"""Sums over rows: the partition into chunks, sums with sample weights, and roots of sums of squares."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.parallel import even_slices, parallel_map

Vector = NDArray[np.float64]

# The largest and the smallest number of rows in a chunk. A formula's temporaries have a chunk's length: a larger chunk needs memory
# beside the data, and smaller chunks cost two threads more in waiting for each other than they compute.
LARGEST_CHUNK, SMALLEST_CHUNK = 1 << 16, 1 << 15
# A sum of squares below this may have lost digits to underflow.
SAFE_SQUARES = 1e-200

EVERY = slice(None)


def chunks(count: int) -> list[slice]:
    """Slices that cover `count` rows, which threads may share; an eighth of the rows each, within the bounds on a chunk."""
    if count <= LARGEST_CHUNK:
        return [slice(0, count)]
    slice_count = -(-count // min(max(count // 8, SMALLEST_CHUNK), LARGEST_CHUNK))
    # An odd number of slices would keep half of the threads waiting for the last one.
    return even_slices(count, slice_count + slice_count % 2)


def each(count: int, values: Callable[[slice], Vector]) -> Vector:
    """v_i for `count` rows, computed chunk by chunk; always a new vector."""
    out = np.empty(count)

    def fill(c: slice) -> None:
        out[c] = values(c)

    for _ in parallel_map(fill, chunks(count)):
        pass
    return out


def total(weights: Vector | None, values: Vector) -> float:
    """Σ s_i v_i."""
    return float(values.sum() if weights is None else weights @ values)


def root_of_squares(weights: Vector | None, values: Vector) -> float:
    """The root of Σ s_i v_i², also where squares leave float64's range."""
    squares = float(values @ values if weights is None else (weights * values) @ values)
    if SAFE_SQUARES < squares < np.inf:
        return sqrt(squares)
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0.0 or not np.isfinite(unit):
        return unit
    return unit * sqrt(total(weights, (values / unit) ** 2))
