"""The minimizer of a convex function of one number, from its slope alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def between_kinks(slope: Callable[[float], float], kinks: NDArray[np.float64]) -> float:
    """Where a slope that is constant between sorted kinks passes zero; the middle of the stretch where it is zero."""
    low, high = 0, kinks.size - 1
    # Invariant: the slope left of kinks[low] is not positive, right of kinks[high] not negative.
    while low < high:
        k = (low + high) // 2
        middle = float(0.5 * (kinks[k] + kinks[k + 1]))
        here = slope(middle)
        if here == 0.0:
            return middle
        low, high = (k + 1, high) if here < 0.0 else (low, k)
    return float(kinks[low])


def slope_root(slope: Callable[[float], tuple[float, float]], bend: Callable[[float], float], start: float) -> float:
    """The root of a rising slope: Newton inside a bracket, bisecting whenever the slope does not halve.

    `slope` gives the slope and the size of what was summed for it; a slope within rounding of that size counts as zero.
    """
    b, stride, before = start, 1.0, np.inf
    low, high = -np.inf, np.inf
    for _ in range(200):
        here, size = slope(b)
        if abs(here) <= np.finfo(np.float64).eps * size:
            break
        low, high = (b, high) if here < 0.0 else (low, b)
        bending = bend(b)
        newton = b - here / bending if bending > 0.0 else np.nan
        bounded = np.isfinite(low) and np.isfinite(high)
        if low < newton < high and (abs(here) <= 0.5 * before or not bounded):
            proposal = newton
        elif bounded:
            proposal = 0.5 * (low + high)
        else:
            proposal = b - float(np.sign(here)) * stride
            stride *= 4.0
        if not low < proposal < high:
            break
        before, b = abs(here), float(proposal)
    return b
