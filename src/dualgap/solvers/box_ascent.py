"""BoxAscent: exact coordinate ascent on the dual in fixed order, on the precomputed Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap import kernels
from dualgap.memory import available_bytes
from dualgap.problem import Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import Answer, Random, Solver, Vector, dual_iterate_sums, integer_type, warm_duals


class State(NamedTuple):
    """The Gram matrix and the duals, with and without their row weights."""

    gram: Vector
    duals: Vector
    weighted_duals: Vector
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class BoxAscent(Solver[Problem, State]):
    """Coordinate by coordinate, α_i becomes the maximizer of D within its interval; no step size, no randomness.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> problem = dg.Problem(X, [1, -1, 1], "smoothed_hinge", 0.1)
    >>> dg.solve(problem, dg.BoxAscent(), tol=1e-6, max_epochs=100_000).status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "box_ascent"
    summary: ClassVar[str] = (
        "exact dual coordinate ascent in fixed order on the Gram matrix; for up to some 10,000 rows"
    )
    is_ascent: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.refuse_intercept(problem)
        needed, half = 8 * problem.rows.count**2, available_bytes() // 2
        if needed > half:
            raise ValueError(
                f"box_ascent needs {needed / 2**30:.1f} GiB for the Gram matrix of {problem.rows.count} rows, "
                f"more than half of the free memory ({half / 2**30:.1f} GiB); use sdca"
            )

    def prepare(self, problem: Problem) -> None:
        nothing = np.empty(0, dtype=integer_type(problem.rows.count))
        loss, empty = kernels.families.kernel_loss(problem.loss), np.empty(0)
        kernels.ascent.box_steps(
            np.empty((0, 0)),
            problem.labels[:0],
            problem.sample_weight,
            loss,
            1.0,
            nothing,
            empty,
            empty,
            None,
        )

    def values_a_row(self, problem: Problem) -> float:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        duals = warm_duals(problem, warm)
        return State(problem.rows.gram(), duals, problem.weighted(duals).copy())

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> NDArray[Any]:
        return np.arange(problem.rows.count, dtype=integer_type(problem.rows.count))

    def advance(self, problem: Problem, state: State, steps: NDArray[Any]) -> State:
        kernels.ascent.box_steps(
            state.gram,
            problem.labels,
            problem.sample_weight,
            kernels.families.kernel_loss(problem.loss),
            problem.lambda_n,
            steps,
            state.duals,
            state.weighted_duals,
            state.average,
        )
        return state

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(problem.weights_of(state.duals), 0.0, state.duals)

    def iterate_sums(self, problem: Problem, state: State) -> tuple[Vector, Vector]:
        assert state.average is not None
        return dual_iterate_sums(problem, state.average, state.duals)
