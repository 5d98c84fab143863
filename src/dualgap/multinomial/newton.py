"""Newton's method for the softmax model: a Cholesky factor where the Hessian is small, conjugate gradients where it is not.

gradient in W = λ(W − W(A)) , in b = −(1/S) Σ s_i A_i , with A = e_c − softmax(z) at the scores of (W, b)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dualgap.linalg import cholesky
from dualgap.linalg.root_finding import slope_root
from dualgap.losses.multinomial import Matrix, Vector, bends, probabilities, softmax
from dualgap.multinomial import hessian
from dualgap.multinomial.problem import MultinomialProblem
from dualgap.solvers.base import Answer, Random, Solver
from dualgap.solvers.newton.row_space import row_space

# Up to this side the Hessian is built and factored where conjugate gradients need more than so many steps, and up to the
# smaller one always: the cost grows with the square of the side for every row.
LARGEST_SIDE, PATIENCE = 1100, 60
ALWAYS_FACTORED = 100
# Conjugate gradients stop at this part of the gradient, or where what is left of it is this part of what tol asks for.
FORCING, TARGET_SHARE, CONJUGATE_STEPS = 0.1, 0.1, 250
# A step is long enough where the slope of P along it has fallen to this part of what it was.
SLOPE_LEFT = 0.3
# A step that raises P by more than this part of it, which rounding may do, is halved, at most so many times; then none is taken.
PRIMAL_ROUNDING, HALVINGS = 1e-12, 60


class State(NamedTuple):
    """The iterate, its scores with b in them, the duals they suggest, and P and its gradient there."""

    weights: Matrix
    intercept: Vector
    scores: Matrix
    duals: Matrix
    primal: float
    gradient: Matrix
    """One row a column of X, and one more for free intercepts."""
    tol: float
    factored: bool
    """Whether steps come from a factor of the Hessian."""
    inner: MultinomialProblem
    """The problem the weights above are of: with fewer columns, where there are more of them than rows."""
    back: Vector | None


@dataclass(frozen=True, kw_only=True)
class MultinomialNewton(Solver):
    """Newton's method with a line search; one step is one epoch."""

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "second-order steps on P of the softmax model"
    suggests_its_duals: ClassVar[bool] = True
    keeps_its_state: ClassVar[bool] = True

    def prepare(self, problem: Any) -> None:
        """Nothing is compiled: a step is products with the rows."""

    def batch(self, problem: Any) -> int:
        return int(problem.rows.count)

    def start(self, problem: Any, warm: Answer | None, tol: float = 0.0) -> State:
        inner, back = _reduced(problem)
        factored = hessian.height_of(inner) * inner.class_count <= ALWAYS_FACTORED

        def state_at(weights: Matrix, intercept: Vector) -> State:
            return _at(inner, back, weights, intercept, inner.scores(weights) + intercept, tol, factored)

        if warm is not None:
            # What all classes have in common only costs penalty, and no Newton step changes it.
            weights = hessian.centered(_lowered(problem, back, warm.weights))
            state = state_at(weights, np.asarray(warm.intercept, dtype=np.float64))
            # From a start that is worse than zero weights steps are more, and may lead nowhere.
            if state.primal <= problem.baseline:
                return state
        return state_at(np.zeros((inner.rows.dimension, problem.class_count)), problem.constant)

    def on_rejected(self, problem: Any, state: State, target: float) -> State:
        return state._replace(tol=target)

    def plan(self, problem: Any, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Any, state: State, steps: Any) -> State:
        inner = state.inner
        direction, factored = _direction(inner, state)
        d = inner.rows.dimension
        along = inner.scores(direction[:d])
        shift = direction[d] if inner.intercept else np.zeros(inner.class_count)
        along += shift
        length = _length(inner, state, direction, along)
        for _ in range(HALVINGS):
            weights, intercept = state.weights + length * direction[:d], state.intercept + length * shift
            scores = state.scores + length * along
            following = _at(inner, state.back, weights, intercept, scores, state.tol, factored)
            if following.primal <= (1.0 + PRIMAL_ROUNDING) * state.primal:
                return following
            length *= 0.5
        return state._replace(factored=factored)

    def estimated_gap(self, problem: Any, state: State) -> float | None:
        d = state.inner.rows.dimension
        gap = _squared(state.gradient[:d]) / (2.0 * problem.strength) + float(np.abs(state.gradient[d:]).sum())
        return float(gap / max(state.primal, np.finfo(np.float64).tiny))

    def answer(self, problem: Any, state: State) -> Answer:
        intercept: Any = state.intercept
        # The judge finds the duals that the scores suggest by itself, at the best b.
        return Answer(_restored(problem, state.back, state.weights), intercept, None)

    def begin_average(self, problem: Any, state: State) -> State:
        raise NotImplementedError("the softmax model has no averaged output")

    def average(self, problem: Any, state: State) -> Answer:
        raise NotImplementedError("the softmax model has no averaged output")


def _reduced(problem: MultinomialProblem) -> tuple[MultinomialProblem, Vector | None]:
    """The problem in fewer columns where the rows are few enough for a factor of the Hessian; else as it is."""
    if problem.rows.count * problem.class_count > LARGEST_SIDE:
        return problem, None
    given: Any = problem
    space = row_space(given, needs_eigenvalues=False)
    inner: Any = space.reduced
    return inner, space.basis


def _restored(problem: MultinomialProblem, back: Vector | None, weights: Matrix) -> Matrix:
    """The weights in the problem's own columns."""
    return weights if back is None else problem.combination(back @ weights)


def _lowered(problem: MultinomialProblem, back: Vector | None, weights: Matrix) -> Matrix:
    """The weights in the reduced columns: the part of them that the rows can see."""
    return weights if back is None else back.T @ problem.scores(weights)


def _at(
    problem: MultinomialProblem,
    back: Vector | None,
    weights: Matrix,
    intercept: Vector,
    scores: Matrix,
    tol: float,
    factored: bool,
) -> State:
    """The state at given weights, intercepts and the scores they give."""
    duals, value = np.empty_like(scores), 0.0
    for c in problem.chunks():
        values, duals[c] = softmax(scores[c], problem.labels[c])
        value += float(problem.shares[c] @ values)
    gradient = problem.strength * (weights - problem.weights_of(duals))
    if problem.intercept:
        gradient = np.vstack([gradient, -problem.dual_sums(duals)])
    primal = value + problem.penalty(weights)
    return State(weights, intercept, scores, duals, primal, gradient, tol, factored, problem, back)


def _direction(problem: MultinomialProblem, state: State) -> tuple[Matrix, bool]:
    """The Newton step in W and, as its last row, in b; and whether it came from a factor of the Hessian."""
    height, k = hessian.height_of(problem), problem.class_count
    can_factor = height * k <= LARGEST_SIDE
    if not state.factored:
        step = _conjugate_gradients(problem, state, PATIENCE if can_factor else CONJUGATE_STEPS)
        if step is not None:
            return step, False
    whole = -cholesky.solver(hessian.full(problem, state.duals))(state.gradient.T.ravel())
    return hessian.centered(np.ascontiguousarray(whole.reshape(k, height).T)), True


def _conjugate_gradients(problem: MultinomialProblem, state: State, most: int) -> Matrix | None:
    """An approximate Newton step from products with the Hessian; None where PATIENCE was not enough for one."""
    approximate = hessian.preconditioner(problem, state.duals)
    p = np.empty_like(state.duals)
    for c in problem.chunks():
        p[c] = probabilities(state.duals[c], problem.labels[c])
    residual = -hessian.centered(state.gradient)
    wanted = TARGET_SHARE * state.tol * 2.0 * problem.strength * state.primal
    enough = max(FORCING**2 * _squared(residual), wanted)
    step = np.zeros_like(residual)
    search = approximate(residual)
    strength = float(np.vdot(residual, search))
    for _ in range(most):
        if _squared(residual) <= enough:
            return step
        image = hessian.product(problem, p, search)
        curvature = float(np.vdot(search, image))
        if not (curvature > 0.0 and strength > 0.0):  # rounding has left nothing of one of them
            break
        length = strength / curvature
        step += length * search
        residual -= length * image
        new = approximate(residual)
        before, strength = strength, float(np.vdot(residual, new))
        search = new + (strength / before) * search
    # Any step of conjugate gradients leads down; only where there is a better way is it not taken.
    return None if most == PATIENCE else step


def _squared(move: Matrix) -> float:
    return float(np.vdot(move, move))


def _length(problem: MultinomialProblem, state: State, direction: Matrix, along: Matrix) -> float:
    """A t ≥ 0 at which the slope of P(W + t·direction) is nearly gone; 1 where it is good enough."""
    d = problem.rows.dimension
    first = problem.strength * float(np.vdot(state.weights, direction[:d]))
    second = problem.strength * _squared(direction[:d])
    start = float(np.vdot(state.gradient, direction))
    # Where the slope at 0 is down to rounding, the step is as good as any that could be found.
    size = SLOPE_LEFT * abs(start) / float(np.finfo(np.float64).eps)

    def slope(t: float) -> tuple[float, float]:
        pull = 0.0
        for c in problem.chunks():
            duals = softmax(state.scores[c] + t * along[c], problem.labels[c]).duals
            pull += float(problem.shares[c] @ np.einsum("ij,ij->i", duals, along[c]))
        return first + t * second - pull, size

    def bend(t: float) -> float:
        total = second
        for c in problem.chunks():
            duals = softmax(state.scores[c] + t * along[c], problem.labels[c]).duals
            moved = bends(duals, problem.labels[c], along[c])
            total += float(problem.shares[c] @ np.einsum("ij,ij->i", moved, along[c]))
        return total

    return max(slope_root(slope, bend, 1.0), 0.0)
