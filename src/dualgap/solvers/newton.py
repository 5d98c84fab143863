"""Newton: second-order steps on P with an exact line search, and a path of smoothed losses where the loss has a kink.

A loss with a kink is replaced by loss.smoothed(γ), with γ falling as its minimizer is neared. The duals that the smoothed
loss suggests are feasible for the problem's own loss, so every step brings duals along:

    gradient = λ(w − w(α)) ,   Hessian = λ·I + (1/S) Σ s_i φ″_i x_i x_iᵀ ,   α = −φ′(z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dualgap.memory import available_bytes
from dualgap.minimize import slope_root
from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Random, Solver, Vector, first_intercept
from dualgap.solvers.reduction import lowered, reduced, restored

# γ falls by this much once the gradient's share of the gap is below SETTLED.
FALL = 0.2
SETTLED = 0.3
# γ never falls below this part of what a constant costs: the gap it leaves is far below any tol.
SMALLEST_GAMMA = 1e-12


class State(NamedTuple):
    """The iterate with its scores ⟨x, w⟩, and the slopes there of the loss smoothed by γ (0 for a smooth loss)."""

    weights: Vector
    intercept: float
    scores: Vector
    gamma: float
    duals: Vector
    gradient: Vector
    averages: tuple[Vector, Vector, int] | None
    inner: Problem
    """The problem the weights above are of: with fewer columns, where there are more of them than rows."""
    back: Vector | None


@dataclass(frozen=True, kw_only=True)
class Newton(Solver):
    """Newton's method with an exact line search; continuation in γ for losses with kinks. One step is one epoch."""

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "second-order steps on P, along a path of smoothed losses where there is a kink"
    suggests_its_duals: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        size = min(problem.rows.dimension, problem.rows.count)
        # The matrix, its scaled copy and its factor; where rows are few, their products and eigenvectors.
        needed, half = 3 * 8 * size**2, available_bytes() // 2
        if needed > half:
            raise ValueError(
                f"newton needs {needed / 2**30:.1f} GiB for a Hessian of {size} columns, "
                f"more than half of the free memory ({half / 2**30:.1f} GiB); use sdca"
            )

    def prepare(self, problem: Problem) -> None:
        """Nothing is compiled: a step is products with the rows and a Cholesky factorization."""

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None) -> State:
        inner, back = reduced(problem)
        if warm is None:
            weights, intercept = np.zeros(inner.rows.dimension), first_intercept(problem)
        else:
            weights, intercept = lowered(problem, back, warm.weights).copy(), warm.intercept
        gamma = 0.0
        if problem.loss.has_kink:
            # Wide enough that the typical row of the start lies where the smoothed loss is curved.
            gamma = 2.0 * problem.baseline / problem.loss.lipschitz**2 or 1.0
        scores, nothing = inner.rows.scores(weights), np.empty(0)
        return _derived(State(weights, intercept, scores, gamma, nothing, nothing, None, inner, back))

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        problem = state.inner
        if state.gamma and _is_settled(state):
            state = _derived(state._replace(gamma=max(FALL * state.gamma, SMALLEST_GAMMA * problem.baseline)))
        smooth = _smoothed(problem, state.gamma)
        direction, shift = _direction(smooth, state)
        along = problem.rows.scores(direction)
        length = _length(smooth, state, direction, along, shift)
        for c in problem.chunks():
            _move(smooth, state, c, length * along[c], length * shift)
        weights = state.weights + length * direction
        gradient = _gradient(problem, weights, state.duals)
        state = state._replace(weights=weights, intercept=state.intercept + length * shift, gradient=gradient)
        if state.averages is not None:
            weight_sums, dual_sums, count = state.averages
            state = state._replace(averages=(weight_sums + state.weights, dual_sums + state.duals, count + 1))
        return state

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(restored(problem, state.back, state.weights), state.intercept, state.duals)

    def begin_average(self, problem: Problem, state: State) -> State:
        return state._replace(averages=(np.zeros(state.weights.size), np.zeros(problem.rows.count), 0))

    def average(self, problem: Problem, state: State) -> Answer:
        if state.averages is None or state.averages[2] == 0:
            return self.answer(problem, state)
        weight_sums, dual_sums, count = state.averages
        weights = restored(problem, state.back, weight_sums / count)
        return Answer(weights, state.intercept, dual_sums / count)


def _smoothed(problem: Problem, gamma: float) -> Problem:
    """The problem with its loss smoothed by γ; itself where γ = 0."""
    return problem.with_loss(problem.loss.smoothed(gamma)) if gamma else problem


def _gradient(problem: Problem, weights: Vector, duals: Vector) -> Vector:
    return problem.strength * (weights - problem.weights_of(duals))


def _derived(state: State) -> State:
    """The state with the slopes of its γ, at the best b for it."""
    smooth = _smoothed(state.inner, state.gamma)
    loss, labels, scores = smooth.loss, smooth.labels, state.scores
    intercept = smooth.best_intercept(scores, state.intercept) if smooth.intercept else 0.0
    duals = smooth.each(lambda c: loss.dual_candidate(scores[c] + intercept, labels[c]))
    return state._replace(intercept=intercept, duals=duals, gradient=_gradient(smooth, state.weights, duals))


def _is_settled(state: State) -> bool:
    """Whether the gradient's part of the gap is small beside what the smoothing costs."""
    problem, gradient, weights = state.inner, state.gradient, state.weights
    from_gradient = float(gradient @ gradient) / (2.0 * problem.strength)
    loss, labels, scores, b = problem.loss, problem.labels, state.scores, state.intercept
    primal = problem.mean_of(lambda c: loss.value(scores[c] + b, labels[c])) + problem.penalty(weights)
    gap = primal - problem.dual(state.duals, weights - gradient / problem.strength)
    if problem.intercept:
        # Duals that do not sum to zero are shrunk until they do, at about this price.
        from_gradient += abs(problem.mean(state.duals)) * (1.0 + abs(b))
    return from_gradient <= SETTLED * max(gap, 0.0)


def _direction(problem: Problem, state: State) -> tuple[Vector, float]:
    """The Newton step in the weights and in the intercept, which is one more column that nothing penalizes."""
    loss, labels, scores, b = problem.loss, problem.labels, state.scores, state.intercept
    bends = problem.each(lambda c: loss.curvature(scores[c] + b, labels[c]))
    # Shares rather than weights: a common factor of all weights, however large, then changes no number.
    bends *= 1.0 / problem.rows.count if problem.sample_weight is None else problem.sample_weight / problem.total_weight
    hessian, cross = problem.rows.weighted_gram(bends)
    np.einsum("ii->i", hessian)[:] += problem.strength
    total = float(bends.sum())
    if not problem.intercept or total == 0.0:
        return -_solve(hessian, state.gradient), 0.0
    bordered = np.block([[hessian, cross[:, None]], [cross, total]])
    pull = -problem.mean(state.duals)
    step = -_solve(bordered, np.append(state.gradient, pull))
    return step[:-1], float(step[-1])


def _pieces(
    problem: Problem, state: State, c: slice, along: Vector, shift: float
) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """After a move of some rows: their slopes, their curvatures, and which stayed on the piece of φ they were on."""
    loss, labels = problem.loss, problem.labels[c]
    before = state.scores[c] + state.intercept
    after = before + along + shift
    duals, bends = loss.dual_candidate(after, labels), loss.curvature(after, labels)
    curved: NDArray[np.bool_] = np.where(bends > 0.0, duals * state.duals[c] > 0.0, duals == state.duals[c])
    return duals, bends, curved & (bends == loss.curvature(before, labels))


def _move(problem: Problem, state: State, c: slice, along: Vector, shift: float) -> None:
    """Move some rows' scores, and their duals with them, in place."""
    duals, bends, stayed = _pieces(problem, state, c, along, shift)
    if state.gamma:
        # A row that stays on a curved piece has its slope without the cancellation in (1 − m)/γ, large for small γ.
        duals = np.where(stayed & (bends > 0.0), state.duals[c] - bends * (along + shift), duals)
        duals = problem.loss.clip(duals, problem.labels[c])
    state.scores[c] += along
    state.duals[c] = duals


def _length(problem: Problem, state: State, direction: Vector, along: Vector, shift: float) -> float:
    """The t ≥ 0 that minimizes P(w + t·direction), on stored scores; 1 where no row leaves its quadratic piece."""
    if state.gamma and all(_pieces(problem, state, c, along[c], shift)[2].all() for c in problem.chunks()):
        return 1.0
    loss, labels, scores, b = problem.loss, problem.labels, state.scores, state.intercept
    first, second = float(state.weights @ direction) * problem.strength, float(direction @ direction) * problem.strength

    def slope(t: float) -> tuple[float, float]:
        def pulls(c: slice) -> Vector:
            move = along[c] + shift
            return move * loss.dual_candidate(scores[c] + b + t * move, labels[c])

        pull = problem.mean_of(pulls)
        return first + t * second - pull, 1e3 * (abs(first) + abs(t * second) + abs(pull))

    def bend(t: float) -> float:
        def bends(c: slice) -> Vector:
            move = along[c] + shift
            return move * move * loss.curvature(scores[c] + b + t * move, labels[c])

        return second + problem.mean_of(bends)

    return max(slope_root(slope, bend, 1.0), 0.0)


def _solve(matrix: NDArray[Any], right: Vector) -> Vector:
    """matrix⁻¹·right for a positive definite matrix, scaled to unit diagonal; jitter where rounding spoils that."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("ii->i", matrix), np.finfo(np.float64).tiny))
    matrix = matrix * scale * scale[:, None]
    jitter = 0.0
    while True:
        try:
            factor = cho_factor(matrix + jitter * np.eye(right.size), lower=True, check_finite=False)
        except LinAlgError:
            jitter = max(10.0 * jitter, 1e-15)
            continue
        solution: Vector = scale * cho_solve(factor, scale * right, check_finite=False)
        return solution
