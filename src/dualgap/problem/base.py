"""What every problem offers: the one interface that loop, examiner, judge, solvers and results use.

A problem is rows x_i with labels, sample weights s_i (S = Σ s_i), a strength λ and a loss. It has one score a row, or one for each
class in the softmax model; weights, intercept and duals have the shapes that the problem states.

P(w, b) = (1/S) Σ s_i φ_i(z_i) + λ·r(w) ,      z_i = ⟨x_i, w⟩ + b
D(α)    = (1/S) Σ −s_i φ_i*(−α_i) − λ·r*(x(α)) ,      x(α) = (1/(λS)) Σ s_i α_i x_i ,      w(α) = ∇r*(x(α))
with a free intercept b the duals must also satisfy Σ s_i α_i = 0; r = ‖·‖²/2, where w(α) = x(α), or another penalty of the table
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.labels import checked_strength, checked_weights, normalized
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.lazy import lazy
from dualgap.linalg.floats import MANY_ROUNDINGS, TINY, UNIT
from dualgap.linalg.parallel import parallel_map
from dualgap.linalg.partition import sum_slices
from dualgap.penalties import Penalty, penalty_of
from dualgap.problem.sums import EVERY, total

Vector = NDArray[np.float64]
Intercept = Any
"""b: a float, or in the softmax model a vector with one number a class."""

# λ of a problem for which none is given.
DEFAULT_STRENGTH = 1e-4
# The largest ‖x‖²s/(λS) of a row: the reciprocal of SAFE_SQUARES, 5.5e275. Beyond it products with it leave float64's range.
LARGEST_DUAL_CURVATURE = UNIT * UNIT / TINY


class BaseProblem(ABC):
    """Rows with labels, sample weights, a strength and a penalty, and the functions P, D and w(α) of them. Nothing in it changes."""

    is_softmax: ClassVar[bool] = False
    """Whether a row has a score for each class, and not one score."""
    labels: NDArray[Any]
    """Labels −1/+1, real targets, or in the softmax model the number of each row's class."""
    classes: NDArray[Any] | None
    """The labels as they were given, in order; None for real targets."""

    def __init__(
        self, X: Any, strength: float, sample_weight: ArrayLike | None, intercept: bool, l1_ratio: float = 0.0
    ) -> None:
        self.strength = checked_strength(strength)
        self.penalty: Penalty = penalty_of(l1_ratio)
        """r, in units of the strength."""
        self.intercept = bool(intercept)
        """Whether there is a free intercept b."""
        self.rows: Rows = as_rows(X)
        self.sample_weight, self.weight_unit = normalized(checked_weights(sample_weight, self.rows.count))
        self.total_weight = float(self.rows.count if self.sample_weight is None else self.sample_weight.sum())

    # Shapes of an answer.

    @property
    @abstractmethod
    def weights_shape(self) -> tuple[int, ...]:
        """(d,), or (d, k) with k classes."""

    @property
    def intercept_shape(self) -> tuple[int, ...]:
        """(), or (k,) with k classes."""
        return self.weights_shape[1:]

    @property
    def duals_shape(self) -> tuple[int, ...]:
        """(n,), or (n, k) with k classes."""
        return (self.rows.count, *self.weights_shape[1:])

    # The loss of each row and the duals that go with it.

    @abstractmethod
    def losses(self, scores: Vector, c: slice) -> Vector:
        """φ_i(z_i) for the scores of a slice of the rows."""

    @abstractmethod
    def suggested_duals(self, scores: Vector) -> Vector:
        """α_i = −φ_i′(z_i): the duals that the scores of all rows suggest."""

    @abstractmethod
    def clipped_duals(self, duals: Vector) -> Vector:
        """The nearest duals in their domain, without regard to Σ s_i α_i; always a new array."""

    # Constants of the problem.

    @property
    @abstractmethod
    def constant(self) -> Intercept:
        """The best intercept for w = 0; zero without a free intercept."""

    @property
    @abstractmethod
    def baseline(self) -> float:
        """P(0, b) at the best b: the cost of predicting a constant."""

    @property
    def lambda_n(self) -> float:
        """λS, the divisor in w(α)."""
        return self.strength * self.total_weight

    @property
    def given_weight(self) -> Vector | None:
        """The sample weights as they were given; `sample_weight` has them in units of a power of two."""
        return None if self.sample_weight is None else self.sample_weight * self.weight_unit

    @lazy
    def mean_squared_norm(self) -> float:
        """(1/S) Σ s_i ‖x_i‖²."""
        if self.sample_weight is None:
            return self.rows.squared_size / self.total_weight
        return total(self.sample_weight, self.rows.squared_norms) / self.total_weight

    @lazy
    def column_sizes(self) -> Vector:
        """√((1/S) Σ s_i x_ij²) for each column, in one pass over the rows."""

        def add(rows: slice, out: Vector) -> None:
            block = self.rows.block(rows)
            squares = block.multiply(block) if self.rows.is_sparse else np.square(block)
            weights = np.ones(rows.stop - rows.start) if self.sample_weight is None else self.sample_weight[rows]
            out += squares.T @ weights

        with np.errstate(over="ignore", under="ignore"):
            squares = sum_slices(add, self.rows.partition, (self.rows.dimension,))
            return np.sqrt(squares / self.total_weight)

    # Means over the rows.

    @abstractmethod
    def formula_slices(self) -> list[slice]:
        """Slices that cover the rows: formulas are computed for one at a time, and threads share the slices."""

    def mean_of(self, values: Callable[[slice], Vector]) -> float:
        """(1/S) Σ s_i v_i, with v computed slice by slice."""
        weights = self.sample_weight
        found = self.total_of(lambda c: total(None if weights is None else weights[c], values(c)))
        return float(found) / self.total_weight

    def total_of(self, value: Callable[[slice], Any]) -> Any:
        """The sum of a value for each slice."""
        return sum(parallel_map(value, self.formula_slices()))

    def each(self, values: Callable[[slice], Vector]) -> Vector:
        """v_i, or one number a class, for all rows, computed slice by slice; always a new array."""
        out = np.empty(self.duals_shape)

        def fill(c: slice) -> None:
            out[c] = values(c)

        for _ in parallel_map(fill, self.formula_slices()):
            pass
        return out

    # P, D and w(α).

    def scores(self, weights: Vector, intercept: Intercept = 0.0) -> Vector:
        """z_i = ⟨x_i, w⟩ + b."""
        return scores_of(self.rows, weights, intercept)

    def primal(self, scores: Vector, weights: Vector) -> float:
        """P at the given scores and weights."""
        return self.mean_of(lambda c: self.losses(scores[c], c)) + self.penalty_value(weights)

    @abstractmethod
    def dual(self, duals: Vector, combination: Vector) -> float:
        """D at the given duals; `combination` is x(α). With an intercept the caller ensures Σ s_i α_i = 0."""

    @abstractmethod
    def dual_sums(self, duals: Vector) -> Any:
        """(1/S) Σ s_i α_i, which has to be zero with a free intercept."""

    def dual_of(self, duals: Vector) -> float:
        """D at any duals, in one pass over the rows; −∞ where they are infeasible by more than rounding."""
        inside = self.clipped_duals(duals)
        largest = float(np.abs(duals).max(initial=0.0))
        if not np.abs(inside - duals).max(initial=0.0) <= MANY_ROUNDINGS * largest:
            return -np.inf
        if self.intercept and np.abs(self.dual_sums(inside)).max() > MANY_ROUNDINGS * largest:
            return -np.inf
        return self.dual(inside, self.combination_of(inside))

    def penalty_value(self, weights: Vector) -> float:
        """g(w) = λ·r(w)."""
        return self.strength * self.penalty.value(weights)

    def penalty_conjugate(self, combination: Vector) -> float:
        """g*(v) = λ·r*(x) at x = v/λ."""
        return self.strength * self.penalty.conjugate(combination)

    @property
    def l1_ratio(self) -> float:
        """ρ."""
        return self.penalty.l1_ratio

    def weighted(self, duals: Vector, c: slice = EVERY) -> Vector:
        """s_i α_i, for all rows or for the duals of a slice."""
        if self.sample_weight is None:
            return duals
        weights = self.sample_weight[c]
        return weights * duals if duals.ndim == 1 else weights[:, None] * duals

    def combination_of(self, duals: Vector) -> Vector:
        """x(α) = (1/(λS)) Σ s_i α_i x_i, which is w(α) under the L2 penalty."""
        return self.rows.combination(self.weighted(duals)) / self.lambda_n

    def weights_of(self, duals: Vector) -> Vector:
        """w(α) = ∇r*(x(α))."""
        return self.penalty.dual_weights(self.combination_of(duals))

    def scores_and_combination_of(self, weights: Vector, duals: Vector) -> tuple[Vector, Vector]:
        """X w and x(α) of weights and duals that need not belong together, in one pass over the rows."""
        scores, combination = self.rows.through(weights, lambda rows, _: self.weighted(duals[rows], rows))
        return scores, combination / self.lambda_n

    @abstractmethod
    def best_intercept(self, scores: Vector, start: Intercept) -> Intercept:
        """argmin over b of P(w, b), from the scores at b = 0 alone."""

    # Labels of other rows, and how well scores fit labels.

    @abstractmethod
    def labels_of(self, y: ArrayLike) -> NDArray[Any]:
        """The labels of other rows, such as test rows, coded as those of training."""

    @abstractmethod
    def score(self, scores: Vector, labels: NDArray[Any] | None = None) -> float:
        """Accuracy, or R² for real targets: of the problem's own rows, or unweighted of other rows with given labels."""

    def with_rows(self, rows: Rows) -> Self:
        """The same labels, loss and strength on other rows, one for each of these."""
        other = self._copied(without=("mean_squared_norm", "column_sizes"))
        other.rows = rows
        return other

    def with_strength(self, strength: float) -> Self:
        """The same rows, labels and loss at another strength; what is known of them already stays known."""
        other = self._copied(without=())
        other.strength = checked_strength(strength)
        other._check_dual_curvature()
        return other

    def _copied(self, without: tuple[str, ...]) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name not in without})
        return other

    def _check_dual_curvature(self) -> None:
        """Refuse rows so long, or a strength so small, that products leave float64's range."""
        largest = self._largest_dual_curvature()
        if not largest < LARGEST_DUAL_CURVATURE:
            raise ValueError(
                f"X and strength need ‖x‖²/(strength·n) below {LARGEST_DUAL_CURVATURE:g}, got {largest:g}; "
                "divide X by its largest absolute value, or raise strength"
            )

    def _largest_dual_curvature(self) -> float:
        """The largest s_i‖x_i‖²/(λS), or an upper bound on it that is small enough."""
        if not self.lambda_n > 0.0:
            return np.inf
        with np.errstate(over="ignore"):
            largest_weight = 1.0 if self.sample_weight is None else float(self.sample_weight.max())
            bound = self.rows.squared_size * largest_weight / self.lambda_n
            if bound < LARGEST_DUAL_CURVATURE:
                return bound
            return float(self.weighted(self.rows.squared_norms).max()) / self.lambda_n


def scores_of(rows: Rows, weights: Vector, intercept: Intercept) -> Vector:
    """⟨x_i, w⟩ + b for any rows, with one column a class where w has several."""
    out = rows.scores(weights)
    if np.any(intercept):
        out += intercept
    return out
