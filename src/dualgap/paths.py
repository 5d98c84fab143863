"""Paths: the same data at several strengths, from strong to weak, each problem started at the answer of the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.validation import as_rows
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status
from dualgap.run import solve
from dualgap.trace import Record

MULTINOMIAL = "multinomial"
# The grid of strengths where none are given: as many and as wide as glmnet's usually is.
GRID_SIZE, SMALLEST_PART = 100, 1e-3


@dataclass(frozen=True)
class Path:
    """Strengths, and the problem and the result at each, in the order in which they were given."""

    strengths: NDArray[np.float64]
    results: tuple[Result, ...]
    problems: tuple[Problem | MultinomialProblem, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether the gap reached tol at every strength."""
        return all(result.status is Status.CERTIFIED for result in self.results)

    def to_frame(self) -> Any:
        """A row for each strength, as a pandas DataFrame: how the run ended, its epochs, and its certificate."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas, which is not installed; pip install 'dualgap[io]'") from None
        return pandas.DataFrame(
            [
                {
                    "strength": strength,
                    "status": result.status.name,
                    "epochs": result.trace[-1].epoch,
                    "primal": result.certificate.primal,
                    "dual": result.certificate.dual,
                    "gap": result.certificate.gap,
                    "relative_gap": result.certificate.relative_gap,
                    "train_score": result.trace[-1].train_score,
                }
                for strength, result in zip(self.strengths, self.results, strict=True)
            ]
        )

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        done = sum(result.status is Status.CERTIFIED for result in self.results)
        span = f"{self.strengths.min():g} to {self.strengths.max():g}"
        return f"Path({len(self)} strengths from {span}, {done} certified)"


def solve_path(
    X: Any,
    y: ArrayLike,
    loss: Any = "hinge",
    strengths: ArrayLike | None = (1e-2, 1e-3, 1e-4),
    *,
    solver: Any = "auto",
    tol: float = 1e-6,
    sample_weight: ArrayLike | None = None,
    intercept: bool = False,
    max_epochs: float | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    start: Any = None,
    callback: Callable[[Record], object] | None = None,
    l1_ratio: float = 0.0,
) -> Path:
    """Solve one problem at each strength to a certified relative gap of `tol`, or until a limit.

    Strong penalties come first, whatever the order given: their answers are near zero and quickly found. Each next
    problem starts at the duals α of the one before, which stay feasible, and at its weights.

    Parameters
    ----------
    X, y, sample_weight, intercept
        As for `Problem`.
    loss : str or Loss
        Any of `dg.LOSSES`, or "multinomial" for the softmax model.
    strengths : array of numbers > 0, optional
        The λ to solve for. With None and an L1 part, 100 of them on a logarithmic grid, from `problem.strength_max`, where every weight is
        zero, down to a thousandth of it.
    solver, tol, max_epochs, max_seconds, seed, callback
        As for `solve`; the limits are for each strength.
    start : Result or (weights, intercept, duals), optional
        The point from which the strongest penalty starts.
    l1_ratio : float
        ρ, the L1 part of the penalty, as for `Problem`; the softmax model has 0.

    Returns
    -------
    Path
        The result at each strength.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.solve_path(X, [1, -1, 1], "logistic", [1e-3, 1e-1])
    Path(2 strengths from 0.001 to 0.1, 2 certified)
    """
    rows = as_rows(X)
    is_softmax = isinstance(loss, str) and loss == MULTINOMIAL
    if is_softmax and l1_ratio != 0.0:
        raise ValueError(f"the softmax model needs the L2 penalty, got l1_ratio={l1_ratio!r}; leave it out")
    if strengths is None and not l1_ratio:
        raise ValueError("strengths=None needs an L1 part, whose largest strength is known, got none; pass strengths")
    given = None if strengths is None else _checked(strengths)
    strongest = 1.0 if given is None else float(given.max())
    problem: Problem | MultinomialProblem
    if is_softmax:
        problem = MultinomialProblem(rows, y, strongest, sample_weight, intercept)
    else:
        problem = Problem(rows, y, loss, strongest, sample_weight, intercept, l1_ratio=l1_ratio)
        if given is None:
            given = problem.strength_max * np.geomspace(1.0, SMALLEST_PART, GRID_SIZE)
    assert given is not None
    results: list[Any] = [None] * given.size
    problems: list[Any] = [None] * given.size
    for place in np.argsort(-given, kind="stable"):
        problem = problem.with_strength(float(given[place]))
        problems[place] = problem
        results[place] = start = solve(
            problem,
            solver,
            tol=tol,
            max_epochs=max_epochs,
            max_seconds=max_seconds,
            seed=seed,
            start=start,
            callback=callback,
        )
    return Path(given, tuple(results), tuple(problems))


def _checked(strengths: ArrayLike) -> NDArray[np.float64]:
    values = np.atleast_1d(np.asarray(strengths, dtype=np.float64))
    if values.ndim != 1 or values.size == 0 or not (np.isfinite(values) & (values > 0.0)).all():
        shown = strengths if not isinstance(strengths, Sequence) or len(strengths) < 6 else f"{len(strengths)} values"
        raise ValueError(
            f"strengths needs one or more finite numbers > 0, got {shown}; try np.geomspace(1e-1, 1e-6, 6)"
        )
    return values
