"""SparseNewton: rounds of Newton steps on a working set of columns, each with one pass over all columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.gram import compile_gram
from dualgap.problem import Problem
from dualgap.problem.base import scores_of
from dualgap.solvers.base import Answer, Random, Solver, Vector
from dualgap.solvers.newton.systems import square_rows
from dualgap.solvers.sparse_newton.inner import Inner, InnerGap, Point, Smooth, inner_gap
from dualgap.solvers.sparse_newton.settings import Settings
from dualgap.solvers.sparse_newton.steps import newton_steps
from dualgap.solvers.sparse_newton.working_set import Copies


class Best(NamedTuple):
    """The weights of the smallest P and the duals of the largest D so far; both bounds hold, whichever rounds they are from."""

    weights: Vector
    intercept: float
    primal: float
    duals: Vector
    dual: float

    def improved(self, point: Point, primal: float, duals: Vector, dual: float) -> Best:
        best = self
        if primal < best.primal:
            best = best._replace(weights=point.weights, intercept=point.intercept, primal=primal)
        return best._replace(duals=duals, dual=dual) if dual > best.dual else best


class State(NamedTuple):
    """An iterate on all columns, the duals it gives, and what the next round starts from."""

    stage: Problem
    """The problem at a strength that falls to its own one: the columns of weak ones are found on the way."""
    point: Point
    primal: float
    """P of the stage."""
    combination: Vector
    """x(α) of the duals that the point gives, at the strength of the stage."""
    best: Best
    gamma: float
    """γ of the inner problem; 0 for a loss without kinks."""
    least_gamma: float
    """γ does not fall below this."""
    centers: Vector
    """The multipliers of the inner problem."""
    row_gap: float
    """What kinks left of the gap when the multipliers were last set."""
    column_gap: float
    """What the point lacks to minimize its inner problem on all columns; 0 where new multipliers have made another one."""
    columns: NDArray[np.intp]
    """The working set, in rising order."""
    copies: Copies
    target: float
    """The relative gap to reach."""

    @property
    def gap(self) -> float:
        """P − D as the solver computes it."""
        return max(self.best.primal - self.best.dual, 0.0)


@dataclass(frozen=True, kw_only=True)
class SparseNewton(Solver[Problem, State]):
    """Newton's method on a working set of columns, for every penalty with an L1 part. A round is one epoch.

    A round adds the columns whose optimality conditions are violated most to the working set, takes Newton steps on it, and
    evaluates all columns. A step minimizes the quadratic model of the loss plus the penalty. A loss with kinks is smoothed by γ around
    multipliers (the method of multipliers). Once this inner problem is solved on all columns its duals are the next multipliers, and γ falls
    where that brought little; so duals prove a gap far below γ.

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

        compile_passes(problem.rows)
        if problem.rows.is_sparse:
            one = problem.rows.take_columns(np.arange(1))
            compile_gram(one, square_rows(one))

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None, tol: float = 0.0) -> State:
        zero = Point(np.zeros(problem.rows.dimension), problem.constant, np.full(problem.rows.count, problem.constant))
        point, centers = zero, None
        if warm is not None:
            scores = scores_of(problem.rows, warm.weights, warm.intercept)
            point, centers = Point(warm.weights.copy(), float(warm.intercept), scores), warm.duals
            if not problem.primal(scores, point.weights) <= problem.baseline:
                point = zero
        gamma = 0.0
        if problem.loss.has_kink:
            # φ_γ of the first round is curved as far as the arguments of the loss reach.
            size = problem.mean(np.abs(problem.loss.argument(point.scores, problem.labels)))
            gamma = 2.0 * size / problem.loss.lipschitz or 1.0
        if centers is None or not problem.loss.has_kink:
            centers = self._smooth(problem, gamma, None).duals(problem, point.scores)
        duals = problem.loss.clip(centers, problem.labels)
        best = Best(zero.weights, zero.intercept, problem.baseline, np.zeros_like(duals), 0.0)
        least = self.settings.least_gamma * gamma
        none = np.empty(0, dtype=np.intp)
        state = State(problem, point, np.inf, zero.weights, best, gamma, least, duals, np.inf, 0.0, none, Copies(), tol)
        state, _ = self._evaluated(problem, state, point, duals)
        largest = 0.0
        if problem.rows.dimension > problem.rows.count:
            # With fewer rows than columns a small λ interpolates: a working set that grew at that λ would have more columns than rows.
            largest = problem.strength * float(np.abs(state.combination).max()) / problem.l1_ratio
        return self._at_strength(problem, state, duals, self.settings.strength_decay * largest)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        if not len(steps):
            return state
        working_set = state.copies.of(problem.rows, self._working_set(problem, state))
        columns = working_set.columns
        stage, whole, is_last = state.stage, state.point, state.stage.strength == problem.strength
        smooth = self._smooth(problem, state.gamma, state.centers)
        relative = state.target if is_last else self.settings.stage_gap
        target = self.settings.target_part * relative * state.primal
        goal = max(self.settings.inner_part * state.column_gap, target)
        found = newton_steps(
            Inner(stage, working_set, smooth), whole._replace(weights=whole.weights[columns]), goal, state.primal
        )
        weights = np.zeros_like(whole.weights)
        weights[columns] = found.weights
        point = found._replace(weights=weights)
        duals = smooth.duals(problem, point.scores)
        state, gap = self._evaluated(problem, state._replace(columns=columns), point, duals)
        if not is_last and gap.rows + gap.columns <= relative * state.primal:
            return self._at_strength(problem, state, duals, self.settings.strength_decay * stage.strength)
        if problem.loss.has_kink and gap.columns <= max(target, self.settings.solved_part * gap.rows):
            is_slow = gap.rows > self.settings.slow_part * state.row_gap
            gamma = max(state.gamma * self.settings.gamma_decay, state.least_gamma) if is_slow else state.gamma
            return state._replace(centers=duals, row_gap=gap.rows, column_gap=0.0, gamma=gamma)
        return state._replace(column_gap=gap.columns)

    def on_rejected(self, problem: Problem, state: State, target: float) -> State:
        # The estimate of D was wrong, so the next duals take the place of these.
        return state._replace(target=target, best=state.best._replace(dual=0.0))

    def estimated_gap(self, problem: Problem, state: State) -> float | None:
        return state.gap / state.best.primal if state.best.primal > 0.0 else np.inf

    def estimated_primal(self, problem: Problem, state: State) -> float | None:
        return state.best.primal

    def answer(self, problem: Problem, state: State) -> Answer:
        return Answer(state.best.weights, state.best.intercept, state.best.duals)

    def _smooth(self, problem: Problem, gamma: float, centers: Vector | None) -> Smooth:
        """The loss of the inner problem, around the multipliers."""
        if not problem.loss.has_kink:
            return Smooth(problem.loss, None)
        return Smooth(problem.loss.smoothed(gamma), None if centers is None else gamma * centers)

    def _working_set(self, problem: Problem, state: State) -> NDArray[np.intp]:
        """The old working set, the columns with a weight, and those that violate their optimality condition most."""
        is_in = state.point.weights != 0.0
        count = max(self.settings.least_added, int(np.count_nonzero(is_in)))
        is_in[state.columns] = True
        violation = np.abs(state.combination) - problem.l1_ratio
        violation[is_in] = -np.inf
        candidates = np.flatnonzero(violation > 0.0)
        if candidates.size > count:
            candidates = candidates[np.argpartition(-violation[candidates], count)[:count]]
        is_in[candidates] = True
        is_in[0] |= not is_in.any()
        return np.flatnonzero(is_in)

    def _evaluated(self, problem: Problem, state: State, point: Point, duals: Vector) -> tuple[State, InnerGap]:
        """The state at a point, with x(α) on all columns and the best bounds so far, and the point's own gap in its stage."""
        stage = state.stage
        combination = stage.combination_of(duals)
        primal = stage.primal(point.scores, point.weights)
        gap = inner_gap(stage, point, duals, combination, primal)
        own_primal, own_gap = primal, gap
        if stage.strength != problem.strength:
            own_primal = problem.primal(point.scores, point.weights)
            own_combination = combination * (stage.strength / problem.strength)
            own_gap = inner_gap(problem, point, duals, own_combination, own_primal)
        best = state.best.improved(point, own_primal, duals, own_primal - own_gap.rows - own_gap.columns)
        return state._replace(point=point, primal=primal, combination=combination, best=best), gap

    def _at_strength(self, problem: Problem, state: State, duals: Vector, strength: float) -> State:
        """The state at the beginning of the next stage, whose strength is at least the problem's own."""
        before = state.stage.strength
        stage = problem.with_strength(strength) if strength > problem.strength else problem
        combination = state.combination * (before / stage.strength)
        primal = stage.primal(state.point.scores, state.point.weights)
        gap = inner_gap(stage, state.point, duals, combination, primal)
        state = state._replace(stage=stage, primal=primal, combination=combination, centers=duals, row_gap=np.inf)
        return state._replace(column_gap=gap.columns, columns=np.flatnonzero(state.point.weights))
