"""How well scores fit labels: the accuracy of a classification, and R² of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.floats import SAFE_SQUARES

Vector = NDArray[np.float64]


def score(scores: Vector, labels: Vector, task: str, sample_weight: Vector | None = None) -> float:
    """Accuracy for the labels −1/+1 (a score of 0 counts as −1), or R² for real targets."""
    if task == "classification":
        return accuracy((scores > 0.0) == (labels > 0.0), sample_weight)
    with np.errstate(over="ignore", under="ignore"):
        deviations, errors = labels - _mean(labels, sample_weight), labels - scores
        variance, error = _mean_square(deviations, sample_weight), _mean_square(errors, sample_weight)
        if not (SAFE_SQUARES < variance < np.inf):
            # In units of the largest deviation neither square leaves float64's range before R² itself does.
            unit = float(np.abs(deviations).max())
            if unit == 0.0:
                return 1.0 if np.array_equal(scores, labels) else 0.0
            variance, error = (_mean_square(values / unit, sample_weight) for values in (deviations, errors))
    return 1.0 - error / variance if variance > 0.0 else 0.0


def accuracy(is_right: NDArray[np.bool_], sample_weight: Vector | None = None) -> float:
    """The weighted part of the rows that are right."""
    if sample_weight is None:
        return float(np.count_nonzero(is_right) / is_right.size)  # far quicker than the mean of numbers
    return _mean(is_right, sample_weight)


def _mean(values: NDArray[Any], sample_weight: Vector | None) -> float:
    return float(values.mean()) if sample_weight is None else float(sample_weight @ values) / float(sample_weight.sum())


def _mean_square(values: Vector, sample_weight: Vector | None) -> float:
    if sample_weight is None:
        return float(values @ values) / values.size
    squares = values * values
    if not np.isfinite(squares).all():
        # A row of weight zero does not count, but zero times infinity is NaN.
        squares = np.where(sample_weight > 0.0, squares, 0.0)
    return _mean(squares, sample_weight)
