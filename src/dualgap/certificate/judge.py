"""The judge of a binary or regression problem: from weights, intercept and duals to a certificate.

Every feasible dual bounds P* from below, so the judge may choose: the duals the solver carried or those its scores suggest,
scaled along their ray, whichever proves the smaller gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import precise
from dualgap.certificate.candidates import best_factor, clipped, make_feasible, suggested
from dualgap.certificate.evaluation import Evaluation, Point, evaluate, facts_of
from dualgap.certificate.verdict import Certificate, Judgement
from dualgap.problem import Problem

Vector = NDArray[np.float64]


class _Candidate(NamedTuple):
    """Feasible duals, the weights they give, and what they prove."""

    duals: Vector
    dual_weights: Vector
    evaluation: Evaluation

    @property
    def gap(self) -> float:
        return self.evaluation.certificate.gap


# What leaves float64's range is no proof, and is looked at; NumPy need not warn as well.
@np.errstate(over="ignore", invalid="ignore")
def certify(
    problem: Problem,
    weights: Vector,
    intercept: float = 0.0,
    duals: Vector | None = None,
    enough: float = 0.0,
    tol: float = 0.0,
    thorough: bool = False,
) -> Judgement:
    """Judge an answer. The duals of the judgement are feasible, and with a free intercept b is the best for w.

    Once the carried duals prove a relative gap of `enough`, no others are looked at; where duals prove one of `tol` as they
    are, they are not scaled. Where the computed gap is within tol and rounding alone spoils the proof, sums are repeated in
    double-double arithmetic; `thorough` asks for that wherever rounding is the larger part of the gap.
    """
    carried, dual_weights = None, None
    if duals is None:
        scores = problem.rows.scores(weights)
    else:
        # The duals are made feasible first, so that X w and w(α) take one pass over the rows.
        carried = clipped(problem, duals)
        make_feasible(problem, carried)
        scores, dual_weights = problem.scores_and_weights_of(weights, carried)
    if problem.intercept:
        intercept = problem.best_intercept(scores, intercept)
        scores += intercept
    point = Point(problem, weights, float(intercept), scores, facts_of(problem))
    best: _Candidate | None = None
    if carried is not None and dual_weights is not None:
        best = _best_on_ray(point, carried, dual_weights, tol)
    if best is None or not best.evaluation.certificate.relative_gap <= enough:
        own = suggested(problem, scores)
        make_feasible(problem, own)
        found = _best_on_ray(point, own, problem.weights_of(own), tol)
        if best is None or found.gap < best.gap:
            best = found
    certificate = best.evaluation.certificate
    is_rounding = certificate.is_rounding
    if precise.is_worthwhile(certificate, tol, thorough):
        better = precise.evaluate(point, best.duals)
        if better is not None and better.gap < certificate.gap:
            certificate = better
    if not certificate.gap < certificate.primal and not certificate.contradicts_weak_duality:
        certificate = _without_duals(point, best.duals)
    certificate = replace(certificate, dual=max(certificate.dual, 0.0))
    return Judgement(certificate, weights, float(intercept), best.duals, scores, is_rounding)


def _best_on_ray(point: Point, duals: Vector, dual_weights: Vector, tol: float) -> _Candidate:
    """The duals that prove the smallest gap on the ray through feasible ones, which may be scaled in place.

    `dual_weights` is w(α). Where the duals themselves prove tol, they stay as they are.
    """
    problem = point.problem
    here = _Candidate(duals, dual_weights, evaluate(point, duals, dual_weights))
    if not here.evaluation.certificate.proves(tol):
        factor = best_factor(problem, duals, 2.0 * here.evaluation.dual_penalty)
        if factor != 1.0:
            scaled = clipped(problem, duals, factor)
            there = _Candidate(scaled, dual_weights * factor, evaluate(point, scaled, dual_weights * factor))
            if there.gap < here.gap:
                duals[:] = scaled
                here = there._replace(duals=duals)
    return here


def _without_duals(point: Point, duals: Vector) -> Certificate:
    """In place: zero duals, which are always feasible and give D = 0."""
    duals[:] = 0.0
    found = evaluate(point, duals, np.zeros_like(point.weights)).certificate
    return replace(found, dual=0.0, dual_error=0.0)
