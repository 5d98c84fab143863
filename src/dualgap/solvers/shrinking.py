"""Shrinking for SDCA: the state of its passes, how many steps a plan holds, and the gap that the passes estimate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap import kernels
from dualgap.linalg.partition import SETTINGS
from dualgap.problem import Problem
from dualgap.solvers.base import Random, Vector, integer_type


class StepCount:
    """A plan that says how many coordinate steps are made and not on which rows; once carried out, how many were made."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, part: slice) -> StepCount:
        return StepCount(len(range(self.count)[part]))


class Passes(NamedTuple):
    """The state of the passes beside duals and weights; see `kernels/shrinking.py`."""

    queue: Any
    workspace: Any
    progress: Any


def begin_passes(problem: Problem, tol: float, reshuffles: bool) -> Passes:
    """All rows active, and the relative gap to reach."""
    rows = problem.rows
    progress = kernels.shrinking.new_progress(rows.count, problem.primal_at_zero, reshuffles)
    queue = kernels.shrinking.new_queue(rows.count, integer_type(rows.count))
    passes = Passes(queue, kernels.extrapolation.new_workspace(rows.count, rows.dimension), progress)
    set_target(problem, passes, tol)
    return passes


def set_target(problem: Problem, passes: Passes, tol: float) -> None:
    """Let the passes end once their estimate of the relative gap is tol."""
    progress = passes.progress
    progress.tol = tol
    progress.target_sum = kernels.shrinking.target_sum(tol, progress.least_primal, problem.total_weight)


def plan_passes(problem: Problem, passes: Passes, duals: Vector, random: Random) -> StepCount:
    """An epoch's worth of steps, or as many as read the values of a slice, so that a small problem needs few calls."""
    count, progress = problem.rows.count, passes.progress
    if progress.key == 0:
        # Random numbers are addressed by this key and the number of a pass.
        progress.key = random(0).integers(1, np.iinfo(np.int64).max)
    progress.is_met = 0
    if problem.intercept:
        progress.dual_sum = problem.weighted(duals).sum()
    # A step on an empty row takes time too, so it counts as one value.
    return StepCount(max(count, count * SETTINGS.slice_values // max(problem.rows.stored, count)))


def relative_gap(problem: Problem, passes: Passes) -> float:
    """The relative gap that the last pass suggests."""
    progress = passes.progress
    if progress.pass_number == 0 or not progress.least_primal > 0.0:
        return float("inf")
    gap = kernels.shrinking.GAP_FRACTION * progress.estimated_sum / problem.total_weight
    return float(gap / progress.least_primal)
