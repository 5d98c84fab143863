"""The losses in the table's own words, number by number, and the best dual of one row by bisection.

Shared with nothing in the package: φ is written by cases, the dual step is found on the falling slope of its objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import exp, factorial, inf, log, log1p
from typing import Any, NamedTuple

import numpy as np


class Table(NamedTuple):
    """One row of the table of losses, for numbers: φ(z) and φ′(z), then −φ*(−α), its slope and the domain of α.

    `dual_slope(α, y, side)` is the one-sided derivative of −φ*(−α), to the right for side = +1; `conjugate_curvature` is minus its
    second derivative where that is constant, else None, and then `curvature_at(α, y)` is it and `near(α, y)` the interval that
    an extrapolation stays in.
    """

    value: Callable[[float, float], float]
    slope: Callable[[float, float], float]
    dual_value: Callable[[float, float], float]
    dual_slope: Callable[[float, float, int], float]
    domain: Callable[[float], tuple[float, float]]
    conjugate_curvature: float | None
    curvature_at: Callable[[float, float], float] | None = None
    near: Callable[[float, float], tuple[float, float]] | None = None


def unit_towards(label: float) -> tuple[float, float]:
    """0 ≤ y·α ≤ 1, as an interval for α."""
    return (0.0, 1.0) if label > 0 else (-1.0, 0.0)


def all_towards(label: float) -> tuple[float, float]:
    """y·α ≥ 0, as an interval for α."""
    return (0.0, inf) if label > 0 else (-inf, 0.0)


def side_of(dual: float, side: int) -> float:
    """The derivative of |α| to one side."""
    return float(side) if dual == 0 else (1.0 if dual > 0 else -1.0)


def hinge() -> Table:
    return Table(
        value=lambda z, y: max(0.0, 1.0 - y * z),
        slope=lambda z, y: -y if y * z < 1.0 else 0.0,
        dual_value=lambda alpha, y: y * alpha,
        dual_slope=lambda alpha, y, side: y,
        domain=unit_towards,
        conjugate_curvature=0.0,
    )


def smoothed_hinge(gamma: float) -> Table:
    def value(z: float, y: float) -> float:
        m = y * z
        if m >= 1.0:
            return 0.0
        return 1.0 - m - gamma / 2.0 if m <= 1.0 - gamma else (1.0 - m) ** 2 / (2.0 * gamma)

    def slope(z: float, y: float) -> float:
        m = y * z
        if m >= 1.0:
            return 0.0
        return -y if m <= 1.0 - gamma else -y * (1.0 - m) / gamma

    return Table(
        value,
        slope,
        dual_value=lambda alpha, y: y * alpha - gamma * alpha**2 / 2.0,
        dual_slope=lambda alpha, y, side: y - gamma * alpha,
        domain=unit_towards,
        conjugate_curvature=gamma,
    )


def squared_hinge() -> Table:
    return Table(
        value=lambda z, y: max(0.0, 1.0 - y * z) ** 2,
        slope=lambda z, y: -2.0 * y * max(0.0, 1.0 - y * z),
        dual_value=lambda alpha, y: y * alpha - alpha**2 / 4.0,
        dual_slope=lambda alpha, y, side: y - alpha / 2.0,
        domain=all_towards,
        conjugate_curvature=0.5,
    )


def logistic() -> Table:
    def value(z: float, y: float) -> float:
        m = y * z
        return log1p(np.exp(-m)) if m > 0.0 else -m + log1p(np.exp(m))

    def slope(z: float, y: float) -> float:
        m = y * z
        return -y * (np.exp(-m) / (1.0 + np.exp(-m)) if m > 0.0 else 1.0 / (1.0 + np.exp(m)))

    def dual_value(alpha: float, y: float) -> float:
        a = y * alpha
        return -sum(p * log(p) for p in (a, 1.0 - a) if p > 0.0)

    def dual_slope(alpha: float, y: float, side: int) -> float:
        a = y * alpha
        if a <= 0.0 or a >= 1.0:
            return y * (inf if a <= 0.0 else -inf)
        return y * (log1p(-a) - log(a))

    def curvature_at(alpha: float, y: float) -> float:
        return 1.0 / (y * alpha * (1.0 - y * alpha))

    def near(alpha: float, y: float) -> tuple[float, float]:
        # An eighth of the way to either end remains.
        low, high = unit_towards(y)
        return alpha - 0.875 * (alpha - low), alpha + 0.875 * (high - alpha)

    return Table(value, slope, dual_value, dual_slope, unit_towards, None, curvature_at, near)


def squared() -> Table:
    return Table(
        value=lambda z, y: (z - y) ** 2,
        slope=lambda z, y: 2.0 * (z - y),
        dual_value=lambda alpha, y: alpha * y - alpha**2 / 4.0,
        dual_slope=lambda alpha, y, side: y - alpha / 2.0,
        domain=lambda y: (-inf, inf),
        conjugate_curvature=0.5,
    )


def absolute() -> Table:
    return Table(
        value=lambda z, y: abs(z - y),
        slope=lambda z, y: float(np.sign(z - y)),
        dual_value=lambda alpha, y: alpha * y,
        dual_slope=lambda alpha, y, side: y,
        domain=lambda y: (-1.0, 1.0),
        conjugate_curvature=0.0,
    )


def epsilon_insensitive(epsilon: float) -> Table:
    return Table(
        value=lambda z, y: max(0.0, abs(z - y) - epsilon),
        slope=lambda z, y: float(np.sign(z - y)) if abs(z - y) > epsilon else 0.0,
        dual_value=lambda alpha, y: alpha * y - epsilon * abs(alpha),
        dual_slope=lambda alpha, y, side: y - epsilon * side_of(alpha, side),
        domain=lambda y: (-1.0, 1.0),
        conjugate_curvature=0.0,
    )


def squared_epsilon_insensitive(epsilon: float) -> Table:
    return Table(
        value=lambda z, y: max(0.0, abs(z - y) - epsilon) ** 2,
        slope=lambda z, y: 2.0 * float(np.sign(z - y)) * max(0.0, abs(z - y) - epsilon),
        dual_value=lambda alpha, y: alpha * y - epsilon * abs(alpha) - alpha**2 / 4.0,
        dual_slope=lambda alpha, y, side: y - epsilon * side_of(alpha, side) - alpha / 2.0,
        domain=lambda y: (-inf, inf),
        conjugate_curvature=0.5,
    )


def quantile(tau: float) -> Table:
    def slope(z: float, y: float) -> float:
        if z == y:
            return 0.0
        return 1.0 - tau if z > y else -tau

    return Table(
        value=lambda z, y: tau * max(0.0, y - z) + (1.0 - tau) * max(0.0, z - y),
        slope=slope,
        dual_value=lambda alpha, y: alpha * y,
        dual_slope=lambda alpha, y, side: y,
        domain=lambda y: (tau - 1.0, tau),
        conjugate_curvature=0.0,
    )


def huber(delta: float) -> Table:
    def value(z: float, y: float) -> float:
        r = abs(z - y)
        return r**2 / 2.0 if r <= delta else delta * (r - delta / 2.0)

    return Table(
        value,
        slope=lambda z, y: z - y if abs(z - y) <= delta else delta * float(np.sign(z - y)),
        dual_value=lambda alpha, y: alpha * y - alpha**2 / 2.0,
        dual_slope=lambda alpha, y, side: y - alpha,
        domain=lambda y: (-delta, delta),
        conjugate_curvature=1.0,
    )


def poisson() -> Table:
    def plogp(p: float) -> float:
        return p * log(p) if p > 0.0 else 0.0

    def value(z: float, y: float) -> float:
        # e^z − yz − y + y·ln y = y(e^t − 1 − t); the series ends where float64 does.
        t = z - log(y) if y > 0.0 else inf
        if abs(t) < 0.5:
            return y * sum(t**k / factorial(k) for k in range(2, 20))
        return float(np.exp(np.float64(z))) - y * z - y + plogp(y)

    def dual_value(alpha: float, y: float) -> float:
        mean = y - alpha
        t = -log1p(-alpha / y) if y > 0.0 and abs(alpha) < 0.4 * y else inf
        if abs(t) < 0.5:
            return alpha * log(y) - mean * sum(t**k / factorial(k) for k in range(2, 20))
        return mean - plogp(mean) - y + plogp(y)

    return Table(
        value,
        slope=lambda z, y: float(np.exp(np.float64(z))) - y,
        dual_value=dual_value,
        dual_slope=lambda alpha, y, side: log(y - alpha) if alpha < y else -inf,
        domain=lambda y: (-inf, y),
        conjugate_curvature=None,
        curvature_at=lambda alpha, y: 1.0 / (y - alpha),
        near=lambda alpha, y: (y - 8.0 * (y - alpha), y - (y - alpha) / 8.0),
    )


LOSSES: dict[str, Callable[..., Table]] = {
    row.__name__: row
    for row in (
        hinge, smoothed_hinge, squared_hinge, logistic, squared, absolute,
        epsilon_insensitive, squared_epsilon_insensitive, quantile, huber, poisson,
    )
}  # fmt: skip


def table_of(loss: Any) -> Table:
    """The table's row for one of the package's losses, found by its name and given its numbers."""
    names = [field.name for field in fields(loss)]
    return LOSSES[loss.name](**{name: getattr(loss, name) for name in names})


def best_dual(loss: Table, score: float, label: float, dual: float, dual_curvature: float) -> float:
    """The α′ that maximizes −φ*(−α′) − (α′ − α)·score − dual_curvature·(α′ − α)²/2, by bisecting on its falling slope."""

    def climbs(alpha: float, side: int) -> float:
        return loss.dual_slope(alpha, label, side) - score - dual_curvature * (alpha - dual)

    low, high = loss.domain(label)
    if low < 0.0 < high and climbs(0.0, -1) >= 0.0 >= climbs(0.0, +1):
        return 0.0
    reach = 1.0
    if high == inf:
        while climbs(reach, +1) > 0.0:
            reach *= 2.0
        high = reach
    if low == -inf:
        while climbs(-reach, -1) < 0.0:
            reach *= 2.0
        low = -reach
    if climbs(low, +1) <= 0.0:
        return low
    if climbs(high, -1) >= 0.0:
        return high
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if climbs(middle, +1) > 0.0:
            low = middle
        elif climbs(middle, -1) < 0.0:
            high = middle
        else:
            return middle


def closed_form_dual(loss: Table, score: float, label: float, dual: float, dual_curvature: float) -> float:
    """The logistic step of Shalev-Shwartz & Zhang (2013, section 6): Δ = (y/(1 + e^{yz}) − α)/max(1, 1/4 + ‖x‖²/(λn))."""
    return dual + (label / (1.0 + np.exp(label * score)) - dual) / max(1.0, 0.25 + dual_curvature)


def kkt_violation(loss: Table, score: float, label: float, dual: float) -> float:
    """The steepest rise of −φ*(−α) − α·score along a direction that α may move in; below zero where α is held."""
    low, high = loss.domain(label)
    up = loss.dual_slope(dual, label, +1) - score if dual < high else -inf
    down = score - loss.dual_slope(dual, label, -1) if dual > low else -inf
    return max(up, down)


def logistic_dual(score: Any, label: Any, dual: Any, dual_curvature: Any) -> Any:
    """The logistic dual step for whole arrays, by bisection over the logit of a′ in the longest float there is.

    Stationary where u + m + dual_curvature·(σ(u) − a) = 0; the left side rises by at least 1 per unit of u.
    """
    wide = np.longdouble
    m, a, c = wide(label * score), wide(label * dual), wide(dual_curvature)
    low, high = -m - c * (1 - a), -m + c * a
    for _ in range(160):
        u = (low + high) / 2
        grow = np.exp(-np.abs(u))
        sigma = np.where(u >= 0, 1 / (1 + grow), grow / (1 + grow))
        # σ(u) − a without cancellation near one: (1 − a) − (1 − σ(u)).
        difference = np.where(a > 0.5, (1 - a) - np.where(u >= 0, grow / (1 + grow), 1 / (1 + grow)), sigma - a)
        rising = u + m + c * difference > 0
        low, high = np.where(rising, low, u), np.where(rising, u, high)
    return label * sigma


def rough_logistic_dual(score: float, label: float, dual: float, dual_curvature: float) -> float | None:
    """Newton for the logit of the new a = y·α, until another step would move a by a tenth as far as it has come.

    None where four steps are not enough; a logit must not move by more than a half any longer either.
    """
    m, a = label * score, label * dual
    u = log(a / (1.0 - a)) if 0.0 < a < 1.0 else -m
    for number in range(5):
        sigma = 1.0 / (1.0 + exp(-u)) if u > -700.0 else 0.0
        onward = (u + m + dual_curvature * (sigma - a)) / (1.0 + dual_curvature * sigma * (1.0 - sigma))
        if number and abs(onward) <= 0.5 and sigma * (1.0 - sigma) * abs(onward) <= 0.1 * abs(sigma - a):
            return label * sigma
        u = min(max(u - onward, -m - dual_curvature * (1.0 - a)), -m + dual_curvature * a)
    return None
