"""Dual coordinate ascent in passes that leave out, for a while, the rows a bound holds.

The step is that of `kernels/sdca.py`. A row whose bound holds it needs no step; found so again and again it sleeps for
1, 2, 7, 22 passes, LONGEST_SLEEP at most. A held row adds nothing to the duality gap, which is

    P − D = (1/S) Σ s_i·(φ_i(z_i) + φ_i*(−α_i) + α_i z_i) ,

so the terms met during a pass, each before its row's step, estimate it at no cost.
"""

from __future__ import annotations

from math import log

from numba.extending import register_jitable

from dualgap.kernels.compile import kernel
from dualgap.kernels.extrapolation import extrapolate
from dualgap.kernels.rows import add_to, dot, fetch, prefetch
from dualgap.kernels.sdca import AHEAD, INTERCEPT, MOVING

# Further places in `moving`: Σ s_i α_i; the sum of the gap's terms met in the pass so far, what it is likely to be after
# the last pass, and what it was in that pass if all rows were awake; the sum that ends the work; the relative gap wanted,
# the least P that was seen and P(0); the rounding errors of the last step's image and, since they were computed anew, of
# the weights.
RESIDUE, RUNNING, ESTIMATE, WHOLE, TARGET, TOL, PRIMAL, AT_ZERO, ERROR, DRIFT = range(MOVING, MOVING + 10)
PLACES = MOVING + 10

# Places in `counts`: the pass, the next row of its queue, the queue's length, whether the target was met, whether there is
# a last step, and the key that addresses the random numbers together with the pass.
PASS, POSITION, SIZE, MET, STEPPED, KEY = range(6)
COUNTS = 6

# The second sleep is short: while the gap falls by a digit in two passes, rows that sleep for three of them soon hold most
# of it. Those found held once more may sleep for longer.
LENGTHENED, LONGEST_SLEEP = 3, 31
# A row that woke to move again sleeps this many times shorter next time.
FORGETTING = 4
# Sleepers wait in one of so many lists, by the pass in which they wake.
LISTS = LONGEST_SLEEP + 2
NOBODY = -1

# Random numbers have 32 bits, so that their products stay below 63.
BITS = 0xFFFFFFFF

# Until then steps are long and bounds are hit too often for a pass to say where the next would go.
FIRST_EXTRAPOLATION = 3
# Extrapolation goes over the weights several times: a pass that meets fewer values than so many per weight goes without.
WORTHWHILE = 2.0

# Weights that may be off from w(duals) by this part are computed anew.
LARGEST_DRIFT = 1e-12

# The estimate takes each row before its step, when it has waited for a whole pass; on average it waited less.
OPTIMISM = 0.85


@register_jitable
def _mixed(key):
    """Thorough mixing of 32 bits: neighbouring keys give unrelated numbers."""
    key = ((key ^ (key >> 16)) * 0x45D9F3B) & BITS
    key = ((key ^ (key >> 16)) * 0x45D9F3B) & BITS
    return key ^ (key >> 16)


@register_jitable
def _shuffle(queue, size, key, number):
    """A random order for the queue, the same for the same key, pass and length."""
    x = _mixed(_mixed(key & BITS) ^ (number & BITS)) | 1
    for k in range(size - 1, 0, -1):
        x ^= (x << 13) & BITS
        x ^= x >> 17
        x ^= (x << 5) & BITS
        other = (x * (k + 1)) >> 32
        queue[k], queue[other] = queue[other], queue[k]


@register_jitable
def _wake(heads, following, place, queue, size):
    """Append a list of sleepers to the queue; returns its new length."""
    i = heads[place]
    while i != NOBODY:
        queue[size] = i
        size += 1
        i = following[i]
    heads[place] = NOBODY
    return size


@register_jitable
def _put_to_bed(queue, size, due, number, heads, following, step):
    """Move the rows that do not wake in the next pass from the queue to their lists; returns its new length."""
    kept = 0
    for k in range(size):
        i = queue[k]
        if due[i] > number + 1:
            place = due[i] % LISTS
            following[i] = heads[place]
            heads[place] = i
            step[i] = 0.0
        else:
            queue[kept] = i
            kept += 1
    return kept


@register_jitable
def _primal_guess(labels, row_weights, loss, total, at_zero, strength, duals, weights, gap):
    """P = D + gap, with −φ*(−α) = φ(0) − (φ(0) + φ*(−α))."""
    conjugates = 0.0
    for i in range(labels.size):
        term = loss.fenchel_gap(0.0, labels[i], duals[i])
        if row_weights is not None:
            term *= row_weights[i]
        conjugates += term
    length = 0.0
    for j in range(weights.size):
        length += weights[j] * weights[j]
    return at_zero - conjugates / total - 0.5 * strength * length + gap


@register_jitable
def _recompute(rows, row_weights, scale, duals, weights):
    """weights = w(duals)."""
    for j in range(weights.size):
        weights[j] = 0.0
    for i in range(duals.size):
        if duals[i] != 0.0:
            share = 1.0
            if row_weights is not None:
                share = row_weights[i]
            add_to(rows, i, share * duals[i] * scale, weights)


@register_jitable
def _left_at_the_end(fall):
    """The part of the terms met in a pass over all rows that is left after it, where they fell by `fall` from pass to pass.

    A row's term is the sum of what all steps since its own last one did, and they fall evenly: those of a whole pass when
    it is met, those from its visit on at the end. As a part of the same for terms that do not fall.
    """
    fallen = 1.0 - fall
    if fallen < 0.01:
        return fall * (1.0 + fallen / 3.0)  # the difference below would be all rounding
    return 2.0 * fall * (fallen + fall * log(fall)) / (fallen * fallen)


@kernel
def passes(
    rows, labels, squared_norms, row_weights, loss, strength, lambda_n, intercept_rate, row_length, reshuffled, visits, queue, due,
    sleep, heads, following, before, before_weights, step, step_weights, duals, weights, moving, counts,
):  # fmt: skip
    """At most `visits` visits to rows, pass after pass, ending early where a pass meets the target; returns how many.

    Updates everything from `queue` on in place; weights = w(duals) still holds. The queue holds the rows that are awake;
    due[i] is the pass in which row i wakes, sleep[i] how long it slept, and the lists of sleepers begin at `heads` and
    go on by `following`. The four arrays from `before` on belong to `extrapolate`. row_weights is None where all are 1;
    row_length is the mean number of values stored for a row.
    """
    intercept, residue, running = moving[INTERCEPT], moving[RESIDUE], moving[RUNNING]
    number, position, size = counts[PASS], counts[POSITION], counts[SIZE]
    scale, total = 1.0 / lambda_n, lambda_n / strength
    made = 0
    while made < visits and counts[MET] == 0:
        if position == 0:
            size = _wake(heads, following, number % LISTS, queue, size)
            if size == 0:
                number += 1
                continue
        # With a free intercept the center of its proximal term moves, and with it what a pass maximizes.
        extrapolates = number >= FIRST_EXTRAPOLATION and intercept_rate == 0.0
        extrapolates = extrapolates and size * row_length >= WORTHWHILE * weights.size
        if position == 0:
            if reshuffled or number == 0:
                _shuffle(queue, size, counts[KEY], number)
            if extrapolates:
                for k in range(size):
                    before[queue[k]] = duals[queue[k]]
                for j in range(weights.size):
                    before_weights[j] = weights[j]
            running = 0.0
        stop = min(size, position + visits - made)
        made += stop - position
        for k in range(position, stop):
            if k + AHEAD < size:
                ahead = queue[k + AHEAD]
                prefetch(rows, ahead)
                fetch(labels, ahead)
                fetch(duals, ahead)
                fetch(squared_norms, ahead)
            i = queue[k]
            label, old = labels[i], duals[i]
            score = dot(rows, i, weights) + intercept
            # No bound ever holds a dual whose conjugate is curved up to its ends, and asking would cost an exponential.
            if not loss.has_curved_conjugate() and loss.kkt_violation(score, label, old) < 0.0:
                sleep[i] = min(LENGTHENED * sleep[i] + 1 if sleep[i] > 1 else sleep[i] + 1, LONGEST_SLEEP)
                due[i] = number + 1 + sleep[i]
                continue
            sleep[i] //= FORGETTING
            due[i] = number
            curvature = squared_norms[i] * scale + intercept_rate
            share = 1.0
            if row_weights is not None:
                share = row_weights[i]
                curvature *= share
            new, term = loss.coordinate_step(score, label, old, curvature)
            running += share * term
            delta = new - old
            if delta != 0.0:
                duals[i] = new
                add_to(rows, i, share * delta * scale, weights)
                intercept += share * delta * intercept_rate
                residue += share * delta
        position = stop
        if position < size:
            break
        position = 0
        # The proximal center moves towards where b is, which carries b on by as much; sleepers cannot answer, so the
        # fewer rows are awake the less it moves.
        intercept += residue * intercept_rate * (size / labels.size)
        estimate = running + (abs(residue) if intercept_rate > 0.0 else 0.0)
        whole = estimate if size == labels.size else 0.0
        if 0.0 < whole < moving[WHOLE]:
            estimate *= _left_at_the_end(whole / moving[WHOLE])
        moving[ESTIMATE], moving[WHOLE] = estimate, whole
        if estimate <= moving[TARGET]:
            guess = _primal_guess(
                labels, row_weights, loss, total, moving[AT_ZERO], strength, duals, weights, OPTIMISM * estimate / total
            )
            moving[PRIMAL] = min(moving[PRIMAL], guess)
            moving[TARGET] = moving[TOL] * moving[PRIMAL] * total / OPTIMISM
            if estimate <= moving[TARGET]:
                counts[MET] = 1
        if extrapolates and counts[MET] == 0:
            moving[ERROR], drift = extrapolate(
                rows, labels, row_weights, loss, lambda_n, queue, size, moving[ERROR], before, before_weights, step,
                step_weights, duals, weights,
            )  # fmt: skip
            counts[STEPPED] = 1
            moving[DRIFT] += drift
            if moving[DRIFT] > LARGEST_DRIFT:
                _recompute(rows, row_weights, scale, duals, weights)
                moving[DRIFT] = 0.0
        elif counts[STEPPED] == 1:
            counts[STEPPED] = 0
            for k in range(size):
                step[queue[k]] = 0.0
            for j in range(weights.size):
                step_weights[j] = 0.0
            moving[ERROR] = 0.0
        size = _put_to_bed(queue, size, due, number, heads, following, step)
        number += 1
        if counts[MET] == 1:
            for place in range(LISTS):
                size = _wake(heads, following, place, queue, size)
    moving[INTERCEPT], moving[RESIDUE], moving[RUNNING] = intercept, residue, running
    counts[PASS], counts[POSITION], counts[SIZE] = number, position, size
    return made
