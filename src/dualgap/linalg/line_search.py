"""Trial step sizes of a line search: a bracket around the zero of the slope of a convex function, and the next trial in it."""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import NamedTuple

# A trial is accepted once its slope is below 0.2 times the slope at 0; a better step size costs more trials than it saves steps.
SLOPE_REDUCTION = 0.2
# The ratio of a trial to the last one, at most, while every slope is negative: a tangent that is nearly flat leads too far.
MAX_GROWTH = 8.0
# A trial with a positive slope may still end higher than t = 0. It is trusted where the derivative of the slope there,
# divided by its mean along the step, is at least 1/4: a parabola has 1, a slope that rose early and stayed has less.
STEADY_PART = 0.25


class Bracket(NamedTuple):
    """Step sizes between which the slope passes zero, with the slopes there, and the last trial."""

    low: float
    slope_low: float
    high: float
    slope_high: float
    last: float
    slope_last: float
    is_middle_next: bool
    """Whether the next safeguarded trial is the middle of the bracket instead of the secant's zero."""


def bracket(slope: float) -> Bracket:
    """The bracket before the first trial: the slope at 0, which is negative."""
    return Bracket(0.0, slope, inf, inf, 0.0, slope, False)


def next_trial(known: Bracket, t: float, slope: float, derivative: float, is_smooth: bool) -> tuple[Bracket, float]:
    """The bracket after a trial at t with this slope and derivative of the slope, and the next trial; NaN where float64 has none.

    `is_smooth` says that the slope has no corners, so that a parabola through two trials predicts its zero.
    """
    before = abs(known.slope_last) if known.last else inf
    low, slope_low, high, slope_high, middle_next = (
        known.low,
        known.slope_low,
        known.high,
        known.slope_high,
        known.is_middle_next,
    )
    if slope < 0.0:
        low, slope_low = t, slope
    else:
        high, slope_high = t, slope
    proposal = nan
    if derivative > 0.0 and not is_smooth:
        proposal = t - slope / derivative
    elif derivative > 0.0:
        # The slope as the parabola slope + derivative·x + second·x², through the last trial.
        half, second = 0.5 * derivative, ((known.slope_last - slope) / (known.last - t) - derivative) / (known.last - t)
        # Where the parabola has no zero, twice as far as the tangent says.
        root = sqrt(max(half * half - second * slope, 0.0))
        proposal = t - slope / (half + root)
    if high == inf:
        proposal = min(proposal, MAX_GROWTH * t) if proposal > t else 2.0 * t
    elif abs(slope) > 0.5 * before or not (low < proposal < high):
        # The secant's zero and the middle in turn: the first is quick where the slope is a line, the second always halves.
        secant = low + (high - low) * slope_low / (slope_low - slope_high)
        is_middle = middle_next or not (low < secant < high)
        middle_next = not middle_next
        proposal = 0.5 * (low + high) if is_middle else secant
    if not (low < proposal < high):
        proposal = nan
    return Bracket(low, slope_low, high, slope_high, t, slope, middle_next), proposal


def is_lower(known: Bracket, t: float, slope: float, derivative: float) -> bool:
    """Whether a step of size t, with this slope and derivative at its end, ends lower than it began, as far as slopes tell."""
    if slope <= 0.0:
        return True
    # Convexity: from low to t the function rises by at most slope·(t − low), from 0 to low it fell by at least −slope_low·low.
    if slope * (t - known.low) <= -known.slope_low * known.low:
        return True
    return known.low == 0.0 and derivative * t >= STEADY_PART * (slope - known.slope_low)
