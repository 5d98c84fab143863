"""LogisticRegression: the logistic loss for two classes, the multinomial (softmax) model for three or more."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dualgap.estimators.base import TrainingData, Vector
from dualgap.estimators.blocks import on_blocks
from dualgap.estimators.classifiers import LinearClassifier
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.penalties import UNNAMED, l1_ratios_of
from dualgap.estimators.softmax import fit_softmax, has_softmax
from dualgap.losses import Logistic, Loss
from dualgap.losses.probabilities import class_probabilities, log_class_probabilities


class LogisticRegression(LinearClassifier):
    """Logistic regression with a certificate.

    Minimizes (1/S) Σ s_i log(1 + e^(−y_i(⟨x_i, w⟩ + b))) + λ(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²). Three or more classes are one multinomial
    problem, with ρ = 0.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, default="deprecated"
        scikit-learn's before 1.8: "l1" is `l1_ratio=1`, "l2" is `l1_ratio=0`, "elasticnet" and the default leave it to `l1_ratio`,
        and None is `C=np.inf`.
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
        Number of threads within the problem; the result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which a solver draws rows; `newton` draws none.
    verbose : int, default=0
        Whether to show a progress bar with the gap.
    l1_ratio : float, default=0.0
        ρ, the L1 part of the penalty: 0 is L2, 1 is L1; above 0 `coef_` has exact zeros. Three or more classes need 0.
    dual : bool, default=False
        scikit-learn's; any value is the same fit, which has primal and dual values.
    intercept_scaling : float, default=1
        scikit-learn's; any value is the same fit, because the intercept is not penalized.
    multi_class : {"auto", "ovr", "multinomial"}, default="auto"
        scikit-learn's before 1.8; accepted where it is what happens: "ovr" for two classes, "multinomial" for more.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept b; 0 without an intercept.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The duals α, with w = (1/(λS)) Σ s_i α_i x_i up to the gap where `l1_ratio` is 0.
    classes_ : ndarray of shape (n_classes,)
        The sorted classes.
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
    n_iter_ : ndarray of shape (1,)
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    See Also
    --------
    LinearSVC : A linear classifier without probabilities.
    LogisticRegressionCV : The same model with C chosen by cross-validation.

    Notes
    -----
    Differences from scikit-learn's LogisticRegression: `solver` takes dualgap's solvers; `tol` is a proven relative duality
    gap; `max_iter` is 1000 and counts passes over the rows. With three or more classes, `solver` is "auto", "newton" or "sdca",
    and the penalty is L2; OneVsRestClassifier(LogisticRegression(l1_ratio=1)) has exact zeros there.

    Examples
    --------
    >>> from dualgap import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = LogisticRegression(tol=1e-9).fit(X, y)
    >>> model.predict_proba([[1.5]]).round(6).tolist()
    [[0.5, 0.5]]
    >>> model.status_.name
    'CERTIFIED'
    """

    fits_softmax: ClassVar[bool] = True

    def __init__(
        self,
        penalty: Any = UNNAMED,
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
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        intercept_scaling: float = 1,
        multi_class: str = "auto",
    ) -> None:
        self.penalty = penalty
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
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class

    def _loss(self) -> Loss:
        return Logistic()

    def _l1_ratio(self) -> float:
        if self.l1_ratio is not None:
            super()._l1_ratio()  # refuses what is no number from 0 to 1
        return float(l1_ratios_of("LogisticRegression", self.penalty, "l1_ratio", self.l1_ratio)[0])

    def _l1_ratios(self) -> Vector:
        """Each ρ that a fit takes."""
        return np.array([self._l1_ratio()])

    def _fit_classes(self, loss: Loss, data: Deduplicated, training_data: TrainingData) -> Self:
        if self.classes_.size == 2:
            return super()._fit_classes(loss, data, training_data)
        return fit_softmax(self, data, training_data)

    def _check_classes(self, codes: NDArray[Any]) -> None:
        super()._check_classes(codes)
        count, largest = self.classes_.size, self._l1_ratios().max()
        if count > 2 and largest > 0.0:
            raise ValueError(
                f"LogisticRegression needs l1_ratio=0 for {count} classes, got {largest:g}; the softmax model has an L2 penalty "
                f"alone, so use sklearn.multiclass.OneVsRestClassifier(LogisticRegression(l1_ratio={largest:g}))"
            )
        if count > 2 and not has_softmax(self.solver):
            raise ValueError(
                f"Only binary classification is supported. LogisticRegression needs solver='auto', 'newton' or 'sdca' for "
                f"{count} classes, got {self.solver!r}; use one of these, or OneVsRestClassifier"
            )

    @on_blocks("probabilities")
    def predict_log_proba(self, X: Any) -> Vector:
        """Predict the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return log_class_probabilities(self.decision_function(X))

    @on_blocks("probabilities")
    def predict_proba(self, X: Any) -> Vector:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`; each row sums to 1.
        """
        return class_probabilities(self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = has_softmax(self.solver)
        return tags
