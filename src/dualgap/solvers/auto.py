"""Auto: the policy that chooses a solver for a problem, may change its mind once the first records are in, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dualgap.problem import MultinomialProblem, Problem
from dualgap.solvers.base import Solver
from dualgap.solvers.newton import Newton
from dualgap.solvers.newton.softmax import describe_steps
from dualgap.solvers.sdca import SDCA

if TYPE_CHECKING:
    from dualgap.trace import Record


# Up to so many columns (or rows) a matrix of their size is quick to make and to factor.
LARGEST_SIDE = 1500
# With fewer columns a whole Newton run costs less than the epochs it takes to see how dual steps fare.
FEW_COLUMNS = 24
# With so many dense rows a column, most second-order steps see few of them, and a run costs about 20 epochs. It keeps up to
# 22 numbers a row: where a row has fewer bytes than this, they would be more than half as large as the data.
MANY_ROWS, WIDE_ENOUGH = 1000, 400
# Data whose largest column makes up more than this part of all squares moves dual steps along that column alone.
DOMINANT = 0.3
# What a Newton run costs, in epochs of dual steps: so many a column for its matrices, for its passes, and for its calls,
# which take as long as dual steps over so many values.
OF_MATRICES, OF_PASSES, OF_CALLS = 0.05, 10.0, 2.5e6
SAMPLED = 1000
# Below this steepness dual steps on a smooth loss arrive in fewer passes than second-order steps take products.
GENTLE = 30.0
# A second-order run must promise to be so many times as quick: dual steps quicken once few rows are left to move.
CLEARLY = 2.0
# How far back a record must be, as a part of the epochs so far, to say how quickly the gap falls.
LATELY = 0.75


@dataclass(frozen=True)
class Auto:
    """Chooses, may switch, and says why; it has no options."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses the solver for the problem and says why"

    def is_open(self, problem: Problem | MultinomialProblem) -> bool:
        """Whether records may change its mind: a kink, and enough columns and rows for either way to be the quicker."""
        if isinstance(problem, MultinomialProblem):
            return False
        side = min(problem.rows.count, problem.rows.dimension)
        return problem.loss.has_kink and FEW_COLUMNS <= side <= LARGEST_SIDE and side < problem.rows.count

    def choose(
        self, problem: Problem | MultinomialProblem, records: Sequence[Record], tol: float = 0.0
    ) -> tuple[Solver, str]:
        """The solver to go on with, given what the records show so far."""
        if isinstance(problem, MultinomialProblem):
            return Newton(), f"newton: second-order steps, with {describe_steps(problem)}"
        count, dimension = problem.rows.count, problem.rows.dimension
        side = min(count, dimension)
        size = f"{count} × {dimension}"
        if not problem.loss.has_kink:
            if side <= LARGEST_SIDE:
                return Newton(), f"newton: the loss is smooth, and a second-order step on {size} costs little"
            if not problem.intercept and _steepness(problem) <= GENTLE:
                return SDCA(
                    shrinking=True
                ), f"sdca: the loss is smooth and the penalty strong, so {size} takes few epochs"
            return Newton(), f"newton: the loss is smooth; on {size} its steps are found by conjugate residuals"
        if side > LARGEST_SIDE:
            return SDCA(shrinking=True), f"sdca: the loss has a kink, and {size} is too large for second-order steps"
        if side < FEW_COLUMNS or dimension >= count:
            what = "rows" if dimension >= count else "columns"
            return Newton(), f"newton: with {side} {what} a second-order step costs little, on data of any scale"
        if count >= MANY_ROWS * dimension and _row_bytes(problem) >= WIDE_ENOUGH:
            return (
                Newton(),
                f"newton: with {count // dimension:,} rows a column most second-order steps see few of them",
            )
        if (largest := _largest_column(problem)) > DOMINANT:
            return Newton(), f"newton: one column holds {largest:.0%} of all squares, which slows dual steps down"
        affordable = (OF_MATRICES * dimension**2 * count + OF_CALLS) / max(problem.rows.stored, 1) + OF_PASSES
        needed = _epochs_left(records, tol)
        if records and needed > CLEARLY * affordable:
            return Newton(), (
                f"sdca, then newton: after {records[-1].epoch:.0f} epochs dual steps needed about {needed:.0f} more, "
                f"and a second-order run costs about {affordable:.0f}"
            )
        return SDCA(shrinking=True), f"sdca: the {size} data is well scaled, and dual steps make quick progress"


def _row_bytes(problem: Problem) -> int:
    """How many bytes a dense row takes; 0 for sparse ones."""
    rows = problem.rows
    return 0 if rows.is_sparse else rows.dimension * rows.arrays[0].itemsize


def _steepness(problem: Problem) -> float:
    """φ″‖x‖²/(λS) for a middling row: dual steps on a smooth loss take about as many epochs a digit, and one or two more."""
    return problem.loss.smoothness * problem.mean_squared_norm / problem.lambda_n


def _largest_column(problem: Problem) -> float:
    """The largest column's part of the sum of squares, on a sample of the rows."""
    stride = max(1, problem.rows.count // SAMPLED)
    part = problem.rows.take(np.arange(0, problem.rows.count, stride)).dense()
    values = np.asarray(part.arrays[0], dtype=np.float64)
    squares = np.einsum("ij,ij->j", values, values)
    total = float(squares.sum())
    return float(squares.max()) / total if total > 0.0 else 0.0


def _epochs_left(records: Sequence[Record], tol: float) -> float:
    """Epochs until the relative gap is tol, if it goes on falling as it did lately."""
    if not records:
        return 0.0
    last = records[-1]
    # The gap of dual steps goes up and down, so the record to compare with lies some way back; at epoch 0 it is 1.
    earlier = [record for record in records if record.epoch <= LATELY * last.epoch]
    epoch, gap = (earlier[-1].epoch, earlier[-1].relative_gap) if earlier else (0.0, 1.0)
    if not 0.0 < last.relative_gap < gap or last.epoch <= epoch:
        return 0.0 if last.relative_gap == 0.0 else inf
    if last.relative_gap <= tol:
        return 0.0
    return log(last.relative_gap / max(tol, 1e-15)) * (last.epoch - epoch) / log(gap / last.relative_gap)
