"""The problem with one score a row: two classes, or real targets, under one of the losses of the table.

P(w, b) = (1/S) Σ s_i φ_i(z_i) + λ·r(w) ,      z_i = ⟨x_i, w⟩ + b ,      r(w) = ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²
D(α)    = (1/S) Σ −s_i φ_i*(−α_i) − λ·r*(x(α)) ,      x(α) = (1/(λS)) Σ s_i α_i x_i
with a free intercept b the duals must also satisfy Σ s_i α_i = 0
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.labels import as_column, real_targets, two_classes
from dualgap.lazy import lazy
from dualgap.linalg.floats import MANY_ROUNDINGS
from dualgap.linalg.partition import partition
from dualgap.linalg.root_finding import between_kinks, slope_root
from dualgap.losses import LOSSES, Loss
from dualgap.problem.base import DEFAULT_STRENGTH, BaseProblem, Vector
from dualgap.problem.block_arguments import are_blocks, block_arguments
from dualgap.problem.scoring import score
from dualgap.problem.sums import root_of_squares, total
from dualgap.spec import build


class Problem(BaseProblem):
    """Rows, labels, a loss and a strength λ; optionally sample weights s, a free intercept b and an L1 part ρ of the penalty.

    The objective is P(w, b) = (1/S) Σ s_i φ_i(⟨x_i, w⟩ + b) + λ(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²) with S = Σ s_i.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n, d)
        The rows; float32 and float64 data is not copied.
    y : array of n labels or targets
        Two labels of any type for a loss of classification (the larger one is +1), real numbers for a loss of regression.
    loss : str or Loss
        A name of `dg.LOSSES`, a spec such as "huber(delta=2)", or a loss.
    strength : float
        λ > 0.
    sample_weight : array of n numbers ≥ 0, optional
        s; all ones by default.
    intercept : bool
        Whether an intercept b, which is not penalized, is fitted.
    l1_ratio : float
        ρ from 0 to 1: 0 is the L2 penalty, 1 the L1 penalty, which has exact zeros in w, and between is the elastic net.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> dg.Problem(X, ["no", "yes", "yes"], "logistic", strength=0.1, intercept=True)
    Problem(3 × 2 dense, Logistic(), strength=0.1, free intercept)
    """

    labels: Vector

    of_blocks: ClassVar[Callable[..., Any]]
    """Makes the problem of row blocks; `row_blocks.py` sets it, because it builds on this class."""

    def __new__(cls, X: Any = None, *arguments: Any, **options: Any) -> Self:
        """Row blocks, and rows on Dask, make a `BlockProblem`."""
        if are_blocks(X):
            blocks, given = block_arguments(cls.__init__, X, arguments, options)
            return cast(Self, cls.of_blocks(blocks, **given))
        return super().__new__(cls)

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: str | Loss = "hinge",
        strength: float = DEFAULT_STRENGTH,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
        *,
        l1_ratio: float = 0.0,
    ) -> None:
        self.loss: Loss = loss if isinstance(loss, Loss) else build(loss, LOSSES, "loss")
        super().__init__(X, strength, sample_weight, intercept, l1_ratio)
        self.classes: NDArray[Any] | None = None
        if self.loss.task == "classification":
            self.labels, self.classes = two_classes(y, self.rows.count, self.sample_weight)
        else:
            self.labels = real_targets(y, self.rows.count)
            self.loss.check_labels(self.labels, self.sample_weight, self.intercept)
        self._check_dual_curvature()
        if not np.isfinite(self.primal_at_zero):
            raise ValueError(
                "y needs values whose loss is a finite float64, got values too large; divide y by its largest absolute value"
            )

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return (self.rows.dimension,)

    def losses(self, scores: Vector, c: slice) -> Vector:
        return self.loss.value(scores, self.labels[c])

    def suggested_duals(self, scores: Vector) -> Vector:
        return self.each(lambda c: self.loss.dual_candidate(scores[c], self.labels[c]))

    def clipped_duals(self, duals: Vector) -> Vector:
        return self.each(lambda c: self.loss.clip(duals[c], self.labels[c]))

    @lazy
    def label_size(self) -> float:
        """The root of the mean of s_i y_i²."""
        return root_of_squares(self.sample_weight, self.labels) / sqrt(self.total_weight)

    @lazy
    def primal_at_zero(self) -> float:
        """P(0, 0)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.classes is not None:
                negative, positive = self.loss.value(np.zeros(2), np.array([-1.0, 1.0])).tolist()
                if negative == positive:  # as under every loss of the margin: no sum is needed
                    return float(positive)
            return self.mean_of(lambda c: self.loss.value(np.zeros(1), self.labels[c]))

    @lazy
    def baseline(self) -> float:
        """P(0, b) at the best b: the cost of predicting a constant; P(0, 0) without an intercept."""
        if not self.intercept:
            return self.primal_at_zero
        constant = self.constant
        return self.mean_of(lambda c: self.loss.value(np.full(c.stop - c.start, constant), self.labels[c]))

    @lazy
    def constant(self) -> float:
        """The best intercept for w = 0; 0 without a free intercept."""
        return self.best_intercept(np.zeros(self.rows.count), 0.0) if self.intercept else 0.0

    @property
    def strength_max(self) -> float:
        """A strength from which on w = 0 is optimal: the smallest such for a smooth loss, an upper bound on it for a kinked one.

        It is ‖v‖∞/ρ for the v of duals that belong to w = 0; where kinks leave a choice, the smallest ‖v‖∞ is a linear program.
        Without an L1 part no strength makes w zero, and it is infinite.
        """
        if not self.penalty.is_sparse:
            return float("inf")
        v = self.strength * np.abs(self.combination_of(self._duals_of_constant()))
        return float(v.max(initial=0.0)) / self.l1_ratio

    def _duals_of_constant(self) -> Vector:
        """Duals that prove w = 0 optimal where any do: −φ′(b*), and at a kink a point between its two slopes with Σ s_iα_i = 0."""
        below, above = self.constant, self.constant
        if self.loss.has_kink:
            # A label within rounding of the constant is on its kink.
            reach = MANY_ROUNDINGS * (abs(self.constant) + float(np.abs(self.labels).max()))
            below, above = self.constant - reach, self.constant + reach
        lowest = self.each(lambda c: self.loss.dual_candidate(np.full(c.stop - c.start, above), self.labels[c]))
        if not self.loss.has_kink:
            return lowest
        highest = self.each(lambda c: self.loss.dual_candidate(np.full(c.stop - c.start, below), self.labels[c]))
        low, high = self.mean(lowest), self.mean(highest)
        mixing = min(max(-low / (high - low), 0.0), 1.0) if self.intercept and high > low else 0.5
        return lowest + mixing * (highest - lowest)

    def mean(self, values: Vector) -> float:
        """(1/S) Σ s_i v_i."""
        return total(self.sample_weight, values) / self.total_weight

    def formula_slices(self) -> list[slice]:
        return partition(self.rows.count)

    def dual(self, duals: Vector, combination: Vector) -> float:
        """D at the given duals; `combination` is x(α). With an intercept the caller ensures Σ s_i α_i = 0."""
        conjugates = self.mean_of(lambda c: self.loss.negative_conjugate(duals[c], self.labels[c]))
        return conjugates - self.penalty_conjugate(combination)

    def dual_sums(self, duals: Vector) -> float:
        return self.mean_of(lambda c: duals[c])

    def best_intercept(self, scores: Vector, start: float) -> float:
        """argmin over b of P(w, b), from the scores at b = 0 alone: ∂P/∂b is −(1/S) Σ s_i α_i with α = −φ′(z + b)."""
        loss, labels = self.loss, self.labels
        known = loss.best_intercept(scores, labels, self.sample_weight)
        if known is not None:
            return known

        def slope(b: float) -> float:
            return -self.mean_of(lambda c: loss.dual_candidate(scores[c] + b, labels[c]))

        def size(b: float) -> float:
            return self.mean_of(lambda c: np.abs(loss.dual_candidate(scores[c] + b, labels[c])))

        def second_derivative(b: float) -> float:
            return self.mean_of(lambda c: loss.second_derivative(scores[c] + b, labels[c]))

        kinks = loss.kinks(labels)
        if kinks:
            return between_kinks(slope, np.sort(np.concatenate([kink - scores for kink in kinks])))
        return slope_root(lambda b: (slope(b), size(b)), second_derivative, start if np.isfinite(start) else 0.0)

    def with_loss(self, loss: Loss) -> Self:
        """The same rows, labels and strength under another loss of the same task."""
        if loss.task != self.loss.task:
            raise ValueError(
                f"another loss for the same labels needs task {self.loss.task}, got {loss.name}; make a new Problem"
            )
        loss.check_labels(self.labels, self.sample_weight, self.intercept)
        other = self._copied(without=("primal_at_zero", "baseline", "constant"))
        other.loss = loss
        return other

    def score(self, scores: Vector, labels: NDArray[Any] | None = None) -> float:
        """Accuracy for classification, R² for regression: of the problem's rows, or unweighted for other labels."""
        if labels is None:
            return score(self.loss.predictions(scores), self.labels, self.loss.task, self.sample_weight)
        return score(self.loss.predictions(scores), labels, self.loss.task)

    def labels_of(self, y: ArrayLike) -> Vector:
        """Labels −1/+1, or real targets, of other rows, such as test rows."""
        if self.classes is None:
            return real_targets(y, None)
        values = as_column(y)
        labels = np.where(values == self.classes[1], 1.0, -1.0)
        if not np.isin(values, self.classes).all():
            raise ValueError(
                f"labels need to be {self.classes[0]!r} or {self.classes[1]!r} as in training, got others; drop those rows"
            )
        return labels

    def __repr__(self) -> str:
        form = "sparse" if self.rows.is_sparse else "dense"
        mixed = f", l1_ratio={self.l1_ratio:g}" if self.l1_ratio else ""
        free = ", free intercept" if self.intercept else ""
        return f"Problem({self.rows.count} × {self.rows.dimension} {form}, {self.loss}, strength={self.strength:g}{mixed}{free})"
