"""HuberRegressor: regression with the Huber loss and a fitted scale, the model of scikit-learn's estimator of that name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]

from dualgap.estimators.base import TrainingData
from dualgap.estimators.callbacks import FitTasks
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import alpha_of, over_weight, seed_of, solver_of
from dualgap.estimators.regressors import LinearRegressor
from dualgap.estimators.scale_search import ScaledResult, ScaleSearch
from dualgap.estimators.settling import Settled, rounded, with_certificate
from dualgap.linalg.elementary import is_number
from dualgap.losses import Huber, Loss
from dualgap.models.from_estimator import ProblemInFile
from dualgap.problem import Problem
from dualgap.result import Result
from dualgap.run import solve


class HuberRegressor(LinearRegressor):
    """Regression that outliers hardly move, with a fitted scale of the errors and a certificate.

    Minimizes Q(w, b, σ) = (1/S) (Σ s_i (σ + σH((y_i − ⟨x_i, w⟩ − b)/σ)) + alpha(2ρ‖w‖₁ + (1 − ρ)‖w‖²)) over weights, intercept and scale σ,
    where H(t) is t² up to `epsilon` and 2·epsilon·|t| − epsilon² beyond: errors below epsilon·σ are squared, larger ones count
    by their absolute value.

    Parameters
    ----------
    epsilon : float, default=1.35
        From how many σ on an error counts by its absolute value; at least 1.
    alpha : float, default=0.0001
        Weight of the penalty: λ = 2·alpha/S. 0 is no penalty, for which a tiny one stands.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative gap of Q to prove: Q ends at most this fraction above its minimum over w, b and σ.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    max_iter : int, default=1000
        Largest number of passes over the rows, of all scales together; None for no limit.
    max_seconds : float, default=None
        Time limit in seconds; None for no limit.
    warm_start : bool, default=False
        Whether to start from the coefficients, duals and scale of the last fit.
    n_jobs : int, default=None
        Number of threads; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show progress with the gap, for each scale.
    l1_ratio : float, default=0.0
        ρ, the L1 part of the penalty: 0 is L2, 1 is L1; above 0 `coef_` has exact zeros.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : float
        The intercept b; 0 without an intercept.
    scale_ : float
        The scale σ.
    outliers_ : ndarray of shape (n_samples,)
        Whether a row's error is larger than epsilon·σ.
    dual_coef_ : ndarray of shape (n_samples,)
        The duals α of Q, with w = (1/(λS)) Σ s_i α_i x_i up to the gap where `l1_ratio` is 0.
    certificate_ : Certificate
        Q, a lower bound on its minimum over w, b and σ, and the gap between them.
    status_ : Status
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace
        A record for each scale that was tried: epochs, seconds, Q and its lower bound.
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
    QuantileRegressor : Least absolute errors with quantile=0.5.
    Ridge : Regression with squared errors.

    Notes
    -----
    The model is that of scikit-learn's HuberRegressor, whose objective is S·Q with ρ = 0. `tol` is a proven relative gap, and `max_iter` counts
    passes over the rows. `dualgap.Huber` is the loss at a fixed scale.

    Examples
    --------
    >>> from dualgap import HuberRegressor
    >>> X, y = [[float(i)] for i in range(10)], [0.1, 0.9, 2.2, 2.9, 4.1, 4.8, 6.1, 6.9, 8.0, 90.0]
    >>> model = HuberRegressor(epsilon=1.5).fit(X, y)
    >>> bool(model.outliers_[9]), model.coef_.round(1).tolist()
    (True, [1.0])
    >>> model.status_.name
    'CERTIFIED'
    """

    fits_blocks: ClassVar[bool] = False

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        alpha: float = 0.0001,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        l1_ratio: float = 0.0,
    ) -> None:
        self.epsilon = epsilon
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
        if isinstance(self.epsilon, bool) or not (is_number(self.epsilon) and self.epsilon >= 1.0):
            raise ValueError(f"HuberRegressor needs a finite epsilon ≥ 1, got {self.epsilon!r}; 1.35 is the default")
        return Huber(delta=float(self.epsilon))

    def _strength(self, total_weight: float, k: int) -> float:
        return over_weight("HuberRegressor", 2.0 * alpha_of("HuberRegressor", self.alpha), total_weight)

    def _fit_targets(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        targets = np.ascontiguousarray(data.targets, dtype=np.float64)
        search = ScaleSearch(
            data.rows,
            targets,
            data.weights,
            float(self.epsilon),
            self._strength_on(data.rows, data.weights, 0),
            self.fit_intercept,
            self.tol,
            self.max_iter,
            self.max_seconds,
            self._l1_ratio_of(0),
        )
        (start,) = self._warm_starts(data, 1)
        scale = self.scale_ if start is not None and hasattr(self, "scale_") else None
        tasks = FitTasks(self, *training_data, 1, self.max_iter)
        held = self._held(search, search.run(self._solver_with(tasks), start, scale), training_data[0].dtype)
        self._set_answer([held], search.problem(self.scale_).loss, data, training_data, several=False)
        X, y, _ = training_data
        self.outliers_ = np.abs(np.asarray(y, dtype=np.float64) - self.predict(X)) > self.scale_ * self.epsilon
        tasks.end(self.certificate_)
        problem = search.problem(self.scale_)
        self._note_no_penalty([problem], [held])
        self._report([held.result], [problem], X.dtype == np.float32)
        return self

    def _solver_with(self, tasks: FitTasks) -> Any:
        """The run at one scale."""
        solver, seed = solver_of(self.solver), seed_of(self.random_state)

        def run(
            problem: Problem, start: Any, tol: float, max_epochs: float | None, max_seconds: float | None
        ) -> Result:
            with tasks.epochs_of(0) as callback:
                return solve(
                    problem,
                    solver,
                    tol=tol,
                    max_epochs=max_epochs,
                    max_seconds=max_seconds,
                    seed=seed,
                    start=start,
                    record_every=1.0 if self.verbose else None,
                    progress=bool(self.verbose),
                    callback=callback,
                    n_jobs=effective_n_jobs(self.n_jobs),
                )

        return run

    def _held(self, search: ScaleSearch, found: ScaledResult, dtype: Any) -> Settled:
        """Set scale_; what coef_ holds, judged as it is rounded."""
        result, self.scale_, at_scale = found.result, found.scale, found.at_scale
        weights = rounded(result.weights, dtype)
        if weights is not result.weights:
            result = replace(result, weights=weights)
            judged, _ = search.judge(found.scale, result, result.duals, search.constant()[0])
            at_scale = judged.at_scale
            result = replace(result, intercept=at_scale.intercept, duals=judged.duals)
            result = with_certificate(result, judged.certificate, self.tol)
        strength = 0.5 * search.strength * found.scale
        return Settled(
            result,
            search.strength,
            ProblemInFile(strength, at_scale.certificate, search.l1_ratio, dual_factor=0.5 * found.scale),
        )

    @property
    def partial_fit(self) -> Any:
        """Not available: the scale needs all rows at once."""
        raise AttributeError("HuberRegressor has no partial_fit, because its scale needs all rows at once")
