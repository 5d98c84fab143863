"""The certificate of a Huber regression whose scale σ is a variable too, from that of the problem at one σ.

With δ = εσ, P′ and D′ the values of the Huber loss at this δ and strength λσ/2, and α its duals,

    Q(w, b, σ) = (1/S) Σ s_i (σ + σH((y_i − z_i)/σ)) + λr(w) = σ + (2/σ) P′(w, b) ,   H(t) = t² up to ε, 2ε|t| − ε² beyond,

is convex in all three. docs/certificate.md proves that Q − min Q ≤ (2/σ)(P′ − D′) + σ(1 − m) for m = ⟨α²⟩/σ² ≤ 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import REFERENCE_PART, gamma
from dualgap.certificate.judge import certify
from dualgap.certificate.point import facts_of
from dualgap.certificate.verdict import Certificate, Judgement
from dualgap.linalg.floats import UNIT
from dualgap.losses.base import SLACK
from dualgap.problem import Problem

Vector = NDArray[np.float64]

# δ and λσ/2 are rounded products: each changes Q, and its minimum, by less than two units in the last place.
PARAMETER_ROUNDING = 8.0 * UNIT


class ScaledJudgement(NamedTuple):
    """What the judge says of w, b and σ together."""

    certificate: Certificate
    """Of Q."""
    duals: Vector
    """2α/σ: the duals of Q, for which w(α) = (1/(λS)) Σ s_i α_i x_i."""
    at_scale: Judgement
    """Of P′, the problem at this σ."""


def certify_with_scale(
    problem: Problem, scale: float, weights: Vector, intercept: float, duals: Vector, baseline: float, tol: float
) -> ScaledJudgement:
    """Judge w, b and σ; `problem` has the Huber loss with δ = εσ and strength λσ/2, `baseline` is Q of a constant and some σ."""
    judged = certify(problem, weights, intercept, duals, tol=tol)
    low, high = _mean_square(problem, judged.duals, scale)
    if high > 1.0:
        # Both values are infinitely tolerant: the shrunk duals are judged as they are.
        shrunk = judged.duals * ((1.0 - 4.0 * (high - low)) / np.sqrt(high))
        judged = certify(
            problem, judged.weights, judged.intercept, shrunk, carried_target=float("inf"), tol=float("inf")
        )
        low, high = _mean_square(problem, judged.duals, scale)
    return ScaledJudgement(
        _certificate(judged.certificate, scale, low, high, REFERENCE_PART * baseline),
        judged.duals * (2.0 / scale),
        judged,
    )


def _mean_square(problem: Problem, duals: Vector, scale: float) -> tuple[float, float]:
    """Bounds on m = ⟨α²⟩/σ² of the exactly feasible duals, of which the heavier sign is smaller by a part of at most ε."""
    operations = facts_of(problem).sum_operations
    computed = float(problem.mean(duals * duals)) / scale / scale
    error = gamma(operations + 8)
    repair = 2.0 * gamma(operations + 12) if problem.intercept else 0.0
    return computed * (1.0 - error) * (1.0 - 2.0 * repair), computed * (1.0 + error)


def _certificate(inner: Certificate, scale: float, low: float, high: float, reference: float) -> Certificate:
    """Q, a lower bound on its minimum and the gap between them."""
    factor = 2.0 / scale
    primal = scale + factor * inner.primal
    lost = PARAMETER_ROUNDING * primal
    is_feasible = high <= 1.0
    gap = (factor * inner.gap + scale * (1.0 - low) + lost) * SLACK if is_feasible else primal * SLACK + lost
    computed = factor * (inner.gap - inner.rounding) + scale * (1.0 - high) if is_feasible else primal
    dual = factor * inner.dual + scale * high if is_feasible else 0.0
    return Certificate(
        primal,
        dual,
        gap,
        max(gap - computed, 0.0),
        (factor * inner.primal_error + lost) * SLACK,
        (factor * inner.dual_error + scale * (high - low) + lost) * SLACK,
        reference,
    )
