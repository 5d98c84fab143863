"""What a solver is: settings, and the methods that the loop calls. A solver never measures itself.

`start` makes a state, `plan` says which rows an epoch touches in which order, `advance` consumes a slice of that plan,
`end_epoch` closes a finished one, and `answer` reads weights, intercept and duals off the state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Integral
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.elementary import is_number
from dualgap.problem import BaseProblem, Intercept, Problem
from dualgap.solvers.averaging import Average

Vector = NDArray[np.float64]
Random = Callable[[int], np.random.Generator]
"""The random numbers of an epoch, by its number: addressed, never carried."""

AProblem = TypeVar("AProblem", bound=BaseProblem)
AState = TypeVar("AState")

OUTPUTS = ("last", "average", "random")
SAMPLINGS = ("random", "permutation", "cyclic", "stored")

# A free intercept moves by proximal steps with 1/μ = INTERCEPT_FRACTION·mean‖x‖²/λ; with more, w and b undo each other's steps.
INTERCEPT_FRACTION = 0.05


class Answer(NamedTuple):
    """What a solver would return now."""

    weights: Vector
    intercept: Intercept
    duals: Vector | None


@dataclass(frozen=True, kw_only=True)
class Solver(ABC, Generic[AProblem, AState]):
    """Settings of an algorithm; every algorithm has the options that say which iterate is the output.

    Each algorithm has its own kinds of problem and of state; `check` refuses other problems before the run.
    """

    output: str = "last"
    average_from: float = 0.5

    name: ClassVar[str]
    summary: ClassVar[str]
    is_ascent: ClassVar[bool] = False
    """Whether D never falls, so that the duals it carries are the best it knows."""

    suggests_its_duals: ClassVar[bool] = False
    """Whether its duals are already those its scores suggest, so that the judge need not look for them."""

    fits_softmax: ClassVar[bool] = False
    """Whether it fits the softmax model too."""

    largest_l1_ratio: ClassVar[float] = 0.0
    """The largest L1 part ρ of the penalty that it fits; 0 for the L2 penalty alone."""

    leaves_old_state: ClassVar[bool] = False
    """Whether `advance` leaves the old state as it was until it is done, so that it can be stopped in the middle."""

    def __post_init__(self) -> None:
        self.one_of("output", OUTPUTS)
        if not (is_number(self.average_from) and 0.0 <= self.average_from < 1.0):
            raise ValueError(f"{self.name} needs 0 ≤ average_from < 1, got {self.average_from!r}; the papers use 0.5")

    def one_of(self, option: str, choices: tuple[str, ...]) -> None:
        """Refuse an option that is none of its choices."""
        if getattr(self, option) not in choices:
            raise ValueError(
                f"{self.name} needs {option} to be one of {', '.join(choices)}, got {getattr(self, option)!r}"
            )

    def positive(self, *options: str) -> None:
        """Refuse an option that was given and is not a positive finite number."""
        for option in options:
            value = getattr(self, option)
            if value is not None and not (is_number(value) and value > 0):
                raise ValueError(
                    f"{self.name} needs {option} > 0, got {value!r}; leave it out for a choice from the data"
                )

    def check_integer(self, option: str) -> None:
        """Refuse an option that is not a whole number of at least 1."""
        value = getattr(self, option)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{self.name} needs a whole {option} ≥ 1, got {value!r}; leave it out for the default")

    def check(self, problem: Any) -> None:
        """Refuse a problem this solver cannot do, in one sentence that names what would work."""
        if problem.is_softmax and not self.fits_softmax:
            raise ValueError(f"{self.name} fits two classes or real targets; use solver='auto' for the softmax model")

    def check_penalty(self, problem: Any) -> None:
        """Refuse an L1 part of the penalty that this solver cannot do."""
        if problem.l1_ratio > self.largest_l1_ratio:
            able = "fits the L2 penalty alone" if self.largest_l1_ratio == 0.0 else "needs l1_ratio < 1"
            raise ValueError(f"{self.name} {able}, got l1_ratio={problem.l1_ratio:g}; use solver='auto'")

    def specialized(self, problem: Any) -> AnySolver:
        """The solver that works on this problem: this one, or one for its kind."""
        return self

    def refuse_intercept(self, problem: Problem) -> None:
        if problem.intercept:
            raise ValueError(
                f"{self.name} cannot fit a free intercept; use sdca, pegasos, sgd or subgradient, or intercept=False"
            )

    def refuse_unbounded(self, problem: Problem) -> None:
        """Refuse a loss for which no step size is safe: neither its slope nor its second derivative is bounded."""
        loss = problem.loss
        if not (isfinite(loss.lipschitz) or isfinite(loss.smoothness)):
            raise ValueError(
                f"{self.name} cannot do {loss.name}, whose slope and second derivative are unbounded; use newton or sdca"
            )

    def prepare(self, problem: AProblem) -> None:
        """Compile what `advance` will call, by advancing over nothing."""
        state = self.start(problem, None)
        self.advance(problem, state, no_rows(problem))
        if self.output == "average":
            self.advance(problem, self.begin_average(problem, state), no_rows(problem))

    def batch(self, problem: AProblem) -> int:
        """How many rows one update touches."""
        return 1

    def values_a_row(self, problem: AProblem) -> float:
        """About how many numbers `advance` reads for each row of the plan."""
        return float(max(problem.rows.stored, 1) / problem.rows.count)

    @abstractmethod
    def start(self, problem: AProblem, warm: Answer | None, tol: float = 0.0) -> AState:
        """The first state, at zero or at a given answer; `tol` is the relative gap to reach."""

    @abstractmethod
    def plan(self, problem: AProblem, state: AState, epoch: int, random: Random) -> Any:
        """The rows of an epoch in order, `batch` of them to an update; anything that has a length and can be sliced."""

    @abstractmethod
    def advance(self, problem: AProblem, state: AState, steps: Any) -> AState:
        """The state after a slice of the plan; arrays inside are updated in place, the old state is spent."""

    def end_epoch(self, problem: AProblem, state: AState) -> AState:
        """The state after the last slice of an epoch's plan."""
        return state

    def on_rejected(self, problem: AProblem, state: AState, target: float) -> AState:
        """The state after a certificate that did not confirm `estimated_gap`: the estimate must reach `target` now."""
        return state

    def estimated_gap(self, problem: AProblem, state: AState) -> float | None:
        """The relative gap that the solver estimates at no cost after an epoch; the loop asks the judge once it reaches tol."""
        return None

    def estimated_primal(self, problem: AProblem, state: AState) -> float | None:
        """The P of which `estimated_gap` is a part; the loop needs it to compare the estimate with an absolute gap."""
        return None

    @abstractmethod
    def answer(self, problem: AProblem, state: AState) -> Answer:
        """The last iterate."""

    def begin_average(self, problem: AProblem, state: Any) -> AState:
        """The state that starts to sum its iterates from here on, in its field `average`."""
        averaged: AState = state._replace(average=Average.begin(problem.weights_shape, problem.duals_shape))
        return averaged

    def average(self, problem: AProblem, state: Any) -> Answer:
        """The mean of the iterates since `begin_average`, over updates, with the last intercept."""
        last = self.answer(problem, state)
        if state.average is None or state.average.scalars.updates == 0.0:
            return last
        weights, duals = self.iterate_sums(problem, state)
        updates = state.average.scalars.updates
        return Answer(weights / updates, last.intercept, duals / updates)

    def iterate_sums(self, problem: AProblem, state: Any) -> tuple[Vector, Vector]:
        """The sums of weights and duals since `begin_average`; here of iterates that were added whole."""
        return state.average.weights.total, state.average.duals.total


AnySolver: TypeAlias = Solver[Any, Any]
"""A solver of some kind of problem, with a state that only it knows."""


def integer_type(count: int) -> type[np.uint32] | type[np.uint64]:
    """Row numbers take four bytes where they fit."""
    return np.uint32 if count <= np.iinfo(np.uint32).max else np.uint64


def no_rows(problem: BaseProblem) -> NDArray[Any]:
    """An empty slice of a plan."""
    return np.empty(0, dtype=integer_type(problem.rows.count))


def draw_order(count: int, sampling: str, epoch: int, random: Random) -> NDArray[Any]:
    """Row numbers for one epoch: with replacement, a fresh permutation, the one permutation of epoch 0, or as stored."""
    kind = integer_type(count)
    if sampling == "random":
        return random(epoch).integers(0, count, count, dtype=kind)
    order = np.arange(count, dtype=kind)
    if sampling != "stored":
        random(0 if sampling == "cyclic" else epoch).shuffle(order)
    return order


def draw_batches(count: int, size: int, sampling: str, epoch: int, random: Random) -> NDArray[Any]:
    """Row numbers for one epoch of batches: a partition of the rows, or independent draws of distinct rows each."""
    if sampling != "random" or size == 1:
        return draw_order(count, sampling, epoch, random)
    generator, kind = random(epoch), integer_type(count)
    batches = -(-count // size)
    if size * size > count:
        return np.concatenate([generator.choice(count, size, replace=False) for _ in range(batches)]).astype(kind)
    # Few repeats are expected, so drawing those batches again is cheaper than drawing without replacement.
    rows = generator.integers(0, count, (batches, size), dtype=kind)
    while True:
        ordered = np.sort(rows, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not repeated.any():
            return rows.ravel()
        rows[repeated] = generator.integers(0, count, (int(repeated.sum()), size), dtype=kind)


def warm_duals(problem: Problem, warm: Answer | None) -> Vector:
    """Feasible duals to start from: the given ones, or those the given weights suggest, or zero."""
    if warm is None:
        return np.zeros(problem.rows.count)
    loss = problem.loss
    if warm.duals is None:
        duals = loss.dual_candidate(problem.scores(warm.weights, warm.intercept), problem.labels)
    else:
        duals = loss.clip(warm.duals, problem.labels)
    if isfinite(loss.lipschitz) or isfinite(loss.smoothness):
        return duals
    # Under a steep loss a score that is a little too large suggests a dual that is far too large: zero duals, where D = 0, are then a
    # better start.
    return duals if problem.dual(duals, problem.weights_of(duals)) > 0.0 else np.zeros(problem.rows.count)


def dual_iterate_sums(problem: Problem, average: Average, duals: Vector) -> tuple[Vector, Vector]:
    """The sums of w(α) and α over iterates whose weights are w(α); w(α) is linear."""
    total = average.duals.of(duals, average.scalars.updates)
    return problem.weights_of(total), total


def first_intercept(problem: Problem) -> float:
    """The start of a free intercept: the best constant for real targets, 0 for labels, because scores of labels are near ±1."""
    return problem.constant if problem.loss.task == "regression" else 0.0


def primal_at_cold_start(problem: Problem) -> float:
    """P at zero weights and the first intercept."""
    return problem.baseline if problem.loss.task == "regression" else problem.primal_at_zero


def intercept_scale(problem: Problem) -> float:
    """ρ·mean‖x‖², by which a step in b is larger than a step in a weight; 0 without a free intercept."""
    return intercept_scale_for(problem.mean_squared_norm) if problem.intercept else 0.0


def intercept_scale_for(mean_squared_norm: float) -> float:
    """ρ·mean‖x‖² of rows of this mean squared norm; 1 where all rows are empty."""
    return INTERCEPT_FRACTION * mean_squared_norm or 1.0
