"""The Poisson loss in deviance form, for targets y ≥ 0 and scores z that are logarithms of means.

φ(z) = e^z − yz − (y − y·ln y) ≥ 0 with 0·ln 0 = 0, and −φ*(−α) = (m − m·ln m) − (y − y·ln y) with the mean m = y − α ≥ 0 of a
dual. With the divergence d(m, z) = e^z − m − m(z − ln m) = m(e^t − 1 − t) ≥ 0, t = z − ln m,

    φ(z) = d(y, z) ,   φ(z) + φ*(−α) + αz = d(m, z) ,   −φ*(−α) = α·ln y − d(m, ln y) .
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import factorial, log
from typing import ClassVar

import numpy as np

from dualgap.linalg.floats import LOG_MAX, LOG_MIN, TINY, UNIT
from dualgap.losses.base import LOSS_ROUNDING, SLACK, Loss, RowTerms, Vector, refuse_outside

# Up to this score e^z is at most u times the largest float64, so that sums over rows are finite; beyond it the slope is constant.
LARGEST_EXPONENT = LOG_MAX + log(UNIT)
# e^t − 1 − t is a series up to this |t|, where no term is larger than the first, and a difference beyond, where little cancels.
SERIES_LIMIT = 1.0
# The first n for which t^n/n! is below u·t²/2 up to the limit.
SERIES_ORDER = next(n for n in count(2) if SERIES_LIMIT ** (n - 2) / factorial(n) < UNIT / 2)


@dataclass(frozen=True)
class Poisson(Loss):
    """The loss of Poisson regression, half its deviance: e^z − yz plus a constant that makes its minimum 0.

    It has no kink, but neither a bounded slope nor a bounded second derivative; duals are bounded on one side, α ≤ y.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> problem = dg.Problem(X, [1.0, 3.0, 8.0], "poisson", strength=0.1)
    >>> dg.solve(problem).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "poisson"
    task = "regression"
    family = "poisson"
    formula: ClassVar[str] = "e^z − yz − y + y·ln y"
    has_product_form = True
    has_kink = False
    smallest_label = 0.0
    largest_score_step = 4.0

    @property
    def smoothness(self) -> float:
        return float("inf")

    @property
    def lipschitz(self) -> float:
        return float("inf")

    @property
    def argument_scale(self) -> float:
        """m is rounded once, which moves ln m by a rounding of 1."""
        return 1.0

    def check_labels(self, labels: Vector, sample_weight: Vector | None, intercept: bool) -> None:
        super().check_labels(labels, sample_weight, intercept)
        if intercept and not (labels if sample_weight is None else labels[sample_weight > 0.0]).any():
            raise ValueError(
                "poisson needs a target above 0 among rows of positive weight where the intercept is free, got zeros only; "
                "pass intercept=False"
            )

    def best_intercept(self, scores: Vector, labels: Vector, sample_weight: Vector | None) -> float:
        """ln Σ s_i y_i − ln Σ s_i e^z_i."""
        weights = np.ones(labels.size) if sample_weight is None else sample_weight
        if sample_weight is not None:
            counts = weights > 0.0
            scores, labels, weights = scores[counts], labels[counts], weights[counts]
        # The largest of each is taken out first: neither sum leaves float64's range.
        largest, unit = float(scores.max()), float(labels.max())
        total, powers = float(weights @ (labels / unit)), float(weights @ np.exp(scores - largest))
        return float(np.log(total) - np.log(powers) + np.log(unit) - largest)

    def predictions(self, scores: Vector) -> Vector:
        with np.errstate(over="ignore"):
            return np.exp(scores)

    def value(self, scores: Vector, labels: Vector) -> Vector:
        return divergence(labels, scores, np.log(np.maximum(labels, TINY)))

    def negative_conjugate(self, duals: Vector, labels: Vector) -> Vector:
        means = np.maximum(labels - duals, 0.0)
        lines = _less_entropy(means) - _less_entropy(labels)
        # Where α is small beside y the two cancel, and t = ln y − ln m is computed from α/y.
        ratio = np.divide(duals, labels, out=np.full_like(lines, np.inf), where=labels > 0.0)
        near = np.flatnonzero((ratio >= -1.0) & (ratio <= 0.5))
        t = -np.log1p(-ratio[near])
        lines[near] = duals[near] * np.log(labels[near]) - means[near] * exponential_remainder(t)
        return refuse_outside(lines, duals - labels, -np.inf, 0.0)

    def dual_candidate(self, scores: Vector, labels: Vector) -> Vector:
        return labels - np.exp(np.minimum(scores, LARGEST_EXPONENT))

    def terms(self, argument: Vector, duals: Vector, labels: Vector, reach: float | Vector) -> RowTerms:
        means = np.maximum(labels - duals, 0.0)
        logarithms = np.log(np.maximum(means, TINY))
        reach = SLACK * reach + LOSS_ROUNDING * (np.abs(argument) + np.abs(logarithms))
        with np.errstate(over="ignore"):
            highest, lowest = np.exp(argument + reach), np.exp(argument - reach)
        # φ′ + α = e^z − m rises with z, so its size is largest at one of the two ends.
        rates = np.maximum(highest - means, means - lowest)
        rates += LOSS_ROUNDING * (highest + means)
        return RowTerms(
            self.value(argument, labels),
            self.negative_conjugate(duals, labels),
            divergence(means, argument, logarithms),
            rates,
        )

    def clip(self, duals: Vector, labels: Vector) -> Vector:
        return np.minimum(duals, labels)

    def second_derivative(self, scores: Vector, labels: Vector) -> Vector:
        return self.derivatives(scores, labels)[1]

    def derivatives(self, scores: Vector, labels: Vector) -> tuple[Vector, Vector]:
        means = np.exp(np.minimum(scores, LARGEST_EXPONENT))
        # Beyond the largest exponent the slope is taken as constant.
        return labels - means, np.where(scores > LARGEST_EXPONENT, 0.0, means)

    def ray_limit(self, duals: Vector, labels: Vector) -> float:
        is_positive = duals > 0.0
        return float((labels[is_positive] / duals[is_positive]).min(initial=np.inf))

    def ray_slope(self, t: float, duals: Vector, labels: Vector) -> Vector:
        # The slope is infinite where m reaches 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms = np.log(np.maximum(labels - t * duals, 0.0))
        return np.where(duals == 0.0, 0.0, duals * np.clip(logarithms, LOG_MIN, LOG_MAX))


def _less_entropy(means: Vector) -> Vector:
    """m − m·ln m, continued by 0."""
    return means * (1.0 - np.log(np.maximum(means, TINY)))


def divergence(means: Vector, scores: Vector, logarithms: Vector) -> Vector:
    """d(m, z), with ln m given; e^z where m = 0. Within 32u of itself and of (|z| + 1)·|e^z − m|: docs/certificate.md."""
    t = scores - logarithms
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(scores)
        return np.where(
            (t > SERIES_LIMIT) | (means == 0.0),
            powers - means * (1.0 + np.where(means == 0.0, 0.0, t)),
            means * exponential_remainder(np.minimum(t, SERIES_LIMIT)),
        )


def exponential_remainder(t: Vector) -> Vector:
    """e^t − 1 − t ≥ 0, right in relation to its size."""
    inside = np.clip(t, -SERIES_LIMIT, SERIES_LIMIT)
    series = np.ones_like(inside)
    for order in range(SERIES_ORDER, 2, -1):
        series = 1.0 + series * inside / order
    series *= 0.5 * inside * inside
    with np.errstate(over="ignore"):
        return np.where(inside == t, series, np.expm1(t) - t)
