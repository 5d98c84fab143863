"""The judge of the softmax model: from weights, intercepts and duals a primal value, a dual value and the gap between them.

It shares no code with any solver or kernel. Every feasible A bounds P* from below, so the judge may choose: the duals the
solver carried or those its scores suggest, scaled along their ray, whichever gives the larger D.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate import ROUNDING, Certificate, Judgement
from dualgap.losses.multinomial import Entropies, Matrix, Vector, clipped, entropies, probabilities, softmax
from dualgap.multinomial.problem import MultinomialProblem

# Newton steps for the best intercepts; below this decrement one more full step is exact to rounding.
INTERCEPT_STEPS, LAST_DECREMENT = 60, 1e-12
# Steps of the search along a ray; its result only tightens a bound that holds anyway.
RAY_STEPS = 40


class _Bound(NamedTuple):
    """A feasible A, its D, and the size of what was summed for it."""

    value: float
    size: float
    duals: Matrix


def certify(
    problem: MultinomialProblem,
    weights: Matrix,
    intercept: Any = 0.0,
    duals: Matrix | None = None,
    enough: float = 0.0,
) -> Judgement:
    """Judge an answer. The duals of the judgement are feasible, and with free intercepts b is the best for W.

    Once the carried duals show a relative gap of `enough`, no others are looked at.
    """
    scores = problem.scores(weights)
    b = np.zeros(problem.class_count)
    if problem.intercept:
        b = best_intercepts(problem, scores, np.broadcast_to(np.asarray(intercept, dtype=np.float64), b.shape))
        scores += b
    primal, size, most = _primal(problem, scores, weights)
    best: _Bound | None = None
    for candidate in (duals, None):
        if candidate is None:
            if best is not None and _certificate(problem, primal, best.value, size + best.size).relative_gap <= enough:
                break
            feasible = problem.suggested_duals(scores)
        else:
            feasible = np.empty_like(scores)
            for c in problem.chunks():
                feasible[c] = clipped(candidate[c], problem.labels[c])
        make_feasible(problem, feasible)
        bound = _best_on_ray(problem, feasible)
        if best is None or bound.value > best.value:
            best = bound
    assert best is not None
    certificate = _certificate(problem, primal, best.value, size + best.size, most)
    given: Any = b
    return Judgement(certificate, weights, given, best.duals, scores)


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


def _primal(problem: MultinomialProblem, scores: Matrix, weights: Matrix) -> tuple[float, float, float]:
    """P, and how far a relative error in the scores, and in the products they are summed from, moves it."""
    value, moved, longest = 0.0, 0.0, 0.0
    for c in problem.chunks():
        labels, share = problem.labels[c], problem.shares[c]
        values, duals = softmax(scores[c], labels)
        value += float(share @ values)
        pulls = np.abs(duals)
        differences = np.abs(scores[c]) + np.abs(scores[c][np.arange(labels.size), labels])[:, None]
        moved += float(share @ np.einsum("ij,ij->i", pulls, differences))
        longest += float(share @ (pulls.sum(axis=1) * np.sqrt(problem.rows.squared_norms[c])))
    primal = value + problem.penalty(weights)
    return primal, abs(primal) + moved, longest * float(np.linalg.norm(weights))


def _certificate(
    problem: MultinomialProblem, primal: float, dual: float, size: float, most: float = 0.0
) -> Certificate:
    floor = ROUNDING * size
    return Certificate(primal, dual, floor, floor + ROUNDING * most, 1e-12 * problem.baseline)


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
        return
    lacking = problem.dual_sums(duals)
    held = problem.class_shares - lacking
    keeps_too_much = lacking < 0.0
    freed = np.where(keeps_too_much, -lacking / np.where(keeps_too_much, held, 1.0), 0.0)
    wanted = np.maximum(lacking, 0.0)
    total = float(wanted.sum())
    if total == 0.0:
        return
    for c in problem.chunks():
        each, labels = np.arange(c.stop - c.start), problem.labels[c]
        p = probabilities(duals[c], labels)
        p += (p @ freed)[:, None] * (wanted / total) - p * freed
        p[each, labels] = 0.0
        own = p.sum(axis=1)
        duals[c] = -p
        duals[c][each, labels] = own


def _best_on_ray(problem: MultinomialProblem, duals: Matrix) -> _Bound:
    """The best D on the ray through feasible duals, which are scaled in place."""
    parts = [entropies(duals[c], problem.labels[c]) for c in problem.chunks()]
    whole = Entropies(np.concatenate([p.missing for p in parts]), np.concatenate([p.others for p in parts]))
    quadratic = 2.0 * problem.penalty(problem.weights_of(duals))

    def value(t: float) -> float:
        return float(problem.shares @ whole.at(t)) - 0.5 * t * t * quadratic

    def slope(t: float) -> float:
        return float(problem.shares @ whole.slope(t)) - t * quadratic

    most = float(whole.missing.max())
    if most == 0.0:
        return _Bound(0.0, 0.0, duals)  # zero duals are always feasible and give D = 0
    here, factor = value(1.0), 1.0
    low, high = 0.0, 1.0 / most
    t = min(1.0, high)
    for _ in range(RAY_STEPS):
        rising = slope(t)
        if abs(rising) <= 1e-9 * problem.baseline:
            break
        low, high = (t, high) if rising > 0.0 else (low, t)
        t = 0.5 * (low + high) if low > 0.0 else 0.1 * high
    better = value(t)
    if not here >= better - ROUNDING * (abs(here) + quadratic):
        here, factor = better, t
        duals *= factor
    size = float(problem.shares @ np.abs(whole.at(factor))) + factor * factor * quadratic
    return _Bound(here, size, duals)
