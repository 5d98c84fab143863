"""Accelerated mini-batch SDCA: dual steps towards the slopes at an extrapolated point.

Shalev-Shwartz & Zhang, "Accelerated mini-batch stochastic dual coordinate ascent", NIPS 2013, procedure ASDCA.

    u = (1 − θ)w + θv ,   α_i ← (1 − θ)α_i − θφ_i′(⟨x_i, u⟩) for the batch ,   v = w(α) ,   w ← (1 − θ)w + θv

With e = w − v the last line reads e ← (1 − θ)(e − Δv), so e is kept as scale·f and no step touches a whole vector.
"""

from __future__ import annotations

import numpy as np

from dualgap.kernels.arguments import SMALLEST_SCALE, record, weight_of
from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, prefetch
from dualgap.kernels.sdca import AHEAD


def new_scalars():
    """The scalar that batch steps change: the scale of f."""
    return record(scale=1.0)


@kernel
def asdca_steps(data, loss, lambda_n, theta, batch, order, duals, dual_weights, lag, scalars, average):
    """Batch steps over `order`. Updates duals, v = w(duals), f (`lag`) and scalars in place; w = v + scale·f.

    `average` is None unless iterates are averaged: an Average of `solvers/averaging.py`, which sums the duals, and scale·f
    in place of the weights.
    """
    scale, averaged, scale_sum = scalars.scale, 0.0, 0.0
    if average is not None:
        averaged, scale_sum = average.scalars.updates, average.scalars.scale_sum
    candidates = np.empty(batch)
    begin = 0
    while begin < order.size:
        size = min(batch, order.size - begin)
        for k in range(size):
            if begin + k + AHEAD < order.size:
                prefetch(data.rows, order[begin + k + AHEAD])
            i = order[begin + k]
            score = dot(data.rows, i, dual_weights) + (1.0 - theta) * scale * dot(data.rows, i, lag)
            candidates[k] = loss.negative_derivative(score, data.labels[i])
        for k in range(size):
            i = order[begin + k]
            delta = theta * (candidates[k] - duals[i])
            if delta == 0.0:
                continue
            duals[i] += delta
            move = weight_of(data.sample_weight, i) * (delta / lambda_n)
            add_to(data.rows, i, move, dual_weights)
            add_to(data.rows, i, -move / scale, lag)
            if average is not None:
                average.duals.corrections[i] += averaged * delta
                add_to(data.rows, i, -scale_sum * move / scale, average.weights.corrections)
        scale *= 1.0 - theta
        if scale < SMALLEST_SCALE:
            for j in range(lag.size):
                if average is not None:
                    average.weights.total[j] += scale_sum * lag[j] - average.weights.corrections[j]
                    average.weights.corrections[j] = 0.0
                lag[j] *= scale
            scale, scale_sum = 1.0, 0.0
        scale_sum += scale
        averaged += 1.0
        begin += size
    scalars.scale = scale
    if average is not None:
        average.scalars.updates, average.scalars.scale_sum = averaged, scale_sum
