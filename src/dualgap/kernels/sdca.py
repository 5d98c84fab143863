"""Stochastic dual coordinate ascent: exact maximization of D over one dual at a time.

Shalev-Shwartz & Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization", JMLR 14 (2013),
procedures SDCA, SDCA-Perm and Modified-SGD.

    Δ maximizes −φ_i*(−(α_i + Δ)) − Δ·z_i − (s_i/S)(‖x_i‖²/λ + 1/μ)·Δ²/2 ,   z_i = ⟨x_i, w⟩ + b
    α_i += Δ ,   w += s_i Δ x_i/(λS) ,   b += s_i Δ/(μS)

A free intercept moves by proximal steps of weight μ; 1/(μS) is `intercept_rate`, zero without one.
"""

from __future__ import annotations

from dualgap.kernels.arguments import record, weight_of
from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, fetch, prefetch

# Steps between the prefetch of a row and its own step.
AHEAD = 4


def new_scalars(intercept):
    """The scalars that coordinate steps change; touched_weight is Σ s_i of the rows that modified SGD has touched."""
    return record(intercept=float(intercept), touched_weight=0.0)


@kernel
def sdca_steps(data, loss, constants, order, duals, weights, scalars, average):
    """Coordinate steps over `order`. Updates duals, weights and scalars in place; weights = w(duals) still holds.

    `average` is None unless the duals are averaged: an Average of `solvers/averaging.py`, whose duals are summed.
    """
    rows, labels, squared_norms = data.rows, data.labels, constants.squared_norms
    intercept, rate, scale = scalars.intercept, constants.intercept_rate, 1.0 / constants.lambda_n
    averaged = 0.0
    if average is not None:
        averaged = average.scalars.updates
    for k in range(order.size):
        if k + AHEAD < order.size:
            ahead = order[k + AHEAD]
            prefetch(rows, ahead)
            fetch(labels, ahead)
            fetch(duals, ahead)
            fetch(squared_norms, ahead)
        i = order[k]
        old, weight = duals[i], weight_of(data.sample_weight, i)
        score = dot(rows, i, weights) + intercept
        dual_curvature = weight * (squared_norms[i] * scale + rate)
        new = loss.dual_step(score, labels[i], old, dual_curvature)
        delta = new - old
        if delta != 0.0:
            duals[i] = new
            add_to(rows, i, weight * delta * scale, weights)
            intercept += weight * delta * rate
            if average is not None:
                average.duals.corrections[i] += averaged * delta
        averaged += 1.0
    scalars.intercept = intercept
    if average is not None:
        average.scalars.updates = averaged


@kernel
def modified_sgd_steps(data, loss, constants, center, order, duals, weights, scalars):
    """The modified-SGD first epoch: each row in turn as if it were the last, with w^(t) = Σ s_i α_i x_i/(λt).

    t is the weight touched so far. `weights` holds Σ s_i α_i x_i/(λS) throughout, so w^(t) is weights·S/t and no pass
    rescales it; when every row was touched once, t = S and weights = w(duals). The intercept's way from `center`, where it
    started, is stretched likewise.
    """
    total = constants.lambda_n / constants.strength
    touched, intercept, rate = scalars.touched_weight, scalars.intercept, constants.intercept_rate
    for k in range(order.size):
        if k + AHEAD < order.size:
            prefetch(data.rows, order[k + AHEAD])
        i = order[k]
        weight = weight_of(data.sample_weight, i)
        stretch = total / touched if touched > 0.0 else 0.0
        score = (dot(data.rows, i, weights) + (intercept - center)) * stretch + center
        touched += weight
        if weight > 0.0:
            dual_curvature = weight * (constants.squared_norms[i] / constants.lambda_n + rate) * (total / touched)
            new = loss.dual_step(score, data.labels[i], 0.0, dual_curvature)
            duals[i] = new
            add_to(data.rows, i, weight * new / constants.lambda_n, weights)
            intercept += weight * new * rate
    scalars.touched_weight, scalars.intercept = touched, intercept
