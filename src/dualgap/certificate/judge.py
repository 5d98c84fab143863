"""The judge of every problem: from weights, intercept and duals to a certificate.

Every feasible dual bounds P* from below, so the judge may choose: the duals that the solver carried or those that the scores
suggest, scaled along their ray, whichever proves the smaller gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.evaluation import OneScorePoint
from dualgap.certificate.point import Evaluation, Point
from dualgap.certificate.precise import is_worthwhile
from dualgap.certificate.softmax_evaluation import SoftmaxPoint
from dualgap.certificate.verdict import Certificate, Judgement
from dualgap.problem import BaseProblem, Intercept, MultinomialProblem, Problem

Vector = NDArray[np.float64]

POINTS: dict[type[BaseProblem], type[Point[Any]]] = {Problem: OneScorePoint, MultinomialProblem: SoftmaxPoint}
"""The class of points of each kind of problem."""


class _Candidate(NamedTuple):
    """Feasible duals, their x(α), and what they prove."""

    duals: Vector
    combination: Vector
    evaluation: Evaluation

    @property
    def gap(self) -> float:
        return self.evaluation.certificate.gap


# A value that leaves float64's range proves nothing, and every certificate is checked for it; NumPy need not warn as well.
@np.errstate(over="ignore", invalid="ignore")
def certify(
    problem: BaseProblem,
    weights: Vector,
    intercept: Intercept = 0.0,
    duals: Vector | None = None,
    *,
    carried_target: float = 0.0,
    tol: float = 0.0,
    gap_tol: float = 0.0,
    thorough: bool = False,
) -> Judgement:
    """Judge an answer: a certificate, with feasible duals and, where the intercept is free, the best b for the weights.

    Parameters
    ----------
    problem : Problem or MultinomialProblem
        The problem.
    weights : array of shape (d,), or (d, k) with k classes
        w.
    intercept : float, or array of k floats
        b, from which the search for the best b starts.
    duals : array of shape (n,), or (n, k), optional
        The duals that a solver carried; they are clipped to their domain and made feasible.
    carried_target : float
        A relative gap. Once the carried duals prove it, the duals that the scores suggest are not computed.
    tol : float
        A relative gap. Duals that prove it are not scaled along their ray. Where the computed gap is within tol and rounding alone
        spoils the proof, the sums are repeated in double-double arithmetic.
    gap_tol : float
        A gap, which counts as proven tol and `carried_target` do: either is enough. 0 stands for none.
    thorough : bool
        Whether double-double arithmetic is used wherever rounding is the larger part of the gap.

    Returns
    -------
    Judgement
        The certificate with the weights, intercept, duals and scores it is true of.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> problem = dg.Problem(np.eye(2), [-1, 1], "hinge", strength=0.5)
    >>> judged = dg.certify(problem, weights=np.array([-1.0, 1.0]), duals=np.array([-1.0, 1.0]))
    >>> judged.certificate.primal, judged.certificate.dual
    (0.5, 0.5)
    >>> judged.certificate.proves(1e-9)
    True
    """
    kind = next(POINTS[parent] for parent in type(problem).__mro__ if parent in POINTS)
    carried, combination = None, None
    if duals is None:
        scores = problem.rows.scores(weights)
    else:
        # The duals are made feasible first, so that X w and x(α) take one pass over the rows.
        carried = problem.clipped_duals(duals)
        kind.make_feasible(problem, carried)
        scores, combination = problem.scores_and_combination_of(weights, carried)
    if problem.intercept:
        intercept = problem.best_intercept(scores, intercept)
        scores += intercept
    else:
        intercept = problem.constant
    point = kind(problem, weights, intercept, scores)
    best: _Candidate | None = None
    if carried is not None and combination is not None:
        best = _best_on_ray(point, carried, combination, tol, gap_tol)
    if best is None or not best.evaluation.certificate.proves(carried_target, gap_tol):
        suggested = problem.suggested_duals(scores)
        kind.make_feasible(problem, suggested)
        found = _best_on_ray(point, suggested, problem.combination_of(suggested), tol, gap_tol)
        if best is None or found.gap < best.gap:
            best = found
    certificate = best.evaluation.certificate
    is_rounding = certificate.is_rounding
    if is_worthwhile(certificate, tol, gap_tol, thorough):
        better = point.evaluate_precisely(best.duals)
        if better is not None and better.gap < certificate.gap:
            certificate = better
    if not certificate.gap < certificate.primal and not certificate.contradicts_weak_duality:
        certificate = _without_duals(point, best.duals)
    certificate = replace(certificate, dual=max(certificate.dual, 0.0))
    return Judgement(certificate, weights, intercept, best.duals, scores, is_rounding)


def _best_on_ray(point: Point[Any], duals: Vector, combination: Vector, tol: float, gap_tol: float) -> _Candidate:
    """The duals that prove the smallest gap on the ray through feasible ones, which may be scaled in place.

    `combination` is x(α). Where the duals themselves prove tol or gap_tol, they stay as they are.
    """
    limit = point.largest_factor(duals, combination)
    if limit < 1.0:
        # x(α) is outside the domain of r*, which contains zero: the end of the ray inside it is the start.
        duals[:] = point.scaled(duals, limit)
        combination, limit = combination * limit, 1.0
    here = _Candidate(duals, combination, point.evaluate(duals, combination))
    if here.evaluation.certificate.proves(tol, gap_tol):
        return here
    factor = point.best_factor(duals, combination, here.evaluation.dual_penalty, limit)
    if factor != 1.0:
        scaled = point.scaled(duals, factor)
        there = _Candidate(scaled, combination * factor, point.evaluate(scaled, combination * factor))
        if there.gap < here.gap:
            duals[:] = scaled
            return there._replace(duals=duals)
    return here


def _without_duals(point: Point[Any], duals: Vector) -> Certificate:
    """In place: zero duals, which are always feasible and give D = 0."""
    duals[:] = 0.0
    found = point.evaluate(duals, np.zeros_like(point.weights)).certificate
    return replace(found, dual=0.0, dual_error=0.0)
