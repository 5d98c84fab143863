"""Losses of the residual r = z − y, for real targets: squared, absolute, quantile, Huber and the two ε-insensitive ones.

All are one family: φ(z) = max over lower ≤ α ≤ upper of α(y − z) − ε|α| − γα²/2. The absolute loss is γ = ε = 0 on
[−1, 1]; the squared one is γ = 1/2 on the whole line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualgap.linalg.double_double import two_sum
from dualgap.linalg.elementary import is_number, soft
from dualgap.losses.base import (
    LOSS_ROUNDING,
    SLACK,
    Loss,
    QuadraticFamily,
    RowTerms,
    Vector,
    positive,
    refuse_outside,
    within,
)


class ResidualFamily(QuadraticFamily):
    """φ(z) = max over lower ≤ α ≤ upper of α(y − z) − ε|α| − γα²/2."""

    task = "regression"
    family = "residual"

    @property
    def lower(self) -> float:
        return -1.0

    @property
    def upper(self) -> float:
        return 1.0

    @property
    def lipschitz(self) -> float:
        return max(self.upper, -self.lower)

    def argument(self, scores: Vector, labels: Vector, low: Vector | None = None) -> Vector:
        """y − z."""
        if low is None:
            return labels - scores
        residuals, error = two_sum(labels, -scores)
        return np.asarray(residuals + (error - low))

    def signed(self, duals: Vector, labels: Vector) -> Vector:
        return duals

    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        return self._maximizer(soft(labels - scores, self.tube))

    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        line = duals * labels
        if self.tube:
            line -= self.tube * np.abs(duals)
        if self.dual_gamma:
            line -= (0.5 * self.dual_gamma) * (duals * duals)
        return refuse_outside(line, duals, self.lower, self.upper)

    def clip(self, duals: Vector, labels: Vector) -> Vector:
        return within(duals, self.lower, self.upper)

    def second_derivative(self, scores: Vector, labels: Vector) -> Vector:
        if self.dual_gamma == 0.0:
            return np.zeros_like(scores)
        residuals = labels - scores
        s = soft(residuals, self.tube) / self.dual_gamma
        inside = (s > self.lower) & (s < self.upper) & (np.abs(residuals) >= self.tube)
        return np.where(inside, 1.0 / self.dual_gamma, 0.0)

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        if self.dual_gamma == 0.0 or self.tube > 0.0:
            return super().derivatives(scores, labels)
        s = (labels - scores) / self.dual_gamma
        alpha = within(s, self.lower, self.upper)
        return alpha, ((alpha > self.lower) & (alpha < self.upper)) / self.dual_gamma

    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        top, bottom = float(duals.max(initial=0.0)), float(duals.min(initial=0.0))
        return min(
            self.upper / top if top > 0.0 else float("inf"),
            self.lower / bottom if bottom < 0.0 else float("inf"),
        )

    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        return duals * labels - self.tube * np.abs(duals) - (t * self.dual_gamma) * (duals * duals)

    def kinks(self, labels: Vector) -> list[Vector]:
        if not self.has_kink:
            return []
        return [labels] if self.tube == 0.0 else [labels - self.tube, labels + self.tube]

    def smoothed(self, gamma: float) -> Loss:
        if not self.has_kink:
            return super().smoothed(gamma)
        return SmoothedResidual(gamma=gamma, epsilon=self.tube, low=self.lower, high=self.upper)

    def parameters(self) -> dict[str, float]:
        return {"gamma": self.dual_gamma, "epsilon": self.tube, "lower": self.lower, "upper": self.upper}


class SquaredFamily(ResidualFamily):
    """The part of the family that grows like a square: γ = 1/2 on the whole line."""

    @property
    def dual_gamma(self) -> float:
        return 0.5

    @property
    def lower(self) -> float:
        return float("-inf")

    @property
    def upper(self) -> float:
        return float("inf")


@dataclass(frozen=True)
class Squared(SquaredFamily):
    """Ridge regression's loss, r².

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.Squared(), 0.1)).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "squared"
    formula: ClassVar[str] = "r²"

    # The family's formulas without the bounds it does not have: a fit is a few passes, of which the bounds would take a measurable part.
    def terms(self, argument: Vector, duals: Vector, labels: Vector, reach: float | Vector) -> RowTerms:
        rates = 2.0 * argument
        rates -= duals
        gaps = rates * rates
        gaps *= 0.25
        np.abs(rates, out=rates)
        rates += 2.0 * SLACK * reach
        rates += (2.0 * LOSS_ROUNDING) * np.abs(argument)
        return RowTerms(argument * argument, self.negative_conjugate(duals, labels), gaps, rates)

    def value(self, scores: Vector, labels: Vector) -> Vector:
        residuals = labels - scores
        residuals *= residuals
        return residuals

    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        duals = labels - scores
        duals *= 2.0
        return duals

    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        line = labels - 0.25 * duals
        line *= duals
        return line

    def clip(self, duals: Vector, labels: Vector) -> Vector:
        return np.array(duals)

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        return self.dual_candidate(scores, labels), np.full(len(scores), 2.0)


@dataclass(frozen=True)
class Absolute(ResidualFamily):
    """Least absolute deviations, |r|.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.Absolute(), 0.1)).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "absolute"
    formula: ClassVar[str] = "|r|"


@dataclass(frozen=True)
class EpsilonInsensitive(ResidualFamily):
    """Support vector regression's loss, max(0, |r| − ε).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.EpsilonInsensitive(epsilon=0.2), 0.1)).status.name
    'CERTIFIED'
    """

    epsilon: float = 0.1
    name: ClassVar[str] = "epsilon_insensitive"
    formula: ClassVar[str] = "max(0, |r| − ε)"

    def __post_init__(self) -> None:
        not_negative(self.name, self.epsilon)

    @property
    def tube(self) -> float:
        return float(self.epsilon)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(SquaredFamily):
    """Support vector regression with squared excess, max(0, |r| − ε)².

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.SquaredEpsilonInsensitive(epsilon=0.2), 0.1)).status.name
    'CERTIFIED'
    """

    epsilon: float = 0.1
    name: ClassVar[str] = "squared_epsilon_insensitive"
    formula: ClassVar[str] = "max(0, |r| − ε)²"

    def __post_init__(self) -> None:
        not_negative(self.name, self.epsilon)

    @property
    def tube(self) -> float:
        return float(self.epsilon)


@dataclass(frozen=True)
class Quantile(ResidualFamily):
    """The pinball loss, whose minimizer is the τ-quantile.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.Quantile(tau=0.9), 0.1)).status.name
    'CERTIFIED'
    """

    tau: float = 0.5
    name: ClassVar[str] = "quantile"
    formula: ClassVar[str] = "τ·max(0, −r) + (1 − τ)·max(0, r)"

    def __post_init__(self) -> None:
        if not (is_number(self.tau) and 0.0 < self.tau < 1.0):
            raise ValueError(f"quantile needs 0 < tau < 1, got {self.tau!r}; 0.5 is the median")

    @property
    def lower(self) -> float:
        return float(self.tau) - 1.0

    @property
    def upper(self) -> float:
        return float(self.tau)


@dataclass(frozen=True)
class Huber(ResidualFamily):
    """Squared near zero, absolute beyond δ.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve(dg.Problem(X, [1.0, 2.0, 2.5], dg.Huber(delta=1.0), 0.1)).status.name
    'CERTIFIED'
    """

    delta: float = 1.35
    name: ClassVar[str] = "huber"
    formula: ClassVar[str] = "r²/2 if |r| ≤ δ, else δ(|r| − δ/2)"

    def __post_init__(self) -> None:
        positive("huber", "delta", self.delta)

    @property
    def dual_gamma(self) -> float:
        return 1.0

    @property
    def lower(self) -> float:
        return -float(self.delta)

    @property
    def upper(self) -> float:
        return float(self.delta)


@dataclass(frozen=True)
class SmoothedResidual(ResidualFamily):
    """A kinked loss of this family with γα²/2 added to its conjugate; what `smoothed(gamma)` returns."""

    gamma: float
    epsilon: float
    low: float
    high: float
    name: ClassVar[str] = "smoothed_residual"
    formula: ClassVar[str] = "max over low ≤ α ≤ high of −αr − ε|α| − γα²/2"

    def __post_init__(self) -> None:
        positive(self.name, "gamma", self.gamma)

    @property
    def dual_gamma(self) -> float:
        return float(self.gamma)

    @property
    def tube(self) -> float:
        return float(self.epsilon)

    @property
    def lower(self) -> float:
        return float(self.low)

    @property
    def upper(self) -> float:
        return float(self.high)


def not_negative(owner: str, epsilon: float) -> None:
    """Refuse a tube width below zero."""
    if not (is_number(epsilon) and epsilon >= 0):
        raise ValueError(f"{owner} needs epsilon ≥ 0, got {epsilon!r}; 0.1 is the default")
