"""SDCA: stochastic dual coordinate ascent, with the modified-SGD first epoch, three samplings and shrinking."""

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
    intercept_mobility,
    no_rows,
    warm_duals,
)
from dualgap.solvers.shrinking import Passes, Visits, begin_passes, make_visits, plan_visits, relative_gap


class State(NamedTuple):
    """Duals and the weights they give, with the numbers that move along."""

    duals: Vector
    weights: Vector
    moving: Vector
    dual_sums: Vector | None
    passes: Passes | None
    first_epoch_open: bool
    """Whether the modified-SGD epoch is still being made."""


@dataclass(frozen=True, kw_only=True)
class SDCA(Solver):
    """Stochastic dual coordinate ascent (Shalev-Shwartz & Zhang, JMLR 2013).

    `first_epoch="sgd"` makes the first pass by modified SGD; averages begin after it. `shrinking` lets rows that a bound
    holds sleep for some passes and extrapolates from pass to pass, with steps near the best where no formula gives it; the
    certificate is always on all rows. It is for the last iterate and for passes that see a row once: averages, and rows drawn
    with replacement, are over plain epochs.
    """

    sampling: str = "permutation"
    first_epoch: str = "sdca"
    shrinking: bool = False
    logistic_step: str = "newton"

    name: ClassVar[str] = "sdca"
    summary: ClassVar[str] = "maximizes the dual exactly over one row at a time; no step size"
    is_ascent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)
        self.one_of("first_epoch", ("sdca", "sgd"))
        self.one_of("logistic_step", ("newton", "closed_form"))
        if not isinstance(self.shrinking, bool):
            raise ValueError(f"sdca needs shrinking to be true or false, got {self.shrinking!r}")

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        weights = np.zeros(problem.rows.dimension) if warm is None else problem.weights_of(duals)
        moving = np.zeros(kernels.shrinking.PLACES)
        moving[kernels.shrinking.TOL] = tol
        if problem.intercept:
            moving[kernels.sdca.INTERCEPT] = first_intercept(problem) if warm is None else warm.intercept
        shrinks = self.shrinking and self.output == "last" and self.sampling != "random"
        passes = begin_passes(problem, duals, weights, moving) if shrinks else None
        return State(duals, weights, moving, None, passes, self.first_epoch == "sgd" and warm is None)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any] | Visits:
        count = problem.rows.count
        if state.first_epoch_open:
            # Modified SGD is defined for a pass that sees each row once.
            return draw_order(count, "cyclic" if self.sampling == "cyclic" else "permutation", epoch, random)
        if state.passes is not None:
            return plan_visits(problem, state.passes, random)
        return draw_order(count, self.sampling, epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any] | Visits) -> State:
        rows, loss = problem.rows, self._kernel_loss(problem)
        common = (rows.arrays, problem.labels, rows.squared_norms, problem.sample_weight, loss)
        rate = intercept_mobility(problem) / problem.lambda_n
        written = (state.duals, state.weights, state.moving)
        if state.first_epoch_open:
            kernels.sdca.modified_sgd_steps(
                *common, problem.strength, problem.lambda_n, rate, first_intercept(problem), steps, *written
            )
        elif isinstance(steps, Visits):
            assert state.passes is not None
            make_visits(problem, loss, self.sampling == "permutation", steps, state.passes)
        else:
            kernels.sdca.sdca_steps(*common, problem.lambda_n, rate, steps, *written, state.dual_sums)
        return state

    def _kernel_loss(self, problem: Problem) -> Any:
        """The loss as kernels know it, with the dual step that was asked for."""
        is_closed_form = problem.loss.family == "logistic" and self.logistic_step == "closed_form"
        return kernels.families.kernel_loss(problem.loss, "logistic_closed_form" if is_closed_form else None)

    def prepare(self, problem: Problem) -> None:
        state = self.start(problem, None)
        nothing = no_rows(problem)
        if state.first_epoch_open:
            self.advance(problem, state, nothing)
        self.advance(problem, state._replace(first_epoch_open=False), nothing if state.passes is None else Visits(0))

    def end_epoch(self, problem: Problem, state: State) -> State:
        if problem.intercept and (state.passes is None or state.first_epoch_open):
            # The proximal center moves to where b is, which carries b on by as much again.
            residue = float(problem.weighted(state.duals).sum())
            state.moving[kernels.sdca.INTERCEPT] += residue * intercept_mobility(problem) / problem.lambda_n
        return state._replace(first_epoch_open=False)

    def on_rejected(self, problem: Problem, state: State, target: float) -> State:
        state.moving[kernels.shrinking.TOL] = target
        return state

    def estimated_gap(self, problem: Problem, state: State) -> float | None:
        return None if state.passes is None else relative_gap(problem, state.passes)

    def answer(self, problem: Problem, state: State) -> Answer:
        weights, intercept = state.weights, float(state.moving[kernels.sdca.INTERCEPT])
        seen = state.moving[kernels.sdca.SEEN_WEIGHT]
        if state.first_epoch_open and seen > 0.0:
            stretch = problem.total_weight / seen
            moved = (intercept - first_intercept(problem)) * stretch
            return Answer(weights * stretch, first_intercept(problem) + moved, state.duals)
        return Answer(weights, intercept, state.duals)

    def begin_average(self, problem: Problem, state: State) -> State:
        state.moving[kernels.sdca.AVERAGED] = 0.0
        return state._replace(dual_sums=np.zeros(problem.rows.count))

    def average(self, problem: Problem, state: State) -> Answer:
        averaged = state.moving[kernels.sdca.AVERAGED]
        if averaged == 0.0 or state.dual_sums is None:
            return self.answer(problem, state)
        # w(α) is linear, so the mean of the weights is the weights of the mean duals.
        duals = state.duals - state.dual_sums / averaged
        return Answer(problem.weights_of(duals), float(state.moving[kernels.sdca.INTERCEPT]), duals)
