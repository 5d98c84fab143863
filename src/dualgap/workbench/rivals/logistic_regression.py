"""scikit-learn's LogisticRegression: L-BFGS on the primal, its default, and what its other methods share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dualgap.losses import Loss
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.objectives import losses_of, parameters_of


class LogisticRegression(Rival):
    """It minimizes ½‖w‖² + C Σ log(1 + e^−m). Divided by C·n that is P with λ = 1/(C·n), so C = 1/(λ·n)."""

    name = "scikit-learn LogisticRegression"
    package = "scikit-learn"
    module = "sklearn"
    losses = losses_of("sklearn.LogisticRegression")
    threaded = True
    solver: ClassVar[str] = "lbfgs"
    dual: ClassVar[bool] = False

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
        from sklearn.linear_model import LogisticRegression as Estimator

        model = Estimator(
            **parameters_of("sklearn.LogisticRegression", loss, strength, rows),
            tol=tolerance,
            max_iter=iterations,
            fit_intercept=False,
            random_state=seed,
            solver=self.solver,
            dual=self.dual,
        ).fit(X, y)
        return Fit(np.asarray(model.coef_, dtype=np.float64).ravel(), int(np.max(model.n_iter_)))


RIVAL = LogisticRegression()
