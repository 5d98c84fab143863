"""Stochastic sub-gradient steps on P: Pegasos, and SGD with other step sizes, one row or a batch at a time.

Shalev-Shwartz, Singer, Srebro & Cotter, "Pegasos: primal estimated sub-gradient solver for SVM" (2007, 2011).

    g = λw − (1/k) Σ over the batch of (n s_i/S) a_i x_i ,   a_i = −φ_i′(z_i) ,   w ← w − ηg ,   b ← b + ηρ·(1/k) Σ (n s_i/S) a_i

Weights and duals share one scale, w = scale·v and α = scale·β, so the shrinking by 1 − λη touches no vector, and
w − w(α) only shrinks, because α_i += ηλn a_i/k moves along: it is zero, or `offset` times the difference that a warm start brought.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from dualgap.kernels.arguments import SMALLEST_SCALE, record, weight_of
from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, dot, prefetch
from dualgap.kernels.sdca import AHEAD

CONSTANT, INVERSE, SQUARE_ROOT = range(3)

# The squared norm is carried along for the projection and computed anew after 16,384 updates.
NORM_PERIOD = 1 << 14


class StepSettings(NamedTuple):
    """The step size and what it applies to. At update t = 0, 1, … the schedule gives η = step, 1/(λ(t + step)), or step/√(t + 1)."""

    schedule: int
    step: float
    delay: float
    """Updates by which the intercept, which nothing shrinks, is ahead on the second schedule."""
    radius: float
    """The weights are projected onto a ball of this radius; 0 means no projection."""
    strength: float
    weight_factor: float
    """n/S, by which sample weights count in a batch."""
    intercept_scale: float
    """ρ: a step in the intercept is this factor larger than a step in a weight; 0 without a free intercept."""
    batch: int


def new_scalars(intercept, updates, squared_norm, offset):
    """The scalars that primal steps change; squared_norm is that of the unscaled weights."""
    return record(
        scale=1.0,
        updates=float(updates),
        intercept=float(intercept),
        squared_norm=float(squared_norm),
        offset=float(offset),
    )


@kernel
def primal_steps(data, loss, settings, order, weights, duals, scalars, average):
    """Sub-gradient steps over `order`, a batch of rows each. Updates weights, duals (both unscaled) and scalars in place.

    `average` is None unless the duals are averaged: an Average of `solvers/averaging.py`, which sums scale·duals and offset.
    """
    rows, labels, strength = data.rows, data.labels, settings.strength
    schedule, step, radius, batch = settings.schedule, settings.step, settings.radius, settings.batch
    scale, updates, intercept = scalars.scale, scalars.updates, scalars.intercept
    squared_norm, offset = scalars.squared_norm, scalars.offset
    averaged, scale_sum, offset_sum = 0.0, 0.0, 0.0
    if average is not None:
        averaged, scale_sum = average.scalars.updates, average.scalars.scale_sum
        offset_sum = average.scalars.offset_sum
    candidates = np.empty(batch)
    begin = 0
    while begin < order.size:
        size = min(batch, order.size - begin)
        if schedule == CONSTANT:
            eta = step
        elif schedule == INVERSE:
            eta = 1.0 / (strength * (updates + step))
        else:
            eta = step / sqrt(updates + 1.0)
        intercept_eta = 1.0 / (strength * (updates + step + settings.delay)) if schedule == INVERSE else eta
        total = 0.0
        for k in range(size):
            if begin + k + AHEAD < order.size:
                prefetch(rows, order[begin + k + AHEAD])
            i = order[begin + k]
            candidates[k] = loss.negative_derivative(scale * dot(rows, i, weights) + intercept, labels[i])
            total += candidates[k] * weight_of(data.sample_weight, i)
        intercept += intercept_eta * settings.intercept_scale * settings.weight_factor * total / size
        scale *= 1.0 - strength * eta
        offset *= 1.0 - strength * eta
        if abs(scale) < SMALLEST_SCALE:
            for j in range(weights.size):
                weights[j] *= scale
            if average is not None:
                for i in range(duals.size):
                    average.duals.total[i] += scale_sum * duals[i] - average.duals.corrections[i]
                    average.duals.corrections[i] = 0.0
                scale_sum = 0.0
            for i in range(duals.size):
                duals[i] *= scale
            squared_norm *= scale * scale
            scale = 1.0
        for k in range(size):
            if candidates[k] == 0.0:
                continue
            i = order[begin + k]
            weight = settings.weight_factor * weight_of(data.sample_weight, i)
            move = eta * weight * candidates[k] / (size * scale)
            if radius > 0.0:
                own = dot(rows, i, weights)
                add_to(rows, i, move, weights)
                squared_norm += move * (own + dot(rows, i, weights))
            else:
                add_to(rows, i, move, weights)
            dual_move = eta * strength * labels.size * candidates[k] / (size * scale)
            duals[i] += dual_move
            if average is not None:
                average.duals.corrections[i] += scale_sum * dual_move
        updates += 1.0
        if radius > 0.0:
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
    scalars.scale, scalars.updates, scalars.intercept = scale, updates, intercept
    scalars.squared_norm, scalars.offset = squared_norm, offset
    if average is not None:
        average.scalars.updates, average.scalars.scale_sum = averaged, scale_sum
        average.scalars.offset_sum = offset_sum
