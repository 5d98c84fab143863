"""Hinge, smoothed hinge and squared hinge: φ(z) = max over 0 ≤ a ≤ upper of a(1 − m) − γa²/2, with m = y·z and a = y·α."""

from __future__ import annotations

from typing import NamedTuple

from dualgap.kernels.families.base import exact_coordinate_step
from dualgap.linalg.floats import TINY


class MarginFamily(NamedTuple):
    """The scalar functions of the margin family."""

    gamma: float
    upper: float

    def negative_derivative(self, score, label):
        slack = 1.0 - label * score
        if slack <= 0.0:
            return 0.0
        if slack >= self.gamma * self.upper:
            return label * self.upper
        return label * (slack / self.gamma)

    def dual_step(self, score, label, dual, dual_curvature):
        denominator = dual_curvature + self.gamma
        numerator = (dual_curvature * (label * dual) + 1.0) - label * score
        if denominator > TINY:
            # The reciprocal does not wait for the score, and clipping takes no branch that could be mispredicted.
            return label * min(max(numerator * (1.0 / denominator), 0.0), self.upper)
        return label * self.upper if numerator > 0.0 else 0.0

    coordinate_step = exact_coordinate_step

    def kkt_violation(self, score, label, dual):
        a = label * dual
        gradient = (1.0 - label * score) - self.gamma * a
        if a <= 0.0:
            return gradient
        if a >= self.upper:
            return -gradient
        return abs(gradient)

    def fenchel_gap(self, score, label, dual):
        a, best = label * dual, label * self.negative_derivative(score, label)
        return (best - a) * ((1.0 - label * score) - 0.5 * self.gamma * (best + a))

    def conjugate_slope(self, label, dual):
        return label - self.gamma * dual

    def conjugate_second_derivative(self, label, dual):
        return self.gamma

    def conjugate_remainder(self, label, dual, move):
        return 0.0

    def conjugate_interval(self, label, dual):
        if 0.0 < label * dual < self.upper:
            return min(0.0, label * self.upper), max(0.0, label * self.upper)
        return dual, dual

    def conjugate_curvature_varies(self):
        return False


FAMILY = MarginFamily
