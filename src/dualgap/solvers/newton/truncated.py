"""Truncated Newton steps for smooth losses with many columns: directions by conjugate residuals on products with the Hessian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from dualgap.linalg.krylov import Operator, Solution, conjugate_residuals
from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton import products
from dualgap.solvers.newton.line_search import Direction, line_search
from dualgap.solvers.newton.point import Point, evaluate, evaluate_from_scores, gradient_gap
from dualgap.solvers.newton.preconditioner import sample_preconditioner
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, all_rows


@dataclass(frozen=True)
class Preconditioner:
    """How solves are preconditioned: from how many rows, and by the last operator while it is good enough."""

    rows: int
    """Rows in the sample; 0 for no preconditioner."""
    operator: Operator | None = None


@dataclass(frozen=True)
class Truncated:
    """The state of a run: a point on all rows, P there, and how solves are preconditioned."""

    settings: Settings
    tol: float
    whole: Subproblem
    point: Point
    primal: float
    preconditioner: Preconditioner
    first_norm: float
    """‖gradient‖ where the run began."""

    @property
    def next_rows(self) -> int:
        return self.whole.count

    def advance(self) -> Truncated:
        """The state after a truncated Newton step."""
        sub, point = self.whole, self.point
        gradient: Vector = np.append(point.gradient, point.gradient_intercept) if sub.intercept else point.gradient
        if not gradient.any():
            return self
        found, preconditioner = self._solve(gradient)
        step, shift = (found.solution[:-1], float(found.solution[-1])) if sub.intercept else (found.solution, 0.0)
        direction = Direction(step, shift, self._score_direction(found), float(gradient @ found.solution))
        after = line_search(sub, point, direction, is_rough=True, combine=products.combination)
        return replace(self, point=after, primal=_primal(sub, after), preconditioner=preconditioner)

    def estimated_gap(self) -> float:
        """The relative gap of the point's duals."""
        point = self.point
        gap = gradient_gap(self.whole, point.gradient, point.gradient_intercept, point.intercept)
        return gap / self.primal if self.primal > 0.0 else 0.0

    def answer(self) -> Answer:
        return Answer(self.point.weights, self.point.intercept, self.point.duals)

    def on_rejected(self, target: float) -> Truncated:
        return replace(self, tol=target)

    def _solve(self, gradient: Vector) -> tuple[Solution, Preconditioner]:
        """Newton's direction, solved as far as the gradient is worth, and the preconditioner for the next solve."""
        sub, settings, used = self.whole, self.settings, self.preconditioner
        hessian_weights = sub.normalized_weights * self.point.second_derivatives
        operator = used.operator
        if used.rows and operator is None:
            operator = sample_preconditioner(sub.rows, hessian_weights, sub.strength, used.rows, sub.intercept)
        norm = float(np.linalg.norm(gradient))
        # The ‖gradient‖ at which the relative gap is part_of_tol·tol; a solve need not go below it.
        smallest = sqrt(2.0 * sub.strength * settings.part_of_tol * self.tol * self.primal)
        forcing = max(min(settings.loosest_solve, sqrt(norm / self.first_norm)) * norm, smallest)
        matrix = products.hessian(sub.rows, hessian_weights, sub.strength, sub.intercept)
        found = conjugate_residuals(matrix, -gradient, forcing, settings.max_products, sub.count, operator)
        if found.products > settings.many_products:
            return found, Preconditioner(min(settings.preconditioner_growth * used.rows, sub.count))
        # A matrix of all rows costs as much as many products.
        few = settings.few_products if used.rows < sub.count else settings.many_products
        return found, Preconditioner(used.rows, operator if found.products <= few else None)

    def _score_direction(self, found: Solution) -> Vector:
        """How the scores change along a solution; products leave out rows of weight zero."""
        sub, step = self.whole, found.solution
        if np.all(sub.normalized_weights * self.point.second_derivatives):
            return found.by_products
        return products.scores(sub.rows, step[:-1]) + step[-1] if sub.intercept else products.scores(sub.rows, step)


def start(problem: Problem, warm: Answer | None, tol: float, settings: Settings) -> Truncated:
    """The first state: at a given answer, unless zero weights are better."""
    whole, rows = all_rows(problem), problem.rows
    point = None
    if warm is not None:
        point = evaluate(whole, warm.weights.copy(), warm.intercept, 0.0)
        if not _primal(whole, point) <= primal_at_cold_start(problem):
            point = None
    if point is None:
        zeros: Vector = np.zeros(rows.dimension)
        point = evaluate_from_scores(whole, zeros, first_intercept(problem), np.zeros(rows.count), 0.0)
    sampled = settings.preconditioner_rows_per_column * rows.dimension
    is_worthwhile = settings.preconditioner_share * rows.dimension**2 <= rows.stored and rows.count >= sampled
    norm = float(np.hypot(np.linalg.norm(point.gradient), point.gradient_intercept)) or 1.0
    preconditioner = Preconditioner(sampled if is_worthwhile else 0)
    return Truncated(settings, tol, whole, point, _primal(whole, point), preconditioner, norm)


def _primal(sub: Subproblem, point: Point) -> float:
    """P at a point on all rows."""
    values = sub.loss.value(point.scores + point.intercept, sub.labels)
    return sub.mean(values) + 0.5 * sub.strength * float(point.weights @ point.weights)
