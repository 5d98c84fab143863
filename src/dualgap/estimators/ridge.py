"""Ridge: regression with squared errors and an L2 penalty, for one or several targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dualgap.estimators.parameters import alpha_of, over_weight
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Squared


class Ridge(LinearRegressor):
    """Ridge regression with a certificate.

    Minimizes (1/S) (Σ s_i (y_i − ⟨x_i, w⟩ − b)² + alpha‖w‖²), with S the sum of the sample weights. Several targets are
    one problem each.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Weight of the penalty: λ = 2·alpha/S. An array has one value for each target.
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
        Number of threads, over targets first and then within each problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    copy_X : bool, default=True
        scikit-learn's; any value is the same fit, because X is never modified.
    positive : bool, default=False
        scikit-learn's; True is refused.
    normalize : bool, default=False
        scikit-learn's before 1.2; True is refused, and a StandardScaler before the model scales the columns.

    Attributes
    ----------
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
    LinearSVR : Regression with absolute errors.

    Notes
    -----
    Differences from scikit-learn's Ridge: `solver` takes dualgap's solvers; `tol` is a proven relative duality gap;
    `max_iter` counts passes over the rows.

    Examples
    --------
    >>> from dualgap import Ridge
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> model = Ridge(alpha=0.5).fit(X, y)
    >>> model.coef_.round(6).tolist(), round(model.intercept_, 6)
    ([1.6], 1.4)
    >>> model.status_.name
    'CERTIFIED'
    """

    several_targets: ClassVar[bool] = True

    def __init__(
        self,
        alpha: Any = 1.0,
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
        copy_X: bool = True,
        positive: bool = False,
        normalize: bool = False,
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
        self.copy_X = copy_X
        self.positive = positive
        self.normalize = normalize

    def _loss(self) -> Loss:
        return Squared()

    def _strength(self, total_weight: float, k: int) -> float:
        given = np.ravel(np.asarray(self._alphas(), dtype=object))
        return over_weight("Ridge", 2.0 * alpha_of("Ridge", given[k if given.size > 1 else 0]), total_weight)

    def _alphas(self) -> Any:
        """One alpha, or one for each target."""
        return self.alpha

    def _check_target_count(self, targets: int) -> None:
        given = np.size(getattr(self, "alpha", 1.0))
        if given not in (1, targets):
            raise ValueError(
                f"Ridge needs one alpha, or one for each of {targets} targets, got {given}; pass a single number"
            )

    def _shape_attributes(self, several: bool) -> None:
        epochs = self.n_iter_
        super()._shape_attributes(several)
        self.n_iter_ = epochs
