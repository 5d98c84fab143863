"""The best point of a concave function on a segment, from its slope alone."""

from __future__ import annotations

from collections.abc import Callable


def concave_root(slope: Callable[[float], float], limit: float, steps: int = 12) -> float:
    """Where a decreasing slope crosses zero on (0, limit], searched outwards from 1; good to a few digits.

    The answer only tightens a bound that is valid at every point, so few steps are enough.
    """
    here = min(1.0, limit)
    at_here = slope(here)
    if abs(at_here) <= 1e-14:
        return here
    step = 1e-6
    if at_here > 0.0:
        if here == limit:
            return here
        low, high = here, limit
        while here + step < limit and slope(here + step) > 0.0:
            low, step = here + step, 8.0 * step
        high = min(here + step, limit)
    else:
        high, low = here, 0.0
        while here - step > 0.0 and slope(here - step) < 0.0:
            high, step = here - step, 8.0 * step
        low = max(here - step, 0.0)
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return low if low > 0.0 else 0.5 * high
