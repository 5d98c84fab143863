"""Classifiers that choose C by cross-validation: LinearSVCCV and LogisticRegressionCV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dualgap.estimators.cross_validation import ChoosesC
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.svm import LinearSVC
from dualgap.losses import Loss
from dualgap.paths import MULTINOMIAL, Path


class LinearSVCCV(ChoosesC, LinearSVC):
    """Support vector classifier that chooses C by cross-validation, with a certificate at every C of every fold.

    Each fold solves its problem for all C, from the strongest penalty to the weakest, each started at the duals of the
    one before. The C with the best mean score is then fitted to all rows.

    Parameters
    ----------
    loss : str or object, default="squared_hinge"
        "squared_hinge", "hinge" or "smoothed_hinge", as a name, a spec such as "smoothed_hinge(gamma=0.5)", or an object.
    Cs : int or array-like, default=10
        The values of C to try: so many between 1e-4 and 1e4 on a logarithmic scale, or those given.
    cv : int, splitter, iterable or None, default=None
        Folds: a number of stratified ones, or anything scikit-learn splits with. None is 5, or as many as the smallest class
        has rows.
    scoring : str, callable or None, default=None
        What is to be large on the rows left out; None is accuracy.
    solver : str or object, default="auto"
        A name, spec or object of `dualgap.SOLVERS`; "auto" chooses by the shape of the data, and `reason_` says why.
    tol : float, default=1e-4
        The relative duality gap that is to be proven, of every run.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is free: nothing penalizes it.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows by their class; "balanced" makes every class weigh the same in total.
    max_iter : int, default=1000
        Passes over the rows, at most, of every run.
    max_seconds : float, default=None
        Seconds, at most, of every run.
    n_jobs : int, default=None
        Threads, over folds; the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Where a solver's order of rows comes from; `newton` needs none.
    verbose : int, default=0
        Whether to show a progress bar with the gap, of the last fit.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; of equal ones the smallest.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C that were tried.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Scores on the rows left out.
    gaps_ : ndarray of shape (n_folds, n_Cs)
        Relative gaps that were proven on the way, the largest of all classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w, fitted to all rows with C_.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them; a list, one for each class, where there are three or more. So are the next four.
    status_ : Status or list
        How the run ended; its value is a sentence.
    trace_ : Trace or list
        What was seen of the run on the way.
    reason_ : str or list
        Which solver ran and why.
    strength_ : float or list
        λ.
    n_iter_ : int
        Passes over the rows in the last fit; the most of any class.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X had any.

    See Also
    --------
    LinearSVC : The same with one C.

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
    ) -> None:
        self.loss = loss
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


class LogisticRegressionCV(ChoosesC, LogisticRegression):
    """Logistic regression that chooses C by cross-validation, with a certificate at every C of every fold.

    Each fold solves its problem for all C, from the strongest penalty to the weakest, each started at the duals of the
    one before. The C with the best mean score is then fitted to all rows. Three and more classes are one multinomial problem.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try: so many between 1e-4 and 1e4 on a logarithmic scale, or those given.
    cv : int, splitter, iterable or None, default=None
        Folds: a number of stratified ones, or anything scikit-learn splits with. None is 5, or as many as the smallest class
        has rows.
    scoring : str, callable or None, default=None
        What is to be large on the rows left out, such as "neg_log_loss"; None is accuracy.
    solver : str or object, default="auto"
        A name, spec or object of `dualgap.SOLVERS`; "auto" chooses by the shape of the data, and `reason_` says why.
    tol : float, default=1e-4
        The relative duality gap that is to be proven, of every run.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is free: nothing penalizes it.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows by their class; "balanced" makes every class weigh the same in total.
    max_iter : int, default=1000
        Passes over the rows, at most, of every run.
    max_seconds : float, default=None
        Seconds, at most, of every run.
    n_jobs : int, default=None
        Threads, over folds; the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Where a solver's order of rows comes from; `newton` needs none.
    verbose : int, default=0
        Whether to show a progress bar with the gap, of the last fit.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; of equal ones the smallest.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C that were tried.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Scores on the rows left out.
    gaps_ : ndarray of shape (n_folds, n_Cs)
        Relative gaps that were proven on the way.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w, fitted to all rows with C_.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    certificate_ : Certificate
        The primal value, the dual value and the gap between them.
    status_ : Status
        How the run ended; its value is a sentence.
    trace_ : Trace
        What was seen of the run on the way.
    reason_ : str
        Which solver ran and why.
    strength_ : float
        λ.
    n_iter_ : ndarray of shape (1,)
        Passes over the rows in the last fit.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X had any.

    See Also
    --------
    LogisticRegression : The same with one C.

    Examples
    --------
    >>> from dualgap import LogisticRegressionCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], scoring="neg_log_loss").fit(X, y)
    >>> model.C_
    100.0
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

    def _paths(self, loss: Loss, table: Deduplicated, seed: int) -> list[Path]:
        if self.classes_.size == 2:
            return super()._paths(loss, table, seed)
        weights, of_classes = table.weights, self._class_weights(table.targets, table.weights)
        if of_classes is not None:
            factors = of_classes[table.targets]
            weights = factors if weights is None else weights * factors
        return [self._path(table, table.targets, MULTINOMIAL, weights, seed)]

    def _take(self, results: Sequence[Any]) -> None:
        if self.classes_.size == 2:
            super()._take(results)
        else:
            self.coef_, self.intercept_ = results[0].weights.T, results[0].intercept
