"""The judge of the softmax model: from weights, intercepts and duals a primal value, a dual value and the gap between them.

It shares no code with any solver or kernel. Every feasible A bounds P* from below, so the judge may choose: the duals the
solver carried or those its scores suggest, scaled along their ray, whichever gives the larger D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate import Certificate, Judgement
from dualgap.certificate.precise import is_worthwhile
from dualgap.losses.multinomial import (
    Entropies,
    Matrix,
    Vector,
    clipped,
    entropies,
    keep_inside,
    probabilities,
    softmax,
)
from dualgap.multinomial.evaluation import Point, evaluate, evaluate_precisely
from dualgap.multinomial.problem import MultinomialProblem

# Newton steps for the best intercepts; below this decrement one more full step is exact to rounding.
INTERCEPT_STEPS, LAST_DECREMENT = 60, 1e-12
# Steps of the search along a ray; its result only tightens a bound that holds anyway.
RAY_STEPS = 40


class _Candidate(NamedTuple):
    """A feasible A and what it proves."""

    duals: Matrix
    certificate: Certificate


# What leaves float64's range is no proof, and is looked at; NumPy need not warn as well.
@np.errstate(over="ignore", invalid="ignore")
def certify(
    problem: MultinomialProblem,
    weights: Matrix,
    intercept: Any = 0.0,
    duals: Matrix | None = None,
    enough: float = 0.0,
    tol: float = 0.0,
    thorough: bool = False,
) -> Judgement:
    """Judge an answer. The duals of the judgement are feasible, and with free intercepts b is the best for W.

    Once the carried duals prove a relative gap of `enough`, no others are looked at. Where the computed gap is within tol and
    rounding alone spoils the proof, sums are repeated in double-double arithmetic; `thorough` asks for that wherever rounding
    is the larger part of the gap.
    """
    scores = problem.scores(weights)
    b = np.zeros(problem.class_count)
    if problem.intercept:
        b = best_intercepts(problem, scores, np.broadcast_to(np.asarray(intercept, dtype=np.float64), b.shape))
        scores += b
    point = Point(problem, weights, b, scores)
    best: _Candidate | None = None
    for candidate in (duals, None):
        if candidate is None:
            if best is not None and best.certificate.relative_gap <= enough:
                break
            feasible = problem.suggested_duals(scores)
        else:
            feasible = np.empty_like(scores)
            for c in problem.chunks():
                feasible[c] = clipped(candidate[c], problem.labels[c])
        make_feasible(problem, feasible)
        found = _best_on_ray(point, feasible, tol)
        if best is None or found.certificate.gap < best.certificate.gap:
            best = found
    assert best is not None
    certificate = best.certificate
    is_rounding = certificate.is_rounding
    if is_worthwhile(certificate, tol, thorough):
        better = evaluate_precisely(point, best.duals)
        if better is not None and better.gap < certificate.gap:
            certificate = better
    if not certificate.gap < certificate.primal and not certificate.contradicts_weak_duality:
        # Zero duals are always feasible and give D = 0, which no worse bound replaces.
        best.duals[:] = 0.0
        certificate = replace(evaluate(point, best.duals, np.zeros_like(weights)), dual=0.0, dual_error=0.0)
    given: Any = b
    certificate = replace(certificate, dual=max(certificate.dual, 0.0))
    return Judgement(certificate, weights, given, best.duals, scores, is_rounding)


def best_intercepts(problem: MultinomialProblem, scores: Matrix, start: Vector) -> Vector:
    """argmin over b of P(W, b), from the scores at b = 0 alone: Newton's method, halving a step until P falls."""
    b = start - start.mean() if np.isfinite(start).all() else problem.constant
    value, pull, hessian = _by_intercepts(problem, scores, b)
    for _ in range(INTERCEPT_STEPS):
        step = _pseudo_solve(hessian, pull)
        decrement = float(step @ pull)
        if decrement <= LAST_DECREMENT * problem.baseline:
            # P could not show the fall any more, and Newton's error here is the square of what it was.
            return b + step
        length = 1.0
        while True:
            trial = b + length * step
            new = _by_intercepts(problem, scores, trial)
            if new[0] <= value - 1e-4 * length * decrement:
                break
            length *= 0.5
            if length < 1e-10:
                return b
        b, (value, pull, hessian) = trial, new
    return b


def _by_intercepts(problem: MultinomialProblem, scores: Matrix, b: Vector) -> tuple[float, Vector, Matrix]:
    """The mean loss at z + b, minus its gradient in b, and its Hessian."""
    k = problem.class_count
    value, pull, products, sums = 0.0, np.zeros(k), np.zeros((k, k)), np.zeros(k)
    for c in problem.chunks():
        values, duals = softmax(scores[c] + b, problem.labels[c])
        share = problem.shares[c]
        value += float(share @ values)
        pull += share @ duals
        p = probabilities(duals, problem.labels[c])
        sums += share @ p
        products += (p * share[:, None]).T @ p
    return value, pull, np.diag(sums) - products


def _pseudo_solve(hessian: Matrix, right: Vector) -> Vector:
    """A solution orthogonal to equal shifts of all intercepts, which change nothing."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ii->i", hessian), np.finfo(np.float64).tiny))
    with np.errstate(over="ignore", invalid="ignore"):
        solution = scale * np.linalg.lstsq(hessian * scale * scale[:, None], scale * right, rcond=1e-14)[0]
    if not np.isfinite(solution).all():
        return right
    return np.asarray(solution - solution.mean())


def make_feasible(problem: MultinomialProblem, duals: Matrix) -> None:
    """In place: empty rows go to their optimum; where Σ s_i A_i must vanish, probability moves between classes until it does.

    Let d_c = (1/S) Σ s_i A_ic, what class c lacks of its share n_c of the rows, and q_c = n_c − d_c what it holds; the
    d_c sum to 0. A class with d_c < 0 keeps n_c/q_c of its probability in every row; what a row thus frees, m_i, goes to
    the classes with d_c > 0 in the proportions d_c/T, T = Σ of those d_c. Every p stays ≥ 0 and every row sums to 1, and
    since (1/S) Σ s_i m_i = T every class then holds n_c: this is feasible from any p. At the optimum all d_c are 0 and
    nothing moves, so the gap closes.
    """
    k = problem.class_count
    if not problem.intercept:
        empty = problem.rows.empty
        # An empty row never moves W, yet its dual must sit at its optimum for the gap to close.
        duals[empty] = softmax(np.zeros((empty.size, k)), problem.labels[empty]).duals
        _keep_inside(problem, duals)
        return
    lacking = problem.dual_sums(duals)
    held = problem.class_shares - lacking
    keeps_too_much = lacking < 0.0
    freed = np.where(keeps_too_much, -lacking / np.where(keeps_too_much, held, 1.0), 0.0)
    wanted = np.maximum(lacking, 0.0)
    total = float(wanted.sum())
    if total == 0.0:
        _keep_inside(problem, duals)
        return
    for c in problem.chunks():
        labels = problem.labels[c]
        p = probabilities(duals[c], labels)
        p += (p @ freed)[:, None] * (wanted / total) - p * freed
        duals[c] = -p
    _keep_inside(problem, duals)


def _keep_inside(problem: MultinomialProblem, duals: Matrix) -> None:
    for c in problem.chunks():
        keep_inside(duals[c], problem.labels[c])


def _best_on_ray(point: Point, duals: Matrix, tol: float) -> _Candidate:
    """The duals that prove the smallest gap on the ray through feasible ones, which may be scaled in place."""
    problem = point.problem
    dual_weights = problem.weights_of(duals)
    here = _Candidate(duals, evaluate(point, duals, dual_weights))
    if here.certificate.proves(tol):
        return here
    factor = _best_factor(problem, duals, 2.0 * problem.penalty(dual_weights))
    scaled = factor * duals
    _keep_inside(problem, scaled)
    there = _Candidate(scaled, evaluate(point, scaled, factor * dual_weights))
    return there if there.certificate.gap < here.certificate.gap else here


def _best_factor(problem: MultinomialProblem, duals: Matrix, quadratic: float) -> float:
    """About the t that maximizes D(tA), by bisection of its slope; D bounds P* at any t."""
    parts = [entropies(duals[c], problem.labels[c]) for c in problem.chunks()]
    whole = Entropies(np.concatenate([p.missing for p in parts]), np.concatenate([p.others for p in parts]))
    most = float(whole.missing.max())
    if most == 0.0:
        return 1.0
    low, high = 0.0, 1.0 / most
    t = min(1.0, high)
    for _ in range(RAY_STEPS):
        rising = float(problem.shares @ whole.slope(t)) - t * quadratic
        if abs(rising) <= 1e-9 * problem.baseline:
            break
        low, high = (t, high) if rising > 0.0 else (low, t)
        t = 0.5 * (low + high) if low > 0.0 else 0.1 * high
    return t
