"""ElasticNetCV and LassoCV: the weight of an L1 part chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dualgap.estimators.cross_validation import CrossValidated, Fold
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.elastic_net import ElasticNet
from dualgap.estimators.parameters import positive
from dualgap.estimators.penalties import Vector, ratios_of
from dualgap.losses import Loss
from dualgap.problem import Problem

DEFAULT_COUNT = 100


class ElasticNetCV(CrossValidated, ElasticNet):
    """Elastic-net regression that chooses alpha, and ρ where several are given, by cross-validation, with a certificate of every run.

    Each fold solves its problem for all alphas, from the largest to the smallest, each started at the answer of the previous one. The
    alpha with the smallest mean squared error is then fitted to all rows.

    Parameters
    ----------
    l1_ratio : float or array-like, default=0.5
        ρ, the L1 part of the penalty, or a list of which the best is chosen.
    eps : float, default=0.001
        The smallest alpha of a grid that is made, as a part of the largest, at which all weights are zero.
    alphas : int or array-like, default=100
        The weights of the penalty to try: λ = 2·alpha. A number stands for a grid of this size, from the alpha at which all weights are
        zero down, evenly spaced on a logarithmic scale. None is 100.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    precompute : bool or array-like, default="auto"
        scikit-learn's; any value is the same fit.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    tol : float, default=1e-4
        The relative duality gap to prove in every run.
    copy_X : bool, default=True
        scikit-learn's; any value is the same fit, because X is never modified.
    cv : int, splitter, iterable or None, default=None
        A number of folds of consecutive rows, or any splitter of scikit-learn. None is 5 folds.
    verbose : int, default=0
        Whether to show progress with the gap of the fit to all rows.
    n_jobs : int, default=None
        Number of threads over folds; the result has the same bits for any number.
    positive : bool, default=False
        scikit-learn's; True is refused.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `sparse_newton` draws none.
    selection : {"cyclic", "random"}, default="cyclic"
        scikit-learn's; any of the two is the same fit.
    solver : str or object, default="auto"
        A name or an object of `dualgap.SOLVERS` that fits the penalty; `reason_` says which one "auto" took.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_alphas : int, default=None
        scikit-learn's before 1.9: a number for `alphas`.

    Attributes
    ----------
    alpha_ : float
        The alpha with the smallest mean error; among equal errors the largest alpha.
    l1_ratio_ : float
        The ρ with the smallest mean error.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        What was tried, from the largest down.
    mse_path_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared errors on the test rows.
    gaps_ : ndarray of shape (n_folds, n_l1_ratios, n_alphas)
        Proven relative gaps on the training rows.
    coef_ : ndarray of shape (n_features,)
        The weights w, fitted to all rows with alpha_.
    intercept_ : float
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,)
        The duals α.
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
    ElasticNet : The same model with a given alpha.

    Notes
    -----
    Scores and choice are those of scikit-learn's ElasticNetCV. The notes on ElasticNet hold here too; there is one target.

    Examples
    --------
    >>> from dualgap import ElasticNetCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=20).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (2, 20, 5))
    >>> bool((model.gaps_ <= model.tol).all()), model.status_.name
    (True, 'CERTIFIED')
    """

    several_targets: ClassVar[bool] = False
    scoring = "neg_mean_squared_error"

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 0.001,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_seconds: float | None = None,
        n_alphas: int | None = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_alphas = n_alphas

    def _l1_ratios(self) -> Vector:
        return ratios_of("l1_ratio", self.l1_ratio)

    def _l1_ratio(self) -> float:
        return self.l1_ratio_

    def _grids(self, loss: Loss, data: Deduplicated) -> Sequence[Vector]:
        name, ratios = type(self).__name__, self._l1_ratios()
        count = self._count()
        if count is None:
            given = np.ravel(np.asarray(self.alphas, dtype=object)).tolist()
            if not given:
                raise ValueError(f"{name} needs at least one alpha, got an empty list; the default is 100")
            advice = "leave it out, because a fit without a penalty has nothing to choose"
            values = np.array([positive(name, "alpha", alpha, advice) for alpha in given])
            return [np.sort(values)[::-1]] * ratios.size
        if not ratios.all():
            raise ValueError(
                f"{name} needs l1_ratio > 0 for a grid of alphas, got 0; pass the alphas themselves, or use RidgeCV"
            )
        steps = np.geomspace(1.0, positive(name, "eps", self.eps), count)
        return [self._largest(loss, data, ratio) * steps for ratio in ratios.tolist()]

    def _count(self) -> int | None:
        """The size of the grids to make; None where alphas are given."""
        is_default = self.alphas is None or (isinstance(self.alphas, str) and self.alphas == "warn")
        count = DEFAULT_COUNT if is_default else self.alphas
        # scikit-learn's n_alphas was "deprecated" for a while, and what it means follows from alphas.
        if isinstance(self.n_alphas, int | np.integer) and (is_default or count is DEFAULT_COUNT):
            count = self.n_alphas
        if not isinstance(count, int | np.integer) or isinstance(count, bool):
            return None
        if count < 1:
            raise ValueError(f"{type(self).__name__} needs a number of alphas ≥ 1, got {count}; the default is 100")
        return int(count)

    def _largest(self, loss: Loss, data: Deduplicated, ratio: float) -> float:
        """The alpha from which on all weights are zero; where that is 0, scikit-learn's smallest."""
        first = Problem(data.rows, data.targets, loss, 1.0, data.weights, self.fit_intercept, l1_ratio=ratio)
        return max(0.5 * first.strength_max, float(np.finfo(np.float64).resolution))

    def _score_of(
        self, results: Sequence[Any], scorer: Any, X: Any, y: Any, weights: Vector | None, test: NDArray[Any]
    ) -> float:
        # Without scikit-learn's checks, which take longer than a small fit.
        (result,) = results
        errors = y - (X @ result.weights + result.intercept)
        return -float(np.average(errors * errors, weights=None if weights is None else weights[test]))

    def _strengths(self, values: Vector, total_weight: float) -> Vector:
        return 2.0 * values

    def _keep(self, grids: Sequence[Vector], ratios: Vector, folds: Sequence[Fold]) -> None:
        self.gaps_ = np.array([fold.gaps for fold in folds])
        errors = -np.stack([fold.scores for fold in folds], axis=-1)  # by ρ, alpha and fold
        best, alpha = divmod(int(errors.mean(axis=-1).argmin()), errors.shape[1])
        self.alpha_, self.l1_ratio_ = float(grids[best][alpha]), float(ratios[best])
        has_own = self._count() is not None and ratios.size > 1
        self.alphas_ = np.array(grids) if has_own else grids[0]
        self.mse_path_ = errors.squeeze()

    def _strength(self, total_weight: float, k: int) -> float:
        return 2.0 * self.alpha_


class LassoCV(ElasticNetCV):
    """Lasso that chooses alpha by cross-validation, with a certificate of every run.

    Each fold solves its problem for all alphas, from the largest to the smallest, each started at the answer of the previous one. The
    alpha with the smallest mean squared error is then fitted to all rows.

    Parameters
    ----------
    eps : float, default=0.001
        The smallest alpha of a grid that is made, as a part of the largest, at which all weights are zero.
    alphas : int or array-like, default=100
        The weights of the penalty to try: λ = 2·alpha. A number stands for a grid of this size, from the alpha at which all weights are
        zero down, evenly spaced on a logarithmic scale. None is 100.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    precompute : bool or array-like, default="auto"
        scikit-learn's; any value is the same fit.
    max_iter : int, default=1000
        Largest number of passes over the rows in every run; None for no limit.
    tol : float, default=1e-4
        The relative duality gap to prove in every run.
    copy_X : bool, default=True
        scikit-learn's; any value is the same fit, because X is never modified.
    cv : int, splitter, iterable or None, default=None
        A number of folds of consecutive rows, or any splitter of scikit-learn. None is 5 folds.
    verbose : int, default=0
        Whether to show progress with the gap of the fit to all rows.
    n_jobs : int, default=None
        Number of threads over folds; the result has the same bits for any number.
    positive : bool, default=False
        scikit-learn's; True is refused.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `sparse_newton` draws none.
    selection : {"cyclic", "random"}, default="cyclic"
        scikit-learn's; any of the two is the same fit.
    solver : str or object, default="auto"
        A name or an object of `dualgap.SOLVERS` that fits the penalty; `reason_` says which one "auto" took.
    max_seconds : float, default=None
        Time limit of every run in seconds; None for no limit.
    n_alphas : int, default=None
        scikit-learn's before 1.9: a number for `alphas`.

    Attributes
    ----------
    alpha_ : float
        The alpha with the smallest mean error; among equal errors the largest alpha.
    alphas_ : ndarray of shape (n_alphas,)
        What was tried, from the largest down.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared errors on the test rows.
    gaps_ : ndarray of shape (n_folds, 1, n_alphas)
        Proven relative gaps on the training rows.
    coef_ : ndarray of shape (n_features,)
        The weights w, fitted to all rows with alpha_.
    intercept_ : float
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,)
        The duals α.
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
    Lasso : The same model with a given alpha.
    ElasticNetCV : The same with an L2 part.

    Notes
    -----
    Scores and choice are those of scikit-learn's LassoCV. The notes on Lasso hold here too; there is one target.

    Examples
    --------
    >>> from dualgap import LassoCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LassoCV(alphas=20).fit(X, y)
    >>> round(model.alpha_, 4), int((model.coef_ == 0).sum())
    (0.0031, 1)
    """

    def __init__(
        self,
        *,
        eps: float = 0.001,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: Any = "auto",
        max_seconds: float | None = None,
        n_alphas: int | None = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_seconds = max_seconds
        self.n_alphas = n_alphas

    def _l1_ratios(self) -> Vector:
        return np.ones(1)
