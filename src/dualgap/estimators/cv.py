"""LinearSVCCV and LogisticRegressionCV: classifiers with C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.estimators.cross_validation import CrossValidatedC, Fold
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.penalties import UNNAMED, Vector, l1_ratios_of
from dualgap.estimators.svm import LinearSVC
from dualgap.losses import Loss
from dualgap.paths import MULTINOMIAL, Path


class LinearSVCCV(CrossValidatedC, LinearSVC):
    """Support vector classifier that chooses C by cross-validation, with a certificate at every C of every fold.

    Each fold solves its problem for all C, from the smallest to the largest, each started at the duals of the previous
    one. The C with the best mean score is then fitted to all rows.

    Parameters
    ----------
    loss : str or object, default="squared_hinge"
        "squared_hinge", "hinge" or "smoothed_hinge", as a name, a spec such as "smoothed_hinge(gamma=0.5)", or an object.
    Cs : int or array-like, default=10
        The values of C to try; a number stands for this number of values from 1e-4 to 1e4, evenly spaced on a logarithmic
        scale.
    cv : int, splitter, iterable or None, default=None
        A number of stratified folds, or any splitter of scikit-learn. None is 5 folds, or the number of rows of the smallest
        class if that is smaller.
    scoring : str, callable or None, default=None
        The score on the test rows of a fold, larger is better; None is accuracy.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove in every run.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_jobs : int, default=None
        Number of threads over folds; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap of the fit to all rows.
    penalty : {"l2", "l1"}, default="l2"
        The penalty: (λ/2)‖w‖², or λ‖w‖₁ with exact zeros in `coef_`.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; among equal scores the smallest C.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Scores on the test rows.
    gaps_ : ndarray of shape (n_folds, n_Cs)
        Proven relative gaps on the training rows, the largest of all classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w, fitted to all rows with C_.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap under the L2 penalty.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them. With three or more classes this attribute and the next
        four are lists with one entry for each class.
    status_ : Status or list
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace or list
        The records of the run: epochs, seconds, primal and dual values.
    reason_ : str or list
        The solver that ran and the reason for its choice.
    strength_ : float or list
        The strength λ of the penalty.
    n_iter_ : int
        Number of passes over the rows in the fit to all rows; the largest of all classes.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LinearSVC : The same model with a given C.

    Notes
    -----
    scikit-learn has no LinearSVCCV; the result is that of GridSearchCV over the C of LinearSVC. The notes on LinearSVC hold
    here too.

    Examples
    --------
    >>> from dualgap import LinearSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVCCV(Cs=[0.1, 1.0, 10.0]).fit(X, y)
    >>> model.scores_.shape
    (5, 3)
    >>> bool((model.gaps_ <= model.tol).all())
    True
    """

    def __init__(
        self,
        loss: Any = "squared_hinge",
        *,
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        penalty: Any = "l2",
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class LogisticRegressionCV(CrossValidatedC, LogisticRegression):
    """Logistic regression that chooses C by cross-validation, with a certificate at every C of every fold.

    Each fold solves its problem for all C, from the smallest to the largest, each started at the duals of the previous
    one. The C with the best mean score is then fitted to all rows. Three or more classes are one multinomial problem.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try; a number stands for this number of values from 1e-4 to 1e4, evenly spaced on a logarithmic
        scale.
    cv : int, splitter, iterable or None, default=None
        A number of stratified folds, or any splitter of scikit-learn. None is 5 folds, or the number of rows of the smallest
        class if that is smaller.
    scoring : str, callable or None, default=None
        The score on the test rows of a fold, larger is better, such as "neg_log_loss"; None is accuracy.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove in every run.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_jobs : int, default=None
        Number of threads over folds; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap of the fit to all rows.
    penalty : {"l1", "l2", "elasticnet"}, default="deprecated"
        scikit-learn's before 1.8: "l1" is `l1_ratios=[1]`, "l2" is `l1_ratios=[0]`, "elasticnet" and the default leave it to
        `l1_ratios`.
    l1_ratios : array-like or None, default=None
        Each ρ to try, the L1 part of the penalty: 0 is L2, 1 is L1. None is 0 alone. Three or more classes need 0.
    dual : bool, default=False
        scikit-learn's; any value is the same fit, which has primal and dual values.
    refit : bool, default=True
        scikit-learn's; the answer is always fitted to all rows, and False is refused.
    intercept_scaling : float, default=1.0
        scikit-learn's; any value is the same fit, because the intercept is not penalized.
    multi_class : {"auto", "ovr", "multinomial"}, default="auto"
        scikit-learn's before 1.8; accepted where it is what happens: "ovr" for two classes, "multinomial" for more.
    use_legacy_attributes : bool, default=True
        scikit-learn's; with True `C_`, `l1_ratio_`, `scores_` and `coefs_paths_` have the shapes that are the default there
        before 1.10, and with False those of its later versions.

    Attributes
    ----------
    C_ : ndarray of shape (1,) or (n_classes,)
        The C with the best mean score, once for each class; among equal scores the smallest C. A float without
        `use_legacy_attributes`.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C.
    scores_ : dict of ndarray of shape (n_folds, n_Cs) or (n_folds, n_Cs, n_l1_ratios)
        Scores on the test rows by class, the same for each; of two classes the second alone is there. The last axis is there
        where `l1_ratios` is a list. Without `use_legacy_attributes` an array of shape (n_folds, n_l1_ratios, n_Cs).
    gaps_ : ndarray of shape (n_folds, n_l1_ratios, n_Cs)
        Proven relative gaps on the training rows.
    coefs_paths_ : dict of ndarray of shape (n_folds, n_Cs, n_dof) or (n_folds, n_Cs, n_l1_ratios, n_dof)
        The weights of every run by class, with the intercept as the last column where it is free. Without
        `use_legacy_attributes` an array of shape (n_folds, n_l1_ratios, n_Cs, 1 or n_classes, n_dof).
    l1_ratio_ : ndarray of shape (1,) or (n_classes,)
        The ρ with the best mean score, as `C_`.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        Each ρ that was tried.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w, fitted to all rows with C_.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap under the L2 penalty.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    certificate_ : Certificate
        The primal value, the dual value and the gap between them.
    status_ : Status
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace
        The records of the run: epochs, seconds, primal and dual values.
    reason_ : str
        The solver that ran and the reason for its choice.
    strength_ : float
        The strength λ of the penalty.
    n_iter_ : ndarray of shape (1,)
        Number of passes over the rows in the fit to all rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LogisticRegression : The same model with a given C.

    Notes
    -----
    Differences from scikit-learn's LogisticRegressionCV: `n_iter_` is that of the final fit, which always uses all rows
    (`refit=True`); `l1_ratio_` and `l1_ratios_` have numbers where scikit-learn has None. The notes on LogisticRegression hold here
    too.

    Examples
    --------
    >>> from dualgap import LogisticRegressionCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], scoring="neg_log_loss").fit(X, y)
    >>> model.C_.tolist(), model.scores_[0].shape
    ([100.0, 100.0, 100.0], (5, 3))
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        *,
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        penalty: Any = UNNAMED,
        l1_ratios: Any = None,
        dual: bool = False,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        multi_class: str = "auto",
        use_legacy_attributes: Any = True,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.penalty = penalty
        self.l1_ratios = l1_ratios
        self.dual = dual
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.use_legacy_attributes = use_legacy_attributes

    def _l1_ratios(self) -> Vector:
        return l1_ratios_of("LogisticRegressionCV", self.penalty, "l1_ratios", self.l1_ratios)

    def _l1_ratio(self) -> float:
        return float(np.ravel(self.l1_ratio_)[0])

    def _paths(self, loss: Loss, data: Deduplicated, grid: Vector, ratio: float, seed: int) -> list[Path]:
        if self.classes_.size == 2:
            return super()._paths(loss, data, grid, ratio, seed)
        weights, class_weights = data.weights, self._class_weights(data.targets, data.weights)
        if class_weights is not None:
            factors = class_weights[data.targets]
            weights = factors if weights is None else weights * factors
        return [self._path(data, data.targets, MULTINOMIAL, weights, grid, ratio, seed)]

    def _set_coefficients(self, results: Sequence[Any]) -> None:
        if self.classes_.size == 2:
            super()._set_coefficients(results)
        else:
            self.coef_, self.intercept_ = results[0].weights.T, results[0].intercept

    def _keep_paths(self, folds: Sequence[Fold], scores: Vector, gaps: Vector, l1_ratio: float) -> None:
        """Set what was tried, in scikit-learn's shapes: folds, ρ, C, classes, columns, or by class folds, C, ρ, columns."""
        paths = np.array([[[self._with_intercepts(at[0]) for at in path] for path in fold.results] for fold in folds])
        self.scores_, self.gaps_ = scores, gaps
        self.coefs_paths_: Any = paths
        self.l1_ratio_: Any = l1_ratio
        self.l1_ratios_ = self._l1_ratios()
        if not self._is_legacy():
            return
        keys = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        scores, paths = scores.swapaxes(1, 2), paths.swapaxes(1, 2)
        if not isinstance(self.l1_ratios, list | tuple | np.ndarray):  # without a list there is no axis of ρ
            scores, paths = scores[:, :, 0], paths[:, :, 0]
        self.scores_ = dict.fromkeys(keys, scores)
        self.coefs_paths_ = {key: paths[..., k, :] for k, key in enumerate(keys)}
        self.C_, self.l1_ratio_ = np.full(keys.size, self.C_), np.full(keys.size, l1_ratio)

    def _with_intercepts(self, result: Any) -> Any:
        """A row for each class, or a single one for two classes: weights and, where it is free, the intercept."""
        weights = np.atleast_2d(result.weights.T)
        return np.column_stack([weights, np.atleast_1d(result.intercept)]) if self.fit_intercept else weights

    def _is_legacy(self) -> bool:
        return isinstance(self.use_legacy_attributes, str) or bool(self.use_legacy_attributes)
