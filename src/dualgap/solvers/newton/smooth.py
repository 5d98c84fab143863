"""Newton steps on a smooth loss: on subsamples first where rows are many, then on all rows until predicted duals prove the point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton.line_search import line_search
from dualgap.solvers.newton.point import Point, evaluate, evaluate_from_scores, gradient_gap, primal
from dualgap.solvers.newton.prediction import Prediction, predict
from dualgap.solvers.newton.row_space import RefinementPoint, RowSpace, row_space
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, subsample, subsample_strides, with_all_rows
from dualgap.solvers.newton.systems import DenseSystem


@dataclass(frozen=True)
class Subsampled:
    """A point on a subsample, and the strides of the larger ones to come."""

    sub: Subproblem
    point: Point
    primal: float
    decrement: float
    """−⟨gradient, direction⟩ of the step that led here; infinite before the first."""
    strides: tuple[int, ...]


@dataclass(frozen=True)
class OnAllRows:
    """A point on all rows, and P there."""

    point: Point
    primal: float


@dataclass(frozen=True)
class Predicted:
    """A step whose predicted duals are to prove its end, which no row has seen yet; P is that before the step."""

    prediction: Prediction
    primal: float


@dataclass(frozen=True)
class Smooth:
    """The state of a run: the phase it is in, and the relative gap to reach."""

    space: RowSpace
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
        return phase.sub.count if isinstance(phase, Subsampled) and not self._is_solved(phase) else self.all_rows.count

    def advance(self) -> Smooth:
        """The state after the next step: a Newton step, or an evaluation on the next rows."""
        phase = self.phase
        if isinstance(phase, Predicted):
            return self._evaluated(phase.prediction.weights, phase.prediction.intercept)
        if isinstance(phase, OnAllRows):
            return replace(self, phase=self._step_on_all_rows(phase))
        if not self._is_solved(phase):
            step = DenseSystem(phase.sub, phase.point).newton_step(phase.point)
            point = line_search(phase.sub, phase.point, step.direction(phase.sub.rows))
            phase = replace(phase, point=point, primal=primal(phase.sub, point), decrement=-step.slope)
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
        """The state that aims at a smaller gap, with nothing predicted, and with scores from the problem's own columns.

        The certificate sees those columns, in which the weights differ from row space by rounding.
        """
        state = replace(self, tol=target, may_predict=False)
        phase = self.phase
        if isinstance(phase, Predicted):
            state = state._evaluated(phase.prediction.weights, phase.prediction.intercept)
        return state if state.space.is_identity else state._with_accurate_scores()

    def _is_solved(self, phase: Subsampled) -> bool:
        """Whether a subsample is solved as well as it is worth: a smaller decrement would fit its sampling error."""
        sampling_error = phase.sub.rows.dimension / phase.sub.count * phase.primal
        return phase.decrement <= self.settings.subsample_gap * sampling_error

    def _after_subsample(self, phase: Subsampled) -> Smooth:
        """The next subsample, or all rows."""
        at = phase.point
        if not phase.strides:
            return self._evaluated(at.weights, at.intercept)
        sub = subsample(self.space.reduced, phase.strides[0])
        point = evaluate(sub, at.weights, at.intercept, 0.0)
        return replace(self, phase=Subsampled(sub, point, primal(sub, point), np.inf, phase.strides[1:]))

    def _evaluated(self, weights: Vector, intercept: float) -> Smooth:
        """The state at given weights on all rows."""
        point = evaluate(self.all_rows, weights, intercept, 0.0)
        return replace(self, phase=OnAllRows(point, primal(self.all_rows, point)))

    def _with_accurate_scores(self) -> Smooth:
        """The state with scores from the problem's own rows."""
        assert isinstance(self.phase, OnAllRows)
        at = self.phase.point
        known = RefinementPoint(at.weights, self.space.from_row_space(at.weights, self.refinement))
        scores = self.space.problem.rows.scores(known.weights)
        point = evaluate_from_scores(self.all_rows, at.weights, at.intercept, scores, 0.0)
        return replace(self, phase=OnAllRows(point, self.phase.primal), refinement=known)

    def _step_on_all_rows(self, phase: OnAllRows) -> OnAllRows | Predicted:
        """A Newton step; a prediction where its gap is at most half of tol, which leaves the other half to rounding."""
        sub, point = self.all_rows, phase.point
        step = DenseSystem(sub, point).newton_step(point)
        direction = step.direction(sub.rows)
        if self._is_prediction_worthwhile(-step.slope, phase.primal):
            prediction = predict(sub, point, direction)
            if prediction.gap <= 0.5 * self.tol * phase.primal:
                return Predicted(prediction, phase.primal)
        found = line_search(sub, point, direction)
        return OnAllRows(found, primal(sub, found))

    def _is_prediction_worthwhile(self, decrement: float, primal: float) -> bool:
        """Whether the gap that predicted duals are expected to leave, (decrement/P)²·P, is below tol·P."""
        return self.may_predict and decrement * decrement <= self.tol * primal * primal


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
    strides = subsample_strides(reduced, settings)
    sub = subsample(reduced, strides[0]) if strides else all_rows
    zeros: Vector = np.zeros(reduced.rows.dimension)
    point = evaluate_from_scores(sub, zeros, first_intercept(problem), np.zeros(sub.count), 0.0)
    at_zero = primal_at_cold_start(problem)
    phase = Subsampled(sub, point, at_zero, np.inf, strides[1:]) if strides else OnAllRows(point, at_zero)
    return Smooth(space, settings, tol, all_rows, phase)


def _gradient_gap(sub: Subproblem, point: Point) -> float:
    return gradient_gap(sub, point.gradient, point.gradient_intercept, point.intercept)
