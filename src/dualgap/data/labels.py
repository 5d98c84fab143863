"""Strengths, targets, labels and sample weights as the numbers a problem works with; what is none is refused in one sentence."""

from __future__ import annotations

from math import frexp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


def checked_strength(strength: float) -> float:
    try:
        value = float(strength)
    except (TypeError, ValueError):
        value = float("nan")
    if not (np.isfinite(value) and value > 0.0):
        raise ValueError(f"strength needs to be a finite number > 0, got {strength!r}; 1/n is a common choice")
    return value


def as_column(y: ArrayLike) -> NDArray[Any]:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y needs one dimension, got shape {values.shape}; pass one label a row")
    return values


def check_length(values: NDArray[Any], count: int | None, name: str) -> None:
    if count is not None and values.size != count:
        raise ValueError(
            f"{name} needs one value a row ({count}), got {values.size}; check that X and {name} belong together"
        )


def real_targets(y: ArrayLike, count: int | None) -> Vector:
    values = as_column(y)
    check_length(values, count, "y")
    if values.dtype.kind == "c":
        raise ValueError("y needs real numbers, got complex ones; pass the real part")
    try:
        targets = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y needs numbers for a regression loss, got values of type {values.dtype}; choose a classification loss or encode them"
        ) from None
    if not np.isfinite(targets).all():
        raise ValueError("y needs finite numbers, got NaN or infinity; drop the rows that hold them")
    return targets


def two_classes(y: ArrayLike, count: int, weights: Vector | None) -> tuple[Vector, NDArray[Any]]:
    """Labels −1/+1, the larger of the two values being +1, and the two values."""
    values = as_column(y)
    check_length(values, count, "y")
    if values.dtype.kind == "c":
        raise ValueError("y needs labels of two values, got complex numbers; encode them first")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("y needs labels of two values, got NaN or infinity; drop the rows that hold them")
    try:
        classes = _distinct(values)
    except TypeError:
        raise ValueError(
            "y needs labels of one type, got a mixture that cannot be ordered; encode them as two values"
        ) from None
    if classes.size > 2:
        first, *_, last = classes.tolist()
        raise ValueError(
            f"a classification loss needs two labels, got {classes.size} ({first} to {last}); choose which are positive, or use a regression loss"
        )
    counted = classes if weights is None else _distinct(values[weights > 0])
    if counted.size < 2:
        raise ValueError(
            f"a classification loss needs two labels among rows of positive weight, got only {counted.tolist()}; add rows of the other class"
        )
    return np.where(values == classes[1], 1.0, -1.0), classes


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The different values in order; two numbers are found without sorting."""
    if values.size and values.dtype.kind in "biuf":
        ends = np.array([values.min(), values.max()], dtype=values.dtype)
        if np.logical_or(values == ends[0], values == ends[1]).all():
            return ends if ends[0] != ends[1] else ends[:1]
    return np.unique(values)


def checked_weights(weights: ArrayLike | None, count: int) -> Vector | None:
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    values = np.full(count, float(values)) if values.ndim == 0 else np.ascontiguousarray(values)
    if values.ndim != 1:
        raise ValueError(f"sample_weight needs one dimension, got shape {values.shape}; pass one weight a row")
    check_length(values, count, "sample_weight")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "sample_weight needs finite numbers ≥ 0, got others; drop rows instead of weighting them negatively"
        )
    with np.errstate(over="ignore"):
        check_total_weight(float(values.sum()))
    return values


def check_total_weight(total: float) -> None:
    """Refuse sample weights whose sum is zero or beyond float64."""
    if not 0.0 < total < np.inf:
        raise ValueError(
            "sample_weight needs a positive finite sum, got all zeros or an overflow; leave it out for equal weights"
        )


def normalized(weights: Vector | None) -> tuple[Vector | None, float]:
    """The weights in units of a power of two, so that the largest is in [1, 2), and that unit.

    P and D do not change with the unit, and it costs no digit; sums and products then stay inside float64's range.
    """
    if weights is None:
        return None, 1.0
    found, exponent = scaled(weights)
    return found, float(np.ldexp(1.0, exponent))


def scaled(weights: Vector) -> tuple[Vector, int]:
    """Weights in units of 2 to the power that is returned, so that the largest is in [1, 2); zeros stay as they are."""
    largest = float(weights.max(initial=0.0))
    exponent = frexp(largest)[1] - 1 if largest else 0
    return (np.ldexp(weights, -exponent) if exponent else weights), exponent
