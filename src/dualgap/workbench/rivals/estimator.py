"""An estimator of the user's as a contender: scikit-learn's `fit`, with what decides the objective set to that of the race."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.estimators.base import CertifiedModel
from dualgap.losses import LOSSES, Loss
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.function import ONE_RUNG

# The alpha of scikit-learn's classes that means λ: for Ridge of Σ φ, for the others of the mean; SGDRegressor halves the squared loss.
ALPHAS: dict[str, Callable[[float, int], float]] = {
    "Ridge": lambda strength, rows: 0.5 * strength * rows,
    "SGDClassifier": lambda strength, rows: strength,
    "SGDRegressor": lambda strength, rows: 0.5 * strength,
}
# The names that these classes have for the losses of a race, where they are others.
LOSS_NAMES = {"SGDClassifier": {"logistic": "log_loss"}, "SGDRegressor": {"squared": "squared_error"}}


def name_of_estimator(estimator: Any) -> str:
    """Its own words for itself, after the package they are from: sklearn.LinearSVC(C=2)."""
    package = type(estimator).__module__.partition(".")[0]
    words = " ".join(repr(estimator).split())
    return words if package == "__main__" else f"{package}.{words}"


class EstimatorRival(Rival):
    """A clone of the estimator for every fit, with C = 1/(λn), or the alpha that means λ, the loss of the race, and no intercept.

    Other parameters stay as they are. With `tol` it is fitted at one tolerance after the other; the weights are its `coef_`, and
    the duals are those of dualgap's own estimators, which have them in `dual_coef_`.
    """

    package = "yours"
    module = "builtins"
    losses = tuple(LOSSES)

    def __init__(self, estimator: Any, name: str) -> None:
        self.estimator, self.name = estimator, name  # type: ignore[misc]
        self.takes = set(estimator.get_params(deep=False)) if hasattr(estimator, "get_params") else set()

    def tolerances(self) -> list[float]:
        return super().tolerances() if "tol" in self.takes else ONE_RUNG

    def fit(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        strength: float,
        tolerance: float,
        *,
        rows: int,
        seed: int,
        iterations: int,
        threads: int = 1,
    ) -> Fit:
        from sklearn.base import clone

        wanted = {"tol": tolerance, "max_iter": iterations, "random_state": seed, "fit_intercept": False}
        wanted |= _objective(type(self.estimator).__name__, loss.name, strength, rows)
        model = clone(self.estimator, safe=False)
        if self.takes:
            model.set_params(**{name: value for name, value in wanted.items() if name in self.takes})
        model.fit(X, y)
        if not hasattr(model, "coef_"):
            raise ValueError("its fit leaves no coef_, which the judge needs")
        iterations_made = getattr(model, "n_iter_", None)
        return Fit(
            np.asarray(model.coef_, dtype=np.float64).ravel(),
            None if iterations_made is None else int(np.max(iterations_made)),
            np.asarray(model.dual_coef_).ravel() if isinstance(model, CertifiedModel) else None,
        )


def _objective(name: str, loss: str, strength: float, rows: int) -> dict[str, Any]:
    """The parameters that make the estimator's objective the race's, where their meaning is known."""
    alpha = {"alpha": ALPHAS[name](strength, rows)} if name in ALPHAS else {}
    return {"C": 1.0 / (strength * rows), "loss": LOSS_NAMES.get(name, {}).get(loss, loss)} | alpha
