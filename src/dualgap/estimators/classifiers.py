"""What classifiers share: classes and their weights, one class against the rest, streams, scores and predicted classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from dualgap.estimators.base import CertifiedModel, Vector
from dualgap.estimators.callbacks import with_callbacks
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import strength_of
from dualgap.estimators.partial_fit import advance_streams, supports_partial_fit
from dualgap.losses import Loss
from dualgap.problem import Problem


class LinearClassifier(ClassifierMixin, CertifiedModel):  # type: ignore[misc]
    """A linear classifier: two classes are one problem, more are one each against the rest."""

    C: float
    strength: float | None
    class_weight: Any

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 3 is a row given three times.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        loss = self._loss()
        X, y, weights = self._validate(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes(codes if weights is None else codes[weights > 0.0])
        table = self._deduplicate(X, codes, weights)
        return self._fit_classes(loss, table, (X, y, weights))

    def _fit_classes(self, loss: Loss, table: Deduplicated, given: tuple[Any, Any, Vector | None]) -> Self:
        parts = self._parts(table.targets, table.weights)
        problems = [
            Problem(table.rows, labels, loss, self._strength(_total(labels, weights), k), weights, self.fit_intercept)
            for k, (labels, weights) in enumerate(parts)
        ]
        factors = self._factors(table.targets, table.weights)
        return self._fit_problems(problems, table, given, len(parts) > 1, factors)

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with some more rows of a stream, in their order; there with solver="pegasos" and "sgd".

        However the stream is cut into calls, the result is the same. `certificate_` is of the rows of this call alone,
        and None where they are all of one class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The estimator.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"partial_fit needs class_weight as a dict, got {self.class_weight!r}; a stream does not know its totals"
            )
        is_first = not hasattr(self, "classes_")
        if is_first and classes is None:
            raise ValueError("partial_fit needs classes in its first call, got None; pass all labels that may come")
        X, y, weights = self._validate(X, y, sample_weight, reset=is_first)
        check_classification_targets(y)
        named = self.classes_ if classes is None else np.unique(np.asarray(classes))
        if not is_first and not np.array_equal(named, self.classes_):
            raise ValueError(f"partial_fit needs the classes of its first call, got {named.tolist()}; leave them out")
        if not np.isin(y, named).all():
            raise ValueError("partial_fit needs labels that are among classes, got others; name all in the first call")
        self.classes_ = named
        codes = np.searchsorted(named, y)
        self._check_classes(np.arange(named.size))
        parts = self._parts(codes, weights)
        advance_streams(
            self, X, [labels for labels, _ in parts], [shares for _, shares in parts], several=len(parts) > 1
        )
        return self

    def _check_classes(self, codes: NDArray[Any]) -> None:
        """Refuse labels that no model can be fitted to; `codes` are those of rows of positive weight."""
        counts = np.bincount(codes, minlength=self.classes_.size)
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in rows of positive weight, got one class; "
                "add rows of another"
            )
        if not counts.all():
            raise ValueError(
                f"{type(self).__name__} needs rows of positive weight of every class, got none of class "
                f"{self.classes_[counts.argmin()]!r}; drop its rows"
            )

    def _parts(self, codes: NDArray[Any], weights: Vector | None) -> list[tuple[Vector, Vector | None]]:
        """Labels −1/+1 and weights for each problem: the larger of two classes, or each class against the rest."""
        count, factors = self.classes_.size, self._factors(codes, weights)
        parts = []
        for k, positive in enumerate([1] if count == 2 else range(count)):
            labels, shares = np.where(codes == positive, 1.0, -1.0), weights
            if factors is not None:
                rest, own = factors[k]
                of_rows = np.where(labels > 0.0, own, rest)
                shares = of_rows if weights is None else weights * of_rows
            parts.append((labels, shares))
        return parts

    def _factors(self, codes: NDArray[Any], weights: Vector | None) -> list[tuple[float, float]] | None:
        """For each problem the factors of the weights of the other classes' rows, and of its own.

        As in LIBLINEAR, the rest has 1 where there are three classes or more; of two classes each has its own.
        """
        of_classes = self._class_weights(codes, weights)
        if of_classes is None:
            return None
        if self.classes_.size == 2:
            return [(float(of_classes[0]), float(of_classes[1]))]
        return [(1.0, float(own)) for own in of_classes]

    def _class_weights(self, codes: NDArray[Any], weights: Vector | None) -> Vector | None:
        """The weight of each class; balanced ones make every class weigh the same in total."""
        if self.class_weight is None:
            return None
        count = self.classes_.size
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weights, count)
            return np.asarray(totals.sum() / (count * np.where(totals > 0.0, totals, 1.0)), dtype=np.float64)
        found = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        return np.asarray(found, dtype=np.float64)

    def _strength(self, total_weight: float, k: int) -> float:
        return strength_of(type(self).__name__, self.C, self.strength, total_weight)

    def decision_function(self, X: Any) -> Vector:
        """Scores of the rows: how far on the side of the second class, or for each class how far on its side.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ⟨x, w⟩ + b.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of `classes_` for each row.
        """
        scores = self.decision_function(X)
        places = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[places]
        return predicted


def _total(labels: Vector, weights: Vector | None) -> float:
    return float(labels.size if weights is None else weights.sum())
