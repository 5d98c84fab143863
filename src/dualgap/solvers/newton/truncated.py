"""Truncated Newton steps for smooth losses with many columns: directions by conjugate residuals on products with the Hessian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from dualgap.linalg.krylov import Operator, Solution, conjugate_residuals
from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton import products
from dualgap.solvers.newton.line_search import Direction, line_search
from dualgap.solvers.newton.point import Point, evaluate, evaluate_from_scores, gradient_gap, primal
from dualgap.solvers.newton.preconditioner import sample_preconditioner
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, with_all_rows


class Preconditioner(NamedTuple):
    """The inverse of a Hessian of sampled rows, and its size: how many times `preconditioner_rows_per_column` rows it has per column."""

    operator: Operator
    size: int


@dataclass(frozen=True)
class Truncated:
    """The state of a run: a point on all rows, P there."""

    settings: Settings
    tol: float
    all_rows: Subproblem
    point: Point
    primal: float
    first_norm: float
    """‖gradient‖ where the run began."""
    preconditioner: Preconditioner | None = None
    """That of the next solve; None where the step makes one, or where the data is small beside such a matrix."""
    next_size: int = 1
    """The size of the next preconditioner that is made."""

    @property
    def next_rows(self) -> int:
        return self.all_rows.count

    def advance(self) -> Truncated:
        """The state after a truncated Newton step."""
        sub, point = self.all_rows, self.point
        gradient: Vector = np.append(point.gradient, point.gradient_intercept) if sub.intercept else point.gradient
        if not gradient.any():
            return self
        hessian_weights = sub.normalized_weights * point.second_derivatives
        used = self.preconditioner or self._preconditioner(hessian_weights)
        found = self._solve(gradient, hessian_weights, used)
        step, shift = (found.solution[:-1], float(found.solution[-1])) if sub.intercept else (found.solution, 0.0)
        direction = Direction(step, shift, self._score_direction(found), float(gradient @ found.solution))
        after = line_search(sub, point, direction, products.combination)
        state = replace(self, point=after, primal=primal(sub, after))
        if used is None or found.products <= used.size:
            return replace(state, preconditioner=used)
        return replace(state, preconditioner=None, next_size=found.products)

    def estimated_gap(self) -> float:
        """The relative gap of the point's duals."""
        point = self.point
        gap = gradient_gap(self.all_rows, point.gradient, point.gradient_intercept, point.intercept)
        return gap / self.primal if self.primal > 0.0 else 0.0

    def estimated_primal(self) -> float:
        """P of the point."""
        return self.primal

    def answer(self) -> Answer:
        return Answer(self.point.weights, self.point.intercept, self.point.duals)

    def on_rejected(self, target: float) -> Truncated:
        return replace(self, tol=target)

    def _solve(self, gradient: Vector, hessian_weights: Vector, preconditioner: Preconditioner | None) -> Solution:
        """Newton's direction, solved as far as the gradient is worth."""
        sub = self.all_rows
        norm = float(np.linalg.norm(gradient))
        # A solve ends at half of ‖gradient‖, earlier the smaller the gradient has become, and where the relative gap is half of tol.
        smallest = sqrt(sub.strength * self.tol * self.primal)
        target = max(min(0.5, sqrt(norm / self.first_norm)) * norm, smallest)
        matrix = products.hessian(sub.rows, hessian_weights, sub.strength, sub.intercept)
        operator = None if preconditioner is None else preconditioner.operator
        return conjugate_residuals(matrix, -gradient, target, self.settings.max_products, sub.count, operator)

    def _preconditioner(self, hessian_weights: Vector) -> Preconditioner | None:
        """A preconditioner made here, where the data is large beside such a matrix."""
        sub, rows, settings = self.all_rows, self.all_rows.rows, self.settings
        if settings.preconditioner_sizes * rows.dimension**2 > rows.stored:
            return None
        count = self.next_size * settings.preconditioner_rows_per_column * rows.dimension
        operator = sample_preconditioner(rows, hessian_weights, sub.strength, count, sub.intercept)
        return Preconditioner(operator, self.next_size)

    def _score_direction(self, found: Solution) -> Vector:
        """How the scores change along a solution; products leave out rows of weight zero."""
        sub, step = self.all_rows, found.solution
        if np.all(sub.normalized_weights * self.point.second_derivatives):
            return found.by_products
        return products.scores(sub.rows, step[:-1]) + step[-1] if sub.intercept else products.scores(sub.rows, step)


def start(problem: Problem, warm: Answer | None, tol: float, settings: Settings) -> Truncated:
    """The first state: at a given answer, unless zero weights are better."""
    all_rows, rows = with_all_rows(problem), problem.rows
    point = None
    if warm is not None:
        point = evaluate(all_rows, warm.weights.copy(), warm.intercept, 0.0)
        if not primal(all_rows, point) <= primal_at_cold_start(problem):
            point = None
    if point is None:
        zeros: Vector = np.zeros(rows.dimension)
        point = evaluate_from_scores(all_rows, zeros, first_intercept(problem), np.zeros(rows.count), 0.0)
    norm = float(np.hypot(np.linalg.norm(point.gradient), point.gradient_intercept)) or 1.0
    return Truncated(settings, tol, all_rows, point, primal(all_rows, point), norm)
