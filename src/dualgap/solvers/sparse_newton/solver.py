"""SparseNewton: rounds of Newton steps on a working set of columns, each with one pass over all columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.rows import Rows
from dualgap.linalg.gram import compile_gram
from dualgap.problem import Problem
from dualgap.problem.base import scores_of
from dualgap.solvers.base import Answer, Random, Solver, Vector, first_intercept
from dualgap.solvers.newton.systems import square_rows
from dualgap.solvers.sparse_newton.inner import Point, Smooth, newton_steps, overshoot
from dualgap.solvers.sparse_newton.settings import Settings


class State(NamedTuple):
    """An iterate on all columns, the duals it gives, and what the next round starts from."""

    weights: Vector
    intercept: float
    scores: Vector
    duals: Vector
    combination: Vector
    """x(α)."""
    primal: float
    gap: float
    """P − D as the solver computes it."""
    gamma: float
    """γ of the inner problems; 0 for a loss without kinks."""
    least_gamma: float
    """γ does not fall below this."""
    columns: NDArray[np.intp]
    """The working set, in rising order."""
    rows: Rows | None
    """The rows with these columns alone."""
    target: float
    """The relative gap to reach."""


@dataclass(frozen=True, kw_only=True)
class SparseNewton(Solver[Problem, State]):
    """Newton's method on a working set of columns, for every penalty with an L1 part. A round is one epoch.

    A round adds the columns whose optimality conditions are violated most to the working set, takes Newton steps on it, and
    evaluates all columns. A step minimizes the quadratic model of the loss plus the penalty. A loss with kinks is smoothed by a γ that decreases
    from round to round, around the duals of the round before (the method of multipliers), so that its duals prove a gap far below γ.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 0.1], [1.0, 0.1], [0.0, 0.0]])
    >>> result = dg.solve(dg.Problem(X, [1, -1, 1, -1], "hinge", 0.1, l1_ratio=1.0), "sparse_newton")
    >>> result.status.name, int(np.count_nonzero(result.weights))
    ('CERTIFIED', 1)
    """

    name: ClassVar[str] = "sparse_newton"
    summary: ClassVar[str] = "Newton steps on a working set of columns, for penalties with an L1 part"
    suggests_its_duals: ClassVar[bool] = True
    leaves_old_state: ClassVar[bool] = True
    largest_l1_ratio: ClassVar[float] = 1.0
    settings: ClassVar[Settings] = Settings()

    def check(self, problem: Any) -> None:
        super().check(problem)
        if not problem.penalty.is_sparse:
            raise ValueError("sparse_newton needs l1_ratio > 0, got 0; use newton")

    def prepare(self, problem: Problem) -> None:
        from dualgap.solvers.sparse_newton.quadratic import compile_passes

        compile_passes()
        if problem.rows.is_sparse:
            one = problem.rows.take_columns(np.arange(1))
            compile_gram(one, square_rows(one))

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        if warm is None:
            weights, intercept = np.zeros(problem.rows.dimension), first_intercept(problem)
            if problem.intercept:
                intercept = problem.constant
            centers = None
        else:
            weights, intercept, centers = warm.weights.copy(), float(warm.intercept), warm.duals
        scores = scores_of(problem.rows, weights, intercept)
        gamma = 0.0
        if problem.loss.has_kink:
            # φ_γ of the first round is curved as far as the arguments of the loss reach.
            size = problem.mean(np.abs(problem.loss.argument(scores, problem.labels)))
            gamma = 2.0 * size / problem.loss.lipschitz or 1.0
        if centers is None or not problem.loss.has_kink:
            centers = self._smooth(problem, gamma, None).duals(problem, scores)
        duals = problem.loss.clip(centers, problem.labels)
        none = np.empty(0, dtype=np.intp)
        least = self.settings.least_gamma * gamma
        return self._evaluated(problem, Point(weights, intercept, scores), duals, (gamma, least), none, None, tol)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        if not len(steps):
            return state
        columns = self._working_set(problem, state)
        is_same = state.rows is not None and np.array_equal(columns, state.columns)
        rows = state.rows if is_same else problem.rows.take_columns(columns)
        assert rows is not None
        smooth = self._smooth(problem, state.gamma, state.duals)
        point = Point(state.weights[columns], state.intercept, state.scores)
        goal = max(self.settings.inner_part * state.gap, 0.3 * state.target * state.primal)
        found = newton_steps(problem, rows, smooth, point, goal, state.primal)
        weights = np.zeros_like(state.weights)
        weights[columns] = found.weights
        duals = smooth.duals(problem, found.scores)
        is_met = state.gap <= state.target * state.primal
        gamma = state.gamma if is_met else max(state.gamma * self.settings.gamma_decay, state.least_gamma)
        whole = Point(weights, found.intercept, found.scores)
        return self._evaluated(problem, whole, duals, (gamma, state.least_gamma), columns, rows, state.target)

    def on_rejected(self, problem: Problem, state: State, target: float) -> State:
        return state._replace(target=target)

    def estimated_gap(self, problem: Problem, state: State) -> float | None:
        return state.gap / state.primal if state.primal > 0.0 else np.inf

    def estimated_primal(self, problem: Problem, state: State) -> float | None:
        return state.primal

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(state.weights, state.intercept, state.duals)

    def _smooth(self, problem: Problem, gamma: float, centers: Vector | None) -> Smooth:
        """The loss of the inner problem, around the multipliers of the round before."""
        if not problem.loss.has_kink:
            return Smooth(problem.loss, None)
        return Smooth(problem.loss.smoothed(gamma), None if centers is None else gamma * centers)

    def _working_set(self, problem: Problem, state: State) -> NDArray[np.intp]:
        """The old working set, the columns with a weight, and those that violate their optimality condition most."""
        is_in = state.weights != 0.0
        is_in[state.columns] = True
        violation = np.abs(state.combination) - problem.l1_ratio
        violation[is_in] = -np.inf
        count = max(self.settings.least_added, int(np.count_nonzero(state.weights)))
        candidates = np.flatnonzero(violation > 0.0)
        if candidates.size > count:
            candidates = candidates[np.argpartition(-violation[candidates], count)[:count]]
        is_in[candidates] = True
        if not is_in.any():
            is_in[: min(1, is_in.size)] = True
        return np.flatnonzero(is_in)

    def _evaluated(
        self,
        problem: Problem,
        point: Point,
        duals: Vector,
        gammas: tuple[float, float],
        columns: NDArray[np.intp],
        rows: Rows | None,
        target: float,
    ) -> State:
        """The state at a point, with P, D and x(α) on all columns."""
        combination = problem.combination_of(duals)
        primal = problem.primal(point.scores, point.weights)
        factor = 1.0 - overshoot(problem, combination)
        used = combination if factor == 1.0 else factor * combination
        if not problem.penalty.has_dual_weights:
            used = np.clip(used, -1.0, 1.0)
        dual = problem.dual(duals if factor == 1.0 else factor * duals, used)
        if problem.intercept:
            # Σ s_iα_i is not zero before the judge makes it so, and D then counts b times it; P − D as a sum over rows does not.
            dual -= factor * point.intercept * problem.mean(duals)
        return State(
            point.weights,
            point.intercept,
            point.scores,
            duals,
            combination,
            primal,
            max(primal - max(dual, 0.0), 0.0),
            *gammas,
            columns,
            rows,
            target,
        )
