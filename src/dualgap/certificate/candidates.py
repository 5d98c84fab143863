"""Duals of a problem with one score a row, made feasible, and the best factor along their ray."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import ray
from dualgap.linalg.floats import SAFE_SQUARES
from dualgap.problem import Problem

Vector = NDArray[np.float64]


def make_feasible(problem: Problem, duals: Vector) -> None:
    """In place: empty rows go to their optimum; where Σ s_i α_i must vanish, the heavier sign is shrunk until it does."""
    if not problem.intercept:
        empty = problem.rows.empty
        if empty.size:
            # An empty row never moves w, yet its dual must sit at its optimum for the gap to close.
            duals[empty] = problem.loss.dual_candidate(np.zeros(empty.size), problem.labels[empty])
        return
    up = problem.mean_of(lambda c: np.maximum(duals[c], 0.0))
    down = problem.mean_of(lambda c: np.maximum(-duals[c], 0.0))
    if min(up, down) < SAFE_SQUARES * max(1.0, up, down):
        # The factor below would have lost digits to underflow.
        duals[:] = 0.0
    elif up > down:
        np.multiply(duals, down / up, out=duals, where=duals > 0.0)
    elif down > up:
        np.multiply(duals, up / down, out=duals, where=duals < 0.0)


def best_factor(
    problem: Problem, duals: Vector, penalty_slope: Callable[[float], float], largest: float = np.inf
) -> float:
    """About the t ≤ largest that maximizes D(tα); `penalty_slope` is the slope of g*(tv) in t."""
    loss, labels = problem.loss, problem.labels

    def slope(t: float) -> float:
        return problem.mean_of(lambda c: loss.ray_slope(t, duals[c], labels[c])) - penalty_slope(t)

    limit = min(largest, *(loss.ray_limit(duals[c], labels[c]) for c in problem.formula_slices()))
    return ray.best_factor(slope, limit, problem.baseline)
