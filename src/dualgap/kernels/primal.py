"""Stochastic sub-gradient steps on P: Pegasos, and SGD with other step sizes, one row or a batch at a time.

Shalev-Shwartz, Singer, Srebro & Cotter, "Pegasos: primal estimated sub-gradient solver for SVM" (2007, 2011).

    g = λw − (1/k) Σ over the batch of (n s_i/S) a_i x_i ,   a_i = −φ_i′(z_i) ,   w ← w − ηg ,   b ← b + ηρ·(1/k) Σ (n s_i/S) a_i

Weights and duals share one scale, w = scale·v and α = scale·β, so the shrinking by 1 − λη touches no vector, and
w − w(α) only shrinks, because α_i += ηλn a_i/k moves along: it is zero, or OFFSET times what a warm start brought.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, prefetch

# Places in `moving`, the numbers that change during a run.
SCALE, UPDATES, INTERCEPT, SQUARED_NORM, SCALE_SUM, AVERAGED, OFFSET, OFFSET_SUM = range(8)
MOVING = 8

CONSTANT, INVERSE, SQUARE_ROOT = range(3)

AHEAD = 4
# Below this the scale is multiplied into the vectors, before 1/scale costs the averages digits.
SMALLEST_SCALE = 1e-5
# The squared norm is carried along for the projection and computed anew after so many updates.
NORM_PERIOD = 1 << 14


@kernel
def primal_steps(
    rows, labels, row_weights, loss, strength, share_scale, schedule, step, delay, radius, mobility, batch, order,
    weights, duals, moving, dual_sums, dual_total,
):  # fmt: skip
    """Sub-gradient steps over `order`, `batch` rows each. Updates weights, duals (both unscaled) and moving in place.

    schedule picks η at update t = 0, 1, …: step, 1/(λ(t + step)), or step/√(t + 1); the intercept, which nothing
    shrinks, takes the second `delay` updates later. radius = 0 means no projection; share_scale is n/S; mobility is ρ.
    row_weights is None where all are 1; dual_sums and dual_total are None unless the duals are averaged.
    """
    projecting = radius > 0.0
    scale, updates, intercept = moving[SCALE], moving[UPDATES], moving[INTERCEPT]
    squared_norm, scale_sum, averaged = moving[SQUARED_NORM], moving[SCALE_SUM], moving[AVERAGED]
    offset, offset_sum = moving[OFFSET], moving[OFFSET_SUM]
    slopes = np.empty(batch)
    begin = 0
    while begin < order.size:
        size = min(batch, order.size - begin)
        if schedule == CONSTANT:
            eta = step
        elif schedule == INVERSE:
            eta = 1.0 / (strength * (updates + step))
        else:
            eta = step / sqrt(updates + 1.0)
        intercept_eta = 1.0 / (strength * (updates + step + delay)) if schedule == INVERSE else eta
        total = 0.0
        for k in range(size):
            if begin + k + AHEAD < order.size:
                prefetch(rows, order[begin + k + AHEAD])
            i = order[begin + k]
            slopes[k] = loss.negative_derivative(scale * dot(rows, i, weights) + intercept, labels[i])
            if row_weights is not None:
                total += slopes[k] * row_weights[i]
            else:
                total += slopes[k]
        intercept += intercept_eta * mobility * share_scale * total / size
        scale *= 1.0 - strength * eta
        offset *= 1.0 - strength * eta
        if abs(scale) < SMALLEST_SCALE:
            for j in range(weights.size):
                weights[j] *= scale
            if dual_sums is not None:
                for i in range(duals.size):
                    dual_total[i] += scale_sum * duals[i] - dual_sums[i]
                    dual_sums[i] = 0.0
                scale_sum = 0.0
            for i in range(duals.size):
                duals[i] *= scale
            squared_norm *= scale * scale
            scale = 1.0
        for k in range(size):
            if slopes[k] == 0.0:
                continue
            i = order[begin + k]
            share = 1.0
            if row_weights is not None:
                share = share_scale * row_weights[i]
            move = eta * share * slopes[k] / (size * scale)
            if projecting:
                own = dot(rows, i, weights)
                add_to(rows, i, move, weights)
                squared_norm += move * (own + dot(rows, i, weights))
            else:
                add_to(rows, i, move, weights)
            dual_move = eta * strength * labels.size * slopes[k] / (size * scale)
            duals[i] += dual_move
            if dual_sums is not None:
                dual_sums[i] += scale_sum * dual_move
        updates += 1.0
        if projecting:
            if updates % NORM_PERIOD == 0.0:
                squared_norm = 0.0
                for j in range(weights.size):
                    squared_norm += weights[j] * weights[j]
            norm = abs(scale) * sqrt(max(squared_norm, 0.0))
            if norm > radius:
                scale *= radius / norm
                offset *= radius / norm
        scale_sum += scale
        offset_sum += offset
        averaged += 1.0
        begin += size
    moving[SCALE], moving[UPDATES], moving[INTERCEPT] = scale, updates, intercept
    moving[SQUARED_NORM], moving[SCALE_SUM], moving[AVERAGED] = squared_norm, scale_sum, averaged
    moving[OFFSET], moving[OFFSET_SUM] = offset, offset_sum
