"""Subgradient: full sub-gradient descent on P, one step an epoch."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dualgap.problem import Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import Answer, Random, Solver, Vector, first_intercept, intercept_scale
from dualgap.solvers.primal import SCHEDULES, default_step


class State(NamedTuple):
    """The iterate and the number of steps."""

    weights: Vector
    intercept: float
    duals: Vector
    updates: int
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class Subgradient(Solver[Problem, State]):
    """Sub-gradient descent over all rows: w ← w − η(λw − (1/S) Σ s_i a_i x_i).

    Without a schedule the step is constant for a smooth loss and step/(1 + λ·step·t) for one with a kink.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.Subgradient(), tol=1e-3, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    step: float | None = None
    schedule: str | None = None

    name: ClassVar[str] = "subgradient"
    summary: ClassVar[str] = "one step along the full sub-gradient of P an epoch"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule is not None:
            self.one_of("schedule", tuple(SCHEDULES))
        self.positive("step")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.refuse_unbounded(problem)

    def prepare(self, problem: Problem) -> None:
        """Nothing is compiled: a full step is two products with the rows."""

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        if warm is None:
            return State(np.zeros(problem.rows.dimension), first_intercept(problem), np.zeros(problem.rows.count), 0)
        duals = np.zeros(problem.rows.count) if warm.duals is None else warm.duals.copy()
        return State(warm.weights.copy(), warm.intercept, duals, 0)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def eta(self, problem: Problem, updates: int) -> float:
        """The step size after a number of updates."""
        squared_norm = problem.mean_squared_norm + intercept_scale(problem)
        step = self.step or default_step(problem.loss, problem.strength, problem.baseline, squared_norm)
        schedule = self.schedule or ("inverse" if problem.loss.has_kink else "constant")
        if schedule == "constant":
            return step
        return step / (1.0 + problem.strength * step * updates) if schedule == "inverse" else step / sqrt(updates + 1.0)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        eta = self.eta(problem, state.updates)
        keep = 1.0 - problem.strength * eta
        scores = problem.scores(state.weights, state.intercept)
        suggested = problem.loss.dual_candidate(scores, problem.labels)
        # λη·w(a) is η/S Σ s_i a_i x_i, so weights and duals take the same step and w = w(α) stays true.
        weights = keep * state.weights + (problem.strength * eta) * problem.weights_of(suggested)
        intercept = state.intercept + eta * intercept_scale(problem) * problem.mean(suggested)
        duals = state.duals
        duals *= keep
        suggested *= problem.strength * eta
        duals += suggested
        if state.average is not None:
            state.average.add(weights, duals)
        return State(weights, intercept, duals, state.updates + 1, state.average)

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(state.weights, state.intercept, state.duals)
