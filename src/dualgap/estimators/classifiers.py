"""LinearClassifier, the base class of classifiers: classes, class weights, one-vs-rest problems, scores and predictions.

Two classes are one problem, in which the larger class has label +1. Three or more classes are one problem each, the class
against the rest; LogisticRegression overrides this with the multinomial model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from dualgap.estimators.base import CertifiedModel, TrainingData, Vector
from dualgap.estimators.block_scores import block_score
from dualgap.estimators.blocks import are_blocks, fit_classifier, on_blocks
from dualgap.estimators.callbacks import with_callbacks
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import strength_of
from dualgap.estimators.partial_fit import advance_streams, for_streams
from dualgap.estimators.synonyms import check_multi_class
from dualgap.losses import Loss
from dualgap.models.from_estimator import dense
from dualgap.problem import Problem


class LinearClassifier(ClassifierMixin, CertifiedModel):  # type: ignore[misc]
    """A linear classifier; a subclass adds its parameters and its loss."""

    C: float
    strength: float | None
    class_weight: Any
    penalty: Any = "l2"
    multi_class: Any = "auto"
    fits_softmax: ClassVar[bool] = False
    """Whether three or more classes are one problem, the softmax model."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 3 equals three rows of weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if are_blocks(X):
            return cast(Self, fit_classifier(self, X, y, sample_weight))
        loss = self._loss()
        X, y, weights = self._validate(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes(codes if weights is None else codes[weights > 0.0])
        data = self._deduplicate(X, codes, weights)
        return self._fit_classes(loss, data, (X, y, weights))

    def _fit_classes(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        """Fit one problem for two classes, or one problem for each of several classes against the rest."""
        problems = [
            Problem(
                data.rows,
                labels,
                loss,
                self._strength_on(data.rows, weights, k),
                weights,
                self.fit_intercept,
                l1_ratio=self._l1_ratio_of(k),
            )
            for k, (labels, weights) in enumerate(self._binary_targets(data.targets, data.weights))
        ]
        factors = self._class_factors(data.targets, data.weights)
        return self._fit_problems(problems, data, training_data, len(problems) > 1, factors)

    @for_streams
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with more rows, in their order; available with solver="pegasos" and solver="sgd".

        The coefficients are the same however a stream of rows is cut into calls. `certificate_` refers to the rows of
        the last call alone, and is None if all of them are of one class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        classes : array-like of shape (n_classes,), default=None
            All labels of the stream; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The estimator.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"partial_fit needs class_weight as a dict, got {self.class_weight!r}; pass one weight for each class, "
                "because the class frequencies of a stream are not known"
            )
        is_first = not hasattr(self, "classes_")
        if is_first and classes is None:
            raise ValueError("partial_fit needs classes in its first call, got None; pass all labels of the stream")
        X, y, weights = self._validate(X, y, sample_weight, reset=is_first)
        check_classification_targets(y)
        all_classes = self.classes_ if classes is None else np.unique(np.asarray(classes))
        if not is_first and not np.array_equal(all_classes, self.classes_):
            raise ValueError(
                f"partial_fit needs the classes of its first call, got {all_classes.tolist()}; leave classes out"
            )
        if not np.isin(y, all_classes).all():
            raise ValueError(
                "partial_fit needs labels that are among classes, got other labels; pass all labels of the stream as "
                "classes in the first call"
            )
        self.classes_ = all_classes
        codes = np.searchsorted(all_classes, y)
        self._check_classes(np.arange(all_classes.size))
        labels, sample_weights = zip(*self._binary_targets(codes, weights), strict=True)
        advance_streams(self, X, labels, sample_weights, several=len(labels) > 1)
        return self

    def _check_classes(self, codes: NDArray[Any]) -> None:
        """Refuse fewer than two classes, and a class without rows; `codes` are the classes of rows of positive weight."""
        counts = np.bincount(codes, minlength=self.classes_.size)
        check_multi_class(type(self).__name__, self.multi_class, self.classes_.size, self.fits_softmax)
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in rows of positive weight, got one class; "
                "add rows of another class"
            )
        if not counts.all():
            raise ValueError(
                f"{type(self).__name__} needs rows of positive weight of every class, got none of class "
                f"{self.classes_[counts.argmin()]!r}; drop the rows of this class"
            )

    def _binary_targets(self, codes: NDArray[Any], weights: Vector | None) -> list[tuple[Vector, Vector | None]]:
        """Labels −1/+1 and sample weights of each problem; class weights are multiplied into the sample weights."""
        count, factors = self.classes_.size, self._class_factors(codes, weights)
        binary_targets = []
        for k, positive in enumerate([1] if count == 2 else range(count)):
            labels, sample_weight = np.where(codes == positive, 1.0, -1.0), weights
            if factors is not None:
                negative_factor, positive_factor = factors[k]
                row_factors = np.where(labels > 0.0, positive_factor, negative_factor)
                sample_weight = row_factors if weights is None else weights * row_factors
            binary_targets.append((labels, sample_weight))
        return binary_targets

    def _class_factors(self, codes: NDArray[Any], weights: Vector | None) -> Sequence[tuple[float, ...]] | None:
        """For each problem the factors of the sample weights of rows of label −1 and of label +1; None if all are 1.

        As in LIBLINEAR, with three or more classes the rest has factor 1.
        """
        class_weights = self._class_weights(codes, weights)
        if class_weights is None:
            return None
        if self.classes_.size == 2:
            return [(float(class_weights[0]), float(class_weights[1]))]
        return [(1.0, float(class_weight)) for class_weight in class_weights]

    def _class_weights(self, codes: NDArray[Any], weights: Vector | None) -> Vector | None:
        """The factor of each class in `classes_`; "balanced" gives all classes the same total weight."""
        if self.class_weight is None:
            return None
        count = self.classes_.size
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weights, count)
            return np.asarray(totals.sum() / (count * np.where(totals > 0.0, totals, 1.0)), dtype=np.float64)
        class_weights = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        return np.asarray(class_weights, dtype=np.float64)

    def _strength(self, total_weight: float, k: int) -> float:
        return strength_of(type(self).__name__, self.C, self.strength, total_weight, self.penalty)

    def sparsify(self) -> Self:
        """Turn coef_ into a sparse matrix, which takes less memory where most weights are zero; predictions stay the same.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Turn coef_ back into an array, after `sparsify`.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        self.coef_ = dense(self.coef_)
        return self

    @on_blocks("scores")
    def decision_function(self, X: Any) -> Vector:
        """Scores of the rows; of two classes the second has the positive scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ⟨x, w⟩ + b, for each class where there are three or more.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @on_blocks("labels")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The predicted class of each row, one of `classes_`.
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """The part of the rows whose label is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; `Blocks` hold y and sample_weight themselves, and on Dask the score is a lazy number.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            The accuracy.
        """
        if are_blocks(X):
            return block_score(self, X, y, sample_weight)
        return super().score(X, y, sample_weight)

    def _score_terms(self, X: Any, y: NDArray[Any], mean: float) -> tuple[Vector, Vector]:
        """For each row 1 where the prediction is right, and 1."""
        return np.asarray(self.predict(X) == y, dtype=np.float64), np.ones(len(y))
