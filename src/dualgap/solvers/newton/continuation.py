"""Continuation in γ for a loss with kinks: Newton steps while γ decreases, on subsamples, on all rows and on working sets.

A run goes through three kinds of phase: subsamples that grow, all rows, a working set, all rows, the next working set, and so on.
γ decreases whenever the gradient's part of the gap (`gradient_gap`) is no larger than the smoothing's (`fenchel_gap`). A working set is selected on arrival on all
rows if the gap fell, and before a step on all rows that lowers γ. When the working set is solved, the best point between the last
point on all rows and the working set's point is found on all rows. Steps on all rows end where the loop stops the run, at tol.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Vector, first_intercept, primal_at_cold_start
from dualgap.solvers.newton.gamma_step import gamma_step, step_towards
from dualgap.solvers.newton.point import (
    Point,
    evaluate,
    evaluate_from_scores,
    fenchel_gap,
    gradient_gap,
    primal,
)
from dualgap.solvers.newton.row_space import RefinementPoint, RowSpace, row_space
from dualgap.solvers.newton.settings import Settings
from dualgap.solvers.newton.subproblem import Subproblem, subsample, subsample_count, subsample_intervals, with_all_rows
from dualgap.solvers.newton.working_set import select_working_set


@dataclass(frozen=True)
class PointWithGap:
    """A point on the rows of a subproblem, and the two parts of its gap there."""

    sub: Subproblem
    point: Point
    fenchel_gap: float
    gradient_gap: float

    @property
    def gap(self) -> float:
        return self.fenchel_gap + self.gradient_gap


@dataclass(frozen=True)
class Subsampled:
    """Steps on a subsample; `intervals` has k for each larger one to come, where that one has every k-th row."""

    current: PointWithGap
    intervals: tuple[int, ...]


@dataclass(frozen=True)
class OnAllRows:
    """Steps on all rows."""

    current: PointWithGap


@dataclass(frozen=True)
class OnWorkingSet:
    """Steps on a working set, and the last point on all rows, from which it was selected."""

    current: PointWithGap
    base: PointWithGap


@dataclass(frozen=True)
class Continuation:
    """The state of a run: the phase it is in, P at the last point on all rows, and the relative gap to reach."""

    space: RowSpace
    """Where the steps are made: `space.reduced` is the problem itself, or with more columns than rows the problem in the basis of its rows."""
    settings: Settings
    tol: float
    phase: Subsampled | OnAllRows | OnWorkingSet
    primal: float
    """P at the last point on all rows; the baseline, P of the best constant, while there is none."""
    refinement: RefinementPoint | None = None
    """Where scores in row space were last computed from the problem's own rows."""

    @property
    def next_rows(self) -> int:
        """How many rows the next step reads."""
        phase = self.phase
        if not self.is_phase_done:
            return phase.current.sub.count
        intervals = phase.intervals if isinstance(phase, Subsampled) else ()
        return subsample_count(self.space.reduced, intervals[0]) if intervals else self.space.reduced.rows.count

    def advance(self) -> Continuation:
        """The state after the next step: a Newton step, which may select a working set first, or the change to the next phase."""
        return self._next_phase() if self.is_phase_done else self._newton_step()

    @property
    def last_on_all_rows(self) -> PointWithGap | None:
        """The last point on all rows; None while there was none."""
        if isinstance(self.phase, OnAllRows):
            return self.phase.current
        return self.phase.base if isinstance(self.phase, OnWorkingSet) else None

    def estimated_gap(self) -> float:
        """The relative gap of the last point on all rows."""
        current = self.last_on_all_rows
        if current is None:
            return np.inf
        return current.gap / self.primal if self.primal > 0.0 else 0.0

    def estimated_primal(self) -> float:
        """P of the last point on all rows; at first that of the start."""
        return self.primal

    def answer(self) -> Answer:
        """The last point on all rows, with its duals; the subsample's point without duals before there is one."""
        current = self.last_on_all_rows
        point = self.phase.current.point if current is None else current.point
        weights = self.space.from_row_space(point.weights, self.refinement)
        return Answer(weights, point.intercept, None if current is None else point.duals)

    def on_rejected(self, target: float) -> Continuation:
        """The state that aims at a smaller relative gap."""
        return replace(self, tol=target)

    @property
    def is_phase_done(self) -> bool:
        """Whether a subsample or working set is solved as well as it is worth; steps on all rows never are."""
        phase, current, settings = self.phase, self.phase.current, self.settings
        if isinstance(phase, OnAllRows):
            return False
        if isinstance(phase, OnWorkingSet):
            return current.gap <= max(self.tol * self.primal, settings.working_set_gap * phase.base.gap)
        sampling_error = settings.subsample_gap * current.sub.rows.dimension / current.sub.count
        return current.gap <= max(self.tol, sampling_error) * primal(current.sub, current.point)

    def _newton_step(self) -> Continuation:
        """One Newton step, at a smaller γ where the smoothing's part of the gap is the larger one."""
        state, current = self, self.phase.current
        gamma = current.point.gamma
        if current.gradient_gap <= current.fenchel_gap:
            if isinstance(state.phase, OnAllRows):
                state = state._on_working_set(current)
            gamma = self._next_gamma(current)
            state = state._with_accurate_scores(current.fenchel_gap * gamma / current.point.gamma)
        current = state.phase.current
        return state._moved_to(_with_gap(current.sub, gamma_step(current.sub, current.point, gamma)))

    def _next_gamma(self, current: PointWithGap) -> float:
        """A smaller γ, or the same once it is the smallest; no smaller than tol needs, because the smoothing's part of the gap decreases about as γ does."""
        gamma = current.point.gamma
        # Half of tol is left to the gradient's part of the gap.
        needed = 0.5 * self.tol * self.primal / current.fenchel_gap * gamma if current.fenchel_gap else 0.0
        smallest = self.settings.smallest_gamma * self.space.reduced.baseline
        return max(self.settings.gamma_decay * gamma, min(needed, 0.5 * gamma), smallest)

    def _moved_to(self, current: PointWithGap) -> Continuation:
        """The state with the phase at another point of the same rows."""
        phase = replace(self.phase, current=current)
        if not isinstance(phase, OnAllRows):
            return replace(self, phase=phase)
        point = current.point
        primal = self.space.reduced.primal(point.scores + point.intercept, point.weights)
        return replace(self, phase=phase, primal=primal)

    def _on_working_set(self, base: PointWithGap) -> Continuation:
        """The state on a working set selected at a point on all rows; itself where that would hold most of the rows."""
        found = select_working_set(self.space.reduced, base.point, self.settings)
        if found is None:
            return self
        # Both parts of the gap stay as they are: the rows left out have a Fenchel gap of 0, and the linear term is their gradient.
        current = replace(base, sub=found.sub, point=found.point)
        return replace(self, phase=OnWorkingSet(current, base))

    def _with_accurate_scores(self, gap: float) -> Continuation:
        """The state with scores from the problem's own rows, where those in row space are too inexact for such a gap."""
        current = self.phase.current
        if self.space.score_error(current.point.weights, self.refinement) <= 0.5 * gap:
            return self
        known = RefinementPoint(
            current.point.weights, self.space.from_row_space(current.point.weights, self.refinement)
        )
        scores = self.space.problem.rows.scores(known.weights)
        point = evaluate_from_scores(
            current.sub,
            current.point.weights,
            current.point.intercept,
            scores if current.sub.row_numbers is None else scores[current.sub.row_numbers],
            current.point.gamma,
        )
        return replace(self, phase=replace(self.phase, current=replace(current, point=point)), refinement=known)

    def _next_phase(self) -> Continuation:
        """The next subsample, or all rows; from a working set that brought the gap down, the next working set."""
        reduced, phase = self.space.reduced, self.phase
        at = phase.current.point
        if isinstance(phase, Subsampled) and phase.intervals:
            sub = subsample(reduced, phase.intervals[0])
            current = _with_gap(sub, evaluate(sub, at.weights, at.intercept, at.gamma))
            return replace(self, phase=Subsampled(current, phase.intervals[1:]))
        all_rows = with_all_rows(reduced)
        if isinstance(phase, OnWorkingSet):
            scores = reduced.rows.scores(at.weights)
            point = step_towards(all_rows, phase.base.point, phase.current.sub, at, scores)
        else:
            point = evaluate(all_rows, at.weights, at.intercept, at.gamma)
        current = _with_gap(all_rows, point)
        state = replace(self, phase=OnAllRows(current))._moved_to(current)
        is_done = current.gap <= state.tol * state.primal
        # Where a working set did not bring the gap down, the next steps are on all rows until γ decreases again.
        helped = not isinstance(phase, OnWorkingSet) or current.gap < phase.base.gap
        return state if is_done or not helped else state._on_working_set(current)


def start(problem: Problem, warm: Answer | None, tol: float, settings: Settings) -> Continuation:
    """The first state: on a subsample at zero weights, or on all rows at a given answer."""
    space = row_space(problem)
    # Where the baseline is 0, zero weights are optimal at any γ.
    first_gamma = 2.0 * problem.baseline / problem.loss.lipschitz**2 or 1.0
    found = None if warm is None else _warm_point(space, warm, first_gamma, settings)
    if found is not None:
        current = _with_gap(with_all_rows(space.reduced), found)
        return Continuation(space, settings, tol, OnAllRows(current), problem.baseline)._moved_to(current)
    reduced = space.reduced
    intervals = subsample_intervals(reduced, settings)
    sub = subsample(reduced, intervals[0]) if intervals else with_all_rows(reduced)
    zeros: Vector = np.zeros(reduced.rows.dimension)
    point = evaluate_from_scores(sub, zeros, first_intercept(problem), np.zeros(sub.count), first_gamma)
    current = _with_gap(sub, point)
    if intervals:
        return Continuation(space, settings, tol, Subsampled(current, intervals[1:]), problem.baseline)
    return Continuation(space, settings, tol, OnAllRows(current), primal_at_cold_start(problem))


def _warm_point(space: RowSpace, warm: Answer, first_gamma: float, settings: Settings) -> Point | None:
    """The point at a given answer, at a γ in proportion to its gap if it has duals; None where zero weights are the better start."""
    problem, gamma = space.problem, first_gamma
    if warm.duals is not None:
        duals = problem.loss.clip(warm.duals, problem.labels)
        primal = problem.primal(problem.scores(warm.weights, warm.intercept), warm.weights)
        gap = primal - problem.dual(duals, problem.weights_of(duals))
        gamma = max(settings.warm_gamma * gap / problem.loss.lipschitz**2, settings.smallest_gamma * problem.baseline)
        if not gamma <= first_gamma:  # not a number, where the answer's P overflows
            return None
    weights = space.to_row_space(warm.weights).copy()
    point = evaluate(with_all_rows(space.reduced), weights, warm.intercept, gamma)
    primal = space.reduced.primal(point.scores + point.intercept, point.weights)
    return point if primal <= primal_at_cold_start(problem) else None


def _with_gap(sub: Subproblem, point: Point) -> PointWithGap:
    """A point with its gap."""
    gradient = gradient_gap(sub, point.gradient, point.gradient_intercept, point.intercept)
    return PointWithGap(sub, point, fenchel_gap(sub, point), gradient)
