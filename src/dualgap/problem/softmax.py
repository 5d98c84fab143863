"""The softmax problem: P, D and W(A) for k classes, with one score a class for each row.

P(W, b) = (1/S) Σ s_i [log Σ_j e^(z_ij) − z_i,c_i] + (λ/2) ‖W‖² ,      z_i = Wᵀx_i + b
D(A)    = (1/S) Σ s_i H(p_i) − (λ/2) ‖W(A)‖² ,      A_i = e_c_i − p_i ,   W(A) = (1/(λS)) Σ s_i x_i A_iᵀ
with a free intercept b the duals must also satisfy Σ s_i A_i = 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.labels import as_column, check_length
from dualgap.lazy import lazy
from dualgap.linalg.partition import SETTINGS, partition
from dualgap.losses import multinomial as softmax_loss
from dualgap.losses.multinomial import Classes, Matrix, Vector
from dualgap.problem.base import DEFAULT_STRENGTH, BaseProblem
from dualgap.problem.block_arguments import are_blocks, block_arguments
from dualgap.problem.intercepts import best_intercepts
from dualgap.problem.scoring import accuracy


class MultinomialProblem(BaseProblem):
    """The softmax model: rows, their classes and a strength λ; optionally sample weights s and free intercepts b, one a class.

    The objective is P(W, b) = (1/S) Σ s_i [log Σ_j e^(z_ij) − z_i,c_i] + (λ/2)‖W‖² with z_i = Wᵀx_i + b, S = Σ s_i and c_i the
    class of row i.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n, d)
        The rows; float32 and float64 data is not copied.
    y : array of n labels
        Two or more labels of any type that can be sorted.
    strength : float
        λ > 0.
    sample_weight : array of n numbers ≥ 0, optional
        s; all ones by default.
    intercept : bool
        Whether an intercept for each class, which is not penalized, is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    >>> problem = dg.MultinomialProblem(X, ["elm", "oak", "ash", "ash"], strength=0.1)
    >>> problem
    MultinomialProblem(4 × 2 dense, 3 classes, strength=0.1)
    >>> dg.solve(problem).weights.shape
    (2, 3)
    """

    is_softmax: ClassVar[bool] = True
    labels: Classes
    classes: NDArray[Any]

    of_blocks: ClassVar[Callable[..., Any]]
    """Makes the problem of row blocks; `softmax_blocks.py` sets it, because it builds on this class."""

    def __new__(cls, X: Any = None, *arguments: Any, **options: Any) -> Self:
        """Row blocks, and rows on Dask, make a `MultinomialBlockProblem`."""
        if are_blocks(X):
            blocks, given = block_arguments(cls.__init__, X, arguments, options)
            return cast(Self, cls.of_blocks(blocks, **given))
        return super().__new__(cls)

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        strength: float = DEFAULT_STRENGTH,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        super().__init__(X, strength, sample_weight, intercept)
        self.labels, self.classes = _numbered_classes(y, self.rows.count, self.sample_weight, self.intercept)
        self._check_dual_curvature()

    @property
    def class_count(self) -> int:
        """k."""
        return int(self.classes.size)

    @property
    def weights_shape(self) -> tuple[int, ...]:
        return (self.rows.dimension, self.class_count)

    def losses(self, scores: Matrix, c: slice) -> Vector:
        return softmax_loss.softmax(scores, self.labels[c]).values

    def suggested_duals(self, scores: Matrix) -> Matrix:
        """A_i = e_c − softmax(z_i): the duals that the scores suggest."""
        return self.each(lambda c: softmax_loss.softmax(scores[c], self.labels[c]).duals)

    def clipped_duals(self, duals: Matrix) -> Matrix:
        return self.each(lambda c: softmax_loss.clipped(duals[c], self.labels[c]))

    @lazy
    def normalized_weights(self) -> Vector:
        """s_i/S."""
        if self.sample_weight is None:
            return np.full(self.rows.count, 1.0 / self.rows.count)
        return self.sample_weight / self.total_weight

    @lazy
    def class_weights(self) -> Vector:
        """(1/S) Σ s_i e_c_i: the weighted part of the rows in each class."""
        return np.bincount(self.labels, self.normalized_weights, self.class_count).astype(np.float64)

    @lazy
    def constant(self) -> Vector:
        """The best intercepts for W = 0; zeros without a free intercept."""
        if not self.intercept:
            return np.zeros(self.class_count)
        logarithms = np.log(self.class_weights)
        return np.asarray(logarithms - logarithms.mean())

    @lazy
    def baseline(self) -> float:
        """P(0, b) at the best b: the cost of predicting a constant."""
        if not self.intercept:
            return float(np.log(self.class_count))
        return float(-self.class_weights @ np.log(self.class_weights))

    def formula_slices(self) -> list[slice]:
        return partition(self.rows.count, SETTINGS.formula_values * self.class_count)

    def dual(self, duals: Matrix, combination: Matrix) -> float:
        """D at the given duals: the mean entropy minus the penalty of W(A), which is `combination`."""
        entropies = self.mean_of(lambda c: softmax_loss.entropies(duals[c], self.labels[c]).at(1.0))
        return entropies - self.penalty_conjugate(combination)

    def dual_sums(self, duals: Matrix) -> Vector:
        """(1/S) Σ s_i A_i, which has to be zero with free intercepts."""
        return np.asarray(self.total_of(lambda c: self.normalized_weights[c] @ duals[c]))

    def best_intercept(self, scores: Matrix, start: Any) -> Vector:
        return best_intercepts(self, scores, start)

    def score(self, scores: Matrix, labels: NDArray[Any] | None = None) -> float:
        """The weighted part of the rows whose own class has the highest score; unweighted for other labels."""
        highest = scores.argmax(axis=1)
        if labels is None:
            return accuracy(highest == self.labels, self.sample_weight)
        return accuracy(highest == labels)

    def labels_of(self, y: ArrayLike) -> Classes:
        """The numbers of the classes of other rows, such as test rows."""
        values = as_column(y)
        if not np.isin(values, self.classes).all():
            raise ValueError(f"labels need to be among the {self.class_count} of training, got others; drop those rows")
        return np.searchsorted(self.classes, values).astype(np.intp, copy=False)

    def __repr__(self) -> str:
        form = "sparse" if self.rows.is_sparse else "dense"
        free = ", free intercepts" if self.intercept else ""
        return (
            f"MultinomialProblem({self.rows.count} × {self.rows.dimension} {form}, {self.class_count} classes, "
            f"strength={self.strength:g}{free})"
        )


def _numbered_classes(
    y: ArrayLike, count: int, sample_weight: Vector | None, intercept: bool
) -> tuple[Classes, NDArray[Any]]:
    """The place of each row's label among the sorted labels, and the sorted labels."""
    values = as_column(y)
    check_length(values, count, "y")
    if values.dtype.kind == "c":
        raise ValueError("y needs labels, got complex numbers; encode them first")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("y needs labels, got NaN or infinity; drop the rows that hold them")
    try:
        classes, places = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError("y needs labels of one type, got a mixture that cannot be ordered; encode them") from None
    places = places.astype(np.intp, copy=False).ravel()
    has_weight = np.bincount(places, sample_weight, classes.size) > 0.0
    if has_weight.sum() < 2:
        raise ValueError(
            "the softmax model needs two or more labels among rows of positive weight, "
            f"got only {classes[has_weight].tolist()}; add rows of another class"
        )
    if intercept and not has_weight.all():
        raise ValueError(
            f"a free intercept needs every label on a row of positive weight, got none for {classes[~has_weight].tolist()}; "
            "drop the rows of weight zero"
        )
    return places, classes
