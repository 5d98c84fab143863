"""ElasticNet and Lasso: regression with squared errors and exact zeros among the coefficients."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from dualgap.estimators.parameters import alpha_of
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Squared


class ElasticNet(LinearRegressor):
    """Regression with squared errors and an elastic net, with a certificate and exact zeros.

    Minimizes (1/(2S)) Σ s_i (y_i − ⟨x_i, w⟩ − b)² + alpha(l1_ratio‖w‖₁ + (1 − l1_ratio)/2 ‖w‖²), with S the sum of the sample weights: scikit-learn's objective. Several targets are one problem each.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty: λ = 2·alpha, because the loss is r² and scikit-learn's objective has r²/2. 0 is no penalty.
    l1_ratio : float, default=0.5
        ρ, the L1 part of the penalty, from 0 (L2) to 1 (L1).
    solver : str or object, default="auto"
        A name or an object of `dualgap.SOLVERS` that fits the penalty; `reason_` says which one "auto" took.
    tol : float, default=1e-4
        The relative duality gap to prove: the objective ends at most this fraction above its minimum.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    max_iter : int, default=1000
        Largest number of passes over the rows; None for no limit.
    max_seconds : float, default=None
        Time limit of each problem in seconds; None for no limit.
    warm_start : bool, default=False
        Whether to start from the coefficients and duals of the last fit; if they already prove tol, no solver runs.
    n_jobs : int, default=None
        Number of threads, over targets first and then within each problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `sparse_newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    precompute : bool or array-like, default=False
        scikit-learn's; any value is the same fit.
    copy_X : bool, default=True
        scikit-learn's; any value is the same fit, because X is never modified.
    positive : bool, default=False
        scikit-learn's; True is refused.
    selection : {"cyclic", "random"}, default="cyclic"
        scikit-learn's; any of the two is the same fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights w.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,) or (n_targets, n_samples)
        The duals α.
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
    Lasso : The L1 penalty alone.

    Notes
    -----
    Differences from scikit-learn's ElasticNet: `solver` and `max_seconds` are new, `tol` is a proven relative duality gap, and
    `max_iter` counts passes over the rows.

    Examples
    --------
    >>> from dualgap import ElasticNet
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = ElasticNet(alpha=0.5, l1_ratio=0.9).fit(X, y)
    >>> model.coef_.round(2).tolist(), model.status_.name
    ([1.58, 0.0], 'CERTIFIED')
    """

    several_targets: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        precompute: Any = False,
        copy_X: bool = True,
        positive: bool = False,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.precompute = precompute
        self.copy_X = copy_X
        self.positive = positive
        self.selection = selection

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse matrix with one row for each target."""
        return sparse.csr_matrix(np.atleast_2d(self.coef_))

    def _loss(self) -> Loss:
        return Squared()

    def _strength(self, total_weight: float, k: int) -> float:
        return 2.0 * alpha_of(type(self).__name__, self.alpha)


class Lasso(ElasticNet):
    """Regression with squared errors and an L1 penalty, with a certificate and exact zeros.

    Minimizes (1/(2S)) Σ s_i (y_i − ⟨x_i, w⟩ − b)² + alpha‖w‖₁, with S the sum of the sample weights: scikit-learn's objective. Several targets are one problem each.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty: λ = 2·alpha, because the loss is r² and scikit-learn's objective has r²/2. 0 is no penalty.
    solver : str or object, default="auto"
        A name or an object of `dualgap.SOLVERS` that fits the penalty; `reason_` says which one "auto" took.
    tol : float, default=1e-4
        The relative duality gap to prove: the objective ends at most this fraction above its minimum.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    max_iter : int, default=1000
        Largest number of passes over the rows; None for no limit.
    max_seconds : float, default=None
        Time limit of each problem in seconds; None for no limit.
    warm_start : bool, default=False
        Whether to start from the coefficients and duals of the last fit; if they already prove tol, no solver runs.
    n_jobs : int, default=None
        Number of threads, over targets first and then within each problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `sparse_newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    precompute : bool or array-like, default=False
        scikit-learn's; any value is the same fit.
    copy_X : bool, default=True
        scikit-learn's; any value is the same fit, because X is never modified.
    positive : bool, default=False
        scikit-learn's; True is refused.
    selection : {"cyclic", "random"}, default="cyclic"
        scikit-learn's; any of the two is the same fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights w.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,) or (n_targets, n_samples)
        The duals α.
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
    ElasticNet : The same with an L2 part.

    Notes
    -----
    Differences from scikit-learn's Lasso: `solver` and `max_seconds` are new, `tol` is a proven relative duality gap, and
    `max_iter` counts passes over the rows.

    Examples
    --------
    >>> from dualgap import Lasso
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> model.coef_.round(2).tolist(), model.status_.name
    ([1.6, 0.0], 'CERTIFIED')
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        precompute: Any = False,
        copy_X: bool = True,
        positive: bool = False,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.precompute = precompute
        self.copy_X = copy_X
        self.positive = positive
        self.selection = selection

    def _l1_ratio(self) -> float:
        return 1.0
