"""Quantile regression with an L2 penalty."""

from __future__ import annotations

from typing import Any

from dualgap.estimators.parameters import positive
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Quantile


class QuantileRegressor(LinearRegressor):
    """Quantile regression with an L2 penalty (scikit-learn's has L1) and a certificate.

    Minimizes (1/S) Σ s_i φ(y_i − ⟨x_i, w⟩ − b) + (alpha/2)‖w‖² with the pinball loss φ: errors above the prediction cost
    `quantile` each, errors below 1 − `quantile`.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile of the targets is predicted, between 0 and 1.
    alpha : float, default=1.0
        How much the penalty weighs: λ = alpha.
    solver : str or object, default="auto"
        A name, spec or object of `dualgap.SOLVERS`; "auto" chooses by the shape of the data, and `reason_` says why.
    tol : float, default=1e-4
        The relative duality gap that is to be proven.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is free: nothing penalizes it.
    max_iter : int, default=1000
        Passes over the rows, at most.
    max_seconds : float, default=None
        Seconds for each problem, at most.
    warm_start : bool, default=False
        Start from the coefficients and duals of the last fit. Where they prove tol already, that is all there is to do.
    n_jobs : int, default=None
        Threads, inside the problem; the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Where a solver's order of rows comes from; `newton` needs none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : float
        b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
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
    n_iter_ : int
        Passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X had any.

    See Also
    --------
    LinearSVR : The median, with errors up to ε free.

    Examples
    --------
    >>> from dualgap import QuantileRegressor
    >>> X, y = [[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], [1.0, 2.0, 9.0, 2.0, 3.0, 9.0]
    >>> model = QuantileRegressor(quantile=0.5, alpha=1e-3, tol=1e-9).fit(X, y)
    >>> model.predict([[0.0], [1.0]]).round(3).tolist()
    [2.0, 3.0]
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.quantile = quantile
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

    def _loss(self) -> Loss:
        return Quantile(self.quantile)

    def _strength(self, total_weight: float, k: int) -> float:
        return positive("QuantileRegressor", "alpha", self.alpha)
