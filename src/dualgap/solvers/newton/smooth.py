"""Newton steps on a smooth loss: on subsamples first where rows are many, then on all rows until predicted duals prove the point.

Only where rows or columns are at most `Settings.dense_side`: larger problems take `truncated.py`. More columns than rows are mapped
to row space first; `space.reduced` is the problem itself otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton.line_search import Direction, Step, line_search
from dualgap.solvers.newton.point import Point, evaluate, evaluate_from_scores, gradient_gap, primal
from dualgap.solvers.newton.prediction import Prediction, predict
from dualgap.solvers.newton.row_space import RefinementPoint, RowSpace, row_space
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, subsample, subsample_count, subsample_intervals, with_all_rows
from dualgap.solvers.newton.systems import DenseSystem


@dataclass(frozen=True)
class Subsampled:
    """A point on a subsample; `intervals` has k for each larger one to come, where that one has every k-th row."""

    sub: Subproblem
    point: Point
    primal: float
    squared_decrement: float
    """gᵀH⁻¹g of the step that led here, twice what it was expected to lower P by; infinite before the first."""
    intervals: tuple[int, ...]


class Factored(NamedTuple):
    """The Hessian of a point as a Cholesky factor, and the squared decrement of the step made from there."""

    system: DenseSystem
    squared_decrement: float


@dataclass(frozen=True)
class OnAllRows:
    """A point on all rows, and P there."""

    point: Point
    primal: float
    factored: Factored | None = None
    """The system of the step that led here, for a prediction that needs no Hessian of this point; None at a first point."""


@dataclass(frozen=True)
class Predicted:
    """A Newton step of size 1, with the duals that its quadratic model predicts at its end (`prediction.py`).

    w(α) of those duals is the new w, so the gap is known before any row is evaluated there. No line search is made.
    """

    prediction: Prediction
    primal: float
    """P before the step."""


@dataclass(frozen=True)
class Smooth:
    """The state of a run: the phase it is in, and the relative gap to reach."""

    space: RowSpace
    """Where the steps are made: `space.reduced` is the problem itself, or with more columns than rows the problem in the basis of its rows."""
    settings: Settings
    tol: float
    all_rows: Subproblem
    phase: Subsampled | OnAllRows | Predicted
    may_predict: bool = True
    """Whether predicted duals may stand for an evaluation: not once a certificate rejected an estimate."""
    refinement: RefinementPoint | None = None
    """Where scores in row space were last computed from the problem's own rows."""

    @property
    def next_rows(self) -> int:
        """How many rows the next step reads."""
        phase = self.phase
        if not isinstance(phase, Subsampled):
            return self.all_rows.count
        if not self._is_solved(phase):
            return phase.sub.count
        return subsample_count(self.space.reduced, phase.intervals[0]) if phase.intervals else self.all_rows.count

    def advance(self) -> Smooth:
        """The state after the next step: a Newton step, or an evaluation on the next rows."""
        phase = self.phase
        if isinstance(phase, Predicted):
            return self._evaluate(phase.prediction.weights, phase.prediction.intercept)
        if isinstance(phase, OnAllRows):
            return replace(self, phase=self._step_on_all_rows(phase))
        if not self._is_solved(phase):
            step = DenseSystem(phase.sub, phase.point).newton_step(phase.point)
            point = line_search(phase.sub, phase.point, step.direction(phase.sub.rows))
            phase = replace(phase, point=point, primal=primal(phase.sub, point), squared_decrement=-step.slope)
            return replace(self, phase=phase)
        return self._after_subsample(phase)

    def estimated_gap(self) -> float:
        """The relative gap of the predicted duals, or of the point's own on all rows."""
        phase = self.phase
        if isinstance(phase, Subsampled):
            return np.inf
        gap = phase.prediction.gap if isinstance(phase, Predicted) else _gradient_gap(self.all_rows, phase.point)
        return gap / phase.primal if phase.primal > 0.0 else 0.0

    def estimated_primal(self) -> float:
        """P of the phase's point."""
        return self.phase.primal

    def answer(self) -> Answer:
        """The weights of the phase, with duals where they are on all rows."""
        phase = self.phase
        at = phase.prediction if isinstance(phase, Predicted) else phase.point
        duals = None if isinstance(phase, Subsampled) else at.duals
        return Answer(self.space.from_row_space(at.weights, self.refinement), at.intercept, duals)

    def on_rejected(self, target: float) -> Smooth:
        """The state that aims at a smaller gap, with nothing predicted, and with scores from the weights mapped back.

        The certificate sees those weights, which differ from row space by rounding.
        """
        state = replace(self, tol=target, may_predict=False)
        phase = self.phase
        if isinstance(phase, Predicted):
            state = state._evaluate(phase.prediction.weights, phase.prediction.intercept)
        return state if state.space.is_identity else state._with_accurate_scores()

    def _is_solved(self, phase: Subsampled) -> bool:
        """Whether a subsample is solved as well as it is worth: further steps would only fit its sampling error."""
        sampling_error = phase.sub.rows.dimension / phase.sub.count * phase.primal
        return phase.squared_decrement <= self.settings.subsample_gap * sampling_error

    def _after_subsample(self, phase: Subsampled) -> Smooth:
        """The next subsample, or all rows."""
        at = phase.point
        if not phase.intervals:
            return self._evaluate(at.weights, at.intercept)
        sub = subsample(self.space.reduced, phase.intervals[0])
        point = evaluate(sub, at.weights, at.intercept, 0.0)
        return replace(self, phase=Subsampled(sub, point, primal(sub, point), np.inf, phase.intervals[1:]))

    def _evaluate(self, weights: Vector, intercept: float) -> Smooth:
        """The state at given weights on all rows."""
        point = evaluate(self.all_rows, weights, intercept, 0.0)
        return replace(self, phase=OnAllRows(point, primal(self.all_rows, point)))

    def _with_accurate_scores(self) -> Smooth:
        """The state with scores X·w of the weights mapped back from row space."""
        assert isinstance(self.phase, OnAllRows)
        at = self.phase.point
        known = RefinementPoint(at.weights, self.space.from_row_space(at.weights, self.refinement))
        scores = self.space.problem.rows.scores(known.weights)
        point = evaluate_from_scores(self.all_rows, at.weights, at.intercept, scores, 0.0)
        return replace(self, phase=OnAllRows(point, self.phase.primal), refinement=known)

    def _step_on_all_rows(self, phase: OnAllRows) -> OnAllRows | Predicted:
        """A prediction by the last step's system or by the Hessian here, where its gap is small enough; else a Newton step."""
        sub, point, known = self.all_rows, phase.point, phase.factored
        if known is not None:
            step = known.system.newton_step(point)
            if self._is_prediction_worthwhile(step, known, phase.primal):
                predicted = self._predicted(phase, step.direction(sub.rows), known.system)
                if predicted is not None:
                    return predicted
        system = DenseSystem(sub, point)
        step = system.newton_step(point)
        direction, factored = step.direction(sub.rows), Factored(system, -step.slope)
        if self._is_prediction_worthwhile(step, factored, phase.primal):
            predicted = self._predicted(phase, direction, system)
            if predicted is not None:
                return predicted
        # The step size comes from slopes alone; P is not tested.
        found = line_search(sub, point, direction)
        return OnAllRows(found, primal(sub, found), factored)

    def _predicted(self, phase: OnAllRows, direction: Direction, system: DenseSystem) -> Predicted | None:
        """A step of size 1 with its predicted duals; None where their gap is over half of tol, which leaves the other half to rounding."""
        prediction = predict(self.all_rows, phase.point, direction, system.second_derivatives)
        return Predicted(prediction, phase.primal) if prediction.gap <= 0.5 * self.tol * phase.primal else None

    def _is_prediction_worthwhile(self, step: Step, factored: Factored, primal: float) -> bool:
        """Whether the gap that predicted duals are expected to leave is below tol·P.

        As a part of P it is about the squared decrement of the step times that of the step for which the system was made.
        """
        return self.may_predict and -step.slope * factored.squared_decrement <= self.tol * primal * primal


def start(problem: Problem, warm: Answer | None, tol: float, settings: Settings) -> Smooth:
    """The first state: at a given answer, unless zero weights are better, or at zero weights on a subsample."""
    space = row_space(problem)
    reduced = space.reduced
    all_rows = with_all_rows(reduced)
    if warm is not None:
        point = evaluate(all_rows, space.to_row_space(warm.weights).copy(), warm.intercept, 0.0)
        found = primal(all_rows, point)
        if found <= primal_at_cold_start(problem):
            return Smooth(space, settings, tol, all_rows, OnAllRows(point, found))
    intervals = subsample_intervals(reduced, settings)
    sub = subsample(reduced, intervals[0]) if intervals else all_rows
    zeros: Vector = np.zeros(reduced.rows.dimension)
    point = evaluate_from_scores(sub, zeros, first_intercept(problem), np.zeros(sub.count), 0.0)
    if intervals:
        phase = Subsampled(sub, point, primal(sub, point), np.inf, intervals[1:])
        return Smooth(space, settings, tol, all_rows, phase)
    return Smooth(space, settings, tol, all_rows, OnAllRows(point, primal_at_cold_start(problem)))


def _gradient_gap(sub: Subproblem, point: Point) -> float:
    return gradient_gap(sub, point.gradient, point.gradient_intercept, point.intercept)
