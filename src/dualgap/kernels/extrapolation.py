"""Extrapolation of a pass of coordinate ascent along that pass and the step before it.

A pass moves the duals by p; the step before it, extrapolation included, moved them by q. Over α + c₁p + c₂q the dual
objective is a quadratic whose coefficients are inner products of p and q and of their images in the space of w, so its
maximum costs no product with the rows: coordinate ascent becomes the preconditioner of a flexible conjugate gradient method.
Duals that would leave their interval are held at its end, and the step along the rest is the best in [0, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from dualgap.kernels.arguments import weight_of
from dualgap.kernels.rows import add_to, dot

# An image is a difference of weights. Below this fraction of ‖w‖ a direction's image is rounding error: duals that trade places.
# Where a squared image is below this fraction of ‖w‖², its product with the weights is rounding error too, and slopes are
# computed from the rows' scores. Two images of a smaller relative determinant count as parallel, and only the pass is followed.
MIN_IMAGE = 1e-10
# The relative error of one operation, with room for the sums behind an image.
ROUNDING = 1e-15


class Workspace(NamedTuple):
    """Duals and weights before a pass, and the step of duals and weights before it (zero where there was none)."""

    before: Any
    before_weights: Any
    step: Any
    step_weights: Any


def new_workspace(count, dimension):
    return Workspace(np.empty(count), np.empty(dimension), np.zeros(count), np.zeros(dimension))


@register_jitable
def extrapolate(data, loss, lambda_n, active, workspace, iterate, progress):
    """Extrapolate the duals of the rows `active` after a pass over them; D does not fall.

    Writes duals and weights, the step made (pass and extrapolation together) into the workspace, and to `progress` the
    rounding error of that step's image and the part of it that went into the weights. before_weights is used up.
    """
    duals, weights = iterate.duals, iterate.weights
    before, step, step_weights = workspace.before, workspace.step, workspace.step_weights
    scale = 1.0 / lambda_n
    pass_weights = workspace.before_weights
    for j in range(weights.size):
        pass_weights[j] = weights[j] - pass_weights[j]

    gp, gq, pp, pq, qq = _row_products(data, loss, scale, active, pass_weights, workspace, duals)
    ww = 0.0
    for j in range(weights.size):
        w, p, q = lambda_n * weights[j], pass_weights[j], step_weights[j]
        gp -= w * p
        gq -= w * q
        pp += lambda_n * p * p
        pq += lambda_n * p * q
        qq += lambda_n * q * q
        ww += w * weights[j]
    if pp < MIN_IMAGE * ww:
        gp, gq = _slopes(data, loss, active, before, step, duals, weights)
    along_pass, along_step = _coefficients(gp, gq, pp, pq, qq, MIN_IMAGE * MIN_IMAGE * ww)

    for j in range(weights.size):
        step_weights[j] = along_pass * pass_weights[j] + along_step * step_weights[j]
    slope, second_derivative = along_pass * gp + along_step * gq, 0.0
    for k in range(active.size):
        i = active[k]
        move = along_pass * (duals[i] - before[i]) + along_step * step[i]
        if move != 0.0:
            weight = weight_of(data.sample_weight, i)
            low, high = loss.conjugate_interval(data.labels[i], duals[i])
            if duals[i] + move < low or duals[i] + move > high:
                clipped = min(max(duals[i] + move, low), high) - duals[i]
                add_to(data.rows, i, weight * (clipped - move) * scale, step_weights)
                gradient = loss.conjugate_slope(data.labels[i], duals[i]) - dot(data.rows, i, weights)
                slope += weight * gradient * (clipped - move)
                move = clipped
            second_derivative += weight * loss.conjugate_second_derivative(data.labels[i], duals[i]) * move * move
        step[i] = move
    for j in range(weights.size):
        second_derivative += lambda_n * step_weights[j] * step_weights[j]
    size = 0.0
    if slope > 0.0:
        # Along a direction that was not clipped the best size is 1 up to rounding, and then 1 exactly: duals reach their ends.
        size = slope / second_derivative if second_derivative > (1.0 + ROUNDING) * slope else 1.0
        if loss.conjugate_curvature_varies():
            size = _size_if_rising(data, loss, active, step, duals, slope, second_derivative, size)

    for k in range(active.size):
        i = active[k]
        new = duals[i] + size * step[i]
        step[i] = new - before[i]
        duals[i] = new
    for j in range(weights.size):
        weights[j] += size * step_weights[j]
        step_weights[j] = pass_weights[j] + size * step_weights[j]
    drift = size * (abs(along_pass) * ROUNDING + abs(along_step) * progress.step_error)
    progress.has_step, progress.step_error = 1, ROUNDING + drift
    progress.drift += drift


@register_jitable
def forget_step(active, workspace, progress):
    """Set the step before to zero; shrunk rows' steps are zero already."""
    for k in range(active.size):
        workspace.step[active[k]] = 0.0
    for j in range(workspace.step_weights.size):
        workspace.step_weights[j] = 0.0
    progress.has_step, progress.step_error = 0, 0.0


@register_jitable
def _row_products(data, loss, scale, active, pass_weights, workspace, duals):
    """The rows' parts of slopes and second derivatives along p and q.

    A dual that came to rest at a bound is taken out of both directions and their images.
    """
    before, step = workspace.before, workspace.step
    gp, gq, pp, pq, qq = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(active.size):
        i = active[k]
        weight = weight_of(data.sample_weight, i)
        p, q = duals[i] - before[i], step[i]
        low, high = loss.conjugate_interval(data.labels[i], duals[i])
        if low == high:
            if p != 0.0:
                add_to(data.rows, i, -weight * p * scale, pass_weights)
            if q != 0.0:
                add_to(data.rows, i, -weight * q * scale, workspace.step_weights)
            before[i], step[i] = duals[i], 0.0
            continue
        slope = weight * loss.conjugate_slope(data.labels[i], duals[i])
        second_derivative = weight * loss.conjugate_second_derivative(data.labels[i], duals[i])
        gp += slope * p
        gq += slope * q
        pp += second_derivative * p * p
        pq += second_derivative * p * q
        qq += second_derivative * q * q
    return gp, gq, pp, pq, qq


@register_jitable
def _coefficients(gp, gq, pp, pq, qq, noise):
    """The maximizer of g·c − cᵀHc/2; along the pass alone where the two directions are parallel or one is noise."""
    determinant = pp * qq - pq * pq
    if pp > noise and qq > noise and determinant > MIN_IMAGE * pp * qq:
        return (gp * qq - gq * pq) / determinant, (gq * pp - gp * pq) / determinant
    return (gp / pp, 0.0) if pp > noise else (0.0, 0.0)


@register_jitable
def _slopes(data, loss, active, before, step, duals, weights):
    """The slopes of D along the pass and along the last step, from the scores of the rows."""
    gp, gq = 0.0, 0.0
    for k in range(active.size):
        i = active[k]
        p, q = duals[i] - before[i], step[i]
        if p != 0.0 or q != 0.0:
            gradient = loss.conjugate_slope(data.labels[i], duals[i]) - dot(data.rows, i, weights)
            gradient *= weight_of(data.sample_weight, i)
            gp += gradient * p
            gq += gradient * q
    return gp, gq


@register_jitable
def _size_if_rising(data, loss, active, step, duals, slope, second_derivative, size):
    """The step size if D rises by it, else zero; slope and second derivative are those of D along the step."""
    gain = size * (slope - 0.5 * size * second_derivative)
    for k in range(active.size):
        i = active[k]
        if step[i] != 0.0:
            remainder = loss.conjugate_remainder(data.labels[i], duals[i], size * step[i])
            gain += weight_of(data.sample_weight, i) * remainder
    return size if gain > 0.0 else 0.0
