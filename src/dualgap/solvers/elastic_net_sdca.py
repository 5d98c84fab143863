"""SDCA under an elastic net: each step maximizes a lower bound of the dual over one row's dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

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
    draw_order,
    first_intercept,
    intercept_scale,
    warm_duals,
)


class State(NamedTuple):
    """Duals, their x(α), and the intercept among the scalars of `kernels/sdca.py`."""

    duals: Vector
    combination: Vector
    scalars: Any


@dataclass(frozen=True, kw_only=True)
class ElasticNetSDCA(Solver[Problem, State]):
    """Proximal SDCA for 0 < ρ < 1 (Shalev-Shwartz & Zhang, Math. Programming 2016); `SDCA` makes one for such a problem."""

    sampling: str = "permutation"

    name: ClassVar[str] = "sdca"
    summary: ClassVar[str] = "maximizes a lower bound of an elastic net's dual over one row at a time; no step size"
    is_ascent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        intercept = 0.0
        if problem.intercept:
            intercept = first_intercept(problem) if warm is None else warm.intercept
        return State(duals, problem.combination_of(duals), kernels.sdca.new_scalars(intercept))

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return draw_order(problem.rows.count, self.sampling, epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any]) -> State:
        rows = problem.rows
        rate = intercept_scale(problem) / problem.lambda_n
        kernels.elastic_net_sdca.elastic_net_steps(
            kernels.arguments.RowData(rows.arrays, problem.labels, problem.sample_weight),
            kernels.families.kernel_loss(problem.loss),
            kernels.arguments.DualConstants(rows.squared_norms, problem.strength, problem.lambda_n, rate),
            problem.l1_ratio,
            steps,
            *state,
        )
        return state

    def end_epoch(self, problem: Problem, state: State) -> State:
        if problem.intercept:
            # The proximal center moves to b, which moves b itself by the same amount once more.
            dual_sum = float(problem.weighted(state.duals).sum())
            state.scalars.intercept += dual_sum * intercept_scale(problem) / problem.lambda_n
        return state

    def answer(self, problem: Problem, state: State) -> Answer:
        weights = np.asarray(problem.penalty.dual_weights(state.combination))
        return Answer(weights, float(state.scalars.intercept), state.duals)
