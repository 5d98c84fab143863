"""The squared loss: one Newton step solves it, and further steps correct its rounding errors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton.point import Point, evaluate, evaluate_from_scores
from dualgap.solvers.newton.row_space import RefinementPoint, RowSpace, row_space
from dualgap.solvers.newton.subproblem import Subproblem, with_all_rows
from dualgap.solvers.newton.systems import DenseSystem


@dataclass(frozen=True)
class LeastSquares:
    """The state of a run: weights in row space, and whether a solve led to them."""

    space: RowSpace
    all_rows: Subproblem
    weights: Vector
    intercept: float
    is_solved: bool
    refinement: RefinementPoint | None = None
    """The solution in the problem's columns, where row space differs from them: the next solve corrects its rounding error."""

    @property
    def next_rows(self) -> int:
        return self.all_rows.count

    def advance(self) -> LeastSquares:
        """The state after a solve; the second and later ones refine."""
        state = self._refining() if self.is_solved and not self.space.is_identity else self
        point = state._point()
        direction = DenseSystem(state.all_rows, point).solve(point.gradient, point.gradient_intercept)
        weights, intercept = state.weights + direction[0], state.intercept + direction[1]
        return replace(state, weights=weights, intercept=intercept, is_solved=True)

    def estimated_gap(self) -> float:
        return 0.0 if self.is_solved else np.inf

    def estimated_primal(self) -> None:
        """None: a solve is done or not, whatever P is."""
        return None

    def answer(self) -> Answer:
        """The weights; the certificate takes the duals that the scores suggest."""
        return Answer(self.space.from_row_space(self.weights, self.refinement), self.intercept, None)

    def on_rejected(self, target: float) -> LeastSquares:
        """Every solve goes as far as float64 allows."""
        return self

    def _refining(self) -> LeastSquares:
        """The state that knows its weights in the problem's columns, from which the next difference is mapped back."""
        return replace(
            self, refinement=RefinementPoint(self.weights, self.space.from_row_space(self.weights, self.refinement))
        )

    def _point(self) -> Point:
        """The point on all rows, with scores from the problem's own rows where the weights are known there."""
        known = self.refinement
        if known is None:
            return evaluate(self.all_rows, self.weights, self.intercept, 0.0)
        scores = self.space.problem.rows.scores(known.weights)
        return evaluate_from_scores(self.all_rows, self.weights, self.intercept, scores, 0.0)


def start(problem: Problem, warm: Answer | None) -> LeastSquares:
    """The first state: at a given answer, unless zero weights are better."""
    space = row_space(problem)
    all_rows = with_all_rows(space.reduced)
    if warm is not None:
        state = LeastSquares(space, all_rows, space.to_row_space(warm.weights).copy(), warm.intercept, False)
        point = state._point()
        if space.reduced.primal(point.scores + point.intercept, point.weights) <= primal_at_cold_start(problem):
            return state
    return LeastSquares(space, all_rows, np.zeros(space.reduced.rows.dimension), first_intercept(problem), False)
