"""The problem: P, D and w(α), and the owner of 1/S and λ. Nothing in it moves.

P(w, b) = (1/S) Σ s_i φ_i(z_i) + (λ/2) ‖w‖² ,      z_i = ⟨x_i, w⟩ + b
D(α)    = (1/S) Σ −s_i φ_i*(−α_i) − (λ/2) ‖w(α)‖² ,      w(α) = (1/(λS)) Σ s_i α_i x_i
with a free intercept b the duals must also satisfy Σ s_i α_i = 0
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.labels import as_column, checked_strength, checked_weights, normalized, real_targets, two_classes
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.lazy import lazy
from dualgap.linalg.parallel import even_slices, parallel_map
from dualgap.linalg.root_finding import between_kinks, slope_root
from dualgap.losses import LOSSES, Loss
from dualgap.spec import build

Vector = NDArray[np.float64]

# Rows are summed over in chunks, so that a formula's temporaries stay small beside the data: of so many rows, or of fewer
# where that would be more than an eighth of them. Shorter ones would keep two threads waiting for each other.
CHUNK, SHORTEST = 1 << 16, 1 << 15
EVERY = slice(None)
# Below this, squares of deviations may have lost their digits.
TINY_SPREAD = SAFE_SQUARES = 1e-200

# ‖x‖²/(λS) beyond this leaves no room in float64 for the products that follow from it.
LARGEST_CURVATURE = 1e280


def chunks(count: int) -> list[slice]:
    """Slices that cover so many rows, which threads may share."""
    if count <= CHUNK:
        return [slice(0, count)]
    pieces = -(-count // min(max(count // 8, SHORTEST), CHUNK))
    # An odd one would keep half of the threads waiting for the last.
    return even_slices(count, pieces + pieces % 2)


def each(count: int, values: Callable[[slice], Vector]) -> Vector:
    """v_i for so many rows, computed chunk by chunk; always a vector of its own."""
    out = np.empty(count)

    def fill(c: slice) -> None:
        out[c] = values(c)

    for _ in parallel_map(fill, chunks(count)):
        pass
    return out


class Problem:
    """Rows, labels, a loss and a strength λ; optionally sample weights s and a free intercept b."""

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: str | Loss = "hinge",
        strength: float = 1e-4,
        sample_weight: ArrayLike | None = None,
        intercept: bool = False,
    ) -> None:
        self.loss: Loss = _build_loss(loss)
        self.strength = checked_strength(strength)
        self.intercept = bool(intercept)
        self.rows: Rows = as_rows(X)
        self.sample_weight, self.weight_unit = normalized(checked_weights(sample_weight, self.rows.count))
        self.total_weight = float(self.rows.count if self.sample_weight is None else self.sample_weight.sum())
        self.classes: NDArray[Any] | None = None
        if self.loss.task == "classification":
            self.labels, self.classes = two_classes(y, self.rows.count, self.sample_weight)
        else:
            self.labels = real_targets(y, self.rows.count)
        steepest = self._steepest()
        if not steepest < LARGEST_CURVATURE:
            raise ValueError(
                f"X and strength need ‖x‖²/(strength·n) below {LARGEST_CURVATURE:g}, got {steepest:g}; "
                "divide X by its largest absolute value, or raise strength"
            )
        if not np.isfinite(self.primal_at_zero):
            raise ValueError(
                "y needs values whose loss is a finite float64, got values too large; divide y by its largest absolute value"
            )

    def _steepest(self) -> float:
        """The largest s_i‖x_i‖²/(λS), or a bound on it that is small enough."""
        if not self.lambda_n > 0.0:
            return np.inf
        with np.errstate(over="ignore"):
            heaviest = 1.0 if self.sample_weight is None else float(self.sample_weight.max())
            most = self.rows.squared_size * heaviest / self.lambda_n
            if most < LARGEST_CURVATURE:
                return most
            return float(self.weighted(self.rows.squared_norms).max()) / self.lambda_n

    @property
    def lambda_n(self) -> float:
        """λS, the divisor in w(α)."""
        return self.strength * self.total_weight

    @property
    def given_weight(self) -> Vector | None:
        """The sample weights as they were given; `sample_weight` has them in units of a power of two."""
        return None if self.sample_weight is None else self.sample_weight * self.weight_unit

    @lazy
    def label_size(self) -> float:
        """The root of the mean of s_i y_i²."""
        return root_of_squares(self.sample_weight, self.labels) / sqrt(self.total_weight)

    @lazy
    def primal_at_zero(self) -> float:
        """P(0, 0): what predicting nothing costs."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.classes is not None:
                negative, positive = self.loss.value(np.zeros(2), np.array([-1.0, 1.0])).tolist()
                if negative == positive:  # as under every loss of the margin: there is nothing to add up
                    return float(positive)
            return self.mean_of(lambda c: self.loss.value(np.zeros(1), self.labels[c]))

    @lazy
    def baseline(self) -> float:
        """P(0, b) at the best b: what predicting a constant costs; P(0, 0) without an intercept."""
        if not self.intercept:
            return self.primal_at_zero
        constant = self.constant
        return self.mean_of(lambda c: self.loss.value(np.full(c.stop - c.start, constant), self.labels[c]))

    @lazy
    def constant(self) -> float:
        """The best intercept for w = 0; 0 without a free intercept."""
        return self.best_intercept(np.zeros(self.rows.count), 0.0) if self.intercept else 0.0

    @lazy
    def mean_squared_norm(self) -> float:
        """(1/S) Σ s_i ‖x_i‖²."""
        if self.sample_weight is None:
            return self.rows.squared_size / self.total_weight
        return self.mean(self.rows.squared_norms)

    def mean(self, values: Vector) -> float:
        """(1/S) Σ s_i v_i."""
        return total(self.sample_weight, values) / self.total_weight

    def chunks(self) -> list[slice]:
        """Slices that cover the rows."""
        return chunks(self.rows.count)

    def mean_of(self, values: Callable[[slice], Vector]) -> float:
        """(1/S) Σ s_i v_i, with v computed chunk by chunk."""
        weights = self.sample_weight
        found = self.total_of(lambda c: total(None if weights is None else weights[c], values(c)))
        return float(found) / self.total_weight

    def total_of(self, value: Callable[[slice], Any]) -> Any:
        """The sum of what is found for each chunk."""
        return sum(parallel_map(value, self.chunks()))

    def each(self, values: Callable[[slice], Vector]) -> Vector:
        """v_i for all rows, computed chunk by chunk."""
        return each(self.rows.count, values)

    def weighted(self, duals: Vector, c: slice = EVERY) -> Vector:
        """s_i α_i, for all rows or for the duals of a chunk."""
        return duals if self.sample_weight is None else self.sample_weight[c] * duals

    def scores(self, weights: Vector, intercept: float = 0.0) -> Vector:
        """z_i = ⟨x_i, w⟩ + b."""
        out = self.rows.scores(weights)
        if intercept:
            out += intercept
        return out

    def primal(self, scores: Vector, weights: Vector) -> float:
        """P at the given scores and weights."""
        return self.mean_of(lambda c: self.loss.value(scores[c], self.labels[c])) + self.penalty(weights)

    def dual(self, duals: Vector, dual_weights: Vector) -> float:
        """D at the given duals; `dual_weights` is w(α). Σ s_i α_i = 0 is the caller's to ensure with an intercept."""
        conjugates = self.mean_of(lambda c: self.loss.negative_conjugate(duals[c], self.labels[c]))
        return conjugates - self.penalty(dual_weights)

    def penalty(self, weights: Vector) -> float:
        """(λ/2) ‖w‖²."""
        return 0.5 * self.strength * float(weights @ weights)

    def weights_of(self, duals: Vector) -> Vector:
        """w(α) = (1/(λS)) Σ s_i α_i x_i."""
        return self.rows.combination(self.weighted(duals)) / self.lambda_n

    def scores_and_weights_of(self, weights: Vector, duals: Vector) -> tuple[Vector, Vector]:
        """X w and w(α) of weights and duals that need not belong together, in one pass over the rows."""
        scores, combination = self.rows.through(weights, lambda rows, _: self.weighted(duals[rows], rows))
        return scores, combination / self.lambda_n

    def best_intercept(self, scores: Vector, start: float) -> float:
        """argmin over b of P(w, b), from the scores at b = 0 alone: ∂P/∂b is −(1/S) Σ s_i α_i with α = −φ′(z + b)."""
        loss, labels = self.loss, self.labels

        def slope(b: float) -> float:
            return -self.mean_of(lambda c: loss.dual_candidate(scores[c] + b, labels[c]))

        def size(b: float) -> float:
            return self.mean_of(lambda c: np.abs(loss.dual_candidate(scores[c] + b, labels[c])))

        def bend(b: float) -> float:
            return self.mean_of(lambda c: loss.second_derivative(scores[c] + b, labels[c]))

        kinks = loss.kinks(labels)
        if kinks:
            return between_kinks(slope, np.sort(np.concatenate([kink - scores for kink in kinks])))
        return slope_root(lambda b: (slope(b), size(b)), bend, start if np.isfinite(start) else 0.0)

    def with_loss(self, loss: Loss) -> Problem:
        """The same rows, labels and strength under another loss of the same task."""
        if loss.task != self.loss.task:
            raise ValueError(
                f"another loss for the same labels needs task {self.loss.task}, got {loss.name}; make a new Problem"
            )
        other = self._copied(without=("primal_at_zero", "baseline", "constant"))
        other.loss = loss
        return other

    def with_rows(self, rows: Rows) -> Problem:
        """The same labels, loss and strength on other rows, one for each of these."""
        other = self._copied(without=("mean_squared_norm",))
        other.rows = rows
        return other

    def _copied(self, without: tuple[str, ...]) -> Problem:
        other = object.__new__(Problem)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name not in without})
        return other

    def score(self, scores: Vector) -> float:
        """Share of right labels for classification, R² for regression."""
        return score(scores, self.labels, self.loss.task, self.sample_weight)

    def labels_of(self, y: ArrayLike) -> Vector:
        """Labels −1/+1 (or real targets) of other rows, such as a test part."""
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
        free = ", free intercept" if self.intercept else ""
        return (
            f"Problem({self.rows.count} × {self.rows.dimension} {form}, {self.loss}, strength={self.strength:g}{free})"
        )


def total(weights: Vector | None, values: Vector) -> float:
    """Σ s_i v_i."""
    return float(values.sum() if weights is None else weights @ values)


def root_of_squares(weights: Vector | None, values: Vector) -> float:
    """The root of Σ s_i v_i², also where squares leave float64's range."""
    squares = float(values @ values if weights is None else (weights * values) @ values)
    if SAFE_SQUARES < squares < np.inf:
        return sqrt(squares)
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0.0 or not np.isfinite(unit):
        return unit
    return unit * sqrt(total(weights, (values / unit) ** 2))


def score(scores: Vector, labels: Vector, task: str, row_weights: Vector | None = None) -> float:
    """Accuracy (a score of 0 counts as −1) or R² of scores against labels."""
    if task == "classification":
        return _mean((scores > 0.0) == (labels > 0.0), row_weights)
    with np.errstate(over="ignore", under="ignore"):
        deviations, errors = labels - _mean(labels, row_weights), labels - scores
        spread, error = _mean_square(deviations, row_weights), _mean_square(errors, row_weights)
        if not (TINY_SPREAD < spread < np.inf):
            # In units of the largest deviation neither square leaves float64's range before R² itself does.
            unit = float(np.abs(deviations).max())
            if unit == 0.0:
                return 1.0 if np.array_equal(scores, labels) else 0.0
            spread, error = (_mean_square(values / unit, row_weights) for values in (deviations, errors))
    return 1.0 - error / spread if spread > 0.0 else 0.0


def _mean(values: NDArray[Any], row_weights: Vector | None) -> float:
    if row_weights is None and values.dtype == np.bool_:
        return np.count_nonzero(values) / values.size  # far quicker than adding them as numbers
    return float(values.mean()) if row_weights is None else float(row_weights @ values) / float(row_weights.sum())


def _mean_square(values: Vector, row_weights: Vector | None) -> float:
    if row_weights is None:
        return float(values @ values) / values.size
    squares = values * values
    if not np.isfinite(squares).all():
        # A row without weight has no say, but zero times infinity is NaN.
        squares = np.where(row_weights > 0.0, squares, 0.0)
    return _mean(squares, row_weights)


def _build_loss(loss: str | Loss) -> Loss:
    return loss if isinstance(loss, Loss) else build(loss, LOSSES, "loss")
