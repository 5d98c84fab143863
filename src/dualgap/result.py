"""What a run returns: the answer, its certificate, and how the run ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate
from dualgap.certificate.blocks import DualRecipe, duals_of
from dualgap.certificate.softmax_blocks import SoftmaxRecipe, softmax_duals_of
from dualgap.data.blocks import Block, Blocks, Coding
from dualgap.data.blocks.transformed import Scaling, Transform, transformed
from dualgap.data.validation import as_rows
from dualgap.losses import Loss
from dualgap.markup import facts_table
from dualgap.problem.base import Intercept, scores_of
from dualgap.solvers import AnySolver
from dualgap.trace import Trace

Vector = NDArray[np.float64]


class Status(Enum):
    """How a run ended; the value is a sentence."""

    CERTIFIED = "the duality gap reached tol"
    EPOCHS_EXHAUSTED = "max_epochs was reached first; raise max_epochs or tol"
    TIME_EXHAUSTED = "max_seconds was reached first; raise max_seconds or tol"
    INTERRUPTED = "stopped by Ctrl-C; the certificate is for what there was"
    STOPPED = "the callback asked to stop"
    STALLED = "float64 cannot prove tol here; the gap shown is the smallest that could be proven"
    BROKEN = "the numbers left float64's range or contradict weak duality; lower the step, or rescale the data"


def sentence_of(status: Status, certificate: Certificate, tol: float, gap_tol: float | None) -> str:
    """How a run ended; where the absolute gap ended it, with that gap in the place of tol."""
    if status is Status.CERTIFIED and gap_tol and not certificate.proves(tol):
        return f"the duality gap reached gap_tol = {gap_tol:g}, an absolute gap"
    return str(status.value)


@dataclass(frozen=True)
class BlockDuals:
    """The duals of a fit on row blocks: not stored, but computed for the rows that are asked for.

    They are a function of a row's score and label, times a factor for the duals of either sign that makes Σ s_i α_i zero.
    The certificate is true of the duals of the fit's own blocks. In rows that are cut otherwise a score can round otherwise, and near a
    kink its dual changes with it: such duals are as feasible up to rounding, and may prove less.
    """

    recipe: DualRecipe
    factors: tuple[float, float]
    loss: Loss
    coding: Coding
    weights: Vector
    intercept: float
    transforms: tuple[Transform, ...] = ()
    """What the fit made of each block first."""

    def of(self, X: Any, y: Any) -> Vector:
        """α of each row of X with its label or target y, in the order of the rows."""
        block = self.coding.labelled(transformed(Block.of(0, X, y), self.transforms))
        alpha = duals_of(block, self.loss, self.recipe, self.weights, self.intercept)
        return np.where(alpha >= 0.0, self.factors[0], self.factors[1]) * alpha


@dataclass(frozen=True)
class SoftmaxBlockDuals:
    """The duals of a fit of the softmax model on row blocks: not stored, but computed for the rows that are asked for.

    The certificate is true of the duals of the fit's own blocks. In rows that are cut otherwise a score can round otherwise.
    """

    recipe: SoftmaxRecipe
    factor: float
    coding: Coding
    transforms: tuple[Transform, ...] = ()

    def of(self, X: Any, y: Any) -> Vector:
        """A, of shape (n, k), for the rows of X with their labels y, in the order of the rows."""
        return self.factor * softmax_duals_of(
            self.coding.labelled(transformed(Block.of(0, X, y), self.transforms)), self.recipe
        )


@dataclass(frozen=True)
class Result:
    """An answer, its certificate, and how it came about.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> result = dg.solve(dg.Problem(X, ["no", "yes", "no"], "logistic", strength=0.1))
    >>> result.status
    <Status.CERTIFIED: 'the duality gap reached tol'>
    >>> result.predict(X).tolist()
    ['no', 'yes', 'no']
    """

    weights: Vector
    """w of shape (d,), or (d, k) with k classes of the softmax model."""
    intercept: Intercept
    """b: a float, or k of them."""
    duals: Any
    """α of shape (n,), or (n, k); of row blocks a `BlockDuals` or `SoftmaxBlockDuals`, whose `of(X, y)` computes those of given rows."""
    certificate: Certificate
    status: Status
    reason: str
    """Why the solver was chosen."""
    trace: Trace
    solver: AnySolver
    classes: NDArray[Any] | None
    """The labels in order; None for real targets."""
    sentence: str
    """How the run ended: the sentence of `status`, or, where `gap_tol` ended the run, one that names that gap."""
    column_names: tuple[str, ...] | None = None
    """Names of the columns of row blocks, where they have some."""
    scaling: Scaling | None = None
    """How the fit standardized the columns of row blocks, to which `weights` belong; rows to predict for are taken as they are."""

    def scores(self, X: Any) -> Vector:
        """⟨x, w⟩ + b for each row of X, with one column a class in the softmax model; row blocks are read one by one.

        Row blocks with names need the columns of the fit: Parquet files are read by these names.
        """
        weights, intercept = self.weights, self.intercept
        if self.scaling is not None:
            weights, intercept = self.scaling.folded(weights, intercept)
        if isinstance(X, Blocks):
            found: Vector = X.answers(_block_scores, (weights, intercept), self.column_names)
            return found
        rows = as_rows(X).of_width(self.weights.shape[0])
        with np.errstate(over="ignore"):  # a score beyond float64's range is infinite, with the right sign
            return scores_of(rows, weights, intercept)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label for each row of X, or the predicted target."""
        scores = self.scores(X)
        if self.classes is None:
            return scores
        places = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes[places])

    def __repr__(self) -> str:
        last = self.trace[-1]
        return f"Result({self.status.name}: {self.certificate}, {self.solver.name}, epoch {last.epoch:g}, {last.seconds:.3g} s)"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        certificate, last = self.certificate, self.trace[-1]
        return facts_table(
            "Result",
            [
                ("status", f"{self.status.name}, {self.sentence}"),
                ("relative gap", f"{certificate.relative_gap:.3g}"),
                ("primal, dual", f"{certificate.primal:.10g}, {certificate.dual:.10g}"),
                ("solver", self.reason),
                ("time", f"{last.seconds:.3g} s of updates, {last.epoch:g} epochs"),
            ],
        )


def _block_scores(block: Block, model: tuple[Vector, Intercept]) -> Vector:
    weights, intercept = model
    with np.errstate(over="ignore"):
        return scores_of(block.rows.of_width(weights.shape[0]), weights, intercept)
