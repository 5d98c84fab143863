"""Stochastic dual coordinate ascent: exact maximization of D over one dual at a time.

Shalev-Shwartz & Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization", JMLR 14 (2013),
procedures SDCA, SDCA-Perm and Modified-SGD.

    Δ maximizes −φ_i*(−(α_i + Δ)) − Δ·z_i − (s_i/S)(‖x_i‖²/λ + 1/μ)·Δ²/2 ,   z_i = ⟨x_i, w⟩ + b
    α_i += Δ ,   w += s_i Δ x_i/(λS) ,   b += s_i Δ/(μS)

A free intercept moves by proximal steps of weight μ; 1/(μS) is `intercept_rate`, zero without one.
"""

from __future__ import annotations

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, fetch, prefetch

# Places in `moving`, the numbers that change during a run.
INTERCEPT, AVERAGED, SEEN_WEIGHT = range(3)
MOVING = 3

AHEAD = 4


@kernel
def sdca_steps(
    rows,
    labels,
    squared_norms,
    row_weights,
    loss,
    lambda_n,
    intercept_rate,
    order,
    duals,
    weights,
    moving,
    dual_sums,
):
    """Coordinate steps over `order`. Updates duals, weights and moving in place; weights = w(duals) still holds.

    row_weights is None where all are 1; dual_sums is None unless the duals are averaged, and then holds
    Σ (number averaged before the step)·Δ. Each None compiles to a kernel without that branch.
    """
    intercept, averaged = moving[INTERCEPT], moving[AVERAGED]
    scale = 1.0 / lambda_n
    for k in range(order.size):
        if k + AHEAD < order.size:
            ahead = order[k + AHEAD]
            prefetch(rows, ahead)
            fetch(labels, ahead)
            fetch(duals, ahead)
            fetch(squared_norms, ahead)
        i = order[k]
        label, old = labels[i], duals[i]
        score = dot(rows, i, weights) + intercept
        curvature = squared_norms[i] * scale + intercept_rate
        share = 1.0
        if row_weights is not None:
            share = row_weights[i]
            curvature *= share
        new = loss.dual_step(score, label, old, curvature)
        delta = new - old
        if delta != 0.0:
            duals[i] = new
            add_to(rows, i, share * delta * scale, weights)
            intercept += share * delta * intercept_rate
            if dual_sums is not None:
                dual_sums[i] += averaged * delta
        averaged += 1.0
    moving[INTERCEPT], moving[AVERAGED] = intercept, averaged


@kernel
def modified_sgd_steps(
    rows, labels, squared_norms, row_weights, loss, strength, lambda_n, intercept_rate, center, order, duals, weights,
    moving,
):  # fmt: skip
    """The modified-SGD first epoch: each row in turn as if it were the last, with w^(t) = Σ s_i α_i x_i/(λt).

    t is the weight seen so far. `weights` holds Σ s_i α_i x_i/(λS) throughout, so w^(t) is weights·S/t and no pass
    rescales it; when every row was seen once, t = S and weights = w(duals). The intercept's way from `center`, where it
    started, is stretched likewise.
    """
    total = lambda_n / strength
    seen, intercept = moving[SEEN_WEIGHT], moving[INTERCEPT]
    for k in range(order.size):
        if k + AHEAD < order.size:
            prefetch(rows, order[k + AHEAD])
        i = order[k]
        share = 1.0
        if row_weights is not None:
            share = row_weights[i]
        stretch = total / seen if seen > 0.0 else 0.0
        score = (dot(rows, i, weights) + (intercept - center)) * stretch + center
        seen += share
        if share > 0.0:
            curvature = share * (squared_norms[i] / lambda_n + intercept_rate) * (total / seen)
            new = loss.dual_step(score, labels[i], 0.0, curvature)
            duals[i] = new
            add_to(rows, i, share * new / lambda_n, weights)
            intercept += share * new * intercept_rate
    moving[SEEN_WEIGHT], moving[INTERCEPT] = seen, intercept
