"""What a loss means to a kernel, for one row: slope, exact dual step, how firmly a bound holds, and its part of the gap.

Losses reach kernels as NamedTuples of their numbers; the class of the tuple picks the formula. With m = y·z, a = y·α,
the dual step maximizes −φ*(−α′) − (α′ − α)·score − curvature·(α′ − α)²/2 over α′.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from numba.extending import register_jitable

from dualgap.kernels.compile import by_class, specialized
from dualgap.losses.margin import Logistic
from dualgap.losses.residual import ResidualFamily

# Below this a reciprocal would overflow, and the dual goes to the end it is pulled to.
SMALLEST_BEND = 1e-300


class MarginStep(NamedTuple):
    """φ(z) = max over 0 ≤ a ≤ upper of a(1 − m) − γa²/2."""

    gamma: float
    upper: float


class ResidualStep(NamedTuple):
    """φ(z) = max over lower ≤ α ≤ upper of α(y − z) − ε|α| − γα²/2."""

    gamma: float
    epsilon: float
    lower: float
    upper: float


class LogisticStep(NamedTuple):
    """φ(z) = log(1 + e^−m), its dual step by guarded Newton."""

    tolerance: float


class LogisticClosedForm(NamedTuple):
    """φ(z) = log(1 + e^−m), its dual step by the closed form of Shalev-Shwartz & Zhang (2013): D rises, not maximal."""

    unused: float


def kernel_loss(loss, logistic_step="newton"):
    """The NamedTuple by which kernels know a loss."""
    if isinstance(loss, Logistic):
        return LogisticStep(1e-13) if logistic_step == "newton" else LogisticClosedForm(0.0)
    kind = ResidualStep if isinstance(loss, ResidualFamily) else MarginStep
    return kind(**loss.parameters())


@register_jitable
def _margin_slope(loss, score, label):
    slack = 1.0 - label * score
    if slack <= 0.0:
        return 0.0
    if slack >= loss.gamma * loss.upper:
        return label * loss.upper
    return label * (slack / loss.gamma)


@register_jitable
def _residual_slope(loss, score, label):
    excess = _soft(label - score, loss.epsilon)
    if excess > 0.0:
        return loss.upper if excess >= loss.gamma * loss.upper else excess / loss.gamma
    if excess < 0.0:
        return loss.lower if excess <= loss.gamma * loss.lower else excess / loss.gamma
    return 0.0


def _logistic_slope(loss, score, label):
    return label * sigmoid(-label * score)


def _margin_step(loss, score, label, dual, curvature):
    bend = curvature + loss.gamma
    pull = (curvature * (label * dual) + 1.0) - label * score
    if bend > SMALLEST_BEND:
        # The reciprocal does not wait for the score, and clipping takes no branch: no predictor knows a row's end.
        return label * min(max(pull * (1.0 / bend), 0.0), loss.upper)
    return label * loss.upper if pull > 0.0 else 0.0


def _residual_step(loss, score, label, dual, curvature):
    bend = curvature + loss.gamma
    pull = _soft((curvature * dual + label) - score, loss.epsilon)
    if bend > SMALLEST_BEND:
        return min(max(pull * (1.0 / bend), loss.lower), loss.upper)
    if pull == 0.0:
        return 0.0
    return loss.upper if pull > 0.0 else loss.lower


def _logistic_step(loss, score, label, dual, curvature):
    """The root of h(u) = u + m + curvature·(σ(u) − a) over u, the logit of the new a; h rises with slope 1 or more.

    Newton from the old dual, bisecting unless the residual halves: Newton alone can cycle where σ saturates.
    """
    margin, a = label * score, label * dual
    low, high = -margin - curvature * (1.0 - a), -margin + curvature * a
    if a > 1e-300 and a < 1.0:
        u = min(max(log(a / (1.0 - a)), low), high)
    else:
        u = 0.5 * (low + high)
    before = float("inf")
    for _ in range(200):
        sigma = sigmoid(u)
        residual = u + margin + curvature * (sigma - a)
        if abs(residual) <= loss.tolerance * (abs(u) + abs(margin) + curvature * max(sigma, a)):
            break
        if residual > 0.0:
            high = u
        else:
            low = u
        proposal = u - residual / (1.0 + curvature * sigma * (1.0 - sigma))
        if not (low < proposal < high) or abs(residual) > 0.5 * before:
            proposal = 0.5 * (low + high)
        before = abs(residual)
        if proposal == u:
            break
        u = proposal
    return label * sigmoid(u)


def _logistic_closed_form(loss, score, label, dual, curvature):
    candidate = label * sigmoid(-label * score)
    moved = dual + (candidate - dual) / max(1.0, 0.25 + curvature)
    return label * min(max(label * moved, 0.0), 1.0)


def _margin_pressure(loss, score, label, dual):
    a = label * dual
    gradient = (1.0 - label * score) - loss.gamma * a
    if a <= 0.0:
        return gradient
    if a >= loss.upper:
        return -gradient
    return abs(gradient)


def _residual_pressure(loss, score, label, dual):
    residual = label - score
    if dual == 0.0:
        return abs(residual) - loss.epsilon
    gradient = residual - loss.gamma * dual - (loss.epsilon if dual > 0.0 else -loss.epsilon)
    if dual >= loss.upper:
        return -gradient
    if dual <= loss.lower:
        return gradient
    return abs(gradient)


def _logistic_pressure(loss, score, label, dual):
    # The entropy keeps every dual inside its interval, so no bound ever holds one.
    return abs(sigmoid(-label * score) - label * dual)


def _margin_gap(loss, score, label, dual):
    a, best = label * dual, label * _margin_slope(loss, score, label)
    return (best - a) * ((1.0 - label * score) - 0.5 * loss.gamma * (best + a))


def _residual_gap(loss, score, label, dual):
    best = _residual_slope(loss, score, label)
    linear = (best - dual) * ((label - score) - 0.5 * loss.gamma * (best + dual))
    return linear - loss.epsilon * (abs(best) - abs(dual))


def _logistic_gap(loss, score, label, dual):
    """The divergence of a from σ(−m)."""
    margin, a = label * score, label * dual
    other = max(sigmoid(margin), 1e-300)
    if a <= 1e-300:
        return -log(other)
    if a >= 1.0:
        return -log(max(sigmoid(-margin), 1e-300))
    return a * (log(a / (1.0 - a)) + margin) + log((1.0 - a) / other)


@register_jitable
def _soft(value, epsilon):
    """Soft threshold: towards zero by ε, and zero within it."""
    if value > epsilon:
        return value - epsilon
    if value < -epsilon:
        return value + epsilon
    return 0.0


@register_jitable
def sigmoid(u):
    """1/(1 + e^−u) without overflow."""
    if u >= 0.0:
        return 1.0 / (1.0 + exp(-u))
    power = exp(u)
    return power / (1.0 + power)


SLOPE = {
    MarginStep: _margin_slope,
    ResidualStep: _residual_slope,
    LogisticStep: _logistic_slope,
    LogisticClosedForm: _logistic_slope,
}
STEP = {
    MarginStep: _margin_step,
    ResidualStep: _residual_step,
    LogisticStep: _logistic_step,
    LogisticClosedForm: _logistic_closed_form,
}
PRESSURE = {
    MarginStep: _margin_pressure,
    ResidualStep: _residual_pressure,
    LogisticStep: _logistic_pressure,
    LogisticClosedForm: _logistic_pressure,
}

GAP = {
    MarginStep: _margin_gap,
    ResidualStep: _residual_gap,
    LogisticStep: _logistic_gap,
    LogisticClosedForm: _logistic_gap,
}


def negative_slope(loss, score, label):
    """−φ′(z)."""
    return SLOPE[type(loss)](loss, score, label)


def dual_step(loss, score, label, dual, curvature):
    """The new dual of one row."""
    return STEP[type(loss)](loss, score, label, dual, curvature)


def pressure(loss, score, label, dual):
    """How much the dual wants to move; below zero when a bound holds it, and how firmly."""
    return PRESSURE[type(loss)](loss, score, label, dual)


def fenchel_young(loss, score, label, dual):
    """φ(z) + φ*(−α) + αz ≥ 0, the row's part of the duality gap."""
    return GAP[type(loss)](loss, score, label, dual)


@specialized(negative_slope)
def _negative_slope(loss, score, label):
    return by_class(SLOPE, loss)


@specialized(dual_step)
def _dual_step(loss, score, label, dual, curvature):
    return by_class(STEP, loss)


@specialized(pressure)
def _pressure(loss, score, label, dual):
    return by_class(PRESSURE, loss)


@specialized(fenchel_young)
def _fenchel_young(loss, score, label, dual):
    return by_class(GAP, loss)
