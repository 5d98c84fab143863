"""Duals of a problem with one score a row, made feasible, and the best factor along their ray."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dualgap.problem import Problem

Vector = NDArray[np.float64]

# Steps of the search along a ray, and the largest factor it tries. Any factor gives a bound that holds; more steps tighten it by less.
FACTOR_STEPS, LARGEST_FACTOR = 24, 1e6
# The search ends where the slope of D along the ray is below this part of the baseline.
SLOPE_TOLERANCE = 1e-9
# Duals whose weighted sums are smaller than this count as zero: products with them would underflow.
TINY_SUM = 1e-250


def make_feasible(problem: Problem, duals: Vector) -> None:
    """In place: empty rows go to their optimum; where Σ s_i α_i must vanish, the heavier sign is shrunk until it does."""
    if not problem.intercept:
        empty = problem.rows.empty
        if empty.size:
            # An empty row never moves w, yet its dual must sit at its optimum for the gap to close.
            duals[empty] = problem.loss.dual_candidate(np.zeros(empty.size), problem.labels[empty])
        return
    up = problem.mean_of(lambda c: np.maximum(duals[c], 0.0))
    down = problem.mean_of(lambda c: np.maximum(-duals[c], 0.0))
    if min(up, down) < TINY_SUM:
        duals[:] = 0.0
    elif up > down:
        np.multiply(duals, down / up, out=duals, where=duals > 0.0)
    elif down > up:
        np.multiply(duals, up / down, out=duals, where=duals < 0.0)


def best_factor(problem: Problem, duals: Vector, quadratic: float) -> float:
    """The t that maximizes D(tα): the root of a falling slope, which is a line for every loss but the logistic one.

    D bounds P* at any t, so a few digits are enough.
    """
    loss, labels = problem.loss, problem.labels

    def slope(t: float) -> float:
        return problem.mean_of(lambda c: loss.ray_slope(t, duals[c], labels[c])) - t * quadratic

    limit = min(loss.ray_limit(duals[c], labels[c]) for c in problem.chunks())
    high = min(1.0, limit)
    if not high > 0.0:
        return 1.0
    at_high = slope(high)
    if at_high > 0.0:
        # D still rises at t = 1: look further out, at most to the end of the ray.
        low, at_low = high, at_high
        while at_high > 0.0 and high < min(limit, LARGEST_FACTOR):
            low, at_low, high = high, at_high, min(limit, 4.0 * high)
            at_high = slope(high)
    else:
        low, at_low = 0.0, slope(float(np.finfo(np.float64).tiny))
    if not (np.isfinite(at_low) and np.isfinite(at_high)):
        return 1.0
    if at_high >= 0.0 or at_low <= 0.0:
        return high if at_high >= 0.0 else low
    t = high
    for step in range(FACTOR_STEPS):
        # Secant and bisection in turn: the first is exact for a line, the second cannot be led astray by a steep end.
        t = low + (high - low) * (at_low / (at_low - at_high)) if step % 2 == 0 else 0.5 * (low + high)
        here = slope(t)
        if abs(here) <= SLOPE_TOLERANCE * problem.baseline:
            break
        low, at_low, high, at_high = (t, here, high, at_high) if here > 0.0 else (low, at_low, t, here)
    return t
