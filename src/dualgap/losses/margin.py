"""Losses of the margin m = y·z, for labels −1 and +1: hinge, smoothed hinge, squared hinge, logistic.

The first three are one family: φ(z) = max over 0 ≤ a ≤ upper of a(1 − m) − γa²/2, with a = y·α. The hinge is γ = 0,
upper = 1; the smoothed hinge has a γ of its own; the squared hinge is γ = 1/2 with no upper end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from dualgap.linalg.double_double import two_sum
from dualgap.linalg.floats import BELOW_ONE, LOG_MAX, LOG_MIN, TINY, UNIT
from dualgap.losses.base import Loss, QuadraticFamily, RowTerms, Vector, positive, refuse_outside, within


class MarginFamily(QuadraticFamily):
    """φ(z) = max over 0 ≤ a ≤ upper of a(1 − m) − γa²/2."""

    task = "classification"
    family = "margin"

    @property
    def lower(self) -> float:
        return 0.0

    @property
    def upper(self) -> float:
        return 1.0

    @property
    def lipschitz(self) -> float:
        return self.upper

    def argument(self, scores: Vector, labels: Vector, low: Vector | None = None) -> Vector:
        """The slack 1 − m."""
        if low is None:
            return 1.0 - labels * scores
        slack, error = two_sum(1.0, -labels * scores)
        return np.asarray(slack + (error - labels * low))

    def signed(self, duals: Vector, labels: Vector) -> Vector:
        return labels * duals

    def _values(self, excess: Vector) -> Vector:
        if self.dual_gamma == 0.0:
            return self.upper * np.maximum(excess, 0.0)
        return super()._values(excess)

    def _maximizer(self, excess: Vector) -> Vector:
        if self.dual_gamma == 0.0:
            return np.where(excess > 0.0, self.upper, 0.0)
        return super()._maximizer(excess)

    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        return labels * self._maximizer(1.0 - labels * scores)

    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        a = labels * duals
        lines = a - (0.5 * self.dual_gamma) * (a * a) if self.dual_gamma else a.copy()
        return refuse_outside(lines, a, 0.0, self.upper)

    def clip(self, duals: Vector, labels: Vector) -> Vector:
        return labels * within(labels * duals, 0.0, self.upper)

    def second_derivative(self, scores: Vector, labels: Vector) -> Vector:
        if self.dual_gamma == 0.0:
            return np.zeros_like(scores)
        s = (1.0 - labels * scores) / self.dual_gamma
        return np.where((s > 0.0) & (s < self.upper), 1.0 / self.dual_gamma, 0.0)

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        if self.dual_gamma == 0.0:
            return super().derivatives(scores, labels)
        s = (1.0 - labels * scores) / self.dual_gamma
        a = within(s, 0.0, self.upper)
        return labels * a, ((a > 0.0) & (a < self.upper)) / self.dual_gamma

    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        largest = float((labels * duals).max(initial=0.0))
        return self.upper / largest if largest > 0.0 else float("inf")

    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        a = labels * duals
        return a - (t * self.dual_gamma) * (a * a)

    def kinks(self, labels: Vector) -> list[Vector]:
        return [labels] if self.has_kink else []

    def parameters(self) -> dict[str, float]:
        return {"gamma": self.dual_gamma, "upper": self.upper}


@dataclass(frozen=True)
class Hinge(MarginFamily):
    """The support vector machine's loss, max(0, 1 − m).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1, -1, 1], dg.Hinge(), 0.1)).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "hinge"
    formula: ClassVar[str] = "max(0, 1 − m)"

    def smoothed(self, gamma: float) -> Loss:
        return SmoothedHinge(gamma)


@dataclass(frozen=True)
class SmoothedHinge(MarginFamily):
    """The hinge with its kink rounded over a width of γ; 1/γ-smooth.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1, -1, 1], dg.SmoothedHinge(gamma=0.5), 0.1)).status.name
    'CERTIFIED'
    """

    gamma: float = 1.0
    name: ClassVar[str] = "smoothed_hinge"
    formula: ClassVar[str] = "0 if m ≥ 1; 1 − m − γ/2 if m ≤ 1 − γ; else (1 − m)²/(2γ)"

    def __post_init__(self) -> None:
        positive("smoothed_hinge", "gamma", self.gamma)

    @property
    def dual_gamma(self) -> float:
        return float(self.gamma)


@dataclass(frozen=True)
class SquaredHinge(MarginFamily):
    """The loss of scikit-learn's LinearSVC by default, max(0, 1 − m)².

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1, -1, 1], dg.SquaredHinge(), 0.1)).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "squared_hinge"
    formula: ClassVar[str] = "max(0, 1 − m)²"

    @property
    def dual_gamma(self) -> float:
        return 0.5

    @property
    def upper(self) -> float:
        return float("inf")


@dataclass(frozen=True)
class Logistic(Loss):
    """The loss of logistic regression, log(1 + e^−m); its conjugate is the binary entropy.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1, -1, 1], dg.Logistic(), 0.1)).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "logistic"
    task = "classification"
    family = "logistic"
    has_kink = False
    formula: ClassVar[str] = "log(1 + e^−m)"

    @property
    def smoothness(self) -> float:
        return 0.25

    @property
    def lipschitz(self) -> float:
        return 1.0

    def value(self, scores: Vector, labels: Vector) -> Vector:
        m = labels * scores
        return np.log1p(np.exp(-np.abs(m))) - np.minimum(m, 0.0)

    def terms(self, argument: Vector, duals: Vector, labels: Vector, reach: float | Vector) -> RowTerms:
        # One exponential gives the loss and its derivative.
        m = labels * argument
        e = np.exp(-np.abs(m))
        values = np.log1p(e) - np.minimum(m, 0.0)
        derivatives = np.where(m > 0.0, e, 1.0)
        derivatives /= 1.0 + e
        derivatives -= labels * duals
        conjugates = self.negative_conjugate(duals, labels)
        rates = np.abs(derivatives, out=derivatives)
        rates += self._change(reach)
        return RowTerms(values, conjugates, self._difference(values, conjugates, duals, argument), rates)

    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        return labels * _falling(labels * scores)[0]

    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        a = labels * duals
        if a.min(initial=1.0) >= TINY and a.max(initial=0.0) <= BELOW_ONE:
            return _entropy(a, a, a)  # as most are, and then nothing needs to be moved
        inside = within(a, 0.0, 1.0)
        entropy = _entropy(inside, np.maximum(inside, TINY), np.minimum(inside, BELOW_ONE))
        return refuse_outside(entropy, a, 0.0, 1.0)

    def holds(self, duals: Vector, labels: Vector) -> bool:
        a = labels * duals
        return bool(a.min(initial=0.0) >= 0.0 and a.max(initial=0.0) <= 1.0)

    def clip(self, duals: Vector, labels: Vector) -> Vector:
        # Mostly all are inside, and then nothing is moved.
        return duals.copy() if self.holds(duals, labels) else labels * within(labels * duals, 0.0, 1.0)

    def second_derivative(self, scores: Vector, labels: Vector) -> Vector:
        return _falling(labels * scores)[1]

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        a, second_derivatives = _falling(labels * scores)
        return labels * a, second_derivatives

    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        largest = float((labels * duals).max(initial=0.0))
        return 1.0 / largest if largest > 0.0 else float("inf")

    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        a = np.maximum(labels * duals, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            logit = np.log1p(-np.minimum(t * a, 1.0)) - np.log(t * a)
        # Infinite at both ends; these two are what float64 shows next to them, and keep a search by secants alive.
        return np.where(a > 0.0, a * within(logit, log(UNIT), -LOG_MIN), 0.0)


def _falling(m: Vector) -> tuple[Vector, Vector]:
    """a = 1/(1 + e^m) and a(1 − a), both right to the last digits at both ends."""
    # Beyond LOG_MAX both are as good as zero. The largest margin mostly says that none is, and then none needs to be limited.
    e = np.exp(m if m.max(initial=0.0) <= LOG_MAX else np.minimum(m, LOG_MAX))
    a = 1.0 / (1.0 + e)
    e *= a
    e *= a
    return a, e


def _entropy(a: Vector, above: Vector, below: Vector) -> Vector:
    """−a·ln a − (1 − a)·ln(1 − a), continued by 0 at both ends; right in relation to its size, however small a is.

    `above` and `below` are a itself, moved away from 0 and from 1 so that logarithms stay finite there; D is the lower for it.
    """
    value = np.log(above)
    value *= a
    other = np.negative(below)
    np.log1p(other, out=other)
    other *= 1.0 - a
    value += other
    return np.negative(value, out=value)
