"""SDCA on the softmax model: dual coordinate ascent over one row's simplex at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.losses.multinomial import Matrix, Vector
from dualgap.problem import MultinomialProblem
from dualgap.solvers.base import INTERCEPT_FRACTION, SAMPLINGS, Answer, Random, Solver, draw_order


class State(NamedTuple):
    """Duals, the weights they give, and the intercepts."""

    duals: Matrix
    weights: Matrix
    intercept: Vector


@dataclass(frozen=True, kw_only=True)
class SoftmaxSDCA(Solver[MultinomialProblem, State]):
    """Stochastic dual coordinate ascent on the entropy dual; `SDCA` makes one for a softmax problem."""

    sampling: str = "permutation"

    name: ClassVar[str] = "sdca"
    summary: ClassVar[str] = "maximizes the dual of the softmax model exactly over one row at a time; no step size"
    is_ascent: ClassVar[bool] = True
    fits_softmax: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)

    def start(self, problem: MultinomialProblem, warm: Answer | None, tol: float = 0.0) -> State:
        if warm is None:
            # Zero duals are a corner where the entropy is infinitely steep; one step leaves it.
            return State(np.zeros(problem.duals_shape), np.zeros(problem.weights_shape), problem.constant.copy())
        intercept = np.array(warm.intercept, dtype=np.float64)
        if warm.duals is None:
            duals = problem.suggested_duals(problem.scores(warm.weights, intercept))
        else:
            duals = problem.clipped_duals(warm.duals)
        return State(duals, problem.weights_of(duals), intercept)

    def plan(self, problem: MultinomialProblem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return draw_order(problem.rows.count, self.sampling, epoch, random)

    def advance(self, problem: MultinomialProblem, state: State, steps: NDArray[Any]) -> State:
        from dualgap.kernels.multinomial import multinomial_steps  # newton must not pay for loading Numba

        rows = problem.rows
        multinomial_steps(
            rows.arrays,
            problem.labels,
            rows.squared_norms,
            problem.sample_weight,
            problem.lambda_n,
            _intercept_scale(problem),
            steps,
            state.duals,
            state.weights,
            state.intercept,
        )
        return state

    def end_epoch(self, problem: MultinomialProblem, state: State) -> State:
        if problem.intercept:
            # The proximal center moves to b, which moves b itself by the same amount once more.
            state.intercept[:] += problem.dual_sums(state.duals) * problem.total_weight * _intercept_scale(problem)
        return state

    def answer(self, problem: MultinomialProblem, state: State) -> Answer:
        return Answer(state.weights, state.intercept, state.duals)


def _intercept_scale(problem: MultinomialProblem) -> float:
    """1/(μS), the step of an intercept for each change of a dual; 0 without intercepts."""
    if not problem.intercept:
        return 0.0
    return (INTERCEPT_FRACTION * problem.mean_squared_norm or 1.0) / problem.lambda_n
