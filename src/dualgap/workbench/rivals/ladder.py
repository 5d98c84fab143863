"""The ladder: a rival fitted from scratch at one tolerance of its own after the other, each fit judged like a solver's."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.certificate import Certificate, Judgement, certify
from dualgap.examiner import Examiner
from dualgap.problem import Problem
from dualgap.result import Status, sentence_of
from dualgap.trace import Clock, Record, Trace
from dualgap.workbench.plan import DEFAULT_SECONDS
from dualgap.workbench.rivals.base import Fit, Rival, Vector

# What a rival may do at the first rung, before anything is known of its speed; then ten times as much a rung, if the
# time left allows it. A rival that does not converge then has given up.
FIRST_ITERATIONS, MAX_ITERATIONS, RAISE = 1000, 10**8, 10
# A rival's passes and the seconds of its updates are its own affair, and it carries no duals that could be counted.
UNKNOWN = ("epoch", "updates", "support", "seconds", "cpu_seconds")


@dataclass(frozen=True)
class Task:
    """What is to be fitted, and how it is judged."""

    problem: Problem
    X: Any
    test: tuple[Any, Any] | None
    tol: float
    gap_tol: float = 0.0


class Climb(NamedTuple):
    """What climbing gave, in the words of a finished run."""

    weights: Vector
    intercept: float
    certificate: Certificate
    status: str
    sentence: str
    reason: str
    records: dict[str, list[Any]]


class Ladder:
    """A rival ready to be timed: its package is imported, the rows are in its own form, and it has fitted once."""

    def __init__(self, rival: Rival, task: Task) -> None:
        self.rival, self.task = rival, task
        _check(rival, task.problem)
        X = task.X if task.X.dtype == np.float64 else task.X.astype(np.float64)
        # Part of every call, as making a Problem is part of a solver's; it is done once, and counted in each fit.
        making = Clock()
        with making:
            self.table = rival.table(X, task.problem.labels)
        self.table_seconds = making.seconds
        self.examiner = Examiner(task.problem, task.test)
        try:
            # Compilers and thread pools start here, outside the clock.
            self._fit(rival.loosest, 0, 1)
        except Exception as error:
            raise ValueError(f"{rival.name} fails on this problem: {_words(error)}") from error

    def climb(self, seed: int, seconds: float | None) -> Climb:
        """Fit at every rung until the gap reaches tol, the time is over, or the rival gives up."""
        budget = DEFAULT_SECONDS if seconds is None else seconds
        spent, iterations = 0.0, FIRST_ITERATIONS
        trace = Trace()
        best: Judgement | None = None
        ending = (Status.STOPPED, "its tightest tolerance was reached before the gap reached tol")
        for tolerance in self.rival.tolerances():
            clock = Clock()
            try:
                with clock:
                    fit, converged = self._fit(tolerance, seed, iterations)
                judged = _judged(self.task.problem, fit)
            except Exception as error:
                if best is None:
                    raise ValueError(f"{self.rival.name} fails on this problem: {_words(error)}") from error
                ending = (Status.STOPPED, f"it failed at its tolerance {tolerance:g}: {_words(error)}")
                break
            best = judged
            clock.seconds += self.table_seconds
            record: Record = self.examiner.record(judged, 0.0, 0, clock)
            trace.append(record)
            spent += clock.seconds
            if judged.certificate.proves(self.task.tol, self.task.gap_tol):
                sentence = sentence_of(Status.CERTIFIED, judged.certificate, self.task.tol, self.task.gap_tol)
                ending = (Status.CERTIFIED, sentence)
                break
            if spent >= budget:
                ending = (Status.TIME_EXHAUSTED, f"its fits took the {budget:g} s they had")
                break
            if not converged and iterations > FIRST_ITERATIONS:
                ending = (Status.STOPPED, f"it did not converge at its tolerance {tolerance:g}")
                break
            iterations = max(iterations, min(RAISE * iterations, _affordable(fit, clock, budget - spent)))
        assert best is not None
        seen = trace.columns()
        columns = seen | {name: [None] * len(trace) for name in UNKNOWN} | {"call_seconds": seen["seconds"]}
        reason = f"fitted {len(trace)} times from scratch, its own tolerance falling from {self.rival.loosest:g}"
        return Climb(best.weights, best.intercept, best.certificate, ending[0].name, ending[1], reason, columns)

    def _fit(self, tolerance: float, seed: int, iterations: int) -> tuple[Fit, bool]:
        """One fit, and whether it converged by its own account; nothing it says reaches the screen."""
        problem = self.task.problem
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fit = self.rival.fit(
                *self.table,
                problem.loss,
                problem.strength,
                tolerance,
                rows=problem.rows.count,
                seed=seed,
                iterations=iterations,
            )
        return fit, not any("ConvergenceWarning" in (kind.__name__ for kind in w.category.__mro__) for w in said)


def _check(rival: Rival, problem: Problem) -> None:
    if not rival.available():
        raise ValueError(f"{rival.name} is not installed; python -m pip install {rival.package}")
    if problem.loss.name not in rival.losses:
        raise ValueError(rival.refusal(problem.loss.name))
    if problem.intercept and not rival.fits_intercepts:
        raise ValueError(
            f"{rival.name} needs a problem without a free intercept, because its own is not the same; "
            "leave --intercept out"
        )


def _judged(problem: Problem, fit: Fit) -> Judgement:
    if fit.weights.shape != (problem.rows.dimension,) or not np.isfinite(fit.weights).all():
        raise ValueError("its weights are not finite numbers, one a column")
    return certify(problem, fit.weights, duals=fit.duals)


def _affordable(fit: Fit, clock: Clock, seconds: float) -> int:
    """How many iterations of the last pace fit into the time left."""
    if not fit.iterations or clock.seconds <= 0.0:
        return FIRST_ITERATIONS
    return int(min(MAX_ITERATIONS, max(FIRST_ITERATIONS, fit.iterations * seconds / clock.seconds)))


def _words(error: Exception) -> str:
    """An error of another package in one line."""
    return " ".join(str(error).split()) or type(error).__name__
