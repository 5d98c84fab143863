"""LinearRegressor, the base class of regressors: fit, partial_fit and predict for one or several real targets."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from dualgap.estimators.base import CertifiedModel, TrainingData, Vector
from dualgap.estimators.block_scores import block_score
from dualgap.estimators.blocks import are_blocks, fit_regressor, on_blocks
from dualgap.estimators.callbacks import with_callbacks
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.partial_fit import advance_streams, for_streams
from dualgap.losses import Loss
from dualgap.problem import Problem


class LinearRegressor(RegressorMixin, CertifiedModel):  # type: ignore[misc]
    """A linear model of real targets; a subclass adds its parameters, its loss and its strength."""

    several_targets: ClassVar[bool] = False
    """Whether y may have several columns, each a problem of its own."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets; two dimensions only where the estimator supports several targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 3 equals three rows of weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if are_blocks(X):
            return cast(Self, fit_regressor(self, X, y, sample_weight))
        loss = self._loss()
        X, y, weights = self._validate(X, y, sample_weight, y_numeric=True, multi_output=self.several_targets)
        self._check_target_count(len(_columns(y)))
        return self._fit_targets(loss, self._deduplicate(X, y, weights), (X, y, weights))

    def _fit_targets(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        """Fit one problem for each target."""
        problems = [
            Problem(
                data.rows,
                target,
                loss,
                self._strength_on(data.rows, data.weights, k),
                data.weights,
                self.fit_intercept,
                l1_ratio=self._l1_ratio_of(k),
            )
            for k, target in enumerate(_columns(data.targets))
        ]
        self._fit_problems(problems, data, training_data, several=len(problems) > 1)
        self._shape_intercept(data.targets)
        return self

    @for_streams
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the model with more rows, in their order; available with solver="pegasos" and solver="sgd".

        The coefficients are the same however a stream of rows is cut into calls. `certificate_` refers to the rows of
        the last call alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The estimator.
        """
        X, y, weights = self._validate(
            X, y, sample_weight, y_numeric=True, multi_output=self.several_targets, reset=not hasattr(self, "coef_")
        )
        self._check_target_count(len(_columns(y)))
        targets = [np.ascontiguousarray(target, dtype=np.float64) for target in _columns(y)]
        advance_streams(self, X, targets, [weights] * len(targets), several=len(targets) > 1)
        self._shape_intercept(y)
        return self

    @on_blocks("values")
    def predict(self, X: Any) -> Vector:
        """Predict the target of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        targets : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ⟨x, w⟩ + b.
        """
        return np.asarray(self._scores(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """R², the part of the targets' variance that the model explains.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; `Blocks` hold y and sample_weight themselves, and on Dask the score is a lazy number.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            1 for a perfect fit, 0 for the best constant.
        """
        if are_blocks(X):
            return block_score(self, X, y, sample_weight)
        return super().score(X, y, sample_weight)

    def _score_terms(self, X: Any, y: Vector, mean: float) -> tuple[Vector, Vector]:
        """For each row the squared errors of the prediction and of the mean."""
        return np.square(y - self.predict(X)), np.square(y - mean)

    def _check_target_count(self, targets: int) -> None:
        """Refuse parameters that do not match the number of targets."""

    def _shape_intercept(self, targets: NDArray[Any]) -> None:
        """Targets in a single column are those of a flat y; as in scikit-learn the shape of intercept_ alone tells the two apart."""
        if targets.ndim == 2:
            self.intercept_ = np.atleast_1d(self.intercept_)

    def _shape_attributes(self, several: bool) -> None:
        if several:
            return
        self.intercept_, self.n_iter_ = float(self.intercept_[0]), int(self.n_iter_[0])
        for name in ("coef_", "dual_coef_"):
            if hasattr(self, name):
                setattr(self, name, getattr(self, name)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.several_targets
        return tags


def _columns(y: NDArray[Any]) -> list[NDArray[Any]]:
    return list(y.T) if y.ndim == 2 else [y]
