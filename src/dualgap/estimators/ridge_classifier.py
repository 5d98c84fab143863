"""RidgeClassifier: regression of labels −1 and +1 with squared errors, and the class of the larger prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.estimators.base import Vector
from dualgap.estimators.classifiers import LinearClassifier
from dualgap.estimators.parameters import alpha_of, over_weight
from dualgap.losses import Loss, Squared


class RidgeClassifier(LinearClassifier):
    """Ridge regression of the labels −1 and +1 as a classifier, with a certificate.

    Minimizes (1/S) (Σ s_i (y_i − ⟨x_i, w⟩ − b)² + alpha‖w‖²), with y_i = ±1 and S the sum of the sample weights. Three or more
    classes are one problem each, the class against the rest.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty: λ = 2·alpha/S. 0 is no penalty.
    solver : str or object, default="auto"
        A name, a spec such as "sdca(sampling=cyclic)" or an object of `dualgap.SOLVERS`; "auto" chooses by the shape of the
        data, and `reason_` gives the reason.
    tol : float, default=1e-4
        The relative duality gap to prove: the objective ends at most this fraction above its minimum.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is not penalized.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight. With three or more classes
        each problem has the factors of all classes, as in scikit-learn.
    max_iter : int, default=1000
        Largest number of passes over the rows; None for no limit.
    max_seconds : float, default=None
        Time limit of each problem in seconds; None for no limit.
    warm_start : bool, default=False
        Whether to start from the coefficients and duals of the last fit; if they already prove tol, no solver runs.
    n_jobs : int, default=None
        Number of threads over problems, then within each; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show progress with the gap.
    copy_X : bool, default=True
        scikit-learn's; X is never modified.
    positive : bool, default=False
        scikit-learn's; True, weights ≥ 0, is refused.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
    certificate_ : Certificate or list
        The primal value, the dual value and the gap between them. With three or more classes, this attribute and the next four
        are lists in the order of `classes_`.
    status_ : Status or list
        How the run ended; `status_.value` is a sentence.
    trace_ : Trace or list
        The records of the run: epochs, seconds, primal and dual values.
    reason_ : str or list
        The solver that ran and the reason for its choice.
    strength_ : float or list
        The strength λ of the penalty.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LinearSVC : A classifier whose loss does not grow for rows far on the right side.
    Ridge : The regression itself.

    Notes
    -----
    Differences from scikit-learn's RidgeClassifier: y has one label for each row (no table of several labels); `solver` takes
    dualgap's solvers; `tol` is a proven relative duality gap; `max_iter` counts passes over the rows.

    Examples
    --------
    >>> from dualgap import RidgeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = RidgeClassifier(alpha=0.1).fit(X, y)
    >>> model.predict([[0.2], [2.9]]).tolist()
    ['low', 'high']
    >>> model.status_.name
    'CERTIFIED'
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
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
        copy_X: bool = True,
        positive: bool = False,
    ) -> None:
        self.alpha = alpha
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
        self.copy_X = copy_X
        self.positive = positive

    def _loss(self) -> Loss:
        return Squared()

    def _strength(self, total_weight: float, k: int) -> float:
        return over_weight(type(self).__name__, 2.0 * alpha_of(type(self).__name__, self.alpha), total_weight)

    def _binary_targets(self, codes: NDArray[Any], weights: Vector | None) -> list[tuple[Vector, Vector | None]]:
        class_weights = self._class_weights(codes, weights)
        if class_weights is not None:
            factors = class_weights[codes]
            weights = factors if weights is None else weights * factors
        positives = [1] if self.classes_.size == 2 else range(self.classes_.size)
        return [(np.where(codes == positive, 1.0, -1.0), weights) for positive in positives]

    def _class_factors(self, codes: NDArray[Any], weights: Vector | None) -> list[tuple[float, ...]] | None:
        """The factors of all classes, the same for each problem."""
        class_weights = self._class_weights(codes, weights)
        if class_weights is None:
            return None
        factors = tuple(map(float, class_weights))
        return [factors] * (1 if self.classes_.size == 2 else self.classes_.size)
