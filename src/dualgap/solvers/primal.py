"""What stochastic sub-gradient solvers have in common: a scaled state, batches, and duals that follow the weights."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.problem import Problem
from dualgap.solvers.base import (
    SAMPLINGS,
    Answer,
    Random,
    Solver,
    Vector,
    draw_batches,
    first_intercept,
    intercept_mobility,
)

TINY = float(np.finfo(np.float64).tiny)
# By the names kernels have for them, which are loaded with the first step.
SCHEDULES = {"constant": "CONSTANT", "inverse": "INVERSE", "sqrt": "SQUARE_ROOT"}


class State(NamedTuple):
    """Weights and duals divided by their common scale, with the numbers that move along."""

    weights: Vector
    duals: Vector
    moving: Vector
    dual_sums: Vector | None
    dual_total: Vector | None
    offset: Vector | None
    """w − w(α) of a warm start, where its weights and duals disagree."""


class Step(NamedTuple):
    """The step size as the kernel takes it: a schedule, its number, and how much later the intercept is on it."""

    schedule: int
    number: float
    delay: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PrimalSolver(Solver):
    """Sub-gradient steps on rows drawn at random; a subclass says which step size and whether to project."""

    batch_size: int = 1
    sampling: str = "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)
        self.whole("batch_size")

    @abstractmethod
    def step_for(self, problem: Problem) -> Step:
        """The step size on this problem."""

    def radius(self, problem: Problem) -> float:
        """The ball the weights are projected onto; 0 for none."""
        return 0.0

    def batch(self, problem: Problem) -> int:
        return min(self.batch_size, problem.rows.count)

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        moving = np.zeros(kernels.primal.MOVING)
        moving[kernels.primal.SCALE] = 1.0
        if warm is None:
            moving[kernels.primal.INTERCEPT] = first_intercept(problem)
            return State(np.zeros(problem.rows.dimension), np.zeros(problem.rows.count), moving, None, None, None)
        weights = warm.weights.copy()
        duals = np.zeros(problem.rows.count) if warm.duals is None else warm.duals.copy()
        moving[kernels.primal.INTERCEPT] = warm.intercept
        moving[kernels.primal.SQUARED_NORM] = weights @ weights
        # A first step of 1/λ would throw a good start away, so a warm run counts as one epoch old.
        moving[kernels.primal.UPDATES] = -(-problem.rows.count // self.batch(problem))
        moving[kernels.primal.OFFSET] = 1.0
        return State(weights, duals, moving, None, None, weights - problem.weights_of(duals))

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return draw_batches(problem.rows.count, self.batch(problem), self.sampling, epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any]) -> State:
        kernels.primal.primal_steps(
            problem.rows.arrays,
            problem.labels,
            problem.sample_weight,
            kernels.steps.kernel_loss(problem.loss),
            problem.strength,
            problem.rows.count / problem.total_weight,
            *self.step_for(problem),
            self.radius(problem),
            intercept_mobility(problem),
            self.batch(problem),
            steps,
            *state[:-1],
        )
        return state

    def answer(self, problem: Problem, state: State) -> Answer:
        scale = state.moving[kernels.primal.SCALE]
        return Answer(scale * state.weights, float(state.moving[kernels.primal.INTERCEPT]), scale * state.duals)

    def begin_average(self, problem: Problem, state: State) -> State:
        state.moving[[kernels.primal.SCALE_SUM, kernels.primal.AVERAGED, kernels.primal.OFFSET_SUM]] = 0.0
        return state._replace(dual_sums=np.zeros(problem.rows.count), dual_total=np.zeros(problem.rows.count))

    def average(self, problem: Problem, state: State) -> Answer:
        averaged = state.moving[kernels.primal.AVERAGED]
        if averaged == 0.0 or state.dual_sums is None:
            return self.answer(problem, state)
        sums = state.dual_total + (state.moving[kernels.primal.SCALE_SUM] * state.duals - state.dual_sums)
        duals = sums / averaged
        # w(α) is linear, so the mean of the weights is the weights of the mean duals, and the mean offset if there is one.
        weights = problem.weights_of(duals)
        if state.offset is not None:
            weights += (state.moving[kernels.primal.OFFSET_SUM] / averaged) * state.offset
        return Answer(weights, float(state.moving[kernels.primal.INTERCEPT]), duals)


def longest(problem: Problem) -> float:
    """max over rows of (n s_i/S)(‖x_i‖² + ρ): how far one row can bend the sampled objective."""
    squares = problem.rows.squared_norms + intercept_mobility(problem)
    if problem.sample_weight is not None:
        with np.errstate(over="ignore"):  # an infinite length makes the step as small as float64 has
            squares = squares * problem.sample_weight * (problem.rows.count / problem.total_weight)
    return float(squares.max())


def default_step(problem: Problem, length: float) -> float:
    """1/(smoothness·‖x‖² + λ); for a kink, the step that moves one row's score by about its loss at zero."""
    loss = problem.loss
    if length <= 0.0:
        return 1.0 / problem.strength
    if loss.has_kink:
        scale = problem.baseline / loss.lipschitz or 1.0
        return scale / (loss.lipschitz * length + problem.strength * scale)
    return 1.0 / (loss.smoothness * length + problem.strength)


def first_update(problem: Problem, step: float) -> float:
    """The number of an update at which 1/(λt) is the given step; finite for a step so small that λ·step is no float64."""
    return 1.0 / max(problem.strength * step, TINY)
