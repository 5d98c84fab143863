"""Accelerated mini-batch SDCA: dual steps towards the slopes at an extrapolated point.

Shalev-Shwartz & Zhang, "Accelerated mini-batch stochastic dual coordinate ascent", NIPS 2013, procedure ASDCA.

    u = (1 − θ)w + θv ,   α_i ← (1 − θ)α_i − θφ_i′(⟨x_i, u⟩) for the batch ,   v = w(α) ,   w ← (1 − θ)w + θv

With e = w − v the last line reads e ← (1 − θ)(e − Δv), so e is kept as scale·f and no step touches a whole vector.
"""

from __future__ import annotations

import numpy as np

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, prefetch

# Places in `moving`, the numbers that change during a run.
SCALE, SCALE_SUM, AVERAGED = range(3)
MOVING = 3

AHEAD = 4
# Below this the scale is multiplied into f, before 1/scale costs the averages digits.
SMALLEST_SCALE = 1e-5


@kernel
def asdca_steps(
    rows, labels, row_weights, loss, lambda_n, theta, batch, order,
    duals, dual_weights, lag, moving, dual_sums, weight_sums, lag_sums, lag_total,
):  # fmt: skip
    """Batch steps over `order`. Updates duals, v = w(duals), f (`lag`) and moving in place; w = v + scale·f.

    row_weights is None where all are 1, the four sums unless iterates are averaged; each sum holds Σ (weight averaged before the step)·Δ.
    """
    scale, scale_sum, averaged = moving[SCALE], moving[SCALE_SUM], moving[AVERAGED]
    slopes = np.empty(batch)
    begin = 0
    while begin < order.size:
        size = min(batch, order.size - begin)
        for k in range(size):
            if begin + k + AHEAD < order.size:
                prefetch(rows, order[begin + k + AHEAD])
            i = order[begin + k]
            score = dot(rows, i, dual_weights) + (1.0 - theta) * scale * dot(rows, i, lag)
            slopes[k] = loss.negative_derivative(score, labels[i])
        for k in range(size):
            i = order[begin + k]
            delta = theta * (slopes[k] - duals[i])
            if delta == 0.0:
                continue
            duals[i] += delta
            move = delta / lambda_n
            if row_weights is not None:
                move *= row_weights[i]
            add_to(rows, i, move, dual_weights)
            add_to(rows, i, -move / scale, lag)
            if dual_sums is not None:
                dual_sums[i] += averaged * delta
                add_to(rows, i, averaged * move, weight_sums)
                add_to(rows, i, -scale_sum * move / scale, lag_sums)
        scale *= 1.0 - theta
        if scale < SMALLEST_SCALE:
            for j in range(lag.size):
                if dual_sums is not None:
                    lag_total[j] += scale_sum * lag[j] - lag_sums[j]
                    lag_sums[j] = 0.0
                lag[j] *= scale
            scale, scale_sum = 1.0, 0.0
        scale_sum += scale
        averaged += 1.0
        begin += size
    moving[SCALE], moving[SCALE_SUM], moving[AVERAGED] = scale, scale_sum, averaged
