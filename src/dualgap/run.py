"""Solving a problem: what is asked for is checked, then the loop runs."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from numpy.typing import ArrayLike

from dualgap import starts
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.parallel import use_threads
from dualgap.loop import Loop
from dualgap.memory import keep_freed_memory
from dualgap.problem import Problem
from dualgap.progress import asks_to_stop, watch
from dualgap.result import Result, Status
from dualgap.solvers import SOLVERS, Answer, Auto, Solver
from dualgap.spec import build
from dualgap.trace import Record

__all__ = ["Result", "Status", "solve"]


def solve(
    problem: Problem,
    solver: str | Solver | Auto = "auto",
    *,
    tol: float = 1e-6,
    max_epochs: float | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    start: Result | tuple[Any, Any, Any] | None = None,
    test: tuple[Any, ArrayLike] | None = None,
    record_every: float | None = None,
    record_updates: int | None = None,
    progress: bool = False,
    callback: Callable[[Record], object] | None = None,
    n_jobs: int | None = 1,
) -> Result:
    """Solve a problem to a certified relative gap of `tol`, or until a limit.

    `max_epochs` counts passes over the rows (default 1,000 where no limit is given), `max_seconds` wall seconds of the
    whole call. `start` is a Result or (weights, intercept, duals); `test` is (X, y) to score at every record. A record
    is made every `record_every` epochs or every `record_updates` updates; `record_every=inf` makes them as rarely as
    proving the answer allows. By default that is what `auto` does where nobody watches, and other solvers make one an
    epoch. Recording changes no number of the run. `callback(record)` stops the run by returning True. `n_jobs` threads
    work on it (−1: one per core), with the same bits for any number of them.
    """
    chosen = build(solver, SOLVERS, "solver")
    if record_every is None and record_updates is None:
        record_every = inf if isinstance(chosen, Auto) and test is None and callback is None else 1.0
    limits = Limits.of(tol, max_epochs, max_seconds, record_every, record_updates)
    if not isinstance(problem, Problem):
        raise TypeError(f"solve needs a Problem, got {type(problem).__name__}; make one with dg.Problem(X, y)")
    warm = _warm(problem, start)
    keep_freed_memory()
    examiner = Examiner(problem, test)
    interrupt = Interrupt()
    with watch(progress, limits.max_epochs, tol) as show, use_threads(n_jobs), interrupt:
        loop = Loop(problem, chosen, limits, int(seed), warm, examiner, interrupt)

        def tell(record: Record) -> bool:
            show(record)
            return callback is not None and asks_to_stop(callback(record))

        return loop.run(tell)


def _warm(problem: Problem, start: Result | tuple[Any, Any, Any] | None) -> Answer | None:
    """A starting point, checked against the problem's shape."""
    if start is None:
        return None
    weights, intercept, duals = starts.parts_of(start, Result)
    intercept = float(starts.numbers("intercept", 0.0 if intercept is None else intercept, (1,))[0])
    return Answer(
        starts.numbers("weights", weights, (problem.rows.dimension,)),
        intercept if problem.intercept else 0.0,
        None if duals is None else starts.numbers("duals", duals, (problem.rows.count,)),
    )
