"""LinearSVC and LinearSVR: support vector machines for classes and for real targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.estimators.classifiers import LinearClassifier
from dualgap.estimators.parameters import loss_of, strength_of
from dualgap.estimators.penalties import l1_ratio_of
from dualgap.estimators.regressors import LinearRegressor
from dualgap.losses import Loss


class LinearSVC(LinearClassifier):
    """Support vector classifier with a certificate.

    Minimizes (1/S) Σ s_i φ(y_i(⟨x_i, w⟩ + b)) + (λ/2)‖w‖², or λ‖w‖₁ in the place of the last term. Three or more classes are
    one problem each, the class against the rest.

    Parameters
    ----------
    penalty : {"l2", "l1", None}, default="l2"
        The penalty: (λ/2)‖w‖², λ‖w‖₁ with exact zeros in `coef_`, or None for none. Any of them goes with any loss.
    loss : str or object, default="squared_hinge"
        "squared_hinge", "hinge" or "smoothed_hinge", as a name, a spec such as "smoothed_hinge(gamma=0.5)", or an object.
    C : float, default=1.0
        Weight of the errors against the penalty: λ = 1/(C·S), with S the sum of the sample weights. `np.inf` is no penalty.
    strength : float, default=None
        λ, instead of C.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove: the objective ends at most this fraction above its minimum.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
    max_iter : int, default=1000
        Largest number of passes over the rows; None for no limit.
    max_seconds : float, default=None
        Time limit of each problem in seconds; None for no limit.
    warm_start : bool, default=False
        Whether to start from the coefficients and duals of the last fit; if they already prove tol, no solver runs.
    n_jobs : int, default=None
        Number of threads, over classes first and then within each problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    dual : bool or "auto", default="auto"
        scikit-learn's; any value is the same fit, which has primal and dual values.
    multi_class : {"ovr"}, default="ovr"
        scikit-learn's; three or more classes are one problem each, and "crammer_singer" is refused.
    intercept_scaling : float, default=1
        scikit-learn's; any value is the same fit, because the intercept is not penalized.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap under the L2 penalty.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them. With three or more classes this attribute and the next
        four are lists with one entry for each class.
    status_ : Status or list
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace or list
        The records of the run: epochs, seconds, primal and dual values.
    reason_ : str or list
        The solver that ran and the reason for its choice.
    strength_ : float or list
        The strength λ of the penalty.
    n_iter_ : int
        Number of passes over the rows; the largest of all classes.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LogisticRegression : A linear classifier with probabilities.
    LinearSVCCV : The same model with C chosen by cross-validation.

    Notes
    -----
    Differences from scikit-learn's LinearSVC: the intercept is not penalized, whereas LIBLINEAR penalizes it like a
    weight; `tol` is a proven relative duality gap; `max_iter` counts passes over the rows; every loss goes with every penalty,
    and three or more classes are always one-vs-rest.

    Examples
    --------
    >>> from dualgap import LinearSVC
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> model.predict([[2.0, 2.0], [0.0, 0.0]]).tolist()
    ['yes', 'no']
    >>> model.certificate_.relative_gap <= model.tol
    True
    >>> model.status_.value
    'the duality gap reached tol'
    """

    def __init__(
        self,
        penalty: Any = "l2",
        loss: Any = "squared_hinge",
        *,
        C: float = 1.0,
        strength: float | None = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        dual: Any = "auto",
        multi_class: str = "ovr",
        intercept_scaling: float = 1,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.strength = strength
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.dual = dual
        self.multi_class = multi_class
        self.intercept_scaling = intercept_scaling

    def _loss(self) -> Loss:
        return loss_of(type(self).__name__, self.loss, ("hinge", "smoothed_hinge", "squared_hinge"))

    def _l1_ratio(self) -> float:
        return l1_ratio_of(type(self).__name__, self.penalty)

    def _shape_attributes(self, several: bool) -> None:
        self.n_iter_ = int(self.n_iter_.max())


class LinearSVR(LinearRegressor):
    """Support vector regressor with a certificate.

    Minimizes (1/S) Σ s_i φ(y_i − ⟨x_i, w⟩ − b) + λ(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²), where φ is zero for errors up to ε.

    Parameters
    ----------
    epsilon : float, default=0.0
        The largest error that the loss does not count.
    loss : str or object, default="epsilon_insensitive"
        "epsilon_insensitive" or "squared_epsilon_insensitive"; a spec or an object has its own epsilon, and the parameter
        `epsilon` is then not used.
    C : float, default=1.0
        Weight of the errors against the penalty: λ = 1/(C·S), with S the sum of the sample weights. `np.inf` is no penalty.
    strength : float, default=None
        λ, instead of C.
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
    dual : bool or "auto", default="auto"
        scikit-learn's; any value is the same fit, which has primal and dual values.
    intercept_scaling : float, default=1.0
        scikit-learn's; any value is the same fit, because the intercept is not penalized.
    l1_ratio : float, default=0.0
        ρ, the L1 part of the penalty: 0 is L2, 1 is L1; above 0 `coef_` has exact zeros.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
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
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    QuantileRegressor : Regression with different weights of errors above and below the prediction.
    Ridge : Regression with squared errors.

    Notes
    -----
    Differences from scikit-learn's LinearSVR: the intercept is not penalized, whereas LIBLINEAR penalizes it like a weight;
    `tol` is a proven relative duality gap; `max_iter` counts passes over the rows.

    Examples
    --------
    >>> from dualgap import LinearSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 70.0]
    >>> model = LinearSVR(C=10.0, tol=1e-9).fit(X, y)
    >>> model.predict([[4.0]]).round(3).tolist()
    [9.0]
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        loss: Any = "epsilon_insensitive",
        C: float = 1.0,
        strength: float | None = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int | None = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        dual: Any = "auto",
        intercept_scaling: float = 1.0,
        l1_ratio: float = 0.0,
    ) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.C = C
        self.strength = strength
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.l1_ratio = l1_ratio

    def _loss(self) -> Loss:
        allowed = ("epsilon_insensitive", "squared_epsilon_insensitive")
        return loss_of(type(self).__name__, self.loss, allowed, {"epsilon": self.epsilon})

    def _strength(self, total_weight: float, k: int) -> float:
        return strength_of(type(self).__name__, self.C, self.strength, total_weight)

    def _shape_attributes(self, several: bool) -> None:
        super()._shape_attributes(several)
        self.intercept_ = np.array([self.intercept_])
