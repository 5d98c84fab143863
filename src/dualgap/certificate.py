"""The judge: from the weights, intercept and duals a solver returns, a primal value, a dual value and the gap between them.

It shares no code with any solver or kernel. Every feasible dual bounds P* from below, so the judge may choose: the
duals the solver carried or those its scores suggest, scaled along their ray, whichever gives the larger D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.problem import Problem

Vector = NDArray[np.float64]

# Sums of n terms err by a small multiple of the unit roundoff, relative to the sizes of what is summed.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Certificate:
    """P and D at one answer, and what follows from them."""

    primal: float
    dual: float
    floor: float
    """The part of P − D that float64 rounding alone can produce here."""
    reference: float
    """1e-12 · P(0, 0): below it a primal value counts as zero in the relative gap."""

    @property
    def gap(self) -> float:
        """P − D; a difference below zero that rounding explains is shown as zero, a larger one as it is."""
        gap = self.primal - self.dual
        return 0.0 if -self.floor <= gap < 0.0 else gap

    @property
    def relative_gap(self) -> float:
        """The gap as a part of P; zero where P(0, 0) = 0, because then w = 0 is a perfect fit."""
        if self.reference == 0.0 and self.gap <= self.floor:
            return 0.0
        return self.gap / max(self.primal, self.reference)

    @property
    def is_broken(self) -> bool:
        """Weak duality is violated beyond rounding, or a value is not a number: something computed wrongly."""
        return not (np.isfinite(self.primal) and np.isfinite(self.dual)) or self.gap < 0.0

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}, dual {self.dual:.10g}, gap {self.gap:.3g} (relative {self.relative_gap:.3g})"
        )


class Judgement(NamedTuple):
    """A certificate and the answer it is true of."""

    certificate: Certificate
    weights: Vector
    intercept: float
    duals: Vector
    scores: Vector


def certify(
    problem: Problem, weights: Vector, intercept: float = 0.0, duals: Vector | None = None, enough: float = 0.0
) -> Judgement:
    """Judge an answer. The duals of the judgement are feasible, and with a free intercept b is the best for w.

    Once the carried duals show a relative gap of `enough`, no others are looked at.
    """
    scores = problem.rows.scores(weights)
    if problem.intercept:
        intercept = best_intercept(problem, scores, intercept)
        scores += intercept
    primal = problem.primal(scores, weights)
    best: tuple[float, float, Vector] | None = None
    for candidate in (duals, None):
        if candidate is None:
            if best is not None and _certificate(problem, primal, *best[:2]).relative_gap <= enough:
                break
            candidate = problem.loss.dual_candidate(scores, problem.labels)
        feasible = _feasible(problem, candidate)
        value, size = _best_on_ray(problem, feasible)
        if best is None or value > best[0]:
            best = (value, size, feasible)
    assert best is not None
    return Judgement(_certificate(problem, primal, best[0], best[1]), weights, float(intercept), best[2], scores)


def _certificate(problem: Problem, primal: float, dual: float, size: float) -> Certificate:
    floor = ROUNDING * (abs(primal) + size)
    return Certificate(primal, dual, floor, 1e-12 * problem.primal_at_zero)


def _feasible(problem: Problem, duals: Vector) -> Vector:
    """Duals inside their domain; where Σ s_i α_i must vanish, the heavier sign is shrunk until it does."""
    feasible = problem.loss.clip(duals, problem.labels)
    if not problem.intercept:
        empty = problem.rows.squared_norms == 0.0
        if empty.any():
            # An empty row never moves w, yet its dual must sit at its optimum for the gap to close.
            feasible[empty] = problem.loss.dual_candidate(np.zeros(int(empty.sum())), problem.labels[empty])
        return feasible
    weighted = problem.weighted(feasible)
    up = float(np.maximum(weighted, 0.0).sum())
    down = up - float(weighted.sum())
    if up > down:
        feasible[feasible > 0.0] *= down / up
    elif down > up:
        feasible[feasible < 0.0] *= up / down
    return feasible


def _best_on_ray(problem: Problem, duals: Vector) -> tuple[float, float]:
    """The best D on the ray through the duals, which are scaled in place, and the size of what was summed for it."""
    row_weights = problem.weighted(np.full(problem.rows.count, 1.0 / problem.total_weight))
    dual_weights = problem.weights_of(duals)
    value = problem.dual(duals, dual_weights)
    quadratic = 2.0 * problem.penalty(dual_weights)
    factor = problem.loss.best_along_ray(duals, problem.labels, row_weights, quadratic)
    if np.isfinite(factor) and factor != 1.0:
        scaled = problem.loss.clip(duals * factor, problem.labels)
        better = problem.dual(scaled, dual_weights * factor)
        if better > value + ROUNDING * (abs(value) + quadratic):
            duals[:] = scaled
            value, quadratic = better, quadratic * factor * factor
    if not value > 0.0:
        # Zero duals are always feasible and give D = 0, which no worse bound replaces.
        duals[:] = 0.0
        return 0.0, 0.0
    return value, abs(value) + quadratic


def best_intercept(problem: Problem, scores: Vector, start: float = 0.0) -> float:
    """argmin over b of P(w, b), from the scores at b = 0 alone: the root of an increasing slope in b."""
    kinks = problem.loss.kinks(problem.labels)
    if kinks:
        return _between_kinks(problem, scores, np.sort(np.concatenate([kink - scores for kink in kinks])))
    return _slope_root(problem, scores, start if np.isfinite(start) else 0.0)


def _slope(problem: Problem, scores: Vector, b: float) -> float:
    """∂P/∂b = −(1/S) Σ s_i α_i with the duals that the scores suggest."""
    return -problem.mean(problem.loss.dual_candidate(scores + b, problem.labels))


def _between_kinks(problem: Problem, scores: Vector, places: Vector) -> float:
    """The slope is constant between kinks: find the two neighbours between which it passes zero."""
    low, high = 0, places.size - 1

    def middle(k: int) -> float:
        return float(0.5 * (places[k] + places[k + 1]))

    # Invariant: the slope left of places[low] is not positive, right of places[high] not negative.
    while low < high:
        k = (low + high) // 2
        slope = _slope(problem, scores, middle(k))
        if slope == 0.0:
            return middle(k)
        if slope < 0.0:
            low = k + 1
        else:
            high = k
    return float(places[low])


def _slope_root(problem: Problem, scores: Vector, start: float) -> float:
    """Newton inside a bracket, bisecting whenever the slope does not halve; ends at float64's resolution."""
    b, stride, before = start, 1.0, np.inf
    low, high = -np.inf, np.inf
    for _ in range(200):
        candidate = problem.loss.dual_candidate(scores + b, problem.labels)
        slope = -problem.mean(candidate)
        if abs(slope) <= np.finfo(np.float64).eps * problem.mean(np.abs(candidate)):
            break
        low, high = (b, high) if slope < 0.0 else (low, b)
        bend = problem.mean(problem.loss.curvature(scores + b, problem.labels))
        newton = b - slope / bend if bend > 0.0 else np.nan
        bounded = np.isfinite(low) and np.isfinite(high)
        if low < newton < high and (abs(slope) <= 0.5 * before or not bounded):
            proposal = newton
        elif bounded:
            proposal = 0.5 * (low + high)
        else:
            proposal = b - np.sign(slope) * stride
            stride *= 4.0
        if not low < proposal < high:
            break
        before, b = abs(slope), float(proposal)
    return b
