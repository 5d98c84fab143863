"""P, D and the feasibility of duals in exact arithmetic, for every loss; shared with nothing in the package.

Nine losses are one family, φ(z) = max over low ≤ α ≤ high of α(y − z) − ε|α| − γα²/2, with bounds that may depend on the
label; all its numbers are rational. The logistic and the Poisson loss have DIGITS digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from dyadic import SLACK, WIDE, Dyadic, ExactRows, as_decimal, as_fraction, where

# Below this, three terms of the series of ln(1 + u) have more digits than DIGITS.
SMALL_LOGARITHM = Decimal("1e-17")


@dataclass(frozen=True)
class Facts:
    """What defines a problem: the given data, with labels −1/+1, real targets or, for the softmax model, class numbers."""

    X: Any
    labels: np.ndarray
    loss: Any
    strength: float
    sample_weight: np.ndarray | None
    intercept: bool
    class_count: int = 2
    l1_ratio: float = 0.0
    scale: float | None = None
    """σ of a Huber regression with a fitted scale, whose loss has δ = ε; None elsewhere."""

    @property
    def is_softmax(self) -> bool:
        return self.loss is None

    def exact_weights(self) -> tuple[Dyadic, Fraction]:
        """s and S."""
        weights = np.ones(len(self.labels)) if self.sample_weight is None else self.sample_weight
        exact = Dyadic.of(weights)
        return exact, exact.sum().fraction()


class Truth(NamedTuple):
    """P and D of an answer in exact arithmetic."""

    primal: Fraction
    dual: Fraction
    """D at duals that satisfy Σ s_i α_i = 0 exactly, made from the returned ones; the returned ones without an intercept."""
    outside: int
    """The number of duals outside their domain."""
    slack: Fraction
    """A bound on the error of logarithms and exponentials; zero for rational losses."""

    @property
    def gap(self) -> Fraction:
        """P − max(D, 0)."""
        return self.primal - max(self.dual, Fraction(0))


class Shape(NamedTuple):
    """The numbers of a rational loss: γ, ε and the bounds of α for the label +1 (or any target) and for the label −1."""

    gamma: float
    epsilon: float
    bounds: tuple[float, float]
    negative_bounds: tuple[float, float]


def of_margin(gamma: float, upper: float) -> Shape:
    """A loss of the margin: 0 ≤ y·α ≤ upper."""
    return Shape(gamma, 0.0, (0.0, upper), (-upper, 0.0))


def of_residual(gamma: float, epsilon: float, lower: float, upper: float) -> Shape:
    """A loss of the residual: lower ≤ α ≤ upper."""
    return Shape(gamma, epsilon, (lower, upper), (lower, upper))


SHAPES: dict[str, Callable[[Any], Shape]] = {
    "hinge": lambda loss: of_margin(0.0, 1.0),
    "smoothed_hinge": lambda loss: of_margin(loss.gamma, 1.0),
    "squared_hinge": lambda loss: of_margin(0.5, inf),
    "squared": lambda loss: of_residual(0.5, 0.0, -inf, inf),
    "absolute": lambda loss: of_residual(0.0, 0.0, -1.0, 1.0),
    "epsilon_insensitive": lambda loss: of_residual(0.0, loss.epsilon, -1.0, 1.0),
    "squared_epsilon_insensitive": lambda loss: of_residual(0.5, loss.epsilon, -inf, inf),
    # The two slopes are floats: fl(τ − 1) defines the loss and the domain where τ − 1 is not a float.
    "quantile": lambda loss: of_residual(0.0, 0.0, float(loss.tau) - 1.0, float(loss.tau)),
    "huber": lambda loss: of_residual(1.0, 0.0, -loss.delta, loss.delta),
}
EXACT_LOSSES = frozenset(SHAPES) | {"logistic", "poisson"}


class Bounds(NamedTuple):
    """The domain of each row's dual; an infinite end is absent."""

    low: Dyadic
    high: Dyadic
    has_low: np.ndarray
    has_high: np.ndarray

    @staticmethod
    def of(shape: Shape, labels: np.ndarray) -> Bounds:
        is_negative = np.asarray(labels) < 0.0
        low = np.where(is_negative, shape.negative_bounds[0], shape.bounds[0])
        high = np.where(is_negative, shape.negative_bounds[1], shape.bounds[1])
        has_low, has_high = np.isfinite(low), np.isfinite(high)
        return Bounds(
            Dyadic.of(np.where(has_low, low, 0.0)), Dyadic.of(np.where(has_high, high, 0.0)), has_low, has_high
        )

    def outside(self, duals: Dyadic) -> int:
        """How many duals are outside."""
        below = (duals - self.low).is_negative() & self.has_low
        return int(np.count_nonzero(below | ((duals - self.high).is_positive() & self.has_high)))


def truth_of(facts: Facts, weights: Any, intercept: float, duals: Any) -> Truth:
    """P and D of the returned weights, intercept and duals."""
    rows = ExactRows(facts.X)
    sample_weight, total = facts.exact_weights()
    labels, alpha, w = Dyadic.of(facts.labels), Dyadic.of(duals), Dyadic.of(weights)
    scores = rows.scores(w) + Dyadic.of(float(intercept))
    strength = Dyadic.of(facts.strength).fraction()
    ratio = Fraction(facts.l1_ratio)
    penalty = strength * ((1 - ratio) * w.dot(w).fraction() / 2 + ratio * abs(w).sum().fraction())
    shrink = Shrink.of(sample_weight, alpha) if facts.intercept else Shrink(Fraction(1), Fraction(1))
    weighted = sample_weight * alpha
    if facts.l1_ratio == 0.0:
        quadratic, columns_outside = _quadratic(rows, weighted, alpha, shrink) / (2 * strength * total * total), 0
    else:
        quadratic, columns_outside = _sparse_conjugate(rows, weighted, alpha, shrink, strength * total, ratio)
        quadratic *= strength
    if facts.loss.name == "logistic":
        margins = labels * scores
        loss, entropy, outside = _logistic(margins, labels * alpha, facts.labels, sample_weight, shrink)
        primal, dual = loss / total + penalty, entropy / total - quadratic
        return Truth(primal, dual, outside + columns_outside, SLACK * (primal + entropy / total + quadratic))
    if facts.loss.name == "poisson":
        loss, conjugate, outside, size = _poisson(scores, alpha, labels, sample_weight, shrink)
        slack = SLACK * (size / total + penalty + quadratic)
        return Truth(loss / total + penalty, conjugate / total - quadratic, outside + columns_outside, slack)
    shape = SHAPES[facts.loss.name](facts.loss)
    bounds = Bounds.of(shape, facts.labels)
    loss = _losses(shape, bounds, labels - scores, sample_weight)
    conjugate = _conjugates(shape, alpha, labels, sample_weight, shrink)
    return Truth(
        loss / total + penalty, conjugate / total - quadratic, bounds.outside(alpha) + columns_outside, Fraction(0)
    )


class Shrink(NamedTuple):
    """Factors of the positive and of the negative duals after which Σ s_i α_i = 0."""

    positive: Fraction
    negative: Fraction

    @staticmethod
    def of(sample_weight: Dyadic, duals: Dyadic) -> Shrink:
        weighted = sample_weight * duals
        up = sum(value for value in weighted.ints.tolist() if value > 0)
        down = -sum(value for value in weighted.ints.tolist() if value < 0)
        if up > down:
            return Shrink(Fraction(down, up), Fraction(1))
        return Shrink(Fraction(1), Fraction(up, down) if down else Fraction(1))


def _parts(values: Dyadic, duals: Dyadic) -> tuple[Dyadic, Dyadic]:
    """The values of rows with positive duals and of those with negative ones, zero elsewhere."""
    is_positive = duals.is_positive()
    zeros = Dyadic(np.zeros(len(values.ints), dtype=object), values.exponent)
    return where(is_positive, values, zeros), where(is_positive, zeros, values)


def _quadratic(rows: ExactRows, weighted: Dyadic, duals: Dyadic, shrink: Shrink) -> Fraction:
    """‖Σ s_i α_i x_i‖² of the shrunk duals."""
    if shrink.positive == shrink.negative == 1:
        v = rows.combination(weighted)
        return v.dot(v).fraction()
    up, down = (rows.combination(part) for part in _parts(weighted, duals))
    return (
        shrink.positive**2 * up.dot(up).fraction()
        + 2 * shrink.positive * shrink.negative * up.dot(down).fraction()
        + shrink.negative**2 * down.dot(down).fraction()
    )


def _sparse_conjugate(
    rows: ExactRows, weighted: Dyadic, duals: Dyadic, shrink: Shrink, divisor: Fraction, ratio: Fraction
) -> tuple[Fraction, int]:
    """r*(x) = ‖soft(x, ρ)‖²/(2(1 − ρ)) for x = Σ s_i α_i x_i/(λS) of the shrunk duals; for ρ = 1 how many |x_j| are above 1."""
    up, down = (rows.combination(part) for part in _parts(weighted, duals))
    scales = (shrink.positive * Fraction(2) ** up.exponent, shrink.negative * Fraction(2) ** down.exponent)
    total, outside = Fraction(0), 0
    for u, d in zip(up.ints.tolist(), down.ints.tolist(), strict=True):
        excess = abs(scales[0] * u + scales[1] * d) / divisor - ratio
        if excess > 0:
            outside += ratio == 1
            total += excess**2
    return (Fraction(0) if ratio == 1 else total / (2 * (1 - ratio))), outside


def _losses(shape: Shape, bounds: Bounds, residuals: Dyadic, sample_weight: Dyadic) -> Fraction:
    """Σ s_i φ_i from the residuals y − z."""
    gamma, epsilon = Dyadic.of(shape.gamma), Dyadic.of(shape.epsilon)
    zero = Dyadic(np.zeros(len(residuals.ints), dtype=object), 0)
    over, under = residuals - epsilon, residuals + epsilon
    excess = where(over.is_positive(), over, where(under.is_negative(), under, zero))
    if shape.gamma == 0.0:
        values = where(excess.is_positive(), bounds.high * excess, bounds.low * excess)
        return sample_weight.dot(values).fraction()
    # Twice γ times the loss is a polynomial of floats: inside e², beyond a bound u it is 2γue − γ²u².
    low, high = gamma * bounds.low, gamma * bounds.high
    is_above = (excess - high).is_positive() & bounds.has_high
    is_below = (excess - low).is_negative() & bounds.has_low
    inside = where(is_below, (low * excess).doubled() - low * low, excess * excess)
    values = where(is_above, (high * excess).doubled() - high * high, inside)
    return sample_weight.dot(values).fraction() / (2 * gamma.fraction())


def _conjugates(shape: Shape, duals: Dyadic, labels: Dyadic, sample_weight: Dyadic, shrink: Shrink) -> Fraction:
    """Σ −s_i φ_i*(−α_i) of the shrunk duals."""
    linear = sample_weight * (duals * labels - abs(duals) * Dyadic.of(shape.epsilon))
    square = sample_weight * duals * duals
    half_gamma = Dyadic.of(shape.gamma).fraction() / 2
    total = Fraction(0)
    for factor, line, curve in zip(shrink, _parts(linear, duals), _parts(square, duals), strict=True):
        total += factor * line.sum().fraction() - half_gamma * factor**2 * curve.sum().fraction()
    return total


def _logistic(
    margins: Dyadic, a: Dyadic, labels: np.ndarray, sample_weight: Dyadic, shrink: Shrink
) -> tuple[Fraction, Fraction, int]:
    """Σ s_i ln(1 + e^−m_i), Σ s_i H(a_i) of the shrunk a = y·α, and how many a are outside [0, 1]."""
    s = sample_weight.decimals()
    loss = Decimal(0)
    for weight, m in zip(s, margins.decimals(), strict=True):
        loss = WIDE.fma(weight, softplus(m.copy_negate()), loss)
    unit = Fraction(2) ** a.exponent
    entropy, outside = Decimal(0), 0
    for weight, mantissa, label in zip(s, a.ints.tolist(), labels, strict=True):
        value = mantissa * unit
        if not 0 <= value <= 1:
            outside += 1
            continue
        value *= shrink.positive if label > 0 else shrink.negative
        entropy = WIDE.fma(weight, binary_entropy(as_decimal(min(value, 1 - value))), entropy)
    return as_fraction(loss), as_fraction(entropy), outside


def _poisson(
    scores: Dyadic, duals: Dyadic, labels: Dyadic, sample_weight: Dyadic, shrink: Shrink
) -> tuple[Fraction, Fraction, int, Fraction]:
    """Σ s_i φ_i, Σ −s_i φ_i*(−α_i) of the shrunk duals, how many α are above y, and the sum of the sizes of all terms.

    φ = e^z − yz − (y − y·ln y) and −φ*(−α) = (m − m·ln m) − (y − y·ln y) with m = y − α.
    """
    outside = int(np.count_nonzero((duals - labels).is_positive()))
    unit, label_unit = Fraction(2) ** duals.exponent, Fraction(2) ** labels.exponent
    loss, conjugate, size = Fraction(0), Fraction(0), Fraction(0)
    rows = zip(sample_weight.decimals(), scores.decimals(), duals.ints.tolist(), labels.ints.tolist(), strict=True)
    for weight, z, mantissa, label in rows:
        if not weight:
            continue  # its e^z may have too many digits to write down
        s, y, value = as_fraction(weight), label * label_unit, mantissa * unit
        mean = max(y - value * (shrink.positive if value > 0 else shrink.negative), Fraction(0))
        power, product = as_fraction(WIDE.exp(z)), y * as_fraction(z)
        of_label, of_mean = (as_fraction(plogp(as_decimal(p))) for p in (y, mean))
        loss += s * (power - product - y + of_label)
        conjugate += s * (mean - of_mean - y + of_label)
        size += s * (power + abs(product) + 2 * y + mean + 2 * abs(of_label) + abs(of_mean))
    return loss, conjugate, outside, size


def softplus(t: Decimal) -> Decimal:
    """ln(1 + e^t), right in relation to its size."""
    if t > 0:
        return WIDE.add(t, softplus(t.copy_negate()))
    return log1p(WIDE.exp(t))


def log1p(u: Decimal) -> Decimal:
    """ln(1 + u) for u > −1, right in relation to its size."""
    if u.copy_abs() < SMALL_LOGARITHM:
        # u − u²/2 + u³/3 − u⁴/4
        series = WIDE.subtract(WIDE.divide(Decimal(1), Decimal(3)), WIDE.divide(u, Decimal(4)))
        series = WIDE.subtract(Decimal(1), WIDE.multiply(u, WIDE.subtract(Decimal("0.5"), WIDE.multiply(u, series))))
        return WIDE.multiply(u, series)
    return WIDE.ln(WIDE.add(Decimal(1), u))


def plogp(p: Decimal) -> Decimal:
    """p·ln p, continued by 0."""
    return WIDE.multiply(p, WIDE.ln(p)) if p > 0 else Decimal(0)


def binary_entropy(a: Decimal) -> Decimal:
    """−a·ln a − (1 − a)·ln(1 − a) for 0 ≤ a ≤ 1/2, right in relation to its size."""
    rest = WIDE.multiply(WIDE.subtract(Decimal(1), a), log1p(a.copy_negate()))
    return WIDE.add(plogp(a), rest).copy_negate()
