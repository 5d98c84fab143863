"""Dual coordinate ascent with shrinking: passes that leave out, for some passes, the rows whose dual stays at a bound or kink.

The step is that of `kernels/sdca.py`, with the families' cheaper `coordinate_step`. A row is *held* where its dual is at a bound or
kink and its KKT conditions hold with room to spare. A held row is shrunk: left out of the next 1, 3, 7, 15 passes when found held
again and again, MAX_SHRUNK_PASSES at most. Unlike in LIBLINEAR, the pass of its return is fixed when it is shrunk, so no threshold
on the violation is needed. A held row adds nothing to the gap

    P − D = (1/S) Σ s_i·(φ_i(z_i) + φ_i*(−α_i) + α_i z_i) ,

so the sum of the rows' terms in a pass, each evaluated before its row's step, estimates the gap at almost no cost. Shrunk rows are
assumed to be held still, so the estimate can be too small: the judge checks it, and all rows return when the target is met.

A free intercept moves by proximal steps with the rate of `kernels/sdca.py`; with one, nothing is extrapolated.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from dualgap.kernels.arguments import record, weight_of
from dualgap.kernels.compile import kernel
from dualgap.kernels.extrapolation import extrapolate, forget_step
from dualgap.kernels.families.base import SERIES_LIMIT
from dualgap.kernels.rows import add_to, dot, fetch, prefetch
from dualgap.kernels.sdca import AHEAD
from dualgap.linalg.floats import MANY_ROUNDINGS

# A row found held again is left out twice as long, plus one pass, but never for more passes than this: with 7, sparse problems take
# 1.1 to 1.4 times as long.
MAX_SHRUNK_PASSES = 31
# Shrunk rows wait in lists by the pass of their return, modulo this number of lists.
LISTS = MAX_SHRUNK_PASSES + 2
NO_ROW = -1

# Random numbers have 32 bits, so that their products have at most 63 bits.
BITS = 0xFFFFFFFF

# The gap after a pass, divided by the sum of the rows' terms in it, about: each term is evaluated before its row's step.
GAP_FRACTION = 0.85


class Queue(NamedTuple):
    """Which rows the passes take steps on. The first `progress.active` numbers in `active` are the rows of this pass, in order."""

    active: Any
    reactivation_pass: Any
    """For each shrunk row, the pass in which it returns; for an active one, the pass of its last step, which lies before this one."""
    shrunk_passes: Any
    """For each row, for how many passes it was left out the last time; 0 where its last step did not find it held."""
    first_shrunk: Any
    """For each list of shrunk rows, its first row, or NO_ROW."""
    next_shrunk: Any
    """For each shrunk row, the next one in its list, or NO_ROW."""


class Iterate(NamedTuple):
    """Duals, w(duals), and the scalars of `kernels/sdca.py`."""

    duals: Any
    weights: Any
    scalars: Any


def new_queue(count, integers):
    """All rows active."""
    return Queue(
        active=np.arange(count, dtype=integers),
        reactivation_pass=np.zeros(count, dtype=np.int64),
        shrunk_passes=np.zeros(count, dtype=np.uint8),
        first_shrunk=np.full(LISTS, NO_ROW, dtype=np.int64),
        next_shrunk=np.empty(count, dtype=np.int64),
    )


def new_progress(count, primal_at_zero, reshuffles):
    """The scalars of the passes. A sum is one of s_i·(term of row i)."""
    return record(
        pass_number=0,
        position=0,  # of the next row in the queue
        active=count,
        reshuffles=int(reshuffles),  # whether each pass draws a new order, or all keep the first
        key=0,  # addresses the random numbers together with the pass
        is_met=0,  # whether a pass of this plan met the target, which ends the plan
        has_step=0,  # whether workspace.step is the step before this pass, and not zero
        dual_sum=0.0,  # Σ s_i α_i
        pass_sum=0.0,  # the terms of this pass so far
        whole_sum=0.0,  # the terms of the last pass, with a free intercept plus |Σ s_i α_i|; 0 where rows were shrunk in it
        estimated_sum=0.0,  # the same, lowered to the end of the pass; GAP_FRACTION/S times it is the gap
        target_sum=0.0,  # the plan ends after a pass whose estimated_sum is at most this
        tol=0.0,  # the relative gap to reach
        least_primal=float(primal_at_zero),  # the least P estimated so far
        primal_at_zero=float(primal_at_zero),
        step_error=0.0,  # relative rounding error of the workspace's step_weights
        drift=0.0,  # relative rounding error that extrapolations added to the weights since they were last computed anew
    )


@kernel
def passes(data, loss, constants, max_steps, queue, workspace, iterate, progress):
    """Take at most `max_steps` steps, pass after pass; end early after a pass that meets the target. Returns the number of steps.

    Updates queue, workspace, iterate and progress in place; weights = w(duals) still holds, up to MANY_ROUNDINGS·‖w‖.
    """
    made = 0
    while made < max_steps and progress.is_met == 0:
        if progress.position == 0:
            progress.active = _reactivate(queue, progress.pass_number % LISTS, progress.active)
            if progress.active == 0:
                progress.pass_number += 1
                continue
        # With a free intercept the center of its proximal term moves, and with it the function that a pass maximizes.
        extrapolates = progress.pass_number > 0 and constants.intercept_rate == 0.0
        if progress.position == 0:
            _begin_pass(queue, workspace, iterate, progress, extrapolates)
        stop = min(progress.active, progress.position + max_steps - made)
        made += stop - progress.position
        _coordinate_steps(data, loss, constants, queue.active[: progress.active], stop, queue, iterate, progress)
        progress.position = stop
        if stop < progress.active:
            break
        progress.position = 0
        _end_pass(data, loss, constants, iterate, progress)
        if extrapolates and progress.is_met == 0:
            extrapolate(data, loss, constants.lambda_n, queue.active[: progress.active], workspace, iterate, progress)
            if progress.drift > MANY_ROUNDINGS:
                _recompute_weights(data, constants.lambda_n, iterate.duals, iterate.weights)
                progress.drift = 0.0
        elif progress.has_step == 1:
            forget_step(queue.active[: progress.active], workspace, progress)
        progress.active = _shrink(queue, progress.active, progress.pass_number, workspace.step)
        progress.pass_number += 1
        if progress.is_met == 1:
            # If the judge rejects the estimate, the next pass takes a step on every row.
            for place in range(LISTS):
                progress.active = _reactivate(queue, place, progress.active)
    return made


@register_jitable
def _begin_pass(queue, workspace, iterate, progress, extrapolates):
    """Draw the order, and keep duals and weights where the pass is extrapolated."""
    if progress.reshuffles == 1 or progress.pass_number == 0:
        _shuffle(queue.active, progress.active, progress.key, progress.pass_number)
    if extrapolates:
        for k in range(progress.active):
            workspace.before[queue.active[k]] = iterate.duals[queue.active[k]]
        for j in range(iterate.weights.size):
            workspace.before_weights[j] = iterate.weights[j]
    progress.pass_sum = 0.0


@register_jitable
def _coordinate_steps(data, loss, constants, active, stop, queue, iterate, progress):
    """Coordinate steps over the rows of the pass from `progress.position` to `stop`; notes which rows a bound or kink holds."""
    rows, labels, squared_norms = data.rows, data.labels, constants.squared_norms
    duals, weights = iterate.duals, iterate.weights
    rate, scale, number = constants.intercept_rate, 1.0 / constants.lambda_n, progress.pass_number
    intercept, dual_sum, pass_sum = iterate.scalars.intercept, progress.dual_sum, progress.pass_sum
    for k in range(progress.position, stop):
        if k + AHEAD < active.size:
            ahead = active[k + AHEAD]
            prefetch(rows, ahead)
            fetch(labels, ahead)
            fetch(duals, ahead)
            fetch(squared_norms, ahead)
        i = active[k]
        label, old = labels[i], duals[i]
        score = dot(rows, i, weights) + intercept
        # Logistic and Poisson: no bound ever holds the dual, so the exponential of its violation is saved.
        if not loss.conjugate_curvature_varies() and loss.kkt_violation(score, label, old) < 0.0:
            queue.shrunk_passes[i] = min(2 * queue.shrunk_passes[i] + 1, MAX_SHRUNK_PASSES)
            queue.reactivation_pass[i] = number + 1 + queue.shrunk_passes[i]
            continue
        queue.shrunk_passes[i] = 0
        queue.reactivation_pass[i] = number
        weight = weight_of(data.sample_weight, i)
        dual_curvature = weight * (squared_norms[i] * scale + rate)
        new, gap = loss.coordinate_step(score, label, old, dual_curvature)
        pass_sum += weight * gap
        delta = new - old
        if delta != 0.0:
            duals[i] = new
            add_to(rows, i, weight * delta * scale, weights)
            intercept += weight * delta * rate
            dual_sum += weight * delta
    iterate.scalars.intercept, progress.dual_sum, progress.pass_sum = intercept, dual_sum, pass_sum


@register_jitable
def _end_pass(data, loss, constants, iterate, progress):
    """Move the intercept's center, estimate the gap, and note whether the estimate meets the target."""
    # Moving the proximal center of b to b itself adds Σ s_iα_i·intercept_rate to b once more. It is scaled by the active part of
    # the rows, because the duals of shrunk rows do not react.
    iterate.scalars.intercept += progress.dual_sum * constants.intercept_rate * (progress.active / data.labels.size)
    # Σ s_iα_i must be 0 at the optimum; its size stands for what repairing it costs.
    estimate = progress.pass_sum + (abs(progress.dual_sum) if constants.intercept_rate > 0.0 else 0.0)
    whole = estimate if progress.active == data.labels.size else 0.0
    if 0.0 < whole < progress.whole_sum:
        estimate *= _part_at_the_end(whole / progress.whole_sum)
    progress.whole_sum, progress.estimated_sum = whole, estimate
    if estimate > progress.target_sum:
        return
    gap = GAP_FRACTION * estimate * constants.strength / constants.lambda_n
    primal = _estimated_primal(data, loss, constants, iterate.duals, iterate.weights, progress.primal_at_zero, gap)
    progress.least_primal = min(progress.least_primal, primal)
    progress.target_sum = target_sum(progress.tol, progress.least_primal, constants.lambda_n / constants.strength)
    progress.is_met = 1 if estimate <= progress.target_sum else 0


@register_jitable
def _part_at_the_end(fall):
    """The part of a pass's terms that is left at its end, where the terms of passes over all rows fall by the factor `fall`.

    A row's term is what the steps since its own last step changed, and these fall evenly: a row that is visited at the time t of a pass
    (0 ≤ t ≤ 1) is met with the steps of a whole pass, and at the end with those from t on. The ratio of the two means over t, as a part
    of what it is for terms that do not fall, which is a half.
    """
    fallen = 1.0 - fall
    if fallen < SERIES_LIMIT:
        return fall * (1.0 + fallen / 3.0)  # the difference below would be all rounding
    return 2.0 * fall * (fallen + fall * log(fall)) / (fallen * fallen)


@register_jitable
def target_sum(tol, primal, total_weight):
    """The sum of a pass's terms at which the relative gap is about tol."""
    return tol * primal * total_weight / GAP_FRACTION


@register_jitable
def _estimated_primal(data, loss, constants, duals, weights, primal_at_zero, gap):
    """P = D + gap, with −φ*(−α) = φ(0) − (φ(0) + φ*(−α))."""
    conjugates = 0.0
    for i in range(data.labels.size):
        conjugates += weight_of(data.sample_weight, i) * loss.fenchel_gap(0.0, data.labels[i], duals[i])
    squared_norm = 0.0
    for j in range(weights.size):
        squared_norm += weights[j] * weights[j]
    return (
        primal_at_zero
        - conjugates * constants.strength / constants.lambda_n
        - 0.5 * constants.strength * squared_norm
        + gap
    )


@register_jitable
def _recompute_weights(data, lambda_n, duals, weights):
    """weights = w(duals)."""
    for j in range(weights.size):
        weights[j] = 0.0
    for i in range(duals.size):
        if duals[i] != 0.0:
            add_to(data.rows, i, weight_of(data.sample_weight, i) * duals[i] * (1.0 / lambda_n), weights)


@register_jitable
def _reactivate(queue, place, active):
    """Append a list of shrunk rows to the active ones; returns the new number of active rows."""
    i = queue.first_shrunk[place]
    while i != NO_ROW:
        queue.active[active] = i
        active += 1
        i = queue.next_shrunk[i]
    queue.first_shrunk[place] = NO_ROW
    return active


@register_jitable
def _shrink(queue, active, number, step):
    """Move the rows that do not return in the next pass to their lists; returns the new number of active rows."""
    kept = 0
    for k in range(active):
        i = queue.active[k]
        if queue.reactivation_pass[i] > number + 1:
            place = queue.reactivation_pass[i] % LISTS
            queue.next_shrunk[i] = queue.first_shrunk[place]
            queue.first_shrunk[place] = i
            step[i] = 0.0  # extrapolation leaves a shrunk row where it is
        else:
            queue.active[kept] = i
            kept += 1
    return kept


@register_jitable
def _shuffle(rows, size, key, number):
    """Put the first `size` row numbers in a random order, the same for the same key, pass and size."""
    x = _mixed(_mixed(key & BITS) ^ (number & BITS)) | 1
    for k in range(size - 1, 0, -1):
        x ^= (x << 13) & BITS
        x ^= x >> 17
        x ^= (x << 5) & BITS
        other = (x * (k + 1)) >> 32
        rows[k], rows[other] = rows[other], rows[k]


@register_jitable
def _mixed(key):
    """Thorough mixing of 32 bits: neighbouring keys give unrelated numbers."""
    key = ((key ^ (key >> 16)) * 0x45D9F3B) & BITS
    key = ((key ^ (key >> 16)) * 0x45D9F3B) & BITS
    return key ^ (key >> 16)
