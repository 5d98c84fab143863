"""Huber regression with a fitted scale σ: problems at one σ after another, until the judge proves the gap in w, b and σ together.

At given weights the best σ is exact (`best_scale`), and the weights at given σ are a problem for `solve`. Taking turns converges
steadily; a secant step on log σ takes a few rounds instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Judgement
from dualgap.certificate.scale import ScaledJudgement, certify_with_scale
from dualgap.data.rows import Rows
from dualgap.losses import Huber
from dualgap.problem import Problem
from dualgap.result import Result, Status
from dualgap.trace import Clock, Record, Trace

Vector = NDArray[np.float64]
Point = tuple[Vector, float, Vector | None]
"""Weights, intercept and the duals of Q, where they are known."""
Solve = Callable[[Problem, Point | None, float, float | None, float | None], Result]
"""A run on a problem, from a start, to a tolerance, for at most a number of epochs and of seconds."""

# A round that misses tol makes the next runs ten times as exact. Fewer rounds than this leave float64 without digits.
MAX_ROUNDS = 40
# Runs at one σ aim at tol/10; the rest of tol is for σ and for rounding.
RUN_PART = 0.1
# The smallest relative gap that runs are asked for.
SMALLEST_TOL = 1e-13
# The smallest σ, divided by Q of a constant: at this size σ adds less than a millionth of `Certificate.reference` to the gap.
SMALLEST_SCALE = 1e-18
# σ where the targets are constant, and any σ > 0 will do: scikit-learn's smallest.
SCALE_OF_CONSTANT = 10.0 * float(np.finfo(np.float64).eps)


class ScaledResult(NamedTuple):
    """A run's answer in w, b and σ; certificate, duals and trace of `result` are those of Q."""

    result: Result
    scale: float
    problem: Problem
    """The problem at this scale."""
    at_scale: Judgement
    """What the judge says of that problem alone."""


@dataclass(frozen=True)
class ScaleSearch:
    """The data of a Huber regression, its ε, and the λ and ρ of Q."""

    rows: Rows
    targets: Vector
    sample_weight: Vector | None
    epsilon: float
    strength: float
    intercept: bool
    tol: float
    max_epochs: float | None = None
    max_seconds: float | None = None
    l1_ratio: float = 0.0

    def run(self, solve: Solve, start: Point | None = None, scale: float | None = None) -> ScaledResult:
        """Fit w, b and σ."""
        baseline, constant_scale = self.constant()
        smallest = SMALLEST_SCALE * baseline or SCALE_OF_CONSTANT
        sigma = max(constant_scale if scale is None else scale, smallest)
        records: list[Record] = []
        known: list[tuple[float, float]] = []
        tol, clock = RUN_PART * self.tol, Clock()
        result: Result | None = None
        for _ in range(MAX_ROUNDS):
            left, ending = self._left(records, clock)
            if result is not None and ending is not None:
                result = replace(result, status=ending)
                break
            result = solve(self.problem(sigma), _at_scale(start, sigma), max(tol, SMALLEST_TOL), *left)
            best = max(self.best_scale(result.weights, result.intercept), smallest)
            found, problem = self.judge(best, result, result.duals * (2.0 / sigma), baseline)
            records.append(_record(result, found, records))
            is_proven = found.certificate.proves(self.tol) and found.at_scale.certificate.proves(self.tol)
            if is_proven or result.status not in (Status.CERTIFIED, Status.STALLED):
                break
            known.append((log(sigma), log(best)))
            start = (found.at_scale.weights, float(found.at_scale.intercept), found.duals)
            sigma, tol = max(exp(_next(known)), smallest), 0.1 * tol
        assert result is not None
        status = Status.CERTIFIED if is_proven else result.status
        if status is Status.CERTIFIED and not is_proven:
            status = Status.STALLED
        answer = replace(
            result,
            weights=found.at_scale.weights,
            intercept=found.at_scale.intercept,
            duals=found.duals,
            certificate=found.certificate,
            status=status,
            trace=Trace(records),
            sentence=str(status.value),
        )
        return ScaledResult(answer, best, problem, found.at_scale)

    def _left(self, records: list[Record], clock: Clock) -> tuple[tuple[float | None, float | None], Status | None]:
        """The epochs and seconds that are left of the limits, and which of them has run out."""
        epochs = None if self.max_epochs is None else self.max_epochs - (records[-1].epoch if records else 0.0)
        seconds = None if self.max_seconds is None else self.max_seconds - (clock.elapsed() if records else 0.0)
        if seconds is not None and seconds <= 0.0:
            return (epochs, seconds), Status.TIME_EXHAUSTED
        return (epochs, seconds), Status.EPOCHS_EXHAUSTED if epochs is not None and epochs <= 0.0 else None

    def problem(self, scale: float) -> Problem:
        """The problem at a given σ."""
        loss = Huber(delta=self.epsilon * scale)
        strength = 0.5 * self.strength * scale
        return Problem(
            self.rows, self.targets, loss, strength, self.sample_weight, self.intercept, l1_ratio=self.l1_ratio
        )

    def judge(self, scale: float, answer: Result, duals: Vector, baseline: float) -> tuple[ScaledJudgement, Problem]:
        """What is proven of an answer's weights with this σ; `duals` are those of Q."""
        problem = self.problem(scale)
        found = certify_with_scale(
            problem, scale, answer.weights, float(answer.intercept), duals * (0.5 * scale), baseline, 0.5 * self.tol
        )
        return found, problem

    def constant(self) -> tuple[float, float]:
        """Q of the mean target with its best σ, and this σ."""
        # Differences from one target are exact where all are close: the mean of equal targets is that target.
        first = self.targets[0 if self.sample_weight is None else self.sample_weight.argmax()]
        mean = first + float(np.average(self.targets - first, weights=self.sample_weight)) if self.intercept else 0.0
        residuals = self.targets - mean
        scale = best_scale(residuals, self.sample_weight, self.epsilon)
        if scale == 0.0:
            return 2.0 * self.epsilon * float(np.average(np.abs(residuals), weights=self.sample_weight)), 0.0
        losses = Huber(delta=self.epsilon * scale).value(np.zeros_like(residuals), residuals)
        return scale + 2.0 / scale * float(np.average(losses, weights=self.sample_weight)), scale

    def best_scale(self, weights: Vector, intercept: float) -> float:
        """The σ that minimizes Q at given weights."""
        residuals = self.targets - (self.rows.scores(weights) + intercept)
        return best_scale(residuals, self.sample_weight, self.epsilon)


def best_scale(residuals: Vector, sample_weight: Vector | None, epsilon: float) -> float:
    """The σ with ⟨min(r², ε²σ²)⟩ = σ², which minimizes Q; 0 where residuals that are not zero have less than 1/ε² of the weight.

    With the k smallest r² below ε²σ², σ² is their sum over 1 − ε² times the weight of the others.
    """
    order = np.argsort(np.abs(residuals), kind="stable")
    squares = residuals[order] ** 2
    weights = np.full(order.size, 1.0 / order.size) if sample_weight is None else sample_weight[order]
    weights = weights / weights.sum()
    below = np.cumsum(weights * squares)
    above = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0)
    denominators = 1.0 - epsilon**2 * above
    with np.errstate(divide="ignore", invalid="ignore"):
        candidates = np.where(denominators > 0.0, below / denominators, np.inf)
    limits = epsilon**2 * candidates
    next_squares = np.append(squares[1:], np.inf)
    fits = (denominators > 0.0) & (squares <= limits) & (limits <= next_squares)
    return float(np.sqrt(candidates[fits.argmax()])) if fits.any() else 0.0


def _next(known: list[tuple[float, float]]) -> float:
    """The next log σ: where the secant of the best σ against σ meets the diagonal, if that is plausible; else the best σ."""
    (before, best_before), (at, best) = known[-2:] if len(known) > 1 else (known[-1], known[-1])
    slope = (best - best_before) / (at - before) if at != before else 0.0
    # A slope of 1 or more is rounding: the best σ moves by less than σ.
    return at + (best - at) / (1.0 - slope) if 0.0 < slope < 0.95 else best


def _at_scale(start: Point | None, scale: float) -> Point | None:
    """A start with the duals of the problem at σ instead of those of Q."""
    if start is None or start[2] is None:
        return start
    return (start[0], start[1], start[2] * (0.5 * scale))


def _record(result: Result, found: ScaledJudgement, earlier: list[Record]) -> Record:
    """The last record of a run, with the values of Q and the work of all runs."""
    last, certificate = result.trace[-1], found.certificate
    before = earlier[-1] if earlier else None
    return replace(
        last,
        epoch=last.epoch + (before.epoch if before else 0.0),
        updates=last.updates + (before.updates if before else 0),
        seconds=last.seconds + (before.seconds if before else 0.0),
        cpu_seconds=last.cpu_seconds + (before.cpu_seconds if before else 0.0),
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        own_dual=None,
        iterate=None,
    )
