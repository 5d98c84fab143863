"""ASDCA: accelerated mini-batch stochastic dual coordinate ascent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import cbrt, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.linalg.elementary import is_number
from dualgap.linalg.floats import HALF_DIGITS
from dualgap.losses import Loss
from dualgap.problem import Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import Answer, Random, Solver, Vector, draw_batches, dual_iterate_sums, warm_duals
from dualgap.solvers.primal import longest


class State(NamedTuple):
    """Duals, the weights they give, and how far w lags behind them: w = dual_weights + scale·lag."""

    duals: Vector
    dual_weights: Vector
    lag: Vector
    scalars: Any
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class ASDCA(Solver[Problem, State]):
    """Accelerated mini-batch SDCA (Shalev-Shwartz & Zhang, NIPS 2013).

    `theta` is a number in (0, 1], or a factor of the paper's own choice as in "16x". A loss with a kink is replaced by
    `loss.smoothed(gamma)` inside; its duals are feasible for the problem's own loss, and trace and certificate speak of that.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.ASDCA(batch_size=2, theta="16x"), tol=1e-3, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    batch_size: int = 8
    theta: float | str | None = None
    gamma: float = 1.0

    name: ClassVar[str] = "asdca"
    summary: ClassVar[str] = "accelerated dual steps on a batch, between SDCA and accelerated gradient descent"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_integer("batch_size")
        self.positive("gamma")
        self._factor()

    def _factor(self) -> float | None:
        """The factor in a theta like "16x"; None where theta is a number or left out."""
        if self.theta is None:
            return 1.0
        if isinstance(self.theta, str):
            match = re.fullmatch(r"(\d+\.?\d*(?:[eE][-+]?\d+)?)x", self.theta)
            if match and float(match[1]) > 0:
                return float(match[1])
        elif is_number(self.theta) and 0.0 < self.theta <= 1.0:
            return None
        raise ValueError(
            f"asdca needs theta in (0, 1] or a factor like '16x', got {self.theta!r}; leave it out for the paper's"
        )

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.refuse_intercept(problem)
        self.refuse_unbounded(problem)

    def inner_loss(self, problem: Problem) -> Loss:
        """The smooth loss that is worked on."""
        return problem.loss.smoothed(self.gamma) if problem.loss.has_kink else problem.loss

    def theta_for(self, problem: Problem) -> float:
        """θ = ¼·min{1, √(γλn/m), γλn, (γλn)^⅔/m^⅓}, with γ divided by max‖x_i‖² where rows are longer than 1."""
        factor = self._factor()
        if factor is None:
            return float(self.theta)  # type: ignore[arg-type]
        gamma = 1.0 / (self.inner_loss(problem).smoothness * max(1.0, longest(problem)))
        batch = self.batch(problem)
        size = gamma * problem.strength * problem.rows.count
        careful = 0.25 * min(1.0, sqrt(size / batch), size, cbrt(size * size / batch))
        return float(min(1.0, factor * careful))

    def batch(self, problem: Problem) -> int:
        return min(self.batch_size, problem.rows.count)

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        dual_weights = np.zeros(problem.rows.dimension) if warm is None else problem.weights_of(duals)
        lag = np.zeros(problem.rows.dimension) if warm is None else warm.weights - dual_weights
        return State(duals, dual_weights, lag, kernels.asdca.new_scalars())

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return draw_batches(problem.rows.count, self.batch(problem), "random", epoch, random)

    def advance(self, problem: Problem, state: State, steps: NDArray[Any]) -> State:
        # 1 − θ must stay above zero, because the lag is a scaled vector.
        theta = min(self.theta_for(problem), 1.0 - HALF_DIGITS)
        kernels.asdca.asdca_steps(
            kernels.arguments.RowData(problem.rows.arrays, problem.labels, problem.sample_weight),
            kernels.families.kernel_loss(self.inner_loss(problem)),
            problem.lambda_n,
            theta,
            self.batch(problem),
            steps,
            *state,
        )
        return state

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(state.dual_weights + state.scalars.scale * state.lag, 0.0, state.duals)

    def iterate_sums(self, problem: Problem, state: State) -> tuple[Vector, Vector]:
        assert state.average is not None
        weights, duals = dual_iterate_sums(problem, state.average, state.duals)
        return weights + state.average.weights.of(state.lag, state.average.scalars.scale_sum), duals
