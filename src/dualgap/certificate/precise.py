"""The parts of a certificate in double-double arithmetic: scores, x(α) and w − w(α), with bounds on their errors.

A certificate made of them costs some dozens of passes over the data. It is needed where the bound on rounding alone spoils a proof:
fits that are nearly perfect, and data far from zero.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum, isfinite, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.bounds import UNDERFLOW, gamma, norm_bound
from dualgap.certificate.verdict import Certificate
from dualgap.data.rows import DenseRows, Rows, csr
from dualgap.linalg.double_double import Pair, normalized, pair_error, products, two_product, two_sum
from dualgap.linalg.floats import UNIT
from dualgap.losses.base import LOSS_ROUNDING, SLACK
from dualgap.penalties import Penalty
from dualgap.problem import BaseProblem

Vector = NDArray[np.float64]

# The largest bound on rounding, as a fraction of tol, that is left to the solver: its next steps decrease the gap by more. Above it the
# sums are repeated in double-double arithmetic, which takes some dozens of passes.
TOLERATED_ROUNDING = 0.125
# Operations on pairs that follow a sum err by at most this, relative to what they are applied to: they are fewer than those of a loss.
PAIR_ERROR = LOSS_ROUNDING * UNIT


def is_worthwhile(found: Certificate, tol: float, gap_tol: float, thorough: bool) -> bool:
    """Whether less rounding may turn a certificate into a proof of tol or gap_tol."""
    has_room = found.could_prove(TOLERATED_ROUNDING * tol, TOLERATED_ROUNDING * gap_tol)
    if found.proves(tol, gap_tol) or has_room or not isfinite(found.primal):
        return False
    if thorough:
        return found.is_rounding or found.seems_to_prove(tol, gap_tol)
    return max(tol, gap_tol) > 0.0 and found.seems_to_prove(tol, gap_tol)


def precise_certificate(proven: Certificate) -> Certificate | None:
    """A certificate from sums in double-double arithmetic, with the D that its gap implies; None where a sum is not finite."""
    if not (isfinite(proven.gap) and isfinite(proven.primal)):
        return None
    # P and D summed apart would cancel; their difference is known far better.
    dual = max(proven.primal - (proven.gap - proven.rounding), 0.0)
    return replace(proven, dual=dual, dual_error=proven.primal_error + proven.rounding)


def matrix_of(rows: Rows) -> Any:
    """The rows as a NumPy array or a SciPy matrix."""
    a = rows.arrays
    return a.values if isinstance(a, DenseRows) else csr(*a, (rows.count, rows.dimension))


def row_norms(rows: Rows) -> Vector:
    """Upper bounds on ‖x_i‖."""
    return np.sqrt(rows.squared_norms * (1.0 + gamma(rows.longest + 2)) + rows.longest * UNDERFLOW) * SLACK


def pair_scores(matrix: Any, weights: Vector, intercept: float) -> Pair:
    """⟨x_i, w⟩ + b."""
    plain = products(matrix, weights)
    high, error = two_sum(plain.high, intercept)
    return normalized(high, plain.low + error)


class DualSide(NamedTuple):
    """x(α), and what the penalty's part of the gap is made of."""

    combination: Vector
    """x(α), rounded."""
    difference: Vector
    """w − w(α); zeros for ρ = 1."""
    linear: float
    """Σ |w_j|(ρ − sign(w_j)c_j)."""
    relative: float
    """The error of x_j(α), at most, divided by the sum of the absolute products that it is made of."""
    error: float
    """How far x(α) can be off, in norm."""
    dual_sum: float
    """At least |Σ s_iα_i|."""
    heavier: float
    """Σ s_iα_i over the sign for which it is larger, rounded."""


def dual_side(problem: BaseProblem, matrix: Any, weights: Vector, duals: Pair, product_size: float) -> DualSide:
    """x(α) = v/(λS) and the difference of w(α) from w; `product_size` is ⟨|α|‖x‖⟩."""
    weighted = duals
    if problem.sample_weight is not None:
        product, error = two_product(problem.sample_weight, duals.high)
        weighted = Pair(product, error + problem.sample_weight * duals.low)
    v = products(matrix.T, weighted.high)
    v = normalized(v.high, v.low + problem.rows.combination(weighted.low))
    divisor = _lambda_n(problem)
    first = v.high / divisor[0]
    product, error = two_product(first, divisor[0])
    second = (((v.high - product) - error) + v.low - first * divisor[1]) / divisor[0]
    linear, difference = _penalty_gap(problem.penalty, weights, Pair(first, second))
    count = problem.rows.count
    operations = problem.rows.combination_operations(prod(problem.weights_shape[1:]))
    relative = pair_error(count) + PAIR_ERROR + 2.0 * UNIT * gamma(operations + 4)
    sizes = norm_bound(float(weights @ weights), first.size) + norm_bound(float(first @ first), first.size)
    lost = count * UNDERFLOW * (sqrt(first.size) + sqrt(problem.rows.squared_size)) / problem.lambda_n
    return DualSide(
        first,
        difference,
        linear,
        relative,
        relative * product_size * (1.0 + gamma(count + 4)) / problem.strength + PAIR_ERROR * sizes + 4.0 * lost,
        *_dual_sums(weighted),
    )


def _penalty_gap(penalty: Penalty, weights: Vector, x: Pair) -> tuple[float, Vector]:
    """The linear part of the penalty's gap and w − w(α), for a normalized x: it has the sign of its first numbers.

    A difference from ρ that cancels is exact in the first numbers.
    """
    ratio = penalty.l1_ratio
    if ratio == 0.0:
        difference, error = two_sum(weights, -x.high)
        return 0.0, difference + (error - x.low)
    sign = np.sign(weights)
    linear = float(np.abs(weights) @ np.clip((ratio - sign * x.high) - sign * x.low, 0.0, 2.0 * ratio))
    if not penalty.has_dual_weights:
        return linear, np.zeros_like(weights)
    sign = np.sign(x.high)
    excess = np.maximum((np.abs(x.high) - ratio) + sign * x.low, 0.0)
    return linear, weights - sign * excess / penalty.l2_ratio


def _lambda_n(problem: BaseProblem) -> tuple[float, float]:
    """λS as a pair."""
    total, rest = float(problem.rows.count), 0.0
    if problem.sample_weight is not None:
        total = fsum(problem.sample_weight)
        rest = fsum([*problem.sample_weight, -total])
    high, low = two_product(problem.strength, total)
    return high, low + problem.strength * rest


def _dual_sums(weighted: Pair) -> tuple[float, float]:
    """At least |Σ s_iα_i|, and the sum over the sign for which it is larger."""
    values = weighted.high
    heavier = max(float(np.maximum(values, 0.0).sum()), float(np.maximum(-values, 0.0).sum()))
    total = abs(fsum(np.concatenate([values, weighted.low])))
    return total * SLACK + values.size * UNDERFLOW, heavier
