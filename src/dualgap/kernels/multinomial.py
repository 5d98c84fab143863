"""Stochastic dual coordinate ascent for the softmax model: exact maximization of D over one row's simplex at a time.

Shalev-Shwartz & Zhang, "Accelerated proximal stochastic dual coordinate ascent", ICML 2014, on the multiclass dual:

    p maximizes H(p) + ⟨p − p_old, z⟩ − (κ/2)‖p − p_old‖² over the simplex ,   κ = s_i(‖x_i‖²/(λS) + rate)
    so that ln p_j + κ p_j = z_j + κ p_old,j − μ for every class j, with the one μ for which Σ p_j = 1
    A_i = e_c − p ,   W += s_i x_i ΔA_iᵀ/(λS) ,   b += s_i ΔA_i·rate

Free intercepts move by proximal steps; `rate` is zero without them.
"""

from __future__ import annotations

import numpy as np

from dualgap.data.rows import DenseRows, SparseRows
from dualgap.kernels.compile import by_class, kernel, specialized
from dualgap.kernels.rows import prefetch
from dualgap.kernels.sdca import AHEAD
from dualgap.linalg.floats import HALF_DIGITS, LOG_MAX, UNIT
from dualgap.linalg.root_finding import MAX_STEPS

ONE = np.uint64(1)


def _dense_scores(rows, i, weights, out):
    row = rows.values[i]
    out[:] = 0.0
    for f in range(row.size):
        value = row[f]
        if value != 0.0:
            for j in range(out.size):
                out[j] += value * weights[f, j]


def _sparse_scores(rows, i, weights, out):
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    out[:] = 0.0
    while p < end:
        value, f = rows.data[p], rows.indices[p]
        for j in range(out.size):
            out[j] += value * weights[f, j]
        p += ONE


def _dense_add(rows, i, factors, weights):
    row = rows.values[i]
    for f in range(row.size):
        value = row[f]
        if value != 0.0:
            for j in range(factors.size):
                weights[f, j] += value * factors[j]


def _sparse_add(rows, i, factors, weights):
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    while p < end:
        value, f = rows.data[p], rows.indices[p]
        for j in range(factors.size):
            weights[f, j] += value * factors[j]
        p += ONE


SCORES = {DenseRows: _dense_scores, SparseRows: _sparse_scores}
ADD = {DenseRows: _dense_add, SparseRows: _sparse_add}


def scores_of(rows, i, weights, out):
    """out = Wᵀx_i."""
    SCORES[type(rows)](rows, i, weights, out)


def add_outer(rows, i, factors, weights):
    """W += x_i factorsᵀ, in place."""
    ADD[type(rows)](rows, i, factors, weights)


@specialized(scores_of)
def _scores_of(rows, i, weights, out):
    return by_class(SCORES, rows)


@specialized(add_outer)
def _add_outer(rows, i, factors, weights):
    return by_class(ADD, rows)


@kernel
def probability_at(level, dual_curvature):
    """The p > 0 with ln p + κp = level, for a level of at most κ: a first guess, then steps of fourth order.

    With w = κp this is w + ln w = level + ln κ; the steps are those of Fritsch, Shafer & Crowley, "Solution of the
    transcendental equation w·e^w = x" (1973).
    """
    # Half of float64's exponents are left for κ; where level is larger, only the other branch's logarithm counts.
    alone = np.exp(min(level, 0.5 * LOG_MAX))
    grown = dual_curvature * alone
    if grown <= 2.0:
        p = alone / (1.0 + grown)
    else:
        long = level + np.log(dual_curvature)
        p = (long - np.log(long)) / dual_curvature if long > 1.0 else 1.0 / dual_curvature
    if p == 0.0:
        return p
    for _ in range(8):
        w = dual_curvature * p
        residual = level - np.log(p) - w
        if abs(residual) <= UNIT * (1.0 + w):
            break
        a = (1.0 + w) * (1.0 + w + residual * (2.0 / 3.0))
        p *= 1.0 + residual / (1.0 + w) * (a - 0.5 * residual) / (a - residual)
        # The error of a step is about the fourth power of the residual before it.
        if abs(residual) <= np.sqrt(HALF_DIGITS) * (1.0 + w):
            break
    return p


@kernel
def simplex_step(levels, dual_curvature, p):
    """Write the p of the simplex with ln p_j + κp_j = levels_j − μ into `p`.

    Σ p_j falls with μ and is convex in it. The start, where the largest p_j alone is 1, lies left of the root, so that
    Newton's steps come from one side and never pass it.
    """
    mu = levels.max() - dual_curvature
    total = 0.0
    for _ in range(MAX_STEPS):
        total, slope = 0.0, 0.0
        for j in range(levels.size):
            value = probability_at(levels[j] - mu, dual_curvature)
            p[j] = value
            total += value
            slope += value / (1.0 + dual_curvature * value)
        before, mu = mu, mu + (total - 1.0) / slope
        if total - 1.0 <= 2.0 * UNIT * levels.size or mu == before:
            break
    for j in range(levels.size):
        p[j] /= total


@kernel
def multinomial_steps(
    rows, classes, squared_norms, row_weights, lambda_n, rate, order, duals, weights, intercepts
):  # fmt: skip
    """Steps over `order`. Updates duals, weights and intercepts in place; weights = W(duals) still holds.

    row_weights is None where all are 1, which compiles to a kernel without them.
    """
    count = weights.shape[1]
    levels, row_duals = np.empty(count), np.empty(count)
    for k in range(order.size):
        if k + AHEAD < order.size:
            prefetch(rows, order[k + AHEAD])
        i = order[k]
        own = classes[i]
        scores_of(rows, i, weights, levels)
        dual_curvature = squared_norms[i] / lambda_n + rate
        weight = 1.0
        if row_weights is not None:
            weight = row_weights[i]
            dual_curvature *= weight
        for j in range(count):
            levels[j] += intercepts[j] - dual_curvature * duals[i, j]
        levels[own] += dual_curvature
        simplex_step(levels, dual_curvature, row_duals)
        missing = 0.0
        for j in range(count):
            if j != own:
                missing += row_duals[j]
                row_duals[j] = -row_duals[j]
        row_duals[own] = missing
        for j in range(count):
            change = row_duals[j] - duals[i, j]
            duals[i, j] = row_duals[j]
            levels[j] = change * weight / lambda_n
            intercepts[j] += change * weight * rate
        add_outer(rows, i, levels, weights)
