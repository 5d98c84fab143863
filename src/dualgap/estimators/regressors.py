"""What regressors share: fitting real targets, in one go or as a stream, and predicting them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from dualgap.estimators.base import CertifiedModel, Vector
from dualgap.estimators.callbacks import with_callbacks
from dualgap.estimators.partial_fit import advance_streams, supports_partial_fit
from dualgap.problem import Problem


class LinearRegressor(RegressorMixin, CertifiedModel):  # type: ignore[misc]
    """A linear model of real targets."""

    several_targets: ClassVar[bool] = False
    """Whether y may have columns, each a problem of its own."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to real targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets; columns of them where the estimator takes several.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 3 is a row given three times.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        loss = self._loss()
        X, y, weights = self._validate(X, y, sample_weight, y_numeric=True, multi_output=self.several_targets)
        self._check_count(len(_columns(y)))
        table = self._deduplicate(X, y, weights)
        total = float(table.rows.count if table.weights is None else table.weights.sum())
        problems = [
            Problem(table.rows, target, loss, self._strength(total, k), table.weights, self.fit_intercept)
            for k, target in enumerate(_columns(table.targets))
        ]
        return self._fit_problems(problems, table, (X, y, weights), several=y.ndim == 2)

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on with some more rows of a stream, in their order; there with solver="pegasos" and "sgd".

        However the stream is cut into calls, the result is the same. `certificate_` is of the rows of this call alone.

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
        self._check_count(len(_columns(y)))
        targets = [np.ascontiguousarray(target, dtype=np.float64) for target in _columns(y)]
        advance_streams(self, X, targets, [weights] * len(targets), several=y.ndim == 2)
        return self

    def predict(self, X: Any) -> Vector:
        """The target of each row.

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

    def _check_count(self, targets: int) -> None:
        """Refuse parameters that do not fit the number of targets."""

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
