"""The judge of the judge: what a certificate claims, compared with P and D in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from exact import EXACT_LOSSES, Facts, Truth
from exact_estimators import estimator_truth
from exact_softmax import softmax_truth

# A relative gap is a quotient of floats: its own rounding is forgiven.
QUOTIENT = Fraction(1, 10**12)
# Where a constant costs nothing, an absolute gap up to this counts as zero.
NOTHING = Fraction(1, 10**300)
# The certificates of the first version allowed rounding to take up to this number where tol was smaller.
OLD_PROVABLE = Fraction(1, 10**11)
# e^z of a larger score is far beyond float64, and so is P under the Poisson loss.
LARGEST_EXPONENT = 1000.0
# More than a score loses by rounding, as a part of the sum of its absolute products.
ROUNDING = 1e-12
# The reference divided by P(0, b*), which is computed in floats: an error of the reference is no false claim.
REFERENCE, REFERENCE_ERROR = Fraction(1, 10**12), Fraction(1, 10**6)


@dataclass(frozen=True)
class Claim:
    """An answer to a problem and what the package says about it."""

    facts: Facts
    weights: Any
    intercept: Any
    duals: Any
    certificate: Any
    status: str
    tol: float
    dual_is_bound: bool = False
    """Whether `dual` is a lower bound on D alone: on row blocks, and where the gap comes from a gradient."""


@dataclass(frozen=True)
class Violation:
    """A claim that is not true: its kind and the numbers that show it."""

    kind: str
    detail: str


# CERTIFIED with a true gap beyond tol; `false_old` is also beyond OLD_PROVABLE.
FALSE_KINDS = ("false", "false_old")
# What holds once `certificate.gap` is a proven bound, rounding included; the first version promised none of these.
STRICT_KINDS = ("low_gap", "low_relative_gap", "not_called_certified")


def is_proven(certificate: Any) -> bool:
    """Whether the certificate bounds its own rounding."""
    return hasattr(certificate, "rounding")


def can_judge(claim: Claim) -> bool:
    """Whether exact arithmetic has a formula for the loss, the answer is finite, and so is P in float64."""
    facts = claim.facts
    if not (facts.is_softmax or facts.loss.name in EXACT_LOSSES):
        return False
    if not all(np.isfinite(part).all() for part in (claim.weights, claim.intercept, claim.duals)):
        return False
    return facts.is_softmax or facts.loss.name != "poisson" or _largest_score(claim) < LARGEST_EXPONENT


def _largest_score(claim: Claim) -> float:
    """An upper bound on the scores of rows with weight, rounding included."""
    with np.errstate(all="ignore"):
        scores = claim.facts.X @ claim.weights + claim.intercept
        scores += ROUNDING * (abs(claim.facts.X) @ np.abs(claim.weights) + abs(claim.intercept))
    weights = claim.facts.sample_weight
    return float(np.max(scores if weights is None else scores[weights > 0.0]))


def exact_truth(claim: Claim) -> Truth:
    """P and D of the answer in exact arithmetic."""
    judge = softmax_truth if claim.facts.is_softmax else estimator_truth
    return judge(claim.facts, claim.weights, claim.intercept, claim.duals)


def violations(claim: Claim, truth: Truth | None) -> list[Violation]:
    """Everything that is not true of a claim; without a truth only what the certificate says about itself."""
    found = _contradictions(claim)
    if truth is None:
        if claim.status == "CERTIFIED" and not can_judge(claim):
            found.append(Violation("not_finite", "CERTIFIED with weights or duals that are not finite"))
        return found
    certificate = claim.certificate
    if not np.isfinite(certificate.reference):
        return [*found, Violation("not_finite", f"reference {certificate.reference!r}")]
    gap = truth.gap - truth.slack
    reference = Fraction(certificate.reference)
    scale = max(truth.primal, reference)
    shown = f"true gap {number(truth.gap)}, claimed {certificate.gap:.3g}, P {number(truth.primal)}, tol {claim.tol:g}"
    if truth.outside:
        # D is −∞ there; the other claims are not judged, so that a case is counted once.
        return [*found, Violation("outside_domain", f"{truth.outside} duals outside their domain")]
    if claim.status == "CERTIFIED" and not _is_within(gap, claim.tol, scale, reference):
        is_old = not _is_within(gap, max(Fraction(claim.tol), OLD_PROVABLE), scale, reference)
        found.append(Violation("false_old" if is_old else "false", f"{shown}, true relative gap {ratio(gap, scale)}"))
    if np.isfinite(certificate.gap) and gap > Fraction(certificate.gap):
        found.append(Violation("low_gap", shown))
    if np.isfinite(certificate.relative_gap) and not _is_within(gap, certificate.relative_gap, scale, reference):
        found.append(Violation("low_relative_gap", f"{shown}, claimed relative {certificate.relative_gap:.3g}"))
    return found + _outside_bounds(claim, truth) + _reference_too_high(claim, truth)


def beaten(claim: Claim, truth: Truth, other: Truth) -> list[Violation]:
    """The claim that P − gap is at most the P of any other point, against one other point."""
    gap = claim.certificate.gap
    if not np.isfinite(gap) or not (is_proven(claim.certificate) or claim.status == "CERTIFIED"):
        return []
    allowed = Fraction(gap)
    if not is_proven(claim.certificate):
        reference = Fraction(claim.certificate.reference)
        scale = max(truth.primal, reference) if reference else Fraction(1)
        allowed += max(Fraction(claim.tol), OLD_PROVABLE) * scale
    better = truth.primal - allowed - truth.slack - other.slack - other.primal
    if better <= 0:
        return []
    detail = f"another point has P {number(other.primal)}, below P − gap = {number(truth.primal)} − {gap:.3g}"
    return [Violation("beaten", f"{detail} by {number(better)}")]


def _reference_too_high(claim: Claim, truth: Truth) -> list[Violation]:
    """Where the reference decides, it is at most 1e-12 of P at zero weights and some constants, of which the best is P(0, b*)."""
    facts, reference = claim.facts, Fraction(claim.certificate.reference)
    if reference <= truth.primal:
        return []
    weights, duals = np.zeros_like(claim.weights), np.zeros_like(claim.duals)
    costs = [exact_truth(replace(claim, weights=weights, intercept=b, duals=duals)).primal for b in constants(facts)]
    # Where a constant costs nothing, an absolute gap of tol is enough, and a reference up to 1 asks for more than that.
    if reference <= (REFERENCE * min(costs) * (1 + REFERENCE_ERROR) if min(costs) else 1):
        return []
    return [Violation("reference", f"reference {number(reference)} where a constant costs {number(min(costs))}")]


def constants(facts: Facts) -> list[Any]:
    """Zero, and with a free intercept some constants that are near the best."""
    if not facts.intercept:
        return [np.zeros(facts.class_count) if facts.is_softmax else 0.0]
    if facts.is_softmax:
        with np.errstate(all="ignore"):
            rates = np.log(np.bincount(facts.labels, facts.sample_weight, facts.class_count))
        return [np.zeros(facts.class_count)] + ([rates] if np.isfinite(rates).all() else [])
    near = [*map(float, np.quantile(facts.labels, [0.0, 0.25, 0.5, 0.75, 1.0])), float(facts.labels.mean())]
    if facts.loss.name == "poisson":
        # Scores are logarithms of targets.
        near = [log(value) for value in near if value > 0.0]
    return [0.0, 1.0, -1.0, *near]


def _is_within(gap: Fraction, tol: Any, scale: Fraction, reference: Fraction) -> bool:
    """Whether a true gap is at most tol, relative to the scale; absolute where a constant costs nothing."""
    if reference == 0:
        return gap <= max(NOTHING, Fraction(tol) * (1 + QUOTIENT))
    return gap <= Fraction(tol) * scale * (1 + QUOTIENT)


def _contradictions(claim: Claim) -> list[Violation]:
    """What a certificate and a status say that cannot both be true."""
    certificate, found = claim.certificate, []
    is_reached = bool(certificate.relative_gap <= claim.tol)
    if claim.status == "CERTIFIED":
        if not (np.isfinite(certificate.gap) and certificate.gap >= 0.0):
            found.append(Violation("not_finite", f"CERTIFIED with gap {certificate.gap!r}"))
        if not is_reached:
            found.append(
                Violation("status", f"CERTIFIED with relative gap {certificate.relative_gap:.3g} > {claim.tol:g}")
            )
    elif is_reached and claim.status != "STOPPED":
        found.append(
            Violation(
                "not_called_certified",
                f"{claim.status} with relative gap {certificate.relative_gap:.3g} ≤ {claim.tol:g}",
            )
        )
    return found


def _outside_bounds(claim: Claim, truth: Truth) -> list[Violation]:
    """P and D outside what the certificate says about its own values, where it says it."""
    certificate, found = claim.certificate, []
    values = [("primal", truth.primal)]
    if not claim.facts.intercept:
        # Zero is a bound that needs no duals: a certificate may show it instead of a D below zero.
        values.append(("dual", truth.dual if certificate.dual < 0.0 else max(truth.dual, Fraction(0))))
    for name, exact in values:
        value, error = getattr(certificate, name), getattr(certificate, f"{name}_error", None)
        if error is None or not (np.isfinite(value) and np.isfinite(error)):
            continue
        distance = Fraction(value) - exact
        distance = (distance if name == "dual" and claim.dual_is_bound else abs(distance)) - truth.slack
        if distance > Fraction(error):
            detail = f"{name} {value!r} errs by {number(distance)}, more than its bound {error:.3g}"
            found.append(Violation(f"{name}_outside", detail))
    return found


def number(value: Fraction) -> str:
    """A fraction in three digits."""
    try:
        return f"{float(value):.3g}"
    except OverflowError:
        return "beyond float64"


def ratio(value: Fraction, scale: Fraction) -> str:
    """A quotient in three digits."""
    return number(value / scale) if scale else number(value)
