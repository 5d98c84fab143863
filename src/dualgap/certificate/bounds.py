"""Bounds on the rounding errors of a certificate; docs/certificate.md proves each of them.

u = 2⁻⁵³ is the unit roundoff and γ_k = ku/(1 − ku): a sum of products in which each product passes through k operations
errs by at most γ_k of the sum of the absolute products, in any order, with or without fused operations. exp and log1p are
assumed to err by at most 4 units in the last place. ⟨·⟩ is the mean (1/S) Σ s_i · over the rows.

gap = ⟨h⟩ + λ[linear + (1 − ρ)/2 ‖w − w(α)‖²], h = φ(z) + φ*(−α) + αz ≥ 0 for each row and linear = Σ |w_j|(ρ − sign(w_j)c_j) ≥ 0
for each column, so that an upper bound is a sum of upper bounds; for ρ = 0 linear is 0
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

from dualgap.certificate.verdict import Certificate
from dualgap.linalg.floats import UNIT
from dualgap.losses.base import LOSS_OPERATIONS, SLACK

# The smallest normal number: far more than a product or a mean of them loses where they underflow.
UNDERFLOW = 2.0**-1022
# What the terms of a row lose at most where they underflow: one such number for each operation. The Poisson loss takes ln m of a
# denormal m as that of the smallest normal number, which changes m·(e^t − 1 − t) by less than 16 of those where it is used.
LOST_BY_TERMS = LOSS_OPERATIONS * UNDERFLOW
# The smallest divisor of the relative gap, as a fraction of the cost of predicting a constant. With a smaller one a near-perfect fit
# would be asked for digits that float64 does not have; with a larger one its relative gap would not be one.
REFERENCE_PART = 1e-12


def gamma(operations: float) -> float:
    """γ_k; infinite where k operations can lose every digit."""
    lost = operations * UNIT
    return lost / (1.0 - lost) if lost < 0.5 else float("inf")


def norm_bound(squared: float, count: float) -> float:
    """An upper bound on a norm from its computed square, a sum of `count` squares that may have underflowed."""
    return sqrt(squared * (1.0 + gamma(count + 2)) + count * UNDERFLOW) * SLACK


class RowSums(NamedTuple):
    """Means over the rows of losses, conjugates and their rounding, as computed."""

    values: float
    """⟨φ⟩."""
    conjugates: float
    """⟨−φ*(−α)⟩."""
    conjugate_sizes: float
    """⟨|φ*(−α)|⟩."""
    gaps: float
    """⟨h⟩."""
    score_cost: float
    """⟨e·rate⟩ or a bound on it: what score errors e add to ⟨h⟩."""
    rate: float
    """√⟨rate²⟩."""
    dual: float
    """√⟨α²⟩; with several classes √⟨‖A_i‖₁²⟩."""
    argument: float
    """√⟨t²⟩ of the loss's argument t."""
    repair: float
    """The increase of ⟨h⟩ by exactly feasible duals, for each part of the given duals that has to change."""
    repair_norm: float
    """The change of the duals, as a root mean square over the rows, for each such part."""


class Precision(NamedTuple):
    """How exactly the parts of a certificate were computed."""

    scores: float
    """√⟨e²⟩ of the score errors e."""
    combination: float
    """An upper bound on the norm of the error of the computed x(α)."""
    sums: int
    """Operations that a row's term passes through in a mean."""
    dual_sum: float
    """ε: the part of the duals that has to change for Σ s_iα_i to be exactly zero; 0 without a free intercept."""


class Model(NamedTuple):
    """What the bounds need to know of the problem, and of the weights that are judged."""

    strength: float
    row_norm: float
    """√⟨‖x‖²⟩."""
    label: float
    """√⟨y²⟩."""
    reference: float
    has_product_form: bool
    argument_scale: float
    columns: int
    intercept: float
    """|b|; with several classes the largest."""
    l2_ratio: float = 1.0
    """1 − ρ."""


class PenaltyParts(NamedTuple):
    """What a certificate needs of the penalty at w and x(α), as computed."""

    value: float
    """g(w)."""
    conjugate: float
    """g*(v)."""
    distance: float
    """‖w − w(α)‖; 0 for ρ = 1."""
    linear: float = 0.0
    """Σ |w_j|(ρ − sign(w_j)c_j)."""
    linear_error: float = 0.0
    """For ρ = 1, at least Σ |w_j|δ_j with the error δ_j of each x_j(α)."""
    dual_weight_size: float = 0.0
    """‖w(α)‖ where a soft threshold made it of x(α), with rounding of its own."""


def certificate(model: Model, sums: RowSums, precision: Precision, parts: PenaltyParts) -> Certificate:
    """The certificate of computed sums over the rows, and of the penalty's parts."""
    penalty, dual_penalty, distance = parts.value, parts.conjugate, parts.distance
    # For ρ = 1 no distance counts: its factor below is zero, and the errors of x(α) are in the linear part.
    l2_ratio = model.l2_ratio if model.l2_ratio > 0.0 else 1.0
    summed = gamma(precision.sums + 2)
    loss_rounding = LOSS_OPERATIONS * UNIT
    rate = sums.rate + loss_rounding * (sums.rate + sums.dual)
    fenchel = sums.gaps * (1.0 + summed + loss_rounding) + sums.score_cost
    fenchel += loss_rounding * (sums.dual * precision.scores + rate * (sums.argument + model.argument_scale))
    if not model.has_product_form:
        # |αz| ≤ h + φ + |φ*|.
        fenchel += loss_rounding * (2.0 * (sums.values + sums.conjugate_sizes) + sums.gaps)
    moved = distance * (1.0 + gamma(model.columns + 4)) + precision.combination / l2_ratio
    # A soft threshold, a division and the rounding of 1 − ρ each err by at most u of what they give.
    moved += 4.0 * UNIT * parts.dual_weight_size
    # Exactly feasible duals are (1 − ε)α for the sign that is too heavy: h is convex in α and φ*(0) = 0, so each h grows by
    # at most ε·φ; x(α) moves by at most ε‖v±‖/λ.
    repair = precision.dual_sum * sums.repair * (1.0 + summed + loss_rounding)
    if precision.dual_sum:
        moved += precision.dual_sum * sums.repair_norm * model.row_norm / model.strength / l2_ratio
    # The root of λ/2 comes first: a square alone may leave float64's range.
    root = sqrt(0.5 * model.strength * model.l2_ratio)
    linear = model.strength * (parts.linear * (1.0 + gamma(model.columns + 4)) + parts.linear_error) * SLACK
    is_exact = sums.values == sums.argument == sums.dual == distance == parts.linear == 0.0
    lost = 0.0 if is_exact else LOST_BY_TERMS
    gap = (lost + fenchel + (root * moved) * (root * moved) * SLACK + linear + repair) * SLACK
    computed = sums.gaps + (root * distance) * (root * distance) + model.strength * parts.linear
    slope = sums.dual + rate
    primal = sums.values + penalty
    primal_error = (
        lost
        + (summed + loss_rounding) * sums.values
        + slope * (precision.scores + loss_rounding * (sums.argument + model.argument_scale))
        + gamma(model.columns + 4) * penalty
        + UNIT * primal
    ) * SLACK
    conjugate_size = sums.conjugate_sizes + 2.0 * sums.dual * model.label
    dual_size = sqrt(2.0 * dual_penalty / (model.strength * l2_ratio)) if dual_penalty > 0.0 else 0.0
    dual_error = (
        lost
        + (summed + loss_rounding) * conjugate_size
        + gamma(model.columns + 4) * dual_penalty
        + model.strength * precision.combination * (dual_size + 0.5 * precision.combination / l2_ratio)
        + precision.dual_sum * model.intercept * sums.repair_norm
    ) * SLACK
    dual = sums.conjugates - dual_penalty
    return Certificate(
        primal,
        dual,
        gap if isfinite(gap) else float("inf"),
        gap - computed if isfinite(gap) else float("inf"),
        primal_error,
        dual_error,
        model.reference,
    )
