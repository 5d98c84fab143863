"""The best factor along the ray through some duals: the root of a slope that falls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualgap.linalg.floats import HALF_DIGITS, TINY
from dualgap.linalg.root_finding import MAX_STEPS, STEP_GROWTH


def best_factor(slope: Callable[[float], float], limit: float, baseline: float) -> float:
    """The t in (0, limit] that maximizes D(tα); `slope` is d/dt of D(tα), and `baseline` the size of D.

    D bounds P* at any t, so half of the digits of t are enough: D differs from its largest value by the square of what is
    missing. The slope is a line in t for a loss with a quadratic conjugate.
    """
    if not limit > 0.0:
        return 1.0
    low, high = TINY, min(1.0, limit)
    at_low, at_high = slope(low), slope(high)
    while at_high > 0.0 and high < limit:
        # D still rises: look further out, at least where a line through both slopes would pass zero.
        root = _on_line(low, at_low, high, at_high)
        low, at_low, high = high, at_high, min(limit, max(STEP_GROWTH * high, root))
        at_high = slope(high)
    if not (np.isfinite(at_low) and np.isfinite(at_high)):
        return 1.0
    if at_high >= 0.0:
        return high
    if at_low <= 0.0:
        return 0.0
    t = high
    for step in range(MAX_STEPS):
        if high - low <= HALF_DIGITS * high:
            break
        # Secant and bisection in turn: the first is exact for a line, the second cannot be led astray by a steep end.
        if step % 2 == 0:
            t = _on_line(low, at_low, high, at_high)
        else:
            t = 0.5 * (low + high) if low > TINY else high / STEP_GROWTH
        here = slope(t)
        if abs(here) <= HALF_DIGITS * baseline:
            break
        low, at_low, high, at_high = (t, here, high, at_high) if here > 0.0 else (low, at_low, t, here)
    return t


def _on_line(low: float, at_low: float, high: float, at_high: float) -> float:
    """Where the line through two slopes passes zero; no number for a level line."""
    difference = at_low - at_high
    return low + (high - low) * (at_low / difference) if difference > 0.0 else np.nan
