"""Newton steps on the softmax model: a Cholesky factor where the Hessian is small, conjugate residuals where it is not.

gradient in W = λ(W − W(A)) , in b = −(1/S) Σ s_i A_i , with A = e_c − softmax(z) at the scores of (W, b)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import NamedTuple

import numpy as np

from dualgap.linalg import cholesky
from dualgap.linalg.floats import MANY_ROUNDINGS
from dualgap.linalg.krylov import conjugate_residuals
from dualgap.linalg.line_search import SLOPE_REDUCTION, bracket, next_trial
from dualgap.linalg.root_finding import MAX_STEPS
from dualgap.losses.multinomial import Matrix, Vector, hessian_product, probabilities, softmax
from dualgap.problem import MultinomialProblem
from dualgap.solvers.base import Answer
from dualgap.solvers.newton import softmax_settings
from dualgap.solvers.newton.row_space import reduced_rows
from dualgap.solvers.newton.settings import SETTINGS
from dualgap.solvers.newton.softmax_hessian import centered, full_hessian, height_of, preconditioner, product
from dualgap.solvers.newton.softmax_settings import SoftmaxSettings


class Point(NamedTuple):
    """Weights and intercepts with everything evaluated at them."""

    weights: Matrix
    intercept: Vector
    scores: Matrix
    """Wᵀx + b for each row."""
    duals: Matrix
    """The duals that the scores suggest."""
    primal: float
    gradient: Matrix
    """One row a column of X, and one more for free intercepts."""


class Direction(NamedTuple):
    """A step in W and, as its last row, in b; and how the scores change along it."""

    step: Matrix
    scores: Matrix


class Trial(NamedTuple):
    """A step size along a direction, with the scores, the mean loss and the duals there."""

    step_size: float
    scores: Matrix
    loss: float
    duals: Matrix


@dataclass(frozen=True)
class SoftmaxNewton:
    """The state of a run: a point on all rows, and how its steps are found."""

    problem: MultinomialProblem
    """The problem as given."""
    reduced: MultinomialProblem
    """The problem in row space, where it has few rows and more columns than rows; else the problem as given."""
    basis: Matrix | None
    """The way back from row space; None for the problem as given."""
    settings: SoftmaxSettings
    tol: float
    point: Point
    is_factored: bool
    """Whether steps come from a factor of the Hessian."""

    @property
    def next_rows(self) -> int:
        return self.problem.rows.count

    def advance(self) -> SoftmaxNewton:
        """The state after a Newton step and its line search."""
        direction, is_factored = self._direction()
        found = self._line_search(direction)
        state = replace(self, is_factored=is_factored)
        if found is None:
            return state
        problem, d, t = self.reduced, self.reduced.rows.dimension, found.step_size
        weights = self.point.weights + t * direction.step[:d]
        intercept = self.point.intercept + t * direction.step[d] if problem.intercept else self.point.intercept
        point = _point(problem, weights, intercept, found.scores, found.loss, found.duals)
        return replace(state, point=point)

    def estimated_gap(self) -> float:
        """The relative gap that the judge is expected to prove, which moves b to its best place first.

        With b as it is the gap is ‖g‖²/(2λ) + Σ|g_b| for the gradients g in W and g_b in b. Moving b changes g by about
        √⟨‖x‖²⟩·‖g_b‖ and leaves no g_b. The smaller of both is expected.
        """
        d, strength = self.reduced.rows.dimension, self.problem.strength
        size, intercept_gradient = sqrt(_squared(self.point.gradient[:d])), self.point.gradient[d:]
        as_it_is = size**2 / (2.0 * strength) + float(np.abs(intercept_gradient).sum())
        moved = size + sqrt(self.problem.mean_squared_norm * _squared(intercept_gradient))
        gap = min(as_it_is, moved**2 / (2.0 * strength))
        return gap / max(self.point.primal, float(np.finfo(np.float64).tiny))

    def estimated_primal(self) -> float:
        """P of the point."""
        return self.point.primal

    def answer(self) -> Answer:
        """The point in the problem's own columns, and its duals."""
        weights = self.point.weights
        if self.basis is not None:
            weights = self.problem.rows.combination(self.basis @ weights)
        return Answer(weights, self.point.intercept, self.point.duals)

    def on_rejected(self, target: float) -> SoftmaxNewton:
        return replace(self, tol=target)

    def _direction(self) -> tuple[Direction, bool]:
        """The Newton step, and whether it came from a factor of the Hessian."""
        problem, point, settings = self.reduced, self.point, self.settings
        height, k = height_of(problem), problem.class_count
        p = problem.each(lambda c: probabilities(point.duals[c], problem.labels[c]))
        can_factor = height * k <= settings.largest_factored_side
        if not self.is_factored:
            found = self._truncated(p, settings.products_before_factor if can_factor else SETTINGS.max_products)
            if found is not None:
                return found, False
        solution = -cholesky.solver(full_hessian(problem, p))(point.gradient.T.ravel())
        step = centered(np.ascontiguousarray(solution.reshape(k, height).T))
        scores = problem.rows.scores(step[: problem.rows.dimension])
        if problem.intercept:
            scores += step[-1]
        return Direction(step, scores), True

    def _truncated(self, p: Matrix, max_products: int) -> Direction | None:
        """A truncated Newton step from products with the Hessian; None where that took too many products and a factor can be made."""
        problem, settings, shape = self.reduced, self.settings, self.point.gradient.shape
        right = -centered(self.point.gradient)
        if not right.any():
            return Direction(right, np.zeros_like(self.point.scores))
        inverse = preconditioner(problem, p, settings)
        smallest = sqrt(self.tol * problem.strength * self.point.primal)
        if problem.intercept:
            # The estimated gap multiplies the gradient in b by this factor.
            smallest /= max(1.0, sqrt(self.problem.mean_squared_norm))
        target = max(settings.loosest_solve * sqrt(_squared(right)), smallest)
        found = conjugate_residuals(
            lambda step, scores: product(problem, p, step.reshape(shape), scores.reshape(p.shape)).ravel(),
            right.ravel(),
            target,
            max_products,
            p.size,
            lambda residual: inverse(residual.reshape(shape)).ravel(),
        )
        if found.residual > target and max_products == settings.products_before_factor:
            return None
        return Direction(found.solution.reshape(shape), found.by_products.reshape(p.shape))

    def _line_search(self, direction: Direction) -> Trial | None:
        """A step size at which the slope of P is a small part of what it was; None where P does not decrease."""
        problem, point = self.reduced, self.point
        slope = float(np.vdot(point.gradient, direction.step))
        if not slope < 0.0:
            return None
        d = problem.rows.dimension
        # The penalty at step size t is penalty + t·linear + t²·quadratic/2.
        penalty = problem.penalty_value(point.weights)
        linear = problem.strength * float(np.vdot(point.weights, direction.step[:d]))
        quadratic = problem.strength * _squared(direction.step[:d])
        t, known = 1.0, bracket(slope)
        for _ in range(MAX_STEPS):
            trial = self._trial(direction, t)
            slope_here = linear + t * quadratic - _inner(problem, trial.duals.__getitem__, direction.scores)
            primal = trial.loss + penalty + t * linear + 0.5 * t * t * quadratic
            is_flat = abs(slope_here) <= SLOPE_REDUCTION * abs(slope)
            if is_flat and primal <= (1.0 + MANY_ROUNDINGS) * point.primal:
                return trial
            derivative = quadratic + self._second_derivative(direction, trial.duals)
            known, t = next_trial(known, t, slope_here, derivative, True)
            if isnan(t):
                break
        # No step size with a small slope was found; P decreases up to the last one with a negative slope.
        return self._trial(direction, known.low) if known.low > 0.0 else None

    def _trial(self, direction: Direction, step_size: float) -> Trial:
        scores = self.point.scores + step_size * direction.scores
        return Trial(step_size, scores, *_loss_and_duals(self.reduced, scores))

    def _second_derivative(self, direction: Direction, duals: Matrix) -> float:
        """The second derivative of the mean loss along a direction, at given duals."""
        labels = self.reduced.labels

        def products(c: slice) -> Matrix:
            return hessian_product(probabilities(duals[c], labels[c]), direction.scores[c])

        return _inner(self.reduced, products, direction.scores)


def start(problem: MultinomialProblem, warm: Answer | None, tol: float) -> SoftmaxNewton:
    """The first state: at a given answer, unless zero weights are better."""
    settings = softmax_settings.SETTINGS
    reduced, basis = problem, None
    if problem.rows.count * problem.class_count <= settings.largest_factored_side:
        found = reduced_rows(problem.rows)
        if found is not None:
            reduced, basis = problem.with_rows(found.rows), found.basis
    point = None
    if warm is not None:
        given = warm.weights if basis is None else basis.T @ problem.rows.scores(warm.weights)
        # A part common to all classes only costs penalty, and no Newton step changes it.
        point = _evaluate(reduced, centered(given), np.asarray(warm.intercept, dtype=np.float64))
    if point is None or not point.primal <= problem.baseline:
        point = _evaluate(reduced, np.zeros(reduced.weights_shape), problem.constant)
    is_factored = height_of(reduced) * reduced.class_count <= settings.always_factored_side
    return SoftmaxNewton(problem, reduced, basis, settings, tol, point, is_factored)


def describe_steps(problem: MultinomialProblem) -> str:
    """The Hessian of a problem in words, and whether its steps can come from a factor."""
    side = problem.class_count * min(problem.rows.dimension, problem.rows.count)
    is_small = side <= softmax_settings.SETTINGS.largest_factored_side
    return f"a Hessian of side {side}, {'small enough to factor' if is_small else 'used in products only'}"


def _evaluate(problem: MultinomialProblem, weights: Matrix, intercept: Vector) -> Point:
    """The point at given weights and intercepts."""
    scores = problem.scores(weights, intercept)
    return _point(problem, weights, intercept, scores, *_loss_and_duals(problem, scores))


def _loss_and_duals(problem: MultinomialProblem, scores: Matrix) -> tuple[float, Matrix]:
    """The mean loss at given scores, and the duals that the scores suggest."""
    duals = np.empty_like(scores)

    def chunk_loss(c: slice) -> float:
        values, duals[c] = softmax(scores[c], problem.labels[c])
        return float(problem.normalized_weights[c] @ values)

    return problem.total_of(chunk_loss), duals


def _point(
    problem: MultinomialProblem, weights: Matrix, intercept: Vector, scores: Matrix, loss: float, duals: Matrix
) -> Point:
    gradient = problem.strength * (weights - problem.weights_of(duals))
    if problem.intercept:
        gradient = np.vstack([gradient, -problem.dual_sums(duals)])
    return Point(weights, intercept, scores, duals, loss + problem.penalty_value(weights), gradient)


def _inner(problem: MultinomialProblem, one: Callable[[slice], Matrix], other: Matrix) -> float:
    """(1/S) Σ s_i ⟨u_i, v_i⟩, with u computed slice by slice."""
    return float(
        problem.total_of(lambda c: float(problem.normalized_weights[c] @ np.einsum("ij,ij->i", one(c), other[c])))
    )


def _squared(step: Matrix) -> float:
    return float(np.vdot(step, step))
