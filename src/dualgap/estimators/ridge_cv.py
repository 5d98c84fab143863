"""RidgeCV: ridge regression with alpha chosen by leave-one-out errors, or by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV

from dualgap.estimators.base import TrainingData
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.leave_one_out import leave_one_out
from dualgap.estimators.parameters import alpha_of
from dualgap.estimators.ridge import Ridge
from dualgap.losses import Loss


class RidgeCV(Ridge):
    """Ridge regression that chooses alpha by cross-validation, with a certificate of the fit to all rows.

    The default is leave-one-out: the errors of fits to all rows but one are computed from one eigendecomposition, for all rows
    and all alphas.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Weights of the penalty to try: λ = 2·alpha/S. 0 is no penalty; leave-one-out then needs columns that are not dependent.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    scoring : str, callable or None, default=None
        The score, larger is better. None is the negative mean squared error for leave-one-out, and R² for folds.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out; else a number of folds, or any splitter of scikit-learn.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`; for leave-one-out only.
    alpha_per_target : bool, default=False
        Whether each target has its own alpha; for leave-one-out only.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove in the fit to all rows, and in each fit of folds.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_jobs : int, default=None
        Number of threads over targets, then within each problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show progress with the gap of the fit to all rows.
    gcv_mode : {"auto", "svd", "eigen"} or None, default="auto"
        scikit-learn's; any value is the same computation, by eigenvalues.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The alpha with the best score, the first one among equal scores; for each target with `alpha_per_target`.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With `store_cv_results`: leave-one-out squared errors times sample weights, or with `scoring` the predictions.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights w.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,) or (n_targets, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them. With several targets this attribute and the next
        four are lists with one entry for each target.
    status_ : Status or list
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace or list
        The records of the run: epochs, seconds, primal and dual values.
    reason_ : str or list
        The solver that ran and the reason for its choice.
    strength_ : float or list
        The strength λ of the penalty.
    n_iter_ : ndarray of shape (n_targets,)
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    Ridge : The same model with a given alpha.

    Notes
    -----
    Scores equal those of scikit-learn's RidgeCV. Leave-one-out leaves out a row with its whole weight, so that the choice of alpha
    (and only that) may differ between a row of weight 3 and three equal rows. The notes on Ridge hold here too.

    Examples
    --------
    >>> from dualgap import RidgeCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 4)
    (0.01, 0.5166)
    >>> model.status_.name
    'CERTIFIED'
    """

    fits_blocks: ClassVar[bool] = False
    warm_start = False
    copy_X, positive, normalize = True, False, False

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        gcv_mode: Any = "auto",
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.gcv_mode = gcv_mode

    def _fit_targets(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        self.__dict__.pop("cv_results_", None)
        alphas = _grid(self.alphas)
        if self.cv is None:
            self._choose_by_leave_one_out(alphas, training_data)
        else:
            self._choose_by_folds(alphas, training_data)
        return super()._fit_targets(loss, data, training_data)

    def _choose_by_leave_one_out(self, alphas: Any, training_data: TrainingData) -> None:
        X, y, weights = training_data
        if X.shape[0] < 2:
            raise ValueError("RidgeCV needs two or more rows to leave one out, got 1 sample; use Ridge")
        targets = np.asarray(y, dtype=np.float64).reshape(y.shape[0], -1)
        errors = leave_one_out(X, targets, weights, alphas, self.fit_intercept)
        if self.scoring is None:
            results = errors * errors
            scores = -results.mean(axis=0)  # one row for each target
            if not self.alpha_per_target:
                scores = scores.mean(axis=0, keepdims=True)
        else:
            roots = 1.0 if weights is None else np.sqrt(np.where(weights > 0.0, weights, 1.0))[:, None, None]
            results = targets[:, :, None] - errors / roots
            scores = self._scored(y, targets, results, weights)
        best = scores.argmax(axis=1)
        has_one = not self.alpha_per_target or targets.shape[1] == 1
        self.alpha_ = float(alphas[best[0]]) if has_one else alphas[best]
        self.best_score_ = float(scores[0, best[0]]) if has_one else scores[np.arange(best.size), best]
        if self.store_cv_results:
            self.cv_results_ = results.reshape(*y.shape, alphas.size)

    def _scored(self, y: Any, targets: Any, predictions: Any, weights: Any) -> Any:
        """The score of the leave-one-out predictions: a row for each target, or one for all, and a column for each alpha."""
        scorer, model = check_scoring(self, scoring=self.scoring), _Given()
        options = {} if weights is None else {"sample_weight": weights}
        # Predictions of one target, or of all of them in the shape of y, with the last axis for alphas.
        parts = [(targets[:, k], predictions[:, k]) for k in range(targets.shape[1])]
        if not self.alpha_per_target:
            parts = [(y, predictions.reshape(*y.shape, -1))]
        alphas = range(predictions.shape[2])
        return np.array([[scorer(model, some[..., j], true, **options) for j in alphas] for true, some in parts])

    def _choose_by_folds(self, alphas: Any, training_data: TrainingData) -> None:
        X, y, weights = training_data
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(f"RidgeCV needs cv=None with {name}=True, got cv={self.cv!r}; leave one of them out")
        shared = ("fit_intercept", "solver", "tol", "max_iter", "max_seconds", "random_state")
        model = Ridge(**{name: getattr(self, name) for name in shared})
        search = GridSearchCV(model, {"alpha": alphas}, scoring=self.scoring, cv=self.cv, refit=False)
        search.fit(X, y, sample_weight=weights)
        self.alpha_ = float(search.best_params_["alpha"])
        self.best_score_ = float(search.best_score_)

    def _alphas(self) -> Any:
        return self.alpha_

    @property
    def partial_fit(self) -> Any:
        """Not available: cross-validation needs all rows at once."""
        raise AttributeError("RidgeCV has no partial_fit, because cross-validation needs all rows at once")


class _Given(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What a scorer calls a model: its predictions are the rows it is given."""

    def predict(self, X: Any) -> Any:
        return X


def _grid(alphas: Any) -> Any:
    values = np.ravel(np.asarray(alphas, dtype=object)).tolist()
    if not values:
        raise ValueError("RidgeCV needs at least one alpha, got an empty list; the default is (0.1, 1.0, 10.0)")
    return np.array([alpha_of("RidgeCV", alpha) for alpha in values])
