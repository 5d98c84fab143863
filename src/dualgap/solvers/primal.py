"""What stochastic sub-gradient solvers have in common: a scaled state, batches, and duals that follow the weights."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.data.rows import Rows
from dualgap.losses import Loss
from dualgap.problem import Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import (
    SAMPLINGS,
    Answer,
    Random,
    Solver,
    Vector,
    draw_batches,
    first_intercept,
    intercept_scale,
)

TINY = float(np.finfo(np.float64).tiny)
# By the names kernels have for them, which are loaded with the first step.
SCHEDULES = {"constant": "CONSTANT", "inverse": "INVERSE", "sqrt": "SQUARE_ROOT"}


class State(NamedTuple):
    """Weights and duals divided by their common scale, with the scalars of `kernels/primal.py`."""

    weights: Vector
    duals: Vector
    scalars: Any
    offset: Vector | None
    """w − w(α) of a warm start, where its weights and duals disagree."""
    average: Average | None = None

    @staticmethod
    def at(weights: Vector, intercept: float, duals: Vector, updates: int = 0, offset: Vector | None = None) -> State:
        """The state at weights, intercept and duals after a number of updates."""
        scalars = kernels.primal.new_scalars(intercept, updates, weights @ weights, 0.0 if offset is None else 1.0)
        return State(weights, duals, scalars, offset)

    @property
    def updates(self) -> int:
        """Number of updates so far."""
        return int(self.scalars.updates)

    def answer(self) -> Answer:
        """The last iterate."""
        scale = self.scalars.scale
        return Answer(scale * self.weights, float(self.scalars.intercept), scale * self.duals)


class StepFacts(NamedTuple):
    """The quantities that a step size depends on: of a problem with all its rows, or of a stream's rows so far."""

    loss: Loss
    strength: float
    longest_row: float
    """max over rows of (n s_i/S)(‖x_i‖² + ρ)."""
    intercept_scale: float
    """ρ: a step in the intercept is this factor larger than a step in a weight; 0 without a free intercept."""
    primal_at_zero: float
    """P(0, 0)."""
    baseline: float
    """P(0, b) at the best b, or at the constant that a stream starts from."""

    @staticmethod
    def of(problem: Problem) -> StepFacts:
        return StepFacts(
            problem.loss,
            problem.strength,
            longest(problem),
            intercept_scale(problem),
            problem.primal_at_zero,
            problem.baseline,
        )

    def default_step(self) -> float:
        """The default step size for the longest row."""
        return default_step(self.loss, self.strength, self.baseline, self.longest_row)


class Step(NamedTuple):
    """The step size as the kernel takes it: a schedule, its number, and how much later the intercept is on it."""

    schedule: int
    number: float
    delay: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PrimalSolver(Solver[Problem, State]):
    """Sub-gradient steps on rows drawn at random; a subclass says which step size and whether to project."""

    batch_size: int = 1
    sampling: str = "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)
        self.check_integer("batch_size")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.refuse_unbounded(problem)

    @abstractmethod
    def step_for(self, facts: StepFacts) -> Step:
        """The step size."""

    def radius(self, facts: StepFacts) -> float:
        """The radius of the ball the weights are projected onto; 0 for none."""
        return 0.0

    def batch(self, problem: Problem) -> int:
        return min(self.batch_size, problem.rows.count)

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        if warm is None:
            return State.at(np.zeros(problem.rows.dimension), first_intercept(problem), np.zeros(problem.rows.count))
        weights = warm.weights.copy()
        duals = np.zeros(problem.rows.count) if warm.duals is None else warm.duals.copy()
        # A first step of 1/λ would throw a good start away, so a warm run counts as one epoch old.
        updates = -(-problem.rows.count // self.batch(problem))
        return State.at(weights, warm.intercept, duals, updates, weights - problem.weights_of(duals))

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return draw_batches(problem.rows.count, self.batch(problem), self.sampling, epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any]) -> State:
        weight_factor = problem.rows.count / problem.total_weight
        facts, batch = StepFacts.of(problem), self.batch(problem)
        self.step_over(problem.rows, problem.labels, problem.sample_weight, weight_factor, facts, batch, steps, state)
        return state

    def step_over(
        self,
        rows: Rows,
        labels: Vector,
        sample_weight: Vector | None,
        weight_factor: float,
        facts: StepFacts,
        batch: int,
        order: NDArray[Any],
        state: State,
    ) -> None:
        """Update `state` in place by steps over the rows in `order`, `batch` rows each; s_i counts times `weight_factor`."""
        settings = kernels.primal.StepSettings(
            *self.step_for(facts), self.radius(facts), facts.strength, weight_factor, facts.intercept_scale, batch
        )
        kernels.primal.primal_steps(
            kernels.arguments.RowData(rows.arrays, labels, sample_weight),
            kernels.families.kernel_loss(facts.loss),
            settings,
            order,
            state.weights,
            state.duals,
            state.scalars,
            state.average,
        )

    def answer(self, problem: Problem, state: State) -> Answer:
        return state.answer()

    def iterate_sums(self, problem: Problem, state: State) -> tuple[Vector, Vector]:
        """w(α) is linear, so the sum of the weights is w of the sum of the duals, and the offsets where there are any."""
        assert state.average is not None
        duals = state.average.duals.of(state.duals, state.average.scalars.scale_sum)
        weights = problem.weights_of(duals)
        if state.offset is not None:
            weights += state.average.scalars.offset_sum * state.offset
        return weights, duals


def longest(problem: Problem) -> float:
    """max over rows of (n s_i/S)(‖x_i‖² + ρ): the largest second derivative that one row adds to the sampled objective, over φ″."""
    squares = problem.rows.squared_norms + intercept_scale(problem)
    if problem.sample_weight is not None:
        with np.errstate(over="ignore"):  # an infinite squared norm makes the step as small as float64 has
            squares = squares * problem.sample_weight * (problem.rows.count / problem.total_weight)
    return float(squares.max())


def default_step(loss: Loss, strength: float, baseline: float, squared_norm: float) -> float:
    """1/(smoothness·‖x‖² + λ); for a kink, the step that moves one row's score by about its loss at zero."""
    if squared_norm <= 0.0:
        return 1.0 / strength
    if loss.has_kink:
        scale = baseline / loss.lipschitz or 1.0
        return scale / (loss.lipschitz * squared_norm + strength * scale)
    return 1.0 / (loss.smoothness * squared_norm + strength)


def first_update(strength: float, step: float) -> float:
    """The number of an update at which 1/(λt) is the given step; finite for a step so small that λ·step is no float64."""
    return 1.0 / max(strength * step, TINY)
