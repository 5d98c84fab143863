"""LinearSVRCV: support vector regression with C chosen by cross-validation."""

from __future__ import annotations

from typing import Any

from dualgap.estimators.cross_validation import CrossValidatedC
from dualgap.estimators.svm import LinearSVR


class LinearSVRCV(CrossValidatedC, LinearSVR):
    """Support vector regressor that chooses C by cross-validation, with a certificate at every C of every fold.

    Each fold solves its problem for all C, from the smallest to the largest, each started at the duals of the previous
    one. The C with the best mean score is then fitted to all rows.

    Parameters
    ----------
    epsilon : float, default=0.0
        The largest error that the loss does not count.
    loss : str or object, default="epsilon_insensitive"
        "epsilon_insensitive" or "squared_epsilon_insensitive"; a spec or an object has its own epsilon, and the parameter
        `epsilon` is then not used.
    Cs : int or array-like, default=10
        The values of C to try; a number stands for this number of values from 1e-4 to 1e4, evenly spaced on a logarithmic
        scale.
    cv : int, splitter, iterable or None, default=None
        A number of folds of consecutive rows, or any splitter of scikit-learn. None is 5 folds.
    scoring : str, callable or None, default=None
        The score on the test rows of a fold, larger is better, such as "neg_mean_absolute_error"; None is R².
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove in every run.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_jobs : int, default=None
        Number of threads over folds; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show progress with the gap of the fit to all rows.
    l1_ratio : float, default=0.0
        ρ, the L1 part of the penalty: 0 is L2, 1 is L1; above 0 `coef_` has exact zeros.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; among equal scores the smallest C.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Scores on the test rows.
    gaps_ : ndarray of shape (n_folds, n_Cs)
        Proven relative gaps on the training rows.
    coef_ : ndarray of shape (n_features,)
        The weights w, fitted to all rows with C_.
    intercept_ : ndarray of shape (1,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap where `l1_ratio` is 0.
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
    n_iter_ : int
        Number of passes over the rows in the fit to all rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LinearSVR : The same model with a given C.
    RidgeCV : Regression with squared errors.

    Notes
    -----
    scikit-learn has no LinearSVRCV; the result is that of GridSearchCV over the C of LinearSVR. The notes on LinearSVR hold here
    too.

    Examples
    --------
    >>> from dualgap import LinearSVRCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVRCV(Cs=[1.0, 100.0], cv=3).fit(X, y)
    >>> model.C_
    100.0
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        loss: Any = "epsilon_insensitive",
        Cs: Any = 10,
        cv: Any = None,
        scoring: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        l1_ratio: float = 0.0,
    ) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.l1_ratio = l1_ratio
