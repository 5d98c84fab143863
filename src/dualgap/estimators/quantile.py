"""QuantileRegressor: quantile regression with scikit-learn's L1 penalty, or with an elastic net."""

from __future__ import annotations

from typing import Any

from dualgap.estimators.parameters import alpha_of
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Quantile


class QuantileRegressor(LinearRegressor):
    """Quantile regression with an L1 penalty, as scikit-learn has it, and a certificate.

    Minimizes (1/S) Σ s_i φ(y_i − ⟨x_i, w⟩ − b) + alpha(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²) with the pinball loss φ: a target above the prediction
    costs `quantile` times the error, a target below it 1 − `quantile` times. quantile=0.5 is least absolute errors: half of |y − z|.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile to predict, between 0 and 1.
    alpha : float, default=1.0
        Weight of the penalty: λ = alpha.
    l1_ratio : float, default=1.0
        ρ, the L1 part of the penalty: 1 is L1, with exact zeros in `coef_`, and 0 is L2, for which every solver, row blocks and
        Dask are open.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
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
        Number of threads within the problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    solver_options : dict or None, default=None
        scikit-learn's; options are refused here and belong to `solver`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : float
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
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LinearSVR : Regression with absolute errors, of which those up to ε cost nothing.

    Notes
    -----
    Differences from scikit-learn's QuantileRegressor: `l1_ratio` is new; `solver` takes dualgap's solvers, and their options belong
    to `solver` instead of `solver_options`; `tol` is a proven relative duality gap.

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
        l1_ratio: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        solver_options: Any = None,
    ) -> None:
        self.quantile = quantile
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
        self.solver_options = solver_options

    def _loss(self) -> Loss:
        return Quantile(self.quantile)

    def _strength(self, total_weight: float, k: int) -> float:
        return alpha_of("QuantileRegressor", self.alpha)
