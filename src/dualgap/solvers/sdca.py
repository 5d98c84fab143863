"""SDCA: stochastic dual coordinate ascent, with the modified-SGD first epoch, four samplings and shrinking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.linalg.floats import BELOW_ONE
from dualgap.problem import MultinomialProblem, Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import (
    SAMPLINGS,
    Answer,
    AnySolver,
    Random,
    Solver,
    Vector,
    draw_order,
    dual_iterate_sums,
    first_intercept,
    intercept_scale,
    no_rows,
    warm_duals,
)
from dualgap.solvers.elastic_net_sdca import ElasticNetSDCA
from dualgap.solvers.shrinking import Passes, StepCount, begin_passes, plan_passes, relative_gap, set_target
from dualgap.solvers.softmax_sdca import SoftmaxSDCA
from dualgap.spec import text_of

# The dual under an elastic net is as smooth as 1/(1 − ρ): any ρ below 1 has a step, if a short one.
LARGEST_L1_RATIO = BELOW_ONE


class State(NamedTuple):
    """Duals and the weights they give, with the scalars of `kernels/sdca.py`."""

    duals: Vector
    weights: Vector
    scalars: Any
    passes: Passes | None
    """Where rows are shrunk: which, and for how long."""
    is_first_epoch_open: bool
    """Whether the modified-SGD epoch is still being made."""
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class SDCA(Solver[Problem, State]):
    """Stochastic dual coordinate ascent (Shalev-Shwartz & Zhang, JMLR 2013).

    `first_epoch="sgd"` makes the first pass by modified SGD; averages begin after it. `shrinking` leaves rows
    that a bound holds out of some passes and extrapolates from pass to pass, with inexact steps where no formula gives the exact
    one; the certificate is always on all rows. It is for the last iterate and for passes that see a row once: averages, rows drawn
    with replacement, and rows in their stored order, are over plain epochs.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.SDCA(shrinking=True), tol=1e-6, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    sampling: str = "permutation"
    first_epoch: str = "sdca"
    shrinking: bool = False
    logistic_step: str = "newton"

    name: ClassVar[str] = "sdca"
    summary: ClassVar[str] = "maximizes the dual exactly over one row at a time; no step size"
    is_ascent: ClassVar[bool] = True
    fits_softmax: ClassVar[bool] = True
    largest_l1_ratio: ClassVar[float] = LARGEST_L1_RATIO

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("sampling", SAMPLINGS)
        self.one_of("first_epoch", ("sdca", "sgd"))
        self.one_of("logistic_step", ("newton", "closed_form"))
        if not isinstance(self.shrinking, bool):
            raise ValueError(f"sdca needs shrinking to be true or false, got {self.shrinking!r}")

    def check(self, problem: Problem | MultinomialProblem) -> None:
        plain = SDCA(sampling=self.sampling, output=self.output, average_from=self.average_from)
        if (problem.is_softmax or problem.penalty.is_sparse) and (self != plain or self.output == "average"):
            what = "the softmax model" if problem.is_softmax else "an elastic net"
            raise ValueError(f"{what} needs sdca with no option but sampling, got {text_of(self)}; use sdca")

    def specialized(self, problem: Problem | MultinomialProblem) -> AnySolver:
        options: dict[str, Any] = {"sampling": self.sampling, "output": self.output, "average_from": self.average_from}
        if problem.is_softmax:
            return SoftmaxSDCA(**options)
        return ElasticNetSDCA(**options) if problem.penalty.is_sparse else self

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        weights = np.zeros(problem.rows.dimension) if warm is None else problem.weights_of(duals)
        intercept = 0.0
        if problem.intercept:
            intercept = first_intercept(problem) if warm is None else warm.intercept
        scalars = kernels.sdca.new_scalars(intercept)
        shrinks = self.shrinking and self.output == "last" and self.sampling in ("permutation", "cyclic")
        passes = begin_passes(problem, tol, self.sampling == "permutation") if shrinks else None
        return State(duals, weights, scalars, passes, self.first_epoch == "sgd" and warm is None)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any] | StepCount:
        count = problem.rows.count
        if state.is_first_epoch_open:
            # Modified SGD is defined for a pass that sees each row once.
            return draw_order(count, "permutation" if self.sampling == "random" else self.sampling, epoch, random)
        if state.passes is not None:
            return plan_passes(problem, state.passes, state.duals, random)
        return draw_order(count, self.sampling, epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any] | StepCount) -> State:
        rows, loss = problem.rows, self._kernel_loss(problem)
        data = kernels.arguments.RowData(rows.arrays, problem.labels, problem.sample_weight)
        rate = intercept_scale(problem) / problem.lambda_n
        constants = kernels.arguments.DualConstants(rows.squared_norms, problem.strength, problem.lambda_n, rate)
        written = (state.duals, state.weights, state.scalars)
        if state.is_first_epoch_open:
            kernels.sdca.modified_sgd_steps(data, loss, constants, first_intercept(problem), steps, *written)
        elif isinstance(steps, StepCount):
            assert state.passes is not None
            steps.count = kernels.shrinking.passes(
                data,
                loss,
                constants,
                len(steps),
                state.passes.queue,
                state.passes.workspace,
                kernels.shrinking.Iterate(*written),
                state.passes.progress,
            )
        else:
            kernels.sdca.sdca_steps(data, loss, constants, steps, *written, state.average)
        return state

    def _kernel_loss(self, problem: Problem) -> Any:
        """The loss as kernels know it, with the dual step that was asked for."""
        is_closed_form = problem.loss.family == "logistic" and self.logistic_step == "closed_form"
        return kernels.families.kernel_loss(problem.loss, "logistic_closed_form" if is_closed_form else None)

    def prepare(self, problem: Problem) -> None:
        state = self.start(problem, None)
        nothing = no_rows(problem)
        if state.is_first_epoch_open:
            self.advance(problem, state, nothing)
        state = state._replace(is_first_epoch_open=False)
        self.advance(problem, state, nothing if state.passes is None else StepCount(0))
        if self.output == "average":
            self.advance(problem, self.begin_average(problem, state), nothing)

    def end_epoch(self, problem: Problem, state: State) -> State:
        if problem.intercept and (state.passes is None or state.is_first_epoch_open):
            # The proximal center moves to b, which moves b itself by the same amount once more.
            dual_sum = float(problem.weighted(state.duals).sum())
            state.scalars.intercept += dual_sum * intercept_scale(problem) / problem.lambda_n
        return state._replace(is_first_epoch_open=False)

    def on_rejected(self, problem: Problem, state: State, target: float) -> State:
        if state.passes is not None:
            set_target(problem, state.passes, target)
        return state

    def estimated_gap(self, problem: Problem, state: State) -> float | None:
        return None if state.passes is None else relative_gap(problem, state.passes)

    def estimated_primal(self, problem: Problem, state: State) -> float | None:
        return None if state.passes is None else float(state.passes.progress.least_primal)

    def answer(self, problem: Problem, state: State) -> Answer:
        weights, intercept = state.weights, float(state.scalars.intercept)
        touched = state.scalars.touched_weight
        if state.is_first_epoch_open and touched > 0.0:
            stretch = problem.total_weight / touched
            moved = (intercept - first_intercept(problem)) * stretch
            return Answer(weights * stretch, first_intercept(problem) + moved, state.duals)
        return Answer(weights, intercept, state.duals)

    def iterate_sums(self, problem: Problem, state: State) -> tuple[Vector, Vector]:
        assert state.average is not None
        return dual_iterate_sums(problem, state.average, state.duals)
