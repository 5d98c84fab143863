"""Warm starts: the last fit's answer to each problem, which is the answer again where it still proves tol."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import certify
from dualgap.estimators.canonical import Gathered
from dualgap.examiner import Examiner
from dualgap.problem import Problem
from dualgap.result import Result, Status
from dualgap.solvers import Auto, Solver
from dualgap.trace import Clock, Trace

Vector = NDArray[np.float64]
Start = tuple[Vector, float, Vector | None]


def previous(estimator: Any, table: Gathered, count: int) -> list[Start | None]:
    """Where each of `count` problems starts: at the last fit's answer if it is wanted and fits, else at zero.

    Duals are taken along where the new data has as many rows as the last.
    """
    if not estimator.warm_start or not hasattr(estimator, "coef_"):
        return [None] * count
    weights, intercepts = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    if weights.shape != (count, table.rows.dimension):
        return [None] * count
    duals = np.atleast_2d(getattr(estimator, "dual_coef_", np.empty(0)))
    known = duals.shape == (count, table.given_count)
    return [(weights[k], float(intercepts[k]), table.folded(duals[k]) if known else None) for k in range(count)]


def unchanged(problem: Problem, start: Start, tol: float, solver: Solver | Auto) -> Result | None:
    """The start as a result, at the price of one certificate, if it proves tol already."""
    judged = certify(problem, *start)
    if not judged.certificate.proves(tol):
        return None
    record = Examiner(problem, None).record(judged, 0.0, 0, Clock())
    chosen = solver.choose(problem, ())[0] if isinstance(solver, Auto) else solver
    return Result(
        judged.weights,
        judged.intercept,
        judged.duals,
        judged.certificate,
        Status.CERTIFIED,
        "none ran: the last fit's answer still proves tol",
        Trace([record]),
        chosen,
        problem.classes,
    )
