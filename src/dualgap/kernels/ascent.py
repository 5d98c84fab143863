"""Dual ascent without sampling: all duals at once, or one after the other on a precomputed Gram matrix."""

from __future__ import annotations

from dualgap.kernels.compile import kernel


@kernel
def step_all_duals(labels, loss, curvature, scores, duals):
    """One projected (proximal) gradient step: each dual moves against the same scores with the same curvature."""
    for i in range(duals.size):
        duals[i] = loss.dual_step(scores[i], labels[i], duals[i], curvature)


@kernel
def box_steps(gram, labels, row_weights, loss, lambda_n, order, duals, shares, moving, dual_sums):
    """Exact coordinate ascent over `order` on K = X Xᵀ; `shares` holds s_i α_i, moving[0] the updates averaged so far."""
    averaged = moving[0]
    for k in range(order.size):
        i = order[k]
        score = 0.0
        row = gram[i]
        for j in range(row.size):
            score += row[j] * shares[j]
        share = 1.0
        if row_weights is not None:
            share = row_weights[i]
        old = duals[i]
        new = loss.dual_step(score / lambda_n, labels[i], old, share * row[i] / lambda_n)
        if new != old:
            duals[i] = new
            shares[i] = share * new
            if dual_sums is not None:
                dual_sums[i] += averaged * (new - old)
        averaged += 1.0
    moving[0] = averaged
