"""Where the slope of a convex function of one number passes zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# A search in float64 halves its bracket at least every other step, so it ends long before.
MAX_STEPS = 200
# How much farther each step may go while no bracket is known.
STEP_GROWTH = 4.0


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


def slope_root(
    slope: Callable[[float], tuple[float, float]], derivative: Callable[[float], float], start: float
) -> float:
    """The root of a rising slope: Newton inside a bracket, bisecting whenever the slope does not halve.

    `slope` gives the slope and the size of what was summed for it; a slope within rounding of that size counts as zero. Of the points
    that were tried, the one with the smallest slope is returned: next to a root that no float hits, one end of the bracket may be far better.
    """
    b, step, before = start, 1.0, np.inf
    best, smallest = start, np.inf
    low, high = -np.inf, np.inf
    for _ in range(MAX_STEPS):
        here, size = slope(b)
        if abs(here) < smallest:
            best, smallest = b, abs(here)
        if abs(here) <= np.finfo(np.float64).eps * size:
            break
        low, high = (b, high) if here < 0.0 else (low, b)
        rise = derivative(b)
        newton = b - here / rise if rise > 0.0 else np.nan
        if newton == b:
            break  # the step is below the last digit of b
        bounded = np.isfinite(low) and np.isfinite(high)
        if low < newton < high and (abs(here) <= 0.5 * before or not bounded):
            proposal = newton
        elif bounded:
            # The middle, or nearer to the start where a Newton step over a flat stretch led far beyond the root.
            nearer, towards = (low, 1.0) if abs(low - start) <= abs(high - start) else (high, -1.0)
            half = 0.5 * (high - low)
            proposal = 0.5 * (low + high) if half <= step else nearer + towards * step
            step *= STEP_GROWTH
        else:
            proposal = b - float(np.sign(here)) * step
            step *= STEP_GROWTH
        if not low < proposal < high:
            break
        before, b = abs(here), float(proposal)
    return best
