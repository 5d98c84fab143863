"""The best intercepts of the softmax model for given scores: Newton's method in as many numbers as there are classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dualgap.linalg.floats import HALF_DIGITS, TINY, UNIT
from dualgap.linalg.root_finding import MAX_STEPS
from dualgap.losses.multinomial import Matrix, Vector, probabilities, softmax

if TYPE_CHECKING:
    from dualgap.problem.softmax import MultinomialProblem


class Expansion(NamedTuple):
    """The mean loss at some intercepts, minus its gradient, and its Hessian in them."""

    value: float
    negative_gradient: Vector
    hessian: Matrix


def best_intercepts(problem: MultinomialProblem, scores: Matrix, start: Any) -> Vector:
    """argmin over b of P(W, b), from the scores at b = 0 alone; the mean of b is zero."""
    given = np.broadcast_to(np.asarray(start, dtype=np.float64), (problem.class_count,))
    b: Vector = given - given.mean() if np.isfinite(given).all() else problem.constant
    here = _expand(problem, scores, b)
    last_decrement = np.inf
    for _ in range(MAX_STEPS):
        step = _pseudo_solve(here.hessian, here.negative_gradient)
        decrement = float(step @ here.negative_gradient)
        if decrement <= UNIT * problem.baseline:
            return b + step
        # Newton's method converges quadratically from here on; P has no digits left to test a step by.
        is_near = decrement <= HALF_DIGITS * problem.baseline
        if is_near and decrement >= last_decrement:
            return b
        last_decrement = decrement if is_near else np.inf
        size, there = 1.0, _expand(problem, scores, b + step)
        while not (is_near or there.value < here.value):
            size *= 0.5
            if size < HALF_DIGITS:
                return b
            there = _expand(problem, scores, b + size * step)
        b, here = b + size * step, there
    return b


def _expand(problem: MultinomialProblem, scores: Matrix, b: Vector) -> Expansion:
    k = problem.class_count

    def chunk_sums(c: slice) -> Matrix:
        """One matrix with all sums of a slice: products of probabilities, their sums, the gradient, the loss."""
        values, duals = softmax(scores[c] + b, problem.labels[c])
        weights = problem.normalized_weights[c]
        p = probabilities(duals, problem.labels[c])
        out = np.zeros((k + 3, k))
        out[:k] = (p * weights[:, None]).T @ p
        out[k], out[k + 1], out[k + 2, 0] = weights @ p, weights @ duals, weights @ values
        return out

    sums = problem.total_of(chunk_sums)
    return Expansion(float(sums[k + 2, 0]), sums[k + 1], np.diag(sums[k]) - sums[:k])


def _pseudo_solve(hessian: Matrix, right: Vector) -> Vector:
    """A solution orthogonal to equal shifts of all intercepts, which change nothing."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ii->i", hessian), TINY))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = hessian * scale * scale[:, None]
        solution = scale * np.linalg.lstsq(scaled, scale * right, rcond=None)[0]
    if not np.isfinite(solution).all():
        return right
    return np.asarray(solution - solution.mean())
