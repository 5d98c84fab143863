"""Solving the softmax model: what is asked for is checked, then the loop runs with this model's judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap import starts
from dualgap.certificate import Certificate, Judgement
from dualgap.data.validation import as_rows
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.parallel import use_threads
from dualgap.loop import Loop
from dualgap.losses.multinomial import Matrix, Vector
from dualgap.multinomial.certificate import certify
from dualgap.multinomial.choice import chosen_solver
from dualgap.multinomial.problem import MultinomialProblem
from dualgap.progress import asks_to_stop, watch
from dualgap.result import Status
from dualgap.solvers.base import Answer, Solver
from dualgap.trace import Clock, Record, Trace


@dataclass(frozen=True)
class MultinomialResult:
    """An answer of the softmax model, its certificate, and how it came about."""

    weights: Matrix
    """d × k."""
    intercept: Vector
    duals: Matrix
    """n × k: e_c − p for each row."""
    certificate: Certificate
    status: Status
    reason: str
    trace: Trace
    solver: Solver
    classes: NDArray[Any]

    def scores(self, X: Any) -> Matrix:
        """Wᵀx + b for each row of X."""
        rows = as_rows(X).of_width(self.weights.shape[0])
        out = np.empty((rows.count, self.classes.size))
        with np.errstate(over="ignore"):  # a score beyond float64's range is infinite, with the right sign
            for part, block in rows.blocks():
                out[part] = block @ self.weights
            return out + self.intercept

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label for each row of X."""
        return np.asarray(self.classes[self.scores(X).argmax(axis=1)])

    def __repr__(self) -> str:
        return f"MultinomialResult({self.status.name}: {self.certificate}, {self.solver.name}, epoch {self.trace[-1].epoch:g})"


class _Examiner(Examiner):
    """Makes records from judgements of the softmax model."""

    def __init__(self, problem: MultinomialProblem) -> None:
        self.many = problem

    def judge(self, answer: Answer, enough: float, tol: float, thorough: bool = False) -> Judgement:
        weights: Any = answer.weights
        return certify(self.many, weights, answer.intercept, answer.duals, enough, tol, thorough)

    def nothing(self) -> Answer:
        return Answer(np.zeros((self.many.rows.dimension, self.many.class_count)), 0.0, None)

    def record(self, judged: Judgement, epoch: float, updates: int, clock: Clock) -> Record:
        c = judged.certificate
        support = int(np.count_nonzero(judged.duals.any(axis=1)))
        score = self.many.score(judged.scores)
        return Record(
            epoch, updates, clock.seconds, clock.cpu_seconds, c.primal, c.dual, c.gap, c.relative_gap, support, score
        )


def solve_multinomial(
    problem: MultinomialProblem,
    solver: Any = "auto",
    *,
    tol: float = 1e-6,
    max_epochs: float | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    start: Any = None,
    progress: bool = False,
    callback: Callable[[Record], object] | None = None,
    n_jobs: int | None = 1,
) -> MultinomialResult:
    """Solve a softmax model to a certified relative gap of `tol`, or until a limit.

    `solver` is newton, sdca or auto. `max_epochs` counts passes over the rows, or steps of newton (default 1,000 where no
    limit is given), `max_seconds` wall seconds of the whole call. `start` is a MultinomialResult or (weights, intercept,
    duals). `callback(record)` sees a record each epoch and stops the run by returning True. `n_jobs` threads work on it
    (−1: one per core), with the same bits for any number of them.
    """
    if not isinstance(problem, MultinomialProblem):
        raise TypeError(
            f"solve_multinomial needs a MultinomialProblem, got {type(problem).__name__}; make one with dg.MultinomialProblem(X, y)"
        )
    chosen = chosen_solver(solver)
    limits = Limits.of(tol, max_epochs, max_seconds, None if callback is None else 1.0, None)
    warm = _warm(problem, start)
    interrupt = Interrupt()
    given: Any = problem
    with watch(progress, limits.max_epochs, tol) as show, use_threads(n_jobs), interrupt:
        loop = Loop(given, chosen, limits, int(seed), warm, _Examiner(problem), interrupt)

        def tell(record: Record) -> bool:
            show(record)
            return callback is not None and asks_to_stop(callback(record))

        found: Any = loop.run(tell)
    return MultinomialResult(
        found.weights,
        found.intercept,
        found.duals,
        found.certificate,
        found.status,
        found.reason,
        found.trace,
        found.solver,
        problem.classes,
    )


def _warm(problem: MultinomialProblem, start: Any) -> Answer | None:
    """A starting point, checked against the problem's shape."""
    if start is None:
        return None
    weights, intercept, duals = starts.parts_of(start, MultinomialResult)
    k = problem.class_count
    free: Any = np.zeros(k) if intercept is None else starts.numbers("intercepts", intercept, (k,))
    return Answer(
        starts.numbers("weights", weights, (problem.rows.dimension, k)),
        free if problem.intercept else np.zeros_like(free),
        None if duals is None else starts.numbers("duals", duals, (problem.rows.count, k)),
    )
