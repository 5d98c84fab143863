"""The softmax problem: P, D and W(A) for k classes, and the owner of 1/S and λ. Nothing in it moves.

P(W, b) = (1/S) Σ s_i [log Σ_j e^(z_ij) − z_i,c_i] + (λ/2) ‖W‖² ,      z_i = Wᵀx_i + b
D(A)    = (1/S) Σ s_i H(p_i) − (λ/2) ‖W(A)‖² ,      A_i = e_c_i − p_i ,   W(A) = (1/(λS)) Σ s_i x_i A_iᵀ
with a free intercept b the duals must also satisfy Σ s_i A_i = 0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.labels import as_column, check_length, checked_strength, checked_weights, normalized
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.lazy import lazy
from dualgap.losses import multinomial as softmax_loss
from dualgap.losses.multinomial import Matrix, Vector
from dualgap.problem import LARGEST_CURVATURE

# A chunk of scores holds about this many values: the temporaries of a formula then stay in the cache.
CHUNK_VALUES = 1 << 15


class MultinomialProblem:
    """Rows, their classes and a strength λ; optionally sample weights s and free intercepts b, one a class."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        strength: float = 1e-4,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        self.strength = checked_strength(strength)
        self.intercept = bool(intercept)
        self.rows: Rows = as_rows(X)
        self.sample_weight, self.weight_unit = normalized(checked_weights(sample_weight, self.rows.count))
        self.total_weight = float(self.rows.count if self.sample_weight is None else self.sample_weight.sum())
        self.labels, self.classes = _many_classes(y, self.rows.count, self.sample_weight, self.intercept)
        with np.errstate(over="ignore", divide="ignore"):
            steepest = float(np.max(self.shares * self.rows.squared_norms)) / self.strength
        if not steepest < LARGEST_CURVATURE:
            raise ValueError(
                f"X and strength need ‖x‖²/(strength·n) below {LARGEST_CURVATURE:g}, got {steepest:g}; "
                "divide X by its largest absolute value, or raise strength"
            )

    @property
    def class_count(self) -> int:
        """k."""
        return int(self.classes.size)

    @property
    def lambda_n(self) -> float:
        """λS, the divisor in W(A)."""
        return self.strength * self.total_weight

    @property
    def given_weight(self) -> Vector | None:
        """The sample weights as they were given; `sample_weight` has them in units of a power of two."""
        return None if self.sample_weight is None else self.sample_weight * self.weight_unit

    @lazy
    def shares(self) -> Vector:
        """s_i/S: a common factor of all weights, however large, then changes no number."""
        if self.sample_weight is None:
            return np.full(self.rows.count, 1.0 / self.rows.count)
        return self.sample_weight / self.total_weight

    @lazy
    def class_shares(self) -> Vector:
        """(1/S) Σ s_i e_c_i."""
        return np.bincount(self.labels, self.shares, self.class_count).astype(np.float64)

    @lazy
    def constant(self) -> Vector:
        """The best intercepts for W = 0; zeros without a free intercept."""
        if not self.intercept:
            return np.zeros(self.class_count)
        logarithms = np.log(self.class_shares)
        return np.asarray(logarithms - logarithms.mean())

    @lazy
    def baseline(self) -> float:
        """P(0, b) at the best b: what predicting a constant costs."""
        if not self.intercept:
            return float(np.log(self.class_count))
        return float(-self.class_shares @ np.log(self.class_shares))

    @lazy
    def mean_squared_norm(self) -> float:
        """(1/S) Σ s_i ‖x_i‖²."""
        return float(self.shares @ self.rows.squared_norms)

    def chunks(self) -> Iterator[slice]:
        """Slices that cover the rows."""
        height = max(1, CHUNK_VALUES // self.class_count)
        for begin in range(0, self.rows.count, height):
            yield slice(begin, min(begin + height, self.rows.count))

    def scores(self, weights: Matrix) -> Matrix:
        """X W: the scores z at b = 0."""
        out = np.empty((self.rows.count, weights.shape[1]))
        for rows, block in self.rows.blocks():
            out[rows] = block @ weights
        return out

    def combination(self, coefficients: Matrix) -> Matrix:
        """Xᵀ C."""
        out = np.zeros((self.rows.dimension, coefficients.shape[1]))
        for rows, block in self.rows.blocks():
            out += block.T @ coefficients[rows]
        return out

    def weights_of(self, duals: Matrix) -> Matrix:
        """W(A) = (1/(λS)) Σ s_i x_i A_iᵀ."""
        if self.sample_weight is None:
            return self.combination(duals) / self.lambda_n
        return self.combination(duals * self.shares[:, None]) / self.strength

    def penalty(self, weights: Matrix) -> float:
        """(λ/2) ‖W‖²."""
        return 0.5 * self.strength * float(np.vdot(weights, weights))

    def primal(self, scores: Matrix, weights: Matrix) -> float:
        """P at the given scores and weights."""
        total = 0.0
        for c in self.chunks():
            total += float(self.shares[c] @ softmax_loss.softmax(scores[c], self.labels[c]).values)
        return total + self.penalty(weights)

    def dual_sums(self, duals: Matrix) -> Vector:
        """(1/S) Σ s_i A_i, which a free intercept wants to be zero."""
        total = np.zeros(self.class_count)
        for c in self.chunks():
            total += self.shares[c] @ duals[c]
        return total

    def suggested_duals(self, scores: Matrix) -> Matrix:
        """A = e_c − softmax(z): the duals the scores suggest."""
        out = np.empty_like(scores)
        for c in self.chunks():
            out[c] = softmax_loss.softmax(scores[c], self.labels[c]).duals
        return out

    def with_rows(self, rows: Rows) -> MultinomialProblem:
        """The same classes and strength on other rows, one for each of these."""
        other = object.__new__(MultinomialProblem)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name != "mean_squared_norm"})
        other.rows = rows
        return other

    def score(self, scores: Matrix) -> float:
        """The share of rows whose own class has the highest score."""
        return float(self.shares @ (scores.argmax(axis=1) == self.labels))

    def __repr__(self) -> str:
        form = "sparse" if self.rows.is_sparse else "dense"
        free = ", free intercepts" if self.intercept else ""
        return (
            f"MultinomialProblem({self.rows.count} × {self.rows.dimension} {form}, {self.class_count} classes, "
            f"strength={self.strength:g}{free})"
        )


def _many_classes(
    y: ArrayLike, count: int, weights: Vector | None, intercept: bool
) -> tuple[softmax_loss.Classes, NDArray[Any]]:
    """The place of each row's label among the sorted labels, and those."""
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
    counted = np.bincount(places, weights, classes.size) > 0.0
    if counted.sum() < 2:
        raise ValueError(
            f"the softmax model needs two or more labels among rows of positive weight, got only {classes[counted].tolist()}; "
            "add rows of another class"
        )
    if intercept and not counted.all():
        raise ValueError(
            f"a free intercept needs every label on a row of positive weight, got none for {classes[~counted].tolist()}; "
            "drop the rows of weight zero"
        )
    return places, classes
