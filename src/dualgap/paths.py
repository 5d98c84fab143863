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
from dualgap.trace import Record, new_axes

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

    def plot(self, ax: Any = None, *, names: Sequence[str] | None = None, labels: int = 5) -> Any:
        """Draw the weight of each column against the strength, which falls from left to right on a logarithmic axis.

        Columns whose weight is zero at every strength have no line.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; new ones without.
        names : sequence of str, optional
            The names of the columns; without, they are numbered from 0.
        labels : int, default=5
            How many lines have a label at their end: those whose last weights are the largest in absolute value.

        Returns
        -------
        ax : matplotlib.axes.Axes
            The axes, to be changed or saved (`ax.figure.savefig`).

        Examples
        --------
        >>> import numpy as np
        >>> import dualgap as dg
        >>> dg.solve_path(np.eye(2), [-1, 1], "logistic", None, l1_ratio=1.0).plot(names=["height", "width"]).get_xscale()
        'log'
        """
        order = np.argsort(-self.strengths, kind="stable")
        if self.results[0].weights.ndim > 1:
            raise ValueError(
                "plot needs one weight for each column, got a softmax path; draw a class of result.weights"
            )
        weights = np.array([self.results[place].weights for place in order])
        if names is not None and len(names) != weights.shape[1]:
            raise ValueError(
                f"names needs one name for each of the {weights.shape[1]} columns, got {len(names)}; pass all of them"
            )
        ax = new_axes() if ax is None else ax
        strengths = self.strengths[order]
        for column in np.flatnonzero(weights.any(axis=0)):
            ax.plot(strengths, weights[:, column], linewidth=1.0)
        for column in np.argsort(-np.abs(weights[-1]), kind="stable")[:labels]:
            if weights[-1, column]:
                name = f"column {column}" if names is None else names[column]
                ax.annotate(
                    name, (strengths[-1], weights[-1, column]), xytext=(3, 0), textcoords="offset points", va="center"
                )
        ax.set_xscale("log")
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
        ax.set_xlabel("strength λ")
        ax.set_ylabel("weight")
        return ax

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
