"""ProjectedAscent: projected gradient ascent on the dual, all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dualgap import kernels
from dualgap.linalg.floats import TINY
from dualgap.losses.base import QuadraticFamily
from dualgap.problem import Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import Answer, Random, Solver, Vector, warm_duals

# Iterations for the largest eigenvalue at most, and the relative change in one of them at which it is taken as found.
POWER_ITERATIONS, POWER_TOLERANCE = 100, 1e-4
# Factor of what the iteration found, which approaches the eigenvalue from below. A smaller factor could leave steps above the inverse,
# a larger one makes every step shorter; D rises with any step below twice the inverse.
EIGENVALUE_MARGIN = 1.05


class State(NamedTuple):
    """Duals, the weights they give, and the bound on the Hessian of D that sets the step size."""

    duals: Vector
    weights: Vector
    dual_curvature: float
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class ProjectedAscent(Solver[Problem, State]):
    """α ← projection of α + step·∇, with ∇_i = −φ_i*′(−α_i) − z_i; `step` is 1/Lipschitz unless given.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.ProjectedAscent(), tol=1e-6, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    step: float | None = None

    name: ClassVar[str] = "projected_ascent"
    summary: ClassVar[str] = "projected gradient ascent on the dual, one step an epoch"
    is_ascent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.positive("step")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.refuse_intercept(problem)
        if not isinstance(problem.loss, QuadraticFamily):
            raise ValueError(
                f"projected_ascent cannot do {problem.loss.name}, whose dual gradient is unbounded; use sdca or newton"
            )
        gamma = problem.loss.dual_gamma
        if self.step is not None and gamma * self.step > 1.0:
            raise ValueError(
                f"projected_ascent needs step ≤ {1.0 / gamma:g} for {problem.loss.name}, got {self.step}; leave it out"
            )

    def prepare(self, problem: Problem) -> None:
        kernels.ascent.step_all_duals(
            problem.labels[:0], kernels.families.kernel_loss(problem.loss), 1.0, np.empty(0), np.empty(0)
        )

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        weights = np.zeros(problem.rows.dimension) if warm is None else problem.weights_of(duals)
        if self.step is None:
            dual_curvature = largest_dual_curvature(problem)
        else:
            dual_curvature = 1.0 / self.step - problem.loss.parameters()["gamma"]
        return State(duals, weights, dual_curvature)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        scores = problem.scores(state.weights)
        kernels.ascent.step_all_duals(
            problem.labels, kernels.families.kernel_loss(problem.loss), state.dual_curvature, scores, state.duals
        )
        weights = problem.weights_of(state.duals)
        if state.average is not None:
            state.average.add(weights, state.duals)
        return state._replace(weights=weights)

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(state.weights, 0.0, state.duals)


def largest_dual_curvature(problem: Problem) -> float:
    """The largest eigenvalue of Σ s_i x_i x_iᵀ/(λS), by power iteration; a step of its inverse never lowers D."""
    # Any start that is orthogonal to no eigenvector will do; a fixed one keeps runs equal to the bit.
    direction = np.cos(np.arange(problem.rows.dimension) + 1.0)
    largest = 0.0
    for _ in range(POWER_ITERATIONS):
        direction /= np.linalg.norm(direction)
        # w(X v) is XᵀS X v/(λS).
        direction = problem.weights_of(problem.scores(direction))
        # Numbers beyond 1e154 cannot be squared, so the largest is taken out first.
        unit = float(np.abs(direction).max()) or 1.0
        direction /= unit
        before, largest = largest, unit * float(np.linalg.norm(direction))
        if largest == 0.0 or abs(largest - before) <= POWER_TOLERANCE * largest:
            break
    return max(EIGENVALUE_MARGIN * largest, TINY)
