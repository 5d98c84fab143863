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

# A tol above this must stand clear of the rounding errors of P and D.
PROVABLE = 1e-11

# Steps and reach of the search along a ray; its result only tightens a bound that holds anyway.
FACTOR_STEPS, FARTHEST = 24, 1e6


@dataclass(frozen=True)
class Certificate:
    """P and D at one answer, and what follows from them."""

    primal: float
    dual: float
    floor: float
    """The part of P − D that float64 rounding is likely to have made here."""
    alarm: float
    """The most that rounding can have made: a gap below minus this is an error, not rounding."""
    reference: float
    """1e-12 of what predicting a constant costs: below it a primal value counts as zero in the relative gap."""

    @property
    def gap(self) -> float:
        """P − D; a difference below zero that rounding explains is shown as zero, a larger one as it is."""
        gap = self.primal - self.dual
        return 0.0 if -self.alarm <= gap < 0.0 else gap

    @property
    def relative_gap(self) -> float:
        """The gap as a part of P; zero where a constant costs nothing, because then w = 0 is a perfect fit."""
        if self.reference == 0.0 and self.gap <= self.alarm:
            return 0.0
        return self.gap / max(self.primal, self.reference)

    def proves(self, tol: float) -> bool:
        """Whether the relative gap is at most tol, and rounding too small to have made it so."""
        return self.relative_gap <= tol and self.could_prove(tol)

    def could_prove(self, tol: float) -> bool:
        """Whether rounding leaves room for a proof of a relative gap of tol.

        It may take up the whole of a tol below PROVABLE: sums are mostly far better than their bounds.
        """
        return self.floor <= max(tol, PROVABLE) * max(self.primal, self.reference)

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
    problem: Problem,
    weights: Vector,
    intercept: float = 0.0,
    duals: Vector | None = None,
    enough: float = 0.0,
    tol: float = 0.0,
) -> Judgement:
    """Judge an answer. The duals of the judgement are feasible, and with a free intercept b is the best for w.

    Once the carried duals show a relative gap of `enough`, no others are looked at; where duals show one of `tol` as they
    are, they are not scaled.
    """
    carried, dual_weights = None, None
    if duals is None:
        scores = problem.rows.scores(weights)
    else:
        # The duals are made feasible first, so that X w and w(α) take one pass over the rows.
        carried = _clipped(problem, duals)
        _make_feasible(problem, carried)
        scores, dual_weights = problem.scores_and_weights_of(weights, carried)
    if problem.intercept:
        intercept = problem.best_intercept(scores, intercept)
        scores += intercept
    primal = problem.primal(scores, weights)
    of_scores, of_lengths = _score_sizes(problem, weights, scores)
    size = abs(primal) + of_scores
    best: tuple[float, float, Vector] | None = None
    wanted = primal * (1.0 - tol) if tol else np.inf
    if carried is not None and dual_weights is not None:
        best = (*_best_on_ray(problem, carried, dual_weights, wanted), carried)
    if best is None or not _certificate(problem, primal, best[0], size + best[1]).relative_gap <= enough:
        suggested = _suggested(problem, scores)
        _make_feasible(problem, suggested)
        found = (*_best_on_ray(problem, suggested, problem.weights_of(suggested), wanted), suggested)
        if best is None or found[0] > best[0]:
            best = found
    certificate = _certificate(problem, primal, best[0], size + best[1], of_lengths)
    return Judgement(certificate, weights, float(intercept), best[2], scores)


def _certificate(problem: Problem, primal: float, dual: float, size: float, most: float = 0.0) -> Certificate:
    floor = ROUNDING * size
    return Certificate(primal, dual, floor, floor + ROUNDING * most, 1e-12 * problem.baseline)


def _score_sizes(problem: Problem, weights: Vector, scores: Vector) -> tuple[float, float]:
    """How far a relative error in the scores moves P: the mean of |φ′(z)|·(|z| + |y|).

    And where products x_j w_j cancel in a score, a bound on the mean of |φ′(z)|·‖x‖‖w‖.
    """
    loss, labels = problem.loss, problem.labels

    def sizes(c: slice) -> NDArray[np.float64]:
        slopes = np.abs(loss.dual_candidate(scores[c], labels[c]))
        own = problem.weighted(slopes, c)
        reach = np.abs(scores[c])
        reach += np.abs(labels[c])
        return np.array([own @ reach, own @ slopes])

    moved, squared = problem.total_of(sizes) / problem.total_weight
    lengths = problem.mean_squared_norm * float(weights @ weights)
    return float(moved), float(np.sqrt(squared * lengths))


def _suggested(problem: Problem, scores: Vector) -> Vector:
    """The duals that the scores suggest."""
    return problem.each(lambda c: problem.loss.dual_candidate(scores[c], problem.labels[c]))


def _clipped(problem: Problem, duals: Vector, factor: float = 1.0) -> Vector:
    """The duals times a factor, inside their domain."""
    return problem.each(
        lambda c: problem.loss.clip(duals[c] if factor == 1.0 else factor * duals[c], problem.labels[c])
    )


def _make_feasible(problem: Problem, duals: Vector) -> None:
    """In place: empty rows go to their optimum; where Σ s_i α_i must vanish, the heavier sign is shrunk until it does."""
    if not problem.intercept:
        empty = problem.rows.empty
        if empty.size:
            # An empty row never moves w, yet its dual must sit at its optimum for the gap to close.
            duals[empty] = problem.loss.dual_candidate(np.zeros(empty.size), problem.labels[empty])
        return
    up = problem.mean_of(lambda c: np.maximum(duals[c], 0.0))
    down = problem.mean_of(lambda c: np.maximum(-duals[c], 0.0))
    if up > down:
        np.multiply(duals, down / up, out=duals, where=duals > 0.0)
    elif down > up:
        np.multiply(duals, up / down, out=duals, where=duals < 0.0)


def _best_on_ray(problem: Problem, duals: Vector, dual_weights: Vector, wanted: float) -> tuple[float, float]:
    """The best D on the ray through the duals, which are scaled in place, and the size of what was summed for it.

    `dual_weights` is w(α). Where D at the duals themselves is as large as wanted, they stay as they are.
    """
    value = problem.dual(duals, dual_weights)
    quadratic = 2.0 * problem.penalty(dual_weights)
    factor = 1.0 if value >= wanted else _best_factor(problem, duals, quadratic)
    if factor != 1.0:
        scaled = _clipped(problem, duals, factor)
        better = problem.dual(scaled, dual_weights * factor)
        if better > value + ROUNDING * (abs(value) + quadratic):
            duals[:] = scaled
            value, quadratic = better, quadratic * factor * factor
    if not value > 0.0:
        # Zero duals are always feasible and give D = 0, which no worse bound replaces.
        duals[:] = 0.0
        return 0.0, 0.0
    return value, problem.mean_of(lambda c: np.abs(duals[c] * problem.labels[c])) + quadratic


def _best_factor(problem: Problem, duals: Vector, quadratic: float) -> float:
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
        while at_high > 0.0 and high < min(limit, FARTHEST):
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
        if abs(here) <= 1e-9 * problem.baseline:
            break
        low, at_low, high, at_high = (t, here, high, at_high) if here > 0.0 else (low, at_low, t, here)
    return t
