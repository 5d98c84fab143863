"""PoissonRegressor: Poisson regression, for counts and other targets that are not negative."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.estimators.base import Vector
from dualgap.estimators.block_scores import block_score
from dualgap.estimators.blocks import are_blocks, on_blocks
from dualgap.estimators.parameters import alpha_of
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss, Poisson


class PoissonRegressor(LinearRegressor):
    """Poisson regression with a certificate; predictions are exp(⟨x, w⟩ + b).

    Minimizes (1/S) Σ s_i (μ_i − y_i + y_i·ln(y_i/μ_i)) + alpha(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²) with μ_i = exp(⟨x_i, w⟩ + b): half
    the mean Poisson deviance, as scikit-learn's PoissonRegressor does, whose ρ is 0. Targets are not negative.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty: λ = alpha.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove: the objective ends at most this fraction above its minimum.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    max_iter : int, default=100
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
    l1_ratio : float, default=0.0
        ρ, the L1 part of the penalty: 0 is L2, 1 is L1; above 0 `coef_` has exact zeros.

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
    Ridge : Regression with squared errors.

    Notes
    -----
    Differences from scikit-learn's PoissonRegressor: `solver` takes dualgap's solvers; `tol` is a proven relative duality gap;
    `max_iter` counts passes over the rows; alpha is positive.

    Examples
    --------
    >>> from dualgap import PoissonRegressor
    >>> X, y = [[1, 2], [2, 3], [3, 4], [4, 3]], [12, 17, 22, 21]
    >>> model = PoissonRegressor().fit(X, y)
    >>> round(model.score(X, y), 3)
    0.99
    >>> model.predict([[1, 1], [3, 4]]).round(1).tolist()
    [10.7, 21.9]
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 100,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        l1_ratio: float = 0.0,
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
        self.l1_ratio = l1_ratio

    def _loss(self) -> Loss:
        return Poisson()

    def _strength(self, total_weight: float, k: int) -> float:
        return alpha_of("PoissonRegressor", self.alpha)

    @on_blocks("values")
    def predict(self, X: Any) -> Vector:
        """Predict the mean of each row's target.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        means : ndarray of shape (n_samples,)
            exp(⟨x, w⟩ + b).
        """
        return self._loss().predictions(super().predict(X))

    @property
    def partial_fit(self) -> Any:
        """Not available: no step size is safe for the Poisson loss."""
        raise AttributeError("PoissonRegressor has no partial_fit, because no step size is safe for its loss; use fit")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """D², the part of the deviance that the model explains: 1 is a perfect fit, 0 the best constant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; `Blocks` hold y and sample_weight themselves, and on Dask the score is a lazy number.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            1 − deviance(y, predictions)/deviance(y, mean of y).
        """
        if are_blocks(X):
            return block_score(self, X, y, sample_weight)
        targets = np.asarray(y, dtype=np.float64)
        terms = self._score_terms(X, targets, float(np.average(targets, weights=sample_weight)))
        own, base = (np.average(values, weights=sample_weight) for values in terms)
        return float(1.0 - own / base) if base > 0.0 else float(own == 0.0)

    def _score_terms(self, X: Any, y: Vector, mean: float) -> tuple[Vector, Vector]:
        """For each row half the deviances of the prediction and of the mean."""
        loss = self._loss()
        loss.check_labels(y, None, False)
        if not mean > 0.0:
            raise ValueError("PoissonRegressor needs a target above 0 for a score, got zeros only; score other rows")
        return loss.value(super().predict(X), y), loss.value(np.full(y.size, np.log(mean)), y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
