"""The logistic loss φ(z) = log(1 + e^−m), with m = y·z and a = y·α in (0, 1); its dual step by guarded Newton.

The new a solves logit(a′) + m + dual_curvature·(a′ − a) = 0. In u = logit(a′) the left side is

    h(u) = u + m + dual_curvature·(σ(u) − a) ,   h′(u) = 1 + dual_curvature·σ(u)(1 − σ(u)) ≥ 1 .
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from numba.extending import register_jitable

from dualgap.kernels.families.base import END_FRACTION, SERIES_LIMIT
from dualgap.linalg.floats import TINY

# An inexact step ends where one more Newton step would move the logit by less than LOGIT_ERROR and a by less than
# STEP_ERROR of the step so far: such a step gains 99 % of the exact one. After INEXACT_ITERATIONS the step is made exactly.
STEP_ERROR, LOGIT_ERROR, INEXACT_ITERATIONS = 0.1, 0.5, 4


class LogisticFamily(NamedTuple):
    """The scalar functions of the logistic loss."""

    tolerance: float = 1e-13
    """The exact step ends where |h| is below this fraction of the terms it is summed from."""

    def negative_derivative(self, score, label):
        return label * sigmoid(-label * score)

    def dual_step(self, score, label, dual, dual_curvature):
        """Newton from the old dual, bisecting unless the residual halves: Newton alone can cycle where σ saturates."""
        margin, a = label * score, label * dual
        low, high = -margin - dual_curvature * (1.0 - a), -margin + dual_curvature * a
        if a > TINY and a < 1.0:
            u = min(max(log(a / (1.0 - a)), low), high)
        else:
            u = 0.5 * (low + high)
        before = float("inf")
        for _ in range(200):
            sigma = sigmoid(u)
            residual = u + margin + dual_curvature * (sigma - a)
            if abs(residual) <= self.tolerance * (abs(u) + abs(margin) + dual_curvature * max(sigma, a)):
                break
            if residual > 0.0:
                high = u
            else:
                low = u
            proposal = u - residual / (1.0 + dual_curvature * sigma * (1.0 - sigma))
            if not (low < proposal < high) or abs(residual) > 0.5 * before:
                proposal = 0.5 * (low + high)
            before = abs(residual)
            if proposal == u:
                break
            u = proposal
        return label * sigmoid(u)

    def coordinate_step(self, score, label, dual, dual_curvature):
        """A few Newton steps on h, which spare most of the exact step's exponentials; at the old a, h is logit(a) + m."""
        margin, a = label * score, label * dual
        if a > TINY and a < 1.0:
            u, sigma = log(a / (1.0 - a)), a
            residual = u + margin
        else:
            u, sigma = -margin, sigmoid(-margin)
            residual = dual_curvature * (sigma - a)
        second_derivative, asymmetry = sigma * (1.0 - sigma), 1.0 - 2.0 * sigma
        if abs(residual) < SERIES_LIMIT and sigma == a:
            series = 0.5 - residual * (asymmetry / 6.0 - residual * (1.0 - 6.0 * second_derivative) / 24.0)
            gap = second_derivative * residual * residual * series
        else:
            gap = self.fenchel_gap(score, label, dual)
        low, high = -margin - dual_curvature * (1.0 - a), -margin + dual_curvature * a
        for _ in range(INEXACT_ITERATIONS):
            u = min(max(u - residual / (1.0 + dual_curvature * second_derivative), low), high)
            sigma = sigmoid(u)
            residual, second_derivative = u + margin + dual_curvature * (sigma - a), sigma * (1.0 - sigma)
            slope = 1.0 + dual_curvature * second_derivative
            is_logit_close = abs(residual) <= LOGIT_ERROR * slope
            if is_logit_close and second_derivative * abs(residual) <= STEP_ERROR * abs(sigma - a) * slope:
                return label * sigma, gap
        return self.dual_step(score, label, dual, dual_curvature), gap

    def kkt_violation(self, score, label, dual):
        # The conjugate's slope is infinite at both ends, so no bound ever holds a dual.
        return abs(sigmoid(-label * score) - label * dual)

    def fenchel_gap(self, score, label, dual):
        """The Kullback–Leibler divergence of a from σ(−m)."""
        margin, a = label * score, label * dual
        other = max(sigmoid(margin), TINY)
        if a <= TINY:
            return -log(other)
        if a >= 1.0:
            return -log(max(sigmoid(-margin), TINY))
        return a * (log(a / (1.0 - a)) + margin) + log((1.0 - a) / other)

    def conjugate_slope(self, label, dual):
        a = label * dual
        return label * log((1.0 - a) / a)

    def conjugate_second_derivative(self, label, dual):
        a = label * dual
        return 1.0 / (a * (1.0 - a))

    def conjugate_remainder(self, label, dual, move):
        a, x = label * dual, label * move
        up, down = x / a, x / (1.0 - a)
        if max(abs(up), abs(down)) < SERIES_LIMIT:
            return a * up**3 * (2.0 - up) / 12.0 - (1.0 - a) * down**3 * (2.0 + down) / 12.0
        entropies = (a + x) * log(1.0 + up) + (1.0 - a - x) * log(1.0 - down)
        return 0.5 * x * (up + down) - entropies

    def conjugate_interval(self, label, dual):
        a = label * dual
        if TINY < a < 1.0:
            near, far = label * (END_FRACTION * a), label * (1.0 - END_FRACTION * (1.0 - a))
            return min(near, far), max(near, far)
        return dual, dual

    def conjugate_curvature_varies(self):
        return True


@register_jitable
def sigmoid(u):
    """1/(1 + e^−u) without overflow."""
    if u >= 0.0:
        return 1.0 / (1.0 + exp(-u))
    power = exp(u)
    return power / (1.0 + power)


FAMILY = LogisticFamily
