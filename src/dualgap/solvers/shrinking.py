"""Shrinking for SDCA: the rows that sleep, how much work a plan holds, and the gap that the passes estimate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.problem import Problem
from dualgap.solvers.base import Random, Vector, integer_type, intercept_mobility

# A plan holds about so many stored values, so that a small problem needs few calls.
PLAN_VALUES = 1 << 19


class Visits:
    """A plan that says how many rows are visited, not which; once it was carried out, how many were."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, part: slice) -> Visits:
        return Visits(len(range(self.count)[part]))


class Passes(NamedTuple):
    """What passes with sleeping rows carry along beside duals and weights; see `kernels/shrinking.py`."""

    queue: NDArray[Any]
    due: NDArray[np.int64]
    sleep: NDArray[np.uint8]
    heads: NDArray[np.int64]
    following: NDArray[np.int64]
    before: Vector
    before_weights: Vector
    step: Vector
    step_weights: Vector
    duals: Vector
    weights: Vector
    moving: Vector
    counts: NDArray[np.int64]


def begin_passes(problem: Problem, duals: Vector, weights: Vector, moving: Vector) -> Passes:
    """All rows awake."""
    count, dimension = problem.rows.count, problem.rows.dimension
    counts = np.zeros(kernels.shrinking.COUNTS, dtype=np.int64)
    counts[kernels.shrinking.SIZE] = count
    moving[kernels.shrinking.PRIMAL] = moving[kernels.shrinking.AT_ZERO] = problem.primal_at_zero
    return Passes(
        queue=np.arange(count, dtype=integer_type(count)),
        due=np.zeros(count, dtype=np.int64),
        sleep=np.zeros(count, dtype=np.uint8),
        heads=np.full(kernels.shrinking.LISTS, kernels.shrinking.NOBODY, dtype=np.int64),
        following=np.empty(count, dtype=np.int64),
        before=np.empty(count),
        before_weights=np.empty(dimension),
        step=np.zeros(count),
        step_weights=np.zeros(dimension),
        duals=duals,
        weights=weights,
        moving=moving,
        counts=counts,
    )


def plan_visits(problem: Problem, passes: Passes, random: Random) -> Visits:
    """An epoch's worth of visits, or more where an epoch is little work."""
    count, moving, counts = problem.rows.count, passes.moving, passes.counts
    if counts[kernels.shrinking.KEY] == 0:
        # Random numbers are addressed by this key and the number of a pass.
        counts[kernels.shrinking.KEY] = random(0).integers(1, np.iinfo(np.int64).max)
        moving[kernels.shrinking.TARGET] = (
            moving[kernels.shrinking.TOL]
            * moving[kernels.shrinking.PRIMAL]
            * problem.total_weight
            / kernels.shrinking.OPTIMISM
        )
    if counts[kernels.shrinking.MET]:
        # Who asks to go on was not convinced.
        counts[kernels.shrinking.MET] = 0
        moving[kernels.shrinking.TARGET] = 0.5 * moving[kernels.shrinking.ESTIMATE]
    if problem.intercept:
        moving[kernels.shrinking.RESIDUE] = problem.weighted(passes.duals).sum()
    # An empty row is visited too, so it counts as one value.
    return Visits(max(count, count * PLAN_VALUES // max(problem.rows.stored, count)))


def make_visits(problem: Problem, loss: Any, reshuffled: bool, visits: Visits, passes: Passes) -> None:
    """Carry out a slice of a plan; its length becomes the number of visits made."""
    rows = problem.rows
    visits.count = kernels.shrinking.passes(
        rows.arrays,
        problem.labels,
        rows.squared_norms,
        problem.sample_weight,
        loss,
        problem.strength,
        problem.lambda_n,
        intercept_mobility(problem) / problem.lambda_n,
        rows.stored / rows.count,
        reshuffled,
        len(visits),
        *passes,
    )


def relative_gap(problem: Problem, passes: Passes) -> float:
    """The relative gap as the last pass suggests."""
    primal = float(passes.moving[kernels.shrinking.PRIMAL])
    if passes.counts[kernels.shrinking.PASS] == 0 or not primal > 0.0:
        return float("inf")
    return float(kernels.shrinking.OPTIMISM * passes.moving[kernels.shrinking.ESTIMATE]) / (
        problem.total_weight * primal
    )
