"""Going on from a pass of coordinate ascent in the direction of that pass and of the step before it.

A pass moves the duals by p; the step before it, extrapolation included, moved them by q. Over α + c₁p + c₂q the dual
objective is a quadratic whose coefficients are inner products of p and q and of their images in the space of w, so its
maximum costs no look at the rows: coordinate ascent becomes the preconditioner of a flexible conjugate gradient method.
Duals that would leave their interval are held at its end, and the step along what remains is the best in [0, 1].
"""

from __future__ import annotations

from numba.extending import register_jitable

from dualgap.kernels.rows import add_to, dot

# With more than this share of the rows ending at a bound, the face is not yet settled and its curvature means little.
UNSETTLED = 0.3
# Directions whose images are parallel to so many digits count as one.
PARALLEL = 1e-10
# A direction whose image is so small a part of w, squared, is mostly rounding error: duals that trade places.
NOISE = 1e-20
# An image is a difference of weights, and its product with the weights is lost in their rounding where its square is
# below this part of theirs. The rows then say what that product is.
LOST = 1e-10
# The relative error of one operation, with room for the sums behind an image.
ROUNDING = 1e-15


@register_jitable
def _coefficients(gp, gq, pp, pq, qq, noise):
    """The maximizer of g·c − cᵀHc/2."""
    determinant = pp * qq - pq * pq
    if pp > noise and qq > noise and determinant > PARALLEL * pp * qq:
        return (gp * qq - gq * pq) / determinant, (gq * pp - gp * pq) / determinant
    return (gp / pp, 0.0) if pp > noise else (0.0, 0.0)


@register_jitable
def extrapolate(
    rows, labels, row_weights, loss, lambda_n, moved, size, error, before, before_weights, step, step_weights, duals,
    weights,
):  # fmt: skip
    """Extrapolate the duals of the rows moved[:size] after a pass; D does not fall.

    `before` and `before_weights` are duals and weights at the pass's start, `step` and `step_weights` the last step and
    its image, zero if there was none. Writes the step made, pass and extrapolation together, in their place; and duals
    and weights. before_weights is used up. `error` is that of the last image, as a part of the weights; returns that of
    the new one and how much of it went into the weights.
    """
    scale = 1.0 / lambda_n
    for j in range(weights.size):
        before_weights[j] = weights[j] - before_weights[j]
    pass_weights = before_weights

    gp, gq, pp, pq, qq, ww, held = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for k in range(size):
        i = moved[k]
        share = 1.0
        if row_weights is not None:
            share = row_weights[i]
        p, q = duals[i] - before[i], step[i]
        low, high = loss.conjugate_interval(labels[i], duals[i])
        if low == high:
            # A dual that has come to rest has no part in either direction.
            held += p != 0.0 or q != 0.0
            if p != 0.0:
                add_to(rows, i, -share * p * scale, pass_weights)
            if q != 0.0:
                add_to(rows, i, -share * q * scale, step_weights)
            before[i], step[i] = duals[i], 0.0
            continue
        slope = share * loss.conjugate_slope(labels[i], duals[i])
        bend = share * loss.conjugate_second_derivative(labels[i], duals[i])
        gp += slope * p
        gq += slope * q
        pp += bend * p * p
        pq += bend * p * q
        qq += bend * q * q
    for j in range(weights.size):
        w, p, q = lambda_n * weights[j], pass_weights[j], step_weights[j]
        gp -= w * p
        gq -= w * q
        pp += lambda_n * p * p
        pq += lambda_n * p * q
        qq += lambda_n * q * q
        ww += w * weights[j]
    if pp < LOST * ww:
        gp, gq = _slopes(rows, labels, row_weights, loss, moved, size, before, step, duals, weights)
    along, onward = _coefficients(gp, gq, pp, pq, qq, NOISE * ww)
    if held > UNSETTLED * size:
        along, onward = 0.0, 0.0

    for j in range(weights.size):
        step_weights[j] = along * pass_weights[j] + onward * step_weights[j]
    slope, bend = along * gp + onward * gq, 0.0
    for k in range(size):
        i = moved[k]
        wanted = along * (duals[i] - before[i]) + onward * step[i]
        if wanted != 0.0:
            share = 1.0
            if row_weights is not None:
                share = row_weights[i]
            low, high = loss.conjugate_interval(labels[i], duals[i])
            kept = min(max(duals[i] + wanted, low), high) - duals[i]
            if duals[i] + wanted < low or duals[i] + wanted > high:
                add_to(rows, i, share * (kept - wanted) * scale, step_weights)
                climb = loss.conjugate_slope(labels[i], duals[i]) - dot(rows, i, weights)
                slope += share * climb * (kept - wanted)
            else:
                kept = wanted
            bend += share * loss.conjugate_second_derivative(labels[i], duals[i]) * kept * kept
            wanted = kept
        step[i] = wanted
    for j in range(weights.size):
        bend += lambda_n * step_weights[j] * step_weights[j]
    length = 0.0
    if slope > 0.0:
        length = slope / bend if bend > slope else 1.0
        if loss.has_curved_conjugate():
            length = _checked(labels, row_weights, loss, moved, size, step, duals, slope, bend, length)

    for k in range(size):
        i = moved[k]
        new = duals[i] + length * step[i]
        step[i] = new - before[i]
        duals[i] = new
    for j in range(weights.size):
        weights[j] += length * step_weights[j]
        step_weights[j] = pass_weights[j] + length * step_weights[j]
    drift = length * (abs(along) * ROUNDING + abs(onward) * error)
    return ROUNDING + drift, drift


@register_jitable
def _slopes(rows, labels, row_weights, loss, moved, size, before, step, duals, weights):
    """The slopes of D along the pass and along the last step, from the scores of the rows."""
    gp, gq = 0.0, 0.0
    for k in range(size):
        i = moved[k]
        p, q = duals[i] - before[i], step[i]
        if p != 0.0 or q != 0.0:
            climb = loss.conjugate_slope(labels[i], duals[i]) - dot(rows, i, weights)
            if row_weights is not None:
                climb *= row_weights[i]
            gp += climb * p
            gq += climb * q
    return gp, gq


@register_jitable
def _checked(labels, row_weights, loss, moved, size, step, duals, slope, bend, length):
    """The length if D rises by it, else zero; slope and bend are those of D along the step."""
    gain = length * (slope - 0.5 * length * bend)
    for k in range(size):
        i = moved[k]
        if step[i] != 0.0:
            more = loss.conjugate_remainder(labels[i], duals[i], length * step[i])
            if row_weights is not None:
                more *= row_weights[i]
            gain += more
    return length if gain > 0.0 else 0.0
