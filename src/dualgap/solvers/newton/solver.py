"""Newton: the solver that chooses one of five ways by the loss and the size of the problem, and hands every step to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

from dualgap.linalg.gram import compile_gram
from dualgap.losses import Squared
from dualgap.memory import ALWAYS_FREE, available_bytes
from dualgap.problem import BaseProblem, MultinomialProblem, Problem
from dualgap.solvers.averaging import Average
from dualgap.solvers.base import Answer, Random, Solver
from dualgap.solvers.newton import continuation, least_squares, smooth, softmax
from dualgap.solvers.newton.settings import SETTINGS, Settings
from dualgap.solvers.newton.systems import square_rows


class Method(Protocol):
    """One of Newton's five methods at its current state: Continuation, Smooth, LeastSquares, Truncated or SoftmaxNewton."""

    @property
    def next_rows(self) -> int:
        """How many rows the next step reads."""

    def advance(self) -> Method:
        """The state after the next step."""

    def estimated_gap(self) -> float:
        """The relative gap that the method estimates."""

    def estimated_primal(self) -> float | None:
        """The P of that estimate."""

    def answer(self) -> Answer:
        """The iterate; its duals are None while it is a subsample's."""

    def on_rejected(self, target: float) -> Method:
        """The state that aims at a smaller relative gap."""


class State(NamedTuple):
    """The method that was chosen, at its current state, and the sums of an average where one is collected."""

    method: Method
    average: Average | None = None


@dataclass(frozen=True, kw_only=True)
class Newton(Solver[Problem | MultinomialProblem, State]):
    """Newton's method with a line search; continuation in γ for losses with kinks. A step on all rows is one epoch.

    The squared loss takes one solve (`least_squares`). A smooth loss takes Newton steps with a dense Hessian (`smooth`) or, with
    many columns and rows, with products only (`truncated`). A loss with kinks is smoothed by a γ that decreases (`continuation`). The
    softmax model has Newton steps of its own (`softmax`).

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> result = dg.solve(dg.Problem(X, [1, -1, 1], "hinge", 0.1), "newton")
    >>> result.status.name
    'CERTIFIED'
    """

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "second-order steps on P, along a path of smoothed losses where there is a kink"
    suggests_its_duals: ClassVar[bool] = True
    leaves_old_state: ClassVar[bool] = True
    fits_softmax: ClassVar[bool] = True
    settings: ClassVar[Settings] = SETTINGS

    def check(self, problem: Problem | MultinomialProblem) -> None:
        if problem.is_softmax or self._is_truncated(problem):
            return
        size = min(problem.rows.dimension, problem.rows.count)
        # The matrix, its scaled copy and its factor; in row space the inner products and their eigenvectors.
        needed = 3 * 8 * size**2
        if needed > ALWAYS_FREE and needed > (half := available_bytes() // 2):
            raise ValueError(
                f"newton needs {needed / 2**30:.1f} GiB for a Hessian of {size} columns, "
                f"more than half of the free memory ({half / 2**30:.1f} GiB); use sdca"
            )

    def prepare(self, problem: Problem | MultinomialProblem) -> None:
        """Compile the products of sparse rows, or those of a truncated solve; dense rows and the softmax model need no kernel."""
        if problem.is_softmax:
            return
        if self._is_truncated(problem):
            from dualgap.solvers.newton.products import compile_products

            compile_products(problem.rows)
        elif problem.rows.is_sparse and problem.rows.dimension <= problem.rows.count:
            compile_gram(problem.rows, square_rows(problem.rows))

    def batch(self, problem: BaseProblem) -> int:
        return problem.rows.count

    def start(self, problem: Problem | MultinomialProblem, warm: Answer | None, tol: float = 0.0) -> State:
        if isinstance(problem, MultinomialProblem):
            return State(softmax.start(problem, warm, tol))
        if problem.loss.has_kink:
            return State(continuation.start(problem, warm, tol, self.settings))
        if self._is_truncated(problem):
            # Kernels are imported only where they are used: small problems need no compiler.
            from dualgap.solvers.newton import truncated

            return State(truncated.start(problem, warm, tol, self.settings))
        if isinstance(problem.loss, Squared):
            return State(least_squares.start(problem, warm))
        return State(smooth.start(problem, warm, tol, self.settings))

    def on_rejected(self, problem: BaseProblem, state: State, target: float) -> State:
        return state._replace(method=state.method.on_rejected(target))

    def plan(self, problem: BaseProblem, state: State, epoch: int, random: Random) -> range:
        return range(state.method.next_rows)

    def advance(self, problem: BaseProblem, state: State, steps: Any) -> State:
        method = state.method.advance()
        if state.average is not None and (answer := method.answer()).duals is not None:
            # A point without duals is on a subsample, and no iterate of the problem.
            state.average.add(answer.weights, answer.duals)
        return state._replace(method=method)

    def estimated_gap(self, problem: BaseProblem, state: State) -> float | None:
        return state.method.estimated_gap()

    def estimated_primal(self, problem: BaseProblem, state: State) -> float | None:
        return state.method.estimated_primal()

    def answer(self, problem: BaseProblem, state: State) -> Answer:
        return state.method.answer()

    def _is_truncated(self, problem: Any) -> bool:
        """Whether directions are found by products with the Hessian, because a matrix would be large."""
        size = min(problem.rows.count, problem.rows.dimension)
        return bool(not problem.loss.has_kink and size > self.settings.dense_side)
