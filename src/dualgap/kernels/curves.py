"""What a smooth loss and its derivatives say of one row: its value, −φ′ and φ″, and φ‴, in forms that loops can vectorize."""

from __future__ import annotations

from math import exp, log1p

import numpy as np
from numba.extending import register_jitable

from dualgap.kernels.compile import by_class, specialized
from dualgap.kernels.steps import LogisticStep, MarginStep, ResidualStep

# Beyond these e^x and e^−x are of no use to a loss in float64.
LOWEST, HIGHEST = -700.0, 700.0
LOG2_E = 1.4426950408889634
# ln 2 in two parts: the first ends in zeros, so that whole multiples of it are exact.
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
BIAS, MANTISSA = np.int64(1023), np.int64(52)


@register_jitable
def exponential(x):
    """e^x to within two units in the last place, with x moved to [−700, 700]: 2^k·e^r with |r| ≤ ½ ln 2, e^r by its series.

    The C library's is called row by row, which takes four times as long.
    """
    x = min(max(x, LOWEST), HIGHEST)
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    series = 1.0 / 6227020800.0
    series = series * r + 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    # The bits of 2^k: its exponent, and a mantissa of zeros.
    return series * np.int64((np.int64(k) + BIAS) << MANTISSA).view(np.float64)


def _margin_curve(loss, score, label):
    a = min(max((1.0 - label * score) / loss.gamma, 0.0), loss.upper)
    return label * a, (1.0 / loss.gamma if a > 0.0 and a < loss.upper else 0.0)


def _residual_curve(loss, score, label):
    residual = label - score
    # One of the two is zero: outside of the tube, the distance from its edge.
    beyond = max(residual - loss.epsilon, 0.0) + min(residual + loss.epsilon, 0.0)
    dual = min(max(beyond / loss.gamma, loss.lower), loss.upper)
    is_curved = dual > loss.lower and dual < loss.upper and abs(residual) >= loss.epsilon
    return dual, (1.0 / loss.gamma if is_curved else 0.0)


def _logistic_curve(loss, score, label):
    power = exponential(label * score)
    a = 1.0 / (1.0 + power)
    return label * a, a * power * a


def _margin_value(loss, score, label, dual):
    a = label * dual
    return a * (1.0 - label * score) - 0.5 * loss.gamma * a * a


def _residual_value(loss, score, label, dual):
    return dual * (label - score) - loss.epsilon * abs(dual) - 0.5 * loss.gamma * dual * dual


def _logistic_value(loss, score, label, dual):
    margin = label * score
    return log1p(exp(-abs(margin))) - min(margin, 0.0)


def _no_third(loss, dual, bend, label):
    return 0.0


def _logistic_third(loss, dual, bend, label):
    return (2.0 * dual - label) * bend


CURVE = {MarginStep: _margin_curve, ResidualStep: _residual_curve, LogisticStep: _logistic_curve}
VALUE = {MarginStep: _margin_value, ResidualStep: _residual_value, LogisticStep: _logistic_value}
THIRD = {MarginStep: _no_third, ResidualStep: _no_third, LogisticStep: _logistic_third}


def curve(loss, score, label):
    """−φ′(z) and φ″(z)."""
    return CURVE[type(loss)](loss, score, label)


def loss_value(loss, score, label, dual):
    """φ(z), where −φ′(z) is the dual."""
    return VALUE[type(loss)](loss, score, label, dual)


def third(loss, dual, bend, label):
    """φ‴ where −φ′ and φ″ are these; 0 where the loss is made of parabolas."""
    return THIRD[type(loss)](loss, dual, bend, label)


@specialized(curve)
def _curve(loss, score, label):
    return by_class(CURVE, loss)


@specialized(loss_value)
def _loss_value(loss, score, label, dual):
    return by_class(VALUE, loss)


@specialized(third)
def _third(loss, dual, bend, label):
    return by_class(THIRD, loss)
