"""The minimizer of a convex function of one number, from its slope alone."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# How much longer each trial of a step's length may be than the last while the way still leads downhill.
FARTHER = 8.0


class Bracket(NamedTuple):
    """Between which lengths of a step the slope passes zero, as far as it is known, and the last look."""

    low: float
    at_low: float
    high: float
    at_high: float
    last: float
    at_last: float
    is_middle_due: bool


def bracket(slope: float) -> Bracket:
    """What is known before the first look: the slope at 0, which is below zero."""
    return Bracket(0.0, slope, inf, inf, 0.0, slope, False)


def after(known: Bracket, t: float, here: float, bend: float, is_smooth: bool) -> tuple[Bracket, float]:
    """What a look at t adds, where slope and bend are these, and the length to look at next; NaN where float64 knows none.

    `is_smooth` says that the slope has no corners. Kernels compile this too, so it keeps to plain numbers.
    """
    before = abs(known.at_last) if known.last else inf
    low, at_low, high, at_high, due = known.low, known.at_low, known.high, known.at_high, known.is_middle_due
    if here < 0.0:
        low, at_low = t, here
    else:
        high, at_high = t, here
    # Where slope and bend say that it is: on a line, or on a parabola through the last place too, which no kink bends.
    proposal = nan
    if bend > 0.0 and not is_smooth:
        proposal = t - here / bend
    elif bend > 0.0:
        bending = ((known.at_last - here) / (known.last - t) - bend) / (known.last - t)
        # Where the parabola never comes to zero, twice as far as the line says.
        proposal = t - 2.0 * here / (bend + sqrt(max(bend * bend - 4.0 * bending * here, 0.0)))
    if high == inf:
        proposal = min(proposal, FARTHER * t) if proposal > t else 2.0 * t
    elif abs(here) > 0.5 * before or not (low < proposal and proposal < high):
        # On the line between both ends and in their middle, in turn: the one may jump there, the other surely arrives.
        line = low + (high - low) * at_low / (at_low - at_high)
        is_middle = due or not (low < line and line < high)
        due = not due
        proposal = 0.5 * (low + high) if is_middle else line
    if not (low < proposal and proposal < high):
        proposal = nan
    return Bracket(low, at_low, high, at_high, t, here, due), proposal


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
