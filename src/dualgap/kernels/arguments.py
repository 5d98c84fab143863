"""What several kernels take: the rows with their labels and weights, the numbers of a dual step, and mutable scalars by name.

A NamedTuple groups arrays and numbers that are read. Scalars that a kernel changes are fields of one NumPy record, which
compiled code and plain Python both read and write by name (`scalars.intercept`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

# Below this a scale that vectors share is multiplied into them, before its reciprocal costs the averages digits.
SMALLEST_SCALE = 1e-5


class RowData(NamedTuple):
    """The rows, one label each, and one sample weight each (None where all are 1)."""

    rows: Any
    labels: Any
    sample_weight: Any


class DualConstants(NamedTuple):
    """The numbers of a problem that a dual step depends on."""

    squared_norms: Any
    strength: float
    lambda_n: float
    """λS."""
    intercept_rate: float
    """1/(μS), by which a unit of s_iΔα_i moves a free intercept; 0 without one."""


def record(**fields):
    """A new record with these fields, each of the type of its first value (int64 or float64)."""
    kinds = [(name, np.int64 if isinstance(value, int) else np.float64) for name, value in fields.items()]
    return np.array(tuple(fields.values()), dtype=np.dtype((np.record, kinds)))[()]


@register_jitable
def weight_of(sample_weight, i):
    """s_i; a constant 1 in code compiled for None."""
    if sample_weight is None:
        return 1.0
    return sample_weight[i]
