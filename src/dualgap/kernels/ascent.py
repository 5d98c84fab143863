"""Dual ascent without sampling: all duals at once, or one after the other on a precomputed Gram matrix."""

from __future__ import annotations

from dualgap.kernels.arguments import weight_of
from dualgap.kernels.compile import kernel


@kernel
def step_all_duals(labels, loss, dual_curvature, scores, duals):
    """One projected (proximal) gradient step: each dual moves against the same scores with the same step size."""
    for i in range(duals.size):
        duals[i] = loss.dual_step(scores[i], labels[i], duals[i], dual_curvature)


@kernel
def box_steps(gram, labels, sample_weight, loss, lambda_n, order, duals, weighted_duals, average):
    """Exact coordinate ascent over `order` on K = X Xᵀ. Updates duals and weighted_duals (s_i α_i) in place.

    `average` is None unless the duals are averaged: an Average of `solvers/averaging.py`.
    """
    averaged = 0.0
    if average is not None:
        averaged = average.scalars.updates
    for k in range(order.size):
        i = order[k]
        score = 0.0
        row = gram[i]
        for j in range(row.size):
            score += row[j] * weighted_duals[j]
        weight = weight_of(sample_weight, i)
        old = duals[i]
        new = loss.dual_step(score / lambda_n, labels[i], old, weight * row[i] / lambda_n)
        if new != old:
            duals[i] = new
            weighted_duals[i] = weight * new
            if average is not None:
                average.duals.corrections[i] += averaged * (new - old)
        averaged += 1.0
    if average is not None:
        average.scalars.updates = averaged
