"""The working set: the rows that are on a curved segment of φ_γ or near a kink, on which most steps along γ are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.losses import Loss
from dualgap.problem import Problem
from dualgap.solvers.base import Vector
from dualgap.solvers.newton.point import Point
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, working_set


class Selection(NamedTuple):
    """A working set, and the point on its rows."""

    sub: Subproblem
    point: Point


def select_working_set(problem: Problem, point: Point, settings: Settings) -> Selection | None:
    """The curved rows and those nearest to a kink, at a point on all rows; None where they would be half of the rows.

    Every curved row must be in it: the linear term stands only for rows whose loss is linear near their score.
    """
    count, curved = problem.rows.count, point.second_derivatives > 0.0
    size = max(int(settings.working_set_part * count), 2 * int(np.count_nonzero(curved)))
    if count < settings.few_rows or 2 * size >= count:
        return None
    distances = _kink_distances(problem.loss, point.scores + point.intercept, problem.labels)
    distances[curved] = 0.0
    numbers = np.sort(np.argpartition(distances, size)[:size])
    combination = problem.strength * point.weights - point.gradient
    sub = working_set(problem, numbers, point.duals, combination)
    inside = Point(
        point.weights,
        point.intercept,
        point.gamma,
        point.scores[numbers],
        point.duals[numbers],
        point.second_derivatives[numbers],
        point.gradient,
        point.gradient_intercept,
    )
    return Selection(sub, inside)


def _kink_distances(loss: Loss, scores: Vector, labels: Vector) -> Vector:
    """How far each score is from the nearest kink."""
    kinks = loss.kinks(labels)
    out = np.abs(scores - kinks[0])
    for kink in kinks[1:]:
        np.minimum(out, np.abs(scores - kink), out=out)
    return out
