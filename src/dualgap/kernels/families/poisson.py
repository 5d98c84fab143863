"""The Poisson loss φ(z) = e^z − yz − (y − y·ln y), with the mean m = y − α ≥ 0 of a dual; its dual step by guarded Newton.

The new mean m′ = m·e^s solves, with the old mean m,

    h(s) = s + (ln m − z) + dual_curvature·m(e^s − 1) = 0 ,   h′(s) = 1 + dual_curvature·m·e^s ≥ 1 .

The root lies between 0 and z − ln m, and α′ − α = −m(e^s − 1) keeps all its digits where the step is small beside y.
"""

from __future__ import annotations

from math import exp, expm1, log
from typing import NamedTuple

from numba.extending import register_jitable

from dualgap.kernels.families.base import END_FRACTION, SERIES_LIMIT, exact_coordinate_step
from dualgap.linalg.floats import TINY
from dualgap.losses.poisson import LARGEST_EXPONENT


class PoissonFamily(NamedTuple):
    """The scalar functions of the Poisson loss."""

    tolerance: float = 1e-13
    """The dual step ends where |h| is below this fraction of the terms it is summed from."""

    def negative_derivative(self, score, label):
        return label - exp(min(score, LARGEST_EXPONENT))

    def dual_step(self, score, label, dual, dual_curvature):
        """Newton from s = 0, the old dual, bisecting unless the residual halves."""
        mean = label - dual
        if mean <= TINY:
            # ln m is infinite at the end of the domain, so the search starts at another mean; the score moves along.
            mean = exp(min(_first_logarithm(score, dual_curvature), LARGEST_EXPONENT))
            dual, score = label - mean, score - dual_curvature * mean
        offset = log(mean) - score
        low, high = min(0.0, -offset), max(0.0, -offset)
        s, before = 0.0, float("inf")
        for _ in range(200):
            growth = expm1(s)
            residual = s + offset + dual_curvature * mean * growth
            if abs(residual) <= self.tolerance * (abs(s) + abs(offset) + dual_curvature * mean * abs(growth)):
                break
            if residual > 0.0:
                high = s
            else:
                low = s
            proposal = s - residual / (1.0 + dual_curvature * mean * (growth + 1.0))
            if not (low < proposal < high) or abs(residual) > 0.5 * before:
                proposal = 0.5 * (low + high)
            before = abs(residual)
            if proposal == s:
                break
            s = proposal
        return min(dual - mean * expm1(s), label)

    coordinate_step = exact_coordinate_step

    def kkt_violation(self, score, label, dual):
        # The conjugate's slope is infinite at m = 0, so no bound ever holds a dual.
        return abs((label - dual) - exp(min(score, LARGEST_EXPONENT)))

    def fenchel_gap(self, score, label, dual):
        """m(e^t − 1 − t) with t = z − ln m."""
        mean = label - dual
        if mean <= TINY:
            return exp(min(score, LARGEST_EXPONENT))
        t = score - log(mean)
        if abs(t) < SERIES_LIMIT:
            series = 1.0
            for order in range(7, 2, -1):
                series = 1.0 + series * t / order
            return 0.5 * mean * t * t * series
        if t > 1.0:
            return exp(min(score, LARGEST_EXPONENT)) - mean * (1.0 + t)
        return mean * (expm1(t) - t)

    def conjugate_slope(self, label, dual):
        return log(label - dual)

    def conjugate_second_derivative(self, label, dual):
        return 1.0 / (label - dual)

    def conjugate_remainder(self, label, dual, move):
        mean = label - dual
        x = -move / mean
        if abs(x) < SERIES_LIMIT:
            return mean * x**3 * (2.0 - x) / 12.0
        return mean * (x + 0.5 * x * x - (1.0 + x) * log(1.0 + x))

    def conjugate_interval(self, label, dual):
        mean = label - dual
        if mean > TINY:
            return label - mean / END_FRACTION, label - END_FRACTION * mean
        return dual, dual

    def conjugate_curvature_varies(self):
        return True


@register_jitable
def _first_logarithm(score, dual_curvature):
    """A logarithm of the new mean near the root of u − z + dual_curvature·e^u, for a step from m = 0."""
    if score <= 0.0 or dual_curvature <= 0.0:
        return score
    return min(score, max(log(score / dual_curvature), -score))


FAMILY = PoissonFamily
