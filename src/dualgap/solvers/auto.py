"""Auto: the policy that chooses a solver for a problem, may change its mind once the first records are in, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dualgap.problem import MultinomialProblem, Problem
from dualgap.solvers.base import AnySolver
from dualgap.solvers.newton import Newton
from dualgap.solvers.newton.softmax import describe_steps
from dualgap.solvers.sdca import SDCA
from dualgap.solvers.sparse_newton import SparseNewton

if TYPE_CHECKING:
    from dualgap.trace import Record


@dataclass(frozen=True)
class AutoSettings:
    """The numbers that decide which solver is chosen; docs/internals/thresholds.md has what each brings."""

    few_columns: int = 24
    """Below 24 columns a Newton run takes less time than the epochs that show how quickly SDCA's gap falls."""
    long_row_bytes: int = 400
    """Newton keeps up to 22 numbers a row, 176 bytes, which is less than half of the data where a row has 400 bytes or more."""
    dominant_part: float = 0.3
    """Where one column holds more than 0.3 of Σ x_ij², coordinate steps move along that column alone and are slow."""
    sampled_rows: int = 1000
    """Rows, about, from which the columns' squares are computed."""
    matrix_epochs: float = 0.05
    """Epochs of SDCA that cost as much as Σ c_i x_i x_iᵀ over all steps of a Newton run, for each column."""
    pass_epochs: float = 10.0
    """Epochs of SDCA that cost as much as the passes of a Newton run over the rows."""
    call_values: float = 2.5e6
    """Values over which SDCA's steps take as long as the calls of a Newton run."""
    few_epochs_ratio: float = 30.0
    """Where φ″‖x‖²/(λS) is at most 30, SDCA on a smooth loss takes fewer passes than truncated Newton steps take products."""


@dataclass(frozen=True)
class Auto:
    """Chooses a solver, may change to another one, and says why; there are no options.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.Auto().choose(dg.Problem(X, [1, -1, 1], "logistic", 0.1), ())[1]
    'newton: the loss is smooth, and the 3 × 2 data needs a small Hessian only'
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses the solver for the problem and says why"
    settings: ClassVar[AutoSettings] = AutoSettings()

    def is_open(self, problem: Problem | MultinomialProblem) -> bool:
        """Whether records may change the choice: for a kinked loss with enough columns and rows for either solver to be quicker."""
        if isinstance(problem, MultinomialProblem):
            return False
        if problem.penalty.is_sparse:
            return False
        side, settings = min(problem.rows.count, problem.rows.dimension), self.settings
        is_either = settings.few_columns <= side <= Newton.settings.largest_side and side < problem.rows.count
        return problem.loss.has_kink and is_either

    def choose(
        self, problem: Problem | MultinomialProblem, records: Sequence[Record], tol: float = 0.0
    ) -> tuple[AnySolver, str]:
        """The solver to go on with, given the records so far, and the reason."""
        if isinstance(problem, MultinomialProblem):
            return Newton(), f"newton: second-order steps, with {describe_steps(problem)}"
        size = f"{problem.rows.count} × {problem.rows.dimension}"
        if problem.penalty.is_sparse:
            return (
                SparseNewton(),
                f"sparse_newton: the penalty has an L1 part, and few of the {size} data's columns have a weight",
            )
        if not problem.loss.has_kink:
            return self._choose_for_smooth(problem, size)
        count, dimension, settings = problem.rows.count, problem.rows.dimension, self.settings
        side = min(count, dimension)
        if side > Newton.settings.largest_side:
            return SDCA(shrinking=True), f"sdca: the loss has a kink, and the {size} data is too large for Newton steps"
        if side < settings.few_columns or dimension >= count:
            what = "rows" if dimension >= count else "columns"
            return Newton(), f"newton: with {side} {what} a Newton step costs little, whatever the scale of the columns"
        if count >= Newton.settings.many_rows_per_column * dimension and _row_bytes(problem) >= settings.long_row_bytes:
            return (
                Newton(),
                f"newton: with {count // dimension:,} rows per column most Newton steps read a few rows only",
            )
        if (largest := _largest_column(problem, settings)) > settings.dominant_part:
            return Newton(), f"newton: one column holds {largest:.0%} of all squares, which makes coordinate steps slow"
        affordable = _newton_epochs(problem, settings)
        needed = _needed_epochs(records, tol)
        if needed > affordable:
            return Newton(), (
                f"sdca, then newton: after {records[-1].epoch:.0f} epochs SDCA needed about {needed:.0f} more, "
                f"and a Newton run costs about {affordable:.0f}"
            )
        return SDCA(
            shrinking=True
        ), f"sdca: the columns of the {size} data are of similar scale, and coordinate steps are quick"

    def _choose_for_smooth(self, problem: Problem, size: str) -> tuple[AnySolver, str]:
        """The solver for a loss without kinks."""
        if min(problem.rows.count, problem.rows.dimension) <= Newton.settings.largest_side:
            return Newton(), f"newton: the loss is smooth, and the {size} data needs a small Hessian only"
        # φ″‖x‖²/(λS) of a mean row: SDCA takes about as many epochs for each digit of the gap, and one or two more.
        ratio = problem.loss.smoothness * problem.mean_squared_norm / problem.lambda_n
        if not problem.intercept and ratio <= self.settings.few_epochs_ratio:
            reason = f"sdca: the loss is smooth and the penalty strong, so the {size} data takes few epochs"
            return SDCA(shrinking=True), reason
        return Newton(), f"newton: the loss is smooth; on the {size} data conjugate residuals find the steps"


def _row_bytes(problem: Problem) -> int:
    """How many bytes a dense row takes; 0 for sparse ones."""
    rows = problem.rows
    return 0 if rows.is_sparse else rows.dimension * rows.arrays[0].itemsize


def _largest_column(problem: Problem, settings: AutoSettings) -> float:
    """The largest column's part of the sum of squares, on a sample of the rows."""
    interval = max(1, problem.rows.count // settings.sampled_rows)
    sampled = problem.rows.take(np.arange(0, problem.rows.count, interval)).dense()
    values = np.asarray(sampled.arrays[0], dtype=np.float64)
    squares = np.einsum("ij,ij->j", values, values)
    total = float(squares.sum())
    return float(squares.max()) / total if total > 0.0 else 0.0


def _newton_epochs(problem: Problem, settings: AutoSettings) -> float:
    """The cost of a Newton run in epochs of SDCA: its matrices, its calls and its passes."""
    rows = problem.rows
    matrices = settings.matrix_epochs * rows.dimension**2 * rows.count
    return (matrices + settings.call_values) / max(rows.stored, 1) + settings.pass_epochs


def _needed_epochs(records: Sequence[Record], tol: float) -> float:
    """Epochs until the relative gap is tol if it goes on falling as it did so far, from 1 at epoch 0; 0 without records."""
    if not records:
        return 0.0
    gap, epoch = records[-1].relative_gap, records[-1].epoch
    if gap <= tol or gap == 0.0:
        return 0.0
    if not gap < 1.0:
        return inf
    return epoch * log(gap / max(tol, float(np.finfo(np.float64).eps))) / -log(gap)
