"""All losses of a residual: φ(z) = max over lower ≤ α ≤ upper of α(y − z) − ε|α| − γα²/2."""

from __future__ import annotations

from typing import NamedTuple

from numba.extending import register_jitable

from dualgap.kernels.families.base import exact_coordinate_step
from dualgap.linalg.floats import TINY


class ResidualFamily(NamedTuple):
    """The scalar functions of the residual family."""

    gamma: float
    epsilon: float
    lower: float
    upper: float

    def negative_derivative(self, score, label):
        excess = _soft_threshold(label - score, self.epsilon)
        if excess > 0.0:
            return self.upper if excess >= self.gamma * self.upper else excess / self.gamma
        if excess < 0.0:
            return self.lower if excess <= self.gamma * self.lower else excess / self.gamma
        return 0.0

    def dual_step(self, score, label, dual, dual_curvature):
        denominator = dual_curvature + self.gamma
        numerator = _soft_threshold((dual_curvature * dual + label) - score, self.epsilon)
        if denominator > TINY:
            return min(max(numerator * (1.0 / denominator), self.lower), self.upper)
        if numerator == 0.0:
            return 0.0
        return self.upper if numerator > 0.0 else self.lower

    coordinate_step = exact_coordinate_step

    def kkt_violation(self, score, label, dual):
        residual = label - score
        if dual == 0.0:
            return abs(residual) - self.epsilon
        gradient = residual - self.gamma * dual - (self.epsilon if dual > 0.0 else -self.epsilon)
        if dual >= self.upper:
            return -gradient
        if dual <= self.lower:
            return gradient
        return abs(gradient)

    def fenchel_gap(self, score, label, dual):
        best = self.negative_derivative(score, label)
        linear = (best - dual) * ((label - score) - 0.5 * self.gamma * (best + dual))
        return linear - self.epsilon * (abs(best) - abs(dual))

    def conjugate_slope(self, label, dual):
        return label - self.gamma * dual - (self.epsilon if dual > 0.0 else -self.epsilon)

    def conjugate_second_derivative(self, label, dual):
        return self.gamma

    def conjugate_remainder(self, label, dual, move):
        return 0.0

    def conjugate_interval(self, label, dual):
        # ε makes a kink at zero, which an extrapolation does not cross.
        if self.lower < dual < self.upper and (dual != 0.0 or self.epsilon == 0.0):
            return (
                self.lower if dual < 0.0 or self.epsilon == 0.0 else 0.0,
                self.upper if dual > 0.0 or self.epsilon == 0.0 else 0.0,
            )
        return dual, dual

    def conjugate_curvature_varies(self):
        return False


@register_jitable
def _soft_threshold(value, epsilon):
    """The value moved towards zero by ε, and zero within it."""
    if value > epsilon:
        return value - epsilon
    if value < -epsilon:
        return value + epsilon
    return 0.0


FAMILY = ResidualFamily
