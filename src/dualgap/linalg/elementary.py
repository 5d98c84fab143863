"""What losses, penalties and options share: whether a value is a number, and the soft threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def is_number(value: Any) -> bool:
    """Whether a parameter is a finite real number, of Python or of NumPy."""
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))


def soft(values: Vector, epsilon: float) -> Vector:
    """Soft threshold: towards zero by ε, and zero within it."""
    return values if epsilon == 0.0 else np.sign(values) * np.maximum(np.abs(values) - epsilon, 0.0)
