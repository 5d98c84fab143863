"""One Newton step on P under a smooth loss, as one compiled call: for problems so small that calls would cost more than work.

    gradient = λw − Σ q_i α_i x_i ,   Hessian = λ·I + Σ q_i φ″_i x_i x_iᵀ ,   α = −φ′(z)

A free intercept is one more coordinate, the last, that nothing penalizes. `shares` are the q_i, or one number for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from dualgap.kernels.compile import by_class, kernel, regrouped, specialized
from dualgap.kernels.curves import curve, loss_value, third
from dualgap.kernels.factor import factorize, inner, scale, solve
from dualgap.kernels.products import square_rows
from dualgap.kernels.rows import add_to, dot
from dualgap.minimize import after, bracket
from dualgap.rows import DenseRows, SparseRows

# Dense rows are multiplied so many at a time.
BLOCK = 256

next_bracket, next_length = register_jitable(bracket), register_jitable(after)


class Rules(NamedTuple):
    """Which corrections of a step are trusted, and when a step is long enough."""

    shortened: float
    """The third derivative may shorten a step's slope by at most this part,"""
    lengthened: float
    """or lengthen it by this."""
    slope_left: float
    """A step is long enough once the slope at its end is below this part of that at its start."""
    trials: int
    """So many lengths are tried at most."""
    counted: int
    """So many rows at least say about how large P is."""


class Room(NamedTuple):
    """What a step writes to: a point and what follows from it, the duals to answer with, and room to work in."""

    weights: Any
    """w, and b after it where it is free; so are all that have one number a column."""
    gradient: Any
    step: Any
    mend: Any
    right: Any
    scales: Any
    scores: Any
    """⟨x, w⟩ + b; these and the next have one number a row."""
    duals: Any
    bends: Any
    answer: Any
    along: Any
    moved: Any
    moved_bends: Any
    hessian: Any
    factor: Any
    block: Any
    """Some rows, and the same scaled."""
    scaled: Any
    product: Any


class Arrays(NamedTuple):
    """What of it stays from step to step, as few arrays: six lines of one number a column, two of one a row, and matrices."""

    columns: Any
    numbers: Any
    matrices: Any
    blocks: Any
    product: Any


@register_jitable
def room_in(arrays):
    """Names for the lines, and room for five more of one number a row, which is given back when the step is done.

    A call with an array for each name would take as long as a step on few rows.
    """
    c, n, m, b = arrays.columns, arrays.numbers, arrays.matrices, arrays.blocks
    count = n.shape[1]
    duals, bends, along = np.empty(count), np.empty(count), np.empty(count)
    moved, moved_bends = np.empty(count), np.empty(count)
    lines = (c[0], c[1], c[2], c[3], c[4], c[5], n[0], duals, bends, n[1], along, moved, moved_bends)
    return Room(*lines, m[0], m[1], b[0], b[1], arrays.product)


@register_jitable
def _share(shares, i):
    return shares[i] if shares.size > 1 else shares[0]


def _dense_square(rows, factors, room):
    values, block, scaled, product = rows.values, room.block, room.scaled, room.product
    for begin in range(0, values.shape[0], BLOCK):
        count = min(BLOCK, values.shape[0] - begin)
        for k in range(count):
            factor, line, own, other = factors[begin + k], values[begin + k], block[k], scaled[k]
            for j in range(line.size):
                own[j] = line[j]
                other[j] = factor * line[j]
        np.dot(scaled[:count].T, block[:count], product)
        for i in range(product.shape[0]):
            out, line = room.hessian[i], product[i]
            for j in range(i + 1):
                out[j] += line[j]


def _sparse_square(rows, factors, room):
    square_rows(rows, np.uint64(0), np.uint64(rows.indptr.size - 1), factors, room.hessian)


SQUARE = {DenseRows: _dense_square, SparseRows: _sparse_square}


def square(rows, factors, room):
    """The lower triangle of the Hessian += Σ c_i x_i x_iᵀ."""
    SQUARE[type(rows)](rows, factors, room)


@specialized(square)
def _square(rows, factors, room):
    return by_class(SQUARE, rows)


@register_jitable
def _factor_hessian(rows, shares, strength, is_free, room):
    """The factor of the Hessian at the point."""
    hessian, factors, width = room.hessian, room.moved, room.weights.size - is_free
    hessian[:] = 0.0
    for i in range(factors.size):
        factors[i] = _share(shares, i) * room.bends[i]
    square(rows, factors, room)
    for j in range(width):
        hessian[j, j] += strength
    if is_free:
        last, total = hessian[width], 0.0
        for i in range(factors.size):
            add_to(rows, np.uint64(i), factors[i], last)
            total += factors[i]
        # Without a curved row nothing says how far b should go, but its slope says where.
        last[width] = total if total > 0.0 else strength
    scale(hessian, room.scales)
    factorize(hessian, room.factor)


@register_jitable
def _add_moves(rows, vector, is_free, out):
    """out_i += ⟨x_i, v⟩, and what v says of b."""
    shift = vector[vector.size - 1] if is_free else 0.0
    for i in range(out.size):
        out[i] += dot(rows, np.uint64(i), vector) + shift


@register_jitable
def _combine(rows, coefficients, shares, is_free, out):
    """out = Σ q_i c_i x_i, and Σ q_i c_i where b is free."""
    out[:] = 0.0
    total = 0.0
    for i in range(coefficients.size):
        own = _share(shares, i) * coefficients[i]
        add_to(rows, np.uint64(i), own, out)
        total += own
    if is_free:
        out[out.size - 1] = total


@register_jitable
def _fill_curves(loss, labels, scores, along, t, duals, bends):
    for i in range(duals.size):
        duals[i], bends[i] = curve(loss, scores[i] + t * along[i], labels[i])


@regrouped
def _sums_along(shares, along, duals, bends):
    """Σ q·along·dual and Σ q·along²·bend."""
    fall, bending = 0.0, 0.0
    for i in range(along.size):
        move = _share(shares, i) * along[i]
        fall += move * duals[i]
        bending += move * along[i] * bends[i]
    return fall, bending


@regrouped
def _distance(shares, foretold, duals, bends):
    """About what foretold duals add to the gap: ½ Σ q (foretold − own)²/bend; not finite where a bend is zero."""
    total = 0.0
    for i in range(foretold.size):
        off = foretold[i] - duals[i]
        total += _share(shares, i) * off * off / bends[i]
    return 0.5 * total


@register_jitable
def _are_inside(labels, duals):
    """Whether the duals of a logistic loss are inside their domain."""
    outside = 0
    for i in range(duals.size):
        a = labels[i] * duals[i]
        outside += 0 if a >= 0.0 and a <= 1.0 else 1
    return outside == 0


@register_jitable
def _bend(loss, rows, labels, shares, is_free, rules, slope, room):
    """Correct step and moves by the third derivative where that may be trusted; the slope then. `answer` becomes ½ φ‴ along²."""
    thirds, along = room.answer, room.along
    for i in range(along.size):
        thirds[i] = 0.5 * third(loss, room.duals[i], room.bends[i], labels[i]) * along[i] * along[i]
    _combine(rows, thirds, shares, is_free, room.right)
    solve(room.factor, room.scales, room.right, room.mend)
    of_mend = inner(room.gradient, room.mend, room.mend.size)
    if not (rules.lengthened * slope <= of_mend and of_mend <= -rules.shortened * slope):
        thirds[:] = 0.0
        return slope
    _add_moves(rows, room.mend, is_free, along)
    for j in range(room.step.size):
        room.step[j] += room.mend[j]
    return slope + of_mend


@register_jitable
def _search(loss, labels, shares, strength, is_free, is_smooth, rules, slope, t, room):
    """The t at which the slope along the step is about zero; `moved` and `moved_bends` are duals and bends there."""
    width = room.weights.size - is_free
    first = strength * inner(room.weights, room.step, width)
    second = strength * inner(room.step, room.step, width)
    known = next_bracket(slope)
    for trial in range(rules.trials):
        _fill_curves(loss, labels, room.scores, room.along, t, room.moved, room.moved_bends)
        fall, bending = _sums_along(shares, room.along, room.moved, room.moved_bends)
        here = first + t * second - fall
        if abs(here) <= rules.slope_left * abs(slope):
            break
        known, following = next_length(known, t, here, second + bending, is_smooth)
        if np.isnan(following) or trial + 1 == rules.trials:
            break
        t = following
    return t


@register_jitable
def about_primal(loss, labels, shares, strength, is_free, counted_rows, room):
    """P, or what some rows say of it where they are many: a step is no judge."""
    total, counted = 0.0, 0.0
    for i in range(0, labels.size, max(1, labels.size // counted_rows)):
        share = _share(shares, i)
        total += share * loss_value(loss, room.scores[i], labels[i], room.duals[i])
        counted += share
    width = room.weights.size - is_free
    penalty = 0.5 * strength * inner(room.weights, room.weights, width)
    return (total / counted if counted > 0.0 else 0.0) + penalty


@register_jitable
def _own_gap(strength, is_free, room):
    """The gap that the point's own duals leave, because w is not w(α)."""
    width = room.weights.size - is_free
    gap = inner(room.gradient, room.gradient, width) / (2.0 * strength)
    if is_free:
        # Duals that do not sum to zero are shrunk until they do, at about this price.
        gap += abs(room.gradient[width]) * (1.0 + abs(room.weights[width]))
    return gap


@register_jitable
def _close(rows, shares, strength, is_free, room):
    """The gradient at the point, whose duals are known."""
    _combine(rows, room.duals, shares, is_free, room.right)
    for j in range(room.gradient.size):
        room.gradient[j] = -room.right[j]
    for j in range(room.weights.size - is_free):
        room.gradient[j] += strength * room.weights[j]


@kernel
def arrive(loss, rows, labels, shares, strength, is_free, arrays):
    """What follows from a point: scores, duals, bends and gradient, written to their places."""
    room = room_in(arrays)
    room.scores[:] = 0.0
    _add_moves(rows, room.weights, is_free, room.scores)
    _fill_curves(loss, labels, room.scores, room.scores, 0.0, room.duals, room.bends)
    room.answer[:] = room.duals
    _close(rows, shares, strength, is_free, room)


@kernel
def newton_step(loss, rows, labels, shares, strength, is_free, has_third, length, tol, most, rules, arrays):
    """One step from a point to the next, about the gap that `answer` leaves there, and about P, or `most`, which is more.

    P is looked at where the gap may be as small as tol says.

    Where the loss has a third derivative and the step none to start with (`length`, which is tried first, is 1), it is
    corrected by it, and the duals that it foretells may leave a smaller gap than the new point's own: after a whole step w(α)
    is that point.
    """
    room = room_in(arrays)
    # Computed again rather than kept: memory is dearer than a pass over one number a row.
    _fill_curves(loss, labels, room.scores, room.scores, 0.0, room.duals, room.bends)
    _factor_hessian(rows, shares, strength, is_free, room)
    solve(room.factor, room.scales, room.gradient, room.step)
    slope = inner(room.gradient, room.step, room.step.size)
    room.along[:] = 0.0
    _add_moves(rows, room.step, is_free, room.along)
    is_bent = has_third and length == 1.0
    if is_bent:
        slope = _bend(loss, rows, labels, shares, is_free, rules, slope, room)
        for i in range(room.answer.size):
            room.answer[i] = room.duals[i] - room.bends[i] * room.along[i] - room.answer[i]
    t = _search(loss, labels, shares, strength, is_free, has_third, rules, slope, length, room)
    for j in range(room.weights.size):
        room.weights[j] += t * room.step[j]
    for i in range(room.scores.size):
        room.scores[i] += t * room.along[i]
    room.duals[:] = room.moved
    room.bends[:] = room.moved_bends
    _close(rows, shares, strength, is_free, room)
    gap, left = _own_gap(strength, is_free, room), np.inf
    if is_bent and t == 1.0 and _are_inside(labels, room.answer):
        left = _distance(shares, room.answer, room.duals, room.bends)
    if left < gap:
        gap = left
    else:
        room.answer[:] = room.duals
    if gap <= tol * most:
        most = about_primal(loss, labels, shares, strength, is_free, rules.counted, room)
    return gap, most
