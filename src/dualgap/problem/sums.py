"""Sums over rows: sums with sample weights, and roots of sums of squares."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.floats import SAFE_SQUARES
from dualgap.linalg.partition import partition, run_slices

Vector = NDArray[np.float64]

EVERY = slice(None)


def each(count: int, values: Callable[[slice], Vector]) -> Vector:
    """v_i for `count` rows, computed slice by slice; always a new vector."""
    out = np.empty(count)

    def fill(c: slice) -> None:
        out[c] = values(c)

    run_slices(fill, partition(count))
    return out


def total(weights: Vector | None, values: Vector) -> float:
    """Σ s_i v_i."""
    if weights is None:
        return float(values.sum())
    found = float(weights @ values)
    # A row without weight does not count, but zero times infinity is NaN.
    return found if not isnan(found) else float(weights @ np.where(weights > 0.0, values, 0.0))


def root_of_squares(weights: Vector | None, values: Vector) -> float:
    """The root of Σ s_i v_i², also where squares leave float64's range."""
    squares = float(values @ values if weights is None else (weights * values) @ values)
    if SAFE_SQUARES < squares < np.inf:
        return sqrt(squares)
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0.0 or not np.isfinite(unit):
        return unit
    return unit * sqrt(total(weights, (values / unit) ** 2))
