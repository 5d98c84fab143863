"""solve: what a caller passed is checked, then the loop runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.parallel import use_threads
from dualgap.loop import Loop
from dualgap.memory import keep_freed_memory
from dualgap.problem import BaseProblem, MultinomialProblem, Problem
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.progress import asks_to_stop, watch
from dualgap.result import Result, Status
from dualgap.rounds import solve_blocks
from dualgap.solvers import SOLVERS, Answer, AnySolver, Auto, Solver
from dualgap.spec import build
from dualgap.trace import Record

__all__ = ["Result", "Status", "solve"]


def solve(
    problem: Problem | MultinomialProblem | BaseBlockProblem,
    solver: str | AnySolver | Auto = "auto",
    *,
    tol: float = 1e-6,
    gap_tol: float | None = None,
    max_epochs: float | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    start: Result | tuple[Any, Any, Any] | None = None,
    test: tuple[Any, ArrayLike] | None = None,
    record_every: float | None = None,
    record_updates: int | None = None,
    keep_iterates: bool = False,
    progress: bool = False,
    callback: Callable[[Record], object] | None = None,
    n_jobs: int | None = 1,
) -> Result:
    """Solve a problem to a certified relative gap of `tol`, or an absolute one of `gap_tol`, or until a limit.

    Parameters
    ----------
    problem : Problem or MultinomialProblem
        The problem.
    solver : str, Solver or Auto
        A name of `dg.SOLVERS`, a spec such as "sdca(sampling=cyclic)", or a solver. "auto" chooses one and says why.
    tol : float
        The relative gap (P − D)/P to prove.
    gap_tol : float, optional
        An absolute gap P − D that ends the run as well: the run is CERTIFIED once either is proven, rounding included, and
        `result.sentence` says which. `tol=0` leaves `gap_tol` alone.
    max_epochs : float, optional
        Passes over the rows, or steps on all rows; 1,000 where no limit is given.
    max_seconds : float, optional
        Wall seconds of the whole call.
    seed : int
        The seed of the order of the rows.
    start : Result or (weights, intercept, duals), optional
        The point to start from; duals may be None.
    test : (X, y), optional
        Rows that are scored in every record.
    record_every : float, optional
        Epochs between records. `inf` makes records only where the run needs a certificate: the default of "auto" without `test`
        and `callback`; otherwise the default is 1. Recording changes no number of the run. Where it is given and finite, or `record_updates` is, records
        have `own_dual` too, at the cost of a pass over the rows each.
    record_updates : int, optional
        Updates between records, instead of epochs.
    keep_iterates : bool
        Whether every record keeps a copy of weights, intercept and duals as the algorithm carried them, in `record.iterate`;
        `result.trace.iterates()` stacks them. A record then takes n + d numbers.
    progress : bool
        Whether a progress bar is drawn on standard error.
    callback : callable, optional
        Called with each record; the run stops where it returns True.
    n_jobs : int, optional
        Threads; −1 for one per core. The result has the same bits for any number of them.

    Returns
    -------
    Result
        Weights, intercept and duals, with their certificate and how the run ended.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> result = dg.solve(dg.Problem(X, [1, -1, 1], "hinge", strength=0.1), tol=1e-6)
    >>> result.status.name, result.certificate.relative_gap <= 1e-6
    ('CERTIFIED', True)
    """
    # First of all: who passes X and y should not read that y is no solver.
    if not isinstance(problem, BaseProblem | BaseBlockProblem):
        raise TypeError(
            f"solve needs a Problem or a MultinomialProblem, got {type(problem).__name__}; make a Problem first: dg.solve(dg.Problem(X, y))"
        )
    # A solver of the user's own class is no row of the table.
    chosen = solver if isinstance(solver, Solver) else build(solver, SOLVERS, "solver")
    asks_for_records = record_updates is not None or record_every not in (None, inf)
    if record_every is None and record_updates is None:
        record_every = inf if isinstance(chosen, Auto) and test is None and callback is None else 1.0
    limits = Limits.of(tol, max_epochs, max_seconds, record_every, record_updates, gap_tol)
    if isinstance(problem, BaseBlockProblem):
        return _solve_blocks(problem, chosen, limits, int(seed), start, test, keep_iterates, progress, callback, n_jobs)
    warm = None if start is None else _checked_start(problem, start)
    keep_freed_memory()
    examiner = Examiner(problem, test, keeps_iterates=bool(keep_iterates), evaluates_own_duals=asks_for_records)
    interrupt = Interrupt()
    with watch(progress, limits.max_epochs, tol) as show, use_threads(n_jobs), interrupt:
        loop = Loop(problem, chosen, limits, int(seed), warm, examiner, interrupt)

        def tell(record: Record) -> bool:
            show(record)
            return callback is not None and asks_to_stop(callback(record))

        return loop.run(tell)


def _solve_blocks(
    problem: BaseBlockProblem,
    chosen: AnySolver | Auto,
    limits: Limits,
    seed: int,
    start: Any,
    test: Any,
    keep_iterates: bool,
    progress: bool,
    callback: Callable[[Record], object] | None,
    n_jobs: int | None,
) -> Result:
    """The result on row blocks, whose rounds have a loop of their own."""
    if test is not None or keep_iterates:
        name = "test" if test is not None else "keep_iterates"
        raise ValueError(f"{name} needs rows in memory, got row blocks; score the result with result.predict")
    warm = None
    if start is not None:
        parts = (start.weights, start.intercept, None) if isinstance(start, Result) else start
        answer = _checked_start(problem.sample_problem, parts)
        warm = (answer.weights, answer.intercept)
    interrupt = Interrupt()
    with watch(progress, limits.max_epochs, limits.tol) as show, use_threads(n_jobs), interrupt:

        def tell(record: Record) -> bool:
            show(record)
            return callback is not None and asks_to_stop(callback(record))

        result = solve_blocks(problem, chosen, limits, seed, tell, interrupt, warm)
    names = problem.blocks.column_names
    return replace(
        result,
        duals=replace(result.duals, transforms=problem.blocks.fitted_transforms),
        column_names=None if names is None else tuple(names),
        scaling=problem.blocks.scaling,
    )


def _checked_start(problem: BaseProblem, start: Any) -> Answer:
    """A starting point from an earlier result or (weights, intercept, duals), in the shapes that the problem states."""
    if isinstance(start, Result):
        start = (start.weights, start.intercept, start.duals)
    if not isinstance(start, tuple | list):
        raise TypeError(
            f"start needs a Result or (weights, intercept, duals), got {type(start).__name__}; duals may be None"
        )
    if len(start) != 3:
        raise ValueError(
            f"start needs a Result or (weights, intercept, duals), got {len(start)} parts; duals may be None"
        )
    weights, intercept, duals = start
    shape = problem.intercept_shape
    free = np.zeros(shape)
    if intercept is not None:
        free = _finite_array("intercepts" if shape else "intercept", intercept, shape or (1,)).reshape(shape)
    if not problem.intercept:
        free = np.zeros(shape)
    return Answer(
        _finite_array("weights", weights, problem.weights_shape),
        free if shape else float(free),
        None if duals is None else _finite_array("duals", duals, problem.duals_shape),
    )


def _finite_array(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One part of a start as finite float64 of the given shape; a vector may come in any shape of the same size."""
    is_vector = len(shape) == 1
    needed = f"{shape[0]} finite {name}" if is_vector else f"finite {name} of shape {shape}"
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"start needs {needed}, got values that are not numbers; pass floats") from None
    got = f"{found.size}" if is_vector else f"shape {found.shape}"
    if is_vector and found.size == shape[0]:
        found = found.reshape(shape)
    if found.shape != shape:
        raise ValueError(f"start needs {needed}, got {got}; start from a fit of data of the same shape")
    if not np.isfinite(found).all():
        bad = int(np.count_nonzero(~np.isfinite(found)))
        raise ValueError(f"start needs {needed}, got NaN or infinity in {bad} of them; leave start out for zeros")
    return found
