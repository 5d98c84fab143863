"""Ridge regression: squared errors, one target or several."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dualgap.estimators.parameters import positive
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Squared


class Ridge(LinearRegressor):
    """Ridge regression with a certificate.

    Minimizes Σ s_i (y_i − ⟨x_i, w⟩ − b)² + alpha‖w‖², divided by S, the sum of the weights of rows. Several targets are
    one problem each.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        How much the penalty weighs: λ = 2·alpha/S.
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
        Threads, first over targets and then inside each problem; the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Where a solver's order of rows comes from; `newton` needs none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights w.
    intercept_ : float or ndarray of shape (n_targets,)
        b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,) or (n_targets, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them; a list, one for each target, where y has columns. So are the next four.
    status_ : Status or list
        How the run ended; its value is a sentence.
    trace_ : Trace or list
        What was seen of the run on the way.
    reason_ : str or list
        Which solver ran and why.
    strength_ : float or list
        λ.
    n_iter_ : ndarray of shape (n_targets,)
        Passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X had any.

    See Also
    --------
    LinearSVR : Errors count by their size rather than by their square.

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

    def _loss(self) -> Loss:
        return Squared()

    def _strength(self, total_weight: float, k: int) -> float:
        given = np.ravel(np.asarray(self.alpha, dtype=object))
        return 2.0 * positive("Ridge", "alpha", given[k if given.size > 1 else 0]) / total_weight

    def _check_count(self, targets: int) -> None:
        given = np.size(self.alpha)
        if given not in (1, targets):
            raise ValueError(
                f"Ridge needs one alpha, or one for each target ({targets}), got {given}; pass a single number"
            )

    def _shape_attributes(self, several: bool) -> None:
        epochs = self.n_iter_
        super()._shape_attributes(several)
        self.n_iter_ = epochs
